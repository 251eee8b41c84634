// Functors that move elements: boxes with strides (transposes, slices, tiles,
// reversals, concatenation), padding, gathers, one-hot vectors. Elements are
// bytes of a width (Element<4>), so that a functor serves all types of it.
#ifndef HEADRACE_KERNELS_GPU_LAYOUT_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_LAYOUT_FUNCTORS_H_

#include "kernels/gpu/elementwise_functors.h"

namespace headrace::gpu {

// to[box at stride 1] = from[box at stride 0].
template <int kBytes>
struct BoxMove {
  using E = Element<kBytes>;
  const E* from;
  E* to;
  StridedBox<2> box;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    box.Offsets(i, at);
    to[at[1]] = from[at[0]];
  }
};

// Transposes matrices in tiles, so that reads and writes both run along rows:
// [batch, rows, columns] -> [batch, columns, rows].
template <int kBytes>
struct TileTranspose {
  using E = Element<kBytes>;
  static constexpr int kTile = 32, kRows = 8;
  static constexpr int kThreads = kTile * kRows, kPhases = 2;
  struct Shared {
    E tile[kTile][kTile + 1];  // one more: no two rows begin in one bank
  };
  const E* from;
  E* to;
  int64_t rows, columns, row_tiles, column_tiles;

  HR_HOST_DEVICE void Run(int phase, int64_t block, int thread,
                          Shared* s) const {
    const int64_t of_batch = row_tiles * column_tiles;
    const int64_t batch = Divide(block, of_batch);
    const int64_t tile = block - batch * of_batch;
    const int64_t row = Divide(tile, column_tiles) * kTile;
    const int64_t column =
        (tile - Divide(tile, column_tiles) * column_tiles) * kTile;
    const int x = thread % kTile, y = thread / kTile;
    const int64_t begin = batch * rows * columns;
    for (int k = y; k < kTile; k += kRows) {
      if (phase == 0) {
        if (row + k < rows && column + x < columns) {
          s->tile[k][x] = from[begin + (row + k) * columns + column + x];
        }
      } else if (column + k < columns && row + x < rows) {
        to[begin + (column + k) * rows + row + x] = s->tile[x][k];
      }
    }
  }
};

// y of any rank; outside of x it is `value`. Index i of y is index i - before
// of x in each dim.
template <int kBytes>
struct PadMove {
  static constexpr int kMaxRank = 8;
  using E = Element<kBytes>;
  const E* x;
  const E* value;  // null: zero bytes
  E* y;
  int rank;
  int64_t y_size[kMaxRank], x_size[kMaxRank], before[kMaxRank];
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i, offset = 0, stride = 1;
    bool inside = true;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t next = Divide(rest, y_size[d]);
      const int64_t at = rest - next * y_size[d] - before[d];
      inside = inside && at >= 0 && at < x_size[d];
      offset += at * stride;
      stride *= x_size[d];
      rest = next;
    }
    if (inside) {
      y[i] = x[offset];
    } else if (value != nullptr) {
      y[i] = *value;
    } else {
      y[i] = E{};
    }
  }
};

// y[outer, n, inner] = x[outer, indices[n], inner]; an index outside of the
// axis gives zeros, as TensorFlow's GPU kernels do.
template <int kBytes, typename Index>
struct GatherMove {
  using E = Element<kBytes>;
  const E* x;
  const Index* indices;
  E* y;
  int64_t axis, count, inner;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = Divide(i, inner);
    const int64_t outer = Divide(row, count);
    const int64_t index = indices[row - outer * count];
    if (index < 0 || index >= axis) {
      y[i] = E{};
    } else {
      y[i] = x[(outer * axis + index) * inner + (i - row * inner)];
    }
  }
};

// The gradient of a gather, and UnsortedSegmentSum: y[indices[n], inner] +=
// x[n, inner]. One thread sums a column of a row of y, so the order is fixed.
template <typename T, typename Index>
struct SegmentSum {
  const T* x;
  const Index* indices;
  T* y;
  int64_t count, inner;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = Divide(i, inner), at = i - row * inner;
    ComputeType<T> sum = 0;
    for (int64_t n = 0; n < count; ++n) {
      if (indices[n] == row) sum += Load(x[n * inner + at]);
    }
    y[i] = Store<T>(sum);
  }
};

// y[prefix, depth, suffix] = indices[prefix, suffix] == depth ? on : off.
template <int kBytes, typename Index>
struct OneHotMove {
  using E = Element<kBytes>;
  const Index* indices;
  const E *on, *off;
  E* y;
  int64_t depth, suffix;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = Divide(i, suffix);
    const int64_t prefix = Divide(row, depth);
    const int64_t at = row - prefix * depth;
    const int64_t index = indices[prefix * suffix + (i - row * suffix)];
    y[i] = index == at ? *on : *off;
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_LAYOUT_FUNCTORS_H_
