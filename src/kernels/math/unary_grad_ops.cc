// Gradients of unary ops in terms of the op's output y and the gradient dy, in
// this order: SigmoidGrad dy y (1 - y), TanhGrad dy (1 - y^2), SqrtGrad
// 0.5 dy / y, RsqrtGrad -0.5 dy y^3, ReciprocalGrad -dy y^2. Of complex numbers
// the last three conjugate y. The first two do not: who builds the gradient of
// Sigmoid or Tanh gives them the conjugate.
#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

template <typename T>
T Conjugate(T y) {
  if constexpr (kIsComplex<T>) return std::conj(y);
  return y;
}

struct SigmoidGradFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T y, T dy) {
    return dy * y * (T(1) - y);
  }
};
struct TanhGradFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T y, T dy) {
    return dy * (T(1) - y * y);
  }
};
struct SqrtGradFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T y, T dy) {
    return T(0.5) * dy / Conjugate(y);
  }
};
struct RsqrtGradFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T y, T dy) {
    const T c = Conjugate(y);
    return T(-0.5) * (dy * c) * (c * c);
  }
};
struct ReciprocalGradFn {
  static constexpr bool kSimd = true;
  template <typename T>
  static T Apply(T y, T dy) {
    const T c = Conjugate(y);
    return -c * c * dy;
  }
};

// Their operands have one shape. Groups of element-wise ops find the loops.
template <typename Fn>
struct NamedGrad : elementwise_internal::Binary<Fn, true> {
  static constexpr bool kIsNamed = true;
};
#define HR_REGISTER_GRAD(NAME, FN) \
  HR_REGISTER_ELEMENTWISE(         \
      __COUNTER__, NAME, #FN,      \
      Table<1, NamedGrad<FN>, HR_TYPES_FLOAT, HR_TYPES_COMPLEX>)
HR_REGISTER_GRAD("SigmoidGrad", SigmoidGradFn);
HR_REGISTER_GRAD("TanhGrad", TanhGradFn);
HR_REGISTER_GRAD("SqrtGrad", SqrtGradFn);
HR_REGISTER_GRAD("RsqrtGrad", RsqrtGradFn);
HR_REGISTER_GRAD("ReciprocalGrad", ReciprocalGradFn);
HR_REGISTER_GRAD("InvGrad", ReciprocalGradFn);
#undef HR_REGISTER_GRAD

}  // namespace
}  // namespace headrace
