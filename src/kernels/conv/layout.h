// Whole tensors into the layout and type that convolutions compute in, and
// back, on the threads of a pool. Thread-safe.
#ifndef HEADRACE_KERNELS_CONV_LAYOUT_H_
#define HEADRACE_KERNELS_CONV_LAYOUT_H_

#include "base/thread_pool.h"
#include "headrace/tensor.h"

namespace headrace {

// [N,C,...] -> [N,...,C].
TensorShape ChannelsLast(const TensorShape& channels_first);

// Between [N,C,...] and [N,...,C] of the same plain-data type; `to` has its
// final shape.
void NchwToNhwc(ThreadPool* pool, const Tensor& from, Tensor* to);
void NhwcToNchw(ThreadPool* pool, const Tensor& from, Tensor* to);

// half or bfloat16 to float; and back, to the nearest, ties to even. `to` has
// its final shape.
void CastToFloat(ThreadPool* pool, const Tensor& from, Tensor* to);
void CastFromFloat(ThreadPool* pool, const Tensor& from, Tensor* to);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_LAYOUT_H_
