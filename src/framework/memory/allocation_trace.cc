#include "framework/memory/allocation_trace.h"

#include <algorithm>
#include <new>

namespace headrace {

constinit thread_local AllocationTrace* AllocationTrace::current_ = nullptr;

AllocationTrace::AllocationTrace() : outer_(current_) { current_ = this; }
AllocationTrace::~AllocationTrace() { current_ = outer_; }

int64_t AllocationTrace::LiveBytes(const void* block) const {
  const auto it = live_.find(block);
  return it == live_.end() ? 0 : it->second;
}

void AllocationTrace::Add(const void* block, int64_t bytes) {
  ++counts_.allocations;
  counts_.bytes += bytes;
  counts_.live_bytes += bytes;
  counts_.peak_bytes = std::max(counts_.peak_bytes, counts_.live_bytes);
  try {
    live_[block] = bytes;
  } catch (const std::bad_alloc&) {
    // The trace takes the block for one that stays; the run goes on.
  }
}

void AllocationTrace::Remove(const void* block) {
  const auto it = live_.find(block);
  if (it == live_.end()) return;  // of before the trace
  counts_.live_bytes -= it->second;
  live_.erase(it);
}

}  // namespace headrace
