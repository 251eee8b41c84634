// PartialRun: a step that is fed and fetched in several calls. Its executors
// run from the first moment; _Arg nodes wait for their values, and fetches are
// kept until somebody takes them.
#ifndef HEADRACE_SESSION_PARTIAL_RUN_H_
#define HEADRACE_SESSION_PARTIAL_RUN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task_group.h"
#include "base/wait_hook.h"
#include "framework/kernel/async_call_frame.h"
#include "session/compiled_step.h"

namespace headrace {

// Thread-safe.
class PartialRun : public AsyncCallFrame {
 public:
  // Lets the _Arg nodes of a step's graph wait for their values, and notes in
  // `step` what each fetch needs. Before the step is compiled further.
  // InvalidArgument if the client's graph has _Arg or _Retval nodes.
  static Status Adapt(Graph* client, CompiledStep* step);

  // `group`, of the step's tasks and loops, outlives this.
  PartialRun(std::shared_ptr<const CompiledStep> step, TaskGroup* group)
      : step_(std::move(step)),
        group_(group),
        feeds_(step_->feeds.size()),
        fetches_(step_->fetches.size()) {}

  const CompiledStep& step() const { return *step_; }

  // Gives values to feeds and waits for fetches, both by name ("x:0").
  // InvalidArgument for what was not declared, is given or taken a second time,
  // or needs feeds that have not come; then nothing has happened.
  // DeadlineExceeded after `timeout_ms` (0: none), which is for the caller to
  // turn into the end of the run; otherwise the step's own failure. Sets
  // `complete` when every feed was given and every fetch taken; the targets may
  // still be running. `hook` may be null.
  Status Call(const std::vector<std::pair<std::string, Tensor>>& feeds,
              const std::vector<std::string>& fetches, int64_t timeout_ms,
              WaitHook* hook, std::vector<Tensor>* outputs, bool* complete);

  // The step has ended so, or nobody is to wait for its end. The first counts.
  void Finish(const Status& status);
  // Waits for Finish; what it said. DeadlineExceeded after `timeout_ms`.
  // `hook` may be null.
  Status Wait(int64_t timeout_ms, WaitHook* hook);

  const Tensor* GetArg(int) const override { return nullptr; }
  Status SetRetval(int index, const Tensor& value) override;
  void WaitArg(int index, CancellationManager* cancellation,
               ArgCallback done) override;

 private:
  struct Feed {
    bool given = false;
    Tensor value;
    ArgCallback waiter;
    CancellationManager* cancellation = nullptr;
    CancellationManager::Token token = 0;
  };
  struct Fetch {
    bool taken = false;  // or being waited for
    std::optional<Tensor> value;
  };

  Status Find(const std::vector<std::pair<std::string, Tensor>>& feeds,
              const std::vector<std::string>& fetches,
              std::vector<int>* feed_index, std::vector<int>* fetch_index)
      REQUIRES(mu_);
  // Waits until `there()`, or until `deadline`: false. Lets go of mu_. Helps
  // with the step's loops, but does not take its tasks: such a task may go on
  // long after what this call waits for.
  template <typename F>
  bool WaitUntil(F there, absl::Time deadline, WaitHook* hook) REQUIRES(mu_);

  // Wakes those who wait.
  void Changed();

  const std::shared_ptr<const CompiledStep> step_;
  TaskGroup* const group_;
  std::atomic<uint64_t> changes_{0};
  Mutex mu_;  // never held while a waiter runs
  std::vector<Feed> feeds_ GUARDED_BY(mu_);
  std::vector<Fetch> fetches_ GUARDED_BY(mu_);
  std::optional<Status> finished_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_PARTIAL_RUN_H_
