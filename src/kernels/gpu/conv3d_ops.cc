// Conv3D and its gradients on a GPU, directly: Dnn's interface has two spatial
// dims. The checks are the CPU's (framework/shape_fns/conv_attrs.h).
#include "framework/shape_fns/conv_attrs.h"
#include "kernels/gpu/conv3d_functors.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/lib/conv_args.h"

namespace headrace::gpu {
namespace {

// kKind: what is computed. The shape of a gradient is a vector in host memory.
template <typename T, ConvKind kKind>
class Conv3DOp : public OpKernel {
 public:
  explicit Conv3DOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, 3, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
  }

  void Compute(OpKernelContext* ctx) override {
    TensorShape input = ctx->input(0).shape(), filter = ctx->input(1).shape();
    if (kKind != ConvKind::kForward) {
      const bool of_input = kKind == ConvKind::kBackwardInput;
      DimVector dims;
      OP_REQUIRES_OK(ctx, ReadSizes(of_input ? "input_sizes" : "filter_sizes",
                                    ctx->input(of_input ? 0 : 1), &dims));
      OP_REQUIRES_OK(ctx,
                     TensorShape::Build(dims, of_input ? &input : &filter));
    }
    ConvSizes sizes;
    OP_REQUIRES_OK(ctx, ConvSizesOf(attrs_, input, filter, false, &sizes));
    const TensorShape output = ConvOutputShape(attrs_, sizes);
    OP_REQUIRES(ctx,
                kKind == ConvKind::kForward || ctx->input(2).shape() == output,
                errors::InvalidArgument(
                    "Size of out_backprop doesn't match computed: out_backprop "
                    "has shape ",
                    ctx->input(2).shape().DebugString(), ", computed ",
                    output.DebugString()));
    Tensor* result = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0,
                                  kKind == ConvKind::kForward         ? output
                                  : kKind == ConvKind::kBackwardInput ? input
                                                                      : filter,
                                  &result));
    const Conv3DSizes s = Of(sizes);
    Stream* const stream = GpuStream(ctx);
    const int64_t n = result->NumElements();
    using D = Dev<T>;
    switch (kKind) {
      case ConvKind::kForward:
        OP_REQUIRES_OK(
            ctx, ForEach(stream, n,
                         Conv3DMap<D>{s, In<T>(ctx->input(0)),
                                      In<T>(ctx->input(1)), Out<T>(result)}));
        break;
      case ConvKind::kBackwardInput:
        OP_REQUIRES_OK(ctx, ForEach(stream, n,
                                    Conv3DInputMap<D>{s, In<T>(ctx->input(2)),
                                                      In<T>(ctx->input(1)),
                                                      Out<T>(result)}));
        break;
      case ConvKind::kBackwardFilter:
        OP_REQUIRES_OK(ctx, ForEach(stream, n,
                                    Conv3DFilterMap<D>{s, In<T>(ctx->input(0)),
                                                       In<T>(ctx->input(2)),
                                                       Out<T>(result)}));
        break;
    }
  }

 private:
  Conv3DSizes Of(const ConvSizes& sizes) const {
    Conv3DSizes s{};
    s.batch = sizes.batch;
    s.groups = sizes.groups;
    s.in.channels = sizes.in_channels;
    s.out.channels = sizes.out_channels;
    s.in.channels_last = s.out.channels_last =
        attrs_.format == DataFormat::kNHWC;
    for (int d = 0; d < 3; ++d) {
      s.in.size[d] = sizes.in[d];
      s.out.size[d] = sizes.out[d];
      s.filter[d] = sizes.filter[d];
      s.stride[d] = sizes.stride[d];
      s.dilation[d] = sizes.dilation[d];
      s.pad[d] = sizes.pad_before[d];
    }
    return s;
  }

  ConvAttrs attrs_;
};

#define HR_REGISTER(T)                                            \
  HR_GPU_KERNEL("Conv3D", T, Conv3DOp<T, ConvKind::kForward>);    \
  REGISTER_KERNEL_BUILDER(Name("Conv3DBackpropInputV2")           \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("T")             \
                              .HostMemory("input_sizes"),         \
                          Conv3DOp<T, ConvKind::kBackwardInput>); \
  REGISTER_KERNEL_BUILDER(Name("Conv3DBackpropFilterV2")          \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("T")             \
                              .HostMemory("filter_sizes"),        \
                          Conv3DOp<T, ConvKind::kBackwardFilter>);
HR_GPU_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace::gpu
