// RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt.
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/random/random_fill.h"
#include "kernels/random/seeded_op.h"

namespace headrace {
namespace {

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

}  // namespace
}  // namespace headrace
