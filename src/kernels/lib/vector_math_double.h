// exp, tanh, erf, erfc and the logistic function of doubles, erfc of floats,
// and sin, cos and tan of floats up to kTrigonometricLimit, without branches,
// so that plain loops over them vectorise (see simd.h). Maximum errors in units
// of the last place: exp 1, erfc 3.8, the others 2.7. NaN gives NaN; infinities
// are handled. The polynomials interpolate at Chebyshev's nodes.
#ifndef HEADRACE_KERNELS_LIB_VECTOR_MATH_DOUBLE_H_
#define HEADRACE_KERNELS_LIB_VECTOR_MATH_DOUBLE_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/lib/vector_math.h"

namespace headrace {

// Adding 1.5 * 2^52 rounds to an integer, left in the low bits.
inline constexpr double kToInteger64 = 6755399441055744.0;

// Sines of floats: computed in doubles, whose rounding does not show. Errors: a
// little more than half a unit of the last place.
inline constexpr float kTrigonometricLimit = 1 << 20;

// sin and cos of x, up to their signs, in either order.
struct SineParts {
  double sine, cosine;
  uint64_t quadrant;
};
inline SineParts ReducedSines(float x) {
  const double wide = x;
  // x = n pi / 2 + r; the first part of pi / 2 has 33 bits, so n times it is
  // exact.
  const double shifted = wide * 0.63661977236758134 + kToInteger64;
  const double n = shifted - kToInteger64;
  const double r =
      (wide - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11;
  const double z = r * r;
  const double sine =
      r + r * z *
              Polynomial(z, 2.7557319223985893e-06, -1.984126984126984e-04,
                         8.3333333333333332e-03, -1.6666666666666666e-01);
  const double cosine =
      1.0 + z * Polynomial(z, -2.7557319223985888e-07, 2.4801587301587302e-05,
                           -1.3888888888888889e-03, 4.1666666666666664e-02,
                           -0.5);
  return {sine, cosine, std::bit_cast<uint64_t>(shifted)};
}
// The one of the two whose number of quadrants is even, with its sign.
inline double SineOf(const SineParts& p, uint64_t quadrant) {
  const uint64_t odd = 0 - (quadrant & 1);
  const uint64_t bits = (std::bit_cast<uint64_t>(p.cosine) & odd) |
                        (std::bit_cast<uint64_t>(p.sine) & ~odd);
  return std::bit_cast<double>(bits ^ ((quadrant & 2) << 62));
}
inline float VecSin(float x) {
  const SineParts p = ReducedSines(x);
  return static_cast<float>(SineOf(p, p.quadrant));
}
inline float VecCos(float x) {
  const SineParts p = ReducedSines(x);
  return static_cast<float>(SineOf(p, p.quadrant + 1));
}
inline float VecTan(float x) {
  const SineParts p = ReducedSines(x);
  return static_cast<float>(SineOf(p, p.quadrant) / SineOf(p, p.quadrant + 1));
}

// exp(r) - 1 for |r| <= 0.35.
inline double ReducedExpm1(double r) {
  const double square = r * r;
  const double p = Polynomial(
      r, 2.0914755325893202e-09, 2.5105312729622103e-08, 2.7557273478718582e-07,
      2.7557255170000888e-06, 2.4801587325677461e-05, 1.9841269875002279e-04,
      1.3888888888883711e-03, 8.3333333333260838e-03, 4.1666666666666671e-02,
      1.6666666666666671e-01, 0.5);
  return p * square + r;
}

// x = n ln(2) + r. *shifted is n + kToInteger64.
inline double ReduceByLn2(double x, double* shifted) {
  *shifted = x * 1.4426950408889634 + kToInteger64;
  const double n = *shifted - kToInteger64;
  return (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
}

// 2^n for shifted = n + kToInteger64, -1023 < n < 1024.
inline double TwoToThe(double shifted) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023u)
                               << 52);
}

// exp(x + rest), where |rest| is small.
inline double VecExpOfSum(double x, double rest) {
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  double shifted;
  const double r = ReduceByLn2(x, &shifted) + rest;
  // n may be outside the exponents of a double: the power is two factors.
  const double n = shifted - kToInteger64;
  const double half = n * 0.5 + kToInteger64;
  const double other = (n - (half - kToInteger64)) + kToInteger64;
  return (ReducedExpm1(r) + 1.0) * TwoToThe(half) * TwoToThe(other);
}
inline double VecExp(double x) { return VecExpOfSum(x, 0.0); }

inline float VecExpOfSum(float x, float rest) {
  x = x < -104.0f ? -104.0f : x;
  float shifted;
  const float r = ReduceByLn2(x, &shifted) + rest;
  const Powers two = TwoToThe(shifted);
  return (ReducedExpm1(r) + 1.0f) * two.a * two.b;
}

// As that of floats.
inline double VecTanh(double x) {
  const double a = std::abs(x);
  const double twice = 2.0 * (a > 22.0 ? 22.0 : a);  // or NaN
  double shifted;
  const double r = ReduceByLn2(twice, &shifted);
  const double power = TwoToThe(shifted);
  const double e = power * ReducedExpm1(r) + (power - 1.0);
  return std::copysign(e / (e + 2.0), x);
}

inline double VecSigmoid(double x) {
  const double e = VecExp(-std::abs(x));
  const double s = 1.0 / (1.0 + e);
  return x < 0.0 ? e * s : s;
}

// erfc(a) for a >= 0, or NaN: exp(-a^2) h(t) / (1 + 2 a), where t = (a - k) /
// (a + k) and h is nearly constant. a^2 is the sum of an exact square and a
// rest.
inline float ErfcOfPositive(float a) {
  a = a > 10.2f ? 10.2f : a;
  const float high =
      std::bit_cast<float>(std::bit_cast<uint32_t>(a) & 0xfffff000u);
  const float rest = (a - high) * (a + high);
  const float t = (a - 3.0f) / (a + 3.0f);
  const float h = Polynomial(t, -0.0002763902556f, -0.0007957492334f,
                             0.00199637574f, 0.002578845361f, -0.02379134803f,
                             0.06829336743f, -0.1192724743f, 0.1296466124f,
                             -0.04756228937f, -0.1356211448f, 1.253008058f);
  return h / (1 + 2 * a) * VecExpOfSum(-(high * high), -rest);
}
inline double ErfcOfPositive(double a) {
  a = a > 27.5 ? 27.5 : a;
  const double high =
      std::bit_cast<double>(std::bit_cast<uint64_t>(a) & 0xfffffffff8000000u);
  const double rest = (a - high) * (a + high);
  const double t = (a - 4.0) / (a + 4.0);
  const double h = Polynomial(
      t, -1.8822551750393533e-09, -1.3870633436752771e-08,
      -7.770852409868655e-09, 1.1579545491817747e-07, 6.3099318920481242e-08,
      -8.355403600708081e-07, 3.0082269716067099e-07, 5.7180194304286331e-06,
      -1.1224436722701745e-05, -2.4403165369627111e-05, 0.00015062210715057866,
      -0.00019925552619520982, -0.00075777330913793324, 0.0050319697622847361,
      -0.016197734063710445, 0.03716751556148306, -0.066330365811154465,
      0.093732834996872696, -0.10103906603636773, 0.068097054254734682,
      0.015379652102620996, -0.13962111684056286, 1.2329951186255526);
  return h / (1 + 2 * a) * VecExpOfSum(-(high * high), -rest);
}

// erf(x) for |x| < 1/2.
inline float ErfOfSmall(float x) {
  return x * Polynomial(x * x, 0.004514467622f, -0.02664851414f, 0.1128102638f,
                        -0.3761251514f, 1.128379158f);
}
// For |x| < 1.
inline double ErfOfSmall(double x) {
  const double p = Polynomial(
      x * x, -7.7958988270021425e-10, 1.3720064546777686e-08,
      -1.6208483801871705e-07, 1.6447424703317362e-06, -1.4924736907419661e-05,
      0.00012055294904839707, -0.00085483259753896918, 0.0052239776071164225,
      -0.02686617064323777, 0.11283791670945006, -0.37612638903183543,
      0.1283791670955126);
  return x + x * p;
}

// Near 0, 1 - erf(x) has the smaller error.
template <typename T>
inline T VecErfc(T x) {
  const T a = std::abs(x);
  const T y = ErfcOfPositive(a);
  const T large = x < T(0) ? T(2) - y : y;
  return a < T(0.5) ? T(1) - ErfOfSmall(x) : large;
}

inline double VecErf(double x) {
  const double a = std::abs(x);
  const double large = std::copysign(1.0 - ErfcOfPositive(a), x);
  return a < 1.0 ? ErfOfSmall(x) : large;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VECTOR_MATH_DOUBLE_H_
