// few_channels, backward filter: the gradient of the filter of a first layer,
// whose image has few channels. A product over pixels would gather its factors
// in short pieces. Here some taps by some vectors of output channels stay in
// registers, while the loop runs over the pixels of a band:
//
//   dw[tap, c][o] = sum over pixels of in[pixel * stride + tap, c] dy[pixel, o]
//
// The image's rows are copied between zeros first (image_bands.h), so that
// every tap of every pixel lies at the same distance from the pixel. Bands are
// summed in a few slices, whose number depends on the sizes alone, and these in
// their order.
//
// Accuracy: plain sums, with or without rounding between product and sum.

// Before all includes, so that what they define inline can be inlined. Inputs
// that the next step of a sum reads again would take registers from the sums.
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

constexpr int64_t kMostChannels = 8;
constexpr int64_t kMostTaps = 1 << 12;  // with channels
constexpr int kVectors = 2;             // of output channels
// Taps of a block: its sums and the gradients fill the registers.
template <int kBytes>
constexpr int kTaps = kBytes == 64 ? 14 : 6;
constexpr int64_t kMostBlock = kTaps<64>;
// The copied gradients have whole vectors of channels.
constexpr int64_t kLanes = 16;

int64_t TapsOf(const ConvParams& p) { return p.taps() * p.in_channels; }
int64_t PaddedOut(const ConvParams& p) {
  return CeilDiv(p.out_channels, kLanes) * kLanes;
}
bool CopiesGradient(const ConvParams& p) {
  return PaddedOut(p) != p.out_channels;
}

ImageBands BandsOf(const ConvParams& p) {
  return ImageBands(p, {.pixel = p.in_channels,
                        .least_width = 1,
                        .row_ns = 0.015 * static_cast<double>(p.out[2]) *
                                  static_cast<double>(PaddedOut(p) * TapsOf(p)),
                        .zero_rows = true});
}

// A band's pixels, and a block of the gradient.
struct Block {
  const ConvParams& p;
  ImageBand* band;
  int64_t pixel;             // floats from one pixel of the band to the next
  const float* dy;           // the band's
  int64_t dy_pixel;          // floats from one of its pixels to the next
  const int64_t* distances;  // of kMostBlock taps from a pixel
  int64_t taps;              // that count
  float* sums;               // [taps, dy_pixel]; the block is added
};

template <int kBytes, int kParts>
inline void SumPixels(const Block& b) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int kBlock = kTaps<kBytes>;
  const int64_t step = b.p.stride[2] * b.pixel;
  V sum[kBlock][kParts] = {};
  const float* dy = b.dy;
  for (int64_t r = 0; r < b.band->rows(); ++r) {
    const float* in = b.band->First(r);
    for (int64_t x = 0; x < b.p.out[2]; ++x) {
      V gradient[kParts];
#pragma GCC unroll 2
      for (int j = 0; j < kParts; ++j) {
        gradient[j] = Vector::At(dy + j * Vector::kLanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kBlock; ++i) {
        const float factor = in[b.distances[i]];
#pragma GCC unroll 2
        for (int j = 0; j < kParts; ++j) sum[i][j] += factor * gradient[j];
      }
      in += step;
      dy += b.dy_pixel;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kBlock; ++i) {
    if (i >= b.taps) continue;
#pragma GCC unroll 2
    for (int j = 0; j < kParts; ++j) {
      Vector::At(b.sums + i * b.dy_pixel + j * Vector::kLanes) += sum[i][j];
    }
  }
}

// Adds all taps by all channels of the band to `sums`.
void SumBand(Block block, float* sums) {
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    constexpr int64_t kVector = VectorOf<kBytes>::kLanes;
    const int64_t taps = TapsOf(block.p), channels = block.dy_pixel;
    const int64_t* const distances = block.distances;
    const float* const dy = block.dy;
    for (int64_t o = 0; o < channels; o += kVectors * kVector) {
      block.dy = dy + o;
      for (int64_t t = 0; t < taps; t += kTaps<kBytes>) {
        block.distances = distances + t;
        block.taps = taps - t;
        block.sums = sums + t * channels + o;
        if (o + kVector < channels) {
          SumPixels<kBytes, kVectors>(block);
        } else {
          SumPixels<kBytes, 1>(block);
        }
      }
    }
  });
}

class FewChannelsBackwardFilterConv : public ConvImplementation {
 public:
  const char* Name() const override { return "few_channels"; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups == 1 && p.in_channels <= kMostChannels &&
           1.0 * p.taps() * p.in_channels <= kMostTaps &&
           1.0 * p.filter_elements() < 1e6 &&
           1.0 * p.out[2] * PaddedOut(p) < 1e6 &&
           ImageBands::Fit(p, p.in_channels, 1);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const int64_t block = cpu.avx512f ? kTaps<64> : kTaps<32>;
    const double pixels = 1.0 * p.batch * p.out_pixels();
    const double products =
        2.0 * pixels * CeilDiv(TapsOf(p), block) * block * PaddedOut(p);
    const double copied =
        BandsOf(p).copied() + (CopiesGradient(p) ? pixels * PaddedOut(p) : 0);
    return cost::kStart +
           products / (PeakFlopsPerNs(cpu) * cost::kFewChannelsBackwardRate) +
           copied * cost::kBandCopy;
  }
  // For each slice its sums, for each thread a band, and the taps' distances.
  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    return DistanceBytes(p) + Slices(BandsOf(p)) * SumBytes(p) +
           std::min(threads, ScratchSlots::kMost) * SlotBytes(p, BandsOf(p));
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const ImageBands bands = BandsOf(p);
    const int64_t slices = Slices(bands);
    char* at = static_cast<char*>(args.workspace);
    int64_t* const distances = reinterpret_cast<int64_t*>(at);
    FillDistances(p, bands, distances);
    at += DistanceBytes(p);
    char* const sums = at;
    at += slices * SumBytes(p);
    ScratchSlots slots(at, SlotBytes(p, bands),
                       std::min(args.pool->NumThreads(), ScratchSlots::kMost));
    args.pool->ParallelFor(slices, 1, [&](int64_t slice, int64_t) {
      const ScratchSlots::Slot slot(&slots);
      float* const to = reinterpret_cast<float*>(sums + slice * SumBytes(p));
      std::fill_n(to, TapsOf(p) * PaddedOut(p), 0.0f);
      const int64_t end = (slice + 1) * bands.size() / slices;
      for (int64_t b = slice * bands.size() / slices; b < end; ++b) {
        AddBand(args, bands, b, distances, slot.data(), to);
      }
    });
    AddSlices(args, reinterpret_cast<const float*>(sums), slices);
  }

 private:
  static constexpr int64_t kMostSlices = 16;

  static int64_t Slices(const ImageBands& bands) {
    return std::min(bands.size(), kMostSlices);
  }
  static int64_t WholeLines(int64_t bytes) { return CeilDiv(bytes, 64) * 64; }
  static int64_t DistanceBytes(const ConvParams& p) {
    return WholeLines((TapsOf(p) + kMostBlock) * int64_t{sizeof(int64_t)});
  }
  static int64_t SumBytes(const ConvParams& p) {
    return WholeLines(TapsOf(p) * PaddedOut(p) * int64_t{sizeof(float)});
  }
  // The band's rows, and its gradients where they are copied.
  static int64_t SlotBytes(const ConvParams& p, const ImageBands& bands) {
    const int64_t gradients = CopiesGradient(p)
                                  ? bands.most_rows() * p.out[2] *
                                        PaddedOut(p) * int64_t{sizeof(float)}
                                  : 0;
    return bands.SlotBytes() + WholeLines(gradients);
  }

  // Behind the last tap stands the first one: blocks read whole.
  static void FillDistances(const ConvParams& p, const ImageBands& bands,
                            int64_t* to) {
    for (int64_t line = 0; line < p.filter[0] * p.filter[1]; ++line) {
      for (int64_t tx = 0; tx < p.filter[2]; ++tx) {
        for (int64_t c = 0; c < p.in_channels; ++c) {
          *to++ = bands.Distance(line) + tx * p.dilation[2] * bands.pixel() + c;
        }
      }
    }
    std::fill_n(to, kMostBlock, 0);
  }

  static void AddBand(const ConvArgs& args, const ImageBands& bands,
                      int64_t index, const int64_t* distances, void* scratch,
                      float* sums) {
    const ConvParams& p = *args.params;
    ImageBand band(bands, static_cast<const float*>(args.input), index,
                   scratch);
    const float* dy = static_cast<const float*>(args.out_backprop) +
                      band.first_row() * p.out[2] * p.out_channels;
    if (CopiesGradient(p)) {
      float* const copy = reinterpret_cast<float*>(static_cast<char*>(scratch) +
                                                   bands.SlotBytes());
      for (int64_t i = 0; i < band.rows() * p.out[2]; ++i) {
        float* const to = copy + i * PaddedOut(p);
        std::copy_n(dy + i * p.out_channels, p.out_channels, to);
        std::fill(to + p.out_channels, to + PaddedOut(p), 0.0f);
      }
      dy = copy;
    }
    SumBand({.p = p,
             .band = &band,
             .pixel = bands.pixel(),
             .dy = dy,
             .dy_pixel = PaddedOut(p),
             .distances = distances},
            sums);
  }

  static void AddSlices(const ConvArgs& args, const float* sums,
                        int64_t slices) {
    const ConvParams& p = *args.params;
    float* const dw = static_cast<float*>(args.result);
    const int64_t slice_size = SumBytes(p) / int64_t{sizeof(float)};
    args.pool->ParallelForCost(
        TapsOf(p), 0.1 * static_cast<double>(slices * p.out_channels),
        [&](int64_t begin, int64_t end) {
          for (int64_t t = begin; t < end; ++t) {
            float* const to = dw + t * p.out_channels;
            const float* from = sums + t * PaddedOut(p);
            std::copy_n(from, p.out_channels, to);
            for (int64_t s = 1; s < slices; ++s) {
              from += slice_size;
              for (int64_t o = 0; o < p.out_channels; ++o) to[o] += from[o];
            }
          }
        });
  }
};

}  // namespace

const ConvImplementation* FewChannelsBackwardFilter() {
  static const FewChannelsBackwardFilterConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
