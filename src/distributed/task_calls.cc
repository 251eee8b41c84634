#include "distributed/task_calls.h"

#include "base/log.h"
#include "base/wait_hook.h"
#include "distributed/waits_report.h"
#include "headrace/clock.h"
#include "headrace/strings.h"

namespace headrace {

void TaskCalls::End(const std::string& task, const Status& s) {
  MutexLock lock(&mu_);
  ended_.emplace(task, s);
  changed_.SignalAll();
}

Status TaskCalls::WaitForAll(size_t n) {
  MutexLock lock(&mu_);
  while (ended_.size() < n) changed_.Wait(&mu_);
  Status s;
  for (const auto& [task, ended] : ended_) s.Update(ended);
  return s;
}

bool TaskCalls::WaitForAll(size_t n, absl::Duration patience) {
  const absl::Time deadline = Now() + patience;
  MutexLock lock(&mu_);
  while (ended_.size() < n) {
    const absl::Duration left = deadline - Now();
    if (left <= absl::ZeroDuration()) return false;
    changed_.WaitWithTimeout(&mu_, left);
  }
  return true;
}

bool TaskCalls::WaitALittle(const std::vector<std::string>& tasks,
                            const WorkerCache& workers, Status* s,
                            std::string* missing) {
  missing->clear();
  MutexLock lock(&mu_);
  if (ended_.size() < tasks.size()) {
    changed_.WaitWithTimeout(&mu_, absl::Milliseconds(WaitHook::kPeriodMs));
  }
  for (const auto& [task, ended] : ended_) s->Update(ended);
  for (const std::string& task : tasks) {
    if (ended_.contains(task)) continue;
    StrAppend(missing, missing->empty() ? "" : ", ", workers.Describe(task));
  }
  // A failure does not wait for a task that is silent.
  return missing->empty() || !s->ok();
}

Status TaskCalls::Wait(const char* method, const CallOptions& caller,
                       absl::Duration patience,
                       const std::vector<std::string>& tasks,
                       const WorkerCache& workers) {
  const absl::Time begin = Now();
  const absl::Time deadline = begin + patience;
  absl::Time say = begin + kSayWhoIsMissing;
  Status s;
  std::string missing;
  while (!WaitALittle(tasks, workers, &s, &missing)) {
    if (caller.waits != nullptr) caller.waits->Poll();
    const absl::Time now = Now();
    if (now > say) {
      say = now + kSayWhoIsMissing;
      HR_LOG(WARNING) << method << " still waiting for response from "
                      << missing << " since " << WaitDurationText(now - begin);
    }
    if (now > deadline) {
      s = errors::DeadlineExceeded(method, ": no answer from ", missing,
                                   " after ",
                                   absl::ToInt64Milliseconds(patience), " ms");
      break;
    }
    if (caller.cancellation != nullptr && caller.cancellation->IsCancelled()) {
      s = errors::Cancelled(method, " was cancelled while it waited for ",
                            missing);
      break;
    }
  }
  cancellation_.StartCancel();
  return s;
}

bool TaskCalls::Succeeded(const std::string& task) const {
  MutexLock lock(&mu_);
  const auto it = ended_.find(task);
  return it != ended_.end() && it->second.ok();
}

}  // namespace headrace
