// DirectSession: the session that runs graphs in this process. Its calls are in
// three files: direct_session.cc finds or compiles steps, direct_session_run.cc
// runs them, direct_session_partial.cc has the partial runs.
//
// Three nouns carry a run: a CompiledStep, which is const; its StepHistory; and
// a StepRun, which lives as long as the run. See docs/design/0001 and 0011.
#ifndef HEADRACE_SESSION_DIRECT_SESSION_IMPL_H_
#define HEADRACE_SESSION_DIRECT_SESSION_IMPL_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/fork.h"
#include "base/thread_pool.h"
#include "framework/kernel/session_tensors.h"
#include "framework/tuning/algorithm_tuner.h"
#include "headrace/device.h"
#include "headrace/session.h"
#include "runtime/function_runtime.h"
#include "session/inter_op_pools.h"
#include "session/live_sessions.h"
#include "session/partial_runs.h"
#include "session/session_options.h"
#include "session/step_cache.h"
#include "session/step_compiler.h"
#include "session/step_run.h"

namespace headrace {

// Thread-safe.
class DirectSession : public Session, private LiveSessions::Member {
 public:
  // What kernels refer to. Steps share it, for they may outlive the session.
  struct Resources {
    std::unique_ptr<ThreadPool> intra;  // null: the process-wide pool
    std::unique_ptr<InterOpPools> inter;
    std::vector<std::unique_ptr<Device>> devices;  // not empty
  };

  // `tuner` may be null.
  DirectSession(SessionOptions options, std::shared_ptr<Resources> resources,
                RefPtr<AlgorithmTuner> tuner, std::shared_ptr<Graph> graph);
  // Closes the session and waits for the runs in progress.
  ~DirectSession() override;

  Status Run(const pb::RunOptions& options, absl::Span<const Feed> feeds,
             absl::Span<const Endpoint> fetches,
             absl::Span<Node* const> targets, std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata, RunToken token) override;
  StatusOr<std::shared_ptr<const Prepared>> Prepare(
      absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) override;
  Status RunPrepared(const Prepared& prepared, const pb::RunOptions& options,
                     absl::Span<const Tensor> feeds,
                     std::vector<Tensor>* outputs, pb::RunMetadata* metadata,
                     RunToken token) override;
  StatusOr<MemoryPlan> PlanMemory(
      absl::Span<const std::pair<Endpoint, TensorShape>> feeds,
      absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) override;
  StatusOr<std::string> PRunSetup(absl::Span<const Endpoint> feeds,
                                  absl::Span<const Endpoint> fetches,
                                  absl::Span<Node* const> targets) override;
  Status PRun(const std::string& handle, const pb::RunOptions& options,
              absl::Span<const Feed> feeds, absl::Span<const Endpoint> fetches,
              std::vector<Tensor>* outputs, RunToken token) override;
  void PRunClose(const std::string& handle) override;
  Status Close() override;
  std::vector<Device*> ListDevices() override { return device_list_; }

 private:
  using FeedPointers = absl::InlinedVector<const Tensor*, 4>;
  using StepPtr = std::shared_ptr<const CompiledStep>;

  // The time that a run has, in ms (0: no end); how much of it went into
  // compiling its step; and the token that ends it, which may be null.
  struct RunTime {
    // A run has at least so long after its step was compiled, to come to what
    // its error will name.
    static constexpr int64_t kMinRunMs = 10;

    explicit RunTime(int64_t timeout,
                     const CancellationManager* token = nullptr)
        : timeout(timeout), token(token) {}
    int64_t Left() const {
      return timeout > 0
                 ? std::max(timeout - spent, std::min(timeout, kMinRunMs))
                 : 0;
    }
    const int64_t timeout;
    const CancellationManager* const token;
    int64_t spent = 0;
  };

  void Reset(const std::vector<std::string>& containers) override;
  // What kernels refer to may be locked and half done: nobody destroys it.
  void Leak();

  // The step for feeds (endpoints, or pairs that begin with one), fetches and
  // targets, from the cache or compiled.
  template <typename Fed>
  Status FindOrCompile(absl::Span<const Fed> feeds,
                       absl::Span<const Endpoint> fetches,
                       absl::Span<Node* const> targets, FedShapes shapes,
                       RunTime* time, StepPtr* step);
  // Within the time of the run, and as long as nobody cancels it or closes the
  // session: else DeadlineExceeded or Cancelled.
  Status Compile(const StepCompiler::Request& request, RunTime* time,
                 StepPtr* step);

  // In ms; 0: none.
  int64_t TimeoutOf(const pb::RunOptions& options) const {
    return options.timeout_in_ms() > 0 ? options.timeout_in_ms()
                                       : options_.operation_timeout_ms;
  }
  // In bytes; 0: none.
  int64_t BudgetOf(const pb::RunOptions& options) const {
    return options.headrace().memory_budget_bytes() != 0
               ? options.headrace().memory_budget_bytes()
               : options_.memory_budget;
  }
  Status CheckRunOptions(const pb::RunOptions& options,
                         ThreadPool** pool) const;
  int64_t NextStepId() {
    return next_step_.fetch_add(1, std::memory_order_relaxed);
  }

  // One run, whose feeds fit the step.
  Status Execute(const CompiledStep& step, const pb::RunOptions& options,
                 const RunTime& time, const FeedPointers& feeds,
                 std::vector<Tensor>* outputs, pb::RunMetadata* metadata,
                 RunToken token);
  // The same on a thread of its own, so that the caller can leave the run if it
  // is in a kernel that takes long when it is cancelled.
  Status ExecuteLeavable(const RunTime& time, const CompiledStep& step,
                         const pb::RunOptions& options, ThreadPool* pool,
                         const FeedPointers& feeds,
                         std::vector<Tensor>* outputs,
                         pb::RunMetadata* metadata, RunToken token);
  // On OK the run is one of those in progress, and leaves them afterwards.
  Status Begin(const CompiledStep& step, const pb::RunOptions& options,
               ThreadPool* pool, bool wants_metadata, WholeRun* run);
  Status End(const CompiledStep& step, const pb::RunOptions& options,
             WholeRun* run, std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata);
  // Counts the run.
  bool ReportsCosts(const CompiledStep& step) const;

  void StartPartial(const std::shared_ptr<PartialStep>& p);

  const SessionOptions options_;
  const std::shared_ptr<Resources> resources_;
  const RefPtr<SessionTensors> session_tensors_ = MakeRef<SessionTensors>();
  const RefPtr<AlgorithmTuner> tuner_;
  ThreadPool* const inter_;
  const std::vector<Device*> device_list_;
  std::atomic<int64_t> next_step_{1};
  // Callers are inside, and work that goes on when they have left: partial
  // runs, runs that were left, calls of functions that no step waits for.
  const std::shared_ptr<ForkGate> gate_ = std::make_shared<ForkGate>();
  ForkGate calls_;  // the threads in calls of this session
  std::shared_ptr<SessionFunctions> functions_;
  // By pointers, so that Leak can let go of them.
  std::unique_ptr<RunningSteps> owned_running_ =
      std::make_unique<RunningSteps>();
  RunningSteps& running_ = *owned_running_;
  std::unique_ptr<PartialRuns> partial_runs_ = std::make_unique<PartialRuns>();
  std::unique_ptr<StepCompiler> compiler_;
  std::unique_ptr<StepCache> steps_ = std::make_unique<StepCache>();
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_DIRECT_SESSION_IMPL_H_
