// im2col: the patches under the filter, gathered as rows of a matrix, times
// the filter as a matrix. Only a block of that matrix exists at a time, in the
// cache of the thread that uses it: some pixels by some of the patch.
//
//   forward          y[pixels, O]  = P[pixels, K] W[K, O],  K = taps * channels
//   backward filter  dW[K, O]      = P' dY, pixels in order
//
// Serves few channels (the first layer of a network), narrow images, and the
// gradient of the filter in general. The gradient is cut along K, O and, where
// that gives too few pieces, along the pixels; partial sums are then added in
// order, so that the result does not depend on who computed which piece.
#include <cstring>
#include <type_traits>

#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/gemm_kernel.h"
#include "kernels/lib/visit_type.h"

namespace headrace::conv {
namespace {

constexpr int64_t kPixels = 256;  // of a block of patches
constexpr int64_t kDepth = kGemmDepth;

// memcpy for runs that are mostly short: no call, and the last piece overlaps
// the one before instead of being cut into smaller ones.
template <typename T>
inline void CopyRun(const T* from, int64_t n, T* to) {
  constexpr int64_t kPiece = 16 / sizeof(T);
  if (n * static_cast<int64_t>(sizeof(T)) > 512) {
    std::memcpy(to, from, n * sizeof(T));
    return;
  }
  if (n < kPiece) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + kPiece < n; i += kPiece) {
    std::memcpy(to + i, from + i, 16);
  }
  std::memcpy(to + n - kPiece, from + n - kPiece, 16);
}

// Columns [k0, k1) of the patches of `count` output pixels from `pixel0` on,
// for one group; rows of k1 - k0 elements. The padding reads as zeros.
template <typename T>
void Gather(const ConvParams& p, const T* in, int64_t group, int64_t pixel0,
            int64_t count, int64_t k0, int64_t k1, T* out) {
  const int64_t channels = p.group_in();
  const int64_t line = p.filter[2] * channels;  // of a patch: one (tz, ty)
  // Neighbouring taps are neighbours in memory: whole lines can be copied.
  const bool contiguous = p.dilation[2] == 1 && p.groups == 1;
  const int64_t first_line = k0 / line, last_line = (k1 - 1) / line;
  // The position of the pixel, counted up: divisions would cost more than the
  // copies.
  int64_t ox = pixel0 % p.out[2], oy = pixel0 / p.out[2] % p.out[1];
  int64_t oz = pixel0 / (p.out[2] * p.out[1]) % p.out[0];
  int64_t image = pixel0 / p.out_pixels();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x0 = ox * p.stride[2] - p.pad_before[2];
    int64_t tz = first_line / p.filter[1], ty = first_line % p.filter[1];
    for (int64_t l = first_line; l <= last_line; ++l) {
      // Columns [a, b) of this line.
      const int64_t a = std::max(k0 - l * line, int64_t{0});
      const int64_t b = std::min(k1 - l * line, line);
      T* const to = out;
      out += b - a;
      const int64_t z = oz * p.stride[0] + tz * p.dilation[0] - p.pad_before[0];
      const int64_t y = oy * p.stride[1] + ty * p.dilation[1] - p.pad_before[1];
      if (++ty == p.filter[1]) {
        ty = 0;
        ++tz;
      }
      if (z < 0 || z >= p.in[0] || y < 0 || y >= p.in[1]) {
        std::fill_n(to, b - a, T(0));
        continue;
      }
      const T* from =
          in + ((image * p.in[0] + z) * p.in[1] + y) * p.in[2] * p.in_channels +
          group * channels;
      if (contiguous) {
        if (x0 >= 0 && x0 + p.filter[2] <= p.in[2]) {
          CopyRun(from + x0 * channels + a, b - a, to);
          continue;
        }
        if (x0 >= p.in[2] || x0 <= -p.filter[2]) {
          std::fill_n(to, b - a, T(0));
          continue;
        }
        // Columns [lo, hi) lie inside the image.
        const int64_t lo = std::clamp(-x0 * channels, a, b);
        const int64_t hi = std::clamp((p.in[2] - x0) * channels, lo, b);
        std::fill_n(to, lo - a, T(0));
        CopyRun(from + x0 * channels + lo, hi - lo, to + (lo - a));
        std::fill_n(to + (hi - a), b - hi, T(0));
        continue;
      }
      int64_t c = a % channels, x = x0 + a / channels * p.dilation[2];
      for (int64_t k = a; k < b;) {
        const int64_t run = std::min(channels - c, b - k);
        if (x < 0 || x >= p.in[2]) {
          std::fill_n(to + (k - a), run, T(0));
        } else {
          CopyRun(from + x * p.in_channels + c, run, to + (k - a));
        }
        k += run;
        c = 0;
        x += p.dilation[2];
      }
    }
    if (++ox == p.out[2]) {
      ox = 0;
      if (++oy == p.out[1]) {
        oy = 0;
        if (++oz == p.out[0]) {
          oz = 0;
          ++image;
        }
      }
    }
  }
}

// Scratch of one thread: a block of patches.
template <typename T>
constexpr int64_t kSlotBytes = kPixels* kDepth * sizeof(T);

int64_t SlotBytes(const ConvParams& p) {
  return kPixels * kDepth * DataTypeSize(p.dtype);
}

template <typename T>
void Forward(const ConvArgs& args, int threads, bool generate) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  const ConvParams& p = *args.params;
  const T* in = static_cast<const T*>(args.input);
  const T* filter = static_cast<const T*>(args.filter);
  T* out = static_cast<T*>(args.result);
  const int64_t patch = p.taps() * p.group_in();
  const int64_t pixels = p.batch * p.out_pixels();
  const int64_t group_panels = CeilDiv(p.group_out(), kPanel);
  Tiling tiles = Tiling::Of(pixels, 1, group_panels, kPanel, patch);
  const int64_t depth = CeilDiv(patch, CeilDiv(patch, kDepth));
  const bool pack = tiles.rows >= 48 && p.out_channels > kPanel;
  ScratchSlots slots(args.workspace, kSlotBytes<T>, threads);

  args.pool->ParallelFor(p.groups * tiles.size(), 1, [&](int64_t at, int64_t) {
    const ScratchSlots::Slot slot(&slots);
    T* patches = static_cast<T*>(slot.data());
    alignas(64) T panel[kDepth * kPanel];
    const int64_t group = at / tiles.size(), tile = at % tiles.size();
    const int64_t r0 = tile / tiles.panel_tiles * tiles.rows;
    const int64_t m = std::min(pixels - r0, tiles.rows);
    const int64_t p0 = tile % tiles.panel_tiles * tiles.panels;
    const int64_t p1 = std::min(group_panels, p0 + tiles.panels);
    for (int64_t k0 = 0; k0 < patch; k0 += depth) {
      const int64_t k = std::min(depth, patch - k0);
      Gather(p, in, group, r0, m, k0, k0 + k, patches);
      for (int64_t q = p0; q < p1; ++q) {
        const int64_t j = q * kPanel;
        const int64_t n = std::min(kPanel, p.group_out() - j);
        const int64_t o = group * p.group_out() + j;
        const T* w = filter + k0 * p.out_channels + o;
        if (pack) {
          PackPanel(w, p.out_channels, false, 0, 0, k, n, panel);
        }
        const GemmKernel<T> kernel({.m = m,
                                    .n = n,
                                    .k = k,
                                    .lda = k,
                                    .ldb = pack ? n : p.out_channels,
                                    .ldc = p.out_channels,
                                    .accumulate = k0 > 0},
                                   generate);
        kernel(patches, pack ? panel : w, out + r0 * p.out_channels + o);
      }
    }
    if (args.epilogue.empty()) return;
    const int64_t first = p0 * kPanel;
    ApplyEpilogue(args.epilogue,
                  {.row = r0,
                   .rows = m,
                   .channel = group * p.group_out() + first,
                   .channels = std::min(p1 * kPanel, p.group_out()) - first,
                   .row_size = p.out_channels},
                  out);
  });
}

// How the filter's gradient is cut.
struct FilterTiles {
  int64_t depth, depth_tiles;   // rows of dW in a piece
  int64_t panels, panel_tiles;  // panels of its columns
  int64_t pixels, slices;       // pixels in a slice
  FilterTiles(const ConvParams& p, int64_t panel) {
    const int64_t patch = p.taps() * p.group_in();
    depth_tiles = CeilDiv(patch, kDepth);
    depth = CeilDiv(patch, depth_tiles);
    depth_tiles = CeilDiv(patch, depth);
    const int64_t all_panels = CeilDiv(p.group_out(), panel);
    panel_tiles = CeilDiv(all_panels, 4);
    panels = CeilDiv(all_panels, panel_tiles);
    panel_tiles = CeilDiv(all_panels, panels);
    const int64_t pieces = p.groups * depth_tiles * panel_tiles;
    const int64_t all_pixels = p.batch * p.out_pixels();
    // Sixteen pieces keep the threads busy, if each is worth 100 us.
    slices = std::min<int64_t>({CeilDiv(16, pieces),
                                CeilDiv(all_pixels, 2 * kPixels),
                                static_cast<int64_t>(p.flops() / 1e7)});
    slices = std::max<int64_t>(slices, 1);
    pixels = CeilDiv(CeilDiv(all_pixels, slices), kPixels) * kPixels;
    slices = CeilDiv(all_pixels, pixels);
  }
};

template <typename T>
void BackwardFilter(const ConvArgs& args, int threads, bool generate) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  const ConvParams& p = *args.params;
  const T* in = static_cast<const T*>(args.input);
  const T* dy = static_cast<const T*>(args.out_backprop);
  T* dw = static_cast<T*>(args.result);
  const int64_t patch = p.taps() * p.group_in();
  const int64_t all_pixels = p.batch * p.out_pixels();
  const FilterTiles t(p, kPanel);
  ScratchSlots slots(args.workspace, kSlotBytes<T>, threads);
  T* partial = reinterpret_cast<T*>(static_cast<char*>(args.workspace) +
                                    threads * kSlotBytes<T>);
  const int64_t elements = p.filter_elements();

  const int64_t pieces = p.groups * t.depth_tiles * t.panel_tiles;
  args.pool->ParallelFor(pieces * t.slices, 1, [&](int64_t at, int64_t) {
    const ScratchSlots::Slot slot(&slots);
    T* patches = static_cast<T*>(slot.data());
    alignas(64) T panel[kPixels * kPanel];
    const int64_t slice = at % t.slices, piece = at / t.slices;
    const int64_t q0 = piece % t.panel_tiles * t.panels;
    const int64_t k0 = piece / t.panel_tiles % t.depth_tiles * t.depth;
    const int64_t group = piece / (t.panel_tiles * t.depth_tiles);
    const int64_t k1 = std::min(patch, k0 + t.depth);
    const int64_t begin = slice * t.pixels;
    const int64_t end = std::min(all_pixels, begin + t.pixels);
    T* to = t.slices == 1 ? dw : partial + slice * elements;
    for (int64_t pixel = begin; pixel < end; pixel += kPixels) {
      const int64_t count = std::min(kPixels, end - pixel);
      Gather(p, in, group, pixel, count, k0, k1, patches);
      for (int64_t q = q0; q < q0 + t.panels; ++q) {
        const int64_t j = q * kPanel;
        if (j >= p.group_out()) break;
        const int64_t n = std::min(kPanel, p.group_out() - j);
        const int64_t o = group * p.group_out() + j;
        const T* rows = dy + pixel * p.out_channels + o;
        const bool pack = k1 - k0 >= 128 && p.out_channels > kPanel;
        if (pack) PackPanel(rows, p.out_channels, false, 0, 0, count, n, panel);
        const GemmKernel<T> kernel({.m = k1 - k0,
                                    .n = n,
                                    .k = count,
                                    .lda = k1 - k0,
                                    .ldb = pack ? n : p.out_channels,
                                    .ldc = p.out_channels,
                                    .transpose_a = true,
                                    .accumulate = pixel > begin},
                                   generate);
        kernel(patches, pack ? panel : rows, to + k0 * p.out_channels + o);
      }
    }
  });
  if (t.slices == 1) return;
  args.pool->ParallelForCost(
      elements, 0.3 * t.slices, [&](int64_t begin, int64_t end) {
        std::copy(partial + begin, partial + end, dw + begin);
        for (int64_t s = 1; s < t.slices; ++s) {
          const T* more = partial + s * elements;
          for (int64_t i = begin; i < end; ++i) dw[i] += more[i];
        }
      });
}

class Im2colConv : public ConvImplementation {
 public:
  Im2colConv(ConvDirection d, bool generate)
      : direction_(d), generate_(generate) {}
  const char* Name() const override {
    return generate_ ? "im2col_gemm" : "eigen";
  }
  bool AppliesEpilogue() const override { return true; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    if (p.format != DataFormat::kNHWC || WorkspaceBytes(p, 1) < 0) return false;
    return p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE ||
           (p.dtype == DT_INT32 && generate_ &&
            direction_ == ConvDirection::kForward);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const double patches =
        1.0 * p.batch * p.out_pixels() * p.taps() * p.in_channels;
    const bool forward = direction_ == ConvDirection::kForward;
    const double rate =
        generate_ ? (forward ? cost::kIm2colRate : cost::kIm2colBackwardRate) *
                        PeakFlopsPerNs(cpu)
                  : cost::kEigenFlopsPerNs;
    const double product =
        p.flops() / rate *
        (1 + cost::kIm2colLeadIn / (p.taps() * p.group_in())) *
        (CeilDiv(p.group_out(), 16) * 16.0 / p.group_out());
    // Each run of neighbours costs a call.
    const int64_t run = p.groups == 1 && p.dilation[2] == 1
                            ? p.filter[2] * p.in_channels
                            : p.group_in();
    if (forward) {
      // The filter is packed by each tile of pixels.
      const int64_t tiles = CeilDiv(p.batch * p.out_pixels(), kPixels);
      return cost::kIm2colStart + product + cost::kStore * p.out_elements() +
             patches * (cost::kPatchForward + cost::kPatchForwardPiece / run) *
                 CeilDiv(p.group_out(), 256) +
             cost::kPackIm2colTile * tiles * p.filter_elements();
    }
    return product +
           patches * (cost::kPatchBackward + cost::kPatchBackwardPiece / run) *
               CeilDiv(p.group_out(), 256);
  }
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    threads = std::min(threads, ScratchSlots::kMost);
    int64_t bytes = threads * SlotBytes(p);
    if (direction_ == ConvDirection::kBackwardFilter) {
      const int64_t size = DataTypeSize(p.dtype);
      const FilterTiles t(p, 256 / size);
      if (t.slices > 1) {
        bytes = AddWithoutOverflow(
            bytes,
            MultiplyWithoutOverflow(t.slices * size, p.filter_elements()));
      }
    }
    return bytes;
  }
  void Run(const ConvArgs& args) const override {
    VisitType<float, double, int32_t>(args.params->dtype,
                                      [&]<typename T>(T) { RunAs<T>(args); });
  }

 private:
  static int Threads(const ConvArgs& args) {
    return std::min(args.pool->NumThreads(), ScratchSlots::kMost);
  }
  template <typename T>
  void RunAs(const ConvArgs& args) const {
    if (direction_ == ConvDirection::kForward) {
      Forward<T>(args, Threads(args), generate_);
    } else if constexpr (std::is_floating_point_v<T>) {
      BackwardFilter<T>(args, Threads(args), generate_);
    }
  }
  const ConvDirection direction_;
  const bool generate_;
};

}  // namespace

const ConvImplementation* Im2colForward() {
  static const Im2colConv implementation(ConvDirection::kForward, true);
  return &implementation;
}
const ConvImplementation* EigenForward() {
  static const Im2colConv implementation(ConvDirection::kForward, false);
  return &implementation;
}
const ConvImplementation* Im2colBackwardFilter() {
  static const Im2colConv implementation(ConvDirection::kBackwardFilter, true);
  return &implementation;
}
const ConvImplementation* EigenBackwardFilter() {
  static const Im2colConv implementation(ConvDirection::kBackwardFilter, false);
  return &implementation;
}

}  // namespace headrace::conv
