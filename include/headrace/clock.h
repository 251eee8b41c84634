// The current time of day. absl::Now takes a lock. If another thread holds that
// lock during fork, it stays locked in the child for ever. This function takes
// no lock.
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
