// RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt,
// Multinomial: numbers from the kernel's own stream. The seeds make the stream;
// each run goes on where the last one stopped, as long as the session lives.
#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/random_fill.h"

namespace headrace {
namespace {

class SeededOp : public OpKernel {
 public:
  explicit SeededOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
  }

 protected:
  GuardedPhilox stream_;
};

template <RandomDist dist>
class RandomOp : public SeededOp {
 public:
  using SeededOp::SeededOp;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    CancellableLoops cancellable(ctx);
    OP_REQUIRES_OK(
        ctx,
        FillRandom(ctx, dist, stream_.ReserveOutputs(out->NumElements()), out));
  }
};
REGISTER_KERNEL_BUILDER(Name("RandomUniform").Device(DEVICE_CPU),
                        RandomOp<RandomDist::kUniform>);
REGISTER_KERNEL_BUILDER(Name("RandomStandardNormal").Device(DEVICE_CPU),
                        RandomOp<RandomDist::kNormal>);
REGISTER_KERNEL_BUILDER(Name("TruncatedNormal").Device(DEVICE_CPU),
                        RandomOp<RandomDist::kTruncatedNormal>);

class RandomUniformIntOp : public SeededOp {
 public:
  using SeededOp::SeededOp;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(
        ctx, FillUniformInt(ctx, stream_.ReserveOutputs(out->NumElements()),
                            ctx->input(1), ctx->input(2), out));
  }
};
REGISTER_KERNEL_BUILDER(Name("RandomUniformInt").Device(DEVICE_CPU),
                        RandomUniformIntOp);

class MultinomialOp : public SeededOp {
 public:
  using SeededOp::SeededOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& logits = ctx->input(0);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, MultinomialShape(logits, ctx->input(1), &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t samples = (shape.dim_size(1) + 3) / 4 * 4;
    OP_REQUIRES_OK(
        ctx, FillMultinomial(
                 ctx, stream_.ReserveOutputs(shape.dim_size(0) * samples * 2),
                 logits, out));
  }
};
REGISTER_KERNEL_BUILDER(Name("Multinomial").Device(DEVICE_CPU), MultinomialOp);

}  // namespace
}  // namespace headrace
