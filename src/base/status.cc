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

}  // namespace headrace
