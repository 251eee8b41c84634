// MemoryPlan: what the tensors of a step take at once, known before it runs;
// Session::PlanMemory makes one.
//
// Every tensor that the step makes gets a place in one range of bytes, which
// holds for every order in which nodes may run: tensors that are alive at one
// moment never share bytes, and what they take together never exceeds the
// plan's peak.
//
// Not counted, since they are no step's: constants, variables, prepared
// filters, and what the client feeds. Fetches are counted to the end. A kernel
// that writes its output over an input takes less than planned.
#ifndef HEADRACE_MEMORY_PLAN_H_
#define HEADRACE_MEMORY_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

class Node;

// Thread-compatible, as any struct of values.
struct MemoryPlan {
  struct Block {
    std::string name;            // "conv1:0"; "conv1 (temporary)"
    const Node* node = nullptr;  // of the graph that was planned
    int output = -1;             // -1: temporary memory
    bool is_kept = false;        // may outlive the step, as fetches do
    std::string contents;  // "float [1,56,56,64]"; empty for temporary memory
    int64_t bytes = 0;     // as the allocator rounds them
    int64_t offset = 0;    // bytes
    int64_t arena_offset = -1;  // -1: not there
    int64_t arena_bytes = 0;
  };
  int64_t peak_bytes = 0;
  // The sum of all blocks: what it would take without sharing.
  int64_t total_bytes = 0;
  std::vector<Block> blocks;  // the largest first
  // Tensors whose size is not known before the run, and calls of functions;
  // counted as nothing, so that peak_bytes is what the others take.
  std::vector<std::string> unknown;

  // "a:0 float [2,3] 64 bytes, b:0 ...", the largest ones.
  std::string Largest(int count) const;
};

}  // namespace headrace

#endif  // HEADRACE_MEMORY_PLAN_H_
