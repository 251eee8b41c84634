// Products with a constant matrix against sums in double, and in the kernels
// that have one.
#include "kernels/lib/constant_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "kernels/lib/prepacked_gemm.h"

namespace headrace {
namespace {

Tensor Random(const TensorShape& shape, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<float>()[i] = values(random);
  }
  return t;
}

struct Size {
  int64_t m, n, k;
};

void ExpectProduct(const Size& s, bool transpose_b, const Epilogue& e) {
  SCOPED_TRACE(StrCat(s.m, "x", s.n, "x", s.k, " transposed ", transpose_b));
  ThreadPool pool(3), alone(1);
  const Tensor a = Random(TensorShape({s.m, s.k}), 1);
  const Tensor b = Random(
      transpose_b ? TensorShape({s.n, s.k}) : TensorShape({s.k, s.n}), 2);
  ConstantMatrix matrix;
  matrix.Set(b);
  auto g = GemmArgs<float>::Dense(s.m, s.n, s.k, false, transpose_b);
  std::vector<float> c(s.m * s.n + 1, 7), same = c;
  g = g.At(a.data<float>(), nullptr, c.data());
  ASSERT_TRUE(matrix.Multiply(&pool, g, e));
  g.c = same.data();
  ASSERT_TRUE(matrix.Multiply(&alone, g, e));
  EXPECT_EQ(c, same) << "depends on the number of threads";
  EXPECT_EQ(c.back(), 7) << "written behind C";
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double want = e.bias == nullptr ? 0 : e.bias->data<float>()[j];
      for (int64_t p = 0; p < s.k; ++p) {
        want += static_cast<double>(a.data<float>()[i * s.k + p]) *
                b.data<float>()[transpose_b ? j * s.k + p : p * s.n + j];
      }
      if (e.activation == Activation::kRelu) want = std::max(want, 0.0);
      ASSERT_NEAR(c[i * s.n + j], want, 1e-7 * static_cast<double>(s.k + 8))
          << i << ", " << j;
    }
  }
}

TEST(ConstantMatrixTest, AgreesWithPlainSums) {
  for (const Size& s : {Size{33, 65, 1},
                        {48, 128, 256},
                        {100, 130, 300},
                        {128, 64 * 5, 513},
                        {385, 70, 40},
                        {700, 100, 70},
                        {1000, 65, 3}}) {
    for (const bool transpose_b : {false, true}) {
      ExpectProduct(s, transpose_b, {});
      const Tensor bias = Random(TensorShape({s.n}), 3);
      ExpectProduct(s, transpose_b,
                    {.bias = &bias, .activation = Activation::kRelu});
    }
  }
  for (const Size& s : {Size{50, 3, 20}, {50, 64, 9}}) {
    ExpectProduct(s, true, {});
  }
  if (!PrefersPanels(5, 1030, 1025)) return;  // an older processor
  const Tensor bias = Random(TensorShape({1030}), 3);
  ExpectProduct({5, 1030, 1025}, true,
                {.bias = &bias, .activation = Activation::kRelu});
}

TEST(ConstantMatrixTest, LeavesToOthersWhatPanelsDoNotHelp) {
  ThreadPool pool(2);
  const Tensor a = Random(TensorShape({64, 64}), 1);
  const Tensor b = Random(TensorShape({64, 64}), 2);
  std::vector<float> c(64 * 64, 7);
  const auto multiply = [&](bool set, int64_t m, int64_t n, bool transpose_a) {
    ConstantMatrix matrix;
    if (set) matrix.Set(b);
    return matrix.Multiply(&pool,
                           GemmArgs<float>::Dense(m, n, 64, transpose_a)
                               .At(a.data<float>(), nullptr, c.data()),
                           {});
  };
  EXPECT_FALSE(multiply(false, 64, 64, false)) << "nothing was set";
  EXPECT_FALSE(multiply(true, 64, 64, false)) << "one panel, which is not cut";
  EXPECT_FALSE(multiply(true, 2, 64, false)) << "few rows";
  EXPECT_FALSE(multiply(true, 64, 64, true)) << "A is transposed";
  EXPECT_FALSE(multiply(true, 0, 64, false)) << "empty";
  EXPECT_EQ(c, std::vector<float>(64 * 64, 7)) << "something was written";
}

// A constant y takes other ways than one that changes.
TEST(ConstantMatrixTest, KernelsAgreeWithThoseOfOtherWeights) {
  struct Case {
    const char* op;
    TensorShape x, y;
    std::vector<std::pair<std::string, AttrValue>> attrs;
  };
  const Case cases[] = {
      {"MatMul", TensorShape({40, 30}), TensorShape({30, 70}), {}},
      {"MatMul",
       TensorShape({40, 30}),
       TensorShape({70, 30}),
       {{"transpose_b", true}}},
      {"MatMul",
       TensorShape({30, 40}),
       TensorShape({30, 70}),
       {{"transpose_a", true}}},
      {"BatchMatMulV2", TensorShape({3, 4, 9, 30}), TensorShape({30, 70}), {}},
      {"BatchMatMulV2",
       TensorShape({3, 20, 30}),
       TensorShape({1, 70, 30}),
       {{"adj_y", true}}},
      {"BatchMatMulV2",
       TensorShape({3, 30, 20}),
       TensorShape({30, 70}),
       {{"adj_x", true}}},
      {"BatchMatMulV2", TensorShape({3, 40, 30}), TensorShape({3, 30, 70}), {}},
      {"BatchMatMul", TensorShape({1, 40, 30}), TensorShape({1, 30, 70}), {}},
      {"Einsum",
       TensorShape({5, 8, 30}),
       TensorShape({30, 7, 10}),
       {{"equation", "abc,cde->abde"}, {"N", int64_t{2}}}},
      {"Einsum",
       TensorShape({5, 8, 6, 5}),
       TensorShape({6, 5, 70}),
       {{"equation", "abcd,cde->abe"}, {"N", int64_t{2}}}},
      {"Einsum",
       TensorShape({5, 8, 30}),
       TensorShape({70, 30}),
       {{"equation", "abc,dc->abd"}, {"N", int64_t{2}}}},
      {"Einsum",
       TensorShape({5, 8, 30}),
       TensorShape({70, 30}),
       {{"equation", "abc,dc->dab"}, {"N", int64_t{2}}}},
      {"Einsum",
       TensorShape({5, 8, 30}),
       TensorShape({7, 30, 10}),
       {{"equation", "abc,dce->abde"}, {"N", int64_t{2}}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(StrCat(c.op, " ", c.x.DebugString(), c.y.DebugString()));
    Tensor results[2];
    for (const bool constant : {false, true}) {
      OpTester t(c.op);
      for (const auto& [name, value] : c.attrs) t.Attr(name, value);
      t.Attr("T", DT_FLOAT);
      t.Input(Random(c.x, 1));
      if (constant) {
        t.Constant(Random(c.y, 2));
      } else {
        t.Input(Random(c.y, 2));
      }
      ASSERT_EQ(t.Run(), OkStatus());
      results[constant] = t.Output(0);
    }
    ExpectClose(results[1], results[0], 1e-5);
  }
}

}  // namespace
}  // namespace headrace
