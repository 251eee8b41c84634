// Conv2D, Conv3D and DepthwiseConv2dNative: cross-correlation (the filter is
// not flipped) of an image with a filter. Here are the checks; the algorithms
// are in kernels/conv.
//
// What a reader would get wrong: the odd pixel of SAME padding goes to the end,
// and the padding depends on the input's size; a VALID window one larger than
// the input gives an empty output, not an error; groups are implied by the
// filter's depth, group g being channels g * depth and on.
#include "framework/op_kernel.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/prepared_filter.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ConvOp : public OpKernel {
 public:
  explicit ConvOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, kSpatial, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
    OP_REQUIRES(ctx, !kDepthwise || attrs_.stride(0) == attrs_.stride(1),
                errors::InvalidArgument(
                    "strides: row and column strides must be equal, got ",
                    attrs_.stride(0), " and ", attrs_.stride(1)));
  }

  void SetConstantInput(int i, const Tensor& value) override {
    if (i != 1) return;
    constant_ = true;
    filter_.Set(value);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    const Tensor& filter = ctx->input(1);
    ConvParams p;
    OP_REQUIRES_OK(ctx, ConvSizesOf(attrs_, input.shape(), filter.shape(),
                                    kDepthwise, &p));
    p.dtype = input.dtype();
    p.format = attrs_.format;
    Tensor* output = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, ConvOutputShape(attrs_, p), &output));
    OP_REQUIRES_OK(
        ctx, RunConv(ctx, ConvDirection::kForward, p, &input, &filter, nullptr,
                     output, {}, constant_ ? &filter_ : nullptr));
  }

 private:
  ConvAttrs attrs_;
  bool constant_ = false;  // the filter is filter_ in every call
  ConstantFilter filter_;
};

using Conv2DOp = ConvOp<2, false>;
using Conv3DOp = ConvOp<3, false>;
using DepthwiseConv2dNativeOp = ConvOp<2, true>;

#define HR_REGISTER(OP, CLASS, T)                                             \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          CLASS);
#define HR_REGISTER_ALL(T)           \
  HR_REGISTER("Conv2D", Conv2DOp, T) \
  HR_REGISTER("Conv3D", Conv3DOp, T) \
  HR_REGISTER("DepthwiseConv2dNative", DepthwiseConv2dNativeOp, T)
HR_CALL_FLOAT_TYPES(HR_REGISTER_ALL)
HR_REGISTER("Conv2D", Conv2DOp, int32_t)
#undef HR_REGISTER_ALL
#undef HR_REGISTER

}  // namespace headrace
