#include "distributed/running_parts.h"

#include <utility>

#include "base/wait_hook.h"
#include "distributed/waits_report.h"
#include "headrace/clock.h"
#include "runtime/help.h"

namespace headrace {
namespace {

// After a failure that is a consequence of another, the cause may come for so
// long; then the other parts are cancelled.
constexpr absl::Duration kCauseMayCome = absl::Seconds(1);
// A part that was cancelled may take so long to end.
constexpr absl::Duration kGrace = absl::Seconds(10);
// How long tasks have to say what they wait for, when a step has failed.
constexpr absl::Duration kHangReport = absl::Seconds(1);
// How often silent tasks are asked whether they live, and how long they have
// to answer.
constexpr absl::Duration kHeartbeat = absl::Seconds(10);

}  // namespace

RunningParts::RunningParts(std::deque<Part> parts, Pools pools,
                           std::shared_ptr<const void> keep)
    : parts_(std::move(parts)),
      keep_(std::move(keep)),
      pools_(pools),
      left_(parts_.size()) {}

void RunningParts::Start(size_t i) {
  Part& p = parts_[i];
  CallOptions options;
  options.cancellation = &cancellation_;
  {
    MutexLock lock(&mu_);
    p.begin = Now();
    if (p.is_local) local_runs_ = true;
  }
  if (p.is_local) options.group = &local_group_;
  p.worker->RunGraph(
      options, std::move(p.call), &p.result,
      [self = shared_from_this(), i](const Status& s) { self->Ended(i, s); });
}

void RunningParts::Run(WaitHook* hook) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].is_local) Start(i);
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].is_local) Start(i);
  }
  absl::Time failed = absl::InfiniteFuture();
  absl::Time asked = Now();
  while (true) {
    bool often = hook != nullptr;
    {
      MutexLock lock(&mu_);
      if (left_ == 0) return;
      // What changes at other parts does not wake a thread that helps.
      often |= !failures_.empty() || (local_runs_ && parts_.size() > 1);
    }
    HelpOrWait(absl::Milliseconds(often ? WaitHook::kPeriodMs : 1000));
    {
      MutexLock lock(&mu_);
      if (left_ == 0) return;
      if (!failures_.empty() && failed == absl::InfiniteFuture()) {
        failed = Now();
      }
    }
    if (hook != nullptr) hook->Poll();
    const absl::Time now = Now();
    if (now > failed + kCauseMayCome) {
      cancellation_.StartCancel(errors::Cancelled("The step has failed."));
    }
    if (now > failed + kCauseMayCome + kGrace) return;
    if (failed == absl::InfiniteFuture() && now > asked + kHeartbeat) {
      asked = now;
      LookForDead();
    }
  }
}

void RunningParts::HelpOrWait(absl::Duration period) {
  {
    MutexLock lock(&mu_);
    if (!local_runs_) {
      if (left_ > 0) changed_.WaitWithTimeout(&mu_, period);
      return;
    }
  }
  ThreadPool::Help(
      &local_group_, pools_.tasks, pools_.loops, CallersHelp(),
      [this] { return local_group_.finished(); }, Now() + period);
}

void RunningParts::LookForDead() {
  std::vector<size_t> silent;
  {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].ended && !parts_[i].is_local) silent.push_back(i);
    }
  }
  for (size_t i : silent) {
    CallOptions options;
    options.timeout = kHeartbeat;
    auto response = std::make_shared<pb::GetStatusResponse>();
    parts_[i].worker->GetStatus(
        options, response.get(),
        [self = shared_from_this(), i, response](const Status& s) {
          if (s.ok()) return;
          self->Fail(errors::Unavailable(self->parts_[i].where,
                                         " does not answer: ", s.message()));
        });
  }
}

void RunningParts::Ended(size_t i, const Status& s) {
  Status named = s;
  if (!s.ok() && !parts_[i].is_local && !IsDerived(s)) {
    named =
        Status(s.code(), StrCat("From ", parts_[i].task, ":\n", s.message()));
  }
  if (!s.ok()) Note(named, !IsDerived(s));
  parts_[i].end = Now();
  {
    MutexLock lock(&mu_);
    parts_[i].ended = true;
    if (parts_[i].is_local) local_runs_ = false;
    --left_;
    changed_.SignalAll();
  }
  if (parts_[i].is_local) local_group_.Finish();
}

void RunningParts::Note(const Status& s, bool cancels) {
  {
    MutexLock lock(&mu_);
    failures_.push_back(s);
    changed_.SignalAll();
  }
  if (cancels) cancellation_.StartCancel(s);
}

void RunningParts::Fail(const Status& why) { Note(why, true); }

void RunningParts::FailAfterAsking(const Status& why) {
  struct Asked {
    Mutex mu;
    size_t left GUARDED_BY(mu) = 0;
    std::string text GUARDED_BY(mu);
    std::deque<pb::DescribeWaitsResponse> responses;
  };
  auto asked = std::make_shared<Asked>();
  std::vector<size_t> missing;
  {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].ended) missing.push_back(i);
    }
  }
  asked->responses.resize(missing.size());
  {
    MutexLock lock(&asked->mu);
    asked->left = missing.size() + 1;
  }
  const auto release = [self = shared_from_this(), asked, why] {
    std::string text;
    {
      MutexLock lock(&asked->mu);
      if (--asked->left > 0) return;
      text = asked->text;
    }
    self->Fail(Annotate(why, text));
  };
  for (size_t m = 0; m < missing.size(); ++m) {
    Part& p = parts_[missing[m]];
    CallOptions options;
    options.timeout = kHangReport;
    p.worker->DescribeWaits(
        options, pb::DescribeWaitsRequest(), &asked->responses[m],
        [asked, m, release, id = p.step_id, task = p.task](const Status& s) {
          if (s.ok() && asked->responses[m].task_size() > 0) {
            MutexLock lock(&asked->mu);
            for (const auto& step : asked->responses[m].task(0).step()) {
              if (step.step_id() != id || step.waits().empty()) continue;
              StrAppend(&asked->text, "; ", task, " waits: ", step.waits());
            }
          }
          release();
        });
  }
  release();
}

std::string RunningParts::WhoIsMissing() const {
  std::string missing;
  MutexLock lock(&mu_);
  for (const Part& p : parts_) {
    if (p.ended) continue;
    StrAppend(&missing, missing.empty() ? "; still waiting for " : ", ",
              p.where);
    if (p.begin == absl::InfiniteFuture()) continue;  // it is not called yet
    StrAppend(&missing, " since ", WaitDurationText(Now() - p.begin));
  }
  return missing;
}

Status RunningParts::status() const {
  MutexLock lock(&mu_);
  for (const Status& s : failures_) {
    if (!IsDerived(s)) return s;
  }
  if (!failures_.empty()) return Plain(failures_.front());
  return OkStatus();
}

}  // namespace headrace
