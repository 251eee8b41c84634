#include "runtime/call_site.h"

#include "absl/strings/str_cat.h"

namespace headrace {
namespace {

// How many calls at either end of a chain a message names.
constexpr int kNamedCalls = 4;

}  // namespace

std::string DescribeCalls(const CallSite* site) {
  std::string s;
  const int length = site == nullptr ? 0 : site->depth;
  for (; site != nullptr; site = site->outer) {
    const int from_inside = length - site->depth;
    if (from_inside >= kNamedCalls && site->depth > kNamedCalls) {
      if (from_inside == kNamedCalls) {
        absl::StrAppend(&s, "\n\t ... ", length - 2 * kNamedCalls,
                        " more calls");
      }
      continue;
    }
    absl::StrAppend(&s, "\n\t in function '", *site->function,
                    "', called by [[", NodeErrorSuffix(*site->caller), "]]");
  }
  return s;
}

}  // namespace headrace
