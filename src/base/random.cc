#include "base/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <chrono>

namespace headrace {

uint64_t RandomSeed64() {
  uint64_t seed = 0;
  while (seed == 0) {
    if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed)) continue;
    // No getrandom in this kernel or sandbox: clock, process and stack address.
    seed = static_cast<uint64_t>(
               std::chrono::steady_clock::now().time_since_epoch().count()) *
               0x9e3779b97f4a7c15ull ^
           (static_cast<uint64_t>(getpid()) << 40) ^
           reinterpret_cast<uintptr_t>(&seed);
  }
  return seed;
}

}  // namespace headrace
