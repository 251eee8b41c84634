// What an allocation of host memory takes: the size that the allocator rounds a
// request to.
#ifndef HEADRACE_FRAMEWORK_MEMORY_ALLOCATION_SIZE_H_
#define HEADRACE_FRAMEWORK_MEMORY_ALLOCATION_SIZE_H_

#include <cstddef>

namespace headrace {

// Blocks of at least so much have a place in a run's arena if it has one.
inline constexpr size_t kLargeAllocation = size_t{128} << 10;

// Large sizes in steps of an eighth of their power of two, so that similar
// requests share blocks and at most an eighth is wasted; small ones in cache
// lines. `bytes` is more than 0.
inline size_t AllocationSize(size_t bytes) {
  size_t step = 64;
  if (bytes >= kLargeAllocation) {
    step = size_t{1} << (63 - __builtin_clzll(bytes) - 3);
  }
  return (bytes + step - 1) / step * step;
}

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_ALLOCATION_SIZE_H_
