// L2Loss: sum(t^2) / 2 over all elements, a scalar; 0 for an empty tensor. The
// sum follows a fixed tree: blocks of kBlock elements, then the blocks in
// order, so it does not depend on the number of threads.
#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/row_math.h"

namespace headrace {
namespace {

constexpr int64_t kBlock = 16384;

template <typename T>
class L2LossOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    using C = ComputeType<T>;
    const Tensor& input = ctx->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &output));
    const T* t = input.data<T>();
    const int64_t n = input.NumElements();
    const int64_t blocks = n / kBlock + (n % kBlock != 0);
    Tensor partial;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DataTypeToEnum<C>::value,
                                           TensorShape({blocks}), &partial));
    C* sums = partial.data<C>();
    ctx->thread_pool()->ParallelFor(
        n, kBlock, [t, sums](int64_t begin, int64_t end) {
          RunSimd([t, sums, begin, end] {
            const T* x = t + begin;
            sums[begin / kBlock] =
                row_math::SumOf<C>(end - begin, [x](int64_t i) {
                  const C v = static_cast<C>(x[i]);
                  return v * v;
                });
          });
        });
    C total = C(0);
    for (int64_t k = 0; k < blocks; ++k) total += sums[k];
    output->data<T>()[0] = static_cast<T>(total / C(2));
  }
};

#define REGISTER_L2LOSS(T) \
  REGISTER_KERNEL_BUILDER( \
      Name("L2Loss").Device(DEVICE_CPU).TypeConstraint<T>("T"), L2LossOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER_L2LOSS)
#undef REGISTER_L2LOSS

}  // namespace
}  // namespace headrace
