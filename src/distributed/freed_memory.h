// What gRPC receives lies in memory that it frees with the message. The C
// library gives freed memory back to the system, so that every page of the next
// message is a page fault: a third of the time in which 64 MB are received.
#ifndef HEADRACE_DISTRIBUTED_FREED_MEMORY_H_
#define HEADRACE_DISTRIBUTED_FREED_MEMORY_H_

namespace headrace {

// From now on malloc keeps up to 32 MB that were freed, of each of its arenas.
// Does nothing if the environment says what malloc does (MALLOC_*_THRESHOLD_ or
// GLIBC_TUNABLES), and where the C library is not glibc. Thread-safe.
void KeepFreedMemory();

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_FREED_MEMORY_H_
