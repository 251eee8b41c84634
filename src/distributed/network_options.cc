#include "distributed/network_options.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <climits>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/env.h"
#include "distributed/rpc.h"

namespace headrace {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Leaves `out` alone if the variable is not set.
Status ReadNumber(const char* name, int64_t least, int64_t most, int64_t* out) {
  const std::string text = Variable(name);
  if (text.empty()) return OkStatus();
  int64_t n = 0;
  if (!absl::SimpleAtoi(text, &n) || n < least || n > most) {
    return errors::InvalidArgument(
        name, " is '", text, "'; wanted a number from ", least, " to ", most);
  }
  *out = n;
  return OkStatus();
}

// The certificate "KIND.pem" of the folder and its key, unless variables name
// others.
TlsFiles FilesOf(const std::string& folder, const std::string& kind) {
  TlsFiles files;
  const auto choose = [&](const char* variable, const std::string& name) {
    const std::string given = Variable(variable);
    if (!given.empty() || folder.empty()) return given;
    return JoinPath(folder, name);
  };
  files.ca = choose("HEADRACE_TLS_CA", "ca.pem");
  files.cert = choose("HEADRACE_TLS_CERT", kind + ".pem");
  files.key = choose("HEADRACE_TLS_KEY", kind + ".key");
  return files;
}

// 0.0.0.0, ::, and other spellings of them.
bool IsEveryInterface(const std::string& host) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  bool any = false;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    if (a->ai_family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(a->ai_addr);
      any |= in->sin_addr.s_addr == htonl(INADDR_ANY);
    } else if (a->ai_family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(a->ai_addr);
      const in6_addr& six = in->sin6_addr;
      any |= IN6_IS_ADDR_UNSPECIFIED(&six) ||
             (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr32[3] == 0);
    }
  }
  freeaddrinfo(found);
  return any;
}

}  // namespace

StatusOr<NetworkOptions> NetworkOptions::FromEnvironment() {
  NetworkOptions o;
  const std::string folder = Variable("HEADRACE_TLS_DIR");
  Env* const env = Env::Default();
  o.server = FilesOf(folder, "server");
  o.client = FilesOf(folder, "client");
  // A task is also a client of other tasks, and its certificate serves for
  // both.
  if (!folder.empty() && !env->FileExists(o.client.cert).ok()) {
    o.client = o.server;
  }
  if (o.client.ca.empty() != (o.client.cert.empty() && o.client.key.empty()) ||
      o.client.cert.empty() != o.client.key.empty()) {
    return errors::InvalidArgument(
        "HEADRACE_TLS_CA, HEADRACE_TLS_CERT and HEADRACE_TLS_KEY belong "
        "together: '",
        o.client.ca, "', '", o.client.cert, "', '", o.client.key, "'");
  }
  const std::string token_file = Variable("HEADRACE_TOKEN_FILE");
  if (!token_file.empty()) {
    HR_RETURN_IF_ERROR(Annotate(env->ReadFile(token_file, &o.token),
                                " (HEADRACE_TOKEN_FILE)"));
    absl::StripAsciiWhitespace(&o.token);
    if (o.token.empty()) {
      return errors::InvalidArgument("HEADRACE_TOKEN_FILE: ", token_file,
                                     " is empty");
    }
    for (const char c : o.token) {
      if (absl::ascii_isgraph(static_cast<unsigned char>(c))) continue;
      return errors::InvalidArgument(
          "HEADRACE_TOKEN_FILE: ", token_file,
          " has a character that is no visible one of ASCII");
    }
  }
  if (!o.token.empty()) o.token = StrCat("Bearer ", o.token);
  o.plaintext_everywhere = Variable(kPlaintextEverywhere) == "1";
  o.all_interfaces = Variable(kAllInterfaces) == "1";
  int64_t ms = 0, bytes = -1;
  HR_RETURN_IF_ERROR(
      ReadNumber("HEADRACE_KEEPALIVE_MS", 1000, INT_MAX / 2, &ms));
  HR_RETURN_IF_ERROR(
      ReadNumber("HEADRACE_MAX_MESSAGE_BYTES", 1024, INT_MAX, &bytes));
  o.keepalive = absl::Milliseconds(ms);
  o.max_message_bytes = static_cast<int>(bytes);
  return o;
}

StatusOr<ServerLimits> ServerLimits::FromEnvironment() {
  ServerLimits l;
  const struct {
    const char* name;
    int64_t* value;
  } limits[] = {
      {"HEADRACE_MAX_SESSIONS_OF_CLIENT", &l.sessions_of_client},
      {"HEADRACE_MAX_SESSIONS", &l.sessions},
      {"HEADRACE_MAX_CALLABLES", &l.callables},
      {"HEADRACE_MAX_PARTIAL_RUNS", &l.partial_runs},
      {"HEADRACE_MAX_GRAPH_NODES", &l.graph_nodes},
      {"HEADRACE_MAX_STEP_BYTES", &l.step_bytes},
  };
  for (const auto& limit : limits) {
    HR_RETURN_IF_ERROR(ReadNumber(limit.name, 1, INT64_MAX / 2, limit.value));
  }
  int64_t ttl = absl::ToInt64Seconds(l.session_ttl);
  HR_RETURN_IF_ERROR(ReadNumber(kSessionTtl, 0, INT_MAX, &ttl));
  l.session_ttl = absl::Seconds(ttl);
  return l;
}

std::string ServerLimits::IdleText(int times) const {
  if (session_ttl <= absl::ZeroDuration()) return "";
  return StrCat(", or nobody used it for ",
                absl::FormatDuration(session_ttl * times), " (", kSessionTtl,
                ")");
}

Status CheckAddress(const NetworkOptions& options, const std::string& address) {
  std::string host;
  int port = 0;
  HR_RETURN_IF_ERROR(SplitAddress(address, &host, &port));
  if (options.has_tls() || IsLoopback(host) || options.plaintext_everywhere) {
    return OkStatus();
  }
  return errors::PermissionDenied(
      "'", address,
      "' is beyond this machine, and connections are not encrypted: whoever "
      "reaches the port can run code here. Make certificates with 'headrace "
      "certs DIR' and set HEADRACE_TLS_DIR=DIR on both sides, or set ",
      kPlaintextEverywhere, "=1 if the network is closed to others");
}

Status CheckListenAddress(const NetworkOptions& options,
                          const std::string& address) {
  std::string host;
  int port = 0;
  HR_RETURN_IF_ERROR(SplitAddress(address, &host, &port));
  if (!options.all_interfaces && IsEveryInterface(host)) {
    return errors::PermissionDenied(
        "'", address,
        "' listens on all interfaces of this machine. Give the task the "
        "address that its peers use, or set ",
        kAllInterfaces, "=1");
  }
  return CheckAddress(options, address);
}

int KeepaliveMs(const NetworkOptions& options) {
  absl::Duration time = options.keepalive;
  if (time <= absl::ZeroDuration()) {
    time = options.has_tls() ? absl::Seconds(20) : absl::Seconds(310);
  }
  return static_cast<int>(absl::ToInt64Milliseconds(time));
}

bool SameToken(absl::string_view a, absl::string_view b) {
  volatile unsigned different = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? 0 : b[i % b.size()];
    different = different | static_cast<unsigned char>(a[i] ^ other);
  }
  return different == 0;
}

}  // namespace headrace
