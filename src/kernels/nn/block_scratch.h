// Scratch memory for the body of OpKernelContext::ParallelFor, which cannot
// return an error. Allocated before the loop, a number of elements for each
// block, so that a lack of memory is a Status.
//
//   BlockScratch<float> scratch;
//   OP_REQUIRES_OK(ctx, scratch.Allocate(ctx, rows, cost, 2 * n));
//   ctx->ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
//     float* mine = scratch.For(begin);
#ifndef HEADRACE_KERNELS_NN_BLOCK_SCRATCH_H_
#define HEADRACE_KERNELS_NN_BLOCK_SCRATCH_H_

#include <cstdint>

#include "base/thread_pool.h"
#include "headrace/op_kernel.h"

namespace headrace {

template <typename C>
class BlockScratch {
 public:
  // For a loop over `total` units of `cost` ns each. A negative number of
  // elements (an overflow) is refused.
  Status Allocate(OpKernelContext* ctx, int64_t total, double cost,
                  int64_t elements) {
    block_ = ThreadPool::BlockForCost(total, cost);
    if (block_ < 1) block_ = 1;
    elements_ = elements;
    return ctx->allocate_temp(
        DataTypeToEnum<C>::value,
        TensorShape({total / block_ + (total % block_ != 0), elements}),
        &tensor_, Tensor::kHeap);
  }
  C* For(int64_t begin) {
    return tensor_.data<C>() + begin / block_ * elements_;
  }

 private:
  Tensor tensor_;
  int64_t block_ = 1, elements_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_BLOCK_SCRATCH_H_
