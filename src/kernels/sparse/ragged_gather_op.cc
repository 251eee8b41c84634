// RaggedGather: selects rows of a ragged tensor by indices of any rank. All
// dims of the indices except the last become splits of equal rows, before the
// splits of the selected rows. Only the splits of selected rows are read, so
// gathering few of many rows is cheap.
#include <vector>

#include "kernels/lib/row_splits.h"
#include "kernels/lib/segment_loops.h"

namespace headrace {
namespace {

// Rows [begin, end) of a level.
struct RowRange {
  int64_t begin, end;
};

class RaggedGatherOp : public OpKernel {
 public:
  explicit RaggedGatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("OUTPUT_RAGGED_RANK", &output_rank_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::vector<const Tensor*> splits;
    const Tensor *values = nullptr, *indices = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input_list("params_nested_splits", &splits));
    OP_REQUIRES_OK(ctx, ctx->input("params_dense_values", &values));
    OP_REQUIRES_OK(ctx, ctx->input("indices", &indices));
    OP_REQUIRES(
        ctx, values->dims() > 0,
        errors::InvalidArgument("params_dense_values must not be a scalar"));
    for (const Tensor* s : splits) {
      OP_REQUIRES(ctx, s->dims() == 1 && s->NumElements() > 0,
                  errors::InvalidArgument(
                      "params_nested_splits must be vectors of at least one "
                      "element, got shape ",
                      s->shape().DebugString()));
    }
    const int rank = indices->dims();
    OP_REQUIRES(
        ctx, output_rank_ == rank - 1 + static_cast<int64_t>(splits.size()),
        errors::InvalidArgument("OUTPUT_RAGGED_RANK is ", output_rank_,
                                ", wanted the rank of indices, ", rank,
                                ", - 1 + PARAMS_RAGGED_RANK, ", splits.size()));
    int output = 0;
    for (int d = 0; d + 1 < rank; ++d) {
      const int64_t rows = indices->shape().ProductOf(0, d + 1);
      SplitsWriter out;
      OP_REQUIRES_OK(ctx, out.Allocate(ctx, output++, rows));
      for (int64_t r = 0; r < rows; ++r) {
        OP_REQUIRES_OK(ctx, out.Add(indices->dim_size(d + 1)));
      }
    }
    std::vector<RowRange> picked;
    OP_REQUIRES_OK(ctx, Pick(*indices, splits[0]->NumElements() - 1, &picked));
    for (size_t d = 0; d < splits.size(); ++d) {
      const int64_t below = d + 1 < splits.size()
                                ? splits[d + 1]->NumElements() - 1
                                : values->dim_size(0);
      const bool wanted = d > 0 || rank > 0;
      OP_REQUIRES_OK(
          ctx, Descend(ctx, *splits[d], below, wanted ? output : -1, &picked));
      if (wanted) ++output;
    }
    OP_REQUIRES_OK(ctx, GatherValues(ctx, *values, picked, output));
  }

 private:
  static Status Pick(const Tensor& indices, int64_t rows,
                     std::vector<RowRange>* picked) {
    picked->reserve(indices.NumElements());
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int64_t row = IdAt(indices, i);
      if (row < 0 || row >= rows) {
        return errors::InvalidArgument("indices[", i, "] = ", row,
                                       " is not in [0, ", rows, ")");
      }
      picked->push_back({row, row + 1});
    }
    return OkStatus();
  }

  static Status CountRows(const std::vector<RowRange>& ranges, int64_t* rows) {
    *rows = 0;
    for (const RowRange& r : ranges) {
      *rows = AddWithoutOverflow(*rows, r.end - r.begin);
      if (*rows < 0) {
        return errors::InvalidArgument(
            "the rows picked are more than int64 can count");
      }
    }
    return OkStatus();
  }

  // Writes the splits of the rows picked to an output (-1: to none) and takes
  // the ranges to the level below, which has `below` rows.
  static Status Descend(OpKernelContext* ctx, const Tensor& splits,
                        int64_t below, int output,
                        std::vector<RowRange>* ranges) {
    SplitsWriter out;
    if (output >= 0) {
      int64_t rows = 0;
      HR_RETURN_IF_ERROR(CountRows(*ranges, &rows));
      HR_RETURN_IF_ERROR(out.Allocate(ctx, output, rows));
    }
    for (RowRange& range : *ranges) {
      const int64_t first = IdAt(splits, range.begin);
      if (first < 0) {
        return errors::InvalidArgument(
            "Ragged splits must not be negative, got ", first);
      }
      int64_t last = first;
      for (int64_t r = range.begin; r < range.end; ++r) {
        const int64_t next = IdAt(splits, r + 1);
        if (next < last) {
          return errors::InvalidArgument("Ragged splits must be sorted, got ",
                                         last, " followed by ", next);
        }
        if (output >= 0) HR_RETURN_IF_ERROR(out.Add(next - last));
        last = next;
      }
      if (last > below) {
        return errors::InvalidArgument(
            "Ragged splits must not point past values: got ", last, ", have ",
            below);
      }
      range = {first, last};
    }
    return OkStatus();
  }

  static Status GatherValues(OpKernelContext* ctx, const Tensor& values,
                             const std::vector<RowRange>& picked, int output) {
    int64_t rows = 0;
    HR_RETURN_IF_ERROR(CountRows(picked, &rows));
    TensorShape shape = values.shape();
    shape.set_dim(0, rows);
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(output, shape, &out));
    if (out->NumElements() == 0) return OkStatus();
    const int64_t row = out->NumElements() / rows;
    int64_t at = 0;
    for (const RowRange& r : picked) {
      const int64_t n = (r.end - r.begin) * row;
      CopyElements(values, r.begin * row, out, at, n);
      at += n;
    }
    return OkStatus();
  }

  int64_t output_rank_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("RaggedGather").Device(DEVICE_CPU),
                        RaggedGatherOp);

}  // namespace
}  // namespace headrace
