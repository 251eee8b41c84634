// Buffers lent for one step: a client's array, read where it lies. The client
// may write it when the step has ended, so what a kernel keeps for longer (an
// element of a queue, the value of a variable, a dataset) must own its bytes.
#ifndef HEADRACE_FRAMEWORK_TENSOR_BORROWED_BUFFER_H_
#define HEADRACE_FRAMEWORK_TENSOR_BORROWED_BUFFER_H_

#include <functional>
#include <vector>

#include "headrace/tensor.h"

namespace headrace {

// As WrapExternalBuffer, over bytes that change once the step has ended. They
// are not to be written.
RefPtr<TensorBuffer> WrapBorrowedBuffer(void* data, size_t bytes,
                                        std::function<void()> release);

// Gives `*t` a copy of its elements if they lie in a borrowed buffer.
// ResourceExhausted if there is no memory.
Status OwnBytes(Tensor* t);
Status OwnBytes(std::vector<Tensor>* tensors);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_BORROWED_BUFFER_H_
