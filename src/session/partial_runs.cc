#include "session/partial_runs.h"

#include "absl/strings/str_cat.h"

namespace headrace {

std::string PartialRuns::Add(std::shared_ptr<PartialStep> run,
                             std::shared_ptr<PartialStep>* dropped) {
  MutexLock lock(&mu_);
  if (runs_.size() >= limit_) {
    auto oldest = runs_.end();
    for (auto it = runs_.begin(); it != runs_.end(); ++it) {
      if (it->second->calls > 0) continue;
      if (oldest == runs_.end() || it->second->used < oldest->second->used) {
        oldest = it;
      }
    }
    if (oldest != runs_.end()) {
      *dropped = std::move(oldest->second);
      runs_.erase(oldest);
      has_dropped_ = true;
    }
  }
  run->used = ++uses_;
  std::string handle = absl::StrCat(next_++);
  runs_.emplace(handle, std::move(run));
  return handle;
}

Status PartialRuns::BeginCall(const std::string& handle,
                              std::shared_ptr<PartialStep>* run) {
  MutexLock lock(&mu_);
  const auto it = runs_.find(handle);
  if (it == runs_.end()) {
    return errors::InvalidArgument(
        "Must run 'setup' before performing partial runs! (handle '", handle,
        "'",
        has_dropped_
            ? absl::StrCat(": no such run, or it was dropped: a session keeps ",
                           limit_, " partial runs, those last continued")
            : "",
        ")");
  }
  *run = it->second;
  ++(*run)->calls;
  (*run)->used = ++uses_;
  return OkStatus();
}

void PartialRuns::EndCall(const std::string& handle, PartialStep* run,
                          bool is_over) {
  std::shared_ptr<PartialStep> gone;
  MutexLock lock(&mu_);
  --run->calls;
  if (!is_over) return;
  const auto it = runs_.find(handle);
  if (it == runs_.end() || it->second.get() != run) return;
  gone = std::move(it->second);
  runs_.erase(it);
}

std::shared_ptr<PartialStep> PartialRuns::Take(const std::string& handle) {
  MutexLock lock(&mu_);
  const auto it = runs_.find(handle);
  if (it == runs_.end()) return nullptr;
  std::shared_ptr<PartialStep> run = std::move(it->second);
  runs_.erase(it);
  return run;
}

void PartialRuns::Clear() {
  decltype(runs_) gone;
  MutexLock lock(&mu_);
  gone.swap(runs_);
}

}  // namespace headrace
