// pointwise: forward convolution with a 1x1 filter, strided or not, as a matrix
// product that keeps some pixels by some vectors of output channels in
// registers for the whole sum, and writes each result once, epilogue included.
//
// The filter is packed ahead, row by row, in panels of up to four vectors of
// output channels. Where the channels do not fill the last vector it begins
// earlier, and computes some channels of its panel twice. Accuracy: plain sums
// in the order of the input channels, with or without rounding between product
// and sum.

// Before all includes, so that what they define inline can be inlined.
#pragma GCC optimize("fp-contract=fast")

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/conv_rows.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

// Pixels and vectors of a block: sums, a row of the panel and one factor fill
// the registers. Seven divides the widths of the usual images.
template <int kBytes>
constexpr int kPixels = kBytes == 64 ? 7 : 6;
template <int kBytes>
constexpr int kVectors = kBytes == 64 ? 4 : 2;

// Bytes of the filter that a piece of work reads for each of its blocks.
constexpr int64_t kFilterBytes = 192 << 10;

// How the output channels are cut into vectors, and those into panels.
struct Panels {
  explicit Panels(const ConvParams& p) : depth(p.in_channels) {
    RunSimdWide([&](auto bytes) {
      constexpr int kBytes = decltype(bytes)::value;
      lanes = VectorOf<kBytes>::kLanes;
      most = kVectors<kBytes>;
      block_pixels = kPixels<kBytes>;
    });
    vectors = CeilDiv(p.out_channels, lanes);
    count = CeilDiv(vectors, most);
    last_channel = p.out_channels - lanes;
    // A vector that computes channels again must be in their panel.
    const bool lonely = p.out_channels % lanes != 0 && vectors % most == 1;
    last_first = (count - 1) * most - (lonely && count > 1 ? 1 : 0);
  }
  // The first vector of panel i, and of none after the last.
  int64_t First(int64_t i) const {
    return i < count - 1 ? i * most : i == count - 1 ? last_first : vectors;
  }
  int64_t Size(int64_t i) const { return First(i + 1) - First(i); }
  // The first channel of a vector.
  int64_t Channel(int64_t v) const { return std::min(v * lanes, last_channel); }
  int64_t most_bytes() const {
    return depth * most * lanes * int64_t{sizeof(float)};
  }

  int64_t depth;  // input channels
  int64_t lanes = 0, most = 0, block_pixels = 0;
  int64_t vectors, count;  // vectors, and panels of them
  int64_t last_channel, last_first;
};

// Rows of pixels that lie `step` floats apart in the input.
struct Product {
  const Panels& panels;
  const VectorTail& tail;
  const float* filter;
  float* out;
  int64_t step, out_channels;
};

// kBlock outputs from pixel `pixel` on, whose inputs begin at `in`, for panel
// `panel`, which has kCount vectors.
template <int kBytes, int kBlock, int kCount>
inline void SumBlock(const Product& m, const float* in, int64_t pixel,
                     int64_t panel) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  const int64_t first = m.panels.First(panel);
  const int64_t to = pixel * m.out_channels;
  // Where the result is larger than the caches, stores would be waited for.
  for (int i = 0; i < kBlock; ++i) {
    for (int j = 0; j < kCount; j += 64 / kBytes) {
      const int64_t c = (first + j) * Vector::kLanes;
      __builtin_prefetch(m.out + to + i * m.out_channels + c, 1);
    }
  }
  const float* w = m.filter + first * m.panels.depth * Vector::kLanes;
  const int64_t step = m.step;
  V sum[kBlock][kCount] = {};
  for (int64_t k = 0; k < m.panels.depth; ++k) {
    V taps[kCount];
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j) {
      taps[j] = Vector::At(w + j * Vector::kLanes);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kBlock; ++i) {
      const float x = in[i * step];
#pragma GCC unroll 4
      for (int j = 0; j < kCount; ++j) sum[i][j] += x * taps[j];
    }
    ++in;
    w += kCount * Vector::kLanes;
  }
#pragma GCC unroll 4
  for (int j = 0; j < kCount; ++j) {
    const int64_t c = m.panels.Channel(first + j);
    const VectorTail::Channels<Vector> after(m.tail, c);
#pragma GCC unroll 8
    for (int i = 0; i < kBlock; ++i) {
      m.tail.Store(sum[i][j], after, to + i * m.out_channels + c, m.out);
    }
  }
}

template <int kBytes, int kBlock>
inline void SumPanels(const Product& m, const float* in, int64_t pixel,
                      int64_t p0, int64_t p1) {
  constexpr int kMost = kVectors<kBytes>;
  for (int64_t panel = p0; panel < p1; ++panel) {
    switch (m.panels.Size(panel)) {
      case 1:
        SumBlock<kBytes, kBlock, 1>(m, in, pixel, panel);
        break;
      case 2:
        SumBlock<kBytes, kBlock, 2>(m, in, pixel, panel);
        break;
      case 3:
        SumBlock<kBytes, kBlock, std::min(3, kMost)>(m, in, pixel, panel);
        break;
      default:
        SumBlock<kBytes, kBlock, kMost>(m, in, pixel, panel);
    }
  }
}

// Rows [k0, k1) of a panel, from a filter that may be unaligned.
template <int kBytes>
inline void PackRows(const Panels& panels, int64_t out_channels, int64_t panel,
                     int64_t k0, int64_t k1, const float* filter, float* to) {
  const int64_t first = panels.First(panel), size = panels.Size(panel);
  to += (first * panels.depth + k0 * size) * panels.lanes;
  for (int64_t k = k0; k < k1; ++k) {
    for (int64_t v = first; v < first + size; ++v) {
      std::memcpy(to, filter + k * out_channels + panels.Channel(v), kBytes);
      to += kBytes / sizeof(float);
    }
  }
}

class PointwiseConv : public ConvImplementation {
 public:
  const char* Name() const override { return "pointwise"; }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    for (int i = 0; i < 3; ++i) {
      if (p.filter[i] != 1 || p.pad_before[i] != 0 || p.pad_after[i] != 0) {
        return false;
      }
    }
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups == 1 && p.out_channels >= VectorOf<64>::kLanes;
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const int64_t lanes = cpu.avx512f ? 16 : cpu.avx ? 8 : 4;
    const double pixels = 1.0 * Rows(p) * RowPixels(p);
    const double channels = 1.0 * CeilDiv(p.out_channels, lanes) * lanes;
    const double bytes = 1.0 * p.filter_elements() * sizeof(float);
    const double prepare =
        p.constant_filter ? 0 : cost::kPackFilter * p.filter_elements();
    return cost::kStart +
           2 * pixels * channels * p.in_channels / PeakFlopsPerNs(cpu) +
           cost::kStorePointwise * pixels * channels +
           FilterReadNs(bytes, cpu) + prepare;
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    const Panels panels(p);
    return panels.vectors * panels.lanes * p.in_channels *
           int64_t{sizeof(float)};
  }
  bool TakesUnalignedFilter(const ConvParams&) const override { return true; }
  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    const Panels panels(p);
    const float* from = static_cast<const float*>(filter);
    float* const to = static_cast<float*>(prepared);
    // Some rows for all panels: what is read lies together.
    constexpr int64_t kRows = 32;
    const double cost = 0.3 * kRows * panels.most * panels.lanes;
    pool->ParallelForCost(CeilDiv(panels.depth, kRows) * panels.count, cost,
                          [&](int64_t begin, int64_t end) {
                            RunSimdWide([&](auto bytes) {
                              for (int64_t i = begin; i < end; ++i) {
                                const int64_t k = i / panels.count * kRows;
                                PackRows<decltype(bytes)::value>(
                                    panels, p.out_channels, i % panels.count, k,
                                    std::min(k + kRows, panels.depth), from,
                                    to);
                              }
                            });
                          });
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const Panels panels(p);
    const VectorTail tail(args.epilogue);
    const float* in = static_cast<const float*>(args.input);
    const Product m = {panels,
                       tail,
                       static_cast<const float*>(args.prepared_filter),
                       static_cast<float*>(args.result),
                       p.stride[2] * p.in_channels,
                       p.out_channels};
    const int64_t rows = Rows(p), width = RowPixels(p);
    const int64_t row_blocks = CeilDiv(width, panels.block_pixels);
    const int64_t all_blocks = rows * row_blocks;
    // Pieces of some blocks by some panels: enough of them that no thread waits
    // long for the last, none too small to pay for being dealt out.
    constexpr double kPieces = 14;
    const int64_t group =
        CeilDiv(panels.count,
                std::clamp<int64_t>(
                    CeilDiv(panels.count * panels.most_bytes(), kFilterBytes),
                    1, panels.count));
    const int64_t across = CeilDiv(panels.count, group);
    const double block_flops =
        2.0 * panels.block_pixels * p.in_channels *
        std::min(group * panels.most * panels.lanes, p.out_channels);
    const double piece_flops = std::clamp(p.flops() / kPieces, 5e5, 4e6);
    const int64_t blocks = std::clamp<int64_t>(
        static_cast<int64_t>(piece_flops / block_flops), 1, all_blocks);
    args.pool->ParallelFor(
        CeilDiv(all_blocks, blocks) * across, 1, [&](int64_t piece, int64_t) {
          const int64_t b0 = piece / across * blocks;
          const int64_t b1 = std::min(b0 + blocks, all_blocks);
          const int64_t p0 = piece % across * group;
          const int64_t p1 = std::min(p0 + group, panels.count);
          // The first output of a block.
          const auto pixel = [&](int64_t b) {
            return b / row_blocks * width +
                   b % row_blocks * panels.block_pixels;
          };
          RunSimdWide([&](auto bytes) {
            constexpr int kBytes = decltype(bytes)::value;
            for (int64_t b = b0; b < b1; ++b) {
              const int64_t x = b % row_blocks * panels.block_pixels;
              const float* from = in + RowStart(p, b / row_blocks) + x * m.step;
              if (width - x >= kPixels<kBytes>) {
                SumPanels<kBytes, kPixels<kBytes>>(m, from, pixel(b), p0, p1);
                continue;
              }
              for (int64_t i = 0; i < width - x; ++i) {
                SumPanels<kBytes, 1>(m, from + i * m.step, pixel(b) + i, p0,
                                     p1);
              }
            }
          });
          if (tail.rest.empty()) return;
          const int64_t c0 = panels.First(p0) * panels.lanes;
          const int64_t c1 = p1 < panels.count ? panels.First(p1) * panels.lanes
                                               : p.out_channels;
          ApplyEpilogue(tail.rest,
                        {.row = pixel(b0),
                         .rows = pixel(b1) - pixel(b0),
                         .channel = c0,
                         .channels = c1 - c0,
                         .row_size = p.out_channels},
                        m.out);
        });
  }

 private:
  // Without strides all pixels are one row.
  static int64_t RowPixels(const ConvParams& p) {
    return p.IsPointwise() ? p.batch * p.out_pixels() : p.out[2];
  }
  static int64_t Rows(const ConvParams& p) {
    return p.IsPointwise() ? 1 : p.batch * p.out[0] * p.out[1];
  }
  static int64_t RowStart(const ConvParams& p, int64_t row) {
    if (p.IsPointwise()) return 0;
    const int64_t y = row % p.out[1], z = row / p.out[1] % p.out[0];
    const int64_t image = row / (p.out[1] * p.out[0]);
    return ((image * p.in[0] + z * p.stride[0]) * p.in[1] + y * p.stride[1]) *
           p.in[2] * p.in_channels;
  }
};

}  // namespace

void PointwisePixels(const ConvParams& p, const void* prepared,
                     const VectorTail& tail, const float* in, int64_t count,
                     int64_t pixel, float* out) {
  const Panels panels(p);
  const Product m = {panels, tail,          static_cast<const float*>(prepared),
                     out,    p.in_channels, p.out_channels};
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    constexpr int64_t kBlock = kPixels<kBytes>;
    int64_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
      SumPanels<kBytes, kPixels<kBytes>>(m, in + i * m.step, pixel + i, 0,
                                         panels.count);
    }
    for (; i < count; ++i) {
      SumPanels<kBytes, 1>(m, in + i * m.step, pixel + i, 0, panels.count);
    }
  });
}

const ConvImplementation* Pointwise() {
  static const PointwiseConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
