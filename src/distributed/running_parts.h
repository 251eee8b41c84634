// RunningParts: the parts of one run of a step, on their tasks. The first
// failure, a deadline or the client ends them all.
#ifndef HEADRACE_DISTRIBUTED_RUNNING_PARTS_H_
#define HEADRACE_DISTRIBUTED_RUNNING_PARTS_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "distributed/worker_interface.h"
#include "headrace/cancellation.h"
#include "headrace/mutex.h"

namespace headrace {

class ThreadPool;

// Callbacks share it, so that it may be left while a part still runs.
// Thread-safe.
class RunningParts : public std::enable_shared_from_this<RunningParts> {
 public:
  struct Part {
    std::string task;   // "/job:worker/replica:0/task:1"
    std::string where;  // the same with its address
    WorkerInterface* worker = nullptr;
    bool is_local = false;
    int64_t step_id = 0;
    RunGraphCall call;
    RunGraphResult result;
    bool ended = false;
    // Of the call. `begin` is guarded as `ended` is.
    absl::Time begin = absl::InfiniteFuture(), end;
  };

  // Where the work of a local part is.
  struct Pools {
    ThreadPool *tasks = nullptr, *loops = nullptr;
  };

  // The workers and pools, with `keep`, outlive the run. At most one part is
  // local.
  RunningParts(std::deque<Part> parts, Pools pools,
               std::shared_ptr<const void> keep);

  // Runs all parts; a local one on this thread, which works for it until it
  // ends. Waits until all have ended, or some seconds after a failure. `hook`
  // may be null.
  void Run(WaitHook* hook);
  // Ends the run with `why`, unless it has failed already.
  void Fail(const Status& why);
  // The same, once the tasks that have not answered have said what they wait
  // for, or a second has passed. Does not wait itself.
  void FailAfterAsking(const Status& why);
  // "; still waiting for /job:worker/replica:0/task:1 at localhost:2222 since
  // 20 s".
  std::string WhoIsMissing() const;
  // After Run: the cause of the failure.
  Status status() const;
  // After Run with an OK status.
  std::deque<Part>& parts() { return parts_; }

 private:
  void Start(size_t i);
  // For at most `period`: helps the local part, or waits for what changes.
  void HelpOrWait(absl::Duration period);
  void Ended(size_t i, const Status& s);
  // Asks the tasks that have not answered whether they are alive.
  void LookForDead();
  void Note(const Status& s, bool cancels);

  std::deque<Part>
      parts_;  // elements except `ended` and `begin` belong to their part
  const std::shared_ptr<const void> keep_;
  const Pools pools_;
  CancellationManager cancellation_;
  TaskGroup local_group_;
  mutable Mutex mu_;
  CondVar changed_;
  size_t left_ GUARDED_BY(mu_);
  bool local_runs_ GUARDED_BY(mu_) = false;
  // In the order in which they came.
  std::vector<Status> failures_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_RUNNING_PARTS_H_
