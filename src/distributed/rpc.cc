#include "distributed/rpc.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace headrace {

bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "::1" ||
         (absl::StartsWith(host, "127.") &&
          host.find_first_not_of("0123456789.") == absl::string_view::npos);
}

std::string AddressOf(absl::string_view target) {
  return std::string(absl::StripPrefix(target, "grpc://"));
}

Status SplitAddress(absl::string_view address, std::string* host, int* port) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), port) || *port < 0 ||
      *port > 65535) {
    return errors::InvalidArgument("'", address,
                                   "' is no address; wanted host:port");
  }
  absl::string_view h = address.substr(0, colon);
  if (absl::ConsumePrefix(&h, "[") && !absl::ConsumeSuffix(&h, "]")) {
    return errors::InvalidArgument("'", address, "' is no address");
  }
  *host = std::string(h);
  return OkStatus();
}

}  // namespace headrace
