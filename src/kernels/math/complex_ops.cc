// Complex numbers and their parts.
#include <cmath>
#include <complex>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

struct RealFn {
  template <typename T>
  static typename T::value_type Apply(T x) {
    return x.real();
  }
};
struct ImagFn {
  template <typename T>
  static typename T::value_type Apply(T x) {
    return x.imag();
  }
};
struct AngleFn {
  static constexpr double kCost = 10;
  template <typename T>
  static typename T::value_type Apply(T x) {
    return std::arg(x);
  }
};
struct ComplexAbsFn {
  static constexpr double kCost = 4;
  template <typename T>
  static typename T::value_type Apply(T x) {
    return std::abs(x);
  }
};
struct ConjFn {
  template <typename T>
  static T Apply(T x) {
    return std::conj(x);
  }
};
struct ComplexFn {
  template <typename T>
  static std::complex<T> Apply(T re, T im) {
    return std::complex<T>(re, im);
  }
};

HR_REGISTER_UNARY_TOUT("Real", RealFn, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY_TOUT("Imag", ImagFn, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY_TOUT("Angle", AngleFn, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY_TOUT("ComplexAbs", ComplexAbsFn, HR_TYPES_COMPLEX);
HR_REGISTER_UNARY("Conj", ConjFn, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY_TOUT("Complex", ComplexFn, float, double);

}  // namespace
}  // namespace headrace
