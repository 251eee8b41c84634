// Split and SplitV: the inverse of concatenation.
#include "headrace/op_kernel.h"
#include "kernels/array/columns.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

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
    SplitColumns(ctx, in, static_cast<int>(axis), DimVector(n, size / n),
                 false);
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
    SplitColumns(ctx, in, static_cast<int>(axis), sizes, false);
  }
};
REGISTER_KERNEL_BUILDER(Name("SplitV").Device(DEVICE_CPU), SplitVOp);

}  // namespace
}  // namespace headrace
