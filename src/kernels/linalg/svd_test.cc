// Singular value decompositions multiply to the matrix they came from, in every
// form, and survive it when any one of their allocations fails.
#include "kernels/linalg/svd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/exceptions.h"
#include "base/memory_reserve.h"
#include "framework/memory/failing_allocations.h"

namespace headrace {
namespace {

// Above, below and at the sizes where the algorithm changes, tall and wide.
constexpr struct {
  int64_t rows, cols;
} kSizes[] = {{1, 1},   {3, 2},   {2, 3},   {5, 5},    {15, 4},  {4, 15},
              {16, 16}, {17, 16}, {16, 17}, {40, 12},  {12, 40}, {33, 33},
              {50, 35}, {35, 50}, {110, 1}, {120, 105}};

void Fill(std::mt19937* random, double* x) {
  *x = std::normal_distribution<double>()(*random);
}
void Fill(std::mt19937* random, complex128* x) {
  double parts[2];
  Fill(random, &parts[0]);
  Fill(random, &parts[1]);
  *x = complex128(parts[0], parts[1]);
}

template <typename S>
LinalgMatrix<S> Random(int64_t rows, int64_t cols) {
  std::mt19937 random(static_cast<unsigned>(100 * rows + cols));
  LinalgMatrix<S> a(rows, cols);
  for (int64_t i = 0; i < a.size(); ++i) Fill(&random, a.data() + i);
  return a;
}

template <typename S>
class SvdTest : public testing::Test {};
using Scalars = testing::Types<double, complex128>;
TYPED_TEST_SUITE(SvdTest, Scalars);

template <typename S>
void ExpectOrthonormal(const LinalgMatrix<S>& q) {
  const LinalgMatrix<S> one = q.adjoint() * q;
  EXPECT_LT((one - LinalgMatrix<S>::Identity(q.cols(), q.cols())).norm(),
            1e-10);
}

TYPED_TEST(SvdTest, FactorsMultiplyToTheMatrix) {
  using Matrix = LinalgMatrix<TypeParam>;
  for (const auto& [rows, cols] : kSizes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const int64_t k = std::min(rows, cols);
    const Matrix a = Random<TypeParam>(rows, cols);
    const auto thin = ComputeSvd<TypeParam>(a, SvdVectors::kThin);
    const auto full = ComputeSvd<TypeParam>(a, SvdVectors::kFull);
    const auto none = ComputeSvd<TypeParam>(a, SvdVectors::kNone);
    ASSERT_EQ(thin.s.size(), k);
    EXPECT_TRUE(std::is_sorted(thin.s.data(), thin.s.data() + k,
                               std::greater<double>()));
    EXPECT_GE(thin.s.minCoeff(), 0);
    EXPECT_LT((thin.s - full.s).norm(), 1e-10);
    EXPECT_LT((thin.s - none.s).norm(), 1e-10);
    ASSERT_EQ(thin.u.cols(), k);
    ASSERT_EQ(thin.v.cols(), k);
    ASSERT_EQ(full.u.cols(), rows);
    ASSERT_EQ(full.v.cols(), cols);
    ExpectOrthonormal<TypeParam>(thin.u);
    ExpectOrthonormal<TypeParam>(thin.v);
    ExpectOrthonormal<TypeParam>(full.u);
    ExpectOrthonormal<TypeParam>(full.v);
    const auto s = thin.s.template cast<TypeParam>().asDiagonal();
    EXPECT_LT((thin.u * s * thin.v.adjoint() - a).norm(), 1e-10);
    EXPECT_LT(
        (full.u.leftCols(k) * s * full.v.leftCols(k).adjoint() - a).norm(),
        1e-10);
  }
}

// A failure between a destructor and the construction that should follow ended
// the process.
TYPED_TEST(SvdTest, AnyAllocationMayFail) {
  if (!FailingAllocations::ArePreloaded()) {
    GTEST_SKIP() << "only with tests/faults/failing_allocations.cc preloaded";
  }
  for (const auto& [rows, cols] : kSizes) {
    if (rows * cols > 2000) continue;  // for the time it takes
    const auto a = Random<TypeParam>(rows, cols);
    for (const SvdVectors vectors :
         {SvdVectors::kNone, SvdVectors::kThin, SvdVectors::kFull}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", vectors "
                                      << static_cast<int>(vectors));
      const auto want = ComputeSvd<TypeParam>(a, vectors);
      for (const int64_t count : {int64_t{1}, FailingAllocations::kAll}) {
        bool failed = true;
        for (int64_t n = 1; failed; n += 1 + n / 10) {
          Svd<TypeParam> got;
          Status s;
          {
            const FailingAllocations failing(n, count, 0);
            s = CatchExceptions([&] {
              got = ComputeSvd<TypeParam>(a, vectors);
              return OkStatus();
            });
            failed = FailingAllocations::Seen() >= n;
          }
          RefillMemoryReserve();
          if (s.ok()) {
            EXPECT_EQ(got.s, want.s) << "allocation " << n;
          } else {
            EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace
