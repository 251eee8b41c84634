// Unbiased integers below a bound, drawn from a stream of words as TensorFlow
// does. A power of two uses a mask. Otherwise words that would favour small
// numbers are rejected: fewer than half of them, so the loops end.
#ifndef HEADRACE_KERNELS_LIB_UNIFORM_BELOW_H_
#define HEADRACE_KERNELS_LIB_UNIFORM_BELOW_H_

#include <cstdint>

#include "framework/kernel/philox.h"

namespace headrace {

// A number in [0, n), n > 0. U is uint32_t (one word per draw) or uint64_t (two
// words, lower half first).
template <typename U>
U UniformBelow(U n, PhiloxWords* next) {
  auto draw = [next]() -> U {
    const uint32_t low = (*next)();
    if constexpr (sizeof(U) == 4) return low;
    return U{low} | static_cast<U>(uint64_t{(*next)()} << 32);
  };
  if ((n & (n - 1)) == 0) return draw() & (n - 1);
  const U rest = static_cast<U>(~U{0}) % n + 1;
  U x;
  do {
    x = draw();
  } while (x < rest);
  return x % n;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_UNIFORM_BELOW_H_
