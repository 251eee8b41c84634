// Reductions of one row of floats or doubles in a fixed tree order. There are
// kLanes partial results; in long rows kChains times as many, so that they do
// not wait for each other. Element i belongs to the lane i modulo the number of
// lanes. At the end the lanes are folded by halves. The vectors are explicit,
// because the compiler may not reorder floating-point sums and does not
// vectorise an array of lanes.
#ifndef HEADRACE_KERNELS_NN_ROW_MATH_H_
#define HEADRACE_KERNELS_NN_ROW_MATH_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/lib/nn_math.h"
#include "kernels/lib/simd_width.h"

namespace headrace::row_math {

constexpr int kLanes = 16;
constexpr int kChains = 4;

// The lanes in parts of 32 bytes. GCC splits vectors that are wider than the
// processor's registers into single numbers.
template <typename C>
using Part = VectorOf<32, C>;
template <typename C>
constexpr int kParts = kLanes / Part<C>::kLanes;
template <typename C>
struct Lanes {
  typename Part<C>::Type part[kParts<C>];
};

template <typename C>
inline C FoldSum(C* lane) {
  for (int w = kLanes / 2; w > 0; w /= 2) {
    for (int l = 0; l < w; ++l) lane[l] += lane[l + w];
  }
  return lane[0];
}

// sum of f(i) for i in [0, n).
template <typename C, typename F>
inline C SumOf(int64_t n, const F& f) {
  if (n < kLanes) {
    C sum = C(0);
    for (int64_t i = 0; i < n; ++i) sum += f(i);
    return sum;
  }
  C lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] += f(i + l);
  }
  for (int l = 0; i < n; ++i, ++l) lane[l] += f(i);
  return FoldSum(lane);
}

// The same for an array.
template <typename C>
inline C Sum(const C* x, int64_t n) {
  if (n < kLanes) {
    C sum = C(0);
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  constexpr int64_t kPart = Part<C>::kLanes;
  Lanes<C> sum = {};
  int64_t i = 0;
  if (n >= 2 * kChains * kLanes) {
    Lanes<C> sums[kChains] = {};
    for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
      for (int k = 0; k < kChains; ++k) {
        for (int p = 0; p < kParts<C>; ++p) {
          sums[k].part[p] += Part<C>::At(x + i + k * kLanes + p * kPart);
        }
      }
    }
    for (int p = 0; p < kParts<C>; ++p) {
      sum.part[p] = (sums[0].part[p] + sums[1].part[p]) +
                    (sums[2].part[p] + sums[3].part[p]);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    for (int p = 0; p < kParts<C>; ++p) {
      sum.part[p] += Part<C>::At(x + i + p * kPart);
    }
  }
  C lane[kLanes];
  std::memcpy(lane, &sum, sizeof(sum));
  for (int l = 0; i < n; ++i, ++l) lane[l] += x[i];
  return FoldSum(lane);
}

// The largest element, ignoring NaN. -inf for an empty row.
template <typename C, typename T>
inline C Max(const T* x, int64_t n) {
  if (n < kLanes) {
    C max = -std::numeric_limits<C>::infinity();
    for (int64_t i = 0; i < n; ++i) {
      const C v = static_cast<C>(x[i]);
      max = v > max ? v : max;
    }
    return max;
  }
  C lane[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    lane[l] = -std::numeric_limits<C>::infinity();
  }
  int64_t i = 0;
  if constexpr (std::is_same_v<C, T>) {
    constexpr int64_t kPart = Part<C>::kLanes;
    using V = typename Part<C>::Type;
    Lanes<C> max;
    std::memcpy(&max, lane, sizeof(max));
    if (n >= 2 * kChains * kLanes) {
      Lanes<C> most[kChains] = {max, max, max, max};
      for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
        for (int k = 0; k < kChains; ++k) {
          for (int p = 0; p < kParts<C>; ++p) {
            const V v = Part<C>::At(x + i + k * kLanes + p * kPart);
            V& m = most[k].part[p];
            m = v > m ? v : m;
          }
        }
      }
      for (const Lanes<C>& other : most) {
        for (int p = 0; p < kParts<C>; ++p) {
          V& m = max.part[p];
          m = other.part[p] > m ? other.part[p] : m;
        }
      }
    }
    for (; i + kLanes <= n; i += kLanes) {
      for (int p = 0; p < kParts<C>; ++p) {
        const V v = Part<C>::At(x + i + p * kPart);
        V& m = max.part[p];
        m = v > m ? v : m;
      }
    }
    std::memcpy(lane, &max, sizeof(max));
  } else {
    for (; i + kLanes <= n; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) {
        const C v = static_cast<C>(x[i + l]);
        lane[l] = v > lane[l] ? v : lane[l];
      }
    }
  }
  for (; i < n; ++i) {
    const C v = static_cast<C>(x[i]);
    lane[0] = v > lane[0] ? v : lane[0];
  }
  for (int w = kLanes / 2; w > 0; w /= 2) {
    for (int l = 0; l < w; ++l) {
      lane[l] = lane[l + w] > lane[l] ? lane[l + w] : lane[l];
    }
  }
  return lane[0];
}

// y = exp(x - max); returns its sum. y may be x.
template <typename C>
inline C ExpAndSum(const C* x, int64_t n, C max, C* y) {
  // This much stays in the first-level cache until it is summed.
  constexpr int64_t kBlock = 1024;
  C sum = C(0);
  for (int64_t from = 0; from < n; from += kBlock) {
    const int64_t to = n - from < kBlock ? n : from + kBlock;
#pragma GCC ivdep
    for (int64_t i = from; i < to; ++i) y[i] = vec::Exp(x[i] - max);
    sum += Sum(y + from, to - from);
  }
  return sum;
}

}  // namespace headrace::row_math

#endif  // HEADRACE_KERNELS_NN_ROW_MATH_H_
