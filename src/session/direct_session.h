// DirectSession: runs graphs in this process.
#ifndef HEADRACE_SESSION_DIRECT_SESSION_H_
#define HEADRACE_SESSION_DIRECT_SESSION_H_

#include "headrace/session.h"

namespace headrace {

Status NewDirectSession(const pb::ConfigProto& config,
                        std::shared_ptr<Graph> graph,
                        std::unique_ptr<Session>* out);

// Closes all sessions of this process and drops what they keep in `containers`,
// or in the default container if there is none named.
void ResetDirectSessions(const std::vector<std::string>& containers);

}  // namespace headrace

#endif  // HEADRACE_SESSION_DIRECT_SESSION_H_
