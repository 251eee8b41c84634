// The update of one element in the Assign*, Scatter* and ScatterNd* families:
// Assign, Add, ... Integers wrap around. The caller must reject integer
// division by zero before it writes anything (HasZero). The lowest integer
// divided by -1 is itself.
#ifndef HEADRACE_KERNELS_LIB_SCALAR_UPDATE_H_
#define HEADRACE_KERNELS_LIB_SCALAR_UPDATE_H_

#include <algorithm>
#include <type_traits>

#include "headrace/tensor.h"

namespace headrace {

enum class UpdateOp { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

template <typename T>
inline constexpr bool kIsSmallFloat =
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <UpdateOp op, typename T>
inline T Combine(T a, T b) {
  if constexpr (op == UpdateOp::kAssign) {
    return b;
  } else if constexpr (std::is_same_v<T, bool>) {
    // The sum or difference of 0 and 1, converted to bool.
    static_assert(op == UpdateOp::kAdd || op == UpdateOp::kSub);
    return op == UpdateOp::kAdd ? (a || b) : a != b;
  } else if constexpr (kIsSmallFloat<T>) {
    return static_cast<T>(
        Combine<op>(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (op == UpdateOp::kMin) {
    return b < a ? b : a;
  } else if constexpr (op == UpdateOp::kMax) {
    return a < b ? b : a;
  } else if constexpr (std::is_integral_v<T>) {
    // Unsigned and at least as wide as int, so it cannot overflow.
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    if constexpr (op == UpdateOp::kAdd) return static_cast<T>(x + y);
    if constexpr (op == UpdateOp::kSub) return static_cast<T>(x - y);
    if constexpr (op == UpdateOp::kMul) return static_cast<T>(x * y);
    if constexpr (op == UpdateOp::kDiv) {
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(U{0} - x);
      }
      return static_cast<T>(a / b);
    }
  } else {
    if constexpr (op == UpdateOp::kAdd) return a + b;
    if constexpr (op == UpdateOp::kSub) return a - b;
    if constexpr (op == UpdateOp::kMul) return a * b;
    if constexpr (op == UpdateOp::kDiv) return a / b;
  }
}

// True if a division by these elements would trap.
template <typename T>
inline bool HasZero(const T* v, int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    return std::find(v, v + n, T{0}) != v + n;
  } else {
    return false;
  }
}

// dst[i] = Combine(dst[i], src[i]). With `scalar`, src has one element.
template <UpdateOp op, typename T>
inline void UpdateRange(T* dst, const T* src, int64_t n, bool scalar) {
  if (scalar) {
    const T v = *src;
    for (int64_t i = 0; i < n; ++i) dst[i] = Combine<op, T>(dst[i], v);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i] = Combine<op, T>(dst[i], src[i]);
  }
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SCALAR_UPDATE_H_
