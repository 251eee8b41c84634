// Softmax, losses, bias, top-k, LRN and data formats: the corners that a
// reader of their definitions would get wrong, and refusals.
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

using absl::StatusCode;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Vec(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}
Tensor Ints(const std::vector<int32_t>& v) {
  return MakeTensor<int32_t>({static_cast<int64_t>(v.size())}, v);
}

// Every number of classes that is treated as one vector and the next ones, over
// more rows than a block holds; then the ends of longer stretches.
TEST(SoftmaxTest, EveryLength) {
  std::vector<int64_t> lengths = {127,  128,  129,  255,  256,  257, 1023,
                                  1024, 1025, 2047, 2048, 2049, 5000};
  for (int64_t n = 18; n > 0; --n) lengths.push_back(n);
  for (const int64_t n : lengths) {
    for (const int64_t rows : {int64_t{1}, (5000 + n - 1) / n}) {
      Tensor x(DT_FLOAT, TensorShape({rows, n}));
      for (int64_t i = 0; i < rows * n; ++i) {
        x.data<float>()[i] = static_cast<float>(i * 37 % 101) / 7 - 5;
      }
      OpTester t("Softmax"), log("LogSoftmax");
      t.Input(x);
      log.Input(x);
      ASSERT_EQ(t.Run(), OkStatus());
      ASSERT_EQ(log.Run(), OkStatus());
      double worst = 0;
      for (int64_t r = 0; r < rows; ++r) {
        const float* row = x.data<float>() + r * n;
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += std::exp(double{row[i]});
        for (int64_t i = 0; i < n; ++i) {
          const double want = std::exp(double{row[i]}) / sum;
          const double got = t.Output(0).data<float>()[r * n + i];
          const double got_log = log.Output(0).data<float>()[r * n + i];
          worst = std::max({worst, std::abs(got - want),
                            std::abs(got_log - std::log(want)) / 10});
        }
      }
      EXPECT_LT(worst, 2e-7) << n << " classes, " << rows << " rows";
    }
  }
}

TEST(SoftmaxTest, RowsAndInfinities) {
  OpTester t("Softmax");
  t.Input(MakeTensor<float>(
      {4, 2}, {0, std::log(3.0f), 1000, 1000, -kInf, -kInf, -kInf, 5}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<float>({4, 2}, {0.25, 0.75, 0.5, 0.5,
                                                      kNan, kNan, 0, 1}));
  OpTester log("LogSoftmax");
  log.Input(Vec({1000, 0}));
  ASSERT_EQ(log.Run(), OkStatus());
  ExpectClose(log.Output(0), Vec({0, -1000}));
  // Long enough for several vectors and a rest; sums to one.
  OpTester wide("Softmax");
  std::vector<float> x(1003);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17);
  wide.Input(Vec(x));
  ASSERT_EQ(wide.Run(), OkStatus());
  double sum = 0;
  for (float v : wide.Output(0).span<float>()) sum += v;
  EXPECT_NEAR(sum, 1, 1e-5);
  x[700] = kNan;
  OpTester bad("Softmax");
  bad.Input(Vec(x));
  ASSERT_EQ(bad.Run(), OkStatus());
  for (float v : bad.Output(0).span<float>()) ASSERT_TRUE(std::isnan(v));
  OpTester empty("Softmax");
  empty.Input(MakeTensor<float>({3, 0}, {}));
  ASSERT_EQ(empty.Run(), OkStatus());
  OpTester scalar("Softmax");
  scalar.Input(MakeScalar(1.0f));
  ExpectError(scalar.Run(), StatusCode::kInvalidArgument, ">= 1 dimension");
}

TEST(CrossEntropyTest, DenseBroadcastsAndDoesNotScale) {
  const float log2 = std::log(2.0f);
  OpTester t("SoftmaxCrossEntropyWithLogits");
  t.Input(MakeTensor<float>({2, 2}, {3, 3, -1, -1}));
  t.Input(MakeTensor<float>({1, 2}, {0, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), Vec({2 * log2, 2 * log2}));
  ExpectClose(t.Output(1), MakeTensor<float>({2, 2}, {0.5, -1.5, 0.5, -1.5}));
  OpTester inf("SoftmaxCrossEntropyWithLogits");
  inf.Input(MakeTensor<float>({1, 2}, {-kInf, 0}));
  inf.Input(MakeTensor<float>({1, 2}, {0, 1}));
  ASSERT_EQ(inf.Run(), OkStatus());
  ExpectClose(inf.Output(0), Vec({kNan}));
  OpTester bad("SoftmaxCrossEntropyWithLogits");
  bad.Input(MakeTensor<float>({1, 2}, {0, 0}));
  bad.Input(MakeTensor<float>({1, 3}, {0, 1, 0}));
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "broadcastable");
}

TEST(CrossEntropyTest, Sparse) {
  for (DataType type : {DT_FLOAT, DT_DOUBLE}) {
    OpTester t("SparseSoftmaxCrossEntropyWithLogits");
    if (type == DT_FLOAT) {
      t.Input(MakeTensor<float>({2, 2}, {0, 0, 0, std::log(3.0f)}));
    } else {
      t.Input(MakeTensor<double>({2, 2}, {0, 0, 0, std::log(3.0)}));
    }
    t.Input(Ints({0, 1}));
    ASSERT_EQ(t.Run(), OkStatus());
    if (type != DT_FLOAT) continue;
    ExpectClose(t.Output(0), Vec({std::log(2.0f), std::log(4.0f / 3)}));
    ExpectClose(t.Output(1),
                MakeTensor<float>({2, 2}, {-0.5, 0.5, 0.25, -0.25}));
  }
  for (int label : {-1, 3}) {
    OpTester bad("SparseSoftmaxCrossEntropyWithLogits");
    bad.Input(MakeTensor<float>({1, 3}, {1, 2, 3})).Input(Ints({label}));
    ExpectError(bad.Run(), StatusCode::kInvalidArgument,
                "outside the valid range of [0, 3)");
  }
  OpTester none("SparseSoftmaxCrossEntropyWithLogits");
  none.Input(MakeTensor<float>({2, 0}, {})).Input(Ints({0, 0}));
  ExpectError(none.Run(), StatusCode::kInvalidArgument, "at least one class");
}

TEST(L2LossTest, HalfTheSquares) {
  OpTester t("L2Loss");
  t.Input(Vec(std::vector<float>(40000, 2)));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeScalar(80000.0f));
  OpTester empty("L2Loss");
  empty.Input(Vec({}));
  ASSERT_EQ(empty.Run(), OkStatus());
  ExpectClose(empty.Output(0), MakeScalar(0.0f));
}

TEST(BiasTest, BothFormats) {
  const Tensor x = MakeTensor<float>({1, 2, 2}, {1, 2, 3, 4});
  OpTester nhwc("BiasAdd");
  nhwc.Input(x).Input(Vec({10, 20}));
  ASSERT_EQ(nhwc.Run(), OkStatus());
  ExpectClose(nhwc.Output(0), MakeTensor<float>({1, 2, 2}, {11, 22, 13, 24}));
  OpTester nchw("BiasAdd");
  nchw.Attr("data_format", "NCHW").Input(x).Input(Vec({10, 20}));
  ASSERT_EQ(nchw.Run(), OkStatus());
  ExpectClose(nchw.Output(0), MakeTensor<float>({1, 2, 2}, {11, 12, 23, 24}));
  for (const char* format : {"NHWC", "NCHW"}) {
    OpTester grad("BiasAddGrad");
    grad.Attr("data_format", format).Input(x);
    ASSERT_EQ(grad.Run(), OkStatus());
    ExpectClose(grad.Output(0), format[1] == 'H' ? Vec({4, 6}) : Vec({3, 7}));
  }
  OpTester wraps("BiasAdd");
  wraps.Input(MakeTensor<int8_t>({1, 1}, {127}));
  wraps.Input(MakeTensor<int8_t>({1}, {1}));
  ASSERT_EQ(wraps.Run(), OkStatus());
  ExpectEqual(wraps.Output(0), MakeTensor<int8_t>({1, 1}, {-128}));
  OpTester empty("BiasAddGrad");
  empty.Input(MakeTensor<float>({0, 3}, {}));
  ASSERT_EQ(empty.Run(), OkStatus());
  ExpectClose(empty.Output(0), Vec({0, 0, 0}));
  OpTester rank("BiasAdd");
  rank.Input(Vec({1, 2})).Input(Vec({1, 2}));
  ExpectError(rank.Run(), StatusCode::kInvalidArgument, "at least 2D");
  OpTester size("BiasAdd");
  size.Input(x).Input(Vec({1, 2, 3}));
  ExpectError(size.Run(), StatusCode::kInvalidArgument, "as many biases");
}

// More rows than one block of the tree.
TEST(BiasTest, GradientOfManyRows) {
  OpTester t("BiasAddGrad");
  std::vector<float> g(30000 * 3);
  for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 3);
  t.Input(MakeTensor<float>({30000, 3}, g));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), Vec({0, 30000, 60000}));
}

TEST(TopKTest, TiesNanAndSizes) {
  // NaN counts as equal to its neighbours: how far it comes depends on k.
  for (const std::vector<int32_t>& order :
       {std::vector<int32_t>{1}, {1, 2, 3}, {1, 0, 2, 3, 5, 4}}) {
    OpTester t("TopKV2");
    t.Input(Vec({1, 3, kNan, 3, -kInf, 2}));
    t.Input(MakeScalar(static_cast<int>(order.size())));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(1), Ints(order));
  }
  OpTester many("TopKV2");
  std::vector<float> x(1000);
  for (int i = 0; i < 1000; ++i) x[i] = static_cast<float>(i * 7 % 1000);
  many.Input(Vec(x)).Input(MakeScalar(3));
  ASSERT_EQ(many.Run(), OkStatus());
  ExpectClose(many.Output(0), Vec({999, 998, 997}));
  OpTester v1("TopK");
  v1.Attr("k", 0).Input(MakeTensor<int32_t>({1, 2}, {1, 2}));
  ASSERT_EQ(v1.Run(), OkStatus());
  EXPECT_EQ(v1.Output(0).shape().DebugString(), "[1,0]");
  OpTester more("TopKV2");
  more.Input(Vec({1, 2})).Input(MakeScalar(3));
  ExpectError(more.Run(), StatusCode::kInvalidArgument, "at least k columns");
  OpTester negative("TopKV2");
  negative.Input(Vec({1, 2})).Input(MakeScalar(-1));
  ExpectError(negative.Run(), StatusCode::kInvalidArgument, "k >= 0");
}

TEST(NthElementTest, BothEnds) {
  for (bool reverse : {false, true}) {
    OpTester t("NthElement");
    t.Attr("reverse", reverse);
    t.Input(MakeTensor<float>({2, 3}, {3, 1, 2, kNan, 5, 4}));
    t.Input(MakeScalar(1));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), Vec({2, 5}));
  }
  for (int n : {-1, 3}) {
    OpTester bad("NthElement");
    bad.Input(Vec({1, 2, 3})).Input(MakeScalar(n));
    ExpectError(bad.Run(), StatusCode::kInvalidArgument,
                n < 0 ? "non-negative" : "n+1 columns");
  }
}

TEST(InTopKTest, TiesAndWhatIsNotFinite) {
  const Tensor predictions = MakeTensor<float>(
      {5, 3}, {1, 2, kInf, 1, 2, 3, 1, 2, -kInf, 2, 2, 2, 1, 2, 3});
  const Tensor expected =
      MakeTensor<bool>({5}, {false, true, false, true, false});
  OpTester t("InTopKV2");
  t.Input(predictions).Input(Ints({1, 1, 1, 0, 5})).Input(MakeScalar(2));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), expected);
  OpTester wide("InTopKV2");
  wide.Input(predictions)
      .Input(MakeTensor<int64_t>({5}, {1, 1, 1, 0, int64_t{1} << 32}))
      .Input(MakeScalar<int64_t>(2));
  ASSERT_EQ(wide.Run(), OkStatus());
  ExpectEqual(wide.Output(0), expected);
  OpTester bad("InTopK");
  bad.Attr("k", 1).Input(Vec({1})).Input(Ints({0}));
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "2-dimensional");
}

TEST(LrnTest, WindowIsNotAveraged) {
  OpTester t("LRN");
  t.Attr("depth_radius", 1).Attr("beta", 1.0f);
  t.Input(MakeTensor<float>({1, 1, 1, 4}, {1, 2, 3, 4}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({1, 1, 1, 4},
                                {1.0f / 6, 2.0f / 15, 3.0f / 30, 4.0f / 26}));
  OpTester bad("LRN");
  bad.Input(Vec({1}));
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "4-dimensional");
}

// The gradient against central differences.
TEST(LrnTest, GradientIsTheDerivative) {
  const std::vector<float> x = {1, -2, 0.5, 3}, g = {1, 2, -1, 0.5};
  auto forward = [](const std::vector<float>& v) {
    OpTester t("LRN");
    t.Attr("depth_radius", 1).Attr("beta", 0.75f).Attr("alpha", 0.3f);
    t.Input(MakeTensor<float>({1, 1, 1, 4}, v));
    EXPECT_EQ(t.Run(), OkStatus());
    return t.Output(0);
  };
  std::vector<float> want(4);
  for (int i = 0; i < 4; ++i) {
    auto up = x, down = x;
    up[i] += 1e-2f;
    down[i] -= 1e-2f;
    const Tensor a = forward(up), b = forward(down);
    for (int k = 0; k < 4; ++k) {
      want[i] += g[k] * (a.data<float>()[k] - b.data<float>()[k]) / 2e-2f;
    }
  }
  OpTester t("LRNGrad");
  t.Attr("depth_radius", 1).Attr("beta", 0.75f).Attr("alpha", 0.3f);
  t.Input(MakeTensor<float>({1, 1, 1, 4}, g));
  t.Input(MakeTensor<float>({1, 1, 1, 4}, x)).Input(forward(x));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<float>({1, 1, 1, 4}, want), 1e-3, 1e-3);
}

// Of an output_image that is not the image's own; wanted is what TensorFlow
// gives.
TEST(LrnTest, GradientOfNumbersBeyondFloatsIsThatOfItsDefinition) {
  const Tensor g = MakeTensor<float>({1, 1, 1, 6}, {1, -2, 0.5f, 1, 1, 1});
  const Tensor small =
      MakeTensor<float>({1, 1, 1, 6}, {1e19f, 3e19f, 1, 4, 5, 6});
  const Tensor large =
      MakeTensor<float>({1, 1, 1, 6}, {1e19f, 3e19f, 1, kInf, 2e20f, -1});
  const Tensor y =
      MakeTensor<float>({1, 1, 1, 6}, {2e19f, -1e19f, 5, 3, kInf, 0});
  const Tensor finite_y =
      MakeTensor<float>({1, 1, 1, 6}, {2e19f, -1e19f, 5, 3, 7, 0});
  const struct {
    const Tensor &x, &y;
    std::vector<float> want;
  } cases[] = {
      {large, y, {0, kNan, 0, kNan, kNan, kNan}},
      {large, finite_y, {0, kNan, 0, kNan, 0, 0}},
      {small, y, {0, kNan, -0.06976745f, -kInf, -kInf, -kInf}},
      {small,
       finite_y,
       {0, kNan, -0.06976745f, -0.48554558f, -0.6843275f, -0.41146144f}},
  };
  for (const auto& c : cases) {
    OpTester t("LRNGrad");
    t.Attr("depth_radius", 1).Input(g).Input(c.x).Input(c.y);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({1, 1, 1, 6}, c.want));
  }
}

TEST(LrnTest, GradientPassesByOutputsWhoseGradientIsZero) {
  const struct {
    std::vector<float> g, x, y, want;
  } cases[] = {
      {{0.324f, 1.5f, 0},
       {2.5f, 1.5f, 1e-37f},
       {-1, -1, kNan},
       {4.050744f, 16.591665f, 0}},
      {{0.25f, 0, 0.726f},
       {65504, 1e10f, 65504},
       {-104, 3e38f, -kInf},
       {kInf, kInf, kInf}},
      {{2.5f, 0.853f, 2.5f},
       {-1, -0.5f, 1e-37f},
       {88.7f, 2.5f, 3e38f},
       {kInf, 2.9999998e38f, 10.710673f}},
      {{0, 0, 0}, {kInf, 1, 2}, {1, 1, kNan}, {0, 0, 0}},
  };
  for (const auto& c : cases) {
    OpTester t("LRNGrad");
    t.Attr("bias", 0.0f).Attr("alpha", 0.001f);
    for (const std::vector<float>* v : {&c.g, &c.x, &c.y}) {
      t.Input(MakeTensor<float>({1, 1, 1, 3}, *v));
    }
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({1, 1, 1, 3}, c.want));
  }
}

TEST(GlobalBatchNormTest, ScalesOnlyWhenTold) {
  for (bool scaled : {false, true}) {
    OpTester t("BatchNormWithGlobalNormalization");
    t.Attr("variance_epsilon", 1.0f).Attr("scale_after_normalization", scaled);
    t.Input(MakeTensor<float>({1, 1, 2, 1}, {3, 5}));
    t.Input(Vec({1})).Input(Vec({3})).Input(Vec({10})).Input(Vec({4}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), scaled
                                 ? MakeTensor<float>({1, 1, 2, 1}, {14, 18})
                                 : MakeTensor<float>({1, 1, 2, 1}, {11, 12}));
  }
}

TEST(DataFormatTest, MapAndPermute) {
  OpTester map("DataFormatDimMap");
  map.Input(Ints({-4, -1, 0, 1, 2, 3, 4, -5}));
  ASSERT_EQ(map.Run(), OkStatus());
  ExpectEqual(map.Output(0), Ints({0, 1, 0, 2, 3, 1, 0, 1}));
  OpTester permute("DataFormatVecPermute");
  permute.Input(MakeTensor<int32_t>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  ASSERT_EQ(permute.Run(), OkStatus());
  ExpectEqual(permute.Output(0),
              MakeTensor<int32_t>({4, 2}, {1, 2, 7, 8, 3, 4, 5, 6}));
  OpTester spatial("DataFormatVecPermute");
  spatial.Attr("dst_format", "NCWH").Input(Ints({10, 20}));
  ASSERT_EQ(spatial.Run(), OkStatus());
  ExpectEqual(spatial.Output(0), Ints({20, 10}));
  OpTester size("DataFormatVecPermute");
  size.Input(Ints({1, 2, 3}));
  ExpectError(size.Run(), StatusCode::kInvalidArgument, "of size 2 or 4");
  OpTester format("DataFormatDimMap");
  format.Attr("dst_format", "NCHH").Input(Ints({0}));
  ExpectError(format.Run(), StatusCode::kInvalidArgument, "permutation");
}

}  // namespace
}  // namespace headrace
