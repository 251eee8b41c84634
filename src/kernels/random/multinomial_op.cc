#include "headrace/op_kernel.h"
#include "kernels/random/random_fill.h"
#include "kernels/random/seeded_op.h"

namespace headrace {
namespace {

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
