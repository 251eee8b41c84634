// The tiles of an image, transformed for Winograd's convolution F(MxM, RxR):
// along rows and columns, a vector of channels at a time.
#ifndef HEADRACE_KERNELS_CONV_WINOGRAD_TILES_H_
#define HEADRACE_KERNELS_CONV_WINOGRAD_TILES_H_

#include <cstdint>

#include "kernels/conv/winograd_transform.h"
#include "kernels/lib/simd_width.h"

namespace headrace::conv {

// Where a tile lies, of those that begin `step` pixels apart: its image and its
// first pixel there.
struct TilePosition {
  TilePosition(int64_t tile, int64_t tiles_y, int64_t tiles_x, int64_t step)
      : image(tile / (tiles_y * tiles_x)),
        y(tile / tiles_x % tiles_y * step),
        x(tile % tiles_x * step) {}
  int64_t image, y, x;
};

// Tiles that begin `step` pixels apart, the first one at pixel (origin_y,
// origin_x), in images [height, width, channels] that are zero outside.
struct TileView {
  const float* images;
  int64_t height, width, channels;
  int64_t step, origin_y, origin_x;
  int64_t tiles_y, tiles_x;  // of an image
};

// Transforms one tile of kFrom x kFrom pixels into kTo x kTo elements, which
// are `v_stride` apart; `at[i]` is where pixel i begins. Map::Apply takes kFrom
// vectors to kTo.
template <typename Map, int kBytes>
inline void TransformTile(const float* const* at, int64_t channels, float* v,
                          int64_t v_stride) {
  using V = typename VectorOf<kBytes>::Type;
  constexpr int kLanes = VectorOf<kBytes>::kLanes;
  constexpr int kFrom = Map::kFrom, kTo = Map::kTo;
  for (int64_t c = 0; c < channels; c += kLanes) {
    V rows[kFrom][kTo];
    const bool whole = c + kLanes <= channels;
#pragma GCC unroll 8
    for (int i = 0; i < kFrom; ++i) {
      V d[kFrom];
      if (whole) {
#pragma GCC unroll 8
        for (int j = 0; j < kFrom; ++j) {
          d[j] = *reinterpret_cast<const V*>(at[i * kFrom + j] + c);
        }
      } else {
        float part[kFrom][kLanes] = {};
        for (int j = 0; j < kFrom; ++j) {
          for (int64_t k = 0; k < channels - c; ++k) {
            part[j][k] = at[i * kFrom + j][c + k];
          }
          d[j] = *reinterpret_cast<const V*>(part[j]);
        }
      }
      Map::Apply(d, rows[i]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < kTo; ++j) {
      V d[kFrom], o[kTo];
#pragma GCC unroll 8
      for (int i = 0; i < kFrom; ++i) d[i] = rows[i][j];
      Map::Apply(d, o);
#pragma GCC unroll 8
      for (int i = 0; i < kTo; ++i) {
        *reinterpret_cast<V*>(v + (i * kTo + j) * v_stride + c) = o[i];
      }
    }
  }
}

// Those of `count` tiles from `first` on; a tile's channels begin `depth` after
// those of the tile before. `zeros` has as many as there are channels.
template <typename Map>
void TransformTiles(const TileView& view, const float* zeros, int64_t first,
                    int64_t count, int64_t depth, int64_t v_stride, float* v) {
  constexpr int kFrom = Map::kFrom;
  const int64_t row_size = view.width * view.channels;
  RunSimdWide([&](auto bytes) {
    for (int64_t t = 0; t < count; ++t) {
      const TilePosition tile(first + t, view.tiles_y, view.tiles_x, view.step);
      const float* at[kFrom * kFrom];
      for (int i = 0; i < kFrom; ++i) {
        const int64_t y = tile.y + view.origin_y + i;
        const bool inside = y >= 0 && y < view.height;
        const float* row =
            view.images + (tile.image * view.height + y) * row_size;
        for (int j = 0; j < kFrom; ++j) {
          const int64_t x = tile.x + view.origin_x + j;
          at[i * kFrom + j] = inside && x >= 0 && x < view.width
                                  ? row + x * view.channels
                                  : zeros;
        }
      }
      TransformTile<Map, decltype(bytes)::value>(at, view.channels,
                                                 v + t * depth, v_stride);
    }
  });
}

// B' d B: what the tiles of the input become.
template <int M, int R>
struct InputMap {
  static constexpr int kFrom = M + R - 1, kTo = M + R - 1;
  template <typename V>
  static inline void Apply(const V* d, V* o) {
    WinogradTransform<M, R>::Input(d, o);
  }
};

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_WINOGRAD_TILES_H_
