// Activations that graphs spell out by several ops (_Gelu and others), in one
// pass. Where the op by op result is NaN, as for -inf, so is this one's. For
// x far below 0 these are more precise: nothing is subtracted from 1.
//
// Multiply-add in one instruction where the processor has it. Before all
// includes, so that what they define inline has it too.
#pragma GCC optimize("no-trapping-math", "fp-contract=fast")

#include <cmath>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/vector_math_double.h"

namespace headrace {
namespace {

// x / 2 erfc(-x / sqrt(2))
struct GeluFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 0.8;
  template <typename T>
  static T Apply(T x) {
    const T y = ErfcOfPositive(std::abs(x) * T(M_SQRT1_2));
    const T upper = T(2) - y;
    return T(0.5) * x * (x > T(0) ? upper : y);
  }
};

// (1 + tanh(u)) / 2 = sigmoid(2 u)
struct ApproximateGeluFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 0.7;
  template <typename T>
  static T Apply(T x) {
    constexpr double kTwice = 1.5957691216057308;  // 2 sqrt(2 / pi)
    const T u = x * (T(kTwice) + T(kTwice * 0.044715) * (x * x));
    return x * VecSigmoid(u);
  }
};

struct SwishFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Apply(T x) {
    return x * VecSigmoid(x);
  }
};

struct HardSwishFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 0.2;
  template <typename T>
  static T Apply(T x) {
    // Comparisons that keep NaN.
    const T sum = x + T(3);
    const T low = sum < T(0) ? T(0) : sum;
    const T bounded = low > T(6) ? T(6) : low;
    return x * (bounded * T(1. / 6));
  }
};

// tanh(log(1 + e)) = p / (p + 2) with p = e (e + 2)
struct MishFn {
  static constexpr bool kSimd = true;
  static constexpr double kCost = 0.8;
  template <typename T>
  static T Apply(T x) {
    constexpr T kOne = sizeof(T) == 4 ? 20 : 40;  // from here on tanh is 1
    const T e = VecExp(x > kOne ? kOne : x);
    const T p = e * (e + T(2));
    return x * (p / (p + T(2)));
  }
};

HR_REGISTER_UNARY("_Gelu", GeluFn, float, double);
HR_REGISTER_UNARY("_ApproximateGelu", ApproximateGeluFn, float, double);
HR_REGISTER_UNARY("_Swish", SwishFn, float, double);
HR_REGISTER_UNARY("_HardSwish", HardSwishFn, float, double);
HR_REGISTER_UNARY("_Mish", MishFn, float, double);

}  // namespace
}  // namespace headrace
