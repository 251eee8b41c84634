// The time of day. Unlike absl::Now it takes no lock, which a thread of the
// parent process could hold when a child is forked: there it stays locked.
#ifndef HEADRACE_CLOCK_H_
#define HEADRACE_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace headrace {

// Thread-safe.
inline absl::Time Now() {
  return absl::FromChrono(std::chrono::system_clock::now());
}

}  // namespace headrace

#endif  // HEADRACE_CLOCK_H_
