// AllocationTrace: what a thread takes from allocators, and the tensors that it
// copies, while one lives on it: what a traced node did. A trace inside another
// has its own alone. Loops' bodies on other threads are not seen.
//
// Used by the thread that made it; traces of one thread end in reverse order.
#ifndef HEADRACE_FRAMEWORK_MEMORY_ALLOCATION_TRACE_H_
#define HEADRACE_FRAMEWORK_MEMORY_ALLOCATION_TRACE_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace headrace {

class AllocationTrace {
 public:
  struct Counts {
    int64_t allocations = 0;
    int64_t bytes = 0;       // of all of them
    int64_t live_bytes = 0;  // of those not freed yet
    int64_t peak_bytes = 0;  // the most that live_bytes has been
    int64_t copies = 0;      // of tensors
    int64_t copied_bytes = 0;
  };

  AllocationTrace();
  ~AllocationTrace();
  AllocationTrace(const AllocationTrace&) = delete;
  AllocationTrace& operator=(const AllocationTrace&) = delete;

  const Counts& counts() const { return counts_; }
  // The size of a block that was taken during the trace and is not freed; else
  // 0.
  int64_t LiveBytes(const void* block) const;

  // Allocators and tensors tell; without a trace on the thread nothing happens.
  static void Allocated(const void* block, int64_t bytes) {
    if (current_ != nullptr) [[unlikely]]
      current_->Add(block, bytes);
  }
  static void Freed(const void* block) {
    if (current_ != nullptr) [[unlikely]]
      current_->Remove(block);
  }
  static void Copied(int64_t bytes) {
    if (current_ == nullptr) return;
    ++current_->counts_.copies;
    current_->counts_.copied_bytes += bytes;
  }

 private:
  void Add(const void* block, int64_t bytes);
  void Remove(const void* block);

  static constinit thread_local AllocationTrace* current_;
  AllocationTrace* const outer_;
  Counts counts_;
  absl::flat_hash_map<const void*, int64_t> live_;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_ALLOCATION_TRACE_H_
