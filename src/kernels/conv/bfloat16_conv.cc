// bfloat16: forward convolution whose products are taken in bfloat16 and whose
// sums in float (lib/bfloat16_product.h). Only for convolutions that ask for it
// (ConvParams::bfloat16_products), and the only one for those, so that results
// do not depend on which algorithm is chosen.
//
// The image is rounded once, to rows of pairs of channels (tap_rows.h). A tile
// is twelve output pixels by 32 output channels. The order of a sum is that of
// the taps, and within a tap that of the channels.
#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tap_rows.h"
#include "kernels/lib/bfloat16_product.h"

namespace headrace::conv {
namespace {

constexpr int64_t kRows = kBfloat16TileRows;
constexpr int64_t kColumns = kBfloat16PanelColumns;

constexpr int64_t kMostTaps = 1024;

class Tile {
 public:
  Tile(const ConvArgs& args, const Bfloat16Pair* image, int64_t pairs)
      : args_(args), pixels_(*args.params), image_(image), pairs_(pairs) {}

  void Find(int64_t pixel, int64_t count) {
    first_ = pixel;
    count_ = count;
    for (int64_t r = 0; r < count; ++r) {
      pixels_.ForEach(pixel + r, [&](int64_t tap, int64_t from) {
        rows_[tap * kRows + r] = image_ + from * pairs_;
      });
    }
  }

  void Multiply(int64_t panel, int64_t channel, int64_t columns) const {
    const ConvParams& p = *args_.params;
    MultiplyBfloat16(
        {.rows = rows_,
         .num_rows = count_,
         .segments = p.taps(),
         .pairs = pairs_,
         .panel = static_cast<const Bfloat16Pair*>(args_.prepared_filter) +
                  panel * p.taps() * pairs_ * kColumns,
         .sums = static_cast<float*>(args_.result) + first_ * p.out_channels +
                 channel,
         .sums_step = p.out_channels,
         .columns = columns});
  }

 private:
  const ConvArgs& args_;
  const TapPixels pixels_;
  const Bfloat16Pair* const image_;
  const int64_t pairs_;
  int64_t first_ = 0, count_ = 0;
  const Bfloat16Pair* rows_[kMostTaps * kRows];
};

class Bfloat16Conv : public ConvImplementation {
 public:
  const char* Name() const override { return "bfloat16"; }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.bfloat16_products && p.format == DataFormat::kNHWC &&
           p.dtype == DT_FLOAT && p.groups == 1 && p.taps() <= kMostTaps &&
           IsFastest(p);
  }
  // Of a processor that multiplies pairs.
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const double pixels =
        1.0 * CeilDiv(p.batch * p.out_pixels(), kRows) * kRows;
    const double columns = 1.0 * NumBfloat16Panels(p.out_channels) * kColumns;
    const double products =
        pixels * columns * p.taps() * NumPairs(p.in_channels);
    return cost::kStart + cost::kPairsOfPeak * products / PeakFlopsPerNs(cpu) +
           cost::kRoundToPairs * p.in_elements() +
           cost::kStorePointwise * p.out_elements();
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return Bfloat16PanelsBytes(p.out_channels,
                               p.taps() * NumPairs(p.in_channels));
  }
  bool TakesUnalignedFilter(const ConvParams&) const override { return true; }
  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    const int64_t pairs = NumPairs(p.in_channels);
    const char* from = static_cast<const char*>(filter);
    for (int64_t tap = 0; tap < p.taps(); ++tap) {
      PackBfloat16Panels(pool, from, p.out_channels, false, p.out_channels,
                         p.in_channels, tap * pairs, p.taps() * pairs,
                         static_cast<Bfloat16Pair*>(prepared));
      from += p.in_channels * p.out_channels * int64_t{sizeof(float)};
    }
  }
  int64_t WorkspaceBytes(const ConvParams& p, int) const override {
    return (p.batch * p.in_pixels() + 1) * NumPairs(p.in_channels) *
           int64_t{sizeof(Bfloat16Pair)};
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const int64_t pairs = NumPairs(p.in_channels), taps = p.taps();
    Bfloat16Pair* const image = static_cast<Bfloat16Pair*>(args.workspace);
    Round(args, pairs, image);

    // Of a processor that multiplies bfloat16.
    constexpr double kPairsPerNs = 125;
    const double tile_pairs =
        1.0 * kRows * kColumns * static_cast<double>(pairs * taps);
    ComputeTiles(
        args, args.epilogue,
        {.rows = kRows,
         .columns = kColumns,
         .panel_bytes = pairs * taps * kColumns * int64_t{sizeof(Bfloat16Pair)},
         .tile_ns = tile_pairs / kPairsPerNs},
        [&] { return Tile(args, image, pairs); });
  }

 private:
  // Winograd's algorithms need less than half of the products. What is compared
  // is the cost on one processor, Zen 4, so that the choice is the same on all.
  bool IsFastest(const ConvParams& p) const {
    static const CpuFeatures* const zen4 = [] {
      auto* const cpu = new CpuFeatures;
      cpu->sse4_1 = cpu->sse4_2 = cpu->avx = cpu->avx2 = cpu->fma = true;
      cpu->avx512f = cpu->avx512bw = cpu->avx512vl = cpu->avx512dq = true;
      cpu->avx512_bf16 = true;
      cpu->vendor = "AuthenticAMD";
      cpu->family = 25;
      return cpu;
    }();
    const double own = EstimateNs(p, *zen4);
    for (const ConvImplementation* other :
         ConvImplementations(ConvDirection::kForward)) {
      if (other->Accepts(p, *zen4) && other->EstimateNs(p, *zen4) < own) {
        return false;
      }
    }
    return true;
  }

  // The image as rows of pairs, and a row of zeros after it.
  static void Round(const ConvArgs& args, int64_t pairs, Bfloat16Pair* to) {
    const ConvParams& p = *args.params;
    const float* const in = static_cast<const float*>(args.input);
    const int64_t channels = p.in_channels, all = p.batch * p.in_pixels();
    std::fill_n(to + all * pairs, pairs, 0u);
    args.pool->ParallelForCost(
        all, cost::kRoundToPairs * static_cast<double>(channels),
        [&](int64_t begin, int64_t end) {
          if (channels % 2 == 0) {
            return RoundToPairs(in + begin * channels, (end - begin) * channels,
                                to + begin * pairs);
          }
          for (int64_t i = begin; i < end; ++i) {
            RoundToPairs(in + i * channels, channels, to + i * pairs);
          }
        });
  }
};

}  // namespace

const ConvImplementation* Bfloat16Products() {
  static const Bfloat16Conv implementation;
  return &implementation;
}

}  // namespace headrace::conv
