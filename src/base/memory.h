// How much memory there is: the machine's, or that of the process's cgroup.
#ifndef HEADRACE_BASE_MEMORY_H_
#define HEADRACE_BASE_MEMORY_H_

#include <cstdint>

namespace headrace {

// What all processes may take together, in bytes. Read from the system in each
// call, some 20 us. Thread-safe, both.
int64_t TotalMemory();

// What could be taken now without pushing anything out: free pages, file pages
// that can be dropped, swap. At least 0.
int64_t AvailableMemory();

// False if `bytes`, which have not been touched yet, are more than is
// available. Sizes that are small beside any machine are not looked at: asking
// takes longer than filling them.
bool MayTakeMemory(uint64_t bytes);

}  // namespace headrace

#endif  // HEADRACE_BASE_MEMORY_H_
