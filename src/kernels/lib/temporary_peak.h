// TemporaryPeak: what a kernel's temporary tensors take at most at once, summed
// in the order in which the kernel allocates and drops them.
#ifndef HEADRACE_KERNELS_LIB_TEMPORARY_PEAK_H_
#define HEADRACE_KERNELS_LIB_TEMPORARY_PEAK_H_

#include <algorithm>
#include <cstdint>

#include "framework/memory/allocation_size.h"
#include "headrace/tensor.h"

namespace headrace {

// Bytes that allocate_temp takes from the allocator for a tensor of `bytes`
// bytes: nothing for one that lives inside the Tensor object.
inline int64_t TemporarySize(int64_t bytes,
                             Tensor::Placement placement = Tensor::kAuto) {
  const int64_t inside =
      placement == Tensor::kAuto ? int64_t{Tensor::kInlineBytes} : 0;
  return bytes <= inside
             ? 0
             : static_cast<int64_t>(AllocationSize(static_cast<size_t>(bytes)));
}

class TemporaryPeak {
 public:
  // A tensor of `bytes` bytes is allocated. Returns what it takes, for Drop.
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
