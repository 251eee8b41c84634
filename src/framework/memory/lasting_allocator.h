// Where memory comes from that is kept for long, blocks of the size that was
// asked for and none that passing tensors could use again; and what the CPU's
// allocator keeps of theirs.
#ifndef HEADRACE_FRAMEWORK_MEMORY_LASTING_ALLOCATOR_H_
#define HEADRACE_FRAMEWORK_MEMORY_LASTING_ALLOCATOR_H_

#include "headrace/allocator.h"

namespace headrace {

// Counted as CpuAllocator's.
Allocator* LastingAllocator();

// Frees the blocks that CpuAllocator keeps, for who is about to need others.
void DropKeptBlocks();

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_LASTING_ALLOCATOR_H_
