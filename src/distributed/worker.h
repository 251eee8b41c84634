// Worker: a task of a cluster. It runs the parts of steps that masters register
// with it, and hands its tensors to other tasks.
#ifndef HEADRACE_DISTRIBUTED_WORKER_H_
#define HEADRACE_DISTRIBUTED_WORKER_H_

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/idle_watch.h"
#include "distributed/load_policy.h"
#include "distributed/network_options.h"
#include "distributed/request_ids.h"
#include "distributed/response_cache.h"
#include "distributed/step_rendezvous.h"
#include "distributed/task_collectives.h"
#include "distributed/tensor_pieces.h"
#include "distributed/worker_cache.h"
#include "distributed/worker_interface.h"
#include "distributed/worker_session.h"
#include "framework/kernel/session_tensors.h"
#include "framework/tuning/algorithm_tuner.h"
#include "headrace/config.pb.h"
#include "headrace/device.h"
#include "headrace/server.pb.h"
#include "session/inter_op_pools.h"

namespace headrace {

// Thread-safe. Calls end the quicker the less there is to do: RunGraph runs on
// the caller's thread as far as it can.
class Worker : public WorkerInterface {
 public:
  // `task` is "/job:worker/replica:0/task:0".
  static StatusOr<std::unique_ptr<Worker>> Create(
      const std::string& task, const ClusterSpec& cluster,
      const pb::ConfigProto& config);
  ~Worker() override;

  const std::string& task() const { return task_; }
  const std::vector<Device*>& devices() const { return devices_; }
  const std::shared_ptr<WorkerCache>& workers() const { return workers_; }
  ThreadPool* pool() const { return resources_->pools->first(); }
  // What clients of other processes may have and do. Before the first call.
  void SetLimits(LoadPolicy policy, const ServerLimits& limits);
  const LoadPolicy& policy() const { return policy_; }
  const ServerLimits& limits() const { return limits_; }
  TaskCollectives* collectives() const { return collectives_.get(); }
  // Ends all steps and forgets all sessions.
  void Shutdown();

  void GetStatus(const CallOptions& options, pb::GetStatusResponse* response,
                 StatusCallback done) override;
  void CreateWorkerSession(const CallOptions& options,
                           const pb::CreateWorkerSessionRequest& request,
                           StatusCallback done) override;
  void DeleteWorkerSession(const CallOptions& options,
                           const pb::DeleteWorkerSessionRequest& request,
                           StatusCallback done) override;
  void RegisterGraph(const CallOptions& options,
                     pb::RegisterGraphRequest request,
                     pb::RegisterGraphResponse* response,
                     StatusCallback done) override;
  void DeregisterGraph(const CallOptions& options,
                       const pb::DeregisterGraphRequest& request,
                       StatusCallback done) override;
  void RunGraph(const CallOptions& options, RunGraphCall call,
                RunGraphResult* result, StatusCallback done) override;
  void CleanupGraph(const CallOptions& options, int64_t step_id,
                    StatusCallback done) override;
  void CleanupAll(const CallOptions& options,
                  const pb::CleanupAllRequest& request,
                  StatusCallback done) override;
  // The request of another task: the tensor must be sent from a device of this
  // task. Aborted if the key is of a device of an earlier life of this task.
  void RecvTensor(const CallOptions& options, int64_t step_id,
                  absl::string_view key, int64_t request_id,
                  TensorCallback done) override;
  void RecvBuf(const CallOptions& options, const pb::RecvBufRequest& request,
               void* to, StatusCallback done) override;
  void CompleteGroup(const CallOptions& options,
                     const pb::CompleteGroupRequest& request,
                     pb::CompleteGroupResponse* response,
                     StatusCallback done) override;
  void CompleteInstance(const CallOptions& options,
                        const pb::CompleteInstanceRequest& request,
                        pb::CompleteInstanceResponse* response,
                        StatusCallback done) override;
  void GetStepSequence(const CallOptions& options,
                       const pb::GetStepSequenceRequest& request,
                       pb::GetStepSequenceResponse* response,
                       StatusCallback done) override;
  void DescribeWaits(const CallOptions& options,
                     const pb::DescribeWaitsRequest& request,
                     pb::DescribeWaitsResponse* response,
                     StatusCallback done) override;

  // The graph of this RunGraph computes nothing: it sends and receives values
  // that are there, such as variables.
  bool OnlyHandsOut(const pb::RunGraphRequest& request);
  // RecvBuf without a copy: the bytes are alive as long as their owner.
  void TakeBuf(const CallOptions& options, const pb::RecvBufRequest& request,
               LocalCollectives::TakeCallback done);
  // If the tensor is too large for one message: keeps it, and describes the
  // pieces in which RecvBuf gives it.
  bool KeepInPieces(int64_t step_id, const Tensor& value,
                    pb::TensorPiecesResponse* pieces);

 private:
  struct PartialStep;
  // What kernels refer to. Sessions share it.
  struct Resources {
    std::unique_ptr<InterOpPools> pools;
    std::unique_ptr<ThreadPool> intra;  // null: the process-wide one
    std::vector<std::unique_ptr<Device>> devices;
    static void Delete(Resources* resources);
  };

  explicit Worker(std::string task);
  // With names of `task`, which a session may call this one. `collectives` may
  // be null.
  Status MakeDevices(const std::string& task,
                     const RefPtr<TaskCollectives>& collectives,
                     std::vector<std::unique_ptr<Device>>* out) const;
  Status FindSession(const std::string& handle, bool created,
                     std::shared_ptr<WorkerSession>* out);
  Status MakeSession(const pb::CreateWorkerSessionRequest& request);
  // Of a session that brings a cluster and has groups of its own; null if the
  // master asks for none.
  StatusOr<RefPtr<TaskCollectives>> MakeCollectives(
      const pb::CreateWorkerSessionRequest& request,
      const std::shared_ptr<WorkerCache>& workers) const;
  // Those of this session; of the server's cluster if `session` is empty.
  StatusOr<RefPtr<TaskCollectives>> FindCollectives(const std::string& session);
  Status BeginRun(const CallOptions& options, const RunGraphCall& call,
                  std::shared_ptr<GraphRun>* run);
  void RunWhole(const CallOptions& options, std::shared_ptr<GraphRun> run,
                std::vector<std::string> recv_keys, RunGraphResult* result,
                StatusCallback done);
  void RunPartial(const CallOptions& options, RunGraphCall call,
                  RunGraphResult* result, StatusCallback done);
  // `device` is as this task's own cluster or that of a session names it.
  Status CheckIncarnation(absl::string_view method, absl::string_view device,
                          uint64_t incarnation);
  // Ends sessions, and graphs and steps of masters that create no sessions,
  // that no master has named for twice the limit's time: it is gone.
  void EndIdle();
  // Sessions with a step that runs count as used. Ids of the steps that run, or
  // that are fed in pieces.
  std::set<int64_t> TouchRunning();
  // Of sessions that have ended, and those idle ones of masters without.
  std::vector<int64_t> FindIdlePartialSteps(
      absl::Time before,
      const std::vector<std::shared_ptr<WorkerSession>>& ended);
  // The server's, and those that sessions brought.
  std::vector<std::shared_ptr<WorkerCache>> Clusters();
  void DescribeRuns(pb::TaskWaitsResponse* out);

  const std::string task_;
  const std::shared_ptr<Resources> resources_{new Resources,
                                              &Resources::Delete};
  pb::ConfigProto config_;
  LoadPolicy policy_;
  ServerLimits limits_;
  std::vector<Device*> devices_;
  const RefPtr<SessionTensors> session_tensors_ = MakeRef<SessionTensors>();
  RefPtr<AlgorithmTuner> tuner_;  // null: nobody measures
  std::shared_ptr<WorkerCache> workers_;
  RefPtr<TaskCollectives> collectives_;
  StepTable steps_;
  RequestIds request_ids_{100000};
  ResponseCache responses_{100000, size_t{64} << 20};
  PieceTable pieces_;
  std::atomic<int64_t> next_graph_{1};
  Mutex mu_;
  CondVar changed_;
  int64_t running_ GUARDED_BY(mu_) = 0;  // RunGraphs that have not called back
  // For masters that create no sessions.
  std::shared_ptr<WorkerSession> legacy_session_ GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions_
      GUARDED_BY(mu_);
  std::map<int64_t, std::shared_ptr<PartialStep>> partial_steps_
      GUARDED_BY(mu_);
  // What runs, for DescribeWaits.
  std::map<const GraphRun*, std::weak_ptr<GraphRun>> runs_ GUARDED_BY(mu_);
  std::unique_ptr<IdleWatch> watch_;  // null: sessions stay
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WORKER_H_
