// RaggedTensorToTensor: makes a dense tensor. The default value fills rows that
// are shorter than the longest row or than the given shape. Values beyond the
// shape are dropped. Levels are given by splits, or by the row of each value
// preceded by the number of rows (FIRST_DIM_SIZE).
//
// If a level has more rows than the next level describes, these rows are empty.
// Values beyond those that the last level describes are dropped.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/lib/element.h"

namespace headrace {
namespace {

enum class Partition : uint8_t { kFirstDimSize, kValueRowids, kRowSplits };

class RaggedTensorToTensorOp : public OpKernel {
 public:
  explicit RaggedTensorToTensorOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<std::string> names;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("row_partition_types", &names));
    OP_REQUIRES(ctx, !names.empty(),
                errors::InvalidArgument("No row_partition_types given."));
    OP_REQUIRES(ctx, static_cast<int>(names.size()) == ctx->num_inputs() - 3,
                errors::InvalidArgument(
                    "Number of row partition tensors (", ctx->num_inputs() - 3,
                    ") does not equal the number of row partition types(",
                    names.size(), ")."));
    for (const std::string& name : names) {
      const bool first = types_.empty();
      if (name == "FIRST_DIM_SIZE" && first) {
        types_.push_back(Partition::kFirstDimSize);
      } else if (name == "VALUE_ROWIDS" && !first) {
        types_.push_back(Partition::kValueRowids);
      } else if (name == "ROW_SPLITS") {
        types_.push_back(Partition::kRowSplits);
      } else {
        OP_REQUIRES_OK(ctx, Refusal(name));
      }
    }
    levels_ = static_cast<int>(types_.size()) - HasFirst();
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &values = ctx->input(1), &default_value = ctx->input(2);
    OP_REQUIRES_OK(ctx, CheckDefault(values, default_value));
    std::vector<DimVector> partitions(levels_);
    for (int l = 0; l < levels_; ++l) {
      OP_REQUIRES_OK(ctx, ReadPartition(ctx, l, &partitions[l]));
    }
    int64_t rows = 0;
    OP_REQUIRES_OK(ctx, ReadFirstDim(ctx, partitions, &rows));
    DimVector dims;
    OP_REQUIRES_OK(ctx, OutputDims(ctx, partitions, rows, &dims));
    for (int l = 0; l < levels_; ++l) {
      OP_REQUIRES_OK(ctx, CountValues(l, partitions[l], &rows));
    }
    OP_REQUIRES(ctx, rows <= values.dim_size(0),
                errors::InvalidArgument("the last row partition has ", rows,
                                        " values, but values has ",
                                        values.dim_size(0)));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    TensorShape row_shape = values.shape();
    row_shape.RemoveDim(0);
    OP_REQUIRES_OK(ctx, FillWithDefault(ctx, default_value, row_shape, out));
    PlaceValues(values, partitions, rows, row_shape.num_elements(), out);
  }

 private:
  static Status Refusal(const std::string& name) {
    if (name == "FIRST_DIM_SIZE" || name == "VALUE_ROWIDS") {
      return errors::InvalidArgument("Cannot handle row partition type ", name,
                                     name == "VALUE_ROWIDS"
                                         ? " in the first place"
                                         : " but in the first place");
    }
    return errors::InvalidArgument(
        "Unknown string for row partition type: ", name,
        ", wanted FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS");
  }

  int HasFirst() const { return types_[0] == Partition::kFirstDimSize; }
  Partition TypeOf(int level) const { return types_[level + HasFirst()]; }

  // It is broadcast over the values' own dimensions.
  static Status CheckDefault(const Tensor& values, const Tensor& d) {
    bool fits = d.dims() < values.dims();
    for (int i = 1; fits && i <= d.dims(); ++i) {
      const int64_t n = d.dim_size(d.dims() - i);
      fits = n == 1 || n == values.dim_size(values.dims() - i);
    }
    if (fits) return OkStatus();
    return errors::InvalidArgument(
        "default_value.shape=", d.shape().DebugString(),
        " and rt_input.flat_values.shape=", values.shape().DebugString(),
        " are incompatible: wanted fewer dimensions, each 1 or the values'");
  }

  // Splits or row numbers, which never fall.
  Status ReadPartition(OpKernelContext* ctx, int level, DimVector* out) const {
    const Tensor& t = ctx->input(3 + HasFirst() + level);
    const bool splits = TypeOf(level) == Partition::kRowSplits;
    if (t.dims() != 1 || (splits && t.NumElements() == 0)) {
      return errors::InvalidArgument("row partition ", level,
                                     " must be a vector",
                                     splits ? " of at least one element" : "",
                                     ", got shape ", t.shape().DebugString());
    }
    HR_RETURN_IF_ERROR(ReadIntegers(t, "row partition", out));
    if (!out->empty() && (splits ? (*out)[0] != 0 : (*out)[0] < 0)) {
      return errors::InvalidArgument(
          "row partition ", level,
          splits ? " must begin with 0, got " : " must not be negative, got ",
          (*out)[0]);
    }
    for (size_t i = 1; i < out->size(); ++i) {
      if ((*out)[i] < (*out)[i - 1]) {
        return errors::InvalidArgument("row partition ", level,
                                       " must not fall, got ", (*out)[i - 1],
                                       " followed by ", (*out)[i]);
      }
    }
    return OkStatus();
  }

  Status ReadFirstDim(OpKernelContext* ctx,
                      const std::vector<DimVector>& partitions,
                      int64_t* count) const {
    if (!HasFirst()) {
      *count = static_cast<int64_t>(partitions[0].size()) - 1;
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(ReadInteger(ctx->input(3), "FIRST_DIM_SIZE", count));
    if (*count >= 0) return OkStatus();
    return errors::InvalidArgument("FIRST_DIM_SIZE must be >= 0, got ", *count);
  }

  int64_t LongestRow(int level, const DimVector& p) const {
    int64_t longest = 0, run = 0;
    const bool splits = TypeOf(level) == Partition::kRowSplits;
    for (size_t i = splits ? 1 : 0; i < p.size(); ++i) {
      run = splits ? p[i] - p[i - 1] : i > 0 && p[i] == p[i - 1] ? run + 1 : 1;
      longest = std::max(longest, run);
    }
    return longest;
  }

  // Dims that the shape leaves open become as large as the rows need.
  Status OutputDims(OpKernelContext* ctx,
                    const std::vector<DimVector>& partitions, int64_t first,
                    DimVector* dims) const {
    const Tensor &shape = ctx->input(0), &values = ctx->input(1);
    const int rank = levels_ + values.dims();
    DimVector given;
    HR_RETURN_IF_ERROR(ReadIntegers(shape, "shape", &given));
    if (shape.dims() == 0 && given[0] == -1) given.assign(rank, -1);
    if (shape.dims() > 1 || static_cast<int>(given.size()) != rank ||
        (shape.dims() == 0 && rank == 1 && given[0] != -1)) {
      return errors::InvalidArgument(
          "rt_input.shape and shape are incompatible: rt_input.rank = ", rank,
          " but shape is ", shape.shape().DebugString(), ": ",
          shape.SummarizeValue(8), " (a scalar must be -1: nothing is known)");
    }
    *dims = given;
    for (int d = 0; d < rank; ++d) {
      if (given[d] < -1) {
        return errors::InvalidArgument("Dimension ", given[d],
                                       " of shape must be >= -1");
      }
      int64_t& dim = (*dims)[d];
      if (d > levels_) {
        const int64_t n = values.dim_size(d - levels_);
        if (dim >= 0 && dim != n) {
          return errors::InvalidArgument(
              "rt_input.shape and shape are incompatible: rt_input.shape[", d,
              "] = ", n, " but shape[", d, "] = ", dim);
        }
        dim = n;
      } else if (dim < 0) {
        dim = d == 0 ? first : LongestRow(d - 1, partitions[d - 1]);
      }
    }
    return OkStatus();
  }

  // From how many rows a level has to how many values they have together.
  Status CountValues(int level, const DimVector& p, int64_t* rows) const {
    if (TypeOf(level) == Partition::kRowSplits) {
      if (static_cast<int64_t>(p.size()) - 1 > *rows) {
        return errors::InvalidArgument(
            "Row partition size is greater than output size: ", p.size() - 1,
            " > ", *rows);
      }
      *rows = p.back();
      return OkStatus();
    }
    if (!p.empty() && p.back() >= *rows) {
      return errors::InvalidArgument("row partition ", level,
                                     " has a value in row ", p.back(),
                                     " which is not less than ", *rows);
    }
    *rows = static_cast<int64_t>(p.size());
    return OkStatus();
  }

  static Status FillWithDefault(OpKernelContext* ctx,
                                const Tensor& default_value,
                                const TensorShape& row_shape, Tensor* out) {
    if (default_value.NumElements() == 1) {
      FillElements(default_value, out, 0, out->NumElements());
      return OkStatus();
    }
    Tensor filler;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(out->dtype(), row_shape, &filler));
    Broadcast(default_value, row_shape, &filler);
    const int64_t row = row_shape.num_elements();
    for (int64_t at = 0; at < out->NumElements(); at += row) {
      CopyElements(filler, 0, out, at, row);
    }
    return OkStatus();
  }

  // The first `count` values, each a row of `row` elements. From value to
  // value the rows above them never fall, so that a cursor a level finds them.
  void PlaceValues(const Tensor& values,
                   const std::vector<DimVector>& partitions, int64_t count,
                   int64_t row, Tensor* out) const {
    DimVector cursors(levels_, 0);
    for (int64_t v = 0; v < count; ++v) {
      int64_t at = v, position = 0, stride = 1;
      bool inside = true;
      for (int l = levels_ - 1; l >= 0; --l) {
        const DimVector& p = partitions[l];
        int64_t& cursor = cursors[l];
        int64_t place;
        if (TypeOf(l) == Partition::kRowSplits) {
          while (at >= p[cursor + 1]) ++cursor;
          place = at - p[cursor];
          at = cursor;
        } else {
          while (p[cursor] != p[at]) ++cursor;
          place = at - cursor;
          at = p[at];
        }
        const int64_t width = out->dim_size(l + 1);
        inside = inside && place < width;
        if (inside) position += place * stride;
        stride *= width;
      }
      if (!inside || at >= out->dim_size(0)) continue;
      position += at * stride;
      CopyElements(values, v * row, out, position * row, row);
    }
  }

  static void Broadcast(const Tensor& from, const TensorShape& shape,
                        Tensor* to) {
    const int skipped = shape.dims() - from.dims();
    for (int64_t i = 0; i < to->NumElements(); ++i) {
      int64_t rest = i, source = 0, stride = 1;
      for (int d = shape.dims() - 1; d >= skipped; --d) {
        const int64_t n = from.dim_size(d - skipped);
        if (n > 1) source += rest % shape.dim_size(d) * stride;
        rest /= shape.dim_size(d);
        stride *= n;
      }
      CopyElements(from, source, to, i, 1);
    }
  }

  std::vector<Partition> types_;
  int levels_ = 0;  // of partitions that tell of rows
};
REGISTER_KERNEL_BUILDER(Name("RaggedTensorToTensor").Device(DEVICE_CPU),
                        RaggedTensorToTensorOp);

}  // namespace
}  // namespace headrace
