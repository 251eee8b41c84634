// The conditional accumulator of sparse gradients: rows of a large tensor, each
// with its index. A row's mean is over the gradients that had this row, not
// over all. Rows that one gradient names twice are added up.
#include <algorithm>
#include <map>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/flow/accumulator.h"
#include "kernels/lib/tensor_sum.h"

namespace headrace {
namespace {

struct SparseGradient {
  const Tensor& indices;  // int64 vector
  const Tensor& values;   // a row each
  const Tensor& shape;    // int64 vector; empty: not known
};

class SparseAccumulator : public Accumulator {
 public:
  using Accumulator::Accumulator;

  Status Apply(int64_t local_step, bool has_known_shape,
               const SparseGradient& g) {
    HR_RETURN_IF_ERROR(Validate(has_known_shape, g));
    return Add(local_step, [&]() -> Status {
      mu_.AssertHeld();
      HR_RETURN_IF_ERROR(FitsRows(g.values));
      Tensor values = g.values;
      HR_RETURN_IF_ERROR(OwnBytes(&values));
      ++gradients_;
      const int64_t* indices = g.indices.data<int64_t>();
      for (int64_t i = 0; i < g.indices.NumElements(); ++i) {
        Row& row = rows_[indices[i]];
        if (row.gradients == 0) {
          row.sum = values.SubSlice(i);
        } else {
          HR_RETURN_IF_ERROR(AddToTensor(values.SubSlice(i), &row.sum));
        }
        if (row.last_gradient != gradients_) ++row.gradients;
        row.last_gradient = gradients_;
      }
      row_shape_ = g.values.shape();
      row_shape_.RemoveDim(0);
      return OkStatus();
    });
  }

 private:
  struct Row {
    Tensor sum;
    int64_t gradients = 0;
    int64_t last_gradient = 0;
  };

  Status Validate(bool has_known_shape, const SparseGradient& g) const {
    const std::string& name = options().name;
    if (g.values.dtype() != options().dtype) {
      return errors::InvalidArgument("Wrong dtype: the ", DebugString(),
                                     " was given ",
                                     DataTypeString(g.values.dtype()));
    }
    if (g.indices.dims() != 1) {
      return errors::InvalidArgument(
          "Input indices should be vector but received shape: ",
          g.indices.shape().DebugString());
    }
    if (g.values.dims() < 1) {
      return errors::InvalidArgument("Values cannot be 0-dimensional.");
    }
    if (g.values.dim_size(0) != g.indices.dim_size(0)) {
      return errors::InvalidArgument(
          "accumulator '", name, "': gradient_values has ",
          g.values.dim_size(0), " rows, gradient_indices has ",
          g.indices.dim_size(0));
    }
    if (has_known_shape) {
      if (g.shape.dims() != 1) {
        return errors::InvalidArgument(
            "Input shape should be vector but received shape: ",
            g.shape.shape().DebugString());
      }
      DimVector dims;
      HR_RETURN_IF_ERROR(ReadIntegerVector(g.shape, "gradient_shape", &dims));
      HR_RETURN_IF_ERROR(CheckDims("shape", dims, 0));
    }
    const int64_t rows = KnownRows();
    for (int64_t i = 0; i < g.indices.NumElements(); ++i) {
      const int64_t index = g.indices.data<int64_t>()[i];
      if (index < 0 || (rows >= 0 && index >= rows)) {
        return errors::InvalidArgument(
            "Shape mismatch: index of slice ", i,
            " exceeded limits of shape: gradient_indices of accumulator '",
            name, "' has ", index, ", which is not in [0, ", rows, ")");
      }
    }
    const auto dims = g.values.shape().dim_sizes();
    HR_RETURN_IF_ERROR(
        CheckDims("values", DimVector(dims.begin(), dims.end()), 1));
    return OkStatus();
  }

  // OK if `dims` are at least as many as those of the accumulator's shape, and
  // equal to those that it knows, from `first` on. What an accumulator of shape
  // [] is given may have any shape.
  Status CheckDims(const char* what, const DimVector& dims, int first) const {
    const PartialTensorShape& want = options().shape;
    const int rank = std::max(want.dims(), 0);
    if (static_cast<int>(dims.size()) < rank) {
      return errors::InvalidArgument("Shape mismatch: expected ", what,
                                     " rank at least ", rank, ", got ",
                                     dims.size());
    }
    for (int d = first; d < rank; ++d) {
      if (want.dim_size(d) >= 0 && dims[d] != want.dim_size(d)) {
        return errors::InvalidArgument("Shape mismatch: expected ", what,
                                       " dim ", d, " to be ", want.dim_size(d),
                                       ", got ", dims[d]);
      }
    }
    return OkStatus();
  }

  // The number of rows of the whole gradient; -1 if it is not known.
  int64_t KnownRows() const {
    return options().shape.dims() > 0 ? options().shape.dim_size(0) : -1;
  }

  // All rows between two takes have one shape.
  Status FitsRows(const Tensor& values) const REQUIRES(mu_) {
    TensorShape shape = values.shape();
    shape.RemoveDim(0);
    if (rows_.empty() || shape == row_shape_) return OkStatus();
    return errors::InvalidArgument(
        "Shape mismatch: the accumulator has rows of shape ",
        row_shape_.DebugString(), ", got rows of ", shape.DebugString());
  }

  Status TakeLocked(int64_t, std::vector<Tensor>* result) override
      REQUIRES(mu_) {
    std::map<int64_t, Row> rows = std::move(rows_);
    rows_.clear();
    const int64_t n = static_cast<int64_t>(rows.size());
    TensorShape shape({n});
    shape.AppendShape(row_shape_);
    Tensor indices, values;
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(CpuAllocator(), DT_INT64, TensorShape({n}), &indices));
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(CpuAllocator(), options().dtype, shape, &values));
    int64_t i = 0;
    for (auto& [index, row] : rows) {
      Tensor sum = std::move(row.sum);
      if (options().mean && row.gradients > 1) {
        HR_RETURN_IF_ERROR(DivideTensor(row.gradients, &sum));
      }
      indices.data<int64_t>()[i] = index;
      CopyElements(sum, 0, &values, i * sum.NumElements(), sum.NumElements());
      ++i;
    }
    Tensor dense(DT_INT64, TensorShape({int64_t{1} + row_shape_.dims()}));
    dense.data<int64_t>()[0] = KnownRows();
    for (int d = 0; d < row_shape_.dims(); ++d) {
      dense.data<int64_t>()[d + 1] = row_shape_.dim_size(d);
    }
    *result = {std::move(indices), std::move(values), std::move(dense)};
    return OkStatus();
  }

  std::map<int64_t, Row> rows_ GUARDED_BY(mu_);
  TensorShape row_shape_ GUARDED_BY(mu_);
  int64_t gradients_ GUARDED_BY(mu_) = 0;
};

using SparseAccumulatorOp = AccumulatorOp<SparseAccumulator>;
REGISTER_KERNEL_BUILDER(Name("SparseConditionalAccumulator").Device(DEVICE_CPU),
                        SparseAccumulatorOp);

class SparseApplyGradientOp : public OpKernel {
 public:
  explicit SparseApplyGradientOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_known_shape", &has_known_shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<SparseAccumulator> a;
    OP_REQUIRES_OK(ctx, LookupAccumulator<SparseAccumulator>(ctx, &a));
    int64_t step = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "local_step", &step));
    OP_REQUIRES_OK(ctx,
                   a->Apply(step, has_known_shape_,
                            {ctx->input(2), ctx->input(3), ctx->input(4)}));
  }

 private:
  bool has_known_shape_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("SparseAccumulatorApplyGradient").Device(DEVICE_CPU),
    SparseApplyGradientOp);

using TakeSparseOp = TakeGradientOp<SparseAccumulator>;
REGISTER_KERNEL_BUILDER(
    Name("SparseAccumulatorTakeGradient").Device(DEVICE_CPU), TakeSparseOp);

}  // namespace
}  // namespace headrace
