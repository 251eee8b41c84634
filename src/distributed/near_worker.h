// Tasks of this process, which other tasks of it call without a connection.
#ifndef HEADRACE_DISTRIBUTED_NEAR_WORKER_H_
#define HEADRACE_DISTRIBUTED_NEAR_WORKER_H_

#include <map>
#include <memory>
#include <string>

#include "distributed/worker_interface.h"
#include "headrace/mutex.h"

namespace headrace {

class Worker;

// The tasks that are served here, by their address. Thread-safe.
class NearWorkers {
 public:
  static NearWorkers* Get();
  void Add(const std::string& address, std::weak_ptr<Worker> worker);
  void Remove(const std::string& address);
  // Null if the task is not served here.
  std::shared_ptr<Worker> Find(const std::string& address) const;

 private:
  mutable Mutex mu_;
  std::map<std::string, std::weak_ptr<Worker>> workers_ GUARDED_BY(mu_);
};

// Each call goes to the task of this process that is served at the address when
// it begins, or to `far` if there is none. The task of a call lives until
// `done`. Tensors are copied, as on the way to another process: the sender may
// write over a variable that it has sent.
std::unique_ptr<WorkerInterface> NewNearWorker(
    std::string address, std::unique_ptr<WorkerInterface> far);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_NEAR_WORKER_H_
