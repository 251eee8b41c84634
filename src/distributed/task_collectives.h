// TaskCollectives: collective ops between the tasks of a cluster. One task, the
// leader, knows who is in a group, which device sends a broadcast, and the ids
// of steps; it is ConfigProto.experimental.collective_group_leader, or the
// first task of this task's job. Bytes come from the task that has them, by
// RecvBuf or by a CollectiveTransport.
//
// A server has one for the sessions of its own cluster. A session that brings a
// cluster has its own, with tasks as it names them: its requests carry its
// handle, by which another server finds the one there.
//
// Workers with a master each run one step together if their steps have one id:
// a graph with collective ops has a key, and the leader the key's next id.
#ifndef HEADRACE_DISTRIBUTED_TASK_COLLECTIVES_H_
#define HEADRACE_DISTRIBUTED_TASK_COLLECTIVES_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/worker_cache.h"
#include "framework/kernel/collective_transport.h"
#include "runtime/local_collectives.h"

namespace headrace {

// Environment variable: "grpc", the default, or "mpi", by which the processes
// of one mpirun exchange the bytes of collective ops.
inline constexpr char kCollectives[] = "HEADRACE_COLLECTIVES";

// Thread-safe.
class TaskCollectives : public LocalCollectives {
 public:
  // `session`: whose groups these are; "" for those of the server's cluster.
  TaskCollectives(std::string task, std::string leader,
                  std::string session = "")
      : task_(std::move(task)),
        leader_(std::move(leader)),
        session_(std::move(session)) {}

  // Before a step runs: the other tasks, and the incarnations of this task's
  // devices by name.
  void SetTasks(std::shared_ptr<WorkerCache> workers,
                std::map<std::string, uint64_t> incarnations);
  // Bytes of tasks that it reaches come by `transport`, not by gRPC. At once
  // after construction.
  void SetTransport(std::shared_ptr<CollectiveTransport> transport);
  // Lets go of the other tasks.
  void Shutdown();

  void FindGroup(const CollectiveMember& member,
                 CancellationManager* cancellation,
                 GroupCallback done) override;
  void FindSource(const CollectiveMember& member, int32_t instance_key,
                  bool is_source, CancellationManager* cancellation,
                  DeviceCallback done) override;
  void Send(int64_t step_id, const std::string& key, absl::string_view bytes,
            std::shared_ptr<const void> owner,
            CancellationManager* cancellation, DoneCallback taken) override;
  void Recv(int64_t step_id, const std::string& key, const std::string& from,
            void* to, size_t size, CancellationManager* cancellation,
            DoneCallback done) override;
  void Forget(int32_t group_key) override;

  // For a step with collective ops. Asks the leader if it has to, and waits.
  // FailedPrecondition while a step of this key runs here.
  StatusOr<int64_t> NextStepId(const CallOptions& options, int64_t graph_key);
  // The step has ended.
  void RetireStepId(int64_t graph_key, int64_t step_id, bool ok);

  // What other tasks ask this one for. Arguments live until `done`.
  void CompleteGroup(const CallOptions& options,
                     const pb::CompleteGroupRequest& request,
                     pb::CompleteGroupResponse* response,
                     WorkerInterface::StatusCallback done);
  void CompleteInstance(const CallOptions& options,
                        const pb::CompleteInstanceRequest& request,
                        pb::CompleteInstanceResponse* response,
                        WorkerInterface::StatusCallback done);
  Status GetStepSequence(const pb::GetStepSequenceRequest& request,
                         pb::GetStepSequenceResponse* response);

 private:
  struct Sequence {
    int64_t next = 0;  // 0: unknown
    bool runs = false;
  };
  bool leads() const { return leader_ == task_; }
  // FailedPrecondition, naming the leader, at another task.
  Status CheckLeads(const char* method) const;
  StatusOr<WorkerInterface*> FindTask(const std::string& task);
  void KeepGroup(int32_t key, const pb::CompleteGroupResponse& response);
  uint64_t IncarnationOf(const std::string& device);

  const std::string task_, leader_, session_;
  Mutex mu_;
  std::shared_ptr<WorkerCache> workers_ GUARDED_BY(mu_);
  std::shared_ptr<CollectiveTransport> transport_ GUARDED_BY(mu_);
  std::map<std::string, uint64_t> local_ GUARDED_BY(mu_);  // incarnations
  // What the leader has told, until a step fails: devices by rank.
  std::map<int32_t, std::vector<std::string>> known_groups_ GUARDED_BY(mu_);
  // Incarnations of their devices, as last told.
  std::map<std::string, uint64_t> told_ GUARDED_BY(mu_);
  std::map<std::pair<int32_t, int32_t>, std::string> known_sources_
      GUARDED_BY(mu_);
  // At the leader: of all devices that have joined a group.
  std::map<std::string, uint64_t> incarnations_ GUARDED_BY(mu_);
  std::map<int64_t, Sequence> sequences_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_TASK_COLLECTIVES_H_
