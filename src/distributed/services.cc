#include "distributed/services.h"

#include <atomic>
#include <utility>

#include "base/exceptions.h"
#include "base/thread_pool.h"
#include "base/waiting_threads.h"
#include "distributed/tensor_pieces.h"
#include "headrace/clock.h"

namespace headrace {
namespace {

using CallPtr = std::shared_ptr<RpcCall>;

// To read a larger request is work for another thread than gRPC's.
constexpr size_t kSmallRequest = 4096;

CallOptions OptionsOf(const CallPtr& call) {
  CallOptions options;
  options.cancellation = call->cancellation();
  options.from_network = true;
  options.peer = call->peer();
  return options;
}

// Where a call that may block or compute long is served.
void OnThread(const CallPtr& call, std::function<Status()> serve) {
  auto run = [call, serve = std::move(serve)] {
    const Status s = CatchExceptions(serve);
    if (!s.ok()) call->Finish(s, WireBytes());
  };
  if (!StartWaitingThread(run)) {
    call->Finish(errors::ResourceExhausted("no thread for the call"),
                 WireBytes());
  }
}

// A method whose request and response are plain messages. `serve` gets both and
// a callback.
template <typename Request, typename Response, typename Serve>
RpcHandler Plain(const char* name, Serve serve) {
  return [name, serve](CallPtr call) {
    auto request = std::make_shared<Request>();
    const Status s = CatchExceptions(
        [&] { return FromWire(name, call->request(), request.get()); });
    if (!s.ok()) return call->Finish(s, WireBytes());
    auto response = std::make_shared<Response>();
    serve(call, request, response.get(),
          [call, request, response](const Status& status) {
            call->Finish(status, status.ok() ? ToWire(*response) : WireBytes());
          });
  };
}

Status ReadRunGraph(const CallPtr& call, RunGraphCall* run) {
  HR_RETURN_IF_ERROR(ReadNamedTensors("RunGraphRequest", call->request(),
                                      pb::RunGraphRequest::kSendFieldNumber,
                                      &run->send, &run->header));
  for (std::string& key : *run->header.mutable_recv_key()) {
    run->recv_keys.push_back(std::move(key));
  }
  run->header.clear_recv_key();
  return OkStatus();
}

void RunGraphNow(const std::shared_ptr<Worker>& worker, const CallPtr& call,
                 RunGraphCall run) {
  const bool in_body = run.header.store_errors_in_response_body();
  auto result = std::make_shared<RunGraphResult>();
  worker->RunGraph(
      OptionsOf(call), std::move(run), result.get(),
      [call, result, in_body](const Status& s) {
        if (!s.ok() && !in_body) return call->Finish(s, WireBytes());
        if (!s.ok()) {
          result->header.set_status_code(
              static_cast<pb::error::Code>(s.code()));
          result->header.set_status_error_message(std::string(s.message()));
        }
        WireWriter writer;
        writer.AddFields(result->header);
        for (const auto& [key, value] : result->recv) {
          if (!s.ok()) break;
          writer.AddNamedTensor(pb::RunGraphResponse::kRecvFieldNumber, key,
                                value);
        }
        call->Finish(OkStatus(), writer.Finish());
      });
}

void ServeRunGraph(const std::shared_ptr<Worker>& worker, const CallPtr& call) {
  auto run = std::make_shared<RunGraphCall>();
  const bool small = call->request().size() <= kSmallRequest;
  if (small) {
    const Status s =
        CatchExceptions([&] { return ReadRunGraph(call, run.get()); });
    if (!s.ok()) return call->Finish(s, WireBytes());
    // Another thread would take longer to wake up.
    if (worker->OnlyHandsOut(run->header)) {
      return RunGraphNow(worker, call, std::move(*run));
    }
  }
  worker->pool()->Schedule([worker, call, run, small] {
    const Status s = CatchExceptions([&] {
      if (!small) HR_RETURN_IF_ERROR(ReadRunGraph(call, run.get()));
      RunGraphNow(worker, call, std::move(*run));
      return OkStatus();
    });
    if (!s.ok()) call->Finish(s, WireBytes());
  });
}

void ServeRecvTensor(const std::shared_ptr<Worker>& worker,
                     const CallPtr& call) {
  pb::RecvTensorRequest request;
  const Status s = CatchExceptions(
      [&] { return FromWire("RecvTensor", call->request(), &request); });
  if (!s.ok()) return call->Finish(s, WireBytes());
  const bool takes_pieces =
      request.transport_options().type_url() == kPiecesUrl;
  worker->RecvTensor(
      OptionsOf(call), request.step_id(), request.rendezvous_key(),
      request.request_id(),
      [call, worker, takes_pieces, step_id = request.step_id()](
          const Status& status, const Tensor& value, bool is_dead) {
        if (!status.ok()) return call->Finish(status, WireBytes());
        const Status sent = CatchExceptions([&] {
          WireWriter writer;
          pb::TensorPiecesResponse pieces;
          if (takes_pieces && !is_dead &&
              worker->KeepInPieces(step_id, value, &pieces)) {
            pb::RecvTensorResponse response;
            response.set_send_start_micros(absl::ToUnixMicros(Now()));
            response.mutable_transport_options()->set_type_url(kPiecesUrl);
            response.mutable_transport_options()->set_value(
                pieces.SerializeAsString());
            call->Finish(OkStatus(), ToWire(response));
            return OkStatus();
          }
          if (is_dead) {
            writer.AddVarint(pb::RecvTensorResponse::kIsDeadFieldNumber, 1);
          }
          writer.AddVarint(pb::RecvTensorResponse::kSendStartMicrosFieldNumber,
                           static_cast<uint64_t>(absl::ToUnixMicros(Now())));
          writer.AddTensor(pb::RecvTensorResponse::kTensorFieldNumber, value);
          call->Finish(OkStatus(), writer.Finish());
          return OkStatus();
        });
        if (!sent.ok()) call->Finish(sent, WireBytes());
      });
}

void ServeRecvBuf(const std::shared_ptr<Worker>& worker, const CallPtr& call) {
  pb::RecvBufRequest request;
  const Status s = CatchExceptions(
      [&] { return FromWire("RecvBuf", call->request(), &request); });
  if (!s.ok()) return call->Finish(s, WireBytes());
  worker->TakeBuf(
      OptionsOf(call), request,
      [call](const Status& status, absl::string_view bytes,
             const std::shared_ptr<const void>& owner) {
        if (!status.ok()) return call->Finish(status, WireBytes());
        const Status sent = CatchExceptions([&] {
          WireWriter writer;
          writer.AddVarint(pb::RecvBufResponse::kNumBytesFieldNumber,
                           bytes.size());
          writer.AddVarint(pb::RecvBufResponse::kSendStartMicrosFieldNumber,
                           static_cast<uint64_t>(absl::ToUnixMicros(Now())));
          writer.AddBuffer(pb::RecvBufResponse::kTransportOptionsFieldNumber,
                           bytes, owner);
          call->Finish(OkStatus(), writer.Finish());
          return OkStatus();
        });
        if (!sent.ok()) call->Finish(sent, WireBytes());
      });
}

Status ReadRunStep(const CallPtr& call, RunStepCall* step) {
  return ReadNamedTensors("RunStepRequest", call->request(),
                          pb::RunStepRequest::kFeedFieldNumber, &step->feeds,
                          &step->header);
}

// Leave to serve a whole step on the thread of gRPC that its call arrived on.
// One call of the process has it at a time, for gRPC has two such threads or
// more, and another has to receive what the step waits for.
class ThreadLeave {
 public:
  ThreadLeave() : has_(!Taken()->exchange(true)) {}
  ~ThreadLeave() {
    if (has_) *Taken() = false;
  }
  ThreadLeave(const ThreadLeave&) = delete;
  ThreadLeave& operator=(const ThreadLeave&) = delete;
  bool has() const { return has_; }

 private:
  static std::atomic<bool>* Taken() {
    static std::atomic<bool> taken{false};
    return &taken;
  }
  const bool has_;
};

Status RunStepNow(const std::shared_ptr<Master>& master, const CallPtr& call,
                  RunStepCall step) {
  const bool in_body = step.header.store_errors_in_response_body();
  RunStepResult result;
  const Status s = master->RunStep(OptionsOf(call), std::move(step), &result);
  if (!s.ok()) {
    if (!in_body) return s;
    pb::RunStepResponse failed;
    failed.set_status_code(static_cast<pb::error::Code>(s.code()));
    failed.set_status_error_message(std::string(s.message()));
    call->Finish(OkStatus(), ToWire(failed));
    return OkStatus();
  }
  WireWriter writer;
  for (const auto& [name, value] : result.fetches) {
    writer.AddNamedTensor(pb::RunStepResponse::kTensorFieldNumber, name, value);
  }
  writer.AddFields(result.header);
  call->Finish(OkStatus(), writer.Finish());
  return OkStatus();
}

void ServeRunStep(const std::shared_ptr<Master>& master, const CallPtr& call) {
  auto step = std::make_shared<RunStepCall>();
  const bool small = call->request().size() <= kSmallRequest;
  if (small) {
    Status s = CatchExceptions([&] { return ReadRunStep(call, step.get()); });
    if (s.ok()) {
      // Another thread would take longer to wake up than the step takes.
      const ThreadLeave leave;
      if (leave.has() && master->WasQuick(*step)) {
        s = CatchExceptions(
            [&] { return RunStepNow(master, call, std::move(*step)); });
        if (s.ok()) return;
      }
    }
    if (!s.ok()) return call->Finish(s, WireBytes());
  }
  OnThread(call, [=]() -> Status {
    if (!small) HR_RETURN_IF_ERROR(ReadRunStep(call, step.get()));
    return RunStepNow(master, call, std::move(*step));
  });
}

Status ServeRunCallable(const std::shared_ptr<Master>& master,
                        const CallPtr& call) {
  RunCallableCall step;
  HR_RETURN_IF_ERROR(ReadTensors("RunCallableRequest", call->request(),
                                 pb::RunCallableRequest::kFeedFieldNumber,
                                 &step.feeds, &step.header));
  RunCallableResult result;
  HR_RETURN_IF_ERROR(
      master->RunCallable(OptionsOf(call), std::move(step), &result));
  WireWriter writer;
  for (const Tensor& value : result.fetches) {
    writer.AddTensor(pb::RunCallableResponse::kFetchFieldNumber, value);
  }
  writer.AddFields(result.header);
  call->Finish(OkStatus(), writer.Finish());
  return OkStatus();
}

}  // namespace

void AddWorkerService(std::shared_ptr<Worker> worker, RpcHandlers* handlers) {
  const auto add = [&](const char* method, RpcHandler handler) {
    (*handlers)[StrCat("/tensorflow.WorkerService/", method)] =
        std::move(handler);
  };
  add("GetStatus",
      Plain<pb::GetStatusRequest, pb::GetStatusResponse>(
          "GetStatus", [worker](CallPtr call, auto, auto* response, auto done) {
            worker->GetStatus(OptionsOf(call), response, done);
          }));
  add("CreateWorkerSession",
      Plain<pb::CreateWorkerSessionRequest, pb::CreateWorkerSessionResponse>(
          "CreateWorkerSession",
          [worker](CallPtr call, auto request, auto*, auto done) {
            worker->CreateWorkerSession(OptionsOf(call), *request, done);
          }));
  add("DeleteWorkerSession",
      Plain<pb::DeleteWorkerSessionRequest, pb::DeleteWorkerSessionResponse>(
          "DeleteWorkerSession",
          [worker](CallPtr call, auto request, auto*, auto done) {
            // Kernels go, some of which wait for their threads.
            OnThread(call, [=] {
              worker->DeleteWorkerSession(OptionsOf(call), *request, done);
              return OkStatus();
            });
          }));
  add("RegisterGraph",
      Plain<pb::RegisterGraphRequest, pb::RegisterGraphResponse>(
          "RegisterGraph",
          [worker](CallPtr call, auto request, auto* response, auto done) {
            OnThread(call, [=] {
              worker->RegisterGraph(OptionsOf(call), std::move(*request),
                                    response, done);
              return OkStatus();
            });
          }));
  add("DeregisterGraph",
      Plain<pb::DeregisterGraphRequest, pb::DeregisterGraphResponse>(
          "DeregisterGraph",
          [worker](CallPtr call, auto request, auto*, auto done) {
            OnThread(call, [=] {
              worker->DeregisterGraph(OptionsOf(call), *request, done);
              return OkStatus();
            });
          }));
  add("CleanupGraph",
      Plain<pb::CleanupGraphRequest, pb::CleanupGraphResponse>(
          "CleanupGraph",
          [worker](CallPtr call, auto request, auto*, auto done) {
            worker->CleanupGraph(OptionsOf(call), request->step_id(), done);
          }));
  add("CleanupAll",
      Plain<pb::CleanupAllRequest, pb::CleanupAllResponse>(
          "CleanupAll", [worker](CallPtr call, auto request, auto*, auto done) {
            OnThread(call, [=] {
              worker->CleanupAll(OptionsOf(call), *request, done);
              return OkStatus();
            });
          }));
  add("RunGraph", [worker](CallPtr call) { ServeRunGraph(worker, call); });
  add("RecvTensor", [worker](CallPtr call) { ServeRecvTensor(worker, call); });
  // There is no log of calls, and traces come with RunGraph.
  add("Logging", Plain<pb::LoggingRequest, pb::LoggingResponse>(
                     "Logging", [](CallPtr, auto, auto*, auto done) {
                       done(OkStatus());
                     }));
  add("Tracing", Plain<pb::TracingRequest, pb::TracingResponse>(
                     "Tracing", [](CallPtr, auto, auto*, auto done) {
                       done(OkStatus());
                     }));
  add("RecvBuf", [worker](CallPtr call) { ServeRecvBuf(worker, call); });
  add("CompleteGroup",
      Plain<pb::CompleteGroupRequest, pb::CompleteGroupResponse>(
          "CompleteGroup",
          [worker](CallPtr call, auto request, auto* response, auto done) {
            worker->CompleteGroup(OptionsOf(call), *request, response, done);
          }));
  add("CompleteInstance",
      Plain<pb::CompleteInstanceRequest, pb::CompleteInstanceResponse>(
          "CompleteInstance",
          [worker](CallPtr call, auto request, auto* response, auto done) {
            worker->CompleteInstance(OptionsOf(call), *request, response, done);
          }));
  add("GetStepSequence",
      Plain<pb::GetStepSequenceRequest, pb::GetStepSequenceResponse>(
          "GetStepSequence",
          [worker](CallPtr call, auto request, auto* response, auto done) {
            worker->GetStepSequence(OptionsOf(call), *request, response, done);
          }));
  (*handlers)[kDescribeWaitsMethod] =
      Plain<pb::DescribeWaitsRequest, pb::DescribeWaitsResponse>(
          "DescribeWaits",
          [worker](CallPtr call, auto request, auto* response, auto done) {
            worker->DescribeWaits(OptionsOf(call), *request, response, done);
          });
}

void AddMasterService(std::shared_ptr<Master> master, RpcHandlers* handlers) {
  const auto add = [&](const char* method, RpcHandler handler) {
    (*handlers)[StrCat("/tensorflow.MasterService/", method)] =
        std::move(handler);
  };
  // All wait for tasks, so each has a thread, but for steps that are quick.
  add("CreateSession",
      Plain<pb::CreateSessionRequest, pb::CreateSessionResponse>(
          "CreateSession",
          [master](CallPtr call, auto request, auto* response, auto done) {
            OnThread(call, [=] {
              const Status s =
                  master->CreateSession(OptionsOf(call), *request, response);
              done(s);
              return OkStatus();
            });
          }));
  add("ExtendSession",
      Plain<pb::ExtendSessionRequest, pb::ExtendSessionResponse>(
          "ExtendSession",
          [master](CallPtr call, auto request, auto* response, auto done) {
            OnThread(call, [=] {
              done(master->ExtendSession(OptionsOf(call), *request, response));
              return OkStatus();
            });
          }));
  add("PartialRunSetup",
      Plain<pb::PartialRunSetupRequest, pb::PartialRunSetupResponse>(
          "PartialRunSetup",
          [master](CallPtr call, auto request, auto* response, auto done) {
            OnThread(call, [=] {
              done(
                  master->PartialRunSetup(OptionsOf(call), *request, response));
              return OkStatus();
            });
          }));
  add("CloseSession",
      Plain<pb::CloseSessionRequest, pb::CloseSessionResponse>(
          "CloseSession",
          [master](CallPtr call, auto request, auto*, auto done) {
            OnThread(call, [=] {
              done(master->CloseSession(OptionsOf(call), *request));
              return OkStatus();
            });
          }));
  add("ListDevices",
      Plain<pb::ListDevicesRequest, pb::ListDevicesResponse>(
          "ListDevices",
          [master](CallPtr call, auto request, auto* response, auto done) {
            OnThread(call, [=] {
              done(master->ListDevices(OptionsOf(call), *request, response));
              return OkStatus();
            });
          }));
  add("Reset",
      Plain<pb::ResetRequest, pb::ResetResponse>(
          "Reset", [master](CallPtr call, auto request, auto*, auto done) {
            OnThread(call, [=] {
              done(master->Reset(OptionsOf(call), *request));
              return OkStatus();
            });
          }));
  add("MakeCallable",
      Plain<pb::MakeCallableRequest, pb::MakeCallableResponse>(
          "MakeCallable",
          [master](CallPtr call, auto request, auto* response, auto done) {
            OnThread(call, [=] {
              done(master->MakeCallable(OptionsOf(call), *request, response));
              return OkStatus();
            });
          }));
  add("ReleaseCallable",
      Plain<pb::ReleaseCallableRequest, pb::ReleaseCallableResponse>(
          "ReleaseCallable",
          [master](CallPtr call, auto request, auto*, auto done) {
            OnThread(call, [=] {
              done(master->ReleaseCallable(OptionsOf(call), *request));
              return OkStatus();
            });
          }));
  add("RunStep", [master](CallPtr call) { ServeRunStep(master, call); });
  add("RunCallable", [master](CallPtr call) {
    OnThread(call, [=] { return ServeRunCallable(master, call); });
  });
}

}  // namespace headrace
