// grouped: forward convolution in groups of few channels, depthwise ones with a
// multiplier among them. One vector holds output channels of several groups, so
// a matrix product of a group would leave most of it empty:
//
//   y[x, o] = sum over taps and c of in[x + tap, first(o) + c] W[tap, c, o]
//
// where first(o) is the first input channel of o's group. For a tap and a c,
// the factors of a vector's channels are some of the next input channels, each
// as often as a group has outputs: one load and one shuffle. The sums of some
// pixels stay in registers. What the columns of a filter of three share of the
// image is loaded once. Groups of a whole vector and more multiply one input
// with it. The image's rows are copied between zeros first (image_bands.h). The
// filter is packed ahead in panels of 16 output channels.
//
// Accuracy: plain sums in one order, with or without rounding between product
// and sum. An infinity or NaN in the filter makes NaN of outputs whose window
// reaches beyond the left or right edge.

// Before all includes, so that what they define inline can be inlined. Inputs
// that the next step of a sum reads again would take registers from the sums.
#pragma GCC optimize("fp-contract=fast", "no-predictive-commoning")

#include <algorithm>
#include <type_traits>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/image_bands.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

constexpr int64_t kPanel = 16;  // output channels
// Pixels of a block: sums, the taps of three columns and a factor fill the
// registers. The images of many networks are of 7, 14, 28 and 56 columns.
constexpr int kPixels = 7, kWidePixels = 14;

int64_t BlockPixels(const ConvParams& p, bool avx512) {
  return avx512 && p.out[2] >= kWidePixels ? kWidePixels : kPixels;
}

// Panels are of one group, or of several whole ones.
int64_t PanelsOfGroup(const ConvParams& p) {
  return CeilDiv(p.group_out(), kPanel);
}
int64_t Panels(const ConvParams& p) {
  return p.group_out() >= kPanel ? p.groups * PanelsOfGroup(p)
                                 : CeilDiv(p.out_channels, kPanel);
}

struct Panel {
  int64_t channel, channels;  // of the output
  int64_t input;              // the first channel that the first one sees

  Panel(const ConvParams& p, int64_t i) {
    if (p.group_out() >= kPanel) {
      const int64_t within = i % PanelsOfGroup(p) * kPanel;
      const int64_t group = i / PanelsOfGroup(p);
      channel = group * p.group_out() + within;
      channels = std::min(kPanel, p.group_out() - within);
      input = group * p.group_in();
    } else {
      channel = i * kPanel;
      channels = std::min(kPanel, p.out_channels - channel);
      input = channel / p.group_out() * p.group_in();
    }
  }
};

// Each pixel is loaded once for all columns of the filter.
bool SharesColumns(const ConvParams& p) {
  return p.filter[2] == 3 && p.stride[2] == 1 && p.dilation[2] == 1;
}

// Rows are copied with a vector's floats after each pixel: loads of the last
// channels reach beyond them, and pixels of a power of two would share few
// places of the first level cache.
int64_t CopiedPixel(const ConvParams& p) {
  return CeilDiv(p.in_channels, kPanel) * kPanel + kPanel;
}

ImageBands BandsOf(const ConvParams& p) {
  return ImageBands(
      p, {.pixel = CopiedPixel(p),
          .least_width = kPixels,
          .row_ns = 0.03 * static_cast<double>(p.out[2] * Panels(p) * kPanel) *
                    static_cast<double>(p.taps() * p.group_in()),
          .copies = p.group_out() < kPanel});
}

struct Row {
  const ConvParams& p;
  const VectorTail& tail;
  const ImageRows& seen;
  int64_t pixel;        // floats from one pixel of `seen` to the next
  const float* filter;  // of the panel
  Panel panel;
  int64_t offset;  // of the row in `out`
  float* out;
};

// The factors of a vector of output channels. Groups have kOut of them, and
// kIn input channels; kOut 0: one group has all.
template <int kBytes, int kOut, int kIn>
struct Factors {
  using Holder = std::conditional_t<kOut == 0, ScalarOf<>, VectorOf<kBytes>>;
  typename Holder::Type value;

  explicit Factors(const float* x) {
    constexpr auto kFrom = [](int i) { return i / std::max(kOut, 1) * kIn; };
    const typename Holder::Type v = Holder::At(x);
    if constexpr (kOut == 0) {
      value = v;
    } else if constexpr (kBytes == 64) {
      value = __builtin_shufflevector(
          v, v, kFrom(0), kFrom(1), kFrom(2), kFrom(3), kFrom(4), kFrom(5),
          kFrom(6), kFrom(7), kFrom(8), kFrom(9), kFrom(10), kFrom(11),
          kFrom(12), kFrom(13), kFrom(14), kFrom(15));
    } else if constexpr (kBytes == 32) {
      value =
          __builtin_shufflevector(v, v, kFrom(0), kFrom(1), kFrom(2), kFrom(3),
                                  kFrom(4), kFrom(5), kFrom(6), kFrom(7));
    } else {
      value =
          __builtin_shufflevector(v, v, kFrom(0), kFrom(1), kFrom(2), kFrom(3));
    }
  }
};

// Outputs [x0, x0 + kBlock) of the vector that begins `lane` channels after the
// panel. kColumns: those of the filter that lie side by side and are summed
// together, for strides of 1; 1: any filter.
template <int kBytes, int kOut, int kIn, int kColumns, int kBlock>
inline void SumBlock(const Row& row, int64_t x0, int64_t lane) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  const ConvParams& p = row.p;
  const int64_t depth = p.group_in();
  const int64_t step = p.stride[2] * row.pixel;
  const int64_t column = p.dilation[2] * row.pixel;
  const int64_t from = row.panel.input + lane / p.group_out() * depth;
  V sum[kBlock] = {};
  for (int64_t line = 0; line < row.seen.count; ++line) {
    const float* in = row.seen.at[line] + x0 * step + from;
    const float* w =
        row.filter + row.seen.line[line] * p.filter[2] * depth * kPanel + lane;
    if constexpr (kColumns > 1) {
      for (int64_t c = 0; c < depth; ++c) {
        V taps[kColumns];
#pragma GCC unroll 4
        for (int t = 0; t < kColumns; ++t) {
          taps[t] = Vector::At(w + (t * depth + c) * kPanel);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kBlock + kColumns - 1; ++i) {
          const Factors<kBytes, kOut, kIn> x(in + i * row.pixel + c);
#pragma GCC unroll 4
          for (int t = 0; t < kColumns; ++t) {
            if (i >= t && i - t < kBlock) sum[i - t] += x.value * taps[t];
          }
        }
      }
    } else {
      for (int64_t t = 0; t < p.filter[2]; ++t) {
        for (int64_t c = 0; c < depth; ++c) {
          const V tap = Vector::At(w + c * kPanel);
#pragma GCC unroll 16
          for (int i = 0; i < kBlock; ++i) {
            const Factors<kBytes, kOut, kIn> x(in + i * step + c);
            sum[i] += x.value * tap;
          }
        }
        in += column;
        w += depth * kPanel;
      }
    }
  }
  const int64_t o = row.panel.channel + lane;
  const int64_t at = row.offset + x0 * p.out_channels + o;
  const int64_t rest = row.panel.channels - lane;
  if (rest >= Vector::kLanes) {
    const VectorTail::Channels<Vector> after(row.tail, o);
#pragma GCC unroll 16
    for (int i = 0; i < kBlock; ++i) {
      row.tail.Store(sum[i], after, at + i * p.out_channels, row.out);
    }
    return;
  }
  // In memory, so that there is one copy of what finishes a pixel.
  float parts[kBlock * Vector::kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kBlock; ++i) {
    Vector::At(parts + i * Vector::kLanes) = sum[i];
  }
  const VectorTail::Channels<Vector> after(row.tail, o, rest);
#pragma GCC unroll 1
  for (int i = 0; i < kBlock; ++i) {
    row.tail.StoreLanes<Vector>(Vector::At(parts + i * Vector::kLanes), after,
                                rest, at + i * p.out_channels, row.out);
  }
}

template <int kBytes, int kOut, int kIn, int kColumns, int kBlock>
inline void SumBlocks(const Row& row) {
  const int64_t width = row.p.out[2];
  for (int64_t lane = 0; lane < row.panel.channels;
       lane += VectorOf<kBytes>::kLanes) {
    // The last block overlaps the one before.
    for (int64_t next = 0; next < width; next += kBlock) {
      SumBlock<kBytes, kOut, kIn, kColumns, kBlock>(
          row, std::min(next, width - kBlock), lane);
    }
  }
}

template <int kBytes, int kOut, int kIn, int kColumns>
inline void SumColumns(const Row& row) {
  if constexpr (kBytes == 64) {
    if (BlockPixels(row.p, true) == kWidePixels) {
      return SumBlocks<kBytes, kOut, kIn, kColumns, kWidePixels>(row);
    }
  }
  SumBlocks<kBytes, kOut, kIn, kColumns, kPixels>(row);
}

template <int kBytes, int kOut, int kIn>
inline void SumRow(const Row& row) {
  if (SharesColumns(row.p)) return SumColumns<kBytes, kOut, kIn, 3>(row);
  SumColumns<kBytes, kOut, kIn, 1>(row);
}

template <int kBytes, int kOut>
inline void SumGroups(const Row& row) {
  if constexpr (kOut * sizeof(float) >= kBytes) {
    SumRow<kBytes, 0, 0>(row);
  } else {
    if (row.p.group_in() == 1) return SumRow<kBytes, kOut, 1>(row);
    SumRow<kBytes, kOut, kOut>(row);
  }
}

void Sum(const Row& row) {
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    switch (row.p.group_out()) {
      case 2:
        return SumGroups<kBytes, 2>(row);
      case 4:
        return SumGroups<kBytes, 4>(row);
      case 8:
        return SumGroups<kBytes, 8>(row);
      default:
        return SumGroups<kBytes, 16>(row);
    }
  });
}

class GroupedConv : public ConvImplementation {
 public:
  const char* Name() const override { return "grouped"; }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    const int64_t in = p.group_in(), out = p.group_out();
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups > 1 &&
           (out >= kPanel ||
            ((in == 1 || in == out) && (out == 2 || out == 4 || out == 8))) &&
           p.out[2] >= kPixels && ImageBands::Fit(p, CopiedPixel(p), kPixels);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const int64_t block = BlockPixels(p, cpu.avx512f);
    const double sums = 1.0 * p.batch * p.out[0] * p.out[1] *
                        CeilDiv(p.out[2], block) * block * Panels(p) * kPanel;
    const double rate =
        (SharesColumns(p) ? cost::kGroupedRate : cost::kGroupedOneRate) *
        (p.out[2] < kWidePixels ? cost::kGroupedNarrow : 1);
    return cost::kStart +
           sums *
               (2.0 * p.taps() * p.group_in() / (PeakFlopsPerNs(cpu) * rate) +
                cost::kGroupedSum) +
           BandsOf(p).copied() * cost::kBandCopy +
           (p.constant_filter ? 0 : cost::kPackFilter * p.filter_elements());
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return Panels(p) * p.taps() * p.group_in() * kPanel *
           int64_t{sizeof(float)};
  }
  void PrepareFilter(ThreadPool*, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    const float* const from = static_cast<const float*>(filter);
    float* to = static_cast<float*>(prepared);
    for (int64_t i = 0; i < Panels(p); ++i) {
      const Panel panel(p, i);
      for (int64_t k = 0; k < p.taps() * p.group_in(); ++k, to += kPanel) {
        std::copy_n(from + k * p.out_channels + panel.channel, panel.channels,
                    to);
        std::fill(to + panel.channels, to + kPanel, 0.0f);
      }
    }
  }
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    return BandsOf(p).WorkspaceBytes(threads);
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const VectorTail tail(args.epilogue);
    const ImageBands bands = BandsOf(p);
    bands.ForEach(args.pool, args.workspace, [&](int64_t b, void* scratch) {
      RunBand(args, tail, bands, b, scratch);
    });
  }

 private:
  static void RunBand(const ConvArgs& args, const VectorTail& tail,
                      const ImageBands& bands, int64_t index, void* scratch) {
    const ConvParams& p = *args.params;
    ImageBand band(bands, static_cast<const float*>(args.input), index,
                   scratch);
    const float* const filter = static_cast<const float*>(args.prepared_filter);
    float* const out = static_cast<float*>(args.result);
    // The panel's part of the filter stays in the first level cache.
    for (int64_t i = 0; i < Panels(p); ++i) {
      const Panel panel(p, i);
      for (int64_t r = 0; r < band.rows(); ++r) {
        Sum({.p = p,
             .tail = tail,
             .seen = band.Row(r),
             .pixel = bands.pixel(),
             .filter = filter + i * p.taps() * p.group_in() * kPanel,
             .panel = panel,
             .offset = (band.first_row() + r) * p.out[2] * p.out_channels,
             .out = out});
      }
    }
    if (!tail.rest.empty()) {
      ApplyEpilogue(tail.rest, OutputRows(p, band.first_row(), band.rows()),
                    out);
    }
  }
};

}  // namespace

const ConvImplementation* Grouped() {
  static const GroupedConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
