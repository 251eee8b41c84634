// few_outputs: forward convolution with up to four output channels, as the last
// layer of a generator or of a segmentation has them. Vectors run along the
// input channels, since the output has too few to fill one:
//
//   y[x, o] = sum over taps and c of in[x * stride + tap, c] W[tap, c, o]
//
// The sums of some pixels stay in registers; the lanes of each are added at the
// end. The filter is packed ahead by output channels. The rows that a band of
// output rows reads are copied between zeros first, unless the image needs
// neither padding nor whole vectors of channels.
//
// Accuracy: as many partial sums as a vector has lanes, each in one order, with
// or without rounding between product and sum. An infinity or NaN in the filter
// makes NaN of outputs whose window reaches beyond the left or right edge.

// Before all includes, so that what they define inline can be inlined.
#pragma GCC optimize("fp-contract=fast", "no-predictive-commoning")

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/simd_width.h"

namespace headrace::conv {
namespace {

constexpr int64_t kMostOutputs = 4;
// Channels of a packed pixel are a multiple of this.
constexpr int64_t kChannels = 16;
// Pixels of a block, by bytes of a vector and output channels: the sums, with
// the taps of each output channel, fill the registers. The number of sums is a
// multiple of 4.
constexpr int BlockPixels(int bytes, int64_t out_channels) {
  if (out_channels == 1) return 12;
  if (bytes < 64) return out_channels == 4 ? 2 : 4;
  return out_channels == 4 ? 6 : 8;
}
constexpr int64_t kMostPixels = 12;
// Bytes of a band's copied rows: they stay in the second level cache.
constexpr int64_t kBandBytes = 256 << 10;
// A band takes this long at least, if the image has the rows.
constexpr double kBandNs = 20000;

int64_t PackedChannels(const ConvParams& p) {
  return CeilDiv(p.in_channels, kChannels) * kChannels;
}

// How the rows of the image are read.
struct Layout {
  bool copies;
  int64_t line_pixels;  // of a copied row
  int64_t line;         // floats from one row to the next
  int64_t rows;         // output rows of a band
  int64_t lines;        // of one depth that a band reads
  int64_t bands;        // of one depth
  double row_ns;        // of an output row

  explicit Layout(const ConvParams& p) {
    copies = p.in_channels % kChannels != 0 || p.out[2] < kMostPixels ||
             p.pad_before[2] != 0 || p.pad_after[2] > 0;
    const int64_t width = std::max(p.out[2], kMostPixels);
    line_pixels = copies ? (width - 1) * p.stride[2] +
                               (p.filter[2] - 1) * p.dilation[2] + 1
                         : p.in[2];
    line = line_pixels * PackedChannels(p);
    row_ns = 0.015 * static_cast<double>(p.out[2] * p.out_channels) *
             static_cast<double>(p.taps() * PackedChannels(p));
    const int64_t fit =
        kBandBytes / (p.filter[0] * line * int64_t{sizeof(float)}) -
        p.filter[1] * p.dilation[1];
    const int64_t wanted = static_cast<int64_t>(kBandNs / row_ns) + 1;
    rows = std::clamp<int64_t>(
        copies ? std::min(fit / p.stride[1], wanted) : wanted, 1, p.out[1]);
    lines = (rows - 1) * p.stride[1] + (p.filter[1] - 1) * p.dilation[1] + 1;
    bands = CeilDiv(p.out[1], rows);
  }
};

// The rows that one output row sees, and their taps for output channel 0.
struct Lines {
  int64_t count = 0;
  const float** at;
  const float** taps;
};

struct Row {
  const ConvParams& p;
  Lines lines;
  float* out;  // its first pixel
};

// The sums of the lanes of four vectors.
template <typename Vector>
inline VectorOf<16>::Type AddLanes(const float* vectors) {
  using Quad = VectorOf<16>;
  Quad::Type part[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    part[i] = Quad::At(vectors + i * Vector::kLanes);
#pragma GCC unroll 4
    for (int64_t lane = 4; lane < Vector::kLanes; lane += 4) {
      part[i] += Quad::At(vectors + i * Vector::kLanes + lane);
    }
  }
  const auto halves = [](Quad::Type a, Quad::Type b) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5) +
           __builtin_shufflevector(a, b, 2, 6, 3, 7);
  };
  const Quad::Type low = halves(part[0], part[1]);
  const Quad::Type high = halves(part[2], part[3]);
  return __builtin_shufflevector(low, high, 0, 1, 4, 5) +
         __builtin_shufflevector(low, high, 2, 3, 6, 7);
}

// Outputs [x0, x0 + kPixels), of which the first `count` are stored.
template <int kBytes, int kOut>
inline void SumBlock(const Row& row, int64_t x0, int64_t count) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int64_t kLanes = Vector::kLanes;
  constexpr int kBlock = BlockPixels(kBytes, kOut);
  const ConvParams& p = row.p;
  const int64_t channels = PackedChannels(p);
  const int64_t step = p.stride[2] * channels;
  // Taps side by side and their channels are one run of memory.
  const int64_t runs = p.dilation[2] == 1 ? 1 : p.filter[2];
  const int64_t depth = p.filter[2] / runs * channels;
  const int64_t run_step = p.dilation[2] * channels;
  const int64_t out_step = p.taps() * channels;  // in the filter
  V sum[kBlock][kOut] = {};
  for (int64_t line = 0; line < row.lines.count; ++line) {
    const float* first = row.lines.at[line] + x0 * step;
    const float* w = row.lines.taps[line];
    for (int64_t run = 0; run < runs; ++run) {
      for (int64_t k = 0; k < depth; k += kLanes) {
        V taps[kOut];
#pragma GCC unroll 4
        for (int o = 0; o < kOut; ++o) {
          taps[o] = Vector::At(w + o * out_step + k);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kBlock; ++i) {
          const V x = Vector::At(first + i * step + k);
#pragma GCC unroll 4
          for (int o = 0; o < kOut; ++o) sum[i][o] += x * taps[o];
        }
      }
      first += run_step;
      w += depth;
    }
  }
  float lanes[kBlock * kOut * kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kBlock; ++i) {
#pragma GCC unroll 4
    for (int o = 0; o < kOut; ++o) {
      Vector::At(lanes + (i * kOut + o) * kLanes) = sum[i][o];
    }
  }
  static_assert(kBlock * kOut % 4 == 0);
  float results[kBlock * kOut];
#pragma GCC unroll 8
  for (int i = 0; i < kBlock * kOut; i += 4) {
    VectorOf<16>::At(results + i) = AddLanes<Vector>(lanes + i * kLanes);
  }
  std::copy_n(results, count * kOut, row.out + x0 * kOut);
}

template <int kBytes, int kOut>
inline void SumRow(const Row& row) {
  constexpr int64_t kBlock = BlockPixels(kBytes, kOut);
  const int64_t width = row.p.out[2];
  // The last block overlaps the one before, if there is one.
  for (int64_t next = 0; next < width; next += kBlock) {
    const int64_t x = std::max<int64_t>(std::min(next, width - kBlock), 0);
    SumBlock<kBytes, kOut>(row, x, std::min(kBlock, width));
  }
}

void Sum(const Row& row) {
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    switch (row.p.out_channels) {
      case 1:
        return SumRow<kBytes, 1>(row);
      case 2:
        return SumRow<kBytes, 2>(row);
      case 3:
        return SumRow<kBytes, 3>(row);
      default:
        return SumRow<kBytes, 4>(row);
    }
  });
}

class FewOutputsConv : public ConvImplementation {
 public:
  const char* Name() const override { return "few_outputs"; }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups == 1 && p.out_channels <= kMostOutputs &&
           p.in_channels >= kChannels / 2 && Fits(p);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const Layout layout(p);
    const int64_t block = BlockPixels(cpu.avx512f ? 64 : 32, p.out_channels);
    const double rows = 1.0 * p.batch * p.out[0] * p.out[1];
    const double sums =
        rows * CeilDiv(p.out[2], block) * block * p.out_channels;
    const double copied = layout.copies
                              ? 1.0 * p.batch * p.out[0] * layout.bands *
                                    p.filter[0] * layout.lines * layout.line
                              : 0;
    return cost::kStart +
           sums * (2.0 * p.taps() * PackedChannels(p) /
                       (PeakFlopsPerNs(cpu) * cost::kFewOutputsRate) +
                   cost::kFewOutputsSum) +
           copied * cost::kFewOutputsCopy + rows * cost::kFewOutputsRow +
           (p.constant_filter ? 0 : cost::kPackFilter * p.filter_elements());
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return p.out_channels * p.taps() * PackedChannels(p) *
           int64_t{sizeof(float)};
  }
  void PrepareFilter(ThreadPool*, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    const float* const from = static_cast<const float*>(filter);
    float* to = static_cast<float*>(prepared);
    const int64_t channels = PackedChannels(p);
    for (int64_t o = 0; o < p.out_channels; ++o) {
      for (int64_t tap = 0; tap < p.taps(); ++tap, to += channels) {
        for (int64_t c = 0; c < p.in_channels; ++c) {
          to[c] = from[(tap * p.in_channels + c) * p.out_channels + o];
        }
        std::fill(to + p.in_channels, to + channels, 0.0f);
      }
    }
  }
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    return std::min(threads, ScratchSlots::kMost) * SlotBytes(p, Layout(p));
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const Layout layout(p);
    ScratchSlots slots(args.workspace, SlotBytes(p, layout),
                       std::min(args.pool->NumThreads(), ScratchSlots::kMost));
    args.pool->ParallelForCost(p.batch * p.out[0] * layout.bands,
                               layout.row_ns * static_cast<double>(layout.rows),
                               [&](int64_t begin, int64_t end) {
                                 const ScratchSlots::Slot slot(&slots);
                                 for (int64_t b = begin; b < end; ++b) {
                                   RunBand(args, layout, b, slot.data());
                                 }
                               });
  }

 private:
  // The rows that one output row reads are no more than some megabytes.
  static bool Fits(const ConvParams& p) {
    constexpr double kMostBytes = 8 << 20;
    const double pixels = 1.0 * std::max(p.out[2], kMostPixels) * p.stride[2] +
                          1.0 * p.filter[2] * p.dilation[2];
    const double lines = 1.0 * p.filter[1] * p.dilation[1] + p.stride[1];
    return pixels * lines * p.filter[0] * PackedChannels(p) * sizeof(float) <
               kMostBytes &&
           1.0 * p.in[2] * PackedChannels(p) * sizeof(float) < kMostBytes;
  }

  static int64_t CopiedBytes(const ConvParams& p, const Layout& layout) {
    return layout.copies ? p.filter[0] * layout.lines * layout.line *
                               int64_t{sizeof(float)}
                         : 0;
  }
  // Copied rows, and where those that one output row sees and their taps begin.
  static int64_t SlotBytes(const ConvParams& p, const Layout& layout) {
    const int64_t pointers = 2 * p.filter[0] * p.filter[1] * int64_t{8};
    return CeilDiv(CopiedBytes(p, layout) + pointers, 64) * 64;
  }

  static void RunBand(const ConvArgs& args, const Layout& layout, int64_t band,
                      void* scratch) {
    const ConvParams& p = *args.params;
    const int64_t oy0 = band % layout.bands * layout.rows;
    const int64_t rows = std::min(layout.rows, p.out[1] - oy0);
    const int64_t depth = band / layout.bands;  // through all images
    const int64_t oz = depth % p.out[0];
    const float* const image = static_cast<const float*>(args.input) +
                               depth / p.out[0] * p.in_pixels() * p.in_channels;
    const float* const filter = static_cast<const float*>(args.prepared_filter);
    const int64_t all = p.filter[0] * p.filter[1];
    Lines lines;
    // The rows come first: their pixels are whole lines of the cache.
    float* const copies = static_cast<float*>(scratch);
    lines.at = reinterpret_cast<const float**>(static_cast<char*>(scratch) +
                                               CopiedBytes(p, layout));
    lines.taps = lines.at + all;
    const int64_t first_z = oz * p.stride[0] - p.pad_before[0];
    const int64_t first_y = oy0 * p.stride[1] - p.pad_before[1];
    const auto row_of = [&](int64_t z, int64_t y) {
      return image + (z * p.in[1] + y) * p.in[2] * p.in_channels;
    };
    if (layout.copies) {
      const int64_t last =
          (rows - 1) * p.stride[1] + (p.filter[1] - 1) * p.dilation[1];
      for (int64_t tz = 0; tz < p.filter[0]; ++tz) {
        const int64_t z = first_z + tz * p.dilation[0];
        if (z < 0 || z >= p.in[0]) continue;
        for (int64_t i = 0; i <= last; ++i) {
          const int64_t y = first_y + i;
          if (y < 0 || y >= p.in[1]) continue;
          CopyLine(p, layout, row_of(z, y),
                   copies + (tz * layout.lines + i) * layout.line);
        }
      }
    }
    float* const out = static_cast<float*>(args.result);
    const int64_t row0 = depth * p.out[1] + oy0;
    const int64_t tap_row = p.filter[2] * PackedChannels(p);
    for (int64_t r = 0; r < rows; ++r) {
      lines.count = 0;
      ForEachImageRow(p, oz, oy0 + r, [&](int64_t line, int64_t z, int64_t y) {
        const int64_t copy = line / p.filter[1] * layout.lines + (y - first_y);
        lines.at[lines.count] =
            layout.copies ? copies + copy * layout.line : row_of(z, y);
        lines.taps[lines.count++] = filter + line * tap_row;
      });
      Sum({p, lines, out + (row0 + r) * p.out[2] * p.out_channels});
    }
    if (!args.epilogue.empty()) {
      ApplyEpilogue(args.epilogue, OutputRows(p, row0, rows), out);
    }
  }

  // Pixels that lie in the image between zeros, and zeros after its channels.
  static void CopyLine(const ConvParams& p, const Layout& layout,
                       const float* from, float* to) {
    const int64_t channels = PackedChannels(p);
    const int64_t before =
        std::clamp<int64_t>(p.pad_before[2], 0, layout.line_pixels);
    // A turned convolution may have negative padding.
    const int64_t skipped = std::max<int64_t>(-p.pad_before[2], 0);
    const int64_t inside =
        std::clamp<int64_t>(p.in[2] - skipped, 0, layout.line_pixels - before);
    from += skipped * p.in_channels;
    std::fill_n(to, before * channels, 0.0f);
    to += before * channels;
    if (channels == p.in_channels) {
      std::copy_n(from, inside * channels, to);
    } else {
      for (int64_t x = 0; x < inside; ++x) {
        std::copy_n(from + x * p.in_channels, p.in_channels, to + x * channels);
        std::fill_n(to + x * channels + p.in_channels, channels - p.in_channels,
                    0.0f);
      }
    }
    std::fill_n(to + inside * channels,
                (layout.line_pixels - before - inside) * channels, 0.0f);
  }
};

}  // namespace

const ConvImplementation* FewOutputs() {
  static const FewOutputsConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
