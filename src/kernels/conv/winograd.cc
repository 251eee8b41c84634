// winograd_f2, winograd_f4: forward 3x3 convolution of stride 1 with 2.25 or 4
// times fewer multiplications; winograd_f2_5: 5x5 with 2.8 times fewer. The
// output is cut into tiles of M x M pixels; the inputs that a tile sees through
// a filter of R x R, (M+R-1) x (M+R-1) pixels, are transformed, each element of
// the transform is a matrix product over the channels, and the sums are
// transformed back (winograd_transform.h):
//
//   V[e][tile, c] = (B' d B)[e]      input transform, E = (M+R-1)^2 elements
//   X[e][tile, o] = V[e] U[e]        products with the transformed filter
//   y[tile, o]    = A' X A           output transform, bias, activation
//
// The filter is transformed ahead, in panels of output channels: U[panel][e][c,
// o]. Where tiles are many each thread takes blocks of tiles through all three
// stages, in its own cache. Where they are few for the size of the filter, all
// tiles are transformed first and the work is then split by panels, so that the
// filter, which is the larger part, is read once.
//
// Accuracy: errors are relative to the largest terms of the sums, not to a
// result that cancels. For inputs and filters in [-1, 1] and up to 512 channels
// the largest error is below 2e-6 sqrt(9 C) (F2), 8e-6 sqrt(9 C) (F4) and
// 8e-6 sqrt(25 C) (5x5). The order of all sums is fixed. An infinity or NaN
// makes NaN of every output of the tiles that see it.

// Products and sums of the transforms may be fused: their order is fixed, and
// no other copy of them has to give the same bits. Before all includes, so that
// what they define inline can be inlined.
#pragma GCC optimize("fp-contract=fast")

#include <limits>

#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/conv/winograd_panels.h"
#include "kernels/conv/winograd_tiles.h"
#include "kernels/conv/winograd_transform.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

// How the work is cut. Follows from the sizes and the processor alone.
template <int M, int R>
struct Cut {
  static constexpr int64_t kElements = (M + R - 1) * (M + R - 1);

  Cut(const ConvParams& p, const CpuFeatures& cpu) {
    tiles_y = CeilDiv(p.out[1], M);
    tiles_x = CeilDiv(p.out[2], M);
    tiles = p.batch * p.out[0] * tiles_y * tiles_x;
    panels = CeilDiv(p.out_channels, kPanel);
    depth = RoundUp(p.in_channels, kLine);
    // Blocks of about 24 tiles: enough to pay for reading U, few enough for V
    // and X to stay in the second level cache. A multiple of four blocks, so
    // that two or four threads end together.
    const int64_t blocks = RoundUp(CeilDiv(tiles, kBlock), 4);
    block = chunk = CeilDiv(tiles, blocks);
    const int64_t tile_bytes = kElements * depth * int64_t{sizeof(float)};
    const int64_t filter_bytes =
        kElements * p.in_channels * p.out_channels * int64_t{sizeof(float)};
    shared = tiles < 2 * kBlock || filter_bytes > kCachedFilter;
    if (shared) {
      // All tiles at once, unless V becomes large; products with pieces for
      // every thread, and each piece reads all of U.
      const int64_t most = std::max<int64_t>(kSharedBytes / tile_bytes, 96);
      block = CeilDiv(tiles, CeilDiv(tiles, most));
      const int64_t pieces =
          std::max(CeilDiv(block, 4 * kBlock),
                   std::min(CeilDiv(block, kBlock), CeilDiv(8, panels)));
      chunk = CeilDiv(block, pieces);
    }
    far = (p.in_elements() + p.out_elements()) * int64_t{sizeof(float)} >
          cpu.l2_bytes;
    v_stride = block * depth + kLine;
    x_stride = chunk * kPanel + kLine;
  }

  static constexpr int64_t kBlock = 24;
  static constexpr int64_t kSharedBytes = int64_t{16} << 20;

  int64_t tiles_y, tiles_x, tiles;  // of an image; of all images
  int64_t panels, depth;
  bool shared;
  int64_t block, chunk;        // tiles transformed, and multiplied, at a time
  int64_t v_stride, x_stride;  // from one element to the next
  bool far;  // the images come from beyond the second level cache

  int64_t v_elements() const { return kElements * v_stride; }
  int64_t x_elements() const { return kElements * x_stride; }
};

// V of `count` tiles from `first` on; `zeros` has as many as there are
// channels.
template <int M, int R>
void InputTiles(const ConvParams& p, const Cut<M, R>& cut, const float* in,
                const float* zeros, int64_t first, int64_t count, float* v) {
  const TileView view = {
      in,         p.in[1],          p.in[2],          p.in_channels,
      M,          -p.pad_before[1], -p.pad_before[2], cut.tiles_y,
      cut.tiles_x};
  TransformTiles<InputMap<M, R>>(view, zeros, first, count, cut.depth,
                                 cut.v_stride, v);
}

// Outputs of one tile: `rows` x `columns` pixels, `channels` from `o` on.
template <int M, int R, int kBytes>
inline void OutputTile(const float* x, int64_t x_stride, const VectorTail& tail,
                       int64_t rows, int64_t columns, int64_t channels,
                       int64_t row_size, int64_t pixel_size, int64_t o,
                       int64_t offset, float* out) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int kLanes = VectorOf<kBytes>::kLanes;
  constexpr int kEdge = M + R - 1;
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t lanes = std::min<int64_t>(kLanes, channels - c);
    V half[kEdge][M];
#pragma GCC unroll 8
    for (int i = 0; i < kEdge; ++i) {
      V d[kEdge];
#pragma GCC unroll 8
      for (int j = 0; j < kEdge; ++j) {
        d[j] = *reinterpret_cast<const V*>(x + (i * kEdge + j) * x_stride + c);
      }
      WinogradTransform<M, R>::Output(d, half[i]);
    }
    V y[M][M];
#pragma GCC unroll 8
    for (int j = 0; j < M; ++j) {
      V d[kEdge], r[M];
#pragma GCC unroll 8
      for (int i = 0; i < kEdge; ++i) d[i] = half[i][j];
      WinogradTransform<M, R>::Output(d, r);
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) y[i][j] = r[i];
    }
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      if (i >= rows) break;
#pragma GCC unroll 8
      for (int j = 0; j < M; ++j) {
        if (j >= columns) break;
        const int64_t at = offset + i * row_size + j * pixel_size + c;
        if (lanes == kLanes) {
          tail.Store<Vector>(y[i][j], {tail, o + c}, at, out);
          continue;
        }
        const V part = y[i][j];
        tail.StorePart(reinterpret_cast<const float*>(&part), lanes, o + c, at,
                       out);
      }
    }
  }
}

// The results of `count` tiles from `first` on, for `channels` channels from
// `o` on.
template <int M, int R>
void OutputTiles(const ConvParams& p, const Cut<M, R>& cut, const float* x,
                 int64_t first, int64_t count, int64_t o, int64_t channels,
                 const VectorTail& tail, float* out) {
  const int64_t pixel_size = p.out_channels;
  const int64_t row_size = p.out[2] * pixel_size;
  RunSimdWide([&](auto bytes) {
    for (int64_t t = 0; t < count; ++t) {
      const TilePosition tile(first + t, cut.tiles_y, cut.tiles_x, M);
      const int64_t offset =
          (tile.image * p.out[1] + tile.y) * row_size + tile.x * pixel_size + o;
      OutputTile<M, R, decltype(bytes)::value>(
          x + t * kPanel, cut.x_stride, tail, p.out[1] - tile.y,
          p.out[2] - tile.x, channels, row_size, pixel_size, o, offset, out);
    }
  });
  if (tail.rest.empty()) return;
  for (int64_t t = 0; t < count; ++t) {
    const TilePosition tile(first + t, cut.tiles_y, cut.tiles_x, M);
    for (int64_t i = 0; i < std::min<int64_t>(M, p.out[1] - tile.y); ++i) {
      ApplyEpilogue(
          tail.rest,
          {.row = (tile.image * p.out[1] + tile.y + i) * p.out[2] + tile.x,
           .rows = std::min<int64_t>(M, p.out[2] - tile.x),
           .channel = o,
           .channels = channels,
           .row_size = pixel_size},
          out);
    }
  }
}

// One panel of the results of `count` tiles, whose V begins at `v`.
template <int M, int R>
void MultiplyPanel(const ConvParams& p, const Cut<M, R>& cut, const float* v,
                   const float* u, int64_t panel, int64_t first, int64_t count,
                   const VectorTail& tail, float* x, float* out) {
  const PanelChannels channels = ChannelsOf(p, panel);
  MultiplyElements(p, cut, v, u, channels, count, x);
  OutputTiles(p, cut, x, first, count, channels.first, channels.count, tail,
              out);
}

template <int M, int R>
class WinogradConv : public WinogradForward<Cut<M, R>::kElements> {
  using Base = WinogradForward<Cut<M, R>::kElements>;

 public:
  const char* Name() const override {
    return R == 5 ? "winograd_f2_5" : M == 4 ? "winograd_f4" : "winograd_f2";
  }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return IsWinograd(p, R);
  }

  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const Cut<M, R> cut(p, cpu);
    const double elements = 1.0 * cut.tiles * Cut<M, R>::kElements;
    const double out_depth = RoundUp(p.out_channels, kLine);
    const double products = Base::ProductsNs(p, cpu, elements);
    double transforms = elements * (cost::kTransform * cut.depth +
                                    cost::kTransformOut * out_depth);
    if (p.in_channels % kLine != 0)
      transforms += cost::kTransformTail * elements;
    const double images =
        cut.far ? cost::kFarImage * (p.in_elements() + p.out_elements()) : 0;
    // U is read from memory where it does not stay in the caches: if the filter
    // is constant, a network reads much else before it is used again.
    const double filter_bytes = Base::PreparedFilterBytes(p);
    const int64_t stays = p.constant_filter ? cpu.l2_bytes : kCachedFilter;
    const double filter = FilterReadNs(filter_bytes, cpu, stays);
    const double prepare = p.constant_filter ? 0 : PrepareNs(filter_bytes);
    return cost::kWinogradStart + products + transforms + images + filter +
           prepare;
  }

  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    threads = std::min(threads, ScratchSlots::kMost);
    const Cut<M, R> cut(p, HostCpu());
    const int64_t v = cut.v_elements(), x = cut.x_elements();
    return sizeof(float) *
           (cut.depth + (cut.shared ? v + threads * x : threads * (v + x)));
  }

  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    TransformPanels<Cut<M, R>::kElements>(
        pool, p, static_cast<const float*>(filter),
        0.5 * kPanel * Cut<M, R>::kElements,
        [&p](const float* g, int64_t n, float* u) {
          TransformFilter(p, g, n, u);
        },
        static_cast<float*>(prepared));
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const Cut<M, R> cut(p, HostCpu());
    const float* in = static_cast<const float*>(args.input);
    const float* u = static_cast<const float*>(args.prepared_filter);
    float* out = static_cast<float*>(args.result);
    const VectorTail tail(args.epilogue);
    float* zeros = static_cast<float*>(args.workspace);
    std::fill_n(zeros, cut.depth, 0.0f);
    float* rest = zeros + cut.depth;
    const int threads = std::min(args.pool->NumThreads(), ScratchSlots::kMost);
    const int64_t v_size = cut.v_elements(), x_size = cut.x_elements();

    if (!cut.shared) {
      ScratchSlots slots(rest, sizeof(float) * (v_size + x_size), threads);
      args.pool->ParallelFor(
          CeilDiv(cut.tiles, cut.block), 1, [&](int64_t block, int64_t) {
            const ScratchSlots::Slot slot(&slots);
            float* v = static_cast<float*>(slot.data());
            const int64_t first = block * cut.block;
            const int64_t count = std::min(cut.block, cut.tiles - first);
            InputTiles(p, cut, in, zeros, first, count, v);
            for (int64_t panel = 0; panel < cut.panels; ++panel) {
              MultiplyPanel(p, cut, v, u, panel, first, count, tail, v + v_size,
                            out);
            }
          });
      return;
    }

    float* v = rest;
    ScratchSlots slots(rest + v_size, sizeof(float) * x_size, threads);
    for (int64_t first = 0; first < cut.tiles; first += cut.block) {
      const int64_t count = std::min(cut.block, cut.tiles - first);
      args.pool->ParallelForCost(count, 0.3 * Cut<M, R>::kElements * cut.depth,
                                 [&](int64_t begin, int64_t end) {
                                   InputTiles(p, cut, in, zeros, first + begin,
                                              end - begin,
                                              v + begin * cut.depth);
                                 });
      const int64_t chunks = CeilDiv(count, cut.chunk);
      args.pool->ParallelFor(cut.panels * chunks, 1, [&](int64_t i, int64_t) {
        const ScratchSlots::Slot slot(&slots);
        const int64_t t = i % chunks * cut.chunk;
        MultiplyPanel(p, cut, v + t * cut.depth, u, i / chunks, first + t,
                      std::min(cut.chunk, count - t), tail,
                      static_cast<float*>(slot.data()), out);
      });
    }
  }

 private:
  // The transform of the taps of one input channel and `n` output channels, in
  // double.
  static void TransformFilter(const ConvParams& p, const float* g, int64_t n,
                              float* u) {
    constexpr int kEdge = M + R - 1;
    const int64_t tap_stride = p.in_channels * p.out_channels;
    const int64_t u_stride = ElementStride(p, n);
    RunSimdWide([&](auto bytes) {
      using Lanes = WinogradLanes<decltype(bytes)::value>;
      for (int64_t o = 0; o < n; o += Lanes::kCount) {
        typename Lanes::V taps[R][R],
            rows[R][kEdge];  // rows: of G g, transposed
        for (int t = 0; t < R * R; ++t) {
          Lanes::Load(g + t * tap_stride + o, n - o, &taps[t % R][t / R]);
        }
        for (int j = 0; j < R; ++j) {
          WinogradTransform<M, R>::Filter(taps[j], rows[j]);
        }
        for (int i = 0; i < kEdge; ++i) {
          typename Lanes::V row[R], t[kEdge];
          for (int j = 0; j < R; ++j) row[j] = rows[j][i];
          WinogradTransform<M, R>::Filter(row, t);
          for (int j = 0; j < kEdge; ++j) {
            Lanes::Store(t[j], n - o, u + (i * kEdge + j) * u_stride + o);
          }
        }
      }
    });
  }
};

}  // namespace

const ConvImplementation* WinogradF2() {
  static const WinogradConv<2, 3> implementation;
  return &implementation;
}
const ConvImplementation* WinogradF4() {
  static const WinogradConv<4, 3> implementation;
  return &implementation;
}
const ConvImplementation* WinogradF2Of5() {
  static const WinogradConv<2, 5> implementation;
  return &implementation;
}

}  // namespace headrace::conv
