// MasterSession: one client's graph, and the steps that it runs on the tasks of
// the cluster. A step is a combination of feeds, fetches and targets: the first
// time it is pruned, placed over all devices, split by task and registered with
// the tasks; then every run of it starts all its parts at once.
#ifndef HEADRACE_DISTRIBUTED_MASTER_SESSION_H_
#define HEADRACE_DISTRIBUTED_MASTER_SESSION_H_

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/master.h"
#include "distributed/master_step.h"
#include "headrace/clock.h"
#include "headrace/graph.h"

namespace headrace {

// The parts of one run; master_session.cc.
class RunningParts;

// Thread-safe.
class MasterSession {
 public:
  static StatusOr<std::shared_ptr<MasterSession>> Create(
      const CallOptions& options, std::shared_ptr<Worker> worker,
      const pb::CreateSessionRequest& request, const pb::ConfigProto& config);
  ~MasterSession();

  // A reference during which the session counts as used.
  static std::shared_ptr<MasterSession> InUse(
      std::shared_ptr<MasterSession> session);
  // Since when nobody has used it; the future while somebody does.
  absl::Time IdleSince() const;
  // Forgets steps that were last run before then; they are built again when
  // they are asked for.
  void ForgetSteps(absl::Time before);
  // Tells the tasks that the session is there, if that was not done in the last
  // `period`. Does not wait. From one thread.
  void KeepWorkerSessions(absl::Duration period);

  const std::string& handle() const { return handle_; }
  bool from_network() const { return from_network_; }
  // The client's host; "" for a client of this process.
  const std::string& peer() const { return peer_; }
  Status Extend(const pb::ExtendSessionRequest& request,
                pb::ExtendSessionResponse* response);
  Status PartialRunSetup(const CallOptions& options,
                         const pb::PartialRunSetupRequest& request,
                         pb::PartialRunSetupResponse* response);
  Status Run(const CallOptions& options, RunStepCall call,
             RunStepResult* result);
  // See Master.
  bool WasQuick(const RunStepCall& call);
  Status MakeCallable(const CallOptions& options,
                      const pb::MakeCallableRequest& request,
                      pb::MakeCallableResponse* response);
  Status RunCallable(const CallOptions& options, RunCallableCall call,
                     RunCallableResult* result);
  Status ReleaseCallable(int64_t handle);
  void ListDevices(pb::ListDevicesResponse* response) const;
  // Cancels the runs in progress and ends the session at all tasks.
  void Close();

 private:
  using StepPtr = std::shared_ptr<const MasterStep>;
  using Request = MasterStep::Request;
  struct PartialRun {
    StepPtr step;
    int64_t id = 0;
    pb::RunOptions options;
    std::set<std::string> fed, fetched;
  };

  struct Callable {
    StepPtr step;
    pb::RunOptions options;
  };

  MasterSession(std::shared_ptr<Worker> worker, pb::ConfigProto config,
                std::string handle, const CallOptions& options);
  Status Start(const CallOptions& options,
               const pb::CreateSessionRequest& request);
  // The session's cluster is its config's, not the server's.
  bool propagates() const { return config_.cluster_def().job_size() > 0; }
  // A server's own state, as one task, is not another task's.
  bool isolates() const {
    return config_.isolate_session_state() ||
           (propagates() &&
            !config_.experimental()
                 .share_session_state_in_clusterspec_propagation());
  }
  // Collective ops have groups of this session's tasks, which are not those of
  // the server's cluster.
  bool has_own_groups() const { return !group_leader_.empty(); }
  Status FindGroupLeader(const pb::ConfigProto& asked);
  Status CreateWorkerSessions(const CallOptions& options);
  // Unimplemented if a task is TensorFlow's, which would ignore `what`, a
  // setting of Headrace.
  Status CheckTasksTake(const CallOptions& options, const char* what);
  // What calls to tasks keep until they are answered: the tasks live as long as
  // their cache; the one of this process, as its owner.
  std::shared_ptr<const void> Workers() const;
  bool ReportsCosts(const MasterStep& step) const;
  Status Import(const pb::GraphDef& def);
  void ForgetBeyondLimit();
  StepPtr FindStep(const std::string& key);  // null: it is not built
  Status FindOrBuild(const CallOptions& options, const Request& request,
                     StepPtr* step);
  Status Build(const CallOptions& options, const Request& request,
               StepPtr* step) REQUIRES(build_mu_);
  // `values` by number of the step's feeds, `wanted` of its fetches.
  struct Execution {
    int64_t id = 0;
    NamedTensors feeds;                // by key
    std::vector<std::string> fetches;  // keys
    const pb::RunOptions* options = nullptr;
    bool partial = false, last_partial = false;
  };
  Status Execute(const CallOptions& options, const StepPtr& step,
                 Execution execution, NamedTensors* fetched,
                 pb::RunMetadata* metadata);
  // Tells the tasks that the step has ended. After a failure, waits for some
  // seconds until nothing of it runs any more.
  void Cleanup(const MasterStep& step, int64_t id, bool failed);
  // Gives the execution an id, runs it and cleans up. A step with collective
  // ops of the server's cluster has an id that it shares with the steps of
  // other masters.
  Status ExecuteWhole(const CallOptions& options, const StepPtr& step,
                      Execution execution, NamedTensors* fetched,
                      pb::RunMetadata* metadata);
  Status RunPartial(const CallOptions& options, RunStepCall call,
                    RunStepResult* result);
  int64_t TimeoutOf(const pb::RunOptions& options) const {
    return options.timeout_in_ms() > 0 ? options.timeout_in_ms()
                                       : config_.operation_timeout_in_ms();
  }

  const std::shared_ptr<Worker> worker_;
  const pb::ConfigProto config_;
  const std::string handle_;
  // The client is no part of this process, so neither are its graphs.
  const bool from_network_;
  const std::string peer_;
  std::atomic<int64_t> users_{0};
  LastUse used_;
  absl::Time kept_ = Now();  // when the tasks were last told
  std::shared_ptr<WorkerCache> workers_;
  std::vector<std::string> tasks_;
  std::string group_leader_;  // "": that of the server's cluster
  std::atomic<bool> tasks_take_settings_{false};  // they have said so
  std::vector<pb::DeviceAttributes> attributes_;  // of all devices
  // On which nodes are placed; those of this task first.
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Device*> device_list_;
  std::shared_ptr<Graph> graph_;
  const std::shared_ptr<std::atomic<bool>> open_ =
      std::make_shared<std::atomic<bool>>(true);

  Mutex build_mu_;  // one step is built at a time; before graph_->mu() and mu_
  StatePlaces places_ GUARDED_BY(build_mu_);
  Mutex mu_;
  bool closed_ GUARDED_BY(mu_) = false;
  int64_t version_ GUARDED_BY(mu_) = 0;
  std::map<std::string, StepPtr> steps_ GUARDED_BY(mu_);
  int64_t next_callable_ GUARDED_BY(mu_) = 0;
  std::map<int64_t, std::shared_ptr<const Callable>> callables_ GUARDED_BY(mu_);
  int64_t next_partial_ GUARDED_BY(mu_) = 0;
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs_
      GUARDED_BY(mu_);
  std::set<std::shared_ptr<RunningParts>> running_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_MASTER_SESSION_H_
