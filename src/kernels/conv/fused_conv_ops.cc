// _FusedConv2D and _FusedDepthwiseConv2dNative: a convolution (conv_ops.cc) and
// what follows it element by element, as graph passes put them together. See
// epilogue.h for fused_ops.
//
// FusedBatchNorm is that of inference, y = (x - mean) / sqrt(variance +
// epsilon) * scale + offset. It is linear in x: a factor and a bias for each
// channel.
#include <cmath>

#include "kernels/conv/forward_conv.h"
#include "kernels/lib/conv_args.h"

namespace headrace {
namespace {

// The batch norm whose arguments begin at input `first_arg`, after a factor
// `mul` for each channel that may be null: x * scale + bias, where
// factor = scale argument / sqrt(variance + epsilon), scale = mul * factor and
// bias = offset - mean * factor; both float where T is narrower.
template <typename T>
Status ReadBatchNorm(OpKernelContext* ctx, int first_arg, float epsilon,
                     int64_t channels, const Tensor* mul, Tensor* scale,
                     Tensor* bias) {
  constexpr const char* kNames[] = {"scale", "offset", "mean", "variance"};
  const T* args[4];
  for (int i = 0; i < 4; ++i) {
    const Tensor& t = ctx->input(first_arg + i);
    HR_RETURN_IF_ERROR(CheckPerChannel(kNames[i], t, channels));
    args[i] = t.data<T>();
  }
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr DataType dtype = DataTypeToEnum<C>::value;
  HR_RETURN_IF_ERROR(ctx->allocate_temp(dtype, TensorShape({channels}), scale));
  HR_RETURN_IF_ERROR(ctx->allocate_temp(dtype, TensorShape({channels}), bias));
  C* s = scale->data<C>();
  C* b = bias->data<C>();
  for (int64_t o = 0; o < channels; ++o) {
    C factor = static_cast<C>(args[0][o]) /
               std::sqrt(static_cast<C>(args[3][o]) + C(epsilon));
    b[o] = static_cast<C>(args[1][o]) - static_cast<C>(args[2][o]) * factor;
    if (mul != nullptr) factor *= static_cast<C>(mul->data<T>()[o]);
    s[o] = factor;
  }
  return OkStatus();
}

}  // namespace

template <typename T, bool kDepthwise>
class FusedConvOp : public ForwardConv<2, kDepthwise> {
 public:
  explicit FusedConvOp(OpKernelConstruction* ctx)
      : ForwardConv<2, kDepthwise>(ctx) {
    OP_REQUIRES_OK(ctx, FusedOps::Read(*ctx, kFirstArg, this->mutable_fused()));
  }

  void Compute(OpKernelContext* ctx) override {
    const FusedOps& fused = this->fused();
    ConvParams p;
    OP_REQUIRES_OK(ctx, this->ReadSizes(ctx, &p));
    const TensorShape shape = ConvOutputShape(this->attrs(), p);

    Epilogue epilogue = fused.Begin();
    int arg = kFirstArg;
    if (fused.mul) {
      epilogue.scale = &ctx->input(arg++);
      OP_REQUIRES_OK(ctx,
                     CheckPerChannel("mul", *epilogue.scale, p.out_channels));
    }
    Tensor scale, bias;
    if (fused.bias) {
      epilogue.bias = &ctx->input(arg++);
      OP_REQUIRES_OK(ctx,
                     CheckPerChannel("bias", *epilogue.bias, p.out_channels));
    } else if (fused.batch_norm) {
      OP_REQUIRES_OK(ctx,
                     ReadBatchNorm<T>(ctx, arg, fused.epsilon, p.out_channels,
                                      epilogue.scale, &scale, &bias));
      epilogue.scale = &scale;
      epilogue.bias = &bias;
      arg += 4;
    }
    if (fused.add) {
      epilogue.addend = &ctx->input(arg);
      OP_REQUIRES(
          ctx, epilogue.addend->shape() == shape,
          errors::InvalidArgument(
              "addend: got shape ", epilogue.addend->shape().DebugString(),
              ", wanted the output's, ", shape.DebugString()));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    OP_REQUIRES_OK(ctx, this->Convolve(ctx, p, epilogue, output));
  }

 private:
  static constexpr int kFirstArg = 2;
};

#define HR_REGISTER(OP, DEPTHWISE, T)                                         \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          FusedConvOp<T, DEPTHWISE>);
HR_REGISTER("_FusedConv2D", false, half)
HR_REGISTER("_FusedConv2D", false, bfloat16)
HR_REGISTER("_FusedConv2D", false, float)
HR_REGISTER("_FusedConv2D", false, double)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, half)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, bfloat16)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, float)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, double)
#undef HR_REGISTER

}  // namespace headrace
