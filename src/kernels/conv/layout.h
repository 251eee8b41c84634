// Whole tensors into the layout and type that convolutions compute in, and
// back.
#ifndef HEADRACE_KERNELS_CONV_LAYOUT_H_
#define HEADRACE_KERNELS_CONV_LAYOUT_H_

#include "base/thread_pool.h"
#include "framework/tensor/tensor.h"

namespace headrace {

// [N,C,...] -> [N,...,C].
TensorShape ChannelsLast(const TensorShape& channels_first);

// Between [N,C,...] and [N,...,C] of the same plain-data type; `to` has its
// final shape.
void NchwToNhwc(ThreadPool* pool, const Tensor& from, Tensor* to);
void NhwcToNchw(ThreadPool* pool, const Tensor& from, Tensor* to);

// half or bfloat16 to float, and back.
void Widen(ThreadPool* pool, const Tensor& from, Tensor* to);
void Narrow(ThreadPool* pool, const Tensor& from, Tensor* to);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_LAYOUT_H_
