// Conv2D, Conv3D and DepthwiseConv2dNative: cross-correlation (the filter is
// not flipped) of an image with a filter. The checks are in forward_conv.h, the
// algorithms in kernels/conv.
//
// What a reader would get wrong: the odd pixel of SAME padding goes to the end,
// and the padding depends on the input's size; a VALID window one larger than
// the input gives an empty output, not an error; groups are implied by the
// filter's depth, group g being channels g * depth and on.
#include "kernels/conv/forward_conv.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ConvOp : public ForwardConv<kSpatial, kDepthwise> {
 public:
  using ForwardConv<kSpatial, kDepthwise>::ForwardConv;

  void Compute(OpKernelContext* ctx) override {
    ConvParams p;
    OP_REQUIRES_OK(ctx, this->ReadSizes(ctx, &p));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, ConvOutputShape(this->attrs(), p), &output));
    OP_REQUIRES_OK(ctx, this->Convolve(ctx, p, {}, output));
  }
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
