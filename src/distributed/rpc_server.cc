// RpcServer over gRPC.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "distributed/grpc_bytes.h"
#include "distributed/network_options.h"
#include "distributed/rpc.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

class Reactor;

// What a handler holds. It may outlive the reactor, which ends when the answer
// has left.
class ServedCall : public RpcCall {
 public:
  ServedCall(Reactor* reactor, std::string peer)
      : reactor_(reactor), peer_(std::move(peer)) {}
  ~ServedCall() override {
    Finish(errors::Internal("the call was dropped"), WireBytes());
  }
  const WireBytes& request() const override { return request_; }
  const std::string& peer() const override { return peer_; }
  CancellationManager* cancellation() override { return &cancellation_; }
  void Finish(const Status& status, WireBytes response) override;

 private:
  friend class Reactor;
  std::atomic<Reactor*> reactor_;
  const std::string peer_;
  WireBytes request_;
  CancellationManager cancellation_;
};

// One call, as gRPC sees it.
class Reactor : public grpc::ServerGenericBidiReactor {
 public:
  Reactor(const RpcHandler* handler, std::string peer)
      : handler_(handler),
        first_(std::make_shared<ServedCall>(this, std::move(peer))),
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

// "127.0.0.1" of gRPC's "ipv4:127.0.0.1:2222".
std::string HostOf(const std::string& peer) {
  const size_t begin = peer.find(':'), end = peer.rfind(':');
  if (begin == std::string::npos || begin == end) return peer;
  return peer.substr(begin + 1, end - begin - 1);
}

class Service : public grpc::CallbackGenericService {
 public:
  Service(RpcHandlers handlers, std::string token)
      : handlers_(std::move(handlers)), token_(std::move(token)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    std::string peer = HostOf(context->peer());
    if (!token_.empty()) {
      const auto given = context->client_metadata().find(kTokenHeader);
      const bool none = given == context->client_metadata().end();
      if (none ||
          !SameToken({given->second.data(), given->second.size()}, token_)) {
        SayRefused(peer, none);
        return new Reactor(none ? &no_token_ : &wrong_token_, std::move(peer));
      }
    }
    const auto it = handlers_.find(context->method());
    return new Reactor(it == handlers_.end() ? &unknown_ : &it->second,
                       std::move(peer));
  }

 private:
  static RpcHandler Refuse(Status why) {
    return [why = std::move(why)](const std::shared_ptr<RpcCall>& call) {
      call->Finish(why, WireBytes());
    };
  }
  // One line a second, whoever asks how often.
  void SayRefused(const std::string& peer, bool none) {
    const int64_t now = absl::ToUnixSeconds(Now());
    if (last_said_.exchange(now) == now) return;
    HR_LOG(WARNING) << "refused a call from " << peer << ": "
                    << (none ? "it has no token" : "its token is wrong");
  }

  const RpcHandlers handlers_;
  const std::string token_;
  std::atomic<int64_t> last_said_{0};
  const RpcHandler unknown_ = Refuse(errors::Unimplemented("no such method"));
  const RpcHandler no_token_ = Refuse(errors::Unauthenticated(
      "the server wants a token and the call has none; set HEADRACE_TOKEN_FILE "
      "to a file with the server's"));
  const RpcHandler wrong_token_ = Refuse(errors::Unauthenticated(
      "the call's token is not the server's; both come from the file that "
      "HEADRACE_TOKEN_FILE names"));
};

class GrpcServer : public RpcServer {
 public:
  GrpcServer(RpcHandlers handlers, std::string token)
      : service_(std::move(handlers), std::move(token)) {}
  ~GrpcServer() override { Shutdown(); }

  Status Listen(const NetworkOptions& options, const std::string& address) {
    std::shared_ptr<grpc::ServerCredentials> credentials =
        grpc::InsecureServerCredentials();
    if (options.has_tls()) {
      HR_ASSIGN_OR_RETURN(TlsMaterial tls, ReadTlsFiles(options.server));
      grpc::SslServerCredentialsOptions ssl(
          GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
      ssl.pem_root_certs = std::move(tls.ca);
      ssl.pem_key_cert_pairs.push_back(
          {std::move(tls.key), std::move(tls.cert)});
      credentials = grpc::SslServerCredentials(ssl);
    }
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, credentials, &port_);
    builder.SetMaxReceiveMessageSize(options.max_message_bytes);
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
    const int keepalive = KeepaliveMs(options);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                               std::min(keepalive, 20000));
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // Clients may ping as often as KeepaliveMs ever does.
    builder.AddChannelArgument(
        GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
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
  HR_ASSIGN_OR_RETURN(NetworkOptions options,
                      NetworkOptions::FromEnvironment());
  HR_RETURN_IF_ERROR(CheckListenAddress(options, address));
  auto server =
      std::make_unique<GrpcServer>(std::move(handlers), options.token);
  HR_RETURN_IF_ERROR(server->Listen(options, address));
  return std::unique_ptr<RpcServer>(std::move(server));
}

}  // namespace headrace
