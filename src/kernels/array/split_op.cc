// Split, SplitV and Unpack: the inverse of concatenation. Along the first axis
// the parts are slices that share the input's buffer; along others each is
// gathered from the columns of a [rows, columns] matrix.
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// Output i is sizes[i] wide along `axis`; with `drop` the axis, where all
// sizes are 1, is left out of the shapes.
void SplitInto(OpKernelContext* ctx, const Tensor& in, int axis,
               absl::Span<const int64_t> sizes, bool drop) {
  const TensorShape& shape = in.shape();
  const int64_t rows = shape.ProductOf(0, axis);
  const int64_t inner = shape.ProductOf(axis + 1, shape.dims());
  const int64_t row = shape.dim_size(axis) * inner;
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TensorShape part = shape;
    if (drop) {
      part.RemoveDim(axis);
    } else {
      part.set_dim(axis, sizes[i]);
    }
    const int index = static_cast<int>(i);
    if (rows == 1) {
      SetOutputRun(ctx, index, in, at * inner, part);
    } else {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(index, part, &out));
      BoxCopy copy;
      copy.AddDim(rows, row, sizes[i] * inner);
      copy.AddDim(sizes[i] * inner, 1, 1);
      copy.Run(ctx, in, at * inner, out, 0);
    }
    at += sizes[i];
  }
}

class SplitOp : public OpKernel {
 public:
  explicit SplitOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(1);
    const Tensor& axis_in = ctx->input(0);
    // One part is the whole, whatever the axis: graph optimisers take such a
    // Split for an Identity.
    if (ctx->num_outputs() == 1) {
      ctx->set_output(0, in);
      return;
    }
    OP_REQUIRES(ctx, axis_in.dims() == 0,
                errors::InvalidArgument("split_dim must be a scalar but has "
                                        "shape ",
                                        axis_in.shape().DebugString()));
    int64_t axis;
    OP_REQUIRES_OK(ctx, ReadInteger(axis_in, "split_dim", &axis));
    OP_REQUIRES(ctx, -in.dims() <= axis && axis < in.dims(),
                errors::InvalidArgument("-input rank(-", in.dims(),
                                        ") <= split_dim < input rank (",
                                        in.dims(), "), but got ", axis));
    if (axis < 0) axis += in.dims();
    const int64_t n = ctx->num_outputs();
    const int64_t size = in.dim_size(static_cast<int>(axis));
    OP_REQUIRES(ctx, size % n == 0,
                errors::InvalidArgument(
                    "Number of ways to split should evenly divide the split "
                    "dimension, but got split_dim ",
                    axis, " (size = ", size, ") and num_split ", n));
    SplitInto(ctx, in, static_cast<int>(axis), DimVector(n, size / n), false);
  }
};
REGISTER_KERNEL_BUILDER(Name("Split").Device(DEVICE_CPU), SplitOp);

class SplitVOp : public OpKernel {
 public:
  explicit SplitVOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& sizes_in = ctx->input(1);
    const int n = ctx->num_outputs();
    if (n == 1) {
      ctx->set_output(0, in);
      return;
    }
    OP_REQUIRES(ctx, sizes_in.dims() == 1 && sizes_in.NumElements() == n,
                errors::InvalidArgument(
                    "size of the split_tensor must be 1-D and have the same "
                    "elements as outputs, got shape ",
                    sizes_in.shape().DebugString(), " for ", n, " outputs"));
    DimVector sizes;
    OP_REQUIRES_OK(ctx, ReadIntegers(sizes_in, "size_splits", &sizes));
    int64_t axis;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(2), "split_dim", &axis));
    OP_REQUIRES(ctx, -in.dims() <= axis && axis < in.dims(),
                errors::InvalidArgument("-input rank(-", in.dims(),
                                        ") <= split_dim < input rank (",
                                        in.dims(), "), but got ", axis));
    if (axis < 0) axis += in.dims();
    const int64_t total = in.dim_size(static_cast<int>(axis));
    int unknown = -1;
    int64_t sum = 0;
    for (int i = 0; i < n; ++i) {
      if (sizes[i] == -1) {
        OP_REQUIRES(
            ctx, unknown < 0,
            errors::InvalidArgument("There can only be one -1 in the input."));
        unknown = i;
        continue;
      }
      OP_REQUIRES(ctx, sizes[i] >= 0,
                  errors::InvalidArgument("Split size at index ", i,
                                          " must be >= 0. Got: ", sizes[i]));
      sum = AddWithoutOverflow(sum, sizes[i]);
      OP_REQUIRES(ctx, sum >= 0,
                  errors::InvalidArgument("the split sizes overflow"));
    }
    OP_REQUIRES(ctx, unknown < 0 ? sum == total : sum <= total,
                errors::InvalidArgument(
                    "Determined shape must either match input shape along "
                    "split_dim exactly if fully specified, or be less than "
                    "the size of the input along split_dim if not fully "
                    "specified.  Got: ",
                    sum, ", the dimension is ", total));
    if (unknown >= 0) sizes[unknown] = total - sum;
    SplitInto(ctx, in, static_cast<int>(axis), sizes, false);
  }
};
REGISTER_KERNEL_BUILDER(Name("SplitV").Device(DEVICE_CPU), SplitVOp);

class UnpackOp : public OpKernel {
 public:
  explicit UnpackOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, -in.dims() <= axis_ && axis_ < in.dims(),
                errors::InvalidArgument("axis = ", axis_, " not in [",
                                        -in.dims(), ", ", in.dims(), ")"));
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + in.dims() : axis_);
    const int64_t n = ctx->num_outputs();
    OP_REQUIRES(
        ctx, in.dim_size(axis) == n,
        errors::InvalidArgument("Input shape axis ", axis, " must equal ", n,
                                ", got shape ", in.shape().DebugString()));
    SplitInto(ctx, in, axis, DimVector(n, 1), true);
  }

 private:
  int64_t axis_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("Unpack").Device(DEVICE_CPU), UnpackOp);

}  // namespace
}  // namespace headrace
