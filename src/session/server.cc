#include "session/server.h"

#include <atomic>

namespace headrace {
namespace {
constinit std::atomic<ServerFactory> g_factory{nullptr};
}  // namespace

void RegisterServerFactory(ServerFactory factory) { g_factory = factory; }

StatusOr<std::unique_ptr<Server>> NewServer(const pb::ServerDef& def) {
  const ServerFactory factory = g_factory;
  if (factory == nullptr) {
    return errors::Unimplemented(
        "no server for job '", def.job_name(), "', task ", def.task_index(),
        ": servers are in the plug-in libheadrace_distributed.so, which is not "
        "loaded");
  }
  return factory(def);
}

}  // namespace headrace
