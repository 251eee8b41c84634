// What products of small numbers share (bfloat16_product.h, byte_product.h): a
// tile is up to kTileRows rows, each in segments that may lie anywhere, by the
// columns of one packed panel. A processor has several ways to multiply one.
#ifndef HEADRACE_KERNELS_LIB_PRODUCT_TILES_H_
#define HEADRACE_KERNELS_LIB_PRODUCT_TILES_H_

#include <algorithm>
#include <cstdint>

namespace headrace::product_tiles {

// Calls F<number of rows>(tile, first row) for all rows of a tile, up to kMost
// at once.
#define HR_TILE_ROWS(F, tile, kMost)                                   \
  for (int64_t first = 0; first < (tile).num_rows; first += (kMost)) { \
    switch (std::min<int64_t>((tile).num_rows - first, (kMost))) {     \
      case 1:                                                          \
        F<1>(tile, first);                                             \
        break;                                                         \
      case 2:                                                          \
        F<2>(tile, first);                                             \
        break;                                                         \
      case 3:                                                          \
        F<3>(tile, first);                                             \
        break;                                                         \
      case 4:                                                          \
        F<4>(tile, first);                                             \
        break;                                                         \
      case 5:                                                          \
      case 6:                                                          \
        F<6>(tile, first);                                             \
        break;                                                         \
      case 7:                                                          \
      case 8:                                                          \
        F<std::min(8, (kMost))>(tile, first);                          \
        break;                                                         \
      default:                                                         \
        F<(kMost)>(tile, first);                                       \
    }                                                                  \
  }

// The rows of a segment from `first` on, of a tile whose segments have
// kTileRows rows. If there are fewer than kCount, the last is read again.
template <int kCount, int64_t kTileRows, typename Tile, typename Number>
inline void FindRows(const Tile& t, int64_t segment, int64_t first,
                     const Number** rows) {
  for (int r = 0; r < kCount; ++r) {
    rows[r] = t.rows[segment * kTileRows + std::min(first + r, t.num_rows - 1)];
  }
}

// The ways that this processor has, the fastest first.
template <typename Tile>
struct Ways {
  struct Way {
    const char* name;
    void (*multiply)(const Tile&);
  };
  Way all[4];
  int count = 0;

  void Add(const char* name, void (*multiply)(const Tile&)) {
    all[count++] = {name, multiply};
  }
};

}  // namespace headrace::product_tiles

#endif  // HEADRACE_KERNELS_LIB_PRODUCT_TILES_H_
