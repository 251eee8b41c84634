// Says which variables a failed step would have needed.
#ifndef HEADRACE_SESSION_UNINITIALIZED_H_
#define HEADRACE_SESSION_UNINITIALIZED_H_

#include "session/compiled_step.h"

namespace headrace {

// Appends to the failure of a step that read a variable without a value all
// variables that the step reads and that have none now, each with the node of
// `graph` that would initialize it. Returns any other status as it is.
Status ListUninitialized(const Status& status, const CompiledStep& step,
                         const Graph& graph);

}  // namespace headrace

#endif  // HEADRACE_SESSION_UNINITIALIZED_H_
