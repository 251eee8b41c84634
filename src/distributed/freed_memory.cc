#include "distributed/freed_memory.h"

#include <malloc.h>

#include <cstdlib>

#include "absl/strings/match.h"

namespace headrace {

void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kKept = 32 << 20;  // the largest that glibc takes for mmap
  static const bool done = [] {
    const char* const tunables = std::getenv("GLIBC_TUNABLES");
    if (std::getenv("MALLOC_TRIM_THRESHOLD_") != nullptr ||
        std::getenv("MALLOC_MMAP_THRESHOLD_") != nullptr ||
        (tunables != nullptr && absl::StrContains(tunables, "glibc.malloc."))) {
      return false;
    }
    return mallopt(M_TRIM_THRESHOLD, kKept) != 0 &&
           mallopt(M_MMAP_THRESHOLD, kKept) != 0 &&
           mallopt(M_TOP_PAD, 1 << 20) != 0;
  }();
  (void)done;
#endif
}

}  // namespace headrace
