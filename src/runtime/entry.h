// Entry: what has been delivered to an input slot of a node in a step.
#ifndef HEADRACE_RUNTIME_ENTRY_H_
#define HEADRACE_RUNTIME_ENTRY_H_

#include "framework/op_kernel.h"
#include "runtime/plan.h"

namespace headrace {

// A value, or a reference, or (both unset) nothing: a dead input.
struct Entry {
  Tensor value;
  Tensor* ref = nullptr;
  Mutex* ref_mutex = nullptr;

  void Clear() {
    if (value.IsInitialized()) value = Tensor();
    ref = nullptr;
    ref_mutex = nullptr;
  }
};

// Checks that output `e.src_output` has the declared type.
inline Status CheckOutput(const PlanNode& n, const PlanEdge& e,
                          const OutputSlot& out) {
  const DataType declared = BaseType(n.kernel->output_type(e.src_output));
  if (out.ref == nullptr && out.value.dtype() != declared) [[unlikely]] {
    return errors::Internal("Output ", e.src_output, " has type ",
                            DataTypeString(out.value.dtype()),
                            " but the op declares ", DataTypeString(declared));
  }
  return OkStatus();
}

// Hands an output over; the last edge that takes it gets it without a copy.
inline void Deliver(OutputSlot* out, bool last_use, Entry* in) {
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
