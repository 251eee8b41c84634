// What convolutions have in common that multiply small numbers
// (lib/product_tiles.h): the image is converted once, to rows of packed
// channels, a row a pixel; a row after them stands for the padding. A tile is
// some output pixels by the channels of one panel: for each tap it reads the
// pixels where they lie.
#ifndef HEADRACE_KERNELS_CONV_TAP_ROWS_H_
#define HEADRACE_KERNELS_CONV_TAP_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/tiles.h"

namespace headrace::conv {

// The pixels that an output pixel reads, by tap.
class TapPixels {
 public:
  // `p` stays where it is.
  explicit TapPixels(const ConvParams& p)
      : p_(p),
        zeros_(p.batch * p.in_pixels()),
        is_pointwise_(p.IsPointwise()) {}

  // Calls use(tap, pixel) for the taps in order. The pixel after the last of
  // the image is the padding.
  template <typename Use>
  void ForEach(int64_t out_pixel, const Use& use) const {
    if (is_pointwise_) return use(0, out_pixel);
    const int64_t x = out_pixel % p_.out[2];
    const int64_t y = out_pixel / p_.out[2] % p_.out[1];
    const int64_t z = out_pixel / (p_.out[2] * p_.out[1]) % p_.out[0];
    const int64_t image = out_pixel / p_.out_pixels() * p_.in_pixels();
    const int64_t iz = z * p_.stride[0] - p_.pad_before[0];
    const int64_t iy = y * p_.stride[1] - p_.pad_before[1];
    const int64_t ix = x * p_.stride[2] - p_.pad_before[2];
    int64_t tap = 0;
    for (int64_t tz = 0; tz < p_.filter[0]; ++tz) {
      const int64_t sz = iz + tz * p_.dilation[0];
      for (int64_t ty = 0; ty < p_.filter[1]; ++ty) {
        const int64_t sy = iy + ty * p_.dilation[1];
        const bool inside =
            sz >= 0 && sz < p_.in[0] && sy >= 0 && sy < p_.in[1];
        const int64_t line = image + (sz * p_.in[1] + sy) * p_.in[2];
        for (int64_t tx = 0; tx < p_.filter[2]; ++tx, ++tap) {
          const int64_t sx = ix + tx * p_.dilation[2];
          use(tap, inside && sx >= 0 && sx < p_.in[2] ? line + sx : zeros_);
        }
      }
    }
  }

 private:
  const ConvParams& p_;
  const int64_t zeros_;
  const bool is_pointwise_;
};

// The tiles of a convolution, `rows` pixels by a panel of `columns` channels.
struct PanelTiles {
  int64_t rows = 0, columns = 0;
  int64_t panel_bytes = 0;  // of the prepared filter
  double tile_ns = 0;       // what a tile takes, roughly
};

// Computes all tiles of args.result on the pool's threads, and applies
// `epilogue`, what tiles leave of the convolution's. A thread takes some tiles
// by some panels at a time, a few microseconds, and calls make() for them,
// which returns an object with
//   Find(pixel, count)            the pixels from `pixel` on are the rows now
//   Multiply(panel, channel, columns)   those rows by a panel, which is that of
//                                 `columns` channels from `channel` on
// A piece has all panels if they stay in a second level cache, so that a thread
// reads pixels of its own. The pieces do not depend on the number of threads.
template <typename Make>
void ComputeTiles(const ConvArgs& args, const Epilogue& epilogue,
                  const PanelTiles& t, const Make& make) {
  constexpr int64_t kMostTiles = 16, kNearFilter = 256 << 10;
  constexpr double kPieceNs = 4000;
  const ConvParams& p = *args.params;
  const int64_t pixels = p.batch * p.out_pixels();
  const int64_t tiles = CeilDiv(pixels, t.rows);
  const int64_t panels = CeilDiv(p.out_channels, t.columns);
  const int64_t all = panels * t.panel_bytes <= kNearFilter ? panels : 1;
  const auto in_piece = [&](int64_t tiles_already, int64_t most) {
    const double ns = t.tile_ns * static_cast<double>(tiles_already);
    return std::clamp<int64_t>(static_cast<int64_t>(kPieceNs / ns), 1, most);
  };
  const int64_t together = in_piece(all, std::min(kMostTiles, tiles));
  const int64_t wide = in_piece(together, panels);
  const int64_t groups = CeilDiv(panels, wide);
  args.pool->ParallelFor(
      CeilDiv(tiles, together) * groups, 1, [&](int64_t piece, int64_t) {
        const int64_t first = piece / groups * together * t.rows;
        const int64_t last = std::min(first + together * t.rows, pixels);
        const int64_t p0 = piece % groups * wide;
        const int64_t p1 = std::min(p0 + wide, panels);
        auto tile = make();
        for (int64_t at = first; at < last; at += t.rows) {
          tile.Find(at, std::min(t.rows, last - at));
          for (int64_t panel = p0; panel < p1; ++panel) {
            const int64_t c = panel * t.columns;
            tile.Multiply(panel, c, std::min(t.columns, p.out_channels - c));
          }
        }
        if (epilogue.empty()) return;
        const int64_t c0 = p0 * t.columns;
        ApplyEpilogue(
            epilogue,
            {.row = first,
             .rows = last - first,
             .channel = c0,
             .channels = std::min(p1 * t.columns, p.out_channels) - c0,
             .row_size = p.out_channels},
            static_cast<float*>(args.result));
      });
}

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_TAP_ROWS_H_
