// winograd_f2, winograd_f4, winograd_f2_5, backward filter: the gradient of a
// 3x3 or 5x5 filter of stride 1 with 2.25, 4 or 2.8 times fewer
// multiplications. It is the transpose of what winograd.cc computes: tiles of
// M x M pixels of the output's gradient and the (M+R-1) x (M+R-1) inputs that
// they saw are transformed, the products of each of the E = (M+R-1)^2 elements
// are summed over all tiles, and the sums are transformed to the taps once:
//
//   V[e][tile, c] = (B' d B)[e],  D[e][tile, o] = (A dy A')[e]
//   X[e][c, o]   += V[e]' D[e]
//   dW[c, o]      = G' X G
//
// A chunk of tiles is transformed by all threads, then its products are shared
// out by element and panel of output channels.
//
// Accuracy: errors are relative to the largest terms of the sums. For values in
// [-1, 1] the largest error is below 3e-6 sqrt(n) (F2), 8e-6 sqrt(n) (F4) and
// 16e-6 sqrt(n) (5x5) where n output pixels are summed. The order of all sums
// is fixed.

// As in winograd.cc.
#pragma GCC optimize("fp-contract=fast")

#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/winograd_panels.h"
#include "kernels/conv/winograd_tiles.h"
#include "kernels/lib/simd_width.h"

namespace headrace::conv {
namespace {

// A dy A': what the tiles of the output's gradient become.
template <int M, int R>
struct GradientMap {
  static constexpr int kFrom = M, kTo = M + R - 1;
  template <typename V>
  static inline void Apply(const V* y, V* x) {
    WinogradTransform<M, R>::OutputTransposed(y, x);
  }
};

// How the work is cut. Follows from the sizes alone.
template <int M, int R>
struct GradientCut {
  static constexpr int64_t kElements = (M + R - 1) * (M + R - 1);
  // Of V and D of a chunk, which the caches should hold; but where X, which is
  // read and written for each chunk, is larger, there should be few chunks.
  static constexpr int64_t kLeastBytes = int64_t{8} << 20;
  static constexpr int64_t kMostBytes = int64_t{16} << 20;
  static constexpr int64_t kFewestTiles = 64;
  static constexpr int64_t kRows = 256;  // of X, in a product

  explicit GradientCut(const ConvParams& p) {
    tiles_y = CeilDiv(p.out[1], M);
    tiles_x = CeilDiv(p.out[2], M);
    tiles = p.batch * p.out[0] * tiles_y * tiles_x;
    v_depth = RoundUp(p.in_channels, kLine);
    d_depth = RoundUp(p.out_channels, kLine);
    const int64_t tile_bytes =
        kElements * (v_depth + d_depth) * int64_t{sizeof(float)};
    x_stride = p.in_channels * p.out_channels;
    const int64_t bytes = std::clamp(
        kElements * x_stride * int64_t{sizeof(float)}, kLeastBytes, kMostBytes);
    const int64_t most = std::max(bytes / tile_bytes, kFewestTiles);
    chunks = CeilDiv(tiles, most);
    chunk = CeilDiv(tiles, chunks);
    v_stride = chunk * v_depth + kLine;
    d_stride = chunk * d_depth + kLine;
    bands = CeilDiv(p.in_channels, kRows);
    rows = CeilDiv(p.in_channels, bands);
    panels = CeilDiv(p.out_channels, kPanel);
  }
  int64_t zeros() const { return std::max(v_depth, d_depth); }

  int64_t tiles_y, tiles_x, tiles;
  int64_t v_depth, d_depth;
  int64_t chunks, chunk;
  int64_t v_stride, d_stride, x_stride;  // from one element to the next
  int64_t bands, rows, panels;
};

// The taps of channel pairs [begin, end) of `pairs`, in double.
template <int M, int R>
void FilterTaps(int64_t pairs, const float* x, int64_t begin, int64_t end,
                float* dw) {
  constexpr int kEdge = M + R - 1;
  RunSimdWide([&](auto bytes) {
    using Lanes = WinogradLanes<decltype(bytes)::value>;
    for (int64_t at = begin; at < end; at += Lanes::kCount) {
      typename Lanes::V columns[R][kEdge];  // of G' X
      for (int j = 0; j < kEdge; ++j) {
        typename Lanes::V column[kEdge], taps[R];
        for (int i = 0; i < kEdge; ++i) {
          Lanes::Load(x + (i * kEdge + j) * pairs + at, end - at, &column[i]);
        }
        WinogradTransform<M, R>::FilterTransposed(column, taps);
        for (int i = 0; i < R; ++i) columns[i][j] = taps[i];
      }
      for (int i = 0; i < R; ++i) {
        typename Lanes::V taps[R];
        WinogradTransform<M, R>::FilterTransposed(columns[i], taps);
        for (int j = 0; j < R; ++j) {
          Lanes::Store(taps[j], end - at, dw + (i * R + j) * pairs + at);
        }
      }
    }
  });
}

template <int M, int R>
class WinogradFilterGradient : public ConvImplementation {
 public:
  using Cut = GradientCut<M, R>;

  const char* Name() const override {
    return R == 5 ? "winograd_f2_5" : M == 4 ? "winograd_f4" : "winograd_f2";
  }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return IsWinograd(p, R) && p.in_channels * p.out_channels <= kMostPairs;
  }

  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const Cut cut(p);
    const double elements = 1.0 * cut.tiles * Cut::kElements;
    const double sums = 1.0 * Cut::kElements * p.in_channels * p.out_channels;
    const double products =
        2 * elements * p.in_channels * cut.d_depth / PeakFlopsPerNs(cpu) *
        (1 + cost::kWinogradBackwardLeadIn / static_cast<double>(cut.chunk));
    double transforms =
        elements * cost::kTransform * (cut.v_depth + cut.d_depth);
    if (p.in_channels % kLine != 0)
      transforms += cost::kTransformTail * elements;
    if (p.out_channels % kLine != 0)
      transforms += cost::kTransformTail * elements;
    // X is written and read in each chunk, and read once more.
    const double bytes = sums * sizeof(float);
    const double sum = bytes > kCachedFilter        ? cost::kSumFar
                       : bytes > 0.5 * cpu.l2_bytes ? cost::kSumNear
                                                    : cost::kSumCached;
    return cost::kWinogradBackwardStart + products + transforms +
           sums * sum * (cost::kLastSums + cut.chunks);
  }

  int64_t WorkspaceBytes(const ConvParams& p, int) const override {
    const Cut cut(p);
    return sizeof(float) *
           (cut.zeros() + Cut::kElements * (cut.v_stride + cut.d_stride) +
            Cut::kElements * cut.x_stride);
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const Cut cut(p);
    const TileView in = {static_cast<const float*>(args.input),
                         p.in[1],
                         p.in[2],
                         p.in_channels,
                         M,
                         -p.pad_before[1],
                         -p.pad_before[2],
                         cut.tiles_y,
                         cut.tiles_x};
    const TileView dy = {static_cast<const float*>(args.out_backprop),
                         p.out[1],
                         p.out[2],
                         p.out_channels,
                         M,
                         0,
                         0,
                         cut.tiles_y,
                         cut.tiles_x};
    float* const zeros = static_cast<float*>(args.workspace);
    std::fill_n(zeros, cut.zeros(), 0.0f);
    float* const v = zeros + cut.zeros();
    float* const d = v + Cut::kElements * cut.v_stride;
    float* const x = d + Cut::kElements * cut.d_stride;
    for (int64_t first = 0; first < cut.tiles; first += cut.chunk) {
      const int64_t count = std::min(cut.chunk, cut.tiles - first);
      args.pool->ParallelForCost(
          count, 0.16 * Cut::kElements * (cut.v_depth + cut.d_depth),
          [&](int64_t begin, int64_t end) {
            TransformTiles<InputMap<M, R>>(
                in, zeros, first + begin, end - begin, cut.v_depth,
                cut.v_stride, v + begin * cut.v_depth);
            TransformTiles<GradientMap<M, R>>(
                dy, zeros, first + begin, end - begin, cut.d_depth,
                cut.d_stride, d + begin * cut.d_depth);
          });
      Multiply(args.pool, p, cut, v, d, count, first > 0, x);
    }
    args.pool->ParallelForCost(
        p.in_channels * p.out_channels, 0.3 * Cut::kElements,
        [&](int64_t begin, int64_t end) {
          FilterTaps<M, R>(cut.x_stride, x, begin, end,
                           static_cast<float*>(args.result));
        });
  }

 private:
  // Bounds X to 150 MB.
  static constexpr int64_t kMostPairs = int64_t{1} << 20;

  // X[e] (+)= V[e]' D[e] over `count` tiles.
  static void Multiply(ThreadPool* pool, const ConvParams& p, const Cut& cut,
                       const float* v, const float* d, int64_t count,
                       bool accumulate, float* x) {
    const int64_t pieces = cut.bands * cut.panels;
    // Pieces of products worth some 20 us.
    const double flops = 2.0 * cut.rows * kPanel * count;
    const auto block = std::max<int64_t>(1, static_cast<int64_t>(4e6 / flops));
    pool->ParallelFor(
        Cut::kElements * pieces, block, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t e = i / pieces;
            const int64_t c = i % pieces / cut.panels * cut.rows;
            const auto [o, n] = ChannelsOf(p, i % cut.panels);
            const GemmKernel<float> kernel(
                {.m = std::min(cut.rows, p.in_channels - c),
                 .n = n,
                 .k = count,
                 .lda = cut.v_depth,
                 .ldb = cut.d_depth,
                 .ldc = p.out_channels,
                 .transpose_a = true,
                 .accumulate = accumulate});
            kernel(v + e * cut.v_stride + c, d + e * cut.d_stride + o,
                   x + e * cut.x_stride + c * p.out_channels + o);
          }
        });
  }
};

}  // namespace

const ConvImplementation* WinogradF2BackwardFilter() {
  static const WinogradFilterGradient<2, 3> implementation;
  return &implementation;
}
const ConvImplementation* WinogradF4BackwardFilter() {
  static const WinogradFilterGradient<4, 3> implementation;
  return &implementation;
}
const ConvImplementation* WinogradF2Of5BackwardFilter() {
  static const WinogradFilterGradient<2, 5> implementation;
  return &implementation;
}

}  // namespace headrace::conv
