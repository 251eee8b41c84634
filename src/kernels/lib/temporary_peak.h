// TemporaryPeak: the peak of a kernel's temporary memory, in bytes. Replay the
// kernel's allocations and releases in order.
#ifndef HEADRACE_KERNELS_LIB_TEMPORARY_PEAK_H_
#define HEADRACE_KERNELS_LIB_TEMPORARY_PEAK_H_

#include <algorithm>
#include <cstdint>

#include "framework/memory/allocation_size.h"
#include "headrace/tensor.h"

namespace headrace {

// The bytes that allocate_temp takes from the allocator for a tensor of `bytes`
// bytes. 0 for a tensor whose data lies inside the Tensor object.
inline int64_t TemporarySize(int64_t bytes,
                             Tensor::Placement placement = Tensor::kAuto) {
  const int64_t inside =
      placement == Tensor::kAuto ? int64_t{Tensor::kInlineBytes} : 0;
  return bytes <= inside
             ? 0
             : static_cast<int64_t>(AllocationSize(static_cast<size_t>(bytes)));
}

// Thread-compatible.
class TemporaryPeak {
 public:
  // Records the allocation of a tensor of `bytes` bytes. Returns its size, for
  // Drop.
  int64_t Take(int64_t bytes, Tensor::Placement placement = Tensor::kAuto) {
    const int64_t size = TemporarySize(bytes, placement);
    live_ += size;
    peak_ = std::max(peak_, live_);
    return size;
  }
  void Drop(int64_t size) { live_ -= size; }
  int64_t bytes() const { return peak_; }

 private:
  int64_t live_ = 0, peak_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_TEMPORARY_PEAK_H_
