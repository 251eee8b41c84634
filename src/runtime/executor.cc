#include "runtime/executor.h"

#include <atomic>
#include <utility>
#include <vector>

#include "base/exceptions.h"
#include "base/task_group.h"
#include "runtime/executor_state.h"
#include "runtime/frame_propagator.h"
#include "runtime/help.h"
#include "runtime/simple_propagator.h"

namespace headrace {
namespace {

template <typename Propagator>
class ExecutorImpl : public Executor {
 public:
  explicit ExecutorImpl(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {
    idle_.reserve(kMaxIdle);  // giving back does not allocate
  }
  ~ExecutorImpl() override {
    for (State* s : idle_) delete s;
  }

  void RunAsync(const StepArgs& args, const RunMemory& memory,
                DoneCallback done) override {
    std::unique_ptr<State> state;
    const Status s = CatchExceptions([&] {
      state.reset(TakeState());
      state->Prepare(args, memory, [this](State* used, bool complete) {
        GiveBack(used, complete);
      });
      return OkStatus();
    });
    if (s.ok()) [[likely]] {
      state.release()->Start(std::move(done));
      return;
    }
    args.cancellation->StartCancel(s);
    if (args.rendezvous != nullptr) args.rendezvous->StartAbort(s);
    done(false);
  }

  bool Run(const StepArgs& args, const RunMemory& memory,
           WaitHook* hook) override {
    // Set by the callback and by the caller; only if the caller comes first
    // does it have to wait.
    struct {
      TaskGroup* group;
      std::atomic<bool> first_is_through{false};
      bool complete = false;
    } run{args.group};
    RunAsync(args, memory, [&run](bool complete) {
      run.complete = complete;
      if (run.first_is_through.exchange(true)) run.group->Finish();
    });
    if (!run.first_is_through.exchange(true)) {
      HelpUntilFinished(args.group, args.pool, plan_->device->thread_pool(),
                        CallersHelp(), hook);
    }
    return run.complete;
  }

  Device* device() const override { return plan_->device; }
  bool needs_rendezvous() const override { return plan_->needs_rendezvous; }
  bool may_run_long() const override { return plan_->may_run_long; }
  int num_nodes() const override {
    return static_cast<int>(plan_->nodes.size());
  }
  absl::Span<const std::shared_ptr<OpKernel>> kernels() const override {
    return plan_->kernels;
  }
  std::vector<const OpKernel*> RunKernels() const override {
    std::vector<const OpKernel*> kernels;
    for (const PlanNode& n : plan_->nodes) kernels.push_back(n.kernel);
    return kernels;
  }

 private:
  using State = ExecutorState<Propagator>;

  // States are kept between steps: to make one costs as much as a small step.
  State* TakeState() {
    {
      MutexLock lock(&mu_);
      if (!idle_.empty()) {
        State* s = idle_.back();
        idle_.pop_back();
        return s;
      }
    }
    return new State(*plan_);
  }
  // One that is not complete still holds values that nobody took. It is
  // destroyed, and they with it.
  void GiveBack(State* s, bool complete) {
    if (complete) {
      MutexLock lock(&mu_);
      if (idle_.size() < kMaxIdle) {
        idle_.push_back(s);
        return;
      }
    }
    delete s;
  }

  static constexpr size_t kMaxIdle = 8;
  const std::unique_ptr<Plan> plan_;
  Mutex mu_;
  std::vector<State*> idle_ GUARDED_BY(mu_);
};

}  // namespace

Status Executor::Create(Device* device, const Graph& graph,
                        const Options& options, const KernelFn& make_kernel,
                        std::unique_ptr<Executor>* out) {
  auto plan = std::make_unique<Plan>();
  HR_RETURN_IF_ERROR(
      BuildPlan(device, graph, options, make_kernel, plan.get()));
  if (options.control_flow) {
    *out = std::make_unique<ExecutorImpl<FramePropagator>>(std::move(plan));
  } else {
    *out = std::make_unique<ExecutorImpl<SimplePropagator>>(std::move(plan));
  }
  return OkStatus();
}

}  // namespace headrace
