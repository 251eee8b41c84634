#include "distributed/running_parts.h"

#include <utility>

#include "base/wait_hook.h"
#include "headrace/clock.h"

namespace headrace {
namespace {

// After a failure that is a consequence of another, the cause may come for so
// long; then the other parts are cancelled.
constexpr absl::Duration kCauseMayCome = absl::Seconds(1);
// A part that was cancelled may take so long to end.
constexpr absl::Duration kGrace = absl::Seconds(10);
// How often silent tasks are asked whether they live, and how long they have
// to answer.
constexpr absl::Duration kHeartbeat = absl::Seconds(10);

}  // namespace

RunningParts::RunningParts(std::deque<Part> parts,
                           std::shared_ptr<const void> keep)
    : parts_(std::move(parts)), keep_(std::move(keep)), left_(parts_.size()) {}

void RunningParts::Start(size_t i) {
  Part& p = parts_[i];
  CallOptions options;
  options.cancellation = &cancellation_;
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
    {
      MutexLock lock(&mu_);
      if (left_ == 0) return;
      const bool often = hook != nullptr || !failures_.empty();
      changed_.WaitWithTimeout(
          &mu_, absl::Milliseconds(often ? WaitHook::kPeriodMs : 1000));
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
  MutexLock lock(&mu_);
  parts_[i].ended = true;
  --left_;
  changed_.SignalAll();
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

std::string RunningParts::WhoIsMissing() const {
  std::string missing;
  MutexLock lock(&mu_);
  for (const Part& p : parts_) {
    if (p.ended) continue;
    missing = StrCat(missing, missing.empty() ? "; still waiting for " : ", ",
                     p.where);
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
