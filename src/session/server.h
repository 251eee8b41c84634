// A server of a cluster, as seen by whoever starts one. The distributed plug-in
// implements it and registers a factory when it is loaded.
#ifndef HEADRACE_SESSION_SERVER_H_
#define HEADRACE_SESSION_SERVER_H_

#include <memory>
#include <string>

#include "headrace/server.pb.h"
#include "headrace/status.h"

namespace headrace {

// Thread-safe. The destructor stops the server and waits for it.
class Server {
 public:
  virtual ~Server() = default;
  virtual Status Start() = 0;
  virtual Status Stop() = 0;
  // Waits until the server has stopped.
  virtual Status Join() = 0;
  // What a session's options name to run on this server: "grpc://host:port".
  virtual std::string target() const = 0;
};

using ServerFactory =
    StatusOr<std::unique_ptr<Server>> (*)(const pb::ServerDef&);

// The last factory wins.
void RegisterServerFactory(ServerFactory factory);
// Unimplemented without a factory.
StatusOr<std::unique_ptr<Server>> NewServer(const pb::ServerDef& def);

}  // namespace headrace

#endif  // HEADRACE_SESSION_SERVER_H_
