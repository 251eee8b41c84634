// Trigonometric and hyperbolic functions and their inverses, by the C library;
// sin, cos and tan of floats by loops that vectorise, unless they are large.
#include <cmath>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/vector_math_double.h"

namespace headrace {
namespace {

#define HR_DEFINE_TRIG(NAME, FUNCTION)  \
  struct NAME##Fn {                     \
    static constexpr double kCost = 10; \
    template <typename T>               \
    static T Apply(T x) {               \
      return std::FUNCTION(x);          \
    }                                   \
  };                                    \
  HR_REGISTER_UNARY(#NAME, NAME##Fn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX)

#define HR_DEFINE_SINE(NAME, FUNCTION)                             \
  struct NAME##Fn {                                                \
    static constexpr bool kSimd = true;                            \
    static constexpr double kCost = 1;                             \
    template <typename T>                                          \
    static T Apply(T x) {                                          \
      if constexpr (std::is_same_v<T, float>) return Vec##NAME(x); \
      return std::FUNCTION(x);                                     \
    }                                                              \
    static bool InRange(float x) {                                 \
      return std::abs(x) <= kTrigonometricLimit;                   \
    }                                                              \
    static float Elsewhere(float x) { return std::FUNCTION(x); }   \
  };                                                               \
  HR_REGISTER_UNARY(#NAME, NAME##Fn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX)

HR_DEFINE_SINE(Sin, sin);
HR_DEFINE_SINE(Cos, cos);
HR_DEFINE_SINE(Tan, tan);
#undef HR_DEFINE_SINE
HR_DEFINE_TRIG(Asin, asin);
HR_DEFINE_TRIG(Acos, acos);
HR_DEFINE_TRIG(Atan, atan);
HR_DEFINE_TRIG(Sinh, sinh);
HR_DEFINE_TRIG(Cosh, cosh);
HR_DEFINE_TRIG(Asinh, asinh);
HR_DEFINE_TRIG(Acosh, acosh);
HR_DEFINE_TRIG(Atanh, atanh);
#undef HR_DEFINE_TRIG

}  // namespace
}  // namespace headrace
