// exp, expm1, log, log1p, tanh and the logistic function of a float, written
// without branches or calls so that a loop over them becomes vector code;
// within about 2 ulp over the whole range, infinities, NaN and denormal results
// included. The double overloads are the C library's. With one formula for
// scalars and vectors a result does not depend on where in an array it stands.
#ifndef HEADRACE_KERNELS_VEC_MATH_H_
#define HEADRACE_KERNELS_VEC_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "framework/types.h"

namespace headrace {

// The type to compute in: float for the half-precision types.
template <typename T>
struct ComputeType {
  using Type = T;
};
template <>
struct ComputeType<half> {
  using Type = float;
};
template <>
struct ComputeType<bfloat16> {
  using Type = float;
};
template <typename T>
using ComputeTypeOf = typename ComputeType<T>::Type;

namespace vec {

namespace internal {

// x = n ln2 + r with |r| <= ln2 / 2. Adding 1.5 * 2^23 rounds to an integer,
// which then stands in the low bits: no conversion that a NaN could upset.
inline void ReduceExp(float x, uint32_t* n, float* r) {
  constexpr float kRound = 12582912.0f;
  const float t = x * 1.44269504088896341f + kRound;
  *n = std::bit_cast<uint32_t>(t) - std::bit_cast<uint32_t>(kRound);
  const float nf = t - kRound;
  *r = (x - nf * 0.693359375f) - nf * -2.12194440e-4f;
}
// (exp(r) - 1 - r) / r^2
inline float ExpTail(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  return p * r + 5.0000001201e-1f;
}
inline float PowerOfTwo(uint32_t n) {  // -126 <= n <= 127
  return std::bit_cast<float>((n + 127u) << 23);
}

}  // namespace internal

inline float Exp(float x) {
  // Beyond these the result is inf or 0 anyway. NaN passes.
  const float hi = x > 89.0f ? 89.0f : x;
  const float c = hi < -104.0f ? -104.0f : hi;
  uint32_t n;
  float r;
  internal::ReduceExp(c, &n, &r);
  const float p = internal::ExpTail(r) * (r * r) + r + 1.0f;
  // 2^n in two factors, as n may exceed what one exponent field holds.
  const uint32_t half_n = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  return p * internal::PowerOfTwo(half_n) * internal::PowerOfTwo(n - half_n);
}
inline double Exp(double x) { return std::exp(x); }

inline float Expm1(float x) {
  const float hi = x > 89.0f ? 89.0f : x;
  const float c = hi < -30.0f ? -30.0f : hi;
  uint32_t n;
  float r;
  internal::ReduceExp(c, &n, &r);
  const float p = internal::ExpTail(r) * (r * r) + r;  // exp(r) - 1
  const uint32_t half_n = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  const float a = internal::PowerOfTwo(half_n);
  const float b = internal::PowerOfTwo(n - half_n);
  // 2^n (p + 1) - 1 without losing a small p; 2^128 does not fit one factor.
  const float y = (p * a) * b + (a * b - 1.0f);
  const float large = ((p + 1.0f) * a) * b;
  const float result = x > 64.0f ? large : y;
  return x == 0.0f ? x : result;  // keeps -0
}
inline double Expm1(double x) { return std::expm1(x); }

inline float Log(float x) {
  // Denormals are scaled into the normal range first.
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = x * 8388608.0f;
  const float v = tiny ? scaled : x;
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  // m in [sqrt(1/2), sqrt(2)), v = m 2^e.
  const uint32_t shifted = bits - 0x3f3504f3u;
  const int32_t e = static_cast<int32_t>(shifted) >> 23;
  const float m = std::bit_cast<float>((shifted & 0x007fffffu) + 0x3f3504f3u);
  const float ef = static_cast<float>(e) - (tiny ? 23.0f : 0.0f);
  const float f = m - 1.0f;
  const float z = f * f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  float y = p * f * z;
  y = y + ef * -2.12194440e-4f;
  y = y - 0.5f * z;
  const float normal = (f + y) + ef * 0.693359375f;
  constexpr float kInf = __builtin_inff();
  const float positive = x == kInf ? kInf : normal;
  const float zero_or_nan = x == 0.0f ? -kInf : __builtin_nanf("");
  return x > 0.0f ? positive : zero_or_nan;
}
inline double Log(double x) { return std::log(x); }

// For x >= 0, which is what softplus needs.
inline float Log1pNonNegative(float x) {
  const float u = 1.0f + x;
  const float correction = (x - (u - 1.0f)) / u;
  const float y = Log(u) + correction;
  // 1 + inf: the correction is NaN.
  return x > 3.0e38f ? Log(x) : y;
}
inline double Log1pNonNegative(double x) { return std::log1p(x); }

inline float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }
inline double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline float Tanh(float x) {
  const float a = x < 0.0f ? -x : x;
  const float c = a > 10.0f ? 10.0f : a;  // tanh(10) rounds to 1
  const float t = Expm1(2.0f * c);
  const float y = t / (t + 2.0f);
  const float s = x < 0.0f ? -y : y;
  return x == 0.0f ? x : s;
}
inline double Tanh(double x) { return std::tanh(x); }

}  // namespace vec
}  // namespace headrace

#endif  // HEADRACE_KERNELS_VEC_MATH_H_
