#include "distributed/job_watch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "headrace/clock.h"

namespace headrace {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(200);
constexpr absl::Duration kAnswer = absl::Seconds(2);

}  // namespace

StatusOr<std::unique_ptr<JobWatch>> JobWatch::Start(
    const std::string& text, const std::string& own_job,
    std::shared_ptr<WorkerCache> workers, std::function<void()> gone) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double seconds = 10;
  if (parts.size() > 2 ||
      (parts.size() == 2 &&
       (!absl::SimpleAtod(parts[1], &seconds) || !(seconds > 0)))) {
    return errors::InvalidArgument(kJoinUntil, " is '", text,
                                   "'; wanted JOB or JOB:SECONDS");
  }
  if (parts[0] == own_job) return std::unique_ptr<JobWatch>();
  std::vector<std::string> tasks;
  for (const ClusterSpec::Task& t : workers->spec().tasks()) {
    if (t.job == parts[0]) tasks.push_back(t.name);
  }
  if (tasks.empty()) {
    return errors::InvalidArgument(kJoinUntil, " is '", text,
                                   "', which is no job of the cluster");
  }
  return std::unique_ptr<JobWatch>(
      new JobWatch(std::move(tasks), absl::Seconds(seconds), std::move(workers),
                   std::move(gone)));
}

JobWatch::JobWatch(std::vector<std::string> tasks, absl::Duration patience,
                   std::shared_ptr<WorkerCache> workers,
                   std::function<void()> gone)
    : tasks_(std::move(tasks)),
      patience_(patience),
      workers_(std::move(workers)),
      gone_(std::move(gone)),
      thread_([this] { Run(); }) {}

JobWatch::~JobWatch() {
  stop_.Notify();
  calls_.StartCancel();
  thread_.join();
}

void JobWatch::Run() {
  bool seen = false;
  absl::Time last = Now();
  while (!stop_.WaitForNotificationWithTimeout(std::min(kPeriod, patience_))) {
    if (AnyAnswers()) {
      seen = true;
      last = Now();
    } else if (seen && Now() - last > patience_) {
      return gone_();
    }
  }
}

bool JobWatch::AnyAnswers() {
  // Callbacks share it.
  struct Answers {
    Mutex mu;
    CondVar changed;
    size_t left GUARDED_BY(mu) = 0;
    bool any GUARDED_BY(mu) = false;
    std::vector<pb::GetStatusResponse> responses;
    void End(bool answered) {
      MutexLock lock(&mu);
      --left;
      any |= answered;
      changed.SignalAll();
    }
  };
  auto answers = std::make_shared<Answers>();
  answers->responses.resize(tasks_.size());
  {
    MutexLock lock(&answers->mu);
    answers->left = tasks_.size();
  }
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const StatusOr<WorkerInterface*> worker = workers_->Find(tasks_[i]);
    if (!worker.ok()) {
      answers->End(false);
      continue;
    }
    CallOptions options;
    options.timeout = kAnswer;
    options.wait_for_ready = true;  // a task may be about to begin
    options.cancellation = &calls_;
    (*worker)->GetStatus(options, &answers->responses[i],
                         [answers](const Status& s) { answers->End(s.ok()); });
  }
  // All of them: the calls use calls_. Each ends by its timeout.
  MutexLock lock(&answers->mu);
  while (answers->left > 0) answers->changed.Wait(&answers->mu);
  return answers->any;
}

}  // namespace headrace
