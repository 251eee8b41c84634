#include "runtime/entry.h"

namespace headrace {

Status WrongOutputType(const PlanEdge& e, const OutputSlot& out) {
  return errors::Internal("Output ", e.src_output, " has type ",
                          DataTypeString(out.value.dtype()),
                          " but the op declares ", DataTypeString(e.dtype));
}

}  // namespace headrace
