// Functions of matrices and solvers for banded ones; what is wanted is
// TensorFlow's.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

using Complexes = std::vector<complex128>;

Tensor Real(const TensorShape& shape, const std::vector<double>& v) {
  return MakeTensor<double>(shape, v);
}
Tensor Complex(const TensorShape& shape, const Complexes& v) {
  return MakeTensor<complex128>(shape, v);
}
template <typename T>
Tensor As(const Tensor& real) {
  std::vector<T> v;
  for (int64_t i = 0; i < real.NumElements(); ++i) {
    v.push_back(static_cast<T>(real.data<double>()[i]));
  }
  return MakeTensor<T>(real.shape(), v);
}

Tensor Matrix() { return Real({3, 3}, {4, 1, 0.5, 2, 3, -1, 0.25, 1, 7}); }
Tensor ComplexExample() {
  return Complex({2, 2}, {{1, 2}, {0, 0.5}, {-1, 0}, {-3, 1}});
}
Tensor Rotation() { return Real({2, 2}, {0, -2, 2, 0}); }

Status RunOn(OpTester* t, Tensor in) {
  t->Input(std::move(in));
  return t->Run();
}
void ExpectResult(const char* op, const Tensor& in, const Tensor& want,
                  double tolerance = 1e-12) {
  SCOPED_TRACE(op);
  OpTester t(op);
  ASSERT_EQ(RunOn(&t, in), OkStatus());
  ExpectClose(t.Output(0), want, tolerance, tolerance);
}

TEST(MatrixFunctionTest, SquareRoot) {
  const Tensor root = Real(
      {3, 3}, {1.9625837949592568, 0.26499019794921841, 0.1223023174650294,
               0.5469683650810705, 1.7060875816013532, -0.24460463493005818,
               0.027175220367247954, 0.22761666574742545, 2.65562657371111});
  ExpectResult("MatrixSquareRoot", Matrix(), root);
  ExpectResult("MatrixSquareRoot", As<float>(Matrix()), As<float>(root), 1e-6);
  // Eigenvalues 2i and -2i.
  ExpectResult("MatrixSquareRoot", Rotation(), Real({2, 2}, {1, -1, 1, 1}));
  ExpectResult("MatrixSquareRoot", ComplexExample(),
               Complex({2, 2}, {{1.2822826491473363, 0.77001281233995322},
                                {0.14357588333320051, 0.089376188996702244},
                                {-0.17875237799340443, 0.28715176666640091},
                                {0.28012137050731739, 1.7398675010121527}}));
  ExpectResult("MatrixSquareRoot", Complex({1, 1}, {{-4, 0}}),
               Complex({1, 1}, {{0, 2}}));
}

TEST(MatrixFunctionTest, Logarithm) {
  ExpectResult("MatrixLogarithm", ComplexExample(),
               Complex({2, 2}, {{0.79249141100981557, 1.0611573107243926},
                                {0.19668394184284482, -0.089310799592378531},
                                {0.17862159918475662, 0.39336788368568965},
                                {1.1136099240631525, 2.8132504446519078}}));
  ExpectResult("MatrixLogarithm", As<complex128>(Matrix()),
               Complex({3, 3}, {1.3069858128874769, 0.28577965540125017,
                                0.12288289472617359, 0.60490419909325044,
                                1.0378786016316028, -0.24576578945234773,
                                -0.0052483292184153374, 0.21242090116159695,
                                1.9642554493467173}));
  // A double eigenvalue beside a far one.
  const Tensor jordan = Real({3, 3}, {2, 1, 3, 0, 2, 1, 0, 0, 5e-3});
  ExpectResult("MatrixLogarithm", As<complex128>(jordan),
               Complex({3, 3}, {0.69314718055994529, 0.5, 7.7549640435256766, 0,
                                0.69314718055994529, 3.0032403744902161, 0, 0,
                                -5.2983173665480363}));
  ExpectResult("MatrixLogarithm", As<complex64>(Real({1, 1}, {1})),
               As<complex64>(Real({1, 1}, {0})));
}

TEST(MatrixFunctionTest, Exponential) {
  // Summed up in fractions.
  const Tensor e =
      Real({3, 3}, {123.48221454584494, 75.04555160277386, 97.66030425663756,
                    49.86188911346332, -1.6779441029711006, -195.32060851327512,
                    249.28858031248754, 295.5498226053595, 949.9941539066728});
  ExpectResult("MatrixExponential", Matrix(), e);
  ExpectResult("MatrixExponential", As<float>(Matrix()), As<float>(e), 1e-6);
  ExpectResult("MatrixExponential", Rotation(),
               Real({2, 2}, {-0.41614683654714235, -0.90929742682568171,
                             0.9092974268256816, -0.4161468365471423}));
  ExpectResult("MatrixExponential", ComplexExample(),
               Complex({2, 2}, {{-0.88510255563396922, 2.5282557036908462},
                                {-0.32185483261422282, -0.042895461644456984},
                                {0.085790923288914078, -0.64370966522844564},
                                {0.10177080275013267, 0.039207966065977908}}));
  ExpectResult("MatrixExponential", Real({2, 2}, {0, 1000, 0, 0}),
               Real({2, 2}, {1, 1000, 0, 1}), 1e-11);
  ExpectResult("MatrixExponential", Real({1, 1}, {0}), Real({1, 1}, {1}));
}

TEST(MatrixFunctionTest, WhatHasNoFunctionIsNan) {
  const auto all_nan = [](const char* op, const Tensor& in) {
    SCOPED_TRACE(op);
    OpTester t(op);
    ASSERT_EQ(RunOn(&t, in), OkStatus());
    const Tensor& out = t.Output(0);
    for (int64_t i = 0; i < out.NumElements(); ++i) {
      EXPECT_TRUE(std::isnan(out.dtype() == DT_DOUBLE
                                 ? out.data<double>()[i]
                                 : out.data<complex128>()[i].real()));
    }
  };
  all_nan("MatrixSquareRoot", Real({2, 2}, {-4, -1, -2, -3}));
  all_nan("MatrixSquareRoot", Real({2, 2}, {0, 0, 0, 0}));
  all_nan("MatrixLogarithm", Complex({2, 2}, {0, 0, 0, 0}));
  for (const double bad : {NAN, INFINITY, -INFINITY}) {
    all_nan("MatrixSquareRoot", Real({2, 2}, {bad, 1, 1, 1}));
    all_nan("MatrixExponential", Real({2, 2}, {bad, 1, 1, 1}));
    all_nan("MatrixLogarithm", Complex({2, 2}, {bad, 1, 1, 1}));
  }
  // Finite, but nothing of it fits into a number.
  for (const double far : {1e308, -1e308, 1e-308}) {
    for (const char* op : {"MatrixSquareRoot", "MatrixExponential"}) {
      OpTester t(op);
      EXPECT_EQ(RunOn(&t, Real({2, 2}, {far, far, -far, far})), OkStatus());
    }
    OpTester t("MatrixLogarithm");
    EXPECT_EQ(RunOn(&t, Complex({2, 2}, {far, far, 1, 2})), OkStatus());
  }
}

TEST(MatrixFunctionTest, EmptyAndRefused) {
  for (const char* op :
       {"MatrixSquareRoot", "MatrixExponential", "MatrixLogarithm"}) {
    SCOPED_TRACE(op);
    OpTester none(op), empty(op), wide(op), flat(op);
    EXPECT_EQ(RunOn(&none, Complex({2, 0, 0}, {})), OkStatus());
    EXPECT_EQ(RunOn(&empty, Complex({0, 2, 2}, {})), OkStatus());
    ExpectError(RunOn(&wide, Complex({1, 2}, {1, 2})), kInvalid, "square");
    ExpectError(RunOn(&flat, Complex({2}, {1, 2})), kInvalid, "rank >= 2");
  }
}

Tensor Diagonals() {
  return Real({3, 4}, {2, -1, 3, 99, 1e-3, 5, 6, 7, 99, 1, 2, 3});
}
Tensor Right() { return Real({4, 2}, {1, 5, 2, 6, 3, -7, 4, 8}); }

Status Solve(OpTester* t, Tensor diagonals, Tensor right) {
  t->Input(std::move(diagonals)).Input(std::move(right));
  return t->Run();
}

TEST(TridiagonalTest, Solve) {
  const Tensor want = Real(
      {4, 2}, {-0.4405888698135853, -9.7993041734400919, 0.50022029443490679,
               2.5048996520867211, 0.060512602360948645, -3.2748059130064875,
               0.54549459898816488, 2.5463453912884946});
  for (const bool pivoting : {false, true}) {
    for (const bool perturb : {false, true}) {
      if (perturb && !pivoting) continue;
      OpTester t("TridiagonalSolve"), f("TridiagonalSolve");
      t.Attr("partial_pivoting", pivoting).Attr("perturb_singular", perturb);
      f.Attr("partial_pivoting", pivoting).Attr("perturb_singular", perturb);
      ASSERT_EQ(Solve(&t, Diagonals(), Right()), OkStatus());
      ExpectClose(t.Output(0), want, 1e-11, 1e-11);
      ASSERT_EQ(Solve(&f, As<complex64>(Diagonals()), As<complex64>(Right())),
                OkStatus());
      ExpectClose(f.Output(0), As<complex64>(want));
    }
  }
  OpTester one("TridiagonalSolve");
  ASSERT_EQ(Solve(&one, Real({3, 1}, {5, 4, 5}), Real({1, 2}, {2, 4})),
            OkStatus());
  ExpectEqual(one.Output(0), Real({1, 2}, {0.5, 1}));
}

TEST(TridiagonalTest, ASingularMatrixGivesNan) {
  const Tensor cases[] = {
      Real({3, 4}, std::vector<double>(12)),
      // The last row is zero.
      Real({3, 4}, {2, 1, 3, 0, 4, 5, 6, 0, 0, 1, 2, 0}),
  };
  for (const Tensor& c : cases) {
    for (const bool pivoting : {false, true}) {
      OpTester t("TridiagonalSolve");
      t.Attr("partial_pivoting", pivoting);
      ASSERT_EQ(Solve(&t, c, Right()), OkStatus());
      for (int i = 0; i < 8; ++i) {
        EXPECT_TRUE(std::isnan(t.Output(0).data<double>()[i]));
      }
    }
  }
  // A pivot that is 0 where rows are not exchanged.
  for (const bool pivoting : {false, true}) {
    OpTester t("TridiagonalSolve");
    t.Attr("partial_pivoting", pivoting);
    ASSERT_EQ(Solve(&t, Real({3, 2}, {1, 0, 0, 0, 0, 1}), Real({2, 1}, {3, 4})),
              OkStatus());
    EXPECT_EQ(std::isnan(t.Output(0).data<double>()[0]), !pivoting);
  }
}

TEST(TridiagonalTest, APerturbedOneDoesNot) {
  const struct {
    Tensor diagonals, right, wide, narrow;
  } cases[] = {
      {Real({3, 3}, {1, 1, 0, 1, 2, 1, 0, 1, 1}), Real({3, 1}, {1, 2, 3}),
       Real({3, 1}, {-9007199254740996, 9007199254740996, -9007199254740992}),
       Real({3, 1}, {-16777220, 16777220, -16777216})},
      {Real({3, 3}, std::vector<double>(9)), Real({3, 1}, {1, 2, 3}),
       Real({3, 1}, {4.4942328371557898e+307, 2.9961552247705263e+307,
                     4.4942328371557898e+307}),
       Real({3, 1}, {8.5070591730234616e+37, 5.6713729510357211e+37,
                     8.5070591730234616e+37})},
      {Real({3, 1}, {0, 0, 0}), Real({1, 1}, {0}), Real({1, 1}, {0}),
       Real({1, 1}, {0})},
  };
  for (const auto& c : cases) {
    OpTester t("TridiagonalSolve"), f("TridiagonalSolve");
    t.Attr("perturb_singular", true);
    f.Attr("perturb_singular", true);
    ASSERT_EQ(Solve(&t, c.diagonals, c.right), OkStatus());
    ExpectClose(t.Output(0), c.wide, 1e-14);
    ASSERT_EQ(Solve(&f, As<float>(c.diagonals), As<float>(c.right)),
              OkStatus());
    ExpectClose(f.Output(0), As<float>(c.narrow), 1e-6);
  }
  for (const double bad : {NAN, INFINITY}) {
    OpTester t("TridiagonalSolve");
    t.Attr("perturb_singular", true);
    EXPECT_EQ(Solve(&t, Real({3, 2}, {bad, 0, 0, bad, 1, bad}),
                    Real({2, 1}, {bad, 1})),
              OkStatus());
  }
}

TEST(TridiagonalTest, SolveRefuses) {
  const auto refused = [](Tensor diagonals, Tensor right, const char* message) {
    OpTester t("TridiagonalSolve");
    ExpectError(Solve(&t, std::move(diagonals), std::move(right)), kInvalid,
                message);
  };
  refused(Real({2, 4}, std::vector<double>(8)), Right(), "with 3 rows");
  refused(Diagonals(), Real({3, 1}, {1, 2, 3}), "got 4 and 3");
  refused(Real({3}, {1, 2, 3}), Right(), "rank >= 2");
  refused(Diagonals(), Real({1, 4, 1}, {1, 2, 3, 4}), "same outer dimensions");
  OpTester perturb("TridiagonalSolve");
  perturb.Attr("perturb_singular", true).Attr("partial_pivoting", false);
  ExpectError(Solve(&perturb, Diagonals(), Right()), kInvalid,
              "requires also setting partial_pivoting");
  OpTester empty("TridiagonalSolve"), none("TridiagonalSolve");
  EXPECT_EQ(Solve(&empty, Real({3, 0}, {}), Real({0, 2}, {})), OkStatus());
  EXPECT_EQ(Solve(&none, Diagonals(), Real({4, 0}, {})), OkStatus());
}

TEST(TridiagonalTest, MatMul) {
  const auto run = [](OpTester* t, Tensor above, Tensor main, Tensor below,
                      Tensor right) {
    t->Input(std::move(above)).Input(std::move(main)).Input(std::move(below));
    t->Input(std::move(right));
    return t->Run();
  };
  const Tensor above = Real({1, 4}, {1, 2, 3, 99});
  const Tensor main = Real({1, 4}, {4, 5, 6, 7});
  const Tensor below = Real({1, 4}, {99, 1, 2, 3});
  const Tensor right = Real({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor product = Real({4, 2}, {2, 7, 18, 26, 46, 57, 54, 64});
  OpTester t("TridiagonalMatMul"), f("TridiagonalMatMul");
  ASSERT_EQ(run(&t, above, main, below, right), OkStatus());
  ExpectEqual(t.Output(0), product);
  ASSERT_EQ(run(&f, As<complex64>(above), As<complex64>(main),
                As<complex64>(below), As<complex64>(right)),
            OkStatus());
  ExpectEqual(f.Output(0), As<complex64>(product));
  OpTester one("TridiagonalMatMul"), none("TridiagonalMatMul");
  const Tensor single = Real({1, 1}, {3});
  ASSERT_EQ(run(&one, single, single, single, single), OkStatus());
  ExpectEqual(one.Output(0), Real({1, 1}, {9}));
  const Tensor empty = Real({1, 0}, {});
  EXPECT_EQ(run(&none, empty, empty, empty, Real({0, 2}, {})), OkStatus());
  OpTester shorter("TridiagonalMatMul"), rows("TridiagonalMatMul");
  ExpectError(run(&shorter, Real({1, 3}, {1, 2, 3}), main, below, right),
              kInvalid, "Invalid superdiagonal shape");
  ExpectError(
      run(&rows, above, Real({2, 4}, std::vector<double>(8)), below, right),
      kInvalid, "Invalid main diagonal shape");
}

TEST(BandedTriangularSolveTest, FromBothSides) {
  const Tensor bands = Real({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor right = Real({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const struct {
    bool lower, adjoint;
    std::vector<double> want;
  } cases[] = {
      {true, false, {0, 1, 1, -1.5, -1, 1.5, 0.5, 3.25}},
      {true, true, {64. / 3, 25, 4. / 3, 1.5, -8. / 3, -3, 1.5, 1.75}},
      {false,
       false,
       {-1. / 22, 1. / 36, 4. / 55, 2. / 15, 1. / 22, 1. / 12, 0.5, 7. / 12}},
      {false,
       true,
       {0, 1. / 9, 0.2, 11. / 45, 14. / 55, 14. / 45, 7. / 22, 13. / 36}},
  };
  for (const auto& c : cases) {
    OpTester t("BandedTriangularSolve");
    t.Attr("lower", c.lower).Attr("adjoint", c.adjoint);
    ASSERT_EQ(Solve(&t, bands, right), OkStatus());
    ExpectClose(t.Output(0), Real({4, 2}, c.want), 1e-12, 1e-12);
    // Of i A, or its adjoint.
    OpTester i("BandedTriangularSolve");
    i.Attr("lower", c.lower).Attr("adjoint", c.adjoint);
    Complexes turned, want;
    for (int k = 0; k < 12; ++k) turned.push_back({0, k + 1.0});
    for (const double w : c.want) want.push_back({0, c.adjoint ? w : -w});
    ASSERT_EQ(Solve(&i, Complex({3, 4}, turned), As<complex128>(right)),
              OkStatus());
    ExpectClose(i.Output(0), Complex({4, 2}, want), 1e-12, 1e-12);
  }
  // Bands that lie outside, and batches that broadcast.
  OpTester many("BandedTriangularSolve");
  many.Input(Real({2, 1, 3, 2}, std::vector<double>(12, 1)));
  many.Input(Real({3, 2, 1}, {0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(many.Run(), OkStatus());
  ExpectClose(many.Output(0),
              Real({2, 3, 2, 1}, {0, 1, 2, 1, 4, 1, 0, 1, 2, 1, 4, 1}));
}

TEST(BandedTriangularSolveTest, Refuses) {
  const auto refused = [](Tensor bands, Tensor right, const char* message) {
    OpTester t("BandedTriangularSolve");
    ExpectError(Solve(&t, std::move(bands), std::move(right)), kInvalid,
                message);
  };
  const Tensor right = Real({2, 1}, {1, 2});
  refused(Real({2, 2}, {1, 0, 5, 6}), right, "not invertible");
  refused(Real({0, 2}, {}), right, "In[0] must not be an empty tensor");
  refused(Real({1, 2}, {1, 2}), Real({2, 0}, {}), "In[1] must not be an empty");
  refused(Real({1, 3}, {1, 2, 3}), right, "In[0] mismatch In[1] shape");
}

}  // namespace
}  // namespace headrace
