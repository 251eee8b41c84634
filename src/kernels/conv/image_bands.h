// Bands of output rows of a forward convolution of floats, and the rows of the
// image that they see. The rows are copied between zeros, so that a loop over
// pixels asks for no edge; or they are read where they lie, where the image
// needs no padding along a row.
#ifndef HEADRACE_KERNELS_CONV_IMAGE_BANDS_H_
#define HEADRACE_KERNELS_CONV_IMAGE_BANDS_H_

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/tiles.h"

namespace headrace::conv {

class ImageBands {
 public:
  struct Needs {
    int64_t pixel;        // floats from one copied pixel to the next
    int64_t least_width;  // outputs that are computed of a row, at least
    double row_ns;        // what an output row takes
    bool copies = false;  // even where nothing is padded
    // Rows outside the image are there, as zeros; then all are copied.
    bool zero_rows = false;
  };
  // `p` outlives it.
  ImageBands(const ConvParams& p, const Needs& needs);

  // The rows that one output row reads are no more than some megabytes.
  static bool Fit(const ConvParams& p, int64_t pixel, int64_t least_width);

  // Through all depths of all images.
  int64_t size() const { return p_.batch * p_.out[0] * bands_; }
  int64_t most_rows() const { return rows_; }  // output rows of a band
  double band_ns() const { return row_ns_ * static_cast<double>(rows_); }
  // Floats from one pixel to the next, where the rows are read.
  int64_t pixel() const { return copies_ ? pixel_ : p_.in_channels; }
  // Floats from where an output row begins to see the image to the filter's
  // `line` there, if all rows are copied.
  int64_t Distance(int64_t line) const {
    return (line / p_.filter[1] * lines_ +
            line % p_.filter[1] * p_.dilation[1]) *
           line_;
  }
  // Floats that are copied for all bands, zeros among them.
  double copied() const;
  // Scratch memory of a band.
  int64_t SlotBytes() const;
  // Scratch memory of ForEach.
  int64_t WorkspaceBytes(int threads) const {
    return std::min(threads, ScratchSlots::kMost) * SlotBytes();
  }
  // Calls use(index, scratch) for each band, on the threads of the pool.
  template <typename Use>
  void ForEach(ThreadPool* pool, void* workspace, const Use& use) const {
    ScratchSlots slots(workspace, SlotBytes(),
                       std::min(pool->NumThreads(), ScratchSlots::kMost));
    pool->ParallelForCost(size(), band_ns(), [&](int64_t begin, int64_t end) {
      const ScratchSlots::Slot slot(&slots);
      for (int64_t b = begin; b < end; ++b) use(b, slot.data());
    });
  }

 private:
  friend class ImageBand;

  int64_t CopiedBytes() const;

  const ConvParams& p_;
  const int64_t pixel_;
  const double row_ns_;
  const bool zero_rows_;
  bool copies_;
  int64_t line_pixels_;  // of a copied row
  int64_t line_;         // floats from one row to the next
  int64_t rows_;         // output rows of a band
  int64_t lines_;        // of one depth that a band reads
  int64_t bands_;        // of one depth
};

// The rows of the image that one output row sees: where each begins, its
// padding included, and its number among the filter's lines (ForEachImageRow).
struct ImageRows {
  int64_t count = 0;
  const float** at = nullptr;
  int64_t* line = nullptr;
};

class ImageBand {
 public:
  // Copies what the index-th band sees. `scratch` has SlotBytes, aligned to 64.
  ImageBand(const ImageBands& bands, const float* input, int64_t index,
            void* scratch);
  // Output rows [first_row, first_row + rows), numbered through all depths and
  // images.
  int64_t first_row() const { return depth_ * bands_.p_.out[1] + oy_; }
  int64_t rows() const { return rows_; }
  // Where row first_row + r begins to see the image; its lines are at
  // ImageBands::Distance. Bands with zero_rows alone.
  const float* First(int64_t r) const {
    return copies_ + r * bands_.p_.stride[1] * bands_.line_;
  }
  // What row first_row + r sees, until the next call.
  const ImageRows& Row(int64_t r);

 private:
  const float* Line(int64_t z, int64_t y) const;
  void Copy(const float* from, float* to) const;

  const ImageBands& bands_;
  const int64_t depth_, oz_, oy_, rows_;
  const float* const image_;
  float* const copies_;
  ImageRows row_;
};

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_IMAGE_BANDS_H_
