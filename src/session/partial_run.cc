#include "session/partial_run.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "base/wait_hook.h"
#include "framework/tensor/borrowed_buffer.h"
#include "graph/algorithm.h"
#include "graph/client_graph.h"
#include "headrace/clock.h"

namespace headrace {
namespace {

absl::Time DeadlineOf(int64_t timeout_ms) {
  return timeout_ms > 0 ? Now() + absl::Milliseconds(timeout_ms)
                        : absl::InfiniteFuture();
}

Status TimedOut(int64_t timeout_ms) {
  return errors::DeadlineExceeded(
      "Timed out waiting for notification: the "
      "partial run had no answer after ",
      timeout_ms, " ms");
}

}  // namespace

Status PartialRun::Adapt(Graph* client, CompiledStep* step) {
  std::vector<Node*> args, retvals;
  HR_RETURN_IF_ERROR(FindArgsAndRetvals(*client, step->feeds.size(),
                                        step->fetches.size(), &args, &retvals));
  step->fetch_needs.resize(step->fetches.size());
  for (size_t r = 0; r < retvals.size(); ++r) {
    const std::vector<bool> needed = ReachableBackwards(*client, {retvals[r]});
    for (size_t a = 0; a < args.size(); ++a) {
      if (needed[args[a]->id()]) {
        step->fetch_needs[r].push_back(static_cast<int>(a));
      }
    }
  }
  for (size_t a = 0; a < args.size(); ++a) {
    client->SetNodeAttr(args[a], "_kernel", "partial");
    client->SetNodeAttr(args[a], "_feed", step->feeds[a].name);
  }
  return OkStatus();
}

Status PartialRun::Find(
    const std::vector<std::pair<std::string, Tensor>>& feeds,
    const std::vector<std::string>& fetches, std::vector<int>* feed_index,
    std::vector<int>* fetch_index) {
  std::vector<bool> given(feeds_.size());
  for (size_t i = 0; i < feeds_.size(); ++i) given[i] = feeds_[i].given;
  for (const auto& [name, value] : feeds) {
    auto at =
        std::find_if(step_->feeds.begin(), step_->feeds.end(),
                     [&name = name](const auto& f) { return f.name == name; });
    if (at == step_->feeds.end()) {
      return errors::InvalidArgument("The feed ", name,
                                     " was not specified in "
                                     "partial_run_setup.");
    }
    const int i = static_cast<int>(at - step_->feeds.begin());
    if (given[i]) {
      return errors::InvalidArgument("The feed ", name,
                                     " has already been fed.");
    }
    HR_RETURN_IF_ERROR(step_->CheckFeed(i, value));
    given[i] = true;
    feed_index->push_back(i);
  }
  std::vector<bool> taken(fetches_.size());
  for (size_t i = 0; i < fetches_.size(); ++i) taken[i] = fetches_[i].taken;
  for (const std::string& name : fetches) {
    int found = -1;
    bool declared = false;
    for (size_t i = 0; i < step_->fetches.size() && found < 0; ++i) {
      if (step_->fetches[i] != name) continue;
      declared = true;
      if (!taken[i]) found = static_cast<int>(i);
    }
    if (found < 0) {
      return errors::InvalidArgument(
          "The fetch ", name,
          declared ? " has already been fetched."
                   : " was not specified in partial_run_setup.");
    }
    for (int f : step_->fetch_needs[found]) {
      if (!given[f]) {
        return errors::InvalidArgument(
            "Fetch ", name,
            " can't be computed from the feeds that have been fed so far. ",
            "It needs ", step_->feeds[f].name, ".");
      }
    }
    taken[found] = true;
    fetch_index->push_back(found);
  }
  return OkStatus();
}

template <typename F>
bool PartialRun::WaitUntil(F there, absl::Time deadline, WaitHook* hook) {
  ThreadPool* const loops = step_->parts[0].device->thread_pool();
  while (!there()) {
    const uint64_t seen = changes_.load();
    mu_.Unlock();
    const absl::Time next =
        hook == nullptr
            ? deadline
            : std::min(deadline,
                       Now() + absl::Milliseconds(WaitHook::kPeriodMs));
    const bool changed = ThreadPool::Help(
        group_, nullptr, loops, ThreadPool::HelpWith::kAllLoops,
        [this, seen] { return changes_.load() != seen; }, next);
    if (!changed && next != deadline) hook->Poll();
    mu_.Lock();
    if (!changed && next == deadline && !there()) return false;
  }
  return true;
}

void PartialRun::Changed() {
  changes_.fetch_add(1);
  group_->Nudge();
}

Status PartialRun::Call(
    const std::vector<std::pair<std::string, Tensor>>& feeds,
    const std::vector<std::string>& fetches, int64_t timeout_ms, WaitHook* hook,
    std::vector<Tensor>* outputs, bool* complete) {
  *complete = false;
  // The step goes on after this call, and what was lent for the call with it.
  std::vector<Tensor> given;
  for (const auto& [name, value] : feeds) given.push_back(value);
  HR_RETURN_IF_ERROR(OwnBytes(&given));
  std::vector<int> feed_index, fetch_index;
  std::vector<std::pair<ArgCallback, Tensor>> wake;
  {
    MutexLock lock(&mu_);
    HR_RETURN_IF_ERROR(Find(feeds, fetches, &feed_index, &fetch_index));
    for (size_t k = 0; k < feed_index.size(); ++k) {
      Feed& f = feeds_[feed_index[k]];
      f.given = true;
      f.value = std::move(given[k]);
      // If cancellation has begun its callback takes the waiter.
      if (f.waiter && f.cancellation->TryDeregisterCallback(f.token)) {
        wake.emplace_back(std::move(f.waiter), f.value);
        f.waiter = nullptr;
      }
    }
    for (int i : fetch_index) fetches_[i].taken = true;
  }
  for (auto& [waiter, value] : wake) waiter(OkStatus(), value);

  const absl::Time deadline = DeadlineOf(timeout_ms);
  MutexLock lock(&mu_);
  auto all_there = [&] {
    mu_.AssertHeld();
    for (int i : fetch_index) {
      if (!fetches_[i].value.has_value()) return false;
    }
    return true;
  };
  const auto through = [&] {
    mu_.AssertHeld();
    return all_there() || finished_.has_value();
  };
  if (!WaitUntil(through, deadline, hook)) return TimedOut(timeout_ms);
  if (finished_.has_value() && !finished_->ok()) return *finished_;
  std::vector<Tensor> values;
  for (size_t k = 0; k < fetch_index.size(); ++k) {
    std::optional<Tensor>& value = fetches_[fetch_index[k]].value;
    if (!value.has_value()) {
      return errors::InvalidArgument("Retval[", fetch_index[k],
                                     "] does not have value: ", fetches[k]);
    }
    values.push_back(std::move(*value));
  }
  *outputs = std::move(values);
  *complete = std::all_of(feeds_.begin(), feeds_.end(),
                          [](const Feed& f) { return f.given; }) &&
              std::all_of(fetches_.begin(), fetches_.end(),
                          [](const Fetch& f) { return f.taken; });
  return OkStatus();
}

void PartialRun::Finish(const Status& status) {
  MutexLock lock(&mu_);
  if (!finished_.has_value()) finished_ = status;
  Changed();
}

Status PartialRun::Wait(int64_t timeout_ms, WaitHook* hook) {
  const absl::Time deadline = DeadlineOf(timeout_ms);
  MutexLock lock(&mu_);
  const auto through = [&] {
    mu_.AssertHeld();
    return finished_.has_value();
  };
  if (!WaitUntil(through, deadline, hook)) return TimedOut(timeout_ms);
  return *finished_;
}

Status PartialRun::SetRetval(int index, const Tensor& value) {
  MutexLock lock(&mu_);
  if (index < 0 || index >= static_cast<int>(fetches_.size())) {
    return errors::Internal("Retval index ", index, " of ", fetches_.size());
  }
  fetches_[index].value = value;
  Changed();
  return OkStatus();
}

void PartialRun::WaitArg(int index, CancellationManager* cancellation,
                         ArgCallback done) {
  Tensor value;
  Status status;
  {
    MutexLock lock(&mu_);
    if (index < 0 || index >= static_cast<int>(feeds_.size())) {
      status = errors::Internal("argument ", index, " of ", feeds_.size());
    } else if (feeds_[index].given) {
      value = feeds_[index].value;
    } else {
      Feed& f = feeds_[index];
      f.waiter = done;
      f.cancellation = cancellation;
      f.token = cancellation->NextToken();
      if (cancellation->RegisterCallback(f.token, [this, index] {
            ArgCallback waiter;
            {
              MutexLock lock(&mu_);
              waiter = std::move(feeds_[index].waiter);
              feeds_[index].waiter = nullptr;
            }
            if (waiter) {
              waiter(errors::Cancelled("The partial run was ended."), Tensor());
            }
          })) {
        return;
      }
      f.waiter = nullptr;
      status = errors::Cancelled("The partial run was ended.");
    }
  }
  done(status, value);
}

}  // namespace headrace
