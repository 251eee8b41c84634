// Seeds from the operating system, for ops with seed 0 and for incarnation ids.
#ifndef HEADRACE_BASE_RANDOM_H_
#define HEADRACE_BASE_RANDOM_H_

#include <cstdint>

namespace headrace {

// A non-zero number. It differs between calls, between processes and across
// fork. Not for cryptography. Thread-safe.
uint64_t RandomSeed64();

}  // namespace headrace

#endif  // HEADRACE_BASE_RANDOM_H_
