// WorkerCache: the tasks of a cluster, each reached when it is first asked for.
#ifndef HEADRACE_DISTRIBUTED_WORKER_CACHE_H_
#define HEADRACE_DISTRIBUTED_WORKER_CACHE_H_

#include <map>
#include <memory>
#include <string>

#include "distributed/cluster_spec.h"
#include "distributed/worker_interface.h"
#include "headrace/mutex.h"

namespace headrace {

// Thread-safe.
class WorkerCache {
 public:
  // `local` is the task `local_name`, and outlives this.
  WorkerCache(ClusterSpec spec, std::string local_name, WorkerInterface* local)
      : spec_(std::move(spec)),
        local_name_(std::move(local_name)),
        local_(local) {}

  const ClusterSpec& spec() const { return spec_; }
  const std::string& local_name() const { return local_name_; }
  // Lives as long as this. NotFound if the cluster has no such task.
  StatusOr<WorkerInterface*> Find(const std::string& task);
  // "/job:worker/replica:0/task:1 at localhost:2222".
  std::string Describe(const std::string& task) const;

 private:
  const ClusterSpec spec_;
  const std::string local_name_;
  WorkerInterface* const local_;
  Mutex mu_;
  std::map<std::string, std::unique_ptr<WorkerInterface>> remote_
      GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WORKER_CACHE_H_
