// libheadrace_distributed.so: servers and remote sessions.
#ifndef HEADRACE_SESSION_DISTRIBUTED_LIBRARY_H_
#define HEADRACE_SESSION_DISTRIBUTED_LIBRARY_H_

#include <string>
#include <vector>

#include "headrace/status.h"

namespace headrace {

// Loads it from beside this library, once. Unimplemented, with the reason, if
// it cannot be loaded. Thread-safe.
Status LoadDistributedLibrary();

// By what it has registered; it is loaded first.
Status ResetRemoteSessions(const std::string& target,
                           const std::vector<std::string>& containers);

}  // namespace headrace

#endif  // HEADRACE_SESSION_DISTRIBUTED_LIBRARY_H_
