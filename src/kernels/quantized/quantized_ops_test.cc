// Arithmetic on quantised numbers; the numbers wanted are TensorFlow's.
#include "kernels/quantized/quantized_test_util.h"

namespace headrace {
namespace {

using absl::StatusCode;

TEST(QuantizedOpsTest, RequantizesToWhatIsAskedOrUsed) {
  OpTester down("QuantizeDownAndShrinkRange");
  down.Attr("out_type", DT_QUINT8).Input(Sums({0, 1, -1, 100}));
  Ends(&down, {-1, 1});
  ASSERT_EQ(down.Run(), OkStatus());
  EXPECT_EQ(Values(down.Output(0)), (std::vector<int>{1, 4, 0, 254}));
  ExpectRange(&down, -2.32830644e-10f, 4.67989594e-08f);

  OpTester range("RequantizationRange");
  range.Input(Sums({0, 1, -1, 100}));
  Ends(&range, {-1, 1});
  ASSERT_EQ(range.Run(), OkStatus());
  EXPECT_FLOAT_EQ(range.Output(0).scalar<float>(), -2.32830644e-10f);

  const struct {
    DataType type;
    float low, high;
    std::vector<int> out;
  } cases[] = {
      {DT_QUINT8, -1, 1, {128, 127, 255, 0}},
      {DT_QUINT8, 0, 0.5f, {0, 0, 255, 0}},
      {DT_QINT8, -1, 1, {0, 0, 127, -128}},
      // The ratio of the ranges does not overflow.
      {DT_QUINT8, 0, 1e-30f, {0, 0, 255, 0}},
  };
  for (const auto& c : cases) {
    OpTester t("Requantize");
    t.Attr("out_type", c.type);
    t.Input(Sums({0, -9, INT32_MAX, INT32_MIN}));
    Ends(&t, {-1, 1, c.low, c.high});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)), c.out) << c.low << " " << c.high;
    ExpectRange(&t, c.low, c.high);
  }
}

TEST(QuantizedOpsTest, RequantizeRefuses) {
  const struct {
    std::vector<float> ends;
    const char* message;
  } cases[] = {
      {{-1, 1, 0.5f, 1}, "requested_output_min must be <= 0"},
      {{-1, 1, -1, -2}, "requested_output_max"},
      {{-1, NAN, -1, 2}, "finite"},
      {{-1, INFINITY, -1, 2}, "finite"},
  };
  for (const auto& c : cases) {
    OpTester t("Requantize");
    t.Attr("out_type", DT_QUINT8).Input(Sums({0}));
    Ends(&t, c.ends);
    ExpectError(t.Run(), StatusCode::kInvalidArgument, c.message);
  }
}

TEST(QuantizedOpsTest, Relus) {
  const Tensor x = Bytes({4}, {0, 100, 140, 255});
  OpTester relu("QuantizedRelu"), relu6("QuantizedRelu6"),
      x_of("QuantizedReluX");
  relu.Input(x);
  Ends(&relu, {-1, 1});
  relu6.Input(x);
  Ends(&relu6, {-10, 10});
  x_of.Input(x);
  Ends(&x_of, {0.5f, -1, 1});
  ASSERT_EQ(relu.Run(), OkStatus());
  ASSERT_EQ(relu6.Run(), OkStatus());
  ASSERT_EQ(x_of.Run(), OkStatus());
  EXPECT_EQ(Values(relu.Output(0)), (std::vector<int>{128, 128, 140, 255}));
  EXPECT_EQ(Values(relu6.Output(0)), (std::vector<int>{128, 128, 140, 205}));
  EXPECT_EQ(Values(x_of.Output(0)), (std::vector<int>{128, 128, 140, 192}));
  ExpectRange(&relu, -1, 1);
}

TEST(QuantizedOpsTest, AReluBoundThatIsNoNumberIsTheLowest) {
  OpTester t("QuantizedReluX");
  t.Input(Bytes({2}, {0, 255}));
  Ends(&t, {NAN, -1, 1});
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(Values(t.Output(0)), (std::vector<int>{0, 0}));
}

TEST(QuantizedOpsTest, OutputsAreOfTheTypesThatKernelsWrite) {
  OpTester relu("QuantizedRelu"), bias("QuantizedBiasAdd");
  relu.Attr("out_type", DT_QUINT8).Input(Sums({1, 2, 3}));
  Ends(&relu, {-1, 1});
  EXPECT_FALSE(relu.Run().ok());
  bias.Attr("out_type", DT_QUINT8);
  bias.Input(Bytes({1, 2}, {0, 255})).Input(Bytes({2}, {255, 255}));
  Ends(&bias, {-1, 1, -2, 3});
  EXPECT_FALSE(bias.Run().ok());
}

TEST(QuantizedOpsTest, BiasAddRaisesTheRange) {
  OpTester t("QuantizedBiasAdd");
  t.Attr("out_type", DT_QINT32);
  t.Input(Bytes({1, 2}, {0, 255})).Input(Bytes({2}, {255, 255}));
  Ends(&t, {-1, 1, -2, 3});
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectRange(&t, -393216, 393216);
  EXPECT_EQ(Values(t.Output(0)), (std::vector<int>{10944, 21867}));
  OpTester bad("QuantizedBiasAdd");
  bad.Attr("out_type", DT_QINT32);
  bad.Input(Bytes({1, 2}, {0, 255})).Input(Bytes({3}, {1, 2, 3}));
  Ends(&bad, {-1, 1, -2, 3});
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "bias");
}

TEST(QuantizedOpsTest, MatMulOfWhatIsAboveZero) {
  // 0.0 is at 0 in the left range, at 128 in the right one.
  const Tensor a = Bytes({2, 2}, {1, 2, 3, 4});
  const Tensor b = Bytes({2, 2}, {129, 128, 128, 130});
  for (const bool transposed : {false, true}) {
    OpTester t("QuantizedMatMul");
    t.Attr("Toutput", DT_QINT32).Attr("transpose_b", transposed);
    t.Input(a).Input(b);
    Ends(&t, {0, 255, -128, 127});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)), (std::vector<int>{1, 4, 3, 8}));
    ExpectRange(&t, -2147483648.0f, 2147483647.0f);
  }
  OpTester bad("QuantizedMatMul");
  bad.Attr("Toutput", DT_QINT32).Input(a).Input(Bytes({3, 1}, {1, 2, 3}));
  Ends(&bad, {0, 1, 0, 1});
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "size-compatible");
  OpTester empty("QuantizedMatMul");
  empty.Attr("Toutput", DT_QINT32).Input(a).Input(b);
  Ends(&empty, {1, 1, 0, 1});
  ExpectError(empty.Run(), StatusCode::kInvalidArgument, "empty");
}

class QuantizedWindow : public OpTester {
 public:
  QuantizedWindow(const char* op, int64_t stride, const char* padding)
      : OpTester(op) {
    Attr("strides", std::vector<int64_t>{1, stride, stride, 1});
    Attr("padding", std::string(padding));
  }
};

TEST(QuantizedOpsTest, Conv2DPadsWithZero) {
  const Tensor x = Bytes({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor ones = Bytes({2, 2, 1, 1}, {1, 1, 1, 1});
  QuantizedWindow same("QuantizedConv2D", 1, "SAME");
  same.Attr("out_type", DT_QINT32).Input(x).Input(ones);
  Ends(&same, {0, 255, 0, 255});
  ASSERT_EQ(same.Run(), OkStatus());
  EXPECT_EQ(Values(same.Output(0)),
            (std::vector<int>{12, 16, 9, 24, 28, 15, 15, 17, 9}));
  QuantizedWindow bad("QuantizedConv2D", 1, "VALID");
  bad.Attr("out_type", DT_QINT32).Input(x).Input(Bytes({1, 1, 2, 1}, {1, 1}));
  Ends(&bad, {0, 255, 0, 255});
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "same depth");
}

TEST(QuantizedOpsTest, Pools) {
  const Tensor x = Bytes({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 10});
  for (const bool average : {false, true}) {
    QuantizedWindow t(average ? "QuantizedAvgPool" : "QuantizedMaxPool", 1,
                      "SAME");
    t.Attr("ksize", std::vector<int64_t>{1, 2, 2, 1}).Input(x);
    Ends(&t, {-1, 2});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)),
              average ? (std::vector<int>{3, 4, 4, 6, 7, 8, 7, 9, 10})
                      : (std::vector<int>{5, 6, 6, 8, 10, 10, 8, 10, 10}));
    ExpectRange(&t, -1, 2);
  }
  QuantizedWindow bad("QuantizedMaxPool", 0, "SAME");
  bad.Attr("ksize", std::vector<int64_t>{1, 2, 2, 1}).Input(x);
  Ends(&bad, {-1, 2});
  ExpectError(bad.Run(), StatusCode::kInvalidArgument, "strides");
}

TEST(QuantizedOpsTest, PoolsOfSignedNumbersRoundToTheNearest) {
  for (const bool average : {false, true}) {
    QuantizedWindow t(average ? "QuantizedAvgPool" : "QuantizedMaxPool", 1,
                      "SAME");
    t.Attr("ksize", std::vector<int64_t>{1, 2, 2, 1});
    t.Input(Numbers<int8_t>(DT_QINT8, {1, 2, 4, 1},
                            {-128, -7, 3, 127, 5, -6, -2, -1}));
    Ends(&t, {-1, 2});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)),
              average ? (std::vector<int>{-34, -3, 32, 63, 0, -4, -2, -1})
                      : (std::vector<int>{5, 3, 127, 127, 5, -2, -1, -1}));
    ExpectRange(&t, -1, 2);
  }
}

TEST(QuantizedOpsTest, ConcatOfSignedNumbersHasAnEvenRange) {
  const struct {
    std::vector<float> ends;
    std::vector<int> out;
    float high;
  } cases[] = {
      {{-1, -1, 1, 1}, {-128, -1, 0, 127, 100, -100}, 1},
      {{-1, -2, 1, 0.5f}, {-64, 0, 0, 64, 15, -110}, 2},
      {{0, 0, 1, 2}, {0, 32, 32, 64, 114, 14}, 2},
      {{0.2f, 0.3f, 1, 2}, {13, 38, 38, 64, 116, 31}, 2},
      {{-1, -1, 2, 2}, {-64, 32, 32, 127, 107, -43}, 2},
  };
  for (const auto& c : cases) {
    OpTester t("QuantizedConcatV2");
    t.Attr("N", int64_t{2});
    t.Input(Numbers<int8_t>(DT_QINT8, {4}, {-128, -1, 0, 127}));
    t.Input(Numbers<int8_t>(DT_QINT8, {2}, {100, -100}));
    t.Input(MakeScalar<int32_t>(0));
    Ends(&t, c.ends);
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)), c.out) << c.ends[1];
    ExpectRange(&t, -c.high, c.high);
  }
}

TEST(QuantizedOpsTest, ConcatAndReshape) {
  OpTester t("QuantizedConcat");
  t.Attr("N", int64_t{2}).Input(MakeScalar<int32_t>(0));
  t.Input(Bytes({3}, {145, 59, 47})).Input(Bytes({2}, {129, 150}));
  Ends(&t, {-1, -2, 1, 3});
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(Values(t.Output(0)), (std::vector<int>{109, 75, 70, 129, 150}));
  ExpectRange(&t, -2, 3);

  OpTester reshape("QuantizedReshape");
  reshape.Input(Bytes({2, 2}, {1, 2, 3, 4}));
  reshape.Input(MakeTensor<int32_t>({1}, {-1}));
  Ends(&reshape, {-1, 2});
  ASSERT_EQ(reshape.Run(), OkStatus());
  EXPECT_EQ(reshape.Output(0).shape(), TensorShape({4}));
  ExpectRange(&reshape, -1, 2);
}

TEST(QuantizedOpsTest, AddsAndMultiplies) {
  const Tensor a = Bytes({6}, {0, 1, 50, 128, 254, 255});
  const Tensor z = Bytes({6}, {255, 254, 128, 50, 1, 0});
  const Tensor both =
      Bytes({2, 6}, {0, 1, 50, 128, 254, 255, 255, 254, 128, 50, 1, 0});
  const struct {
    const char* op;
    Tensor x, y;
    std::vector<float> ends;
    std::vector<int> want;
    float high;
  } cases[] = {{"QuantizedAdd",
                a,
                z,
                {-1, 3, -2, 1},
                {-173, -2, -31201, -17863, 43261, 43432},
                49152},
               {"QuantizedAdd",
                a,
                Bytes({}, {7}),
                {-1, 3, -2, 1},
                {-127645, -126960, -93395, -39965, 46345, 47030},
                49152},
               {"QuantizedAdd",
                Bytes({1}, {7}),
                a,
                {-1, 3, -2, 1},
                {-126446, -125932, -100746, -60654, 4110, 4624},
                49152},
               {"QuantizedAdd",
                both,
                a,
                {0, 3, 0, 1},
                {0, 685, 34250, 87680, 173990, 174675, 131070, 130727, 74342,
                 47588, 43948, 43605},
                49152},
               {"QuantizedMul",
                a,
                z,
                {-1, 3, -2, 1},
                {-5440, -5292, 588, -7680, -32110, -32470},
                396306.125f},
               {"QuantizedMul",
                a,
                Bytes({}, {7}),
                {-1, 3, -2, 1},
                {10432, 10269, 2282, -10432, -30970, -31133},
                396306.125f},
               {"QuantizedMul",
                a,
                both,
                {0, 3, 0, 1},
                {0, 1, 2500, 16384, 64516, 65025, 0, 254, 6400, 6400, 254, 0},
                99076.53125f}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    OpTester t(c.op);
    t.Attr("Toutput", DT_QINT32).Input(c.x).Input(c.y);
    Ends(&t, c.ends);
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)), c.want);
    ExpectRange(&t, -c.high, c.high);
  }
  for (const char* op : {"QuantizedAdd", "QuantizedMul"}) {
    const auto run = [op](Tensor x, Tensor y, const std::vector<float>& ends) {
      OpTester t(op);
      t.Attr("Toutput", DT_QINT32).Input(std::move(x)).Input(std::move(y));
      Ends(&t, ends);
      return t.Run();
    };
    EXPECT_EQ(run(Bytes({0}, {}), Bytes({0}, {}), {0, 1, 0, 1}), OkStatus());
    EXPECT_EQ(run(a, z, {-3e38f, 3e38f, 1e30f, 1.0001e30f}), OkStatus());
    ExpectError(run(a, Bytes({2}, {1, 2}), {0, 1, 0, 1}),
                StatusCode::kInvalidArgument, "Incompatible shapes");
    ExpectError(run(a, z, {3, 3, 0, 1}), StatusCode::kInvalidArgument,
                "max_x must be larger than min_x");
    ExpectError(run(a, z, {0, 1, NAN, 1}), StatusCode::kInvalidArgument,
                "must be finite");
  }
}

}  // namespace
}  // namespace headrace
