#include "runtime/pending_calls.h"

#include <exception>

#include "absl/strings/str_cat.h"

namespace headrace {

std::string PendingCalls::Describe() {
  try {
    return DescribeCalls();
  } catch (const std::exception&) {
    return "";  // a run that has to end does so without the words
  }
}

std::string PendingCalls::DescribeCalls() {
  constexpr int kNamed = 8;
  std::string text;
  int more = 0, named = 0;
  MutexLock lock(&mu_);
  for (const Entry* e = head_.next; e != &head_; e = e->next) {
    // What the called function waits for has an entry of its own.
    if (e->kernel->traits().calls_functions) continue;
    if (named == kNamed) {
      ++more;
      continue;
    }
    absl::StrAppend(&text, named++ == 0 ? "; still waiting: " : ", ", "node '",
                    e->kernel->name(), "' (", e->kernel->type_string(), ")");
    const std::string what = e->kernel->WaitsFor(e->ctx);
    if (!what.empty()) absl::StrAppend(&text, " for ", what);
    const int64_t seconds = absl::ToInt64Seconds(Now() - e->begin);
    if (seconds > 0) absl::StrAppend(&text, " since ", seconds, " s");
  }
  if (more > 0) absl::StrAppend(&text, " and ", more, " more nodes");
  return text;
}

}  // namespace headrace
