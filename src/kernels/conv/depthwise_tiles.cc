// depthwise_3x3, depthwise_5x5, depthwise_7x7: forward, as many groups as
// channels, stride 1 or 2. A tile of output pixels is summed at once for a
// vector of channels. With 3x3 taps, each input pixel is loaded once for all
// the outputs that see it, and the nine taps once for the tile. The registers
// do not hold more taps than those of one row of a larger filter: there, each
// row of the tile takes the rows of the filter one after another.
//
// Inputs outside the image are read from a row of zeros, so that an infinity or
// NaN in a tap makes NaN at the edges too. Accuracy: plain sums in one order,
// with or without rounding between product and sum.

// Before all includes, so that what they define inline can be inlined.
#pragma GCC optimize("fp-contract=fast")

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/conv_rows.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

// Of a tile. Seven divides the widths of the usual images; its sums and the
// taps fit the registers of AVX-512 alone.
constexpr int kRows = 2;
template <int kBytes>
constexpr int kColumns = kBytes == 64 ? 7 : 4;
constexpr int64_t kMostColumns = kColumns<64>;

// Vectors of 16 bytes serve images with few channels.
constexpr int64_t kFewestChannels = VectorOf<16>::kLanes;

// One image, or rows of it.
struct Image {
  const ConvParams& p;
  const float* in;  // begins at row `in_row` of the image
  int64_t in_row;
  const float* filter;
  const float* zeros;  // one for each channel
  float* out;          // of row y, pixel x: element `first` + (y * width + x) *
  int64_t first;       // channels
  const VectorTail& tail;
};

// The tile whose first output is row `y`, column `x`.
template <int kBytes, int kTaps, int kStride>
inline void SumTile(const Image& image, int64_t y, int64_t x) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int64_t kLanes = Vector::kLanes;
  constexpr int kHigh = (kRows - 1) * kStride + kTaps;
  constexpr int kWidth = kColumns<kBytes>;
  constexpr int kWide = (kWidth - 1) * kStride + kTaps;
  const ConvParams& p = image.p;
  const int64_t channels = p.in_channels;

  const int64_t from_x = x * kStride - p.pad_before[2];
  const bool middle = from_x >= 0 && from_x + kWide <= p.in[2];
  const float* at[kHigh][kWide];
#pragma GCC unroll 8
  for (int i = 0; i < kHigh; ++i) {
    const int64_t from_y = y * kStride - p.pad_before[1] + i;
    const bool inside = from_y >= 0 && from_y < p.in[1];
    const float* row = image.zeros;
    if (inside) {
      row = image.in + ((from_y - image.in_row) * p.in[2] + from_x) * channels;
    }
    if (middle || !inside) {
      const int64_t step = inside ? channels : 0;
      for (int j = 0; j < kWide; ++j) {
        at[i][j] = row;
        row += step;
      }
      continue;
    }
    for (int64_t j = 0; j < kWide; ++j) {
      at[i][j] = from_x + j >= 0 && from_x + j < p.in[2] ? row + j * channels
                                                         : image.zeros;
    }
  }
  const int64_t to = image.first + (y * p.out[2] + x) * channels;
  for (int64_t next = 0; next < channels; next += kLanes) {
    // The last vector overlaps the one before rather than end outside.
    const int64_t c = std::min(next, channels - kLanes);
    V sum[kRows][kWidth] = {};
    if constexpr (kTaps == 3) {
      V taps[kTaps * kTaps];
#pragma GCC unroll 9
      for (int t = 0; t < kTaps * kTaps; ++t) {
        taps[t] = Vector::At(image.filter + t * channels + c);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kHigh; ++i) {
#pragma GCC unroll 16
        for (int j = 0; j < kWide; ++j) {
          const V v = Vector::At(at[i][j] + c);
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r) {
            const int ty = i - r * kStride;
            if (ty < 0 || ty >= kTaps) continue;
#pragma GCC unroll 8
            for (int q = 0; q < kWidth; ++q) {
              const int tx = j - q * kStride;
              if (tx < 0 || tx >= kTaps) continue;
              sum[r][q] += v * taps[ty * kTaps + tx];
            }
          }
        }
      }
    } else {
#pragma GCC unroll 1
      for (int ty = 0; ty < kTaps; ++ty) {
        V taps[kTaps];
#pragma GCC unroll 8
        for (int t = 0; t < kTaps; ++t) {
          taps[t] = Vector::At(image.filter + (ty * kTaps + t) * channels + c);
        }
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const float* const* const row = at[r * kStride + ty];
#pragma GCC unroll 32
          for (int j = 0; j < kWide; ++j) {
            const V v = Vector::At(row[j] + c);
#pragma GCC unroll 8
            for (int q = 0; q < kWidth; ++q) {
              const int tx = j - q * kStride;
              if (tx < 0 || tx >= kTaps) continue;
              sum[r][q] += v * taps[tx];
            }
          }
        }
      }
    }
    const VectorTail::Channels<Vector> after(image.tail, c);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int q = 0; q < kWidth; ++q) {
        const int64_t o = to + (r * p.out[2] + q) * channels + c;
        image.tail.Store(sum[r][q], after, o, image.out);
      }
    }
  }
}

// Output rows [y, end), at least kRows; what the last tile of a
// row, or the last row of tiles, has too many overlaps those before.
template <int kBytes, int kTaps, int kStride>
inline void SumBand(const Image& image, int64_t y, int64_t end) {
  constexpr int64_t kWidth = kColumns<kBytes>;
  const int64_t width = image.p.out[2];
  for (; y < end; y += kRows) {
    for (int64_t x = 0; x < width; x += kWidth) {
      SumTile<kBytes, kTaps, kStride>(image, std::min(y, end - kRows),
                                      std::min(x, width - kWidth));
    }
  }
}

template <int kTaps, int kStride>
void Sum(const Image& image, int64_t y, int64_t end) {
  bool done = false;
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if (image.p.in_channels < VectorOf<kBytes>::kLanes) return;
    SumBand<kBytes, kTaps, kStride>(image, y, end);
    done = true;
  });
  if (!done) SumBand<16, kTaps, kStride>(image, y, end);
}

template <int kTaps>
void Sum(const Image& image, int64_t y, int64_t end) {
  if (image.p.stride[1] == 1) {
    Sum<kTaps, 1>(image, y, end);
  } else {
    Sum<kTaps, 2>(image, y, end);
  }
}

template <int kTaps>
class DepthwiseTilesConv : public ConvImplementation {
 public:
  const char* Name() const override {
    return kTaps == 3   ? "depthwise_3x3"
           : kTaps == 5 ? "depthwise_5x5"
                        : "depthwise_7x7";
  }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    for (int i = 0; i < 3; ++i) {
      if (p.filter[i] != (i == 0 ? 1 : kTaps) || p.dilation[i] != 1) {
        return false;
      }
    }
    // The depth of a volume counts as more images.
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.group_in() == 1 && p.group_out() == 1 &&
           p.in_channels >= kFewestChannels && p.out[1] >= kRows &&
           p.out[2] >= kMostColumns && p.stride[0] == 1 &&
           p.pad_before[0] == 0 && p.pad_after[0] == 0 &&
           p.stride[1] == p.stride[2] && p.stride[1] <= 2;
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    return cost::kDepthwiseStart +
           p.flops() / (cost::kDepthwiseTilesRate * PeakFlopsPerNs(cpu));
  }
  int64_t WorkspaceBytes(const ConvParams& p, int) const override {
    return p.in_channels * int64_t{sizeof(float)};
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    float* zeros = static_cast<float*>(args.workspace);
    std::fill_n(zeros, p.in_channels, 0.0f);
    const VectorTail tail(args.epilogue);
    const float* in = static_cast<const float*>(args.input);
    const float* filter = static_cast<const float*>(args.filter);
    float* out = static_cast<float*>(args.result);
    const int64_t in_image = p.in[1] * p.in[2] * p.in_channels;
    const int64_t out_image = p.out[1] * p.out[2] * p.in_channels;
    const int64_t bands = p.out[1] / kRows;
    // Small pieces: between two products even 20 us are worth sharing.
    const double cost =
        kTaps * kTaps * 0.028 * kRows * p.out[2] * p.in_channels;
    const int64_t block =
        std::max<int64_t>(1, static_cast<int64_t>(7e3 / cost));
    args.pool->ParallelFor(
        p.batch * p.out[0] * bands, block, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t n = i / bands, band = i % bands, y = band * kRows;
            const int64_t rows = band + 1 < bands ? kRows : p.out[1] - y;
            Sum<kTaps>({p, in + n * in_image, 0, filter, zeros, out,
                        n * out_image, tail},
                       y, y + rows);
            if (!tail.rest.empty()) {
              ApplyEpilogue(tail.rest, OutputRows(p, n * p.out[1] + y, rows),
                            out);
            }
          }
        });
  }
};

}  // namespace

void Depthwise3x3Rows(const ConvParams& p, const float* filter,
                      const float* zeros, const VectorTail& tail,
                      const float* in, int64_t in_row, int64_t y, int64_t end,
                      float* out) {
  // Row y is where `out` begins.
  Sum<3>(
      {p, in, in_row, filter, zeros, out, -y * p.out[2] * p.in_channels, tail},
      y, end);
}

const ConvImplementation* Depthwise3x3() {
  static const DepthwiseTilesConv<3> implementation;
  return &implementation;
}
const ConvImplementation* Depthwise5x5() {
  static const DepthwiseTilesConv<5> implementation;
  return &implementation;
}
const ConvImplementation* Depthwise7x7() {
  static const DepthwiseTilesConv<7> implementation;
  return &implementation;
}

}  // namespace headrace::conv
