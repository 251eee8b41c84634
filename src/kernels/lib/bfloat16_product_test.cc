#include "kernels/lib/bfloat16_product.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/flush_denormals.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

float Rounded(float x) {
  Bfloat16Pair p;
  RoundToPairs(&x, 1, &p);
  return std::bit_cast<float>(p << 16);
}

TEST(Bfloat16ProductTest, RoundsToNearestEven) {
  EXPECT_EQ(Rounded(1.0f), 1.0f);
  EXPECT_EQ(Rounded(1.00390625f), 1.0f);        // a tie, to even
  EXPECT_EQ(Rounded(1.01171875f), 1.015625f);   // a tie, to even
  EXPECT_EQ(Rounded(1.00390636f), 1.0078125f);  // above the tie
  EXPECT_EQ(Rounded(-2.5e38f), Rounded(-2.5e38f));
  EXPECT_TRUE(std::isinf(Rounded(std::numeric_limits<float>::max())));
  EXPECT_TRUE(std::isnan(Rounded(std::numeric_limits<float>::quiet_NaN())));
  const float three[] = {1, 2, 3};
  Bfloat16Pair pairs[2];
  RoundToPairs(three, 3, pairs);
  EXPECT_EQ(pairs[0], 0x40003f80u);
  EXPECT_EQ(pairs[1], 0x00004040u);
}

// Numbers of all sizes: large, small, subnormal, zero, infinite, NaN.
std::vector<float> Numbers(int64_t n, int seed, bool special) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> mantissa(-2, 2), exponent(-70, 60);
  std::vector<float> x(n);
  for (float& v : x) {
    v = mantissa(random);
    const unsigned kind = special ? random() % 24 : 99;
    if (kind < 8) v = std::ldexp(v, static_cast<int>(exponent(random)));
    if (kind == 8) v = 0;
    if (kind == 9) v = 1e-39f;
    if (kind == 10 && random() % 8 == 0) {
      v = std::numeric_limits<float>::infinity();
    }
  }
  return x;
}

// Every way of multiplying gives the bits of the plain one.
TEST(Bfloat16ProductTest, AllWaysAgreeToTheBit) {
  const FlushDenormals flush;
  for (const bool special : {false, true}) {
    for (const int64_t segments : {1, 3}) {
      for (const int64_t pairs : {1, 2, 7, 40}) {
        for (int64_t rows = 1; rows <= kBfloat16TileRows; ++rows) {
          for (const int64_t columns : {1, 15, 16, 17, 31, 32}) {
            const int64_t depth = segments * pairs;
            const auto a = Numbers(rows * depth * 2, 1 + rows, special);
            const auto b = Numbers(depth * 2 * columns, 77 + columns, special);
            std::vector<Bfloat16Pair> x(rows * depth),
                panel(Bfloat16PanelsBytes(columns, depth) / 4);
            RoundToPairs(a.data(), a.size(), x.data());
            PackBfloat16Panels(nullptr, b.data(), columns, false, columns,
                               2 * depth, 0, depth, panel.data());
            std::vector<const Bfloat16Pair*> at(segments * kBfloat16TileRows);
            for (int64_t s = 0; s < segments; ++s) {
              for (int64_t r = 0; r < rows; ++r) {
                at[s * kBfloat16TileRows + r] = &x[r * depth + s * pairs];
              }
            }
            const int64_t step = columns + 3;
            std::vector<float> want;
            for (int way = internal::NumBfloat16Ways() - 1; way >= 0; --way) {
              std::vector<float> got(rows * step, 5.0f);
              internal::MultiplyBfloat16By(way, {.rows = at.data(),
                                                 .num_rows = rows,
                                                 .segments = segments,
                                                 .pairs = pairs,
                                                 .panel = panel.data(),
                                                 .sums = got.data(),
                                                 .sums_step = step,
                                                 .columns = columns});
              if (want.empty()) want = got;
              for (size_t i = 0; i < got.size(); ++i) {
                if (std::isnan(got[i]) && std::isnan(want[i])) continue;
                ASSERT_EQ(std::bit_cast<uint32_t>(got[i]),
                          std::bit_cast<uint32_t>(want[i]))
                    << internal::Bfloat16WayName(way) << " rows " << rows
                    << " columns " << columns << " pairs " << pairs << " at "
                    << i << ": " << got[i] << " and " << want[i];
              }
            }
          }
        }
      }
    }
  }
}

TEST(Bfloat16ProductTest, ProductsOfAllSizes) {
  ThreadPool pool(3, "test");
  for (const int64_t m : {1, 5, 12, 13, 100}) {
    for (const int64_t n : {1, 32, 33, 100}) {
      for (const int64_t k : {1, 2, 31, 64}) {
        for (const bool transpose : {false, true}) {
          const auto a = Numbers(m * k, 3, false), b = Numbers(k * n, 4, false);
          const int64_t pairs = NumPairs(k);
          std::vector<Bfloat16Pair> x(m * pairs),
              panels(Bfloat16PanelsBytes(n, pairs) / 4);
          for (int64_t i = 0; i < m; ++i) {
            RoundToPairs(&a[i * k], k, &x[i * pairs]);
          }
          PackBfloat16Panels(&pool, b.data(), transpose ? k : n, transpose, n,
                             k, 0, pairs, panels.data());
          std::vector<float> one(m * n), three(m * n);
          Bfloat16Gemm(nullptr, m, n, pairs, x.data(), panels.data(),
                       one.data(), n);
          Bfloat16Gemm(&pool, m, n, pairs, x.data(), panels.data(),
                       three.data(), n);
          ASSERT_EQ(std::memcmp(one.data(), three.data(), 4 * m * n), 0);
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
              double sum = 0, size = 0;
              for (int64_t p = 0; p < k; ++p) {
                const double term =
                    double{Rounded(a[i * k + p])} *
                    Rounded(b[transpose ? j * k + p : p * n + j]);
                sum += term;
                size += std::fabs(term);
              }
              ASSERT_NEAR(one[i * n + j], sum, 1e-6 * size + 1e-12)
                  << m << " " << n << " " << k;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace
