// Remote calls, bytes in and bytes out. Only rpc_channel.cc and rpc_server.cc
// know gRPC.
#ifndef HEADRACE_DISTRIBUTED_RPC_H_
#define HEADRACE_DISTRIBUTED_RPC_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "distributed/wire_bytes.h"
#include "headrace/cancellation.h"

namespace headrace {

class TaskGroup;
class WaitHook;

// The timeout of calls that close a session or clean up after a step.
constexpr absl::Duration kCloseTimeout = absl::Seconds(10);

struct CallOptions {
  // Ends the call early. May be null. Outlives the call.
  CancellationManager* cancellation = nullptr;
  absl::Duration timeout = absl::InfiniteDuration();
  // Wait for the peer to come up. Otherwise a call to a peer that refuses
  // connections fails at once with Unavailable.
  bool wait_for_ready = false;
  // Called now and then by calls that wait for the answer. May be null.
  WaitHook* waits = nullptr;
  // Of a call that is served: whether it came from another process, and from
  // which host.
  bool from_network = false;
  std::string peer;
  // Of a call within this process: the tasks and loops of what it runs belong
  // to this group, with which the caller helps. It is finished after `done` by
  // the caller, and lives until then. Null: nobody helps.
  TaskGroup* group = nullptr;
};

// A connection to one address, made when it is first used and made again when
// it breaks. Thread-safe.
class RpcChannel {
 public:
  using DoneCallback = std::function<void(const Status&, WireBytes response)>;

  virtual ~RpcChannel() = default;
  // `method` is "/tensorflow.WorkerService/RunGraph". Calls `done` once, from
  // any thread, perhaps before this returns; `done` must not block.
  virtual void Call(const std::string& method, WireBytes request,
                    const CallOptions& options, DoneCallback done) = 0;
  // Waits for the answer. Not from a `done`.
  virtual Status Call(const std::string& method, WireBytes request,
                      const CallOptions& options, WireBytes* response) = 0;
};

// Of HTTP/2, as large as pieces of tensors: the default, 16 KB, makes a sender
// cut them up.
inline constexpr int kMaxFrameBytes = 4 << 20;

// "host:port". As the environment says (network_options.h): PermissionDenied if
// the host is not this machine and there are no certificates; an error of
// certificates that cannot be used.
StatusOr<std::shared_ptr<RpcChannel>> NewRpcChannel(const std::string& address);

// One call that is being served. Thread-safe.
class RpcCall {
 public:
  virtual ~RpcCall() = default;
  virtual const WireBytes& request() const = 0;
  // The client's host: "127.0.0.1".
  virtual const std::string& peer() const = 0;
  // Cancelled when the client gives up or is gone.
  virtual CancellationManager* cancellation() = 0;
  // Answers. Later calls do nothing. A call that is dropped without an answer
  // is answered with Internal.
  virtual void Finish(const Status& status, WireBytes response) = 0;
};

// Must not block.
using RpcHandler = std::function<void(std::shared_ptr<RpcCall>)>;
// By method.
using RpcHandlers = std::map<std::string, RpcHandler>;

// Serves calls until Shutdown. Thread-safe.
class RpcServer {
 public:
  // `address` is "host:port"; port 0 chooses one. Errors: Unavailable if the
  // address cannot be bound, PermissionDenied as NewRpcChannel.
  static StatusOr<std::unique_ptr<RpcServer>> Start(const std::string& address,
                                                    RpcHandlers handlers);
  virtual ~RpcServer() = default;
  virtual int port() const = 0;
  // Takes no more calls, cancels those in progress, and waits until they have
  // ended. May be called again.
  virtual void Shutdown() = 0;
};

// True if `host` is this machine only: localhost, 127.x.y.z, ::1.
bool IsLoopback(absl::string_view host);
// Of a session's target "grpc://host:port": "host:port".
std::string AddressOf(absl::string_view target);
// Splits "host:port"; "[::1]:80" has host "::1". InvalidArgument if malformed.
Status SplitAddress(absl::string_view address, std::string* host, int* port);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_RPC_H_
