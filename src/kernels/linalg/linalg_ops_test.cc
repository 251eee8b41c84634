// Linear algebra and Fourier transforms: identities, special sizes, refusals.
#include "framework/kernel/op_tester.h"
#include "kernels/signal/fft.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Spd() { return MakeTensor<double>({2, 2}, {4, 2, 2, 3}); }
Tensor Singular() { return MakeTensor<double>({2, 2}, {1, 2, 2, 4}); }

TEST(LinalgTest, TwoByTwo) {
  OpTester chol("Cholesky");
  // The upper triangle is not read.
  chol.Input(MakeTensor<double>({2, 2}, {4, 99, 2, 3}));
  ASSERT_EQ(chol.Run(), OkStatus());
  ExpectClose(chol.Output(0),
              MakeTensor<double>({2, 2}, {2, 0, 1, std::sqrt(2.0)}));
  OpTester inv("MatrixInverse");
  inv.Input(Spd());
  ASSERT_EQ(inv.Run(), OkStatus());
  ExpectClose(inv.Output(0),
              MakeTensor<double>({2, 2}, {3 / 8., -2 / 8., -2 / 8., 4 / 8.}));
  OpTester det("MatrixDeterminant");
  det.Input(Spd());
  ASSERT_EQ(det.Run(), OkStatus());
  ExpectClose(det.Output(0), MakeScalar(8.0));
  OpTester solve("MatrixSolve");
  solve.Input(Spd()).Input(MakeTensor<double>({2, 1}, {8, 8}));
  ASSERT_EQ(solve.Run(), OkStatus());
  ExpectClose(solve.Output(0), MakeTensor<double>({2, 1}, {1, 2}));
  OpTester eig("SelfAdjointEigV2");
  eig.Attr("compute_v", false);
  eig.Input(MakeTensor<double>({2, 2}, {0, 99, 1, 0}));
  ASSERT_EQ(eig.Run(), OkStatus());
  ExpectClose(eig.Output(0), MakeTensor<double>({2}, {-1, 1}));
  OpTester svd("Svd");
  svd.Attr("compute_uv", false).Input(Singular());
  ASSERT_EQ(svd.Run(), OkStatus());
  ExpectClose(svd.Output(0), MakeTensor<double>({2}, {5, 0}));
}

TEST(LinalgTest, TriangularSolveBroadcastsAndRefusesToDivideByZero) {
  OpTester t("MatrixTriangularSolve");
  t.Input(MakeTensor<double>({2, 1, 1}, {2, 4}))
      .Input(MakeTensor<double>({1, 1}, {8}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<double>({2, 1, 1}, {4, 2}));
  OpTester zero("MatrixTriangularSolve");
  zero.Input(MakeTensor<double>({2, 2}, {1, 0, 1, 0}))
      .Input(MakeTensor<double>({2, 1}, {1, 1}));
  ExpectError(zero.Run(), kInvalid, "not invertible");
  OpTester nothing("MatrixTriangularSolve");
  nothing.Input(MakeTensor<double>({1, 1}, {0}))
      .Input(MakeTensor<double>({1, 0}, {}));
  EXPECT_EQ(nothing.Run(), OkStatus());
}

TEST(LinalgTest, EmptySizes) {
  OpTester det("MatrixDeterminant");
  det.Input(MakeTensor<float>({2, 0, 0}, {}));
  ASSERT_EQ(det.Run(), OkStatus());
  ExpectEqual(det.Output(0), MakeTensor<float>({2}, {1, 1}));
  for (const char* op : {"Cholesky", "MatrixInverse", "Qr", "Svd"}) {
    SCOPED_TRACE(op);
    OpTester t(op);
    t.Input(MakeTensor<float>({0, 3, 3}, {}));
    EXPECT_EQ(t.Run(), OkStatus());
  }
  OpTester svd("Svd");
  svd.Attr("full_matrices", true).Input(MakeTensor<float>({0, 2}, {}));
  ASSERT_EQ(svd.Run(), OkStatus());
  ExpectEqual(svd.Output(2), MakeTensor<float>({2, 2}, {1, 0, 0, 1}));
}

TEST(LinalgTest, CholeskyRefusesWhatIsNotPositiveDefinite) {
  for (const Tensor& m :
       {MakeTensor<float>({2, 2}, {1, 2, 2, 1}),
        MakeTensor<float>({2, 2}, {0, 0, 0, 0}),
        MakeTensor<float>({2, 2, 2}, {1, 0, 0, 1, 1, 1, 1, 1})}) {
    OpTester t("Cholesky");
    t.Input(m);
    ExpectError(t.Run(), kInvalid, "Cholesky decomposition was not successful");
  }
  OpTester nan("Cholesky");
  nan.Input(MakeTensor<float>({2, 2}, {NAN, 0, 0, 1}));
  ASSERT_EQ(nan.Run(), OkStatus());
  ExpectClose(nan.Output(0), MakeTensor<float>({2, 2}, {NAN, 0, NAN, NAN}));
}

TEST(LinalgTest, Refusals) {
  OpTester inv("MatrixInverse");
  inv.Input(Singular());
  ExpectError(inv.Run(), kInvalid, "Input is not invertible.");
  OpTester solve("MatrixSolve");
  solve.Input(Singular()).Input(Spd());
  ExpectError(solve.Run(), kInvalid, "Input matrix is not invertible.");
  OpTester square("Cholesky");
  square.Input(MakeTensor<double>({1, 2}, {1, 2}));
  ExpectError(square.Run(), kInvalid, "must be square");
  OpTester rank("MatrixDeterminant");
  rank.Input(MakeTensor<double>({1}, {1}));
  ExpectError(rank.Run(), kInvalid, "rank >= 2");
  OpTester batch("MatrixSolve");
  batch.Input(MakeTensor<double>({1, 1, 1}, {1}))
      .Input(MakeTensor<double>({2, 1, 1}, {1, 2}));
  ExpectError(batch.Run(), kInvalid, "same outer dimensions");
  OpTester rows("MatrixSolve");
  rows.Input(Spd()).Input(MakeTensor<double>({1, 1}, {1}));
  ExpectError(rows.Run(), kInvalid, "incompatible");
}

// The definition, for lengths of every kind: powers of two, mixed, prime.
TEST(FftTest, AgreesWithTheSum) {
  for (const int64_t n : {1, 2, 3, 4, 8, 12, 30, 31, 37, 49, 64, 74, 101}) {
    std::vector<complex128> x(n), want(n), scratch;
    for (int64_t i = 0; i < n; ++i) {
      x[i] = {std::sin(i * i + 1.0), std::cos(3.0 * i)};
    }
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = 0; j < n; ++j) {
        want[k] += x[j] * std::polar(1.0, -2 * M_PI * (j * k % n) / n);
      }
    }
    std::vector<complex128> y = x;
    const FftPlan plan(n);
    plan.Transform(false, y.data(), &scratch);
    for (int64_t k = 0; k < n; ++k) EXPECT_LT(std::abs(y[k] - want[k]), 1e-10);
    plan.Transform(true, y.data(), &scratch);
    for (int64_t k = 0; k < n; ++k) EXPECT_LT(std::abs(y[k] - x[k]), 1e-12);
  }
}

TEST(FftTest, RealPairs) {
  const Tensor x = MakeTensor<float>({1, 5}, {1, -2, 3, 0.5f, 9});
  for (const int32_t n : {4, 5}) {
    const Tensor length = MakeTensor<int32_t>({1}, {n});
    OpTester forward("RFFT");
    forward.Input(x).Input(length);
    ASSERT_EQ(forward.Run(), OkStatus());
    OpTester back("IRFFT");
    back.Input(forward.Output(0)).Input(length);
    ASSERT_EQ(back.Run(), OkStatus());
    std::vector<float> want(x.data<float>(), x.data<float>() + n);
    ExpectClose(back.Output(0), MakeTensor<float>({1, n}, want));
  }
  OpTester shorter("RFFT");
  shorter.Input(x).Input(MakeTensor<int32_t>({1}, {6}));
  ExpectError(shorter.Run(), kInvalid,
              "Input dimension 1 must have length of at least 6 but got: 5");
  OpTester none("RFFT");
  none.Input(x).Input(MakeTensor<int32_t>({1}, {0}));
  ASSERT_EQ(none.Run(), OkStatus());
  EXPECT_EQ(none.Output(0).NumElements(), 0);
}

}  // namespace
}  // namespace headrace
