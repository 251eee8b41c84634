// Joins strings into a string of the right size. The result is stored once, and
// its size is known before the memory is allocated.
#ifndef HEADRACE_KERNELS_STRINGS_JOIN_STRINGS_H_
#define HEADRACE_KERNELS_STRINGS_JOIN_STRINGS_H_

#include <algorithm>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "headrace/tstring.h"

namespace headrace {

inline void JoinStrings(absl::Span<const absl::string_view> pieces,
                        absl::string_view separator, tstring* out) {
  size_t size = pieces.empty() ? 0 : separator.size() * (pieces.size() - 1);
  for (absl::string_view s : pieces) size += s.size();
  char* at = out->resize_uninitialized(size);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) at = std::copy(separator.begin(), separator.end(), at);
    at = std::copy(pieces[i].begin(), pieces[i].end(), at);
  }
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_STRINGS_JOIN_STRINGS_H_
