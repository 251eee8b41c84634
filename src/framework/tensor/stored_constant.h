// Constants that stay where their model's bytes are. Such a tensor lies at any
// address: its elements need not be aligned, so reading them through a typed
// pointer is undefined, and only kernels that say so get it. Everybody else
// gets an aligned copy, made when first asked for.
#ifndef HEADRACE_FRAMEWORK_TENSOR_STORED_CONSTANT_H_
#define HEADRACE_FRAMEWORK_TENSOR_STORED_CONSTANT_H_

#include "headrace/mutex.h"
#include "headrace/tensor.h"

namespace headrace {

// True if the elements may be read through a typed pointer.
bool IsAligned(const Tensor& t);

// A tensor, and its aligned copy if one was asked for. Thread-safe.
class AlignedCopy {
 public:
  // `*aligned` is `stored` itself if that is aligned. ResourceExhausted if
  // there is no memory. `stored` is the same in every call.
  Status Get(const Tensor& stored, const Tensor** aligned) const;

 private:
  mutable Mutex mu_;
  // Not changed once set.
  mutable Tensor copy_ GUARDED_BY(mu_);
};

// A second base of Const's kernel, which its KernelTraits name.
class StoredConstant {
 public:
  virtual ~StoredConstant() = default;
  // As it is in the model's bytes. May be unaligned.
  virtual const Tensor& stored_tensor() const = 0;
};

// A second base of a kernel that can read unaligned constants; its KernelTraits
// name it.
class StoredConstantReader {
 public:
  virtual ~StoredConstantReader() = default;
  virtual bool TakesStoredConstant(int input) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_STORED_CONSTANT_H_
