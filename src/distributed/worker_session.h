// WorkerSession: what one master session has on a task: its devices, kernels
// with state, functions and registered graphs. GraphRun: one step of such a
// graph.
#ifndef HEADRACE_DISTRIBUTED_WORKER_SESSION_H_
#define HEADRACE_DISTRIBUTED_WORKER_SESSION_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/task_group.h"
#include "distributed/idle_watch.h"
#include "distributed/step_rendezvous.h"
#include "distributed/worker_cache.h"
#include "framework/kernel/step_budget.h"
#include "headrace/clock.h"
#include "headrace/device.h"
#include "headrace/graph.h"
#include "headrace/resource_mgr.h"
#include "runtime/executor.h"
#include "runtime/function_runtime.h"
#include "runtime/passes/graph_pass.h"
#include "runtime/pending_calls.h"
#include "runtime/shared_kernels.h"
#include "runtime/step_stats.h"

namespace headrace {

class RegisteredGraph;
class TaskCollectives;

// Thread-safe.
class WorkerSession : public std::enable_shared_from_this<WorkerSession> {
 public:
  // `devices` are the server's, or those of `owned`, which may be empty.
  // `resources` keeps the server's devices and threads, `pool` among them.
  // `combines_frame_ids` as in Executor::Options. `settings` are valid.
  // `collectives` have the session's own groups; null: groups are the server's.
  WorkerSession(std::string handle, std::shared_ptr<WorkerCache> workers,
                std::shared_ptr<const void> resources,
                std::vector<Device*> devices,
                std::vector<std::unique_ptr<Device>> owned, ThreadPool* pool,
                bool combines_frame_ids,
                const pb::ConfigProto::Headrace& settings = {},
                RefPtr<TaskCollectives> collectives = {});
  // No step runs any more.
  ~WorkerSession();

  const std::string& handle() const { return handle_; }
  const std::shared_ptr<WorkerCache>& workers() const { return workers_; }
  ThreadPool* pool() const { return pool_; }
  SessionFunctions* functions() const { return functions_.get(); }
  const RefPtr<TaskCollectives>& collectives() const { return collectives_; }

  // Compiles the graph for this task's devices and keeps it as `handle`.
  // InvalidArgument for what is no valid graph, and for a node whose device is
  // not here. Runs of it may have `step_bytes` of tensors at once; 0: no limit.
  Status Register(const std::string& handle,
                  const pb::RegisterGraphRequest& request, int64_t step_bytes);
  Status Deregister(const std::string& handle);
  // Aborted if there is none: this task may have been restarted.
  Status Find(const std::string& handle,
              std::shared_ptr<RegisteredGraph>* out) const;
  // Lets go of all graphs.
  void Clear();
  // Lets go of graphs that were last run before then and are not run now.
  void ClearIdle(absl::Time before);

  LastUse* used() { return &used_; }

 private:
  friend class RegisteredGraph;
  Device* FindDevice(const std::string& name) const;
  const std::string handle_;
  const std::shared_ptr<WorkerCache> workers_;
  const std::shared_ptr<const void> resources_;
  const std::vector<std::unique_ptr<Device>> owned_;
  const std::vector<Device*> devices_;
  ThreadPool* const pool_;
  const bool combines_frame_ids_;  // see Executor::Options
  const pb::ConfigProto::Headrace settings_;
  const RefPtr<TaskCollectives> collectives_;
  const std::shared_ptr<FunctionLibrary> library_;
  std::shared_ptr<SessionFunctions> functions_;
  LastUse used_;
  mutable Mutex mu_;  // not held while a graph is compiled
  std::map<std::string, std::shared_ptr<RegisteredGraph>> graphs_
      GUARDED_BY(mu_);
  SharedKernels kernels_;
};

// Const once it is made, except `used`.
class RegisteredGraph {
 public:
  struct Part {
    Device* device = nullptr;
    std::unique_ptr<Graph> graph;
    std::unique_ptr<Executor> executor;
  };

  std::shared_ptr<WorkerSession> session;  // first: it owns devices and kernels
  std::string handle;
  int64_t step_bytes = 0;     // ServerLimits::step_bytes
  int64_t memory_budget = 0;  // of the session's settings; 0: none
  std::vector<Part> parts;
  std::vector<GraphPassReport> passes;  // of each part
  bool only_hands_out = true;           // see Worker::OnlyHandsOut

  LastUse used;
};

// One step of a registered graph, from Start until `done`. Thread-safe.
class GraphRun : public std::enable_shared_from_this<GraphRun> {
 public:
  GraphRun(std::shared_ptr<RegisteredGraph> graph, int64_t step_id,
           RefPtr<StepRendezvous> rendezvous, const pb::ExecutorOpts& options);
  ~GraphRun();

  // Runs on the calling thread as far as it can. Calls `done` once, when
  // nothing of the step runs any more. Who helps with `group` finishes it after
  // `done`; null: nobody does.
  void Start(TaskGroup* group, std::function<void(const Status&)> done);
  // The same; the calling thread works for the step until it has ended.
  void StartAndHelp(std::function<void(const Status&)> done);
  // There is a kernel that is neither cheap nor asynchronous.
  bool may_run_long() const;
  // Cancels the step, unless it is cancelled already.
  void Abort(const Status& why);
  // Calls `then` when nothing of the step runs any more; at once if it has
  // ended.
  void WhenEnded(std::function<void()> then);

  WorkerSession* session() const { return graph_->session.get(); }
  StepRendezvous* rendezvous() { return rendezvous_.get(); }
  CancellationManager* cancellation() { return &cancellation_; }
  ResourceMgr* resources() { return &resources_; }
  Device* device() const { return graph_->parts[0].device; }
  int64_t step_id() const { return args_.step_id; }
  absl::Time begin() const { return begin_; }
  bool has_ended() const { return parts_left_ == 0; }
  // "node 'a' (_Recv) for tensor 'b' from /job:ps/...", for each call that has
  // not called back.
  std::string DescribeWaits();
  // What the options asked to be told. After `done`.
  void Report(pb::RunGraphResponse* response);

 private:
  void PartEnded(bool complete);
  std::vector<std::function<void()>> End();

  const std::shared_ptr<RegisteredGraph> graph_;
  const pb::ExecutorOpts options_;
  const RefPtr<StepRendezvous> rendezvous_;
  CancellationManager cancellation_;
  PendingCalls pending_;
  ResourceMgr resources_;
  RefPtr<StepBudget> budget_;  // null: memory without a limit
  std::unique_ptr<StepStatsCollector> stats_;
  std::shared_ptr<EdgeLog> edges_;  // null: nobody traces
  StepArgs args_;
  std::optional<StepFunctions> functions_;
  std::function<void(const Status&)> done_;
  TaskGroup own_group_;  // of StartAndHelp
  const absl::Time begin_ = Now();
  std::atomic<size_t> parts_left_{0};
  std::atomic<bool> complete_{true};
  Mutex mu_;
  bool ended_ GUARDED_BY(mu_) = false;
  std::vector<std::function<void()>> when_ended_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WORKER_SESSION_H_
