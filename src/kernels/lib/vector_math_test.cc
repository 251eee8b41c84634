#include "kernels/lib/vector_math.h"

#include <gtest/gtest.h>

#include <vector>

#include "headrace/simd.h"
#include "kernels/lib/vector_math_double.h"

namespace headrace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// |got - wanted| in units of the last place of the float nearest to wanted;
// infinite if one of them is no number and the other is.
double ErrorInUlps(float got, double wanted) {
  const float nearest = static_cast<float>(wanted);
  if (std::isnan(wanted) || std::isnan(got)) {
    return std::isnan(wanted) && std::isnan(got) ? 0 : kInf;
  }
  if (std::isinf(nearest) || wanted == 0) return got == nearest ? 0 : kInf;
  const float size = std::abs(nearest);
  return std::abs(got - wanted) /
         std::max<double>(std::nextafter(size, kInf) - size,
                          std::numeric_limits<float>::denorm_min());
}

double ErrorInUlps(double got, long double wanted) {
  const double nearest = static_cast<double>(wanted);
  if (std::isnan(nearest) || std::isnan(got)) {
    return std::isnan(nearest) && std::isnan(got) ? 0 : kInf;
  }
  if (std::isinf(nearest) || nearest == 0) return got == nearest ? 0 : kInf;
  const double size = std::abs(nearest);
  return static_cast<double>(std::abs(got - wanted)) /
         std::max(std::nextafter(size, HUGE_VAL) - size,
                  std::numeric_limits<double>::min() * 0x1p-52);
}

// The error of f(x), at most, for all x. `reference` is more precise.
template <typename F, typename T, typename Wide>
void CheckValues(const char* name, F f, Wide (*reference)(Wide), double bound,
                 const std::vector<T>& x) {
  std::vector<T> y(x.size());
  RunSimd([&x, &y, f] {
    const T* const from = x.data();
    T* const to = y.data();
    const int64_t n = static_cast<int64_t>(x.size());
    for (int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
  });
  double worst = 0;
  T at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ErrorInUlps(y[i], reference(x[i]));
    if (error > worst) {
      worst = error;
      at = x[i];
    }
  }
  EXPECT_LE(worst, bound) << name << " at " << at;
}

// All floats, 0 to the largest, infinity and NaNs, but only each kStep-th.
constexpr uint32_t kStep = 3581;

template <typename F>
void CheckUnary(const char* name, F f, double (*reference)(double),
                double bound) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStep) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (const float special : {0.0f, -0.0f, kInf, -kInf, kNan, 1.0f, -1.0f}) {
    x.push_back(special);
  }
  CheckValues(name, f, reference, bound, x);
}
#define CHECK_UNARY(NAME, ...) \
  CheckUnary(                  \
      #NAME, [](float x) { return NAME(x); }, __VA_ARGS__)

TEST(VectorMathTest, IsAsPreciseAsItSays) {
  CHECK_UNARY(
      VecExp, [](double x) { return std::exp(x); }, 1.0);
  CHECK_UNARY(
      VecExpm1, [](double x) { return std::expm1(x); }, 1.6);
  CHECK_UNARY(
      VecLog, [](double x) { return std::log(x); }, 0.9);
  CHECK_UNARY(
      VecLog1p, [](double x) { return std::log1p(x); }, 2.7);
  CHECK_UNARY(
      VecTanh, [](double x) { return std::tanh(x); }, 2.7);
  CHECK_UNARY(
      VecErf, [](double x) { return std::erf(x); }, 2.7);
  CHECK_UNARY(
      VecSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.7);
  CHECK_UNARY(
      VecErfc, [](double x) { return std::erfc(x); }, 3.8);
}

TEST(VectorMathTest, SinesUpToTheLimit) {
  std::vector<float> x = {0.0f, -0.0f, kTrigonometricLimit,
                          -kTrigonometricLimit};
  const uint32_t last = std::bit_cast<uint32_t>(kTrigonometricLimit);
  for (uint32_t bits = 0; bits < last; bits += 1009) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  // Next to multiples of pi / 2, where most digits go.
  for (int i = 0; i < 600000; ++i) {
    x.push_back(static_cast<float>(i * 1.5707963267948966));
  }
  const auto check = [&](const char* name, auto f, double (*reference)(double),
                         double bound) {
    CheckValues(name, f, reference, bound, x);
  };
  check(
      "VecSin", [](float v) { return VecSin(v); },
      [](double v) { return std::sin(v); }, 0.55);
  check(
      "VecCos", [](float v) { return VecCos(v); },
      [](double v) { return std::cos(v); }, 0.55);
  check(
      "VecTan", [](float v) { return VecTan(v); },
      [](double v) { return std::tan(v); }, 0.6);
}

// Doubles of all magnitudes, of both signs.
template <typename F>
void CheckDouble(const char* name, F f, long double (*reference)(long double),
                 double bound) {
  constexpr double kInf64 = std::numeric_limits<double>::infinity();
  std::vector<double> x;
  for (int i = 0; i < 400000; ++i) {
    const double a = std::exp2(-60 + 70 * (i / 400000.0)) * (1 + i * 1e-9);
    x.push_back(a);
    x.push_back(-a);
    x.push_back(30 * std::sin(i * 1.37));
  }
  for (const double special : {0.0, -0.0, kInf64, -kInf64, kInf64 - kInf64, 1.0,
                               -1.0, 745.0, -745.0, 1e300, -1e300}) {
    x.push_back(special);
  }
  CheckValues(name, f, reference, bound, x);
}
#define CHECK_DOUBLE(NAME, ...) \
  CheckDouble(                  \
      #NAME, [](double x) { return NAME(x); }, __VA_ARGS__)

TEST(VectorMathTest, DoublesAreAsPrecise) {
  CHECK_DOUBLE(
      VecExp, [](long double x) { return std::exp(x); }, 1.0);
  CHECK_DOUBLE(
      VecTanh, [](long double x) { return std::tanh(x); }, 2.7);
  CHECK_DOUBLE(
      VecSigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.7);
  CHECK_DOUBLE(
      VecErf, [](long double x) { return std::erf(x); }, 2.7);
  CHECK_DOUBLE(
      VecErfc, [](long double x) { return std::erfc(x); }, 3.8);
}

TEST(VectorMathTest, TanhIsOddAndAtMostOne) {
  for (uint64_t bits = 0; bits <= 0x7f800000; bits += 997) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float y = VecTanh(x);
    ASSERT_LE(y, 1.0f) << x;
    ASSERT_EQ(VecTanh(-x), -y) << x;
  }
  EXPECT_TRUE(std::signbit(VecTanh(-0.0f)));
  EXPECT_EQ(VecTanh(kInf), 1.0f);
}

}  // namespace
}  // namespace headrace
