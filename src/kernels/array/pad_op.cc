// Pad and PadV2: the input framed by a constant. Only the frame is filled, one
// slab a side and dim, so that each output element is written once.
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

class PadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& paddings = ctx->input(1);
    const int rank = in.dims();
    OP_REQUIRES(
        ctx, paddings.dims() == 2 && paddings.dim_size(1) == 2,
        errors::InvalidArgument("paddings must be a matrix with 2 columns: ",
                                paddings.shape().DebugString()));
    OP_REQUIRES(
        ctx, paddings.dim_size(0) == rank,
        errors::InvalidArgument(
            "The first dimension of paddings must be the rank of "
            "inputs",
            paddings.shape().DebugString(), " ", in.shape().DebugString()));
    Tensor value(in.dtype(), TensorShape());
    if (ctx->num_inputs() > 2) {
      OP_REQUIRES(
          ctx, ctx->input(2).dims() == 0,
          errors::InvalidArgument("constant_values must be a scalar. Found: ",
                                  ctx->input(2).shape().DebugString()));
      value = ctx->input(2);
    } else {
      ZeroElements(&value);
    }
    DimVector pads;
    OP_REQUIRES_OK(ctx, ReadIntegers(paddings, "paddings", &pads));
    TensorShape shape;
    for (int i = 0; i < rank; ++i) {
      OP_REQUIRES(ctx, pads[2 * i] >= 0 && pads[2 * i + 1] >= 0,
                  errors::InvalidArgument("Paddings must be non-negative: ",
                                          pads[2 * i], " ", pads[2 * i + 1]));
      int64_t d = AddWithoutOverflow(in.dim_size(i), pads[2 * i]);
      if (d >= 0) d = AddWithoutOverflow(d, pads[2 * i + 1]);
      OP_REQUIRES(ctx, d >= 0,
                  errors::InvalidArgument("Pad: dimension ", i, " overflows"));
      shape.AddDim(d);
    }
    if (shape == in.shape()) {
      ctx->set_output(0, in);
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (shape.num_elements() == 0) return;

    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    // Slabs of dim i: within the input's range in all dims before it, over the
    // whole output in those after it.
    int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      const int64_t before = pads[2 * i], after = pads[2 * i + 1];
      for (const auto& [begin, n] :
           {std::pair(int64_t{0}, before),
            std::pair(before + in.dim_size(i), after)}) {
        if (n == 0) continue;
        BoxCopy slab;
        for (int k = 0; k < i; ++k) slab.AddDim(in.dim_size(k), 0, to[k]);
        slab.AddDim(n, 0, to[i]);
        for (int k = i + 1; k < rank; ++k) {
          slab.AddDim(shape.dim_size(k), 0, to[k]);
        }
        slab.Run(ctx, value, 0, out, at + begin * to[i]);
      }
      at += before * to[i];
    }
    BoxCopy inner;
    for (int i = 0; i < rank; ++i) inner.AddDim(in.dim_size(i), from[i], to[i]);
    inner.Run(ctx, in, 0, out, at);
  }
};
REGISTER_KERNEL_BUILDER(Name("Pad").Device(DEVICE_CPU), PadOp);
REGISTER_KERNEL_BUILDER(Name("PadV2").Device(DEVICE_CPU), PadOp);

}  // namespace
}  // namespace headrace
