// The question that comes before what takes memory and cannot fail well while
// it does so: a step, a kernel, a node of a graph. Where the reserve for the
// end (base/memory_reserve.h) was used up and there is no memory to fill it
// again, nothing new is begun; so the reserve is never needed by more than what
// goes on at that time.
#ifndef HEADRACE_BASE_REQUIRE_MEMORY_H_
#define HEADRACE_BASE_REQUIRE_MEMORY_H_

#include <atomic>

#include "headrace/status.h"

namespace headrace {

namespace require_memory_internal {
extern std::atomic<void*> reserve;  // null: used up
Status Refill();
}  // namespace require_memory_internal

inline bool MemoryReserveIsFull() {
  return require_memory_internal::reserve.load(std::memory_order_relaxed) !=
         nullptr;
}

// Fills the reserve again if it was used. ResourceExhausted if there is no
// memory for that. Thread-safe, ~1 ns if it is full.
inline Status RequireMemoryReserve() {
  if (MemoryReserveIsFull()) [[likely]]
    return OkStatus();
  return require_memory_internal::Refill();
}

}  // namespace headrace

#endif  // HEADRACE_BASE_REQUIRE_MEMORY_H_
