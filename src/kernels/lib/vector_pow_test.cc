#include "kernels/lib/vector_pow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace headrace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Floats = std::vector<float>;

Floats Pow(const Floats& x, const Floats& y) {
  Floats z(x.size());
  VecPow(x.data(), y.data(), z.data(), static_cast<int64_t>(x.size()));
  return z;
}

// |got - x^y| in units of the last place of the nearest float; infinite where
// one of them is no number or has another sign.
double Error(float x, float y, float got) {
  const double wanted = std::pow(static_cast<double>(x), y);
  const auto nearest = static_cast<float>(wanted);
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : kInf;
  if (std::isnan(got) || std::signbit(got) != std::signbit(nearest)) {
    return kInf;
  }
  if (got == nearest && (std::isinf(nearest) || nearest == 0)) return 0;
  constexpr float kMax = std::numeric_limits<float>::max();
  const float size = std::min(std::abs(nearest), kMax);
  const float ulp = std::max(size - std::nextafter(size, 0.0f),
                             std::numeric_limits<float>::denorm_min());
  return std::abs(std::min(std::abs(got), kMax) - std::abs(wanted)) / ulp;
}

void ExpectPrecise(const Floats& x, const Floats& y, double bound) {
  const Floats z = Pow(x, y);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = Error(x[i], y[i], z[i]);
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, bound) << x[at] << " ^ " << y[at] << " is " << z[at];
}

constexpr int kCount = 400000;

TEST(VectorPowTest, IsPreciseForBasesOfAllSizes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponent(-30, 30);
  Floats x, y;
  for (int i = 0; i < kCount; ++i) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random()) >> 1));
    y.push_back(exponent(random) * (i % 2 == 0 ? 1.0f : 0.05f));
  }
  ExpectPrecise(x, y, 1.1);
}

TEST(VectorPowTest, IsPreciseForPlainNumbers) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> base(0, 8), exponent(-4, 4);
  Floats x, y;
  for (int i = 0; i < kCount; ++i) {
    x.push_back(base(random));
    y.push_back(exponent(random));
  }
  ExpectPrecise(x, y, 0.95);
}

// The closer a base is to 1, the larger the exponents that it may have.
TEST(VectorPowTest, IsPreciseNearOne) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> log2(-150, 129), part(-1, 1);
  Floats x, y;
  for (int i = 0; i < kCount; ++i) {
    x.push_back(1 + part(random) * std::ldexp(0.5f, -(i % 20)));
    y.push_back(log2(random) / std::log2(x.back()));
  }
  ExpectPrecise(x, y, 1.1);
}

TEST(VectorPowTest, IntegersAreExact) {
  Floats x, y, wanted;
  for (int base = 1; base < 256; ++base) {
    float power = 1;
    for (int e = 0; power <= 16777216.0f && e <= 24; ++e) {
      x.push_back(static_cast<float>(base));
      y.push_back(static_cast<float>(e));
      wanted.push_back(power);
      power *= static_cast<float>(base);
    }
  }
  EXPECT_EQ(Pow(x, y), wanted);
}

TEST(VectorPowTest, EdgesAreThoseOfTheCLibrary) {
  const float edges[] = {
      0.0f,        -0.0f,       1.0f,          -1.0f,       2.0f,
      -2.0f,       0.5f,        -0.5f,         3.0f,        -3.0f,
      1e-45f,      -1e-45f,     1e-40f,        -1e-40f,     1.17549435e-38f,
      1e38f,       -1e38f,      3.4028235e38f, kInf,        -kInf,
      kNan,        2.5f,        -2.5f,         1e10f,       -1e10f,
      8388609.0f,  -8388609.0f, 8388607.5f,    16777215.0f, 16777217.0f,
      127.0f,      128.0f,      -126.0f,       -149.0f,     -150.0f,
      0.99999994f, 1.0000001f,  1.0f / 3};
  for (const float y : edges) {
    // Among ordinary operands, and among themselves.
    Floats x(std::begin(edges), std::end(edges));
    ExpectPrecise(x, Floats(x.size(), y), 1.1);
    Floats mixed_x(256, 1.5f), mixed_y(256, 0.7f);
    for (size_t i = 0; i < x.size(); ++i) {
      mixed_x[5 * i] = x[i];
      mixed_y[5 * i] = y;
    }
    ExpectPrecise(mixed_x, mixed_y, 1.1);
  }
}

uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }

// Whatever stands beside an element and however many are asked for.
TEST(VectorPowTest, ResultsDoNotDependOnTheirPlace) {
  std::mt19937 random(4);
  Floats x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(i % 7 == 0
                    ? std::bit_cast<float>(static_cast<uint32_t>(random()))
                    : 0.01f * static_cast<float>(random() % 1000 + 1));
    y.push_back(i % 11 == 0 ? 0.5f * static_cast<float>(random() % 9)
                            : 0.1f * static_cast<float>(random() % 90));
  }
  const Floats all = Pow(x, y);
  for (const int64_t n : {1, 3, 15, 16, 17, 100, 255, 256, 257}) {
    for (int64_t begin = 0; begin + n <= 1000; begin += 37) {
      Floats part(n);
      VecPow(x.data() + begin, y.data() + begin, part.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(Bits(part[i]), Bits(all[begin + i]))
            << x[begin + i] << " ^ " << y[begin + i];
      }
    }
  }
  Floats over_x = x, over_y = y;
  VecPow(over_x.data(), y.data(), over_x.data(), 1000);
  VecPow(x.data(), over_y.data(), over_y.data(), 1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(Bits(over_x[i]), Bits(all[i]));
    ASSERT_EQ(Bits(over_y[i]), Bits(all[i]));
  }
}

TEST(VectorPowTest, OneExponentForAllGivesTheSameBits) {
  Floats x = {0.0f, -0.0f, kInf, -kInf, kNan, -1.0f, 1e-41f, -3.0f, 3e38f};
  for (int i = 1; i < 600; ++i) x.push_back(0.01f * static_cast<float>(i));
  for (const float y : {2.0f, 3.0f, 0.5f, 0.75f, -0.5f, 1.7f, -2.0f, kNan}) {
    const Floats each = Pow(x, Floats(x.size(), y));
    Floats all(x.size());
    VecPow(x.data(), y, all.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(Bits(all[i]), Bits(each[i])) << x[i] << " ^ " << y;
    }
  }
}

}  // namespace
}  // namespace headrace
