#include "distributed/worker_cache.h"

#include "absl/strings/str_join.h"
#include "distributed/near_worker.h"

namespace headrace {

StatusOr<WorkerInterface*> WorkerCache::Find(const std::string& task) {
  if (task == local_name_) return local_;
  MutexLock lock(&mu_);
  std::unique_ptr<WorkerInterface>& worker = remote_[task];
  if (worker != nullptr) return worker.get();
  const ClusterSpec::Task* const found = spec_.Find(task);
  if (found == nullptr) {
    remote_.erase(task);
    return errors::NotFound(
        "the cluster has no task ", task, "; it has ",
        absl::StrJoin(spec_.tasks(), ", ",
                      [](std::string* out, const ClusterSpec::Task& t) {
                        out->append(t.name);
                      }));
  }
  StatusOr<std::shared_ptr<RpcChannel>> channel = NewRpcChannel(found->address);
  if (!channel.ok()) {
    remote_.erase(task);
    return channel.status();
  }
  worker = NewNearWorker(found->address,
                         NewRemoteWorker(*std::move(channel), Describe(task)));
  return worker.get();
}

std::string WorkerCache::Describe(const std::string& task) const {
  const ClusterSpec::Task* const found = spec_.Find(task);
  return found == nullptr ? task : StrCat(task, " at ", found->address);
}

}  // namespace headrace
