// _FusedElementwise: a chain of element-wise ops (kernels/lib/
// elementwise_chain.h), whose result is a tensor of its own.
#include <algorithm>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/elementwise_chain.h"

namespace headrace {
namespace {

class FusedElementwiseOp : public OpKernel {
 public:
  explicit FusedElementwiseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, chain_.Init(ctx, input_type(0), num_inputs() - 1));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const int64_t n = x.NumElements();
    std::vector<ElementwiseChain::Arg> args;
    Tensor laid_out;
    OP_REQUIRES_OK(ctx, chain_.FindArgs(ctx, x, 1, &args, &laid_out));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    const char* from = static_cast<const char*>(x.raw_data());
    char* to = static_cast<char*>(y->raw_data());
    const int64_t size = DataTypeSize(x.dtype());
    ElementwiseState state;
    const auto run = [&](int64_t begin, int64_t end) {
      constexpr int64_t kBlock = ElementwiseChain::kBlock;
      for (int64_t i = begin; i < end; i += kBlock) {
        chain_.RunBlock(from + i * size, to + i * size, args, i,
                        std::min(kBlock, end - i), &state);
      }
    };
    if (static_cast<double>(n) * chain_.cost() < kInlineNs) {
      run(0, n);
    } else {
      CancellableLoops cancellable(ctx);
      ctx->ParallelFor(n, chain_.cost(), run);
    }
    if (state.failed) ctx->SetStatus(chain_.Error());
  }

 private:
  // Less work than this, in ns, runs on one thread.
  static constexpr double kInlineNs = 20000;

  ElementwiseChain chain_;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedElementwise").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedElementwiseOp);
REGISTER_KERNEL_BUILDER(
    Name("_FusedElementwise").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    FusedElementwiseOp);

}  // namespace
}  // namespace headrace
