// JobWatch: notices when the tasks of a job have gone. A parameter server's
// program, which waits in Server::Join, can so end with the workers.
#ifndef HEADRACE_DISTRIBUTED_JOB_WATCH_H_
#define HEADRACE_DISTRIBUTED_JOB_WATCH_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "distributed/worker_cache.h"
#include "headrace/cancellation.h"
#include "headrace/mutex.h"

namespace headrace {

// Environment variable that says with which job Server::Join ends: "worker", or
// "worker:30" if its tasks may all be away for 30 s. 10 s if it does not say.
inline constexpr char kJoinUntil[] = "HEADRACE_JOIN_UNTIL";

// Thread-safe.
class JobWatch {
 public:
  // `text` is as in kJoinUntil. Null if it names `own_job`. InvalidArgument if
  // it is malformed, or names no job of the cluster. Calls `gone` once, from a
  // thread of its own: when a task has answered, and then none does for the
  // time.
  static StatusOr<std::unique_ptr<JobWatch>> Start(
      const std::string& text, const std::string& own_job,
      std::shared_ptr<WorkerCache> workers, std::function<void()> gone);
  // Waits for `gone` if it runs.
  ~JobWatch();

 private:
  JobWatch(std::vector<std::string> tasks, absl::Duration patience,
           std::shared_ptr<WorkerCache> workers, std::function<void()> gone);
  void Run();
  bool AnyAnswers();

  const std::vector<std::string> tasks_;
  const absl::Duration patience_;
  const std::shared_ptr<WorkerCache> workers_;
  const std::function<void()> gone_;
  CancellationManager calls_;
  Notification stop_;
  std::thread thread_;
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_JOB_WATCH_H_
