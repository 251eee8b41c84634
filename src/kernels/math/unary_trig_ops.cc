// Trigonometric and hyperbolic functions and their inverses, by the C library.
#include <cmath>

#include "kernels/lib/elementwise.h"

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

HR_DEFINE_TRIG(Sin, sin);
HR_DEFINE_TRIG(Cos, cos);
HR_DEFINE_TRIG(Tan, tan);
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
