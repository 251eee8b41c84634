// The services of a server: requests in bytes to calls of its master and its
// worker, and back.
#ifndef HEADRACE_DISTRIBUTED_SERVICES_H_
#define HEADRACE_DISTRIBUTED_SERVICES_H_

#include <memory>

#include "distributed/master.h"
#include "distributed/rpc.h"
#include "distributed/worker.h"

namespace headrace {

// Handlers hold references. Malformed requests get InvalidArgument.
void AddWorkerService(std::shared_ptr<Worker> worker, RpcHandlers* handlers);
void AddMasterService(std::shared_ptr<Master> master, RpcHandlers* handlers);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_SERVICES_H_
