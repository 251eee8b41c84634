// TaskCalls: the same call to several tasks, whose answers are waited for
// together.
#ifndef HEADRACE_DISTRIBUTED_TASK_CALLS_H_
#define HEADRACE_DISTRIBUTED_TASK_CALLS_H_

#include <map>
#include <string>
#include <vector>

#include "distributed/rpc.h"
#include "distributed/worker_cache.h"
#include "headrace/mutex.h"

namespace headrace {

// Callbacks share it, so that it may be left while a call still runs.
// Thread-safe.
class TaskCalls {
 public:
  // For the options of the calls. Cancelled when Wait returns.
  CancellationManager* cancellation() { return &cancellation_; }
  void End(const std::string& task, const Status& s);

  // Waits until `n` calls have ended. The first failure, by name of the task.
  Status WaitForAll(size_t n);
  // The same, but at most `patience`. False if a call has not ended.
  bool WaitForAll(size_t n, absl::Duration patience);
  // Waits until the calls to all `tasks` have ended or one has failed. Says on
  // stderr every ten seconds who is missing. Gives up when the caller cancels,
  // and after `patience`: the error then names who is missing. `method` is what
  // the client has asked for.
  Status Wait(const char* method, const CallOptions& caller,
              absl::Duration patience, const std::vector<std::string>& tasks,
              const WorkerCache& workers);
  // The call to this task has ended well.
  bool Succeeded(const std::string& task) const;

 private:
  // True when there is nothing to wait for; otherwise who is missing.
  bool WaitALittle(const std::vector<std::string>& tasks,
                   const WorkerCache& workers, Status* s, std::string* missing);

  CancellationManager cancellation_;
  mutable Mutex mu_;
  CondVar changed_;
  std::map<std::string, Status> ended_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_TASK_CALLS_H_
