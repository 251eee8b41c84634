// Quotients and remainders. For integers Div and TruncateDiv cut towards 0 and
// FloorDiv rounds down; Mod and TruncateMod take the sign of the dividend,
// FloorMod that of the divisor. A zero integer divisor anywhere fails the op
// with InvalidArgument (TensorFlow's two Truncate ops give Internal, and its
// message says that they should not fail). The lowest integer by -1 wraps to
// itself, remainder 0.
#include <cmath>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

Status DivisionByZero() {
  return errors::InvalidArgument("Integer division by zero");
}

// Both return 0 and report a zero divisor.
template <typename T>
T CheckedQuotient(T x, T y, ElementwiseState* s) {
  if (y == 0) {
    s->Fail();
    return 0;
  }
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return WrapSub<T>(0, x);
  }
  return static_cast<T>(x / y);
}
template <typename T>
T CheckedRemainder(T x, T y, ElementwiseState* s) {
  if (y == 0) {
    s->Fail();
    return 0;
  }
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return 0;
  }
  return static_cast<T>(x % y);
}
template <typename T>
T CheckedFloorQuotient(T x, T y, ElementwiseState* s) {
  const T q = CheckedQuotient(x, y, s);
  if constexpr (std::is_signed_v<T>) {
    // The product cannot overflow: |q * y| <= |x|, and -1 leaves no rest.
    if (y != 0 && y != -1 && (x < 0) != (y < 0) && q * y != x) {
      return static_cast<T>(q - 1);
    }
  }
  return q;
}
template <typename T>
T CheckedFloorRemainder(T x, T y, ElementwiseState* s) {
  const T r = CheckedRemainder(x, y, s);
  if constexpr (std::is_signed_v<T>) {
    if (r != 0 && (r < 0) != (y < 0)) return static_cast<T>(r + y);
  }
  return r;
}

// True quotient.
struct RealDivFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return x / y;
  }
};
struct DivFn {
  static constexpr double kCost = 3;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    return CheckedQuotient(x, y, s);
  }
  static Status Error() { return DivisionByZero(); }
};
struct TruncateDivFn {
  static constexpr double kCost = 3;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    if constexpr (std::is_integral_v<T>) return CheckedQuotient(x, y, s);
    if constexpr (std::is_floating_point_v<T>) return std::trunc(x / y);
    return x / y;
  }
  static Status Error() { return DivisionByZero(); }
};
struct FloorDivFn {
  static constexpr double kCost = 3;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    if constexpr (std::is_integral_v<T>) return CheckedFloorQuotient(x, y, s);
    return std::floor(x / y);
  }
  static Status Error() { return DivisionByZero(); }
};
struct ModFn {
  static constexpr double kCost = 5;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    if constexpr (std::is_integral_v<T>) return CheckedRemainder(x, y, s);
    return std::fmod(x, y);
  }
  static Status Error() { return DivisionByZero(); }
};
struct TruncateModFn {
  static constexpr double kCost = 5;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    return ModFn::Apply(x, y, s);
  }
  static Status Error() { return DivisionByZero(); }
};
struct FloorModFn {
  static constexpr double kCost = 5;
  template <typename T>
  static T Apply(T x, T y, ElementwiseState* s) {
    if constexpr (std::is_integral_v<T>) {
      return CheckedFloorRemainder(x, y, s);
    } else {
      const T r = std::fmod(x, y);
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    }
  }
  static Status Error() { return DivisionByZero(); }
};

// 0 where y is 0, also for NaN / 0.
struct DivNoNanFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return y == T(0) ? T(0) : x / y;
  }
};
// 0 where x is 0, whatever y.
struct XdivyFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T x, T y) {
    return x == T(0) ? T(0) : x / y;
  }
};

HR_REGISTER_BINARY("RealDiv", RealDivFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("Div", RealDivFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("Div", DivFn, HR_TYPES_INT);
HR_REGISTER_BINARY("TruncateDiv", TruncateDivFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("FloorDiv", FloorDivFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("Mod", ModFn, HR_TYPES_FLOAT, int32_t, int64_t);
HR_REGISTER_BINARY("TruncateMod", TruncateModFn, HR_TYPES_FLOAT, int32_t,
                   int64_t);
HR_REGISTER_BINARY("FloorMod", FloorModFn, HR_TYPES_REAL);
HR_REGISTER_BINARY("DivNoNan", DivNoNanFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("Xdivy", XdivyFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);

}  // namespace
}  // namespace headrace
