// Entry: what has been delivered to an input slot of a node in a step. And how
// the outputs of a node come there.
#ifndef HEADRACE_RUNTIME_ENTRY_H_
#define HEADRACE_RUNTIME_ENTRY_H_

#include <cstring>

#include "headrace/op_kernel.h"
#include "runtime/plan.h"

namespace headrace {

// A value, a reference, or (unset) nothing: a dead input.
using Entry = OutputSlot;

// What an empty slot holds is no value. A tensor inside the object may stay in
// it, as it holds nothing else: it is often of the kind that comes next.
void DropTensor(Tensor* t);  // leaves Tensor()
inline void Clear(Entry* e) {
  if (!e->value.IsInline()) DropTensor(&e->value);
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

// The error of an output that is unset (null) or has not the declared type.
Status WrongOutput(const PlanEdge& e, const OutputSlot* out);

inline bool HasRightType(const PlanEdge& e, const OutputSlot& out) {
  return out.value.dtype() == e.dtype || out.ref != nullptr;
}

// Hands over what edge `e` takes: with `move` without a copy.
void DeliverWhole(OutputSlot* out, bool move, Entry* in);
inline void Deliver(const PlanEdge& e, OutputSlot* out, bool move, Entry* in) {
  in->is_set = true;
  const Tensor& from = out->value;
  Tensor& to = in->value;
  if (!from.IsInline() || !to.IsInline() || to.dtype() != e.dtype ||
      to.dims() != 0 || from.dims() != 0 || out->ref != nullptr) {
    DeliverWhole(out, move, in);
    return;
  }
  // A scalar over a scalar is one word. It is copied in its own size: reading
  // more than was just written waits until that is in the cache.
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
