// SparseCross: for each row, all combinations of one feature per column. The
// last column changes fastest. Columns are sparse tensors, then dense matrices.
// Features are strings or integers. A combination is the features joined by
// "_X_", or their hash (out_type int64). SparseCrossV2 has the separator as an
// input. SparseCrossHashed always hashes, optionally with a key.
// SparseFeatureCross and SparseFeatureCrossV2 are tf.contrib.layers': the
// second is SparseCross, the first combines hashes by shifts.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/sparse/feature_cross.h"

namespace headrace {
namespace {

class SparseCrossBase : public OpKernel {
 public:
  explicit SparseCrossBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &sparse_));
    DataTypeVector types;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_types", &types));
    dense_end_ = static_cast<int>(3 * sparse_);
    OP_REQUIRES(
        ctx, static_cast<int64_t>(types.size()) == sparse_,
        errors::InvalidArgument(type_string(), ": N is ", sparse_, " but ",
                                types.size(), " sparse_types are given"));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dense_types", &types));
    dense_end_ += static_cast<int>(types.size());
  }

 protected:
  // The input behind the columns, `i` further.
  const Tensor& Extra(OpKernelContext* ctx, int i) const {
    return ctx->input(dense_end_ + i);
  }
  static Status CheckScalar(const Tensor& t, const char* name) {
    if (t.dims() == 0) return OkStatus();
    return errors::InvalidArgument("Input \"", name,
                                   "\" must be a scalar but "
                                   "has shape ",
                                   t.shape().DebugString());
  }

  void Cross(OpKernelContext* ctx, const FeatureCrossing& how) const {
    std::vector<FeatureColumn> columns;
    int64_t rows = 0;
    OP_REQUIRES_OK(ctx, ReadColumns(ctx, &columns, &rows));
    std::vector<int64_t> counts;
    int64_t total = 0, longest = 0;
    OP_REQUIRES_OK(
        ctx, CountCombinations(columns, rows, type_string(), &counts, &total));
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {total, 2}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {total}, &values));
    int64_t at = 0;
    for (int64_t b = 0; b < rows; ++b) {
      longest = std::max(longest, counts[b]);
      CrossRow(how, columns, b, counts[b], values, at);
      for (int64_t k = 0; k < counts[b]; ++k, ++at) {
        indices->data<int64_t>()[2 * at] = b;
        indices->data<int64_t>()[2 * at + 1] = k;
      }
    }
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2, {rows, longest}));
  }

 private:
  Status ReadColumns(OpKernelContext* ctx, std::vector<FeatureColumn>* columns,
                     int64_t* rows) const {
    const int n = static_cast<int>(sparse_);
    std::vector<SparseView> views(n);
    for (int i = 0; i < n; ++i) {
      HR_RETURN_IF_ERROR(ReadSparse(ctx->input(i), ctx->input(n + i),
                                    ctx->input(2 * n + i),
                                    StrCat("sparse column ", i), &views[i]));
      if (views[i].rank != 2) {
        return errors::InvalidArgument(
            "sparse column ", i, " must have rank 2, got ", views[i].rank);
      }
      HR_RETURN_IF_ERROR(CheckRows(i, views[i].dims[0], rows));
    }
    for (int i = 3 * n; i < dense_end_; ++i) {
      const Tensor& t = ctx->input(i);
      if (t.dims() != 2) {
        return errors::InvalidArgument("dense column ", i - 3 * n,
                                       " must be a matrix, got shape ",
                                       t.shape().DebugString());
      }
      HR_RETURN_IF_ERROR(CheckRows(i - 2 * n, t.dim_size(0), rows));
    }
    HR_RETURN_IF_ERROR(CheckRowMemory(ctx, *rows, dense_end_ - 2 * n));
    for (const SparseView& s : views) {
      columns->push_back(SparseFeatures(s, *rows));
    }
    for (int i = 3 * n; i < dense_end_; ++i) {
      columns->push_back(DenseFeatures(ctx->input(i), *rows));
    }
    return OkStatus();
  }

  static Status CheckRows(int column, int64_t got, int64_t* rows) {
    if (column == 0) *rows = got;
    if (got == *rows) return OkStatus();
    return errors::InvalidArgument("Expected batch size ", *rows, " got ", got,
                                   " at column ", column);
  }

  int64_t sparse_ = 0;
  int dense_end_ = 0;
};

class SparseCrossOp : public SparseCrossBase {
 public:
  explicit SparseCrossOp(OpKernelConstruction* ctx) : SparseCrossBase(ctx) {
    int64_t key;
    DataType internal_type;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &how_.num_buckets));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("hash_key", &key));
    how_.seed = static_cast<uint64_t>(key);
    OP_REQUIRES_OK(ctx, ctx->GetAttr("internal_type", &internal_type));
    how_.integers_as_text = internal_type == DT_STRING;
  }
  void Compute(OpKernelContext* ctx) override { Cross(ctx, how_); }

 private:
  FeatureCrossing how_;
};
REGISTER_KERNEL_BUILDER(Name("SparseCross").Device(DEVICE_CPU), SparseCrossOp);
REGISTER_KERNEL_BUILDER(Name("SparseFeatureCrossV2").Device(DEVICE_CPU),
                        SparseCrossOp);

class SparseFeatureCrossOp : public SparseCrossBase {
 public:
  explicit SparseFeatureCrossOp(OpKernelConstruction* ctx)
      : SparseCrossBase(ctx) {
    DataType internal_type;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &how_.num_buckets));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("internal_type", &internal_type));
    how_.integers_as_text = internal_type == DT_STRING;
    how_.shifts = true;
    how_.seed = 0xDECAFCAFFE;
  }
  void Compute(OpKernelContext* ctx) override { Cross(ctx, how_); }

 private:
  FeatureCrossing how_;
};
REGISTER_KERNEL_BUILDER(Name("SparseFeatureCross").Device(DEVICE_CPU),
                        SparseFeatureCrossOp);

class SparseCrossV2Op : public SparseCrossBase {
 public:
  using SparseCrossBase::SparseCrossBase;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& separator = Extra(ctx, 0);
    OP_REQUIRES_OK(ctx, CheckScalar(separator, "sep"));
    const absl::string_view s = separator.scalar<tstring>();
    FeatureCrossing how;
    how.separator.assign(s.data(), s.size());
    Cross(ctx, how);
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseCrossV2").Device(DEVICE_CPU),
                        SparseCrossV2Op);

class SparseCrossHashedOp : public SparseCrossBase {
 public:
  using SparseCrossBase::SparseCrossBase;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& salt = Extra(ctx, 2);
    OP_REQUIRES_OK(ctx, CheckScalar(Extra(ctx, 0), "num_buckets"));
    OP_REQUIRES_OK(ctx, CheckScalar(Extra(ctx, 1), "strong_hash"));
    OP_REQUIRES(ctx, salt.dims() == 1 && salt.dim_size(0) == 2,
                errors::InvalidArgument(
                    "Input \"salt\" must be a vector of 2 elements but has "
                    "shape ",
                    salt.shape().DebugString()));
    FeatureCrossing how;
    how.num_buckets = Extra(ctx, 0).scalar<int64_t>();
    how.strong = Extra(ctx, 1).scalar<bool>();
    how.seeded = false;
    for (int i = 0; i < 2; ++i) {
      how.key[i] = static_cast<uint64_t>(salt.data<int64_t>()[i]);
    }
    Cross(ctx, how);
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseCrossHashed").Device(DEVICE_CPU),
                        SparseCrossHashedOp);

}  // namespace
}  // namespace headrace
