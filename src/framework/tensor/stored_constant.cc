#include "framework/tensor/stored_constant.h"

#include "framework/tensor/mapped_buffer.h"

namespace headrace {

bool IsAligned(const Tensor& t) {
  const auto size = static_cast<uintptr_t>(DataTypeObjectSize(t.dtype()));
  // Objects always are, though not at multiples of their size.
  return t.NumElements() == 0 || !DataTypeCanUseMemcpy(t.dtype()) ||
         reinterpret_cast<uintptr_t>(t.raw_data()) % size == 0;
}

Status AlignedCopy::Get(const Tensor& stored, const Tensor** aligned) const {
  *aligned = &stored;
  if (IsAligned(stored)) return OkStatus();
  MutexLock lock(&mu_);
  if (!copy_.IsInitialized()) {
    HR_RETURN_IF_ERROR(stored.DeepCopyTo(&copy_));
    ReleasePages(stored);
  }
  *aligned = &copy_;
  return OkStatus();
}

}  // namespace headrace
