// Roll: the elements shifted along some dims; those that leave at the end come
// back at the front.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// Element i moves to (i + shift) mod n. Each rolled dim cuts the box in two.
class RollOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& shift_in = ctx->input(1);
    const Tensor& axis_in = ctx->input(2);
    OP_REQUIRES(ctx, in.dims() >= 1,
                errors::InvalidArgument("input must be 1-D or higher"));
    OP_REQUIRES(ctx, shift_in.dims() <= 1,
                errors::InvalidArgument(
                    "shift must be a scalar or a 1-D vector. Found: ",
                    shift_in.shape().DebugString()));
    OP_REQUIRES(ctx, axis_in.dims() <= 1,
                errors::InvalidArgument(
                    "axis must be a scalar or a 1-D vector. Found: ",
                    axis_in.shape().DebugString()));
    OP_REQUIRES(ctx, shift_in.shape() == axis_in.shape(),
                errors::InvalidArgument("shift and axis must have the same "
                                        "size, got ",
                                        shift_in.shape().DebugString(), " and ",
                                        axis_in.shape().DebugString()));
    DimVector shifts, axes, shift(in.dims(), 0);
    OP_REQUIRES_OK(ctx, ReadIntegers(shift_in, "shift", &shifts));
    OP_REQUIRES_OK(ctx, ReadIntegers(axis_in, "axis", &axes));
    for (size_t i = 0; i < axes.size(); ++i) {
      int64_t a;
      OP_REQUIRES_OK(ctx, NormalizeAxis(axes[i], in.dims(), "axis", &a));
      const int64_t n = in.dim_size(static_cast<int>(a));
      if (n > 0) shift[a] = ((shift[a] + shifts[i] % n) % n + n) % n;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    if (in.NumElements() == 0) return;
    const DimVector strides = RowMajorStrides(in.shape().dim_sizes());
    // Bit k of `half` says which half of the k-th rolled dim. There are at most
    // as many halves as elements, since a rolled dim has two at least.
    std::vector<int> rolled;
    for (int i = 0; i < in.dims(); ++i) {
      if (shift[i] != 0) rolled.push_back(i);
    }
    for (uint64_t half = 0; half < (uint64_t{1} << rolled.size()); ++half) {
      DimVector size(in.shape().dim_sizes().begin(),
                     in.shape().dim_sizes().end());
      int64_t from = 0, to = 0;
      for (size_t k = 0; k < rolled.size(); ++k) {
        const int d = rolled[k];
        const int64_t n = in.dim_size(d);
        if (half >> k & 1) {  // the end comes to the front
          size[d] = shift[d];
          from += (n - shift[d]) * strides[d];
        } else {
          size[d] = n - shift[d];
          to += shift[d] * strides[d];
        }
      }
      BoxCopy copy;
      for (int i = 0; i < in.dims(); ++i) {
        copy.AddDim(size[i], strides[i], strides[i]);
      }
      copy.Run(ctx, in, from, out, to);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("Roll").Device(DEVICE_CPU), RollOp);

}  // namespace
}  // namespace headrace
