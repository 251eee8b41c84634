// ConstantForms: what kernels make of inputs that never change, such as packed
// panels or transforms. A form is made when it is first needed, in parallel,
// once in a process for the same bytes. It is kept as long as a kernel holds
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

// One kernel's constant input, and its hold on the forms made of it.
//
// Set before the first use; then thread-safe.
class ConstantForms {
 public:
  // Writes the form of `constant`, whose elements may be unaligned, to `form`,
  // which is aligned to 64 bytes. False if there is no memory.
  using Maker = absl::FunctionRef<bool(const Tensor& constant, void* form)>;

  // The buffer stays alive as long as this does.
  void Set(const Tensor& constant) { constant_ = constant; }
  bool is_set() const { return constant_.IsInitialized(); }

  // The form of `bytes` bytes that `make` makes. It depends on the constant, on
  // `kind`, an address, and on `sizes` alone. Valid as long as this object.
  // Null if there is no constant or no memory; the caller then makes a form for
  // its call, or does without.
  const void* Get(const void* kind, absl::Span<const int64_t> sizes,
                  int64_t bytes, Maker make);

 private:
  Tensor constant_;
  Mutex mu_;
  std::vector<std::shared_ptr<ConstantForm>> held_ GUARDED_BY(mu_);
};

// Bytes of all forms of the process.
int64_t ConstantFormBytesInUse();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_CONSTANT_FORMS_H_
