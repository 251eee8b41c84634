// SparseCross: for each row all combinations of one feature of each column, the
// last column's changing fastest. Columns are sparse tensors, then dense
// matrices; features are strings or integers. A combination is the features
// joined by "_X_", or (out_type int64) a hash of them.
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

class SparseCrossOp : public OpKernel {
 public:
  explicit SparseCrossOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t key;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &num_buckets_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("hash_key", &key));
    hash_key_ = static_cast<uint64_t>(key);
    OP_REQUIRES_OK(ctx, ctx->GetAttr("internal_type", &internal_type_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &sparse_));
    DataTypeVector types;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_types", &types));
    OP_REQUIRES(
        ctx, static_cast<int64_t>(types.size()) == sparse_,
        errors::InvalidArgument("SparseCross: N is ", sparse_, " but ",
                                types.size(), " sparse_types are given"));
  }

  void Compute(OpKernelContext* ctx) override {
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
                        "SparseCross: row ", b,
                        " has more combinations than int64 can count"));
      }
      counts[b] = n;
      longest = std::max(longest, n);
      total = AddWithoutOverflow(total, n);
      OP_REQUIRES(ctx, total >= 0,
                  errors::InvalidArgument("SparseCross: the rows have more "
                                          "combinations than int64 can count"));
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
          values->data<int64_t>()[at] = Hash(columns, b, pick);
        } else {
          values->data<tstring>()[at] = tstring(Join(columns, b, pick));
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
    for (int i = 3 * n; i < ctx->num_inputs(); ++i) {
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
        DT_INT64, {*rows, 2 * (ctx->num_inputs() - 2 * n) + 1}, &room));
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
    for (int i = 3 * n; i < ctx->num_inputs(); ++i) {
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

  int64_t Hash(const std::vector<Column>& columns, int64_t row,
               const DimVector& pick) const {
    uint64_t h = hash_key_;
    for (size_t c = 0; c < columns.size(); ++c) {
      const int64_t at = columns[c].first[row] + pick[c];
      const Tensor& v = columns[c].values;
      uint64_t feature;
      if (v.dtype() == DT_STRING) {
        const tstring& s = v.data<tstring>()[at];
        feature = Fingerprint64({s.data(), s.size()});
      } else if (internal_type_ == DT_STRING) {
        feature = Fingerprint64(StrCat(v.data<int64_t>()[at]));
      } else {
        feature = static_cast<uint64_t>(v.data<int64_t>()[at]);
      }
      h = Combine(h, feature);
    }
    const uint64_t modulus =
        num_buckets_ > 0
            ? static_cast<uint64_t>(num_buckets_)
            : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return static_cast<int64_t>(h % modulus);
  }

  static std::string Join(const std::vector<Column>& columns, int64_t row,
                          const DimVector& pick) {
    std::string joined;
    for (size_t c = 0; c < columns.size(); ++c) {
      const int64_t at = columns[c].first[row] + pick[c];
      const Tensor& v = columns[c].values;
      if (c > 0) joined += "_X_";
      if (v.dtype() == DT_STRING) {
        const absl::string_view s = v.data<tstring>()[at];
        joined.append(s.data(), s.size());
      } else {
        joined += StrCat(v.data<int64_t>()[at]);
      }
    }
    return joined;
  }

  int64_t num_buckets_ = 0, sparse_ = 0;
  uint64_t hash_key_ = 0;
  DataType internal_type_ = DT_STRING;
};
REGISTER_KERNEL_BUILDER(Name("SparseCross").Device(DEVICE_CPU), SparseCrossOp);

}  // namespace
}  // namespace headrace
