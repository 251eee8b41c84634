// Entry: an input slot of a node in a step, and what has been delivered to it.
// Deliver takes an output of a node to an entry.
//
// An entry belongs to one thread at a time: to the one that delivers to it,
// then to the one that runs its node.
#ifndef HEADRACE_RUNTIME_ENTRY_H_
#define HEADRACE_RUNTIME_ENTRY_H_

#include <cstring>

#include "headrace/op_kernel.h"
#include "runtime/plan.h"

namespace headrace {

// Holds a value or a reference. If it is not set, the input is dead or has not
// come.
using Entry = OutputSlot;

// Frees what the tensor holds and makes it Tensor().
void DropTensor(Tensor* t);

// Empties an entry. A small tensor may stay in it, because that frees nothing:
// often the next one delivered is of the same type and shape, and Deliver then
// copies one word.
inline void Clear(Entry* e) {
  if (!e->value.IsInline()) DropTensor(&e->value);
  e->ref = nullptr;
  e->ref_mutex = nullptr;
  e->is_set = false;
}

// The outputs of a node: outputs [first, first + count) are in slots, all
// others are unset. For a node that passes an input on, the slot is the input's
// entry.
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

// Internal: an output that edge `e` takes is unset (`out` is null) or has not
// the type that its op declares.
Status WrongOutput(const PlanEdge& e, const OutputSlot* out);

inline bool HasRightType(const PlanEdge& e, const OutputSlot& out) {
  return out.value.dtype() == e.dtype || out.ref != nullptr;
}

// Delivers an output that is not a small scalar.
void DeliverWhole(OutputSlot* out, bool move, Entry* in);
// Delivers `out` to `in` along edge `e`. With `move`, which the last edge of an
// output has, the tensor is moved, so that its consumer may own it exclusively.
inline void Deliver(const PlanEdge& e, OutputSlot* out, bool move, Entry* in) {
  in->is_set = true;
  const Tensor& from = out->value;
  Tensor& to = in->value;
  if (!from.IsInline() || !to.IsInline() || to.dtype() != e.dtype ||
      to.dims() != 0 || from.dims() != 0 || out->ref != nullptr) {
    DeliverWhole(out, move, in);
    return;
  }
  // A scalar over a scalar of the same type: one word is copied. It is copied
  // in its own size. A wider read than the write just before would stall,
  // because the processor cannot forward the store.
  if (e.element_size == 4) {
    std::memcpy(to.raw_data(), from.raw_data(), 4);
  } else if (e.element_size == 8) {
    std::memcpy(to.raw_data(), from.raw_data(), 8);
  } else if (e.element_size == 1) {
    std::memcpy(to.raw_data(), from.raw_data(), 1);
  } else {
    std::memcpy(to.raw_data(), from.raw_data(), Tensor::kInlineBytes);
  }
}

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_ENTRY_H_
