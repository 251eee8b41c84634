#include "base/status.h"

#include <string>

namespace headrace {

Status Annotate(const Status& status, std::string_view suffix) {
  if (status.ok()) return status;
  Status out(status.code(), StrCat(ToStd(status.message()), suffix));
  status.ForEachPayload(
      [&out](absl::string_view url, const absl::Cord& payload) {
        out.SetPayload(url, payload);
      });
  return out;
}

namespace errors {

Status MakeError(absl::StatusCode code,
                 std::initializer_list<absl::string_view> pieces) {
  std::string message;
  for (absl::string_view piece : pieces) {
    message.append(piece.data(), piece.size());
  }
  return Status(code, message);
}

}  // namespace errors
}  // namespace headrace
