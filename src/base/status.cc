#include "headrace/status.h"

#include <new>
#include <string>

namespace headrace {

// An error is often about memory. Where there is none for its text the code
// has to do: an exception from here would hide what went wrong.

Status Annotate(const Status& status, std::string_view suffix) {
  if (status.ok()) return status;
  try {
    Status out(status.code(), StrCat(ToStd(status.message()), suffix));
    status.ForEachPayload(
        [&out](absl::string_view url, const absl::Cord& payload) {
          out.SetPayload(url, payload);
        });
    return out;
  } catch (const std::bad_alloc&) {
    return status;
  }
}

namespace errors {

Status MakeError(absl::StatusCode code,
                 std::initializer_list<absl::string_view> pieces) {
  try {
    std::string message;
    for (absl::string_view piece : pieces) {
      message.append(piece.data(), piece.size());
    }
    return Status(code, message);
  } catch (const std::bad_alloc&) {
    return Status(code, "");
  }
}

}  // namespace errors
}  // namespace headrace
