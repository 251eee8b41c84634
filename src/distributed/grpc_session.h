// Sessions on "grpc://host:port".
#ifndef HEADRACE_DISTRIBUTED_GRPC_SESSION_H_
#define HEADRACE_DISTRIBUTED_GRPC_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "headrace/session.h"

namespace headrace {

// Does not connect: the first run does.
StatusOr<std::unique_ptr<Session>> NewGrpcSession(const pb::ConfigProto& config,
                                                  const std::string& target,
                                                  std::shared_ptr<Graph> graph);
Status ResetGrpcSessions(const std::string& target,
                         const std::vector<std::string>& containers);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_GRPC_SESSION_H_
