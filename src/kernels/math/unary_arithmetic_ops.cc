// Element-wise signs, powers and rounding of one operand, and predicates.
// Integers wrap: Abs and Neg of the lowest integer are itself. Round and Rint
// both round half to even and keep the sign of zero.
#include <bit>
#include <cmath>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

struct AbsFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return x < 0 ? WrapSub<T>(0, x) : x;
    }
  }
};
struct NegFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_integral_v<T>) {
      return WrapSub<T>(0, x);
    } else {
      return -x;
    }
  }
};
// NaN stays NaN, both zeros give 0; of a complex number, its direction.
struct SignFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplex<T>) {
      const auto r = std::abs(x);
      return r == 0 ? T(0) : x / r;
    } else {
      const T sign = static_cast<T>((x > 0) - (x < 0));
      return x == x ? sign : x;
    }
  }
};
struct ReciprocalFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return T(1) / x;
  }
};
struct SquareFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return WrapMul(x, x);
  }
};
struct SqrtFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return std::sqrt(x);
  }
};
struct RsqrtFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return T(1) / std::sqrt(x);
  }
};
struct RoundFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::nearbyint(x);
    } else {
      return x;
    }
  }
};
struct CeilFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return std::ceil(x);
  }
};
struct FloorFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return std::floor(x);
  }
};

struct IsNanFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x) {
    return x != x;
  }
};
struct IsInfFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x) {
    return std::abs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFiniteFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x) {
    return std::abs(x) < std::numeric_limits<T>::infinity();
  }
};
struct LogicalNotFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x) {
    return !x;
  }
};
struct InvertFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x) {
    return static_cast<T>(~x);
  }
};
struct PopulationCountFn {
  template <typename T>
  static uint8_t Apply(T x) {
    return static_cast<uint8_t>(
        std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

HR_REGISTER_UNARY("Abs", AbsFn, HR_TYPES_FLOAT, HR_TYPES_SIGNED);
HR_REGISTER_UNARY("Neg", NegFn, HR_TYPES_FLOAT, HR_TYPES_SIGNED,
                  HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Sign", SignFn, HR_TYPES_FLOAT, HR_TYPES_SIGNED,
                  HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Inv", ReciprocalFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Reciprocal", ReciprocalFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Square", SquareFn, HR_TYPES_NUMBER);
HR_REGISTER_UNARY("Sqrt", SqrtFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Rsqrt", RsqrtFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Round", RoundFn, HR_TYPES_FLOAT, HR_TYPES_SIGNED);
HR_REGISTER_UNARY("Rint", RoundFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("Ceil", CeilFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("Floor", FloorFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("IsNan", IsNanFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("IsInf", IsInfFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("IsFinite", IsFiniteFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY_UNTYPED("LogicalNot", LogicalNotFn, bool);
HR_REGISTER_UNARY("Invert", InvertFn, HR_TYPES_INT);
HR_REGISTER_UNARY("PopulationCount", PopulationCountFn, HR_TYPES_INT);

}  // namespace
}  // namespace headrace
