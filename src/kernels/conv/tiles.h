// How the convolutions that are loops over GemmKernel cut their work, and
// scratch memory for the threads that share it.
#ifndef HEADRACE_KERNELS_CONV_TILES_H_
#define HEADRACE_KERNELS_CONV_TILES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace headrace::conv {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A tile of work is some rows by some panels of channels. The numbers depend on
// the sizes alone, never on the number of threads.
struct Tiling {
  int64_t rows, row_tiles;      // units of rows in a tile, and tiles
  int64_t panels, panel_tiles;  // panels in a tile, and tiles
  int64_t size() const { return row_tiles * panel_tiles; }

  // `total_rows` units of rows of `row_pixels` pixels each; `depth`
  // multiplications per pixel and channel; panels of `panel` channels.
  static Tiling Of(int64_t total_rows, int64_t row_pixels, int64_t total_panels,
                   int64_t panel, int64_t depth) {
    Tiling t;
    // About 256 pixels: enough to pay for packing a panel of the filter, few
    // enough to stay in the cache.
    const int64_t wanted =
        std::max<int64_t>(1, CeilDiv(256, std::max<int64_t>(1, row_pixels)));
    t.row_tiles = CeilDiv(total_rows, std::min(wanted, total_rows));
    t.rows = CeilDiv(total_rows, t.row_tiles);
    t.row_tiles = CeilDiv(total_rows, t.rows);
    const double panel_flops = 2.0 * t.rows * row_pixels * panel * depth;
    t.panels = std::clamp<int64_t>(static_cast<int64_t>(8e6 / panel_flops), 1,
                                   total_panels);
    t.panel_tiles = CeilDiv(total_panels, t.panels);
    t.panels = CeilDiv(total_panels, t.panel_tiles);
    t.panel_tiles = CeilDiv(total_panels, t.panels);
    return t;
  }
};

// Equal slots of memory, at most one a thread at any time.
class ScratchSlots {
 public:
  ScratchSlots(void* base, int64_t bytes, int count)
      : base_(static_cast<char*>(base)),
        bytes_(bytes),
        count_(std::min(count, kMost)) {}

  static constexpr int kMost = 256;

  // Holds one slot for its lifetime. Waits if there are more threads at work
  // than slots.
  class Slot {
   public:
    explicit Slot(ScratchSlots* all) : all_(all) {
      for (int i = 0;; i = (i + 1) % all->count_) {
        if (!all->taken_[i].exchange(true, std::memory_order_acquire)) {
          index_ = i;
          return;
        }
      }
    }
    ~Slot() { all_->taken_[index_].store(false, std::memory_order_release); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    void* data() const { return all_->base_ + index_ * all_->bytes_; }

   private:
    ScratchSlots* const all_;
    int index_;
  };

 private:
  char* const base_;
  const int64_t bytes_;
  const int count_;
  std::atomic<bool> taken_[kMost] = {};
};

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_TILES_H_
