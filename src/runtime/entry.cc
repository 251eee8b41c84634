#include "runtime/entry.h"

#include <memory>
#include <utility>

namespace headrace {

void DropTensor(Tensor* t) {
  // Assigning Tensor() would read the new object back before it is written.
  std::destroy_at(t);
  std::construct_at(t);
}

void DeliverWhole(OutputSlot* out, bool move, Entry* in) {
  if (out->ref != nullptr) {
    in->ref = out->ref;
    in->ref_mutex = out->ref_mutex;
  } else if (move && !out->value.IsInline()) {
    in->value = std::move(out->value);
  } else {
    in->value = out->value;
    in->value.AllowWrites();
  }
}

Status WrongOutput(const PlanEdge& e, const OutputSlot* out) {
  if (out == nullptr) {
    return errors::Internal("Missing ", e.src_output, "-th output");
  }
  return errors::Internal("Output ", e.src_output, " has type ",
                          DataTypeString(out->value.dtype()),
                          " but the op declares ", DataTypeString(e.dtype));
}

}  // namespace headrace
