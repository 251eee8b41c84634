// Conv2D, DepthwiseConv2dNative, their fused forms and gradients on a GPU. The
// checks are the CPU's (framework/shape_fns/conv_attrs.h), the way is the
// ConvLauncher's.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/gpu/conv_launch.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/lib/conv_args.h"

namespace headrace::gpu {
namespace {

Status MakeEnvironment(OpKernelContext* ctx, ConvEnvironment* env) {
  GpuContext* const gpu = GpuContextOf(ctx);
  StreamExecutor* const executor = gpu->executor();
  env->stream = gpu->compute_stream();
  HR_ASSIGN_OR_RETURN(env->blas, executor->blas());
  HR_ASSIGN_OR_RETURN(env->dnn, executor->dnn());
  env->tuner = ConvAutotuner::Global();
  const DeviceDescription& d = executor->description();
  env->device =
      absl::StrCat(d.name, ", compute ", d.compute_major, ".", d.compute_minor);
  env->deterministic = gpu->deterministic();
  env->math = gpu->math_mode();
  env->allocate = [ctx](DataType dtype, const TensorShape& shape, Tensor* out) {
    return AllocateScratch(ctx, dtype, shape, out);
  };
  env->scratch = [ctx]() -> std::unique_ptr<ScratchAllocator> {
    return std::make_unique<KernelScratch>(ctx);
  };
  env->timer = [executor] { return executor->CreateTimer(); };
  return OkStatus();
}

template <bool kDepthwise>
class ConvOpBase : public OpKernel {
 public:
  explicit ConvOpBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, 2, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
    OP_REQUIRES(ctx, !kDepthwise || attrs_.stride(0) == attrs_.stride(1),
                errors::InvalidArgument(
                    "strides: row and column strides must be equal, got ",
                    attrs_.stride(0), " and ", attrs_.stride(1)));
  }
  void SetConstantInput(int i, const Tensor& value) override {
    if (i == 1 && reads_filter()) launcher_.SetConstantFilter(value);
  }

 protected:
  virtual bool reads_filter() const { return true; }
  const ConvAttrs& attrs() const { return attrs_; }

  void Launch(OpKernelContext* ctx, ConvCall* call) {
    call->format = attrs_.format;
    ConvEnvironment env;
    OP_REQUIRES_OK(ctx, MakeEnvironment(ctx, &env));
    std::string algorithm;
    OP_REQUIRES_OK(ctx, launcher_.Run(env, *call, &algorithm));
    ctx->set_algorithm(algorithm);
  }

 private:
  ConvAttrs attrs_;
  ConvLauncher launcher_;
};

// The scale and the bias that the factor `mul` (or null) and FusedBatchNorm,
// whose four vectors begin at input `first` (or -1), come to.
template <typename T>
Status FoldTail(OpKernelContext* ctx, int mul, int first, float epsilon,
                int64_t channels, Tensor* scale, Tensor* bias) {
  using D = Dev<T>;
  using C = ComputeType<D>;
  HR_RETURN_IF_ERROR(AllocateScratch(ctx, DataTypeToEnum<C>::value,
                                     TensorShape({channels}), scale));
  FoldBatchNorm<D> f{};
  f.mul = mul < 0 ? nullptr : In<T>(ctx->input(mul));
  f.scale = static_cast<C*>(scale->raw_data());
  f.epsilon = epsilon;
  if (first >= 0) {
    HR_RETURN_IF_ERROR(AllocateScratch(ctx, DataTypeToEnum<C>::value,
                                       TensorShape({channels}), bias));
    f.gamma = In<T>(ctx->input(first));
    f.beta = In<T>(ctx->input(first + 1));
    f.mean = In<T>(ctx->input(first + 2));
    f.variance = In<T>(ctx->input(first + 3));
    f.bias = static_cast<C*>(bias->raw_data());
  }
  return ForEach(GpuStream(ctx), channels, f);
}

template <typename T, bool kDepthwise, bool kFused>
class ConvOp : public ConvOpBase<kDepthwise> {
 public:
  explicit ConvOp(OpKernelConstruction* ctx) : ConvOpBase<kDepthwise>(ctx) {
    if (kFused) OP_REQUIRES_OK(ctx, tail_.Read(*ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    ConvCall call;
    call.dtype = DataTypeToEnum<T>::value;
    call.input = &ctx->input(0);
    call.filter = &ctx->input(1);
    OP_REQUIRES_OK(ctx,
                   ConvSizesOf(this->attrs(), call.input->shape(),
                               call.filter->shape(), kDepthwise, &call.sizes));
    const TensorShape shape = ConvOutputShape(this->attrs(), call.sizes);
    Tensor scale, bias;
    if (kFused) {
      OP_REQUIRES_OK(ctx, ReadArgs(ctx, shape, &call, &scale, &bias));
    }
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &call.result));
    this->Launch(ctx, &call);
  }

 private:
  Status ReadArgs(OpKernelContext* ctx, const TensorShape& shape,
                  ConvCall* call, Tensor* scale, Tensor* bias) const {
    const int64_t channels = call->sizes.out_channels;
    call->tail = &tail_;
    int arg = 2, mul = -1, norm = -1;
    if (tail_.has_mul) {
      mul = arg++;
      HR_RETURN_IF_ERROR(CheckPerChannel("mul", ctx->input(mul), channels));
    }
    if (tail_.has_bias) {
      call->bias = &ctx->input(arg++);
      HR_RETURN_IF_ERROR(CheckPerChannel("bias", *call->bias, channels));
    } else if (tail_.has_batch_norm) {
      static constexpr const char* kNames[] = {"scale", "offset", "mean",
                                               "variance"};
      norm = arg;
      for (int i = 0; i < 4; ++i) {
        HR_RETURN_IF_ERROR(
            CheckPerChannel(kNames[i], ctx->input(arg++), channels));
      }
    }
    if (tail_.has_add) {
      call->addend = &ctx->input(arg);
      if (call->addend->shape() != shape) {
        return errors::InvalidArgument(
            "addend: got shape ", call->addend->shape().DebugString(),
            ", wanted the output's, ", shape.DebugString());
      }
    }
    if (mul < 0 && norm < 0) return OkStatus();
    HR_RETURN_IF_ERROR(
        FoldTail<T>(ctx, mul, norm, tail_.epsilon, channels, scale, bias));
    call->scale = scale;
    if (norm >= 0) call->wide_bias = bias;
    return OkStatus();
  }

  FusedTail tail_;
};

// The gradients: the shape of what is computed is a vector in host memory.
template <typename T, bool kDepthwise, ConvKind kKind>
class ConvGradOp : public ConvOpBase<kDepthwise> {
 public:
  using ConvOpBase<kDepthwise>::ConvOpBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& out_backprop = ctx->input(2);
    TensorShape input = ctx->input(0).shape();
    TensorShape filter = ctx->input(1).shape();
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadSizes(kInput ? "input_sizes" : "filter_sizes",
                                  ctx->input(kInput ? 0 : 1), &dims));
    const DataFormat format = this->attrs().format;
    if (kInput && !kDepthwise && dims.size() == 2 && filter.dims() == 4 &&
        out_backprop.dims() == 4) {
      // Height and width alone; the rest is known.
      DimVector whole(4);
      whole[0] = out_backprop.dim_size(0);
      whole[ChannelDim(format, 4)] = filter.dim_size(2);
      whole[SpatialDim(format, 0)] = dims[0];
      whole[SpatialDim(format, 1)] = dims[1];
      dims = whole;
    }
    TensorShape* const computed = kInput ? &input : &filter;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, computed));
    ConvCall call;
    call.kind = kKind;
    call.dtype = DataTypeToEnum<T>::value;
    OP_REQUIRES_OK(ctx, ConvSizesOf(this->attrs(), input, filter, kDepthwise,
                                    &call.sizes));
    const TensorShape want = ConvOutputShape(this->attrs(), call.sizes);
    OP_REQUIRES(ctx, out_backprop.shape() == want,
                errors::InvalidArgument(
                    "Size of out_backprop doesn't match computed: out_backprop "
                    "has shape ",
                    out_backprop.shape().DebugString(), ", computed ",
                    want.DebugString()));
    call.input = kInput ? nullptr : &ctx->input(0);
    call.filter = kInput ? &ctx->input(1) : nullptr;
    call.out_backprop = &out_backprop;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, *computed, &call.result));
    this->Launch(ctx, &call);
  }

 private:
  static constexpr bool kInput = kKind == ConvKind::kBackwardInput;
  bool reads_filter() const override { return kInput; }
};

#define HR_GPU_GRAD(OP, T, SIZES, ...)                                      \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name(OP).Device(DEVICE_GPU).TypeConstraint<T>("T").HostMemory(SIZES), \
      __VA_ARGS__)
#define HR_REGISTER(T)                                                    \
  HR_GPU_KERNEL("Conv2D", T, ConvOp<T, false, false>);                    \
  HR_GPU_KERNEL("DepthwiseConv2dNative", T, ConvOp<T, true, false>);      \
  HR_GPU_KERNEL("_FusedConv2D", T, ConvOp<T, false, true>);               \
  HR_GPU_KERNEL("_FusedDepthwiseConv2dNative", T, ConvOp<T, true, true>); \
  HR_GPU_GRAD("Conv2DBackpropInput", T, "input_sizes",                    \
              ConvGradOp<T, false, ConvKind::kBackwardInput>);            \
  HR_GPU_GRAD("Conv2DBackpropFilter", T, "filter_sizes",                  \
              ConvGradOp<T, false, ConvKind::kBackwardFilter>);           \
  HR_GPU_GRAD("DepthwiseConv2dNativeBackpropInput", T, "input_sizes",     \
              ConvGradOp<T, true, ConvKind::kBackwardInput>);             \
  HR_GPU_GRAD("DepthwiseConv2dNativeBackpropFilter", T, "filter_sizes",   \
              ConvGradOp<T, true, ConvKind::kBackwardFilter>);
HR_GPU_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_GPU_GRAD

}  // namespace
}  // namespace headrace::gpu
