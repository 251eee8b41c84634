// MaxPool, AvgPool and their gradients on a GPU, by one functor for all
// windows and both layouts.
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/pool_functors.h"
#include "kernels/nn/pooling.h"

namespace headrace::gpu {
namespace {

Status SizesOf(const PoolGeometry& g, PoolSizes* s) {
  if (g.depth_window != 1) {
    return errors::Unimplemented(
        "pooling over channels has no kernel for GPUs: ksize is ",
        g.depth_window, " in the channels");
  }
  *s = {};
  s->batch = g.batch;
  s->channels = g.channels;
  for (int d = 0; d < 2; ++d) {
    s->in[d] = g.in[1 + d];
    s->out[d] = g.out[1 + d];
    s->window[d] = g.window[1 + d];
    s->stride[d] = g.stride[1 + d];
    s->pad[d] = g.pad[1 + d];
  }
  s->in_batch = g.in_layout.batch;
  s->in_row = g.in_layout.row;
  s->in_col = g.in_layout.col;
  s->in_channel = g.in_layout.channel;
  s->out_batch = g.out_layout.batch;
  s->out_row = g.out_layout.row;
  s->out_col = g.out_layout.col;
  s->out_channel = g.out_layout.channel;
  s->channels_last = g.IsNhwc();
  return OkStatus();
}

template <typename T, bool kMax>
class PoolOp : public OpKernel {
 public:
  explicit PoolOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    PoolGeometry g;
    PoolSizes sizes;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(x.shape(), &g));
    OP_REQUIRES_OK(ctx, SizesOf(g, &sizes));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.out_shape, &y));
    Stream* stream = GpuStream(ctx);
    if (kMax) {
      OP_REQUIRES_OK(ctx,
                     ForEach(stream, y->NumElements(),
                             MaxPoolMap<Dev<T>>{sizes, In<T>(x), Out<T>(y)}));
    } else {
      OP_REQUIRES_OK(ctx,
                     ForEach(stream, y->NumElements(),
                             AvgPoolMap<Dev<T>>{sizes, In<T>(x), Out<T>(y)}));
    }
  }

 private:
  PoolAttrs attrs_;
};

// Inputs: orig_input, orig_output (not read), grad.
template <typename T>
class MaxPoolGradOp : public OpKernel {
 public:
  explicit MaxPoolGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &dy = ctx->input(2);
    PoolGeometry g;
    PoolSizes sizes;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(x.shape(), &g));
    OP_REQUIRES_OK(ctx, SizesOf(g, &sizes));
    for (int i = 1; i < 3; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).shape() == g.out_shape,
                  errors::InvalidArgument(i == 1 ? "orig_output" : "grad",
                                          " must have shape ",
                                          g.out_shape.DebugString(), ", got ",
                                          ctx->input(i).shape().DebugString()));
    }
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &dx));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), dx->NumElements(),
                                MaxPoolGradMap<Dev<T>>{sizes, In<T>(x),
                                                       In<T>(dy), Out<T>(dx)}));
  }

 private:
  PoolAttrs attrs_;
};

// Inputs: the shape of the forward op's input, in host memory; grad.
template <typename T>
class AvgPoolGradOp : public OpKernel {
 public:
  explicit AvgPoolGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &shape_in = ctx->input(0), &dy = ctx->input(1);
    OP_REQUIRES(ctx, shape_in.dims() == 1 && shape_in.NumElements() == 4,
                errors::InvalidArgument(
                    "orig_input_shape must be 1-dimensional and 4 elements, "
                    "got shape ",
                    shape_in.shape().DebugString()));
    DimVector dims;
    for (int i = 0; i < 4; ++i) dims.push_back(shape_in.data<int32_t>()[i]);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    PoolGeometry g;
    PoolSizes sizes;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(shape, &g));
    OP_REQUIRES_OK(ctx, SizesOf(g, &sizes));
    OP_REQUIRES(ctx, dy.shape() == g.out_shape,
                errors::InvalidArgument("grad must have shape ",
                                        g.out_shape.DebugString(), ", got ",
                                        dy.shape().DebugString()));
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &dx));
    OP_REQUIRES_OK(
        ctx, ForEach(GpuStream(ctx), dx->NumElements(),
                     AvgPoolGradMap<Dev<T>>{sizes, In<T>(dy), Out<T>(dx)}));
  }

 private:
  PoolAttrs attrs_;
};

#define HR_REGISTER(T)                                         \
  HR_GPU_KERNEL("MaxPool", T, PoolOp<T, true>);                \
  HR_GPU_KERNEL("AvgPool", T, PoolOp<T, false>);               \
  HR_GPU_KERNEL("MaxPoolGrad", T, MaxPoolGradOp<T>);           \
  REGISTER_KERNEL_BUILDER(Name("AvgPoolGrad")                  \
                              .Device(DEVICE_GPU)              \
                              .TypeConstraint<T>("T")          \
                              .HostMemory("orig_input_shape"), \
                          AvgPoolGradOp<T>);
HR_GPU_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace::gpu
