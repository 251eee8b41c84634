// Session handles: GetSessionHandle gives a name to a tensor, which the session
// keeps when the handle is fetched and later steps look up.
#ifndef HEADRACE_SESSION_SESSION_HANDLES_H_
#define HEADRACE_SESSION_SESSION_HANDLES_H_

#include "framework/kernel/session_tensors.h"
#include "headrace/graph.h"
#include "headrace/resource_mgr.h"

namespace headrace {

// True if a fetch of `e` gives a session handle.
bool IsSessionHandle(const Endpoint& e);

// Takes the tensor that a fetched handle names over from the step's resources
// into the session's tensors. Thread-safe.
void KeepSessionTensor(const Tensor& handle, ResourceMgr* step,
                       SessionTensors* session);

}  // namespace headrace

#endif  // HEADRACE_SESSION_SESSION_HANDLES_H_
