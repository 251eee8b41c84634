// Constants that stay in the bytes of their model. Such a tensor lies at any
// address. Its elements may be unaligned, so reading them through a typed
// pointer is undefined. Only kernels that opt in get it. All others get an
// aligned copy, made at the first use.
#ifndef HEADRACE_FRAMEWORK_TENSOR_STORED_CONSTANT_H_
#define HEADRACE_FRAMEWORK_TENSOR_STORED_CONSTANT_H_

#include "headrace/mutex.h"
#include "headrace/tensor.h"

namespace headrace {

// True if the elements may be read through a typed pointer.
bool IsAligned(const Tensor& t);

// A tensor, and its aligned copy once it was requested. Thread-safe.
class AlignedCopy {
 public:
  // `*aligned` is `stored` itself if that is aligned. ResourceExhausted if
  // there is no memory. `stored` is the same in every call.
  Status Get(const Tensor& stored, const Tensor** aligned) const;

 private:
  mutable Mutex mu_;
  // Constant once it is set.
  mutable Tensor copy_ GUARDED_BY(mu_);
};

// Interface of the Const kernel, a second base that its KernelTraits name.
class StoredConstant {
 public:
  virtual ~StoredConstant() = default;
  // As it is in the model's bytes. May be unaligned.
  virtual const Tensor& stored_tensor() const = 0;
};

// Interface of a kernel that can read unaligned constants: a second base that
// its KernelTraits name.
class StoredConstantReader {
 public:
  virtual ~StoredConstantReader() = default;
  virtual bool TakesStoredConstant(int input) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_STORED_CONSTANT_H_
