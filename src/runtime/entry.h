// Entry: what has been delivered to an input slot of a node in a step. And how
// the outputs of a node come there.
#ifndef HEADRACE_RUNTIME_ENTRY_H_
#define HEADRACE_RUNTIME_ENTRY_H_

#include "framework/op_kernel.h"
#include "runtime/plan.h"

namespace headrace {

// A value, a reference, or (unset) nothing: a dead input.
using Entry = OutputSlot;

inline void Clear(Entry* e) {
  if (e->value.IsInitialized()) e->value = Tensor();
  e->ref = nullptr;
  e->ref_mutex = nullptr;
  e->is_set = false;
}

// The outputs that a node has set, or not: some that follow each other; all
// others are unset. They may be the input entry of a node that hands it on.
class Outputs {
 public:
  Outputs() = default;
  Outputs(OutputSlot* slots, int first, int count)
      : slots_(slots), first_(first), count_(count) {}

  // Null if it is unset.
  OutputSlot* Find(int i) const {
    const unsigned k = static_cast<unsigned>(i - first_);
    return k < count_ && slots_[k].is_set ? &slots_[k] : nullptr;
  }
  void ClearAll() const {
    for (unsigned k = 0; k < count_; ++k) Clear(&slots_[k]);
  }

 private:
  OutputSlot* slots_ = nullptr;
  int first_ = 0;
  unsigned count_ = 0;
};

// What edge `e` takes: null if it is unset. An error if it has not the declared
// type.
inline Status FindOutput(const Outputs& outputs, const PlanEdge& e,
                         OutputSlot** out) {
  *out = outputs.Find(e.src_output);
  if (*out != nullptr && (*out)->ref == nullptr &&
      (*out)->value.dtype() != e.dtype) [[unlikely]] {
    return errors::Internal("Output ", e.src_output, " has type ",
                            DataTypeString((*out)->value.dtype()),
                            " but the op declares ", DataTypeString(e.dtype));
  }
  return OkStatus();
}

// Hands an output over, without a copy if nobody takes it after.
inline void Deliver(OutputSlot* out, bool last_use, Entry* in) {
  in->is_set = true;
  if (out->ref != nullptr) {
    in->ref = out->ref;
    in->ref_mutex = out->ref_mutex;
  } else if (last_use) {
    in->value = std::move(out->value);
  } else {
    in->value = out->value;
  }
}

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_ENTRY_H_
