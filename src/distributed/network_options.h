// NetworkOptions: how this process talks to others, and what it lets them ask
// for. They come from the environment, so that servers, sessions and the
// connections between tasks agree; docs/security.md lists the variables.
#ifndef HEADRACE_DISTRIBUTED_NETWORK_OPTIONS_H_
#define HEADRACE_DISTRIBUTED_NETWORK_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "distributed/certificates.h"
#include "headrace/status.h"

namespace headrace {

// Environment variable that allows connections without encryption beyond this
// machine: "1".
inline constexpr char kPlaintextEverywhere[] =
    "HEADRACE_ALLOW_UNENCRYPTED_NETWORK";
// Environment variable that allows a server on 0.0.0.0 or [::]: "1".
inline constexpr char kAllInterfaces[] = "HEADRACE_LISTEN_ON_ALL_INTERFACES";

// Environment variable: ServerLimits::session_ttl in seconds.
inline constexpr char kSessionTtl[] = "HEADRACE_SESSION_TTL_S";

// Where a call has its token: "authorization: Bearer TOKEN".
inline constexpr char kTokenHeader[] = "authorization";

// A value; thread-compatible.
struct NetworkOptions {
  // Of certificates: all connections are encrypted, and both sides show one.
  // Empty names: no encryption.
  TlsFiles server, client;
  bool has_tls() const { return !client.ca.empty(); }
  // The header's value; "": calls need none, and take none along.
  std::string token;
  bool plaintext_everywhere = false;
  bool all_interfaces = false;
  // A peer that answers no ping for this time is dead. Zero: chosen by address.
  absl::Duration keepalive;
  int max_message_bytes = -1;  // of what a server takes; -1: gRPC's limit

  // InvalidArgument or NotFound for what cannot be used.
  static StatusOr<NetworkOptions> FromEnvironment();
};

// What clients of one server may have. ResourceExhausted beyond.
struct ServerLimits {
  int64_t sessions_of_client = 1000;  // a client is a host
  int64_t sessions = 10000;
  int64_t callables = 10000;    // of a session
  int64_t partial_runs = 1000;  // of a session
  int64_t graph_nodes = 10000000;
  int64_t step_bytes = 0;  // of tensors that a step has at a task; 0: no limit
  // How long a session stays that nobody uses; zero: until it is closed. A
  // task's part of it stays twice as long. The same at all tasks.
  absl::Duration session_ttl = absl::Hours(24);

  static StatusOr<ServerLimits> FromEnvironment();
  // For errors about what is not found: ", or nobody used it for 24h
  // (HEADRACE_SESSION_TTL_S)", with `times` that time; "" if all stays.
  std::string IdleText(int times) const;
};

// InvalidArgument or PermissionDenied if nobody should connect to the address,
// or listen there.
Status CheckAddress(const NetworkOptions& options, const std::string& address);
Status CheckListenAddress(const NetworkOptions& options,
                          const std::string& address);
// The time between pings, in milliseconds. Servers of TensorFlow end a
// connection with more than one in five minutes; they have no certificates.
int KeepaliveMs(const NetworkOptions& options);
// Takes as long for a wrong token as for the right one of that length.
bool SameToken(absl::string_view a, absl::string_view b);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_NETWORK_OPTIONS_H_
