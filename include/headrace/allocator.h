// Allocator: the source of tensor buffers. Sizes are in bytes. Blocks are
// aligned to kAlignment bytes.
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
  // AllocateRaw returns null on failure. The caller then reports
  // ResourceExhausted with the number of bytes that it asked for. DeallocateRaw
  // gets the number of bytes that was passed to AllocateRaw.
  virtual void DeallocateRaw(void* ptr, size_t bytes) = 0;
  virtual AllocatorStats GetStats() const = 0;
  // Sets peak_bytes_in_use to bytes_in_use.
  virtual void ResetPeak() = 0;
};

// The allocator of host memory. The process owns it and never deletes it. It
// refuses a request larger than the free memory of the machine (or of the
// cgroup) at once and does not overcommit. It keeps large freed blocks for a
// while, because fresh pages cost more than most kernels.
Allocator* CpuAllocator();

}  // namespace headrace

#endif  // HEADRACE_ALLOCATOR_H_
