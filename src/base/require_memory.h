// Checked before starting something that needs memory and cannot fail well: a
// step, a kernel, a node of a graph. If the memory reserve
// (base/memory_reserve.h) was used and cannot be filled again, nothing new is
// started. So only work that is already running ever uses the reserve.
#ifndef HEADRACE_BASE_REQUIRE_MEMORY_H_
#define HEADRACE_BASE_REQUIRE_MEMORY_H_

#include <atomic>

#include "headrace/status.h"

namespace headrace {

namespace require_memory_internal {
extern std::atomic<void*> reserve;  // null: used
Status Refill();
}  // namespace require_memory_internal

inline bool MemoryReserveIsFull() {
  return require_memory_internal::reserve.load(std::memory_order_relaxed) !=
         nullptr;
}

// Fills the reserve again if it was used. ResourceExhausted if there is no
// memory for that. Thread-safe; about 1 ns if the reserve is full.
inline Status RequireMemoryReserve() {
  if (MemoryReserveIsFull()) [[likely]]
    return OkStatus();
  return require_memory_internal::Refill();
}

}  // namespace headrace

#endif  // HEADRACE_BASE_REQUIRE_MEMORY_H_
