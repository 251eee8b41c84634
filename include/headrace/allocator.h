// Allocator: where tensor buffers come from. Allocations are aligned to
// kAlignment bytes. A failed allocation returns null: the caller turns it into
// ResourceExhausted with the bytes asked for.
//
// Thread-safe.
#ifndef HEADRACE_ALLOCATOR_H_
#define HEADRACE_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace {

struct AllocatorStats {
  int64_t num_allocs = 0;
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = 0;
  int64_t largest_alloc_size = 0;
  int64_t bytes_limit = 0;  // 0: none set
};

class Allocator {
 public:
  static constexpr size_t kAlignment = 64;

  virtual ~Allocator() = default;
  virtual std::string Name() const = 0;
  virtual void* AllocateRaw(size_t bytes) = 0;
  // `bytes` is what AllocateRaw was asked for.
  virtual void DeallocateRaw(void* ptr, size_t bytes) = 0;
  virtual AllocatorStats GetStats() const = 0;
  virtual void ResetPeak() = 0;
};

// The process-wide allocator of host memory. Refuses requests beyond the
// machine's (or cgroup's) free memory at once instead of overcommitting, and
// keeps freed large blocks for a while, since fresh pages cost more than most
// kernels.
Allocator* CpuAllocator();

}  // namespace headrace

#endif  // HEADRACE_ALLOCATOR_H_
