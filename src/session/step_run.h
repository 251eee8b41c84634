// StepRun: one run of a prepared step, and what the session that runs it and
// its caller do with it while it goes on.
#ifndef HEADRACE_SESSION_STEP_RUN_H_
#define HEADRACE_SESSION_STEP_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/wait_hook.h"
#include "framework/kernel/rendezvous.h"
#include "framework/kernel/step_budget.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_mgr.h"
#include "runtime/deadline_timer.h"
#include "runtime/function_runtime.h"
#include "runtime/running_kernels.h"
#include "session/prepared_step.h"
#include "session/running_steps.h"

namespace headrace {

// Whether a step with this status was cancelled, not failed by itself.
bool EndedFromOutside(const Status& s);

struct StepRun {
  // Fills `args`; `frame` and `session` live as long as this. `pool` may be
  // null.
  void Begin(int64_t id, const PreparedStep& step, CallFrame* frame,
             ThreadPool* pool, SessionFunctions* session);
  // Refuses tensors beyond so many bytes at once. After Begin.
  void LimitMemory(int64_t bytes);
  // Cancels with `why`. Thread-safe.
  void Abort(const Status& why);

  RunningStep running;
  ResourceMgr resources;
  RefPtr<Rendezvous> rendezvous;
  RefPtr<StepBudget> budget;
  StepArgs args;
  std::optional<StepFunctions> functions;
};

// Fed before it begins, fetched when it has ended.
struct WholeRun : StepRun {
  // Feeds in, fetches out.
  class Frame : public CallFrame {
   public:
    explicit Frame(size_t num_fetches) : values(num_fetches) {}
    const Tensor* GetArg(int i) const override {
      return i >= 0 && i < static_cast<int>(args.size()) ? args[i] : nullptr;
    }
    Status SetRetval(int i, const Tensor& value) override;

    absl::InlinedVector<const Tensor*, 4> args;
    std::vector<Tensor> values;
  };

  explicit WholeRun(size_t num_fetches) : frame(num_fetches) {}

  // Collects what `options` ask for, and the costs if `wants_costs`, which need
  // `wants_metadata`. After Begin.
  void Trace(const pb::RunOptions& options, bool wants_metadata,
             bool wants_costs);
  // Takes the memory that is planned for a run with these feeds. After Begin.
  void TakeArena(const PreparedStep& step);
  // Runs all parts and waits for them; `hook` may be null.
  void RunParts(const PreparedStep& step, WaitHook* hook);
  // After RunParts; `metadata` may be null.
  void Report(const PreparedStep& step, const pb::RunOptions& options,
              pb::RunMetadata* metadata);
  // How it ended; moves the fetched values to `outputs` on OK, unless that is
  // null. `graph` is the session's.
  Status Results(const PreparedStep& step, const Graph& graph,
                 std::vector<Tensor>* outputs);

  Frame frame;
  std::unique_ptr<StepStatsCollector> stats;  // null: not wanted
  RefPtr<StepArena> arena;
  std::unique_ptr<ReuseNotes> notes;
  bool traced = false, costs = false;
  bool complete = false;

 private:
  std::string largest_tensors_;  // goes into the message of a failure
};

// One whose caller may leave it to the thread on which it runs, because a
// kernel that takes long cannot be interrupted.
class LeavableRun : public WholeRun {
 public:
  // After Begin. Runs the step on a thread of its own and returns true when it
  // has ended, or false soon after it was cancelled: then the error is `why`,
  // the run goes on, and calls `left` when it is through. After true, it is the
  // caller who does so, and adds `why` to the error of a run that failed.
  // `hook` may be null.
  static bool RunAndWait(const std::shared_ptr<LeavableRun>& run,
                         WaitHook* hook, std::function<void()> left,
                         std::string* why);

  LeavableRun(std::shared_ptr<const PreparedStep> step,
              absl::Span<const Tensor* const> feeds);
  // Drops what may refer to the session.
  void Clear();

 private:
  void RunAlone(const std::function<void()>& left);

  const std::shared_ptr<const PreparedStep> step_;
  std::vector<Tensor> feeds_;
  RunningKernels kernels_;
  // Set by the end of the run and by who leaves it: whoever is second sees to
  // the rest.
  std::atomic<bool> first_is_through_{false};
  Notification done_;   // and not left
  Notification event_;  // done, or cancelled
};

// The deadline of a run (in ms; 0: none), of which some may have gone by
// already, and its caller's token (may be null), while this lives.
class RunLimits {
 public:
  RunLimits(int64_t timeout, int64_t left, CancellationManager* caller,
            StepRun* run);
  ~RunLimits();
  RunLimits(const RunLimits&) = delete;
  RunLimits& operator=(const RunLimits&) = delete;

 private:
  CancellationManager* const caller_;
  CancellationManager::Token token_ = 0;
  std::unique_ptr<Deadline> deadline_;
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_STEP_RUN_H_
