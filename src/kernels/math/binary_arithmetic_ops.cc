// Sums, differences, products, extremes and powers, broadcast by NumPy's rules.
// Integers wrap. Maximum and Minimum give NaN if either side is NaN, and the
// first of two equal values (so max(0, -0) is 0). Add also joins strings.
#include <algorithm>
#include <cmath>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/vector_pow.h"

namespace headrace {
namespace {

struct AddFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(const T& x, const T& y) {
    if constexpr (std::is_same_v<T, tstring>) {
      tstring z = x;
      z += absl::string_view(y);
      return z;
    } else {
      return WrapAdd(x, y);
    }
  }
};
struct SubFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return WrapSub(x, y);
  }
};
struct MulFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return WrapMul(x, y);
  }
};
// 0 where y is 0, whatever x.
struct MulNoNanFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return y == T(0) ? T(0) : WrapMul(x, y);
  }
};
struct SquaredDifferenceFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    const T d = WrapSub(x, y);
    if constexpr (kIsComplex<T>) return WrapMul(d, std::conj(d));
    return WrapMul(d, d);
  }
};
struct MaximumFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return x >= y || x != x ? x : y;
  }
};
struct MinimumFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return x <= y || x != x ? x : y;
  }
};

// Integers by squaring, with wrapping; a negative exponent anywhere fails.
struct PowFn {
  static constexpr double kCost = 4;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    if constexpr (std::is_integral_v<T>) {
      if (y < 0) {
        s->Fail();
        return 0;
      }
      T r = 1;
      for (; y != 0; y >>= 1) {
        if (y & 1) r = WrapMul(r, x);
        x = WrapMul(x, x);
      }
      return r;
    } else if constexpr (kIsComplex<T>) {
      if (y == T(0)) return T(1);
      return std::pow(x, y);
    } else {
      if (y == T(2)) return x * x;
      if (y == T(3)) return x * x * x;
      if (y == T(0.5) && x > T(0)) return std::sqrt(x);
      return std::pow(x, y);
    }
  }
  static Status Error() {
    return errors::InvalidArgument(
        "Integers to negative integer powers are not allowed");
  }
};

struct BitwiseAndFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct BitwiseOrFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct BitwiseXorFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};

// A count beyond the type's bits is taken as the nearest that is not.
template <typename T>
int ShiftCount(T y) {
  constexpr int kMax = 8 * sizeof(T) - 1;
  if (y < 0) return 0;
  return y > T(kMax) ? kMax : static_cast<int>(y);
}
struct LeftShiftFn {
  template <typename T>
  static T Apply(T x, T y) {
    using W = typename WrapOf<T>::type;
    return static_cast<T>(static_cast<W>(x) << ShiftCount(y));
  }
};
struct RightShiftFn {
  template <typename T>
  static T Apply(T x, T y) {
    return static_cast<T>(x >> ShiftCount(y));
  }
};

}  // namespace

namespace elementwise_internal {

// Float powers in vectors; a scalar base is laid out.
template <>
void RunBinary<PowFn, float>(const void* xv, const void* yv, void* zv,
                             int64_t n, LoopShape shape, ElementwiseState*) {
  const auto* x = static_cast<const float*>(xv);
  const auto* y = static_cast<const float*>(yv);
  auto* z = static_cast<float*>(zv);
  if (shape == LoopShape::kBoth) return VecPow(x, y, z, n);
  if (shape == LoopShape::kSecondScalar) return VecPow(x, *y, z, n);
  constexpr int64_t kBlock = 1024;
  float same[kBlock];
  std::fill_n(same, std::min(kBlock, n), *x);
  for (int64_t i = 0; i < n; i += kBlock) {
    VecPow(same, y + i, z + i, std::min(kBlock, n - i));
  }
}

}  // namespace elementwise_internal

namespace {

HR_REGISTER_BINARY("Add", AddFn, HR_TYPES_NUMBER, tstring);
HR_REGISTER_BINARY("AddV2", AddFn, HR_TYPES_NUMBER);
HR_REGISTER_BINARY("Sub", SubFn, HR_TYPES_NUMBER);
HR_REGISTER_BINARY("Mul", MulFn, HR_TYPES_NUMBER);
HR_REGISTER_BINARY("MulNoNan", MulNoNanFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("SquaredDifference", SquaredDifferenceFn, HR_TYPES_FLOAT,
                   int32_t, int64_t, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("Maximum", MaximumFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("Minimum", MinimumFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("Pow", PowFn, HR_TYPES_FLOAT, HR_TYPES_SIGNED,
                   HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("BitwiseAnd", BitwiseAndFn, HR_TYPES_INT);
HR_REGISTER_BINARY("BitwiseOr", BitwiseOrFn, HR_TYPES_INT);
HR_REGISTER_BINARY("BitwiseXor", BitwiseXorFn, HR_TYPES_INT);
HR_REGISTER_BINARY("LeftShift", LeftShiftFn, HR_TYPES_INT);
HR_REGISTER_BINARY("RightShift", RightShiftFn, HR_TYPES_INT);

}  // namespace
}  // namespace headrace
