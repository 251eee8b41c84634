#include "base/error_cause.h"

#include <utility>

#include "absl/strings/cord.h"

namespace headrace {
namespace {

absl::string_view PayloadName(ErrorCause cause) {
  switch (cause) {
    case ErrorCause::kUninitializedVariable:
      return "headrace/uninitialized_variable";
    case ErrorCause::kNoFeed:
      return "headrace/no_feed";
  }
  return "headrace/unknown";
}

}  // namespace

Status WithCause(Status status, ErrorCause cause) {
  status.SetPayload(PayloadName(cause), absl::Cord());
  return status;
}

bool HasCause(const Status& status, ErrorCause cause) {
  return status.GetPayload(PayloadName(cause)).has_value();
}

}  // namespace headrace
