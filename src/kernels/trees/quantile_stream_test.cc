#include "kernels/trees/quantile_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace headrace {
namespace {

std::vector<float> Flat(const QuantileSummary& s) {
  std::vector<float> all;
  for (const auto& e : s.entries()) {
    all.insert(all.end(), {e.value, e.weight, e.min_rank, e.max_rank});
  }
  return all;
}

TEST(QuantileSummaryTest, OfAndMergeAreExact) {
  QuantileSummary a = QuantileSummary::Of({{3, 2}, {1, 2}, {2, 2}, {1, 2}});
  EXPECT_EQ(Flat(a), (std::vector<float>{1, 4, 0, 4, 2, 2, 4, 6, 3, 2, 6, 8}));
  const QuantileSummary b = QuantileSummary::Of({{0, 1}, {2, 1}, {9, 1}});
  a.Merge(b);
  EXPECT_EQ(Flat(a), (std::vector<float>{0, 1, 0, 1, 1, 4,  1, 5, 2,  3,
                                         5, 8, 3, 2, 8, 10, 9, 1, 10, 11}));
  QuantileSummary empty;
  empty.Merge(b);
  EXPECT_EQ(Flat(empty), Flat(b));
  a.Merge(QuantileSummary());
  EXPECT_EQ(a.size(), 5);
}

TEST(QuantileSummaryTest, NothingHasNoBoundaries) {
  EXPECT_TRUE(QuantileSummary().Boundaries(4).empty());
  EXPECT_TRUE(QuantileSummary().Quantiles(4).empty());
}

// Ranks are right but for epsilon, for any number of levels.
TEST(QuantileStreamTest, RanksAreAboutRight) {
  for (const double epsilon : {0.0, 0.01, 0.1}) {
    for (const int64_t n : {1, 2, 7, 1000, 20000}) {
      QuantileStream stream(epsilon, n);
      std::mt19937 random(1);
      std::vector<float> numbers;
      for (int64_t i = 0; i < n; ++i) {
        numbers.push_back(static_cast<float>(random() % 5000));
        stream.Push(numbers.back(), 1);
      }
      std::sort(numbers.begin(), numbers.end());
      const QuantileSummary all = stream.Finish();
      EXPECT_EQ(stream.Finish().size(), 0);
      const std::vector<float> found = all.Quantiles(10);
      ASSERT_EQ(found.size(), 11);
      EXPECT_EQ(found.front(), numbers.front());
      EXPECT_EQ(found.back(), numbers.back());
      for (int64_t q = 0; q <= 10; ++q) {
        const auto low =
            std::lower_bound(numbers.begin(), numbers.end(), found[q]) -
            numbers.begin();
        const auto high =
            std::upper_bound(numbers.begin(), numbers.end(), found[q]) -
            numbers.begin();
        const double rank = static_cast<double>(q * n) / 10;
        const double slack = epsilon * static_cast<double>(n) + 1;
        EXPECT_LE(static_cast<double>(low), rank + slack);
        EXPECT_GE(static_cast<double>(high), rank - slack);
      }
    }
  }
}

TEST(QuantileStreamTest, WeightsOfZeroOrLessAreLeftOut) {
  QuantileStream stream(0.1, 10);
  stream.Push(1, 0);
  stream.Push(2, -1);
  stream.Push(3, std::nanf(""));
  stream.Push(4, 2);
  EXPECT_EQ(Flat(stream.Finish()), (std::vector<float>{4, 2, 0, 2}));
}

}  // namespace
}  // namespace headrace
