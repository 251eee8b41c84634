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
#include "kernels/conv/image_bands.h"
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
int64_t PackedChannels(const ConvParams& p) {
  return CeilDiv(p.in_channels, kChannels) * kChannels;
}

ImageBands BandsOf(const ConvParams& p) {
  return ImageBands(
      p, {.pixel = PackedChannels(p),
          .least_width = kMostPixels,
          .row_ns = 0.015 * static_cast<double>(p.out[2] * p.out_channels) *
                    static_cast<double>(p.taps() * PackedChannels(p)),
          .copies = p.in_channels % kChannels != 0});
}

struct Row {
  const ConvParams& p;
  const ImageRows& seen;
  const float* filter;  // of output channel 0
  float* out;           // its first pixel
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
  const int64_t tap_row = p.filter[2] * channels;
  V sum[kBlock][kOut] = {};
  for (int64_t i = 0; i < row.seen.count; ++i) {
    const float* first = row.seen.at[i] + x0 * step;
    const float* w = row.filter + row.seen.line[i] * tap_row;
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
           p.in_channels >= kChannels / 2 &&
           ImageBands::Fit(p, PackedChannels(p), kMostPixels);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const int64_t block = BlockPixels(cpu.avx512f ? 64 : 32, p.out_channels);
    const double rows = 1.0 * p.batch * p.out[0] * p.out[1];
    const double sums =
        rows * CeilDiv(p.out[2], block) * block * p.out_channels;
    return cost::kStart +
           sums * (2.0 * p.taps() * PackedChannels(p) /
                       (PeakFlopsPerNs(cpu) * cost::kFewOutputsRate) +
                   cost::kFewOutputsSum) +
           BandsOf(p).copied() * cost::kBandCopy + rows * cost::kFewOutputsRow +
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
    return BandsOf(p).WorkspaceBytes(threads);
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const ImageBands bands = BandsOf(p);
    bands.ForEach(args.pool, args.workspace, [&](int64_t b, void* scratch) {
      RunBand(args, bands, b, scratch);
    });
  }

 private:
  static void RunBand(const ConvArgs& args, const ImageBands& bands,
                      int64_t index, void* scratch) {
    const ConvParams& p = *args.params;
    ImageBand band(bands, static_cast<const float*>(args.input), index,
                   scratch);
    float* const out = static_cast<float*>(args.result);
    for (int64_t r = 0; r < band.rows(); ++r) {
      Sum({p, band.Row(r), static_cast<const float*>(args.prepared_filter),
           out + (band.first_row() + r) * p.out[2] * p.out_channels});
    }
    if (!args.epilogue.empty()) {
      ApplyEpilogue(args.epilogue, OutputRows(p, band.first_row(), band.rows()),
                    out);
    }
  }
};

}  // namespace

const ConvImplementation* FewOutputs() {
  static const FewOutputsConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
