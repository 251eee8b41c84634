// Sum, Mean, Prod and EuclideanNorm over axes. Integers wrap, but Mean adds
// them up in 64 bits and cuts the quotient towards 0. An empty sum is 0, an
// empty product 1, an empty mean NaN (0 for integers and complex numbers). An
// empty list of axes reduces nothing.
#include <cmath>
#include <limits>

#include "kernels/lib/elementwise.h"
#include "kernels/math/reduction_op.h"

namespace headrace {
namespace {

struct SumOf {
  using Merge = SumOf;
  template <typename A>
  static A Init() {
    return A(0);
  }
  template <typename A, typename T>
  static A Load(T x) {
    return static_cast<A>(x);
  }
  template <typename A>
  static A Combine(A a, A b) {
    return WrapAdd(a, b);
  }
};
struct ProductOf : SumOf {
  using Merge = ProductOf;
  template <typename A>
  static A Init() {
    return A(1);
  }
  template <typename A>
  static A Combine(A a, A b) {
    return WrapMul(a, b);
  }
};
struct SquaresOf : SumOf {
  template <typename A, typename T>
  static A Load(T x) {
    if constexpr (kIsComplex<T>) {
      return A(x.real()) * A(x.real()) + A(x.imag()) * A(x.imag());
    } else {
      return WrapMul(static_cast<A>(x), static_cast<A>(x));
    }
  }
};

struct SumKind {
  using Op = SumOf;
  static constexpr bool kIdentity = true, kPlain = true;
  template <typename T>
  using Accumulator = ComputeType<T>;
  template <typename C>
  static C Finish(C a, int64_t) {
    return a;
  }
};
struct ProdKind : SumKind {
  using Op = ProductOf;
};

// Integers are added in 64 bits, where only int64 and uint64 can wrap.
template <typename T>
using MeanAccumulator = std::conditional_t<
    !std::is_integral_v<T>, ComputeType<T>,
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

struct MeanKind {
  using Op = SumOf;
  static constexpr bool kIdentity = true, kPlain = false;
  template <typename T>
  using Accumulator = MeanAccumulator<T>;
  template <typename C, typename A>
  static C Finish(A a, int64_t count) {
    if constexpr (std::is_integral_v<C>) {
      return count == 0 ? C(0) : static_cast<C>(a / static_cast<A>(count));
    } else if constexpr (kIsComplex<C>) {
      return count == 0 ? C(0) : a / static_cast<typename C::value_type>(count);
    } else {
      return a / static_cast<A>(count);
    }
  }
};

struct NormKind {
  using Op = SquaresOf;
  static constexpr bool kIdentity = false, kPlain = false;
  template <typename T>
  using Accumulator = std::conditional_t<
      std::is_same_v<T, complex128>, double,
      std::conditional_t<std::is_same_v<T, complex64>, float, ComputeType<T>>>;
  template <typename C, typename A>
  static C Finish(A a, int64_t) {
    if constexpr (std::is_integral_v<A>) {
      // Squares of large integers wrap. The root of a negative number is NaN,
      // which converts to the lowest int32 or int64 and to a small type's 0.
      if (std::is_signed_v<A> && a < A(0)) {
        return sizeof(A) < 4 ? C(0) : std::numeric_limits<C>::lowest();
      }
      return static_cast<C>(std::sqrt(static_cast<double>(a)));
    } else {
      return static_cast<C>(std::sqrt(a));
    }
  }
};

HR_REGISTER_REDUCTION("Sum", SumKind, "T", HR_TYPES_NUMBER);
HR_REGISTER_REDUCTION("Mean", MeanKind, "T", HR_TYPES_NUMBER);
HR_REGISTER_REDUCTION("Prod", ProdKind, "T", HR_TYPES_NUMBER);
HR_REGISTER_REDUCTION("EuclideanNorm", NormKind, "T", HR_TYPES_NUMBER);

}  // namespace
}  // namespace headrace
