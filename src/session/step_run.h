// StepRun: one run of a compiled step. It owns what only this run has: the
// cancellation manager, the step's resources, the rendezvous, the memory.
//
// Three kinds build on it. A WholeRun is fed before it begins and fetched when
// it has ended; it lies on the caller's stack. A LeavableRun is a WholeRun on
// the heap that runs on a thread of its own, because its caller may return
// before it. A PartialStep (partial_runs.h) is fed and fetched in several
// calls.
#ifndef HEADRACE_SESSION_STEP_RUN_H_
#define HEADRACE_SESSION_STEP_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/task_group.h"
#include "base/wait_hook.h"
#include "framework/kernel/rendezvous.h"
#include "framework/kernel/step_budget.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_mgr.h"
#include "runtime/deadline_timer.h"
#include "runtime/function_runtime.h"
#include "runtime/running_kernels.h"
#include "session/compiled_step.h"
#include "session/running_steps.h"

namespace headrace {

// True if a step with this status was cancelled, false if it failed by itself.
bool EndedFromOutside(const Status& s);

struct StepRun {
  // Fills `args`. `frame` and `session` live as long as this. `pool`, on which
  // expensive nodes run, may be null: then all run on the caller's thread.
  void Begin(int64_t id, const CompiledStep& step, CallFrame* frame,
             ThreadPool* pool, SessionFunctions* session);
  // Lets the run's tensors and scratch memory take at most so many bytes at
  // once: a kernel that wants more fails with ResourceExhausted. After Begin,
  // before the run starts.
  void LimitMemory(int64_t bytes);
  // Cancels the run with `why`, unless it is cancelled already. Thread-safe.
  void Abort(const Status& why);

  RunningStep running;
  ResourceMgr resources;
  RefPtr<Rendezvous> rendezvous;
  RefPtr<StepBudget> budget;  // null: no limit
  TaskGroup group;
  StepArgs args;  // points to the other members
  std::optional<StepFunctions> functions;
};

// Used by one thread; any may call Abort.
struct WholeRun : StepRun {
  // The feeds, in the order of CompiledStep::feeds, and the fetched values. The
  // caller owns the feeds until the run has ended.
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

  // Makes the run collect what Report will need. `wants_costs` implies
  // `wants_metadata`. After Begin.
  void Trace(const pb::RunOptions& options, bool wants_metadata,
             bool wants_costs);
  // Takes the memory that the step's history has planned for a run with these
  // feeds, if any. After Begin.
  void TakeArena(const CompiledStep& step);
  // Runs all parts, waits until all have ended, and sets `complete`. `hook` may
  // be null.
  void RunParts(const CompiledStep& step, WaitHook* hook);
  // After RunParts: fills `metadata` as far as `options` ask. It may be null.
  void Report(const CompiledStep& step, const pb::RunOptions& options,
              pb::RunMetadata* metadata);
  // After Report: OK, and the fetched values are moved to `outputs`, which may
  // be null; else the run's first failure, with the variables that it would
  // have needed. `graph` is the session's, where those are looked up.
  Status Results(const CompiledStep& step, const Graph& graph,
                 std::vector<Tensor>* outputs);

  Frame frame;
  std::unique_ptr<StepStatsCollector> stats;  // null: nobody wants any
  RefPtr<StepArena> arena;                    // null: none is planned
  std::unique_ptr<ReuseNotes> notes;          // null: none is to be planned
  bool traced = false, costs = false;         // what Report is to give
  bool complete = false;  // every node has run; set by RunParts

 private:
  std::string largest_tensors_;  // goes into the message of a failure
};

// A run whose caller may leave it to the thread on which it runs, because it is
// in a kernel that takes long and cannot be interrupted.
class LeavableRun : public WholeRun {
 public:
  // After Begin. Runs the step on a thread of its own. True: the run has ended,
  // and the caller calls `left`. False: the run was cancelled, and some
  // milliseconds later it was still in kernels that may outlast a run; it goes
  // on, and calls `left` itself when it ends. `why` is then, and after a run
  // that failed, what the caller adds to the error: which kernels were left or
  // waited for. `hook` may be null.
  static bool RunAndWait(const std::shared_ptr<LeavableRun>& run,
                         WaitHook* hook, std::function<void()> left,
                         std::string* why);

  LeavableRun(std::shared_ptr<const CompiledStep> step,
              absl::Span<const Tensor* const> feeds);
  // Drops what may refer to the session. After the run has ended.
  void Clear();

 private:
  void RunAlone(const std::function<void()>& left);

  const std::shared_ptr<const CompiledStep> step_;
  std::vector<Tensor> feeds_;
  RunningKernels kernels_;
  // Set by the run when it ends, and by the caller when it leaves it. The
  // second of the two sees that the other has been there.
  std::atomic<bool> first_is_through_{false};
  Notification done_;   // the run has ended, and the caller had not left it
  Notification event_;  // done_, or the run was cancelled
};

// While it lives, a deadline and a token of the caller cancel a run. The run
// had `timeout` ms (0: no deadline), of which `left` are left. `caller` may be
// null.
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
