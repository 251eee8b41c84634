// TemporaryMemory: a second base of a kernel that can say, from shapes alone,
// how much scratch memory a call takes beside its inputs and outputs. For
// memory plans. The kernel's KernelTraits name it.
#ifndef HEADRACE_FRAMEWORK_KERNEL_TEMPORARY_MEMORY_H_
#define HEADRACE_FRAMEWORK_KERNEL_TEMPORARY_MEMORY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"

namespace headrace {

class TemporaryMemory {
 public:
  virtual ~TemporaryMemory() = default;
  // At most so many bytes at once. Shapes that Compute would refuse give 0.
  // Thread-safe, beside Compute too.
  virtual int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                                 absl::Span<const TensorShape> outputs,
                                 ThreadPool* pool) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_TEMPORARY_MEMORY_H_
