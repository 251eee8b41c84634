// exp, log, tanh, erf and the logistic function of floats without branches, so
// that a plain loop over them vectorises (see simd.h); about 2 ulp. Range
// reductions and minimax polynomials are those of Cephes. NaN goes through,
// infinities and subnormals come out right.
#ifndef HEADRACE_KERNELS_VECTOR_MATH_H_
#define HEADRACE_KERNELS_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headrace {

// c ? a : b by masks: a compiler that must keep floating-point traps makes
// branches of the plain form, and these do not vectorise on AVX2.
inline float Pick(bool c, float a, float b) {
  const uint32_t mask = 0u - static_cast<uint32_t>(c);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(a) & mask) |
                              (std::bit_cast<uint32_t>(b) & ~mask));
}

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2. 2^n is applied in two factors, since n
// may be outside a float's exponents at either end.
inline float VecExp(float x) {
  x = Pick(x < -104.0f, -104.0f, x);
  x = Pick(x > 89.0f, 89.0f, x);
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
  const float scaled = x * Pick(tiny, 33554432.0f, 1.0f);  // 2^25
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  float e = static_cast<float>(static_cast<int32_t>((bits >> 23) & 0xffu)) -
            Pick(tiny, 151.0f, 126.0f);
  float m = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);
  const bool low = m < 0.707106781186547524f;
  e = e - Pick(low, 1.0f, 0.0f);
  m = m + Pick(low, m, 0.0f) - 1.0f;
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
  r = Pick(x == kInf, kInf, r);
  r = Pick(x == 0.0f, -kInf, r);
  return Pick(x >= 0.0f, r, std::numeric_limits<float>::quiet_NaN());
}

// exp(x) - 1: the polynomial of VecExp without its constant near 0.
inline float VecExpm1(float x) {
  float p = 1.9875691500e-4f;
  p = p * x + 1.3981999507e-3f;
  p = p * x + 8.3334519073e-3f;
  p = p * x + 4.1665795894e-2f;
  p = p * x + 1.6666665459e-1f;
  p = p * x + 5.0000001201e-1f;
  const float small = p * (x * x) + x;
  return Pick(std::abs(x) < 0.35f, small, VecExp(x) - 1.0f);
}

// log(1 + x): what rounding takes from u = 1 + x cancels in log(u) / (u - 1).
inline float VecLog1p(float x) {
  const float u = 1.0f + x;
  const float r = VecLog(u) * (x / (u - 1.0f));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return Pick(u == 1.0f, x, Pick(x == kInf, kInf, r));
}

// An odd polynomial up to 1, 1 - erfc(|x|) beyond.
inline float VecErf(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  float p = 7.853861353153693e-5f;
  p = p * z - 8.010193625184903e-4f;
  p = p * z + 5.188327685732524e-3f;
  p = p * z - 2.685381193529856e-2f;
  p = p * z + 1.128358514861418e-1f;
  p = p * z - 3.761262582423300e-1f;
  p = p * z + 1.128379165726710e+0f;
  const float small = x * p;
  const float q = 1.0f / a;
  const float y = q * q;
  float c = 2.326819970068386e-2f;
  c = c * y - 1.387039388740657e-1f;
  c = c * y + 3.687424674597105e-1f;
  c = c * y - 5.824733027278666e-1f;
  c = c * y + 6.210004621745983e-1f;
  c = c * y - 4.944515323274145e-1f;
  c = c * y + 3.404879937665872e-1f;
  c = c * y - 2.741127028184656e-1f;
  c = c * y + 5.638259427386472e-1f;
  const float large = 1.0f - VecExp(-z) * q * c;
  return Pick(a < 1.0f, small, std::copysign(large, x));
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
  return Pick(a < 0.625f, small, std::copysign(large, x));
}

// From exp(-|x|), so that the lower tail keeps its relative precision.
inline float VecSigmoid(float x) {
  const float e = VecExp(-std::abs(x));
  const float s = 1.0f / (1.0f + e);
  return Pick(x < 0.0f, e * s, s);
}

// x^y = 2^(y log2(|x|)) in double precision, where 30 bits are plenty for a
// float; then what C99 says of signs, zeros, infinities and NaN.
inline float VecPow(float x, float y) {
  // |x| = 2^e m, sqrt(1/2) < m <= sqrt(2); log(m) = 2 atanh(s).
  constexpr uint64_t kOne = std::bit_cast<uint64_t>(1.0);
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  // Adding it leaves an integer in the low bits.
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  constexpr uint64_t kRoundBits = std::bit_cast<uint64_t>(kRound);
  const uint64_t bits =
      std::bit_cast<uint64_t>(static_cast<double>(std::abs(x)));
  double m = std::bit_cast<double>((bits & kMantissa) | kOne);
  const bool high = m > 1.4142135623730951;
  m = high ? 0.5 * m : m;
  const double e =
      std::bit_cast<double>((bits >> 52) + kRoundBits) - (kRound + 1023.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  const double log2 = (high ? e + 1.0 : e) + p * s * 2.8853900817779268;
  double t = static_cast<double>(y) * log2;
  t = t < -200.0 ? -200.0 : t;
  t = t > 200.0 ? 200.0 : t;
  const double rounded = t + kRound;
  const double f = (t - (rounded - kRound)) * 0.6931471805599453;
  double q = 1.0 / 40320;
  q = q * f + 1.0 / 5040;
  q = q * f + 1.0 / 720;
  q = q * f + 1.0 / 120;
  q = q * f + 1.0 / 24;
  q = q * f + 1.0 / 6;
  q = q * f + 0.5;
  q = q * f + 1.0;
  q = q * f + 1.0;
  const uint64_t n = std::bit_cast<uint64_t>(rounded) - kRoundBits;
  const double power = std::bit_cast<double>((n + 1023) << 52);
  float r = static_cast<float>(q * power);

  constexpr float kInf = std::numeric_limits<float>::infinity();
  // Floats from 2^24 on are even integers.
  const float small_y = Pick(std::abs(y) < 16777216.0f, y, 0.0f);
  const int32_t integer = static_cast<int32_t>(small_y);
  const bool is_integer = static_cast<float>(integer) == small_y;
  const auto odd = static_cast<uint32_t>(is_integer ? integer : 0) << 31;
  const float ax = std::abs(x);
  r = Pick(ax == 0.0f, Pick(y < 0.0f, kInf, 0.0f), r);
  r = Pick(ax == kInf, Pick(y < 0.0f, 0.0f, kInf), r);
  r = Pick((x < 0.0f) & (ax != kInf) & !is_integer,
           std::numeric_limits<float>::quiet_NaN(), r);
  r = std::bit_cast<float>(std::bit_cast<uint32_t>(r) |
                           (odd & std::bit_cast<uint32_t>(x)));
  r = Pick((x != x) | (y != y), x + y, r);
  r = Pick((ax == 1.0f) & (std::abs(y) == kInf), 1.0f, r);
  return Pick((x == 1.0f) | (y == 0.0f), 1.0f, r);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VECTOR_MATH_H_
