// Integers below a bound without bias, as TensorFlow draws them from a stream
// of words: a mask for powers of two, else words that would favour the small
// numbers are thrown away. That is fewer than half of them, so the loops end.
#ifndef HEADRACE_KERNELS_LIB_UNIFORM_BELOW_H_
#define HEADRACE_KERNELS_LIB_UNIFORM_BELOW_H_

#include <cstdint>

#include "framework/kernel/philox.h"

namespace headrace {

// In [0, n); n > 0. U is uint32_t, of one word, or uint64_t, of two, the lower
// half first.
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
