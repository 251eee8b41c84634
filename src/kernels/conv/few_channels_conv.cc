// few_channels: forward convolution of images with up to four channels, as the
// first layer of a network has them. Along a row of the image the filter's
// columns and the channels are one run of memory,
//
//   y[x, o] = sum over filter rows and k of row[x * stride * C + k] W[k, o],
//
// k < columns * C, so that nothing is gathered: some pixels by some vectors of
// output channels stay in registers for the whole sum. Rows that reach into the
// padding at their ends are copied between zeros first. The filter is packed
// ahead in panels of output channels, as wide as two vectors, or as one if that
// holds them all.
//
// Accuracy: plain sums in one order, with or without rounding between product
// and sum. An infinity or NaN in the filter makes NaN of outputs whose window
// reaches beyond the left or right edge.

// Before all includes, so that what they define inline can be inlined. Inputs
// that the next step of a sum reads again would take registers from the sums.
#pragma GCC optimize("fp-contract=fast", "no-predictive-commoning")

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

constexpr int64_t kMostChannels = 4;
constexpr int kMostVectors = 2;  // of a panel
// Pixels of a block: sums, the panel's vectors and one factor fill the
// registers.
template <int kBytes>
constexpr int kPixels = kBytes == 64 ? 14 : 6;
constexpr int64_t kFewestPixels = kPixels<64>;

// Floats of a padded row.
int64_t LineSize(const ConvParams& p) {
  return ((p.out[2] - 1) * p.stride[2] + p.filter[2]) * p.in_channels;
}
// The most floats of all the rows that one output row sees.
constexpr double kMostScratch = 1 << 20;

// Output channels of a panel, if vectors have so many lanes at most.
int64_t PanelWidth(const ConvParams& p, int64_t lanes) {
  if (p.out_channels > lanes) return kMostVectors * lanes;
  return lanes > 4 && p.out_channels <= lanes / 2 ? lanes / 2 : lanes;
}
int64_t PanelWidth(const ConvParams& p) {
  int64_t lanes = 0;
  RunSimdWide(
      [&](auto bytes) { lanes = VectorOf<decltype(bytes)::value>::kLanes; });
  return PanelWidth(p, lanes);
}

// The rows that one output row sees.
struct Lines {
  int64_t count;
  const float* const* at;
  const float* const* filter;  // of the first panel
};

struct Row {
  const ConvParams& p;
  const VectorTail& tail;
  Lines lines;
  float* out;
  int64_t offset;  // of the row in `out`
};

// Outputs [x0, x0 + kBlock) of the panel whose first channel is `o`; the
// filter's panel is `panel` floats beyond the first. kStep is the distance of
// two outputs' inputs, 0: as the sizes say.
template <int kBytes, int kVectors, int kBlock, int kStep>
inline void SumBlock(const Row& row, int64_t x0, int64_t o, int64_t panel) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int64_t kLanes = Vector::kLanes;
  const ConvParams& p = row.p;
  const int64_t step = kStep > 0 ? kStep : p.stride[2] * p.in_channels;
  const int64_t depth = p.filter[2] * p.in_channels;
  float* const out = row.out;
  const int64_t first = row.offset + x0 * p.out_channels + o;
  // Where the result is larger than the caches, stores would be waited for.
  for (int i = 0; i < kBlock; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      __builtin_prefetch(out + first + i * p.out_channels + j * kLanes, 1);
    }
  }
  V sum[kBlock][kVectors] = {};
  for (int64_t line = 0; line < row.lines.count; ++line) {
    const float* in = row.lines.at[line] + x0 * step;
    const float* w = row.lines.filter[line] + panel;
    for (int64_t k = 0; k < depth; ++k) {
      V taps[kVectors];
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        taps[j] = Vector::At(w + j * kLanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kBlock; ++i) {
        const float x = in[i * step];
#pragma GCC unroll 2
        for (int j = 0; j < kVectors; ++j) sum[i][j] += x * taps[j];
      }
      ++in;
      w += kVectors * kLanes;
    }
  }
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    const int64_t c = j * kLanes;
    if (o + c + kLanes <= p.out_channels) {
      const VectorTail::Channels<Vector> after(row.tail, o + c);
#pragma GCC unroll 16
      for (int i = 0; i < kBlock; ++i) {
        const int64_t at = first + i * p.out_channels + c;
        row.tail.Store(sum[i][j], after, at, out);
      }
      continue;
    }
    const int64_t rest = p.out_channels - o - c;
    if (rest <= 0) continue;
    // In memory, so that there is one copy of what finishes a pixel.
    float parts[kBlock * kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kBlock; ++i) Vector::At(parts + i * kLanes) = sum[i][j];
    const VectorTail::Channels<Vector> after(row.tail, o + c, rest);
#pragma GCC unroll 1
    for (int i = 0; i < kBlock; ++i) {
      row.tail.StoreLanes<Vector>(Vector::At(parts + i * kLanes), after, rest,
                                  first + i * p.out_channels + c, out);
    }
  }
}

template <int kBytes, int kVectors, int kBlock, int kStep>
inline void SumRow(const Row& row) {
  constexpr int64_t kPanel = kVectors * VectorOf<kBytes>::kLanes;
  const ConvParams& p = row.p;
  const int64_t width = p.out[2];
  // The last block overlaps the one before.
  for (int64_t next = 0; next < width; next += kBlock) {
    const int64_t x = std::min(next, width - kBlock);
    for (int64_t o = 0; o < p.out_channels; o += kPanel) {
      SumBlock<kBytes, kVectors, kBlock, kStep>(row, x, o,
                                                o * p.taps() * p.in_channels);
    }
  }
}

// A panel of one vector: the usual first layers of small networks.
template <int kBytes, int kBlock>
inline void SumNarrow(const Row& row, int64_t step) {
  switch (step) {
    case 1:
      return SumRow<kBytes, 1, kBlock, 1>(row);
    case 3:
      return SumRow<kBytes, 1, kBlock, 3>(row);
    default:
      return SumRow<kBytes, 1, kBlock, 0>(row);
  }
}

void Sum(const Row& row) {
  const int64_t step = row.p.stride[2] * row.p.in_channels;
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    constexpr int64_t kLanes = VectorOf<kBytes>::kLanes;
    constexpr int kBlock = kPixels<kBytes>;
    const int64_t panel = PanelWidth(row.p, kLanes);
    if constexpr (kLanes > 4) {
      if (panel < kLanes) return SumNarrow<kBytes / 2, kBlock>(row, step);
    }
    if (panel == kLanes) return SumNarrow<kBytes, kBlock>(row, step);
    switch (step) {
      case 3:
        return SumRow<kBytes, kMostVectors, kBlock, 3>(row);
      case 6:
        return SumRow<kBytes, kMostVectors, kBlock, 6>(row);
      default:
        return SumRow<kBytes, kMostVectors, kBlock, 0>(row);
    }
  });
}

class FewChannelsConv : public ConvImplementation {
 public:
  const char* Name() const override { return "few_channels"; }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups == 1 && p.in_channels <= kMostChannels &&
           p.dilation[2] == 1 && p.out[2] >= kFewestPixels &&
           1.0 * p.out[2] * p.stride[2] * p.in_channels * p.filter[0] *
                   p.filter[1] <
               kMostScratch &&
           1.0 * p.taps() * p.in_channels < kMostScratch;
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const int64_t block = cpu.avx512f ? kPixels<64> : kPixels<32>;
    const int64_t panel = PanelWidth(p, cpu.avx512f ? 16 : 8);
    const double columns = 1.0 * CeilDiv(p.out[2], block) * block;
    const double rows = 1.0 * p.batch * p.out[0] * p.out[1];
    const double sums = rows * columns * CeilDiv(p.out_channels, panel) * panel;
    // Results that are written to beyond the second level cache take longer.
    const bool far = p.out_elements() * int64_t{sizeof(float)} > cpu.l2_bytes;
    const double prepare =
        p.constant_filter ? 0 : cost::kPackFewChannels * p.filter_elements();
    return cost::kStart + (far ? cost::kStoreFar : 0.0) * p.out_elements() +
           sums * (2.0 * p.taps() * p.in_channels / PeakFlopsPerNs(cpu) +
                   cost::kStore) +
           rows *
               (cost::kFewChannelsRow + cost::kFewChannelsGather * p.filter[0] *
                                            p.filter[1] * LineSize(p)) +
           prepare;
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    const int64_t width = PanelWidth(p);
    return CeilDiv(p.out_channels, width) * width * p.taps() * p.in_channels *
           int64_t{sizeof(float)};
  }
  void PrepareFilter(ThreadPool*, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    const int64_t width = PanelWidth(p);
    const float* from = static_cast<const float*>(filter);
    float* to = static_cast<float*>(prepared);
    for (int64_t o = 0; o < p.out_channels; o += width) {
      const int64_t n = std::min(width, p.out_channels - o);
      for (int64_t k = 0; k < p.taps() * p.in_channels; ++k) {
        std::copy_n(from + k * p.out_channels + o, n, to);
        std::fill_n(to + n, width - n, 0.0f);
        to += width;
      }
    }
  }
  // For each thread the rows that one output row sees, and where they and their
  // taps begin.
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    return std::min(threads, ScratchSlots::kMost) * SlotBytes(p);
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const float* in = static_cast<const float*>(args.input);
    const float* filter = static_cast<const float*>(args.prepared_filter);
    float* out = static_cast<float*>(args.result);
    const VectorTail tail(args.epilogue);
    const int64_t line_size = LineSize(p);
    const int64_t all_lines = p.filter[0] * p.filter[1];
    const int64_t tap_row =
        p.filter[2] * p.in_channels * PanelWidth(p);  // floats of a filter row
    const int64_t in_row = p.in[2] * p.in_channels;
    // Inputs of a padded row that lie inside the image.
    const int64_t before = std::min(p.pad_before[2] * p.in_channels, line_size);
    const int64_t inside = std::min(in_row, line_size - before);
    const bool copies = before > 0 || inside < line_size;
    ScratchSlots slots(args.workspace, SlotBytes(p),
                       std::min(args.pool->NumThreads(), ScratchSlots::kMost));
    const int64_t rows = p.batch * p.out[0] * p.out[1];
    const double cost = 0.025 * p.out[2] * p.out_channels * p.taps() *
                        static_cast<double>(p.in_channels);
    args.pool->ParallelForCost(rows, cost, [&](int64_t begin, int64_t end) {
      const ScratchSlots::Slot slot(&slots);
      const float** at = static_cast<const float**>(slot.data());
      const float** taps = at + all_lines;
      float* copy = reinterpret_cast<float*>(taps + all_lines);
      for (int64_t r = begin; r < end; ++r) {
        const int64_t oy = r % p.out[1], oz = r / p.out[1] % p.out[0];
        const int64_t image = r / (p.out[1] * p.out[0]);
        int64_t count = 0;
        ForEachImageRow(p, oz, oy, [&](int64_t line, int64_t z, int64_t y) {
          const float* from =
              in + ((image * p.in[0] + z) * p.in[1] + y) * in_row;
          if (copies) {
            float* to = copy + count * line_size;
            std::fill_n(to, before, 0.0f);
            std::copy_n(from, inside, to + before);
            std::fill_n(to + before + inside, line_size - before - inside,
                        0.0f);
            from = to;
          }
          at[count] = from;
          taps[count++] = filter + line * tap_row;
        });
        Sum({p, tail, {count, at, taps}, out, r * p.out[2] * p.out_channels});
        if (!tail.rest.empty()) {
          ApplyEpilogue(tail.rest, OutputRows(p, r), out);
        }
      }
    });
  }

 private:
  static int64_t SlotBytes(const ConvParams& p) {
    const int64_t lines = p.filter[0] * p.filter[1];
    const int64_t bytes =
        lines * (LineSize(p) * int64_t{sizeof(float)} + 2 * int64_t{8});
    return CeilDiv(bytes, 64) * 64;
  }
};

}  // namespace

const ConvImplementation* FewChannels() {
  static const FewChannelsConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
