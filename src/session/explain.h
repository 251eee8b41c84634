// How a session runs a step, for people: `headrace explain` and
// tf.headrace.explain.
#ifndef HEADRACE_SESSION_EXPLAIN_H_
#define HEADRACE_SESSION_EXPLAIN_H_

#include <string>

#include "headrace/session.h"

namespace headrace {

// Compiles the step anew and runs it twice, then tells, for each convolution,
// the algorithms that can compute it, the times that were predicted and, if the
// session has a tuner, measured, and which one was chosen; what the graph
// passes did; and the memory that the tensors of a run took. A session without
// a tuner has one meanwhile that only keeps notes.
//
// Errors as Session::Run's. For sessions of this process.
StatusOr<std::string> ExplainRun(Session* session,
                                 absl::Span<const Session::Feed> feeds,
                                 absl::Span<const Endpoint> fetches,
                                 absl::Span<Node* const> targets,
                                 RunToken token = {});

}  // namespace headrace

#endif  // HEADRACE_SESSION_EXPLAIN_H_
