// TaskServer: the Server of this library.
#ifndef HEADRACE_DISTRIBUTED_TASK_SERVER_H_
#define HEADRACE_DISTRIBUTED_TASK_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "distributed/master.h"
#include "distributed/rpc.h"
#include "distributed/worker.h"
#include "headrace/server.h"

namespace headrace {

StatusOr<std::unique_ptr<Server>> NewTaskServer(const pb::ServerDef& def);

// The master of a server of this process, by its target. Null if there is none.
std::shared_ptr<Master> FindLocalMaster(const std::string& target);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_TASK_SERVER_H_
