#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/random.h"
#include "distributed/worker_interface.h"

namespace headrace {
namespace {

constexpr char kDerivedMark[] = "[_Derived_]";

class RemoteWorker : public WorkerInterface {
 public:
  RemoteWorker(std::shared_ptr<RpcChannel> channel, std::string where)
      : channel_(std::move(channel)), where_(std::move(where)) {}

  void GetStatus(const CallOptions& options, pb::GetStatusResponse* response,
                 StatusCallback done) override {
    CallWith("GetStatus", options, pb::GetStatusRequest(), response,
             std::move(done));
  }
  void CreateWorkerSession(const CallOptions& options,
                           const pb::CreateWorkerSessionRequest& request,
                           StatusCallback done) override {
    CallWith("CreateWorkerSession", options, request, nullptr, std::move(done));
  }
  void DeleteWorkerSession(const CallOptions& options,
                           const pb::DeleteWorkerSessionRequest& request,
                           StatusCallback done) override {
    CallWith("DeleteWorkerSession", options, request, nullptr, std::move(done));
  }
  void RegisterGraph(const CallOptions& options,
                     const pb::RegisterGraphRequest& request,
                     pb::RegisterGraphResponse* response,
                     StatusCallback done) override {
    CallWith("RegisterGraph", options, request, response, std::move(done));
  }
  void DeregisterGraph(const CallOptions& options,
                       const pb::DeregisterGraphRequest& request,
                       StatusCallback done) override {
    CallWith("DeregisterGraph", options, request, nullptr, std::move(done));
  }
  void CleanupGraph(const CallOptions& options, int64_t step_id,
                    StatusCallback done) override {
    pb::CleanupGraphRequest request;
    request.set_step_id(step_id);
    CallWith("CleanupGraph", options, request, nullptr, std::move(done));
  }
  void CleanupAll(const CallOptions& options,
                  const pb::CleanupAllRequest& request,
                  StatusCallback done) override {
    CallWith("CleanupAll", options, request, nullptr, std::move(done));
  }

  void RunGraph(const CallOptions& options, RunGraphCall call,
                RunGraphResult* result, StatusCallback done) override {
    WireWriter writer;
    writer.AddFields(call.header);
    pb::RunGraphRequest keys;
    for (std::string& key : call.recv_keys) keys.add_recv_key(std::move(key));
    writer.AddFields(keys);
    for (const auto& [key, value] : call.send) {
      writer.AddNamedTensor(pb::RunGraphRequest::kSendFieldNumber, key, value);
    }
    channel_->Call(
        "/tensorflow.WorkerService/RunGraph", writer.Finish(), options,
        [where = where_, result, done = std::move(done)](
            const Status& s, const WireBytes& bytes) {
          if (!s.ok()) return done(Name(where, "RunGraph", s));
          const Status read = ReadNamedTensors(
              "RunGraphResponse", bytes, pb::RunGraphResponse::kRecvFieldNumber,
              &result->recv, &result->header);
          if (read.ok() && result->header.status_code() != 0) {
            return done(Status(
                static_cast<absl::StatusCode>(result->header.status_code()),
                result->header.status_error_message()));
          }
          done(Name(where, "RunGraph", read));
        });
  }

  void RecvTensor(const CallOptions& options, int64_t step_id,
                  absl::string_view key, int64_t request_id,
                  TensorCallback done) override {
    pb::RecvTensorRequest request;
    request.set_step_id(step_id);
    request.set_rendezvous_key(std::string(key));
    request.set_request_id(request_id);
    channel_->Call(
        "/tensorflow.WorkerService/RecvTensor", ToWire(request), options,
        [where = where_, done = std::move(done)](const Status& s,
                                                 const WireBytes& bytes) {
          std::vector<Tensor> tensors;
          pb::RecvTensorResponse rest;
          Status read = s;
          if (read.ok()) {
            read = ReadTensors("RecvTensorResponse", bytes,
                               pb::RecvTensorResponse::kTensorFieldNumber,
                               &tensors, &rest);
          }
          if (read.ok() && tensors.size() != 1) {
            read = errors::Internal("RecvTensorResponse: ", tensors.size(),
                                    " tensors, wanted 1");
          }
          if (!read.ok()) {
            return done(Name(where, "RecvTensor", read), Tensor(), false);
          }
          done(read, tensors[0], rest.is_dead());
        });
  }

 private:
  // `response` may be null.
  void CallWith(const char* method, const CallOptions& options,
                const google::protobuf::MessageLite& request,
                google::protobuf::MessageLite* response, StatusCallback done) {
    channel_->Call(
        StrCat("/tensorflow.WorkerService/", method), ToWire(request), options,
        [where = where_, method, response, done = std::move(done)](
            const Status& s, const WireBytes& bytes) {
          if (!s.ok() || response == nullptr) {
            return done(Name(where, method, s));
          }
          done(Name(where, method, FromWire(method, bytes, response)));
        });
  }

  // Says who does not answer; what the task itself says needs no name.
  static Status Name(const std::string& where, absl::string_view method,
                     const Status& s) {
    if (!errors::IsUnavailable(s) && !errors::IsDeadlineExceeded(s)) return s;
    return Annotate(s, StrCat(" (", method, " of ", where, ")"));
  }

  const std::shared_ptr<RpcChannel> channel_;
  const std::string where_;
};

}  // namespace

std::unique_ptr<WorkerInterface> NewRemoteWorker(
    std::shared_ptr<RpcChannel> channel, std::string where) {
  return std::make_unique<RemoteWorker>(std::move(channel), std::move(where));
}

Status Derived(const Status& status) {
  if (status.ok() || IsDerived(status)) return status;
  return Status(status.code(), StrCat(kDerivedMark, status.message()));
}

bool IsDerived(const Status& status) {
  return absl::StartsWith(status.message(), kDerivedMark);
}

Status Plain(const Status& status) {
  if (!IsDerived(status)) return status;
  return Status(status.code(),
                absl::StripPrefix(status.message(), kDerivedMark));
}

int64_t NewRequestId() { return static_cast<int64_t>(RandomSeed64() | 1); }

}  // namespace headrace
