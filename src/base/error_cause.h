// ErrorCause: what an error is about, for code that acts on it. The text of a
// status is for people and may change; a cause is a payload of the status,
// which Annotate keeps.
#ifndef HEADRACE_BASE_ERROR_CAUSE_H_
#define HEADRACE_BASE_ERROR_CAUSE_H_

#include "headrace/status.h"

namespace headrace {

enum class ErrorCause {
  kUninitializedVariable,  // a node reads a variable that has no value
  kNoFeed,                 // a placeholder was not fed
};

// `status` with `cause` added to those that it has; OK stays OK. What this and
// HasCause allocate may throw std::bad_alloc.
[[nodiscard]] Status WithCause(Status status, ErrorCause cause);
bool HasCause(const Status& status, ErrorCause cause);

}  // namespace headrace

#endif  // HEADRACE_BASE_ERROR_CAUSE_H_
