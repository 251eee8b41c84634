// RpcServer over gRPC.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "distributed/grpc_bytes.h"
#include "distributed/rpc.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

class Reactor;

// What a handler holds. It may outlive the reactor, which ends when the answer
// has left.
class ServedCall : public RpcCall {
 public:
  explicit ServedCall(Reactor* reactor) : reactor_(reactor) {}
  ~ServedCall() override {
    Finish(errors::Internal("the call was dropped"), WireBytes());
  }
  const WireBytes& request() const override { return request_; }
  CancellationManager* cancellation() override { return &cancellation_; }
  void Finish(const Status& status, WireBytes response) override;

 private:
  friend class Reactor;
  std::atomic<Reactor*> reactor_;
  WireBytes request_;
  CancellationManager cancellation_;
};

// One call, as gRPC sees it.
class Reactor : public grpc::ServerGenericBidiReactor {
 public:
  explicit Reactor(const RpcHandler* handler)
      : handler_(handler),
        first_(std::make_shared<ServedCall>(this)),
        call_(first_) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    std::shared_ptr<ServedCall> call = std::move(first_);
    if (!ok) {
      call->Finish(errors::InvalidArgument("a call without a request"),
                   WireBytes());
      return;
    }
    call->request_ = FromGrpc(request_);
    request_.Clear();
    (*handler_)(std::move(call));
  }

  void OnCancel() override {
    if (std::shared_ptr<ServedCall> call = call_.lock()) {
      call->cancellation_.StartCancel(
          errors::Cancelled("The client cancelled the call or is gone."));
    }
  }

  void OnDone() override { delete this; }

  // Once.
  void Answer(const Status& status, const WireBytes& response) {
    Status s = status;
    s.Update(CheckSize("a response", response));
    if (!s.ok()) {
      Finish(ToGrpc(s));
      return;
    }
    response_ = ToGrpc(response);
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  }

 private:
  const RpcHandler* const handler_;
  std::shared_ptr<ServedCall> first_;  // until the handler has it
  const std::weak_ptr<ServedCall> call_;
  grpc::ByteBuffer request_, response_;
};

void ServedCall::Finish(const Status& status, WireBytes response) {
  Reactor* const reactor = reactor_.exchange(nullptr);
  if (reactor != nullptr) reactor->Answer(status, response);
}

class Service : public grpc::CallbackGenericService {
 public:
  explicit Service(RpcHandlers handlers) : handlers_(std::move(handlers)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const auto it = handlers_.find(context->method());
    return new Reactor(it == handlers_.end() ? &unknown_ : &it->second);
  }

 private:
  const RpcHandlers handlers_;
  const RpcHandler unknown_ = [](std::shared_ptr<RpcCall> call) {
    call->Finish(errors::Unimplemented("no such method"), WireBytes());
  };
};

class GrpcServer : public RpcServer {
 public:
  explicit GrpcServer(RpcHandlers handlers) : service_(std::move(handlers)) {}
  ~GrpcServer() override { Shutdown(); }

  Status Listen(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(),
                             &port_);
    builder.SetMaxReceiveMessageSize(-1);
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      return errors::Unavailable("cannot listen at ", address,
                                 "; is another server there?");
    }
    return OkStatus();
  }

  int port() const override { return port_; }

  void Shutdown() override {
    MutexLock lock(&mu_);
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

 private:
  Service service_;
  int port_ = 0;
  Mutex mu_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const std::string& address, RpcHandlers handlers) {
  HR_RETURN_IF_ERROR(CheckAddress(address));
  auto server = std::make_unique<GrpcServer>(std::move(handlers));
  HR_RETURN_IF_ERROR(server->Listen(address));
  return std::unique_ptr<RpcServer>(std::move(server));
}

}  // namespace headrace
