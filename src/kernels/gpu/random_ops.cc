// Random numbers on a GPU, the CPU's for the same seeds. Shapes and seeds are
// in host memory.
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/random_functors.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/random_fill.h"
#include "kernels/random/seeded_op.h"

namespace headrace::gpu {
namespace {

PhiloxStream StreamOf(const Philox& p) {
  return {p.key(), static_cast<uint64_t>(p.counter()),
          static_cast<uint64_t>(p.counter() >> 64)};
}

template <Distribution d, typename T>
Status FillRandomOnDevice(OpKernelContext* ctx, const Philox& stream,
                          Tensor* out) {
  const int64_t n = out->NumElements();
  using F = RandomGroup<Dev<T>, d>;
  return ForEach(GpuStream(ctx), (n + F::kPerGroup - 1) / F::kPerGroup,
                 F{StreamOf(stream), Out<T>(out), n});
}

template <Distribution d, typename T>
class RandomOp : public SeededOp {
 public:
  using SeededOp::SeededOp;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx,
                   (FillRandomOnDevice<d, T>(
                       ctx, stream_.ReserveOutputs(out->NumElements()), out)));
  }
};

template <Distribution d, typename T>
class StatelessRandomOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Philox stream;
    OP_REQUIRES_OK(ctx, StreamFromSeed(ctx->input(1), &stream));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, (FillRandomOnDevice<d, T>(ctx, stream, out)));
  }
};

template <typename T>
class RandomUniformIntOp : public SeededOp {
 public:
  using SeededOp::SeededOp;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t n = out->NumElements();
    OP_REQUIRES_OK(ctx, CheckUniformIntBounds(ctx->input(1), ctx->input(2), n));
    using U = std::make_unsigned_t<T>;
    using F = RandomIntegers<U>;
    const U lo = static_cast<U>(ctx->input(1).scalar<T>());
    const U hi = static_cast<U>(ctx->input(2).scalar<T>());
    OP_REQUIRES_OK(
        ctx, ForEach(GpuStream(ctx), (n + F::kPerBlock - 1) / F::kPerBlock,
                     F{StreamOf(stream_.ReserveOutputs(n)), lo,
                       static_cast<U>(hi - lo),
                       static_cast<U*>(out->raw_data()), n}));
  }
};

#define HR_REGISTER_DIST(OP, STATELESS, D, T)              \
  REGISTER_KERNEL_BUILDER(Name(OP)                         \
                              .Device(DEVICE_GPU)          \
                              .HostMemory("shape")         \
                              .TypeConstraint<T>("dtype"), \
                          RandomOp<Distribution::D, T>);   \
  REGISTER_KERNEL_BUILDER(Name(STATELESS)                  \
                              .Device(DEVICE_GPU)          \
                              .HostMemory("shape")         \
                              .HostMemory("seed")          \
                              .TypeConstraint<T>("dtype"), \
                          StatelessRandomOp<Distribution::D, T>);
#define HR_REGISTER(T)                                                       \
  HR_REGISTER_DIST("RandomUniform", "StatelessRandomUniform", kUniform, T)   \
  HR_REGISTER_DIST("RandomStandardNormal", "StatelessRandomNormal", kNormal, \
                   T)                                                        \
  HR_REGISTER_DIST("TruncatedNormal", "StatelessTruncatedNormal",            \
                   kTruncatedNormal, T)
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_DIST

#define HR_REGISTER(T)                                    \
  REGISTER_KERNEL_BUILDER(Name("RandomUniformInt")        \
                              .Device(DEVICE_GPU)         \
                              .HostMemory("shape")        \
                              .HostMemory("minval")       \
                              .HostMemory("maxval")       \
                              .TypeConstraint<T>("Tout"), \
                          RandomUniformIntOp<T>);
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace::gpu
