// Tensors whose elements lie in a mapped file.
#ifndef HEADRACE_FRAMEWORK_TENSOR_MAPPED_BUFFER_H_
#define HEADRACE_FRAMEWORK_TENSOR_MAPPED_BUFFER_H_

#include "base/env.h"
#include "headrace/tensor.h"

namespace headrace {

// The whole file, kept as long as a tensor over it is there. Not writable.
RefPtr<TensorBuffer> MappedBuffer(RefPtr<MappedFile> file);
bool IsMapped(const TensorBuffer& buffer);

// Says that the elements will not be read soon. If they lie in a mapped file
// their pages leave memory, and come back when they are read after all; else
// nothing happens. Thread-safe.
void ReleasePages(const Tensor& t);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_MAPPED_BUFFER_H_
