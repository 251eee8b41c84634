// Comparisons and logic, broadcast by NumPy's rules. NaN equals nothing.
#include <cmath>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

struct EqualFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(const T& x, const T& y) {
    return x == y;
  }
};
struct NotEqualFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(const T& x, const T& y) {
    return x != y;
  }
};
struct LessFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x, T y) {
    return x < y;
  }
};
struct LessEqualFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x, T y) {
    return x <= y;
  }
};
struct GreaterFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x, T y) {
    return x > y;
  }
};
struct GreaterEqualFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x, T y) {
    return x >= y;
  }
};
// |x - y| <= tolerance.
struct ApproximateEqualFn {
  template <typename T>
  static bool Apply(T x, T y, ElementwiseState* s) {
    if constexpr (std::is_integral_v<T>) {
      const T d = x > y ? WrapSub(x, y) : WrapSub(y, x);
      return static_cast<double>(static_cast<std::make_unsigned_t<T>>(d)) <=
             s->param;
    } else {
      return std::abs(x - y) <= s->param;
    }
  }
};
struct LogicalAndFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x, T y) {
    return x & y;
  }
};
struct LogicalOrFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static bool Apply(T x, T y) {
    return x | y;
  }
};

HR_REGISTER_BINARY("Equal", EqualFn, HR_TYPES_NUMBER, HR_TYPES_QUANTIZED, bool,
                   tstring);
HR_REGISTER_BINARY("NotEqual", NotEqualFn, HR_TYPES_NUMBER, HR_TYPES_QUANTIZED,
                   bool, tstring);
HR_REGISTER_BINARY("Less", LessFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("LessEqual", LessEqualFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("Greater", GreaterFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("GreaterEqual", GreaterEqualFn, HR_TYPES_REAL);
HR_REGISTER_BINARY_SAME_SHAPE("ApproximateEqual", ApproximateEqualFn,
                              HR_TYPES_NUMBER);
HR_REGISTER_BINARY_UNTYPED("LogicalAnd", LogicalAndFn, bool);
HR_REGISTER_BINARY_UNTYPED("LogicalOr", LogicalOrFn, bool);

}  // namespace
}  // namespace headrace
