// Exponentials, logarithms and what is made of them; erf and erfc. Real numbers
// take the vectorised functions of vector_math.h and vector_math_double.h,
// complex numbers the C library's, as do logarithms and expm1 of doubles.
//
// Multiply-add in one instruction where the processor has it. Before all
// includes, so that what they define inline has it too.
#pragma GCC optimize("fp-contract=fast")

#include <cmath>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/vector_math.h"
#include "kernels/lib/vector_math_double.h"

namespace headrace {
namespace {

template <typename T>
inline constexpr bool kIsFloat = std::is_same_v<T, float>;
template <typename T>
inline constexpr bool kIsReal = std::is_floating_point_v<T>;

struct ExpFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsReal<T>) return VecExp(x);
    return std::exp(x);
  }
};
struct LogFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsFloat<T>) return VecLog(x);
    return std::log(x);
  }
};
// exp(x) - 1 without cancellation near 0; of x = a + ib it is
// expm1(a) - 2 exp(a) sin(b / 2)^2 + i exp(a) sin(b).
struct Expm1Fn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1.2;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplex<T>) {
      using Real = typename T::value_type;
      const Real less = std::expm1(x.real());
      const Real scale = less + 1;
      const Real half = std::sin(x.imag() / 2);
      return {less - 2 * scale * (half * half), scale * std::sin(x.imag())};
    } else if constexpr (kIsFloat<T>) {
      return VecExpm1(x);
    } else {
      return std::expm1(x);
    }
  }
};
struct Log1pFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplex<T>) {
      const T u = T(1) + x;
      if (u == T(1)) return x;
      const T log_u = std::log(u);
      if (u == log_u) return u;
      return x * (log_u / (u - T(1)));
    } else if constexpr (kIsFloat<T>) {
      return VecLog1p(x);
    } else {
      return std::log1p(x);
    }
  }
};
struct TanhFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsReal<T>) return VecTanh(x);
    return std::tanh(x);
  }
};
struct SigmoidFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1.2;
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsReal<T>) return VecSigmoid(x);
    return T(1) / (T(1) + std::exp(-x));
  }
};

struct ErfFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Apply(T x) {
    return VecErf(x);
  }
};
struct ErfcFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Apply(T x) {
    return VecErfc(x);
  }
};

HR_REGISTER_UNARY("Exp", ExpFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Log", LogFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Expm1", Expm1Fn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Log1p", Log1pFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Tanh", TanhFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Erf", ErfFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("Erfc", ErfcFn, HR_TYPES_FLOAT);
HR_REGISTER_UNARY("Sigmoid", SigmoidFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);

}  // namespace
}  // namespace headrace
