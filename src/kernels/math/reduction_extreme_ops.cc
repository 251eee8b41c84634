// Max, Min, All and Any over axes. NaN wins in Max and Min; the extreme of
// nothing is -inf or inf (the lowest or highest integer), All of nothing is
// true.
#include <limits>

#include "kernels/lib/elementwise.h"
#include "kernels/math/reduction_op.h"

namespace headrace {
namespace {

struct MaximumOf {
  using Merge = MaximumOf;
  template <typename A>
  static A Init() {
    return std::numeric_limits<A>::has_infinity
               ? -std::numeric_limits<A>::infinity()
               : std::numeric_limits<A>::lowest();
  }
  template <typename A, typename T>
  static A Load(T x) {
    return x;
  }
  template <typename A>
  static A Combine(A a, A b) {
    // Two choices: loops of combined conditions do not become vectors.
    const A best = a >= b ? a : b;
    return a != a ? a : best;
  }
};
struct MinimumOf : MaximumOf {
  using Merge = MinimumOf;
  template <typename A>
  static A Init() {
    return std::numeric_limits<A>::has_infinity
               ? std::numeric_limits<A>::infinity()
               : std::numeric_limits<A>::max();
  }
  template <typename A>
  static A Combine(A a, A b) {
    // Two choices: loops of combined conditions do not become vectors.
    const A best = a <= b ? a : b;
    return a != a ? a : best;
  }
};
struct AllOf : MaximumOf {
  using Merge = AllOf;
  template <typename A>
  static A Init() {
    return true;
  }
  template <typename A>
  static A Combine(A a, A b) {
    return a & b;
  }
};
struct AnyOf : MaximumOf {
  using Merge = AnyOf;
  template <typename A>
  static A Init() {
    return false;
  }
  template <typename A>
  static A Combine(A a, A b) {
    return a | b;
  }
};

template <typename OpType>
struct Kind {
  using Op = OpType;
  static constexpr bool kIdentity = true, kPlain = true;
  template <typename T>
  using Accumulator = ComputeType<T>;
  template <typename C>
  static C Finish(C a, int64_t) {
    return a;
  }
};

HR_REGISTER_REDUCTION("Max", Kind<MaximumOf>, "T", HR_TYPES_REAL);
HR_REGISTER_REDUCTION("Min", Kind<MinimumOf>, "T", HR_TYPES_REAL);
HR_REGISTER_REDUCTION("All", Kind<AllOf>, nullptr, bool);
HR_REGISTER_REDUCTION("Any", Kind<AnyOf>, nullptr, bool);

}  // namespace
}  // namespace headrace
