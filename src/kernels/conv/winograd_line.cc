// winograd_line: forward convolution of stride 1 with a filter that is a line,
// 1xR or Rx1 for R = 3, 5, 7, with 2, 2.5 or 2.8 times fewer multiplications.
// The output is cut into tiles of M = 4 pixels along the line, and the E = M +
// R - 1 inputs that each sees are transformed:
//
//   V[e][tile, c] = (B' d)[e]      input transform
//   X[e][tile, o] = V[e] U[e]      products with the transformed filter
//   y[tile, o]    = A' X           output transform, bias, activation
//
// The maps follow from polynomial interpolation at 0, pairs of points p and -p,
// and infinity. The filter is transformed ahead, in panels of output channels:
// U[panel][e][c, o]. Threads take blocks of tiles through all three stages.
//
// Accuracy: errors are relative to the largest terms of the sums, not to a
// result that cancels. For inputs and filters in [-1, 1] and up to 512 channels
// the largest error is below 1.4e-5 sqrt(R C) (R = 7) and 6e-6 sqrt(R C) (R =
// 3, 5). The order of all sums is fixed. An infinity or NaN makes NaN of every
// output of the tiles that see it.

// Products and sums of the transforms may be fused: their order is fixed, and
// no other copy of them has to give the same bits. Before all includes, so that
// what they define inline can be inlined.
#pragma GCC optimize("fp-contract=fast")

#include <algorithm>
#include <array>
#include <cstring>

#include "base/thread_pool.h"
#include "headrace/tensor_shape.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/conv/winograd_panels.h"
#include "kernels/conv/winograd_transform.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

constexpr int kTile = 4;  // M

// The points: those with the smallest errors of many that were tried.
template <int R>
struct Points;
template <>
struct Points<3> {
  static constexpr std::array<double, 2> kAt = {0.625, 1.5};
};
template <>
struct Points<5> {
  static constexpr std::array<double, 3> kAt = {0.5, 1, 2};
};
template <>
struct Points<7> {
  static constexpr std::array<double, 4> kAt = {0.5, 0.75, 1.25, 2.5};
};

template <int R>
struct Transform {
  static constexpr int kElements = kTile + R - 1;
  static constexpr int kPairs = (kElements - 2) / 2;
  static constexpr auto& kAt = Points<R>::kAt;

  // Coefficients of z^0 and up of the product of (z - p^2) over all pairs but
  // `without`.
  static constexpr std::array<double, kPairs + 1> Product(int without) {
    std::array<double, kPairs + 1> c = {1};
    for (int i = 0; i < kPairs; ++i) {
      if (i == without) continue;
      const double square = kAt[i] * kAt[i];
      for (int k = kPairs; k > 0; --k) c[k] = c[k - 1] - square * c[k];
      c[0] *= -square;
    }
    return c;
  }

  // v = B' d
  template <typename V>
  static inline void Input(const V* d, V* v) {
    constexpr auto kAll = Product(-1);
    V first = d[2 * kPairs], last = d[2 * kPairs + 1];
#pragma GCC unroll 8
    for (int k = 0; k < kPairs; ++k) {
      first += static_cast<float>(kAll[k]) * d[2 * k];
      last += static_cast<float>(kAll[k]) * d[2 * k + 1];
    }
    v[0] = first;
    v[kElements - 1] = last;
    InputPair<V, 0>(d, v);
  }

  // y = A' x
  template <typename V>
  static inline void Output(const V* x, V* y) {
    V even[kPairs], odd[kPairs];
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) {
      even[i] = x[2 * i + 1] + x[2 * i + 2];
      odd[i] = x[2 * i + 1] - x[2 * i + 2];
    }
    y[0] = x[0];
    y[1] = y[2] = V{};
    y[3] = x[kElements - 1];
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) {
      const auto p = static_cast<float>(kAt[i]);
      y[0] += even[i];
      y[1] += p * odd[i];
      y[2] += p * p * even[i];
      y[3] += p * p * p * odd[i];
    }
  }

  // u = G g
  template <typename V>
  static inline void Filter(const V* g, V* u) {
    constexpr auto kAll = Product(-1);
    u[0] = g[0] * (1 / kAll[0]);
    u[kElements - 1] = g[R - 1];
    for (int i = 0; i < kPairs; ++i) {
      const double p = kAt[i], square = p * p;
      double distance = 2 * square;
      for (int j = 0; j < kPairs; ++j) {
        if (j != i) distance *= square - kAt[j] * kAt[j];
      }
      V even = V{}, odd = V{};
      for (int k = R - 1; k >= 0; k -= 2) even = even * square + g[k];
      for (int k = R - 2; k >= 0; k -= 2) odd = odd * square + g[k];
      u[2 * i + 1] = (even + p * odd) * (1 / distance);
      u[2 * i + 2] = (even - p * odd) * (1 / distance);
    }
  }

 private:
  template <typename V, int I>
  static inline void InputPair(const V* d, V* v) {
    if constexpr (I < kPairs) {
      constexpr auto kRest = Product(I);
      V even = d[2 * kPairs], odd = d[2 * kPairs - 1];
#pragma GCC unroll 8
      for (int k = 0; k < kPairs - 1; ++k) {
        even += static_cast<float>(kRest[k]) * d[2 * k + 2];
        odd += static_cast<float>(kRest[k]) * d[2 * k + 1];
      }
      constexpr auto kPoint = static_cast<float>(kAt[I]);
      v[2 * I + 1] = even + kPoint * odd;
      v[2 * I + 2] = even - kPoint * odd;
      InputPair<V, I + 1>(d, v);
    }
  }
};

// How the work is cut. Follows from the sizes alone.
template <int R>
struct Cut {
  static constexpr int64_t kElements = Transform<R>::kElements;
  static constexpr int64_t kBlock = 24;

  explicit Cut(const ConvParams& p) : axis(p.filter[2] == R ? 2 : 1) {
    line_tiles = CeilDiv(p.out[axis], kTile);
    step = axis == 2 ? 1 : p.out[2];
    tiles = p.batch * p.out_pixels() / p.out[axis] * line_tiles;
    panels = CeilDiv(p.out_channels, kPanel);
    depth = RoundUp(p.in_channels, kLine);
    // Enough tiles to pay for reading U, few enough for V and X to stay in the
    // second level cache. A multiple of four blocks, so that two or four
    // threads end together.
    const int64_t blocks = RoundUp(CeilDiv(tiles, kBlock), 4);
    block = CeilDiv(tiles, blocks);
    v_stride = block * depth + kLine;
    x_stride = block * kPanel + kLine;
  }

  int axis;  // of the line
  int64_t line_tiles, tiles;
  int64_t step;  // pixels from one of the line to the next
  int64_t panels, depth;
  int64_t block;
  int64_t v_stride, x_stride;  // from one element to the next

  int64_t scratch() const { return kElements * (v_stride + x_stride); }
};

// Where a tile lies: its line begins at pixels `in` and `out` of the images,
// and it at output `at` of the line.
template <int R>
struct Position {
  int64_t in, out, at;
  Position(const ConvParams& p, const Cut<R>& cut, int64_t tile) {
    if (cut.axis == 2) {
      const int64_t row = tile / cut.line_tiles;
      in = row * p.in[2];
      out = row * p.out[2];
      at = tile % cut.line_tiles * kTile;
    } else {
      const int64_t x = tile % p.out[2],
                    image = tile / p.out[2] / cut.line_tiles;
      in = image * p.in[1] * p.in[2] + x;
      out = image * p.out[1] * p.out[2] + x;
      at = tile / p.out[2] % cut.line_tiles * kTile;
    }
  }
};

// Transforms one tile, a vector of channels at a time; `at[i]` is where pixel i
// of the tile begins.
template <int R, int kBytes>
inline void InputTile(const float* const* at, int64_t channels, float* v,
                      int64_t v_stride) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int64_t kLanes = Vector::kLanes;
  constexpr int kElements = Transform<R>::kElements;
  for (int64_t c = 0; c < channels; c += kLanes) {
    V d[kElements], o[kElements];
    if (c + kLanes <= channels) {
#pragma GCC unroll 16
      for (int i = 0; i < kElements; ++i) d[i] = Vector::At(at[i] + c);
    } else {
      float part[kElements][kLanes] = {};
      for (int i = 0; i < kElements; ++i) {
        std::copy(at[i] + c, at[i] + channels, part[i]);
        d[i] = Vector::At(part[i]);
      }
    }
    Transform<R>::Input(d, o);
#pragma GCC unroll 16
    for (int i = 0; i < kElements; ++i) Vector::At(v + i * v_stride + c) = o[i];
  }
}

// V of `count` tiles from `first` on; `zeros` has as many as there are
// channels.
template <int R>
void InputTiles(const ConvParams& p, const Cut<R>& cut, const float* in,
                const float* zeros, int64_t first, int64_t count, float* v) {
  RunSimdWide([&](auto bytes) {
    for (int64_t t = 0; t < count; ++t) {
      const Position<R> tile(p, cut, first + t);
      const float* at[Transform<R>::kElements];
      for (int i = 0; i < Transform<R>::kElements; ++i) {
        const int64_t x = tile.at - p.pad_before[cut.axis] + i;
        at[i] = x >= 0 && x < p.in[cut.axis]
                    ? in + (tile.in + x * cut.step) * p.in_channels
                    : zeros;
      }
      InputTile<R, decltype(bytes)::value>(at, p.in_channels, v + t * cut.depth,
                                           cut.v_stride);
    }
  });
}

// The results of `count` tiles from `first` on, for `channels` channels from
// `o` on.
template <int R>
void OutputTiles(const ConvParams& p, const Cut<R>& cut, const float* x,
                 int64_t first, int64_t count, int64_t o, int64_t channels,
                 const VectorTail& tail, float* out) {
  RunSimdWide([&](auto bytes) {
    using Vector = VectorOf<decltype(bytes)::value>;
    using V = typename Vector::Type;
    constexpr int64_t kLanes = Vector::kLanes;
    constexpr int kElements = Transform<R>::kElements;
    for (int64_t t = 0; t < count; ++t) {
      const Position<R> tile(p, cut, first + t);
      const int64_t pixels =
          std::min<int64_t>(kTile, p.out[cut.axis] - tile.at);
      const int64_t begin =
          (tile.out + tile.at * cut.step) * p.out_channels + o;
      const float* from = x + t * kPanel;
      for (int64_t c = 0; c < channels; c += kLanes) {
        V d[kElements], y[kTile];
#pragma GCC unroll 16
        for (int i = 0; i < kElements; ++i) {
          d[i] = Vector::At(from + i * cut.x_stride + c);
        }
        Transform<R>::Output(d, y);
        const int64_t lanes = std::min(kLanes, channels - c);
        for (int i = 0; i < pixels; ++i) {
          const int64_t at = begin + i * cut.step * p.out_channels + c;
          if (lanes == kLanes) {
            tail.Store<Vector>(y[i], {tail, o + c}, at, out);
          } else {
            tail.StorePart(reinterpret_cast<const float*>(&y[i]), lanes, o + c,
                           at, out);
          }
        }
      }
    }
  });
  if (tail.rest.empty()) return;
  for (int64_t t = 0; t < count; ++t) {
    const Position<R> tile(p, cut, first + t);
    const int64_t end = std::min(tile.at + kTile, p.out[cut.axis]);
    for (int64_t at = tile.at; at < end; ++at) {
      ApplyEpilogue(tail.rest,
                    {.row = tile.out + at * cut.step,
                     .rows = 1,
                     .channel = o,
                     .channels = channels,
                     .row_size = p.out_channels},
                    out);
    }
  }
}

template <int R>
class WinogradLine : public WinogradForward<Cut<R>::kElements> {
  using Base = WinogradForward<Cut<R>::kElements>;

 public:
  const char* Name() const override {
    return R == 3   ? "winograd_line3"
           : R == 5 ? "winograd_line5"
                    : "winograd_line7";
  }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    const int axis = p.filter[2] == R ? 2 : 1;
    for (int i = 0; i < 3; ++i) {
      if (p.stride[i] != 1 || p.dilation[i] != 1 ||
          (i == axis ? p.filter[i] != R
                     : p.filter[i] != 1 || p.pad_before[i] != 0 ||
                           p.pad_after[i] != 0)) {
        return false;
      }
    }
    // The depth of a volume counts as more images.
    return p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups == 1 && p.in_channels <= kMostWinogradChannels &&
           p.out_channels <= kMostWinogradChannels;
  }

  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const Cut<R> cut(p);
    const double elements = 1.0 * cut.tiles * Cut<R>::kElements;
    const double out_depth = RoundUp(p.out_channels, kLine);
    const double products = Base::ProductsNs(p, cpu, elements);
    double transforms = elements * (cost::kTransformLine * cut.depth +
                                    cost::kTransformOut * out_depth);
    if (p.in_channels % kLine != 0)
      transforms += cost::kTransformTail * elements;
    // Each block of tiles reads U, from memory where it does not stay in the
    // caches.
    const double filter_bytes = Base::PreparedFilterBytes(p);
    const double filter =
        filter_bytes > kCachedFilter
            ? FarByteNs(cpu) * filter_bytes * CeilDiv(cut.tiles, cut.block)
            : kNearByteNs * filter_bytes;
    const double prepare = p.constant_filter ? 0 : PrepareNs(filter_bytes);
    return cost::kWinogradStart + products + transforms + filter + prepare;
  }

  int64_t WorkspaceBytes(const ConvParams& p, int threads) const override {
    threads = std::min(threads, ScratchSlots::kMost);
    const Cut<R> cut(p);
    return sizeof(float) * (cut.depth + threads * cut.scratch());
  }

  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    TransformPanels<Cut<R>::kElements>(
        pool, p, static_cast<const float*>(filter),
        1.0 * kPanel * Cut<R>::kElements,
        [&p](const float* g, int64_t n, float* u) {
          TransformFilter(p, g, n, u);
        },
        static_cast<float*>(prepared));
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const Cut<R> cut(p);
    const float* in = static_cast<const float*>(args.input);
    const float* u = static_cast<const float*>(args.prepared_filter);
    float* out = static_cast<float*>(args.result);
    const VectorTail tail(args.epilogue);
    float* zeros = static_cast<float*>(args.workspace);
    std::fill_n(zeros, cut.depth, 0.0f);
    ScratchSlots slots(zeros + cut.depth, sizeof(float) * cut.scratch(),
                       std::min(args.pool->NumThreads(), ScratchSlots::kMost));
    args.pool->ParallelFor(
        CeilDiv(cut.tiles, cut.block), 1, [&](int64_t block, int64_t) {
          const ScratchSlots::Slot slot(&slots);
          float* v = static_cast<float*>(slot.data());
          const int64_t first = block * cut.block;
          const int64_t count = std::min(cut.block, cut.tiles - first);
          InputTiles(p, cut, in, zeros, first, count, v);
          for (int64_t panel = 0; panel < cut.panels; ++panel) {
            MultiplyPanel(p, cut, v, u, panel, first, count, tail,
                          v + Cut<R>::kElements * cut.v_stride, out);
          }
        });
  }

 private:
  static void MultiplyPanel(const ConvParams& p, const Cut<R>& cut,
                            const float* v, const float* u, int64_t panel,
                            int64_t first, int64_t count,
                            const VectorTail& tail, float* x, float* out) {
    const PanelChannels channels = ChannelsOf(p, panel);
    MultiplyElements(p, cut, v, u, channels, count, x);
    OutputTiles(p, cut, x, first, count, channels.first, channels.count, tail,
                out);
  }

  // The transform of the taps of one input channel and `n` output channels, in
  // double.
  static void TransformFilter(const ConvParams& p, const float* g, int64_t n,
                              float* u) {
    const int64_t tap_stride = p.in_channels * p.out_channels;
    const int64_t u_stride = ElementStride(p, n);
    RunSimdWide([&](auto bytes) {
      using Lanes = WinogradLanes<decltype(bytes)::value>;
      for (int64_t o = 0; o < n; o += Lanes::kCount) {
        typename Lanes::V taps[R], t[Cut<R>::kElements];
        for (int i = 0; i < R; ++i) {
          Lanes::Load(g + i * tap_stride + o, n - o, &taps[i]);
        }
        Transform<R>::Filter(taps, t);
        for (int i = 0; i < Cut<R>::kElements; ++i) {
          Lanes::Store(t[i], n - o, u + i * u_stride + o);
        }
      }
    });
  }
};

}  // namespace

const ConvImplementation* WinogradLine3() {
  static const WinogradLine<3> implementation;
  return &implementation;
}
const ConvImplementation* WinogradLine5() {
  static const WinogradLine<5> implementation;
  return &implementation;
}
const ConvImplementation* WinogradLine7() {
  static const WinogradLine<7> implementation;
  return &implementation;
}

}  // namespace headrace::conv
