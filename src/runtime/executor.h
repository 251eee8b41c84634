// An Executor runs one partition of a graph on one device, any number of times,
// several at once. Making it builds an immutable plan: kernels, edges, pending
// counts; constants are bound to the inputs that read them and are never run.
//
// A step starts with the nodes that wait for nothing; each node that finishes
// hands its outputs to its consumers and makes some of them ready. Cheap ready
// nodes run on the thread that made them ready. So does one of the expensive
// ones; the others go to the pool. The first failure cancels the step's
// CancellationManager; the step then drains, and ends when nothing of it runs
// any more.
#ifndef HEADRACE_RUNTIME_EXECUTOR_H_
#define HEADRACE_RUNTIME_EXECUTOR_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/wait_hook.h"
#include "framework/kernel/rendezvous.h"
#include "headrace/graph.h"
#include "headrace/op_kernel.h"
#include "runtime/step_stats.h"

namespace headrace {

struct CallSite;       // runtime/call_site.h
class PendingCalls;    // runtime/pending_calls.h
class RunningKernels;  // runtime/running_kernels.h
class ReuseNotes;      // runtime/reuse_notes.h
class FunctionScope;   // framework/kernel/function_runtime.h
class StepArena;       // framework/memory/step_arena.h
class TaskGroup;       // base/task_group.h

// What the runs of one step share. All pointers outlive the step.
struct StepArgs {
  int64_t step_id = 0;
  CancellationManager* cancellation = nullptr;  // required
  Rendezvous* rendezvous = nullptr;             // if the plan sends or receives
  CallFrame* call_frame = nullptr;
  ResourceMgr* step_resources = nullptr;
  FunctionRuntime* functions = nullptr;
  const std::string* session_handle = nullptr;
  StepStatsCollector* stats = nullptr;  // null: not traced
  // For nodes that leave the thread on which they became ready; null: none do.
  ThreadPool* pool = nullptr;
  // Of the step's tasks and loops. Null: nobody who waits for them helps.
  TaskGroup* group = nullptr;
  const CallSite* call_site = nullptr;  // of a function; null at top level
  PendingCalls* pending = nullptr;      // null: nobody asks
  RunningKernels* running = nullptr;    // null: nobody leaves the step
  StepBudget* budget = nullptr;         // null: memory without a limit
  // Of the functions that are called; null: the session's.
  FunctionScope* function_scope = nullptr;
};

// What a run gives to the nodes of one executor. Unlike StepArgs, it is not for
// the functions that these nodes call.
struct RunMemory {
  const StepArena* arena = nullptr;  // null: no places are planned
  ReuseNotes* notes = nullptr;       // null: nobody plans
};

// Thread-safe.
class Executor {
 public:
  // Makes the kernel of a node or hands out one that the session keeps; the
  // executor shares ownership.
  using KernelFn =
      std::function<Status(const Node&, std::shared_ptr<OpKernel>*)>;
  // `complete`: every node that was to run has run. False only if the step was
  // cancelled before, by a failure in it or from outside.
  using DoneCallback = std::function<void(bool complete)>;

  struct Options {
    // This or another partition of the step has control flow, so that values
    // may be dead.
    bool control_flow = false;
    // The caller of a run keeps the arguments until the run ends. So _Arg nodes
    // have their value at once, and no kernel may write over it.
    bool args_are_kept = false;
    // Loops are numbered as TensorFlow 2 does, not as TensorFlow 1: all tasks
    // of a step must number them alike, for values inside loops cross by it.
    bool combines_frame_ids = false;
  };
  // `graph` is not needed later.
  static Status Create(Device* device, const Graph& graph,
                       const Options& options, const KernelFn& make_kernel,
                       std::unique_ptr<Executor>* out);
  virtual ~Executor() = default;

  // Runs on the calling thread as far as it can. Calls `done` when every node
  // of the partition has ended, or none runs any more after a failure or
  // cancellation; from any thread, perhaps before this returns. If the run is
  // not complete, args.cancellation->status() says why. Does not throw.
  void RunAsync(const StepArgs& args, DoneCallback done) {
    RunAsync(args, RunMemory(), std::move(done));
  }
  virtual void RunAsync(const StepArgs& args, const RunMemory& memory,
                        DoneCallback done) = 0;
  // RunAsync, and waits for `done`, whose `complete` it returns. The caller
  // works meanwhile: it finishes args.group, which is required. `hook` may be
  // null.
  virtual bool Run(const StepArgs& args, const RunMemory& memory,
                   WaitHook* hook) = 0;

  virtual Device* device() const = 0;
  // True if any node sends or receives.
  virtual bool needs_rendezvous() const = 0;
  virtual int num_nodes() const = 0;
  // True if there is a kernel that is neither cheap nor asynchronous.
  virtual bool may_run_long() const = 0;
  // The kernels of all nodes.
  virtual absl::Span<const std::shared_ptr<OpKernel>> kernels() const = 0;
  // The kernels of the nodes that run, by the number that each node has in an
  // ArenaLayout.
  virtual std::vector<const OpKernel*> RunKernels() const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_EXECUTOR_H_
