// _FusedConv2D and _FusedDepthwiseConv2dNative: a convolution (conv_ops.cc) and
// what follows it element by element, as graph passes put them together. See
// epilogue.h for fused_ops.
//
// FusedBatchNorm is that of inference, y = (x - mean) / sqrt(variance +
// epsilon) * scale + offset. It is linear in x: it becomes a factor on each
// filter and a bias.
#include <cmath>

#include "kernels/forward_conv.h"

namespace headrace {
namespace {

Status CheckVector(const char* name, const Tensor& t, int64_t channels) {
  if (t.dims() == 1 && t.NumElements() == channels) return OkStatus();
  return errors::InvalidArgument(name, ": got shape ", t.shape().DebugString(),
                                 ", wanted one element for each of ", channels,
                                 " output channels");
}

// scaled = filter * factor and bias = offset - mean * factor, where factor =
// scale / sqrt(variance + epsilon), of each output channel.
template <typename T>
Status FoldBatchNorm(OpKernelContext* ctx, int first_arg, float epsilon,
                     int64_t channels, const Tensor& filter, Tensor* scaled,
                     Tensor* bias) {
  constexpr const char* kNames[] = {"scale", "offset", "mean", "variance"};
  const T* args[4];
  for (int i = 0; i < 4; ++i) {
    const Tensor& t = ctx->input(first_arg + i);
    HR_RETURN_IF_ERROR(CheckVector(kNames[i], t, channels));
    args[i] = t.data<T>();
  }
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(filter.dtype(), filter.shape(), scaled));
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(filter.dtype(), TensorShape({channels}), bias));
  Tensor factors;
  HR_RETURN_IF_ERROR(ctx->allocate_temp(DataTypeToEnum<C>::value,
                                        TensorShape({channels}), &factors));
  C* factor = factors.data<C>();
  T* b = bias->data<T>();
  for (int64_t o = 0; o < channels; ++o) {
    factor[o] = static_cast<C>(args[0][o]) /
                std::sqrt(static_cast<C>(args[3][o]) + C(epsilon));
    b[o] = static_cast<T>(static_cast<C>(args[1][o]) -
                          static_cast<C>(args[2][o]) * factor[o]);
  }
  if (filter.NumElements() == 0) return OkStatus();
  // The output channels are the innermost dimension, of a depthwise filter the
  // two innermost.
  const T* from = filter.data<T>();
  T* to = scaled->data<T>();
  ctx->ParallelFor(
      filter.NumElements() / channels, 0.5 * channels,
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          for (int64_t o = 0; o < channels; ++o) {
            const int64_t i = row * channels + o;
            to[i] = static_cast<T>(static_cast<C>(from[i]) * factor[o]);
          }
        }
      });
  return OkStatus();
}

}  // namespace

template <typename T, bool kDepthwise>
class FusedConvOp : public ForwardConv<2, kDepthwise> {
 public:
  explicit FusedConvOp(OpKernelConstruction* ctx)
      : ForwardConv<2, kDepthwise>(ctx) {
    OP_REQUIRES_OK(ctx, FusedOps::Read(*ctx, kFirstArg, &fused_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    const Tensor* filter = &ctx->input(1);
    ConvParams p;
    OP_REQUIRES_OK(ctx, this->ReadSizes(ctx, &p));
    const TensorShape shape = ConvOutputShape(this->attrs(), p);

    ConvEpilogue epilogue;
    epilogue.activation = fused_.activation;
    epilogue.leaky_alpha = fused_.leaky_alpha;
    Tensor scaled, bias;
    if (fused_.bias) {
      epilogue.bias = &ctx->input(kFirstArg);
      OP_REQUIRES_OK(ctx, CheckVector("bias", *epilogue.bias, p.out_channels));
    } else if (fused_.batch_norm) {
      OP_REQUIRES_OK(
          ctx, FoldBatchNorm<T>(ctx, kFirstArg, fused_.epsilon, p.out_channels,
                                *filter, &scaled, &bias));
      filter = &scaled;
      epilogue.bias = &bias;
    }
    if (fused_.add) {
      epilogue.addend = &ctx->input(kFirstArg + fused_.num_args() - 1);
      OP_REQUIRES(
          ctx, epilogue.addend->shape() == shape,
          errors::InvalidArgument(
              "addend: got shape ", epilogue.addend->shape().DebugString(),
              ", wanted the output's, ", shape.DebugString()));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    // What is folded into the filter is made anew in each call.
    const bool folded = filter == &scaled;
    OP_REQUIRES_OK(ctx, RunConv(ctx, ConvDirection::kForward, p, &input, filter,
                                nullptr, output, epilogue,
                                folded ? nullptr : this->constant_filter()));
  }

 private:
  static constexpr int kFirstArg = 2;
  FusedOps fused_;
};

#define HR_REGISTER(OP, DEPTHWISE, T)                                         \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          FusedConvOp<T, DEPTHWISE>);
HR_REGISTER("_FusedConv2D", false, half)
HR_REGISTER("_FusedConv2D", false, float)
HR_REGISTER("_FusedConv2D", false, double)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, half)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, bfloat16)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, float)
HR_REGISTER("_FusedDepthwiseConv2dNative", true, double)
#undef HR_REGISTER

}  // namespace headrace
