// exp, log, tanh, erf and the logistic function of floats, without branches, so
// that plain loops over them vectorise (see simd.h). Maximum errors over all
// floats, in units of the last place: log 0.9, exp 1, expm1 1.6, the others
// 2.7. NaN gives NaN; infinities and subnormals are handled.
#ifndef HEADRACE_KERNELS_LIB_VECTOR_MATH_H_
#define HEADRACE_KERNELS_LIB_VECTOR_MATH_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headrace {

// c ? a : b, computed with masks. For combined conditions compilers generate
// branches, which do not vectorise.
inline float Pick(bool c, float a, float b) {
  const uint32_t mask = 0u - static_cast<uint32_t>(c);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(a) & mask) |
                              (std::bit_cast<uint32_t>(b) & ~mask));
}

// A polynomial of x. The coefficients start with that of the highest power.
template <typename T, typename... Ts>
inline T Polynomial(T x, T highest, Ts... rest) {
  T p = highest;
  ((p = p * x + rest), ...);
  return p;
}

// Adding 1.5 * 2^23 rounds to an integer, left in the low bits.
inline constexpr float kToInteger = 12582912.0f;

// exp(r) - 1 for |r| <= ln(2) / 2: the polynomial of Cephes, evaluated in pairs
// of terms so that more instructions run in parallel.
inline float ReducedExpm1(float r) {
  const float square = r * r;
  const float high = 1.9875691500e-4f * r + 1.3981999507e-3f;
  const float middle = 8.3334519073e-3f * r + 4.1665795894e-2f;
  const float low = 1.6666665459e-1f * r + 5.0000001201e-1f;
  return Polynomial(square, high, middle, low) * square + r;
}

// x = n ln(2) + r. *shifted is n + kToInteger.
inline float ReduceByLn2(float x, float* shifted) {
  *shifted = x * 1.44269504088896341f + kToInteger;
  const float n = *shifted - kToInteger;
  return x - n * 0.693359375f + n * 2.12194440e-4f;
}

// 2^n as two factors, because n may be outside the exponents of a float.
struct Powers {
  float a, b;
};
inline Powers TwoToThe(float shifted) {
  const uint32_t n =
      std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kToInteger);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  return {std::bit_cast<float>((half + 127u) << 23),
          std::bit_cast<float>((n - half + 127u) << 23)};
}

// exp(x) = 2^n exp(r).
inline float VecExp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float shifted;
  const float r = ReduceByLn2(x, &shifted);
  const Powers two = TwoToThe(shifted);
  return (ReducedExpm1(r) + 1.0f) * two.a * two.b;
}

// log(2^e (1 + f)), sqrt(1/2) <= 1 + f < sqrt(2): with s = f / (2 + f) and an R
// that is small beside it, log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)).
inline float ReducedLog(float e, float f) {
  const float s = f / (2.0f + f);
  const float z = s * s;
  const float half = 0.5f * f * f;
  const float rest =
      z * Polynomial(z, 0.298731072f, 0.399774941f, 0.666667767f);
  return e * 0.693359375f +
         (f - (half - (s * (half + rest) - e * 2.12194440e-4f)));
}

inline float VecLog(float x) {
  const bool tiny = x < std::numeric_limits<float>::min();
  const float scaled = tiny ? x * 33554432.0f : x;  // 2^25
  // x = 2^e (1 + f)
  constexpr uint32_t kRootHalf = 0x3f3504f3u;
  const uint32_t shifted = std::bit_cast<uint32_t>(scaled) - kRootHalf;
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23) -
                  (tiny ? 25.0f : 0.0f);
  const float f =
      std::bit_cast<float>((shifted & 0x007fffffu) + kRootHalf) - 1.0f;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  float r = ReducedLog(e, f);
  r = x < kInf ? r : x;  // or NaN
  r = x == 0.0f ? -kInf : r;
  return x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : r;
}

// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), which keeps a small exp(r) - 1
// precise.
inline float VecExpm1(float x) {
  const float below = x > 89.0f ? 89.0f : x;
  float shifted;
  const float r = ReduceByLn2(below < -30.0f ? -30.0f : below, &shifted);
  const float p = ReducedExpm1(r);
  const Powers two = TwoToThe(shifted);
  const float y = (p * two.a) * two.b + (two.a * two.b - 1.0f);
  const float large = ((p + 1.0f) * two.a) * two.b;
  const float result = x > 64.0f ? large : y;
  return x == 0.0f ? x : result;
}

// log(1 + x): the rounding error of u = 1 + x cancels in log(u) / (u - 1).
inline float VecLog1p(float x) {
  const float u = 1.0f + x;
  const float r = VecLog(u) * (x / (u - 1.0f));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float finite = x == kInf ? kInf : r;
  return u == 1.0f ? x : finite;
}

// An odd polynomial up to 1; above, 1 - erfc(|x|).
inline float VecErf(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  const float small =
      x * Polynomial(z, 7.853861353153693e-5f, -8.010193625184903e-4f,
                     5.188327685732524e-3f, -2.685381193529856e-2f,
                     1.128358514861418e-1f, -3.761262582423300e-1f,
                     1.128379165726710e+0f);
  const float q = 1.0f / a;
  const float c = Polynomial(q * q, 2.326819970068386e-2f,
                             -1.387039388740657e-1f, 3.687424674597105e-1f,
                             -5.824733027278666e-1f, 6.210004621745983e-1f,
                             -4.944515323274145e-1f, 3.404879937665872e-1f,
                             -2.741127028184656e-1f, 5.638259427386472e-1f);
  const float large = std::copysign(1.0f - VecExp(-z) * q * c, x);
  return a < 1.0f ? small : large;
}

// e / (e + 2) with e = exp(2|x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1). The result
// is 1 once e + 2 rounds to e, and never more. Rounding n ln(2) matters only
// for n >= 3, where the quotient hardly depends on e.
inline float VecTanh(float x) {
  const float twice = 2.0f * std::min(std::abs(x), 20.0f);  // or NaN
  const float shifted = twice * 1.44269504088896341f + kToInteger;
  const float r = twice - (shifted - kToInteger) * 0.693147180559945f;
  const float power =
      std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 127u) << 23);
  const float e = power * ReducedExpm1(r) + (power - 1.0f);
  return std::copysign(e / (e + 2.0f), x);
}

// Starts from exp(-|x|), which keeps the relative precision of the lower tail.
inline float VecSigmoid(float x) {
  const float e = VecExp(-std::abs(x));
  const float s = 1.0f / (1.0f + e);
  return x < 0.0f ? e * s : s;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VECTOR_MATH_H_
