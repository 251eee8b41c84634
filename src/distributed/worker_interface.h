// WorkerInterface: a task as masters and other tasks see it, in this process
// (Worker) or behind a channel (NewRemoteWorker).
#ifndef HEADRACE_DISTRIBUTED_WORKER_INTERFACE_H_
#define HEADRACE_DISTRIBUTED_WORKER_INTERFACE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distributed/rpc.h"
#include "distributed/tensor_wire.h"
#include "headrace/tensor.h"
#include "headrace/worker.pb.h"

namespace headrace {

// Not a method of TensorFlow's.
inline constexpr char kDescribeWaitsMethod[] =
    "/headrace.WorkerService/DescribeWaits";

// What starts one step of a registered graph, with its tensors apart from the
// message: `header` has neither send nor recv_key.
struct RunGraphCall {
  pb::RunGraphRequest header;
  NamedTensors send;  // by rendezvous key
  std::vector<std::string> recv_keys;
};

struct RunGraphResult {
  pb::RunGraphResponse header;  // without recv
  NamedTensors recv;
};

// Responses live until `done`. `done` is called once, from any thread, perhaps
// before the call returns, and must not block. Thread-safe.
class WorkerInterface {
 public:
  using StatusCallback = std::function<void(const Status&)>;
  using TensorCallback =
      std::function<void(const Status&, const Tensor&, bool is_dead)>;

  virtual ~WorkerInterface() = default;
  virtual void GetStatus(const CallOptions& options,
                         pb::GetStatusResponse* response,
                         StatusCallback done) = 0;
  virtual void CreateWorkerSession(
      const CallOptions& options, const pb::CreateWorkerSessionRequest& request,
      StatusCallback done) = 0;
  virtual void DeleteWorkerSession(
      const CallOptions& options, const pb::DeleteWorkerSessionRequest& request,
      StatusCallback done) = 0;
  virtual void RegisterGraph(const CallOptions& options,
                             pb::RegisterGraphRequest request,
                             pb::RegisterGraphResponse* response,
                             StatusCallback done) = 0;
  virtual void DeregisterGraph(const CallOptions& options,
                               const pb::DeregisterGraphRequest& request,
                               StatusCallback done) = 0;
  virtual void RunGraph(const CallOptions& options, RunGraphCall call,
                        RunGraphResult* result, StatusCallback done) = 0;
  // `done` comes when nothing of the step runs any more.
  virtual void CleanupGraph(const CallOptions& options, int64_t step_id,
                            StatusCallback done) = 0;
  virtual void CleanupAll(const CallOptions& options,
                          const pb::CleanupAllRequest& request,
                          StatusCallback done) = 0;
  virtual void RecvTensor(const CallOptions& options, int64_t step_id,
                          absl::string_view key, int64_t request_id,
                          TensorCallback done) = 0;
  // Reads `request.num_bytes()` bytes into `to`, which lives until `done`.
  virtual void RecvBuf(const CallOptions& options,
                       const pb::RecvBufRequest& request, void* to,
                       StatusCallback done) = 0;
  virtual void CompleteGroup(const CallOptions& options,
                             const pb::CompleteGroupRequest& request,
                             pb::CompleteGroupResponse* response,
                             StatusCallback done) = 0;
  virtual void CompleteInstance(const CallOptions& options,
                                const pb::CompleteInstanceRequest& request,
                                pb::CompleteInstanceResponse* response,
                                StatusCallback done) = 0;
  virtual void GetStepSequence(const CallOptions& options,
                               const pb::GetStepSequenceRequest& request,
                               pb::GetStepSequenceResponse* response,
                               StatusCallback done) = 0;
  // Not TensorFlow's: its servers answer Unimplemented.
  virtual void DescribeWaits(const CallOptions& options,
                             const pb::DescribeWaitsRequest& request,
                             pb::DescribeWaitsResponse* response,
                             StatusCallback done) = 0;
};

// `where` goes into errors: "/job:worker/replica:0/task:1 at localhost:2222".
std::unique_ptr<WorkerInterface> NewRemoteWorker(
    std::shared_ptr<RpcChannel> channel, std::string where);

// A failure that is a consequence of another one, elsewhere in the step: it
// loses to the other.
Status Derived(const Status& status);
bool IsDerived(const Status& status);
// Without the mark.
Status Plain(const Status& status);

// Non-zero. For requests that must not be served twice.
int64_t NewRequestId();

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WORKER_INTERFACE_H_
