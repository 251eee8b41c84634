// exp, log, tanh and the logistic function of floats without branches, so that
// a plain loop over them vectorises (see simd.h); about 2 ulp. Range reductions
// and minimax polynomials are those of Cephes. NaN goes through, infinities and
// subnormals come out right.
#ifndef HEADRACE_KERNELS_VECTOR_MATH_H_
#define HEADRACE_KERNELS_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headrace {

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2. 2^n is applied in two factors, since n
// may be outside a float's exponents at either end.
inline float VecExp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  // Adding 1.5 * 2^23 rounds to an integer, left in the low bits.
  constexpr float kRound = 12582912.0f;
  const float t = x * 1.44269504088896341f + kRound;
  const float n = t - kRound;
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const int32_t e = static_cast<int32_t>(std::bit_cast<uint32_t>(t) -
                                         std::bit_cast<uint32_t>(kRound));
  const int32_t half = e >> 1;
  const auto power = [](int32_t k) {
    return std::bit_cast<float>((static_cast<uint32_t>(k) + 127u) << 23);
  };
  return p * power(half) *
         power(static_cast<int32_t>(static_cast<uint32_t>(e) -
                                    static_cast<uint32_t>(half)));
}

// log(x) = e ln(2) + log(m), sqrt(1/2) <= m < sqrt(2).
inline float VecLog(float x) {
  const bool tiny = x < std::numeric_limits<float>::min();
  const float scaled = tiny ? x * 33554432.0f : x;  // 2^25
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  float e = static_cast<float>(static_cast<int32_t>((bits >> 23) & 0xffu)) -
            (tiny ? 151.0f : 126.0f);
  float m = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);
  const bool low = m < 0.707106781186547524f;
  e = low ? e - 1.0f : e;
  m = (low ? m + m : m) - 1.0f;
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
  p = p * m * z;
  p = p - e * 2.12194440e-4f;
  p = p - 0.5f * z;
  float r = m + p + e * 0.693359375f;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  r = x == kInf ? kInf : r;
  r = x == 0.0f ? -kInf : r;
  r = x >= 0.0f ? r : std::numeric_limits<float>::quiet_NaN();
  return r;
}

inline float VecTanh(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * x + x;
  const float large = 1.0f - 2.0f / (VecExp(2.0f * a) + 1.0f);
  return a < 0.625f ? small : std::copysign(large, x);
}

// From exp(-|x|), so that the lower tail keeps its relative precision.
inline float VecSigmoid(float x) {
  const float e = VecExp(-std::abs(x));
  const float s = 1.0f / (1.0f + e);
  return x < 0.0f ? e * s : s;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VECTOR_MATH_H_
