#include "distributed/master.h"

namespace headrace {
namespace {

class RemoteMaster : public MasterInterface {
 public:
  RemoteMaster(std::shared_ptr<RpcChannel> channel, std::string target)
      : channel_(std::move(channel)), target_(std::move(target)) {}

  Status CreateSession(const CallOptions& options,
                       const pb::CreateSessionRequest& request,
                       pb::CreateSessionResponse* response) override {
    return Call("CreateSession", options, request, response);
  }
  Status ExtendSession(const CallOptions& options,
                       const pb::ExtendSessionRequest& request,
                       pb::ExtendSessionResponse* response) override {
    return Call("ExtendSession", options, request, response);
  }
  Status PartialRunSetup(const CallOptions& options,
                         const pb::PartialRunSetupRequest& request,
                         pb::PartialRunSetupResponse* response) override {
    return Call("PartialRunSetup", options, request, response);
  }
  Status CloseSession(const CallOptions& options,
                      const pb::CloseSessionRequest& request) override {
    pb::CloseSessionResponse response;
    return Call("CloseSession", options, request, &response);
  }
  Status ListDevices(const CallOptions& options,
                     const pb::ListDevicesRequest& request,
                     pb::ListDevicesResponse* response) override {
    return Call("ListDevices", options, request, response);
  }
  Status Reset(const CallOptions& options,
               const pb::ResetRequest& request) override {
    pb::ResetResponse response;
    return Call("Reset", options, request, &response);
  }
  Status MakeCallable(const CallOptions& options,
                      const pb::MakeCallableRequest& request,
                      pb::MakeCallableResponse* response) override {
    return Call("MakeCallable", options, request, response);
  }
  Status ReleaseCallable(const CallOptions& options,
                         const pb::ReleaseCallableRequest& request) override {
    pb::ReleaseCallableResponse response;
    return Call("ReleaseCallable", options, request, &response);
  }

  Status RunStep(const CallOptions& options, RunStepCall call,
                 RunStepResult* result) override {
    WireWriter writer;
    writer.AddFields(call.header);
    for (const auto& [name, value] : call.feeds) {
      writer.AddNamedTensor(pb::RunStepRequest::kFeedFieldNumber, name, value);
    }
    WireBytes bytes;
    HR_RETURN_IF_ERROR(CallBytes("RunStep", options, writer.Finish(), &bytes));
    HR_RETURN_IF_ERROR(ReadNamedTensors("RunStepResponse", bytes,
                                        pb::RunStepResponse::kTensorFieldNumber,
                                        &result->fetches, &result->header));
    if (result->header.status_code() == 0) return OkStatus();
    return Status(static_cast<absl::StatusCode>(result->header.status_code()),
                  result->header.status_error_message());
  }

  Status RunCallable(const CallOptions& options, RunCallableCall call,
                     RunCallableResult* result) override {
    WireWriter writer;
    writer.AddFields(call.header);
    for (const Tensor& value : call.feeds) {
      writer.AddTensor(pb::RunCallableRequest::kFeedFieldNumber, value);
    }
    WireBytes bytes;
    HR_RETURN_IF_ERROR(
        CallBytes("RunCallable", options, writer.Finish(), &bytes));
    return ReadTensors("RunCallableResponse", bytes,
                       pb::RunCallableResponse::kFetchFieldNumber,
                       &result->fetches, &result->header);
  }

 private:
  Status CallBytes(const char* method, const CallOptions& options,
                   WireBytes request, WireBytes* response) {
    const Status s =
        channel_->Call(StrCat("/tensorflow.MasterService/", method),
                       std::move(request), options, response);
    if (!errors::IsUnavailable(s) && !errors::IsDeadlineExceeded(s)) return s;
    return Annotate(s,
                    StrCat(" (", method, " of the master at ", target_, ")"));
  }

  Status Call(const char* method, const CallOptions& options,
              const google::protobuf::MessageLite& request,
              google::protobuf::MessageLite* response) {
    WireBytes bytes;
    HR_RETURN_IF_ERROR(CallBytes(method, options, ToWire(request), &bytes));
    return FromWire(method, bytes, response);
  }

  const std::shared_ptr<RpcChannel> channel_;
  const std::string target_;
};

}  // namespace

std::unique_ptr<MasterInterface> NewRemoteMaster(
    std::shared_ptr<RpcChannel> channel, std::string target) {
  return std::make_unique<RemoteMaster>(std::move(channel), std::move(target));
}

}  // namespace headrace
