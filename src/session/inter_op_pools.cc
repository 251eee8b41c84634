#include "session/inter_op_pools.h"

#include <map>
#include <string>

#include "base/cpu.h"
#include "base/fork.h"
#include "base/thread_pool.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

// The process's pool of that name; never destroyed.
Status FindNamed(const std::string& name, int threads, ThreadPool** out) {
  struct Named {
    Mutex mu;
    std::map<std::string, std::unique_ptr<ThreadPool>> pools GUARDED_BY(mu);
  };
  static Named* const named = [] {
    auto* made = new Named;
    HoldDuringFork(&made->mu);
    return made;
  }();
  MutexLock lock(&named->mu);
  std::unique_ptr<ThreadPool>& pool = named->pools[name];
  if (pool == nullptr) pool = std::make_unique<ThreadPool>(threads, name);
  *out = pool.get();
  if (pool->NumThreads() == threads) return OkStatus();
  return errors::InvalidArgument(
      "ConfigProto: session_inter_op_thread_pool '", name, "' wants ", threads,
      " threads, but a pool of that name has ", pool->NumThreads());
}

}  // namespace

Status InterOpPools::Make(const SessionOptions& options,
                          std::unique_ptr<InterOpPools>* out) {
  auto made = std::make_unique<InterOpPools>();
  for (const SessionOptions::InterOpPool& p : options.inter_op_pools) {
    const int threads = p.threads > 0 ? p.threads : AvailableCpus();
    ThreadPool* pool = nullptr;
    if (!p.global_name.empty()) {
      HR_RETURN_IF_ERROR(FindNamed(p.global_name, threads, &pool));
    } else {
      made->owned_.push_back(
          std::make_unique<ThreadPool>(threads, "headrace_inter"));
      pool = made->owned_.back().get();
    }
    made->pools_.push_back(pool);
  }
  if (made->pools_.empty() && options.inter_op_threads > 0) {
    made->owned_.push_back(std::make_unique<ThreadPool>(
        options.inter_op_threads, "headrace_inter"));
    made->pools_.push_back(made->owned_.back().get());
  }
  if (made->pools_.empty()) made->pools_.push_back(ThreadPool::Global());
  *out = std::move(made);
  return OkStatus();
}

Status InterOpPools::Find(int index, ThreadPool** out) const {
  if (index == -1) {
    *out = nullptr;
    return OkStatus();
  }
  if (index < 0 || index >= static_cast<int>(pools_.size())) {
    return errors::InvalidArgument("Invalid inter_op_thread_pool: ", index,
                                   "; this session has ", pools_.size());
  }
  *out = pools_[static_cast<size_t>(index)];
  return OkStatus();
}

}  // namespace headrace
