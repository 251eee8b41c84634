// Tasks of this process, which other tasks of it call without a connection.
#ifndef HEADRACE_DISTRIBUTED_NEAR_WORKER_H_
#define HEADRACE_DISTRIBUTED_NEAR_WORKER_H_

#include <memory>
#include <string>

#include "distributed/served_here.h"
#include "distributed/worker_interface.h"

namespace headrace {

class Worker;

// The tasks that are served here. Never destroyed.
ServedHere<Worker>* NearWorkers();

// Each call goes to the task of this process that is served at the address when
// it begins, or to `far` if there is none. The task of a call lives until
// `done`. Tensors are copied, as on the way to another process: the sender may
// write over a variable that it has sent.
std::unique_ptr<WorkerInterface> NewNearWorker(
    std::string address, std::unique_ptr<WorkerInterface> far);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_NEAR_WORKER_H_
