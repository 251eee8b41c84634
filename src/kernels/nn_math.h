// The functions of activations, losses and recurrent cells for float, as vector
// code (see vector_math.h), and for double, by the C library; and two more,
// expm1 and log1p, which Elu and Softplus need near zero.
#ifndef HEADRACE_KERNELS_NN_MATH_H_
#define HEADRACE_KERNELS_NN_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/narrow_float.h"
#include "kernels/vector_math.h"

namespace headrace::vec {

inline float Exp(float x) { return VecExp(x); }
inline double Exp(double x) { return std::exp(x); }
inline float Tanh(float x) { return VecTanh(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline float Sigmoid(float x) { return VecSigmoid(x); }
inline double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1) without losing a small exp(r) - 1,
// within 2 ulp; keeps -0, infinities and NaN.
inline float Expm1(float x) {
  const float hi = x > 89.0f ? 89.0f : x;
  const float c = hi < -30.0f ? -30.0f : hi;
  // Adding 1.5 * 2^23 rounds to an integer, left in the low bits: no conversion
  // that a NaN could upset.
  constexpr float kRound = 12582912.0f;
  const float t = c * 1.44269504088896341f + kRound;
  const uint32_t n =
      std::bit_cast<uint32_t>(t) - std::bit_cast<uint32_t>(kRound);
  const float nf = t - kRound;
  const float r = (c - nf * 0.693359375f) - nf * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r;  // exp(r) - 1
  // 2^n in two factors, since 2^128 is not a float.
  const uint32_t half_n = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  const float a = std::bit_cast<float>((half_n + 127u) << 23);
  const float b = std::bit_cast<float>((n - half_n + 127u) << 23);
  const float y = (p * a) * b + (a * b - 1.0f);
  const float large = ((p + 1.0f) * a) * b;
  const float result = x > 64.0f ? large : y;
  return x == 0.0f ? x : result;
}
inline double Expm1(double x) { return std::expm1(x); }

// log(1 + x) for 0 <= x < 1e30, or NaN: no zeros, denormals and infinities to
// look out for. The second term makes up for what 1 + x rounded away.
inline float Log1pNonNegative(float x) {
  const float u = 1.0f + x;
  // u = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2).
  constexpr uint32_t kRootHalf = 0x3f3504f3u;
  const uint32_t shifted = std::bit_cast<uint32_t>(u) - kRootHalf;
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float m =
      std::bit_cast<float>((shifted & 0x007fffffu) + kRootHalf) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  p = p * m * z - e * 2.12194440e-4f - 0.5f * z;
  return (m + p + e * 0.693359375f) + (x - (u - 1.0f)) / u;
}
inline double Log1pNonNegative(double x) { return std::log1p(x); }

}  // namespace headrace::vec

#endif  // HEADRACE_KERNELS_NN_MATH_H_
