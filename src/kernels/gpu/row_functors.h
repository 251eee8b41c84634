// Functors over rows that indices name: gathers and scatters, updates of some
// rows of a variable, the greatest elements of rows.
//
// Indices lie on the device, where nobody can check them before the kernel is
// queued. As in TensorFlow's kernels of GPUs, an index that is out of range
// reads zeros and writes nothing.
#ifndef HEADRACE_KERNELS_GPU_ROW_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_ROW_FUNCTORS_H_

#include "kernels/gpu/elementwise_functors.h"

namespace headrace::gpu {

// The numbers of rows. Each is given by `depth` coordinates in dims of these
// sizes.
struct RowIndices {
  static constexpr int kMaxDepth = 8;
  const void* data;
  bool wide;  // int64, else int32
  int depth;
  int64_t count;
  int64_t size[kMaxDepth];

  // Of row n; -1 if a coordinate is out of range.
  HR_HOST_DEVICE int64_t operator()(int64_t n) const {
    int64_t row = 0;
    for (int d = 0; d < depth; ++d) {
      const int64_t at = wide
                             ? static_cast<const int64_t*>(data)[n * depth + d]
                             : static_cast<const int32_t*>(data)[n * depth + d];
      if (at < 0 || at >= size[d]) return -1;
      row = row * size[d] + at;
    }
    return row;
  }
};

// y[n, inner] = x[row n, inner].
template <int kBytes>
struct GatherRows {
  using E = Element<kBytes>;
  const E* x;
  E* y;
  RowIndices rows;
  int64_t inner;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t n = Divide(i, inner);
    const int64_t row = rows(n);
    if (row < 0) {
      y[i] = E{};
    } else {
      y[i] = x[row * inner + (i - n * inner)];
    }
  }
};

// Calls update.At(to, from) for each element `from` of the given rows, whose
// place among all rows is `to`. Rows with one number are updated in order, by
// one thread, so that results do not depend on timing. A thread has an element
// of a row, and the rows whose number has these last bits: of mask + 1 threads,
// a power of two, each looks at all indices and takes its share.
template <typename Update>
struct UpdateRows {
  Update update;
  RowIndices rows;
  int64_t inner, mask;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t part = Divide(i, inner), at = i - part * inner;
    for (int64_t n = 0; n < rows.count; ++n) {
      const int64_t row = rows(n);
      if (row >= 0 && (row & mask) == part) {
        update.At(row * inner + at, n * inner + at);
      }
    }
  }
};

enum class RowUpdate : int { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

// y = y <op> x; a scalar x has stride 0.
template <typename T>
struct CombineRows {
  T* y;
  const T* x;
  int stride;
  RowUpdate op;
  HR_HOST_DEVICE void At(int64_t to, int64_t from) const {
    using C = ComputeType<T>;
    if (op == RowUpdate::kAssign) {
      y[to] = x[from * stride];
      return;
    }
    const C a = Load(y[to]), b = Load(x[from * stride]);
    switch (op) {
      case RowUpdate::kAdd:
        y[to] = Store<T>(a + b);
        break;
      case RowUpdate::kSub:
        y[to] = Store<T>(a - b);
        break;
      case RowUpdate::kMul:
        y[to] = Store<T>(a * b);
        break;
      case RowUpdate::kDiv:
        y[to] = Store<T>(a / b);
        break;
      case RowUpdate::kMin:
        y[to] = Store<T>(b < a ? b : a);
        break;
      default:
        y[to] = Store<T>(a < b ? b : a);
    }
  }
};

// The k greatest elements of each row, the greatest first; of equal ones the
// first. NaN is above every number. A thread counts what stands before its
// element.
template <typename T>
struct TopElements {
  const T* x;
  T* values;
  int32_t* indices;
  int64_t n, k;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    using C = ComputeType<T>;
    const int64_t row = Divide(i, n), at = i - row * n;
    const C v = Load(x[i]);
    int64_t before = 0;
    for (int64_t j = 0; j < n && before < k; ++j) {
      const C w = Load(x[row * n + j]);
      const bool greater = w > v || (w != w && v == v);
      const bool equal = w == v || (w != w && v != v);
      before += greater || (equal && j < at);
    }
    if (before < k) {
      values[row * k + before] = x[i];
      indices[row * k + before] = static_cast<int32_t>(at);
    }
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_ROW_FUNCTORS_H_
