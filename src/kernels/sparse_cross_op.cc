// SparseCross: for each row all combinations of one feature of each column, the
// last column's changing fastest. Columns are sparse tensors, then dense
// matrices; features are strings or integers. A combination is the features
// joined by "_X_", or (out_type int64) a hash of them. SparseCrossV2 is told
// what to join with; SparseCrossHashed hashes, if asked so with a key.
//
// Entries of a sparse column that are out of order, or beyond the rows, are
// passed over, as in TensorFlow.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "kernels/element.h"
#include "kernels/sparse_tensor.h"

namespace headrace {
namespace {

// The features of one column: those of row b are [begin[b], begin[b + 1]) of
// `values`.
struct Column {
  Tensor values;
  std::vector<int64_t> first, count;  // by row
};

uint64_t Mix(uint64_t v) { return v ^ (v >> 47); }

// TensorFlow's combination of two fingerprints.
uint64_t Combine(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  uint64_t r = a ^ kMul;
  r ^= Mix(b * kMul) * kMul;
  r *= kMul;
  return Mix(Mix(r) * kMul);
}

// How a combination becomes a value: joined by `separator`, or hashed.
struct Crossing {
  std::string separator = "_X_";
  int64_t num_buckets = 0;  // 0: as many as int64 has
  bool seeded = true;       // the hash begins with `seed`, else with a feature
  uint64_t seed = 0;
  bool integers_as_text = false;
  bool strong = false;  // strings are hashed under `key`
  uint64_t key[2] = {0, 0};
};

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

  void Cross(OpKernelContext* ctx, const Crossing& how) const {
    std::vector<Column> columns;
    int64_t rows = 0;
    OP_REQUIRES_OK(ctx, ReadColumns(ctx, &columns, &rows));
    // How many combinations each row has.
    std::vector<int64_t> counts(rows);
    int64_t total = 0, longest = 0;
    for (int64_t b = 0; b < rows; ++b) {
      int64_t n = 1;
      for (const Column& c : columns) {
        if (c.count[b] == 0) n = 0;
      }
      for (const Column& c : columns) {
        if (n != 0) n = MultiplyWithoutOverflow(n, c.count[b]);
        OP_REQUIRES(ctx, n >= 0,
                    errors::InvalidArgument(
                        type_string(), ": row ", b,
                        " has more combinations than int64 can count"));
      }
      counts[b] = n;
      longest = std::max(longest, n);
      total = AddWithoutOverflow(total, n);
      OP_REQUIRES(
          ctx, total >= 0,
          errors::InvalidArgument(
              type_string(),
              ": the rows have more combinations than int64 can count"));
    }
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {total, 2}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {total}, &values));
    int64_t at = 0;
    DimVector pick(columns.size());
    for (int64_t b = 0; b < rows; ++b) {
      std::fill(pick.begin(), pick.end(), 0);
      for (int64_t k = 0; k < counts[b]; ++k, ++at) {
        indices->data<int64_t>()[2 * at] = b;
        indices->data<int64_t>()[2 * at + 1] = k;
        if (values->dtype() == DT_INT64) {
          values->data<int64_t>()[at] = Hash(how, columns, b, pick);
        } else {
          values->data<tstring>()[at] = tstring(Join(how, columns, b, pick));
        }
        for (int c = static_cast<int>(columns.size()) - 1; c >= 0; --c) {
          if (++pick[c] < columns[c].count[b]) break;
          pick[c] = 0;
        }
      }
    }
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2, {rows, longest}));
  }

 private:
  Status ReadColumns(OpKernelContext* ctx, std::vector<Column>* columns,
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
    // The rows' bookkeeping; a shape can ask for any number of them.
    Tensor room;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(
        DT_INT64, {*rows, 2 * (dense_end_ - 2 * n) + 1}, &room));
    for (const SparseView& s : views) {
      Column c;
      c.values = s.values;
      int64_t at = 0;
      for (int64_t b = 0; b < *rows; ++b) {
        c.first.push_back(at);
        while (at < s.n && s.at(at, 0) == b) ++at;
        c.count.push_back(at - c.first.back());
      }
      columns->push_back(std::move(c));
    }
    for (int i = 3 * n; i < dense_end_; ++i) {
      const Tensor& t = ctx->input(i);
      Column c;
      c.values = t;
      for (int64_t b = 0; b < *rows; ++b) {
        c.first.push_back(b * t.dim_size(1));
        c.count.push_back(t.dim_size(1));
      }
      columns->push_back(std::move(c));
    }
    return OkStatus();
  }

  static Status CheckRows(int column, int64_t got, int64_t* rows) {
    if (column == 0) *rows = got;
    if (got == *rows) return OkStatus();
    return errors::InvalidArgument("Expected batch size ", *rows, " got ", got,
                                   " at column ", column);
  }

  static int64_t Hash(const Crossing& how, const std::vector<Column>& columns,
                      int64_t row, const DimVector& pick) {
    uint64_t h = how.seed;
    for (size_t c = 0; c < columns.size(); ++c) {
      const int64_t at = columns[c].first[row] + pick[c];
      const Tensor& v = columns[c].values;
      uint64_t feature;
      if (v.dtype() == DT_STRING) {
        const tstring& s = v.data<tstring>()[at];
        feature = how.strong
                      ? SipHash(how.key[0], how.key[1], {s.data(), s.size()})
                      : Fingerprint64({s.data(), s.size()});
      } else if (how.integers_as_text) {
        feature = Fingerprint64(StrCat(v.data<int64_t>()[at]));
      } else {
        feature = static_cast<uint64_t>(v.data<int64_t>()[at]);
      }
      h = c > 0 || how.seeded ? Combine(h, feature) : feature;
    }
    const uint64_t modulus =
        how.num_buckets > 0
            ? static_cast<uint64_t>(how.num_buckets)
            : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return static_cast<int64_t>(h % modulus);
  }

  static std::string Join(const Crossing& how,
                          const std::vector<Column>& columns, int64_t row,
                          const DimVector& pick) {
    std::string joined;
    for (size_t c = 0; c < columns.size(); ++c) {
      const int64_t at = columns[c].first[row] + pick[c];
      const Tensor& v = columns[c].values;
      if (c > 0) joined += how.separator;
      if (v.dtype() == DT_STRING) {
        const absl::string_view s = v.data<tstring>()[at];
        joined.append(s.data(), s.size());
      } else {
        joined += StrCat(v.data<int64_t>()[at]);
      }
    }
    return joined;
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
  Crossing how_;
};
REGISTER_KERNEL_BUILDER(Name("SparseCross").Device(DEVICE_CPU), SparseCrossOp);

class SparseCrossV2Op : public SparseCrossBase {
 public:
  using SparseCrossBase::SparseCrossBase;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& separator = Extra(ctx, 0);
    OP_REQUIRES_OK(ctx, CheckScalar(separator, "sep"));
    const absl::string_view s = separator.scalar<tstring>();
    Crossing how;
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
    Crossing how;
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
