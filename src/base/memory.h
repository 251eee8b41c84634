// The size of the memory: the machine's, or the limit of the process's cgroup.
// All functions are thread-safe.
#ifndef HEADRACE_BASE_MEMORY_H_
#define HEADRACE_BASE_MEMORY_H_

#include <cstdint>

namespace headrace {

// The memory for all processes together, in bytes. Asks the system at each
// call, about 20 us.
int64_t TotalMemory();

// The bytes that can be taken now without moving anything out: free pages, file
// pages that can be dropped, swap. At least 0.
int64_t AvailableMemory();

// False if `bytes`, not touched yet, exceed the available memory. Small sizes
// are not checked: the check would take longer than filling the memory.
bool MayTakeMemory(uint64_t bytes);

}  // namespace headrace

#endif  // HEADRACE_BASE_MEMORY_H_
