// RpcChannel over gRPC.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "base/log.h"
#include "base/wait_hook.h"
#include "base/waiting_threads.h"
#include "distributed/grpc_bytes.h"
#include "distributed/network_options.h"
#include "distributed/rpc.h"
#include "distributed/waits_report.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

constexpr absl::Duration kBetweenTries = absl::Milliseconds(200);

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

// Queues for calls whose thread waits. It polls its queue itself, so that the
// answer wakes it and no other thread. Thread-safe.
class QueuePool {
 public:
  using Ptr = std::unique_ptr<grpc::CompletionQueue>;

  ~QueuePool() {
    for (const Ptr& queue : free_) {
      queue->Shutdown();
      void* tag = nullptr;
      bool ok = false;
      while (queue->Next(&tag, &ok)) {
      }
    }
  }
  Ptr Take() {
    MutexLock lock(&mu_);
    if (free_.empty()) return std::make_unique<grpc::CompletionQueue>();
    Ptr queue = std::move(free_.back());
    free_.pop_back();
    return queue;
  }
  // Without events.
  void Give(Ptr queue) {
    MutexLock lock(&mu_);
    free_.push_back(std::move(queue));
  }

 private:
  Mutex mu_;
  std::vector<Ptr> free_ GUARDED_BY(mu_);
};

// What a channel and its calls share. Calls may outlive the channel.
struct Peer {
  Peer(std::shared_ptr<grpc::Channel> channel, std::string address)
      : stub(std::move(channel)), address(std::move(address)) {}
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub;
  const std::string address;
  bool has_tls = false;
  TlsFiles tls;
  std::string token;
  QueuePool queues;
  // Both sides have agreed how to talk.
  std::atomic<bool> tried{false};
};

// gRPC waits for a peer that refuses us as for one that is not there yet. This
// waits until there is a peer that does not, and says why one does. `end` is
// the call's. Says every ten seconds on stderr that it waits for a master; who
// waits for tasks says which.
Status WaitForPeer(Peer* peer, const std::string& method,
                   const CallOptions& options, absl::Time end) {
  const auto stop = [&] {
    return (options.cancellation != nullptr &&
            options.cancellation->IsCancelled()) ||
           Now() >= end;
  };
  bool refused = false;  // a server that ends now refuses us once
  const absl::Time begin = Now();
  absl::Time say = begin + kSayWhoIsMissing;
  while (!stop()) {
    const StatusOr<bool> there = TryConnection(
        peer->address, peer->has_tls ? &peer->tls : nullptr, stop);
    if (there.ok() && *there) {
      peer->tried = true;
      return OkStatus();
    }
    if (!there.ok() && refused) return there.status();
    refused = !there.ok();
    if (Now() > say && absl::StrContains(method, "MasterService")) {
      say = Now() + kSayWhoIsMissing;
      HR_LOG(WARNING) << "still waiting for the master at " << peer->address
                      << " since " << WaitDurationText(Now() - begin);
    }
    absl::SleepFor(kBetweenTries);
  }
  if (options.cancellation != nullptr && options.cancellation->IsCancelled()) {
    return errors::Cancelled("The call was cancelled.");
  }
  return errors::DeadlineExceeded("nobody serves at ", peer->address);
}

void Start(const std::shared_ptr<Peer>& peer, const std::string& method,
           const std::shared_ptr<Pending>& p) {
  peer->stub.UnaryCall(&p->context, method, grpc::StubOptions(), &p->request,
                       &p->response, [p](grpc::Status s) {
                         if (p->cancellation != nullptr) {
                           p->cancellation->TryDeregisterCallback(p->token);
                         }
                         const RpcChannel::DoneCallback done =
                             std::move(p->done);
                         done(FromGrpc(s), FromGrpc(p->response));
                       });
}

// For the thread that called. Polls `hook` now and then.
void WaitForEvent(grpc::CompletionQueue* queue, WaitHook* hook) {
  void* tag = nullptr;
  bool ok = false;
  if (hook == nullptr) {
    queue->Next(&tag, &ok);
    return;
  }
  constexpr std::chrono::milliseconds kPeriod(WaitHook::kPeriodMs);
  while (
      queue->AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kPeriod) ==
      grpc::CompletionQueue::TIMEOUT) {
    hook->Poll();
  }
}

// The same on a thread of its own, for the caller has a hook to poll.
Status WaitForPeerAndPoll(const std::shared_ptr<Peer>& peer,
                          const std::string& method, const CallOptions& options,
                          absl::Time end) {
  if (options.waits == nullptr) {
    return WaitForPeer(peer.get(), method, options, end);
  }
  Status status;
  Notification done;
  if (!StartWaitingThread([&] {
        status = WaitForPeer(peer.get(), method, options, end);
        done.Notify();
      })) {
    return errors::ResourceExhausted("no thread for the call");
  }
  WaitForNotification(done, options.waits);
  return status;
}

class GrpcChannel : public RpcChannel {
 public:
  explicit GrpcChannel(std::shared_ptr<Peer> peer) : peer_(std::move(peer)) {}

  Status Call(const std::string& method, WireBytes request,
              const CallOptions& options, WireBytes* response) override {
    HR_RETURN_IF_ERROR(CheckSize(method, request));
    grpc::ClientContext context;
    const absl::Time end = Prepare(options, &context);
    if (options.wait_for_ready && !peer_->tried) {
      HR_RETURN_IF_ERROR(WaitForPeerAndPoll(peer_, method, options, end));
    }
    CancellationManager* const cancellation = options.cancellation;
    CancellationManager::Token token = 0;
    if (cancellation != nullptr) {
      token = cancellation->NextToken();
      if (!cancellation->RegisterCallback(token,
                                          [&] { context.TryCancel(); })) {
        return errors::Cancelled("The call was cancelled before it began.");
      }
    }
    grpc::Status status;
    grpc::ByteBuffer answer;
    QueuePool::Ptr queue = peer_->queues.Take();
    const auto call = peer_->stub.PrepareUnaryCall(
        &context, method, ToGrpc(request), queue.get());
    call->StartCall();
    call->Finish(&answer, &status, nullptr);
    WaitForEvent(queue.get(), options.waits);
    peer_->queues.Give(std::move(queue));
    if (cancellation != nullptr) cancellation->DeregisterCallback(token);
    *response = FromGrpc(answer);
    return FromGrpc(status);
  }

  void Call(const std::string& method, WireBytes request,
            const CallOptions& options, DoneCallback done) override {
    if (const Status s = CheckSize(method, request); !s.ok()) {
      done(s, WireBytes());
      return;
    }
    auto p = std::make_shared<Pending>();
    p->request = ToGrpc(request);
    p->done = std::move(done);
    KeepCallbackThreads();
    const absl::Time end = Prepare(options, &p->context);
    if (options.wait_for_ready && !peer_->tried &&
        StartWaitingThread([peer = peer_, method, options, end, p] {
          const Status s = WaitForPeer(peer.get(), method, options, end);
          if (s.ok()) return Cancellable(peer, method, options, p);
          const DoneCallback failed = std::move(p->done);
          failed(s, WireBytes());
        })) {
      return;
    }
    Cancellable(peer_, method, options, p);
  }

 private:
  // Returns the call's end.
  absl::Time Prepare(const CallOptions& options, grpc::ClientContext* context) {
    context->set_wait_for_ready(options.wait_for_ready);
    if (!peer_->token.empty()) {
      context->AddMetadata(kTokenHeader, peer_->token);
    }
    if (options.timeout == absl::InfiniteDuration()) {
      return absl::InfiniteFuture();
    }
    context->set_deadline(std::chrono::system_clock::now() +
                          absl::ToChronoMilliseconds(options.timeout));
    return Now() + options.timeout;
  }

  static void Cancellable(const std::shared_ptr<Peer>& peer,
                          const std::string& method, const CallOptions& options,
                          const std::shared_ptr<Pending>& p) {
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
    Start(peer, method, p);
  }

  const std::shared_ptr<Peer> peer_;
};

}  // namespace

StatusOr<std::shared_ptr<RpcChannel>> NewRpcChannel(
    const std::string& address) {
  HR_ASSIGN_OR_RETURN(const NetworkOptions options,
                      NetworkOptions::FromEnvironment());
  HR_RETURN_IF_ERROR(CheckAddress(options, address));
  TlsMaterial tls;
  if (options.has_tls()) {
    HR_ASSIGN_OR_RETURN(tls, ReadTlsFiles(options.client));
  }
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // An attempt may take so long: on a busy machine, or with TLS far away, it
  // does. A peer that refuses ends it at once.
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A connection of its own, as each of two processes would have.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
  const int keepalive = KeepaliveMs(options);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, std::min(keepalive, 20000));
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  if (options.has_tls()) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = tls.ca;
    ssl.pem_cert_chain = tls.cert;
    ssl.pem_private_key = tls.key;
    credentials = grpc::SslCredentials(ssl);
  }
  auto peer = std::make_shared<Peer>(
      grpc::CreateCustomChannel(address, credentials, args), address);
  peer->has_tls = options.has_tls();
  peer->tls = options.client;
  peer->token = options.token;
  return std::shared_ptr<RpcChannel>(
      std::make_shared<GrpcChannel>(std::move(peer)));
}

}  // namespace headrace
