// ConstantForms: precomputed forms of constant inputs, such as packed panels or
// transforms. A form is computed in parallel at its first use. Kernels with the
// same bytes share one form in the process. It lives as long as a kernel holds
// it.
#ifndef HEADRACE_KERNELS_LIB_CONSTANT_FORMS_H_
#define HEADRACE_KERNELS_LIB_CONSTANT_FORMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "headrace/mutex.h"
#include "headrace/tensor.h"

namespace headrace {

class ConstantForm;

// One kernel's constant input and its references to the forms of it.
//
// Call Set before the first use. After that, thread-safe.
class ConstantForms {
 public:
  // Writes the form of `constant` to `form`, which is aligned to 64 bytes. The
  // elements of `constant` may be unaligned. Returns false if there is no
  // memory.
  using Maker = absl::FunctionRef<bool(const Tensor& constant, void* form)>;

  // Keeps the buffer alive as long as this object lives.
  void Set(const Tensor& constant) { constant_ = constant; }
  bool is_set() const { return constant_.IsInitialized(); }

  // Returns the form of `bytes` bytes that `make` computes. The form must
  // depend only on the constant, on `kind` (an address) and on `sizes`. It is
  // valid as long as this object. Null if there is no constant or no memory.
  // The caller then computes a form for this call, or works without one.
  const void* Get(const void* kind, absl::Span<const int64_t> sizes,
                  int64_t bytes, Maker make);

 private:
  Tensor constant_;
  Mutex mu_;
  std::vector<std::shared_ptr<ConstantForm>> held_ GUARDED_BY(mu_);
};

// Bytes of all forms in the process.
int64_t ConstantFormBytesInUse();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_CONSTANT_FORMS_H_
