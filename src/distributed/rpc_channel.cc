// RpcChannel over gRPC.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>

#include "distributed/grpc_bytes.h"
#include "distributed/rpc.h"

namespace headrace {
namespace {

// One call in progress. gRPC's callback and the cancellation share it.
struct Pending {
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
  RpcChannel::DoneCallback done;
  CancellationManager* cancellation = nullptr;
  CancellationManager::Token token = 0;
};

// gRPC 1.51 starts threads for callbacks with its first channel, and ends them
// with its last. Where the next first one comes meanwhile, it sometimes aborts
// ("assertion failed: prior > 0"). A channel that is never deleted, and that
// has made a call, keeps the threads.
void KeepCallbackThreads() {
  struct Forever {
    grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub{
        grpc::CreateChannel("ipv4:127.0.0.1:1",
                            grpc::InsecureChannelCredentials())};
    grpc::ClientContext context;
    grpc::Slice nothing;
    grpc::ByteBuffer request{&nothing, 1}, response;
    Forever() {
      context.set_deadline(std::chrono::system_clock::now());  // no connection
      stub.UnaryCall(&context, "/none", grpc::StubOptions(), &request,
                     &response, [](const grpc::Status&) {});
    }
  };
  static Forever* const forever = new Forever;
  (void)forever;
}

class GrpcChannel : public RpcChannel {
 public:
  explicit GrpcChannel(std::shared_ptr<grpc::Channel> channel)
      : stub_(std::move(channel)) {}

  void Call(const std::string& method, WireBytes request,
            const CallOptions& options, DoneCallback done) override {
    if (const Status s = CheckSize(method, request); !s.ok()) {
      done(s, WireBytes());
      return;
    }
    auto p = std::make_shared<Pending>();
    p->request = ToGrpc(request);
    p->done = std::move(done);
    p->context.set_wait_for_ready(options.wait_for_ready);
    if (options.timeout < absl::InfiniteDuration()) {
      p->context.set_deadline(std::chrono::system_clock::now() +
                              absl::ToChronoMilliseconds(options.timeout));
    }
    if (options.cancellation != nullptr) {
      p->cancellation = options.cancellation;
      p->token = p->cancellation->NextToken();
      if (!p->cancellation->RegisterCallback(p->token,
                                             [p] { p->context.TryCancel(); })) {
        p->done(errors::Cancelled("The call was cancelled before it began."),
                WireBytes());
        return;
      }
    }
    stub_.UnaryCall(&p->context, method, grpc::StubOptions(), &p->request,
                    &p->response, [p](grpc::Status s) {
                      if (p->cancellation != nullptr) {
                        p->cancellation->TryDeregisterCallback(p->token);
                      }
                      const DoneCallback done = std::move(p->done);
                      done(FromGrpc(s), FromGrpc(p->response));
                    });
  }

 private:
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub_;
};

}  // namespace

StatusOr<std::shared_ptr<RpcChannel>> NewRpcChannel(
    const std::string& address) {
  HR_RETURN_IF_ERROR(CheckAddress(address));
  KeepCallbackThreads();
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A connection of its own, as each of two processes would have.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return std::shared_ptr<RpcChannel>(
      std::make_shared<GrpcChannel>(grpc::CreateCustomChannel(
          address, grpc::InsecureChannelCredentials(), args)));
}

}  // namespace headrace
