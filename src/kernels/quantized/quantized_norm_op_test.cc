// QuantizedResizeBilinear, the two quantised norms, the requantising ops with a
// range for each channel; the numbers wanted are TensorFlow's.
#include "kernels/quantized/quantized_test_util.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Pixels(const TensorShape& shape) {
  std::vector<int> values = {3, 250, 17, 99, 0, 255, 128, 64};
  values.resize(shape.num_elements());
  return Bytes(shape, values);
}
Tensor SumsOf(const TensorShape& shape, const std::vector<int>& values) {
  return Numbers<int32_t>(DT_QINT32, shape, values);
}

TEST(QuantizedResizeTest, MixesInFixedPoint) {
  const Tensor bytes = Pixels({1, 2, 2, 2});
  const Tensor sums = SumsOf({1, 2, 2, 2}, {3, -2147483647, 1717171717, -99, 0,
                                            2147000000, 128, -64000000});
  const struct {
    bool align, half_pixel;
    int rows, columns;
    std::vector<int> bytes, sums;
  } cases[] = {
      {false,
       false,
       3,
       3,
       {3, 250, 12, 150, 17, 99, 1, 253, 60, 136, 91, 76, 0, 255, 85, 128, 128,
        64},
       {3, -2147483647, 1144781176, -715827905, 1717171712, -98, 1, 715505579,
        381593760, 210057377, 572390622, -42666700, 0, 2147000064, 85,
        672999977, 128, -63999999}},
      {true,
       false,
       3,
       3,
       {3, 250, 10, 175, 17, 99, 2, 253, 37, 167, 73, 82, 0, 255, 64, 160, 128,
        64},
       {3, -2147483647, 858585858, -1073741873, 1717171712, -98, 2, -241791,
        429292961, -16120920, 858585920, -32000049, 0, 2147000064, 64,
        1041500032, 128, -63999999}},
      {false,
       true,
       3,
       5,
       {3,   250, 4,  236, 10, 175, 16,  114, 17,  99, 2,   253, 8,  236, 37,
        167, 65,  99, 73,  82, 0,   255, 12,  237, 64, 160, 115, 83, 128, 64},
       {3,           -2147483647, 171717215,  -1932735241, 858585858,
        -1073741873, 1545454500,  -214748504, 1717171712,  -98,
        2,           -241791,     85858614,   -3417618,    429292961,
        -16120920,   772727308,   -28824222,  858585920,   -32000049,
        0,           2147000064,  13,         1925900005,  64,
        1041500032,  115,         157100059,  128,         -63999999}},
      {false, false, 1, 1, {3, 250}, {3, -2147483647}},
      // Nothing is rounded where nothing is mixed.
      {false,
       false,
       2,
       2,
       {3, 250, 17, 99, 0, 255, 128, 64},
       {3, -2147483647, 1717171717, -99, 0, 2147000000, 128, -64000000}},
  };
  for (const auto& c : cases) {
    for (const bool wide : {false, true}) {
      OpTester t("QuantizedResizeBilinear");
      t.Attr("align_corners", c.align).Attr("half_pixel_centers", c.half_pixel);
      t.Input(wide ? sums : bytes);
      t.Input(MakeTensor<int32_t>({2}, {c.rows, c.columns}));
      Ends(&t, {-1, 2});
      ASSERT_EQ(t.Run(), OkStatus());
      EXPECT_EQ(Values(t.Output(0)), wide ? c.sums : c.bytes);
      ExpectRange(&t, -1, 2);
    }
  }
  OpTester t("QuantizedResizeBilinear");
  t.Input(MakeTensor<float>({1, 2, 2, 1}, {1, -2, 3.5f, 8}));
  t.Input(MakeTensor<int32_t>({2}, {2, 3}));
  Ends(&t, {-1, 2});
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<float>({1, 2, 3, 1}, {1, -1, -2, 3.5f, 6.5f, 8}));
}

// Rounded to float the highest number is 2^31.
TEST(QuantizedResizeTest, TheHighestNumberStays) {
  OpTester t("QuantizedResizeBilinear");
  t.Input(SumsOf({1, 1, 2, 1}, {INT32_MAX, INT32_MAX}));
  t.Input(MakeTensor<int32_t>({2}, {1, 3}));
  Ends(&t, {-1, 2});
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(Values(t.Output(0)), std::vector<int>(3, INT32_MAX));
}

TEST(QuantizedResizeTest, Refuses) {
  const auto run = [](Tensor images, Tensor size, Tensor low) {
    OpTester t("QuantizedResizeBilinear");
    t.Input(std::move(images)).Input(std::move(size)).Input(std::move(low));
    t.Input(MakeScalar(1.0f));
    return t.Run();
  };
  const Tensor two = MakeTensor<int32_t>({2}, {3, 3});
  const Tensor low = MakeScalar(0.0f);
  ExpectError(run(Pixels({1, 2, 2}), two, low), kInvalid, "4-dimensional");
  ExpectError(run(Pixels({1, 2, 2, 1}), MakeTensor<int32_t>({2}, {0, 3}), low),
              kInvalid, "positive");
  ExpectError(run(Pixels({1, 2, 2, 1}), MakeTensor<int32_t>({1}, {3}), low),
              kInvalid, "vector of 2 numbers");
  ExpectError(run(Pixels({1, 2, 2, 1}), two, MakeTensor<float>({1}, {0})),
              kInvalid, "min must be a scalar");
  ExpectError(run(Pixels({1, 0, 2, 1}), two, low), kInvalid, "non-zero size");
  EXPECT_EQ(run(Pixels({0, 2, 2, 1}), two, low), OkStatus());
}

class BatchNorm : public OpTester {
 public:
  explicit BatchNorm(bool scale)
      : OpTester("QuantizedBatchNormWithGlobalNormalization") {
    Attr("out_type", DT_QINT32).Attr("variance_epsilon", 0.001f);
    Attr("scale_after_normalization", scale);
  }
  BatchNorm& With(Tensor t, float low, float high) {
    Input(std::move(t));
    Ends(this, {low, high});
    return *this;
  }
};

TEST(QuantizedNormTest, BatchNorm) {
  for (const bool scale : {false, true}) {
    BatchNorm t(scale);
    t.With(Pixels({1, 2, 2, 2}), -2, 3).With(Bytes({2}, {10, 200}), -1, 1);
    t.With(Bytes({2}, {40, 250}), 0.1f, 2).With(Bytes({2}, {7, 77}), -1, 4);
    t.With(Bytes({2}, {255, 20}), -2, 2);
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)),
              scale ? (std::vector<int>{-8457, -4674, -6660, 2593, -8840, -4915,
                                        7561, 4279})
                    : (std::vector<int>{-5099, 4452, -4204, 122, -5290, 4596,
                                        2879, -883}));
    ExpectRange(&t, -1048576, 1048576);
  }
}

TEST(QuantizedNormTest, BatchNormOfStrangeNumbers) {
  const auto run = [](Tensor x, Tensor mean, float v_low, float v_high) {
    BatchNorm t(true);
    const Tensor one = Bytes({1}, {0});
    t.With(std::move(x), -1e30f, 1e30f).With(std::move(mean), -1, 1);
    t.With(one, v_low, v_high).With(one, 0, 1).With(one, -3e38f, 3e38f);
    return t.Run();
  };
  const Tensor one = Bytes({1}, {0});
  EXPECT_EQ(run(Pixels({1, 1, 2, 1}), one, -4, -4), OkStatus());  // a root < 0
  EXPECT_EQ(run(Pixels({0, 1, 2, 1}), one, 0, 1), OkStatus());
  ExpectError(run(Pixels({1, 2, 1}), one, 0, 1), kInvalid, "4-dimensional");
  ExpectError(run(Pixels({1, 1, 1, 1}), Bytes({2}, {1, 2}), 0, 1), kInvalid,
              "m must be a vector of the depth");
  ExpectError(run(Pixels({1, 1, 1, 1}), Bytes({}, {1}), 0, 1), kInvalid,
              "m must be a vector");
  ExpectError(run(Pixels({1, 1, 1, 1}), one, NAN, 1), kInvalid, "finite");
}

TEST(QuantizedNormTest, InstanceNorm) {
  for (const bool given : {false, true}) {
    OpTester t("QuantizedInstanceNorm");
    t.Attr("output_range_given", given);
    t.Attr("given_y_min", -2.0f).Attr("given_y_max", 3.0f);
    t.Input(Bytes({1, 2, 3, 2},
                  {3, 250, 17, 99, 0, 255, 128, 64, 9, 33, 200, 210}));
    Ends(&t, {-3, 5});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)),
              given ? (std::vector<int>{65, 158, 74, 72, 63, 161, 147, 52, 69,
                                        34, 195, 135})
                    : (std::vector<int>{48, 196, 62, 59, 44, 200, 179, 28, 54,
                                        0, 255, 159}));
    ExpectRange(&t, given ? -2 : -1.32458937f, given ? 3 : 1.82602167f);
  }
  for (const float separation : {0.0f, 0.5f}) {
    OpTester t("QuantizedInstanceNorm");
    t.Attr("min_separation", separation).Input(Bytes({1, 1, 2, 1}, {7, 7}));
    Ends(&t, {-1, 1});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)), (std::vector<int>{0, 0}));
    ExpectRange(&t, 0, separation);
  }
}

TEST(QuantizedNormTest, InstanceNormRefuses) {
  const auto run = [](Tensor x, float low, float high, bool given) {
    OpTester t("QuantizedInstanceNorm");
    t.Attr("output_range_given", given).Input(std::move(x));
    Ends(&t, {low, high});
    return t.Run();
  };
  ExpectError(run(Pixels({2, 2, 2}), 0, 1, false), kInvalid, "4-dimensional");
  ExpectError(run(Pixels({1, 2, 2, 1}), 2, 1, false), kInvalid,
              "x_min must be less than x_max");
  ExpectError(run(Pixels({1, 2, 2, 1}), NAN, 1, false), kInvalid, "finite");
  ExpectError(run(Pixels({1, 2, 2, 1}), 0, 1, true), kInvalid, "given_y_min");
  EXPECT_EQ(run(Pixels({0, 2, 2, 1}), 0, 1, false), OkStatus());
  EXPECT_EQ(run(Pixels({1, 2, 2, 0}), 0, 1, false), OkStatus());
}

Tensor ChannelSums() {
  return SumsOf({1, 2, 2, 2}, {0, 1 << 30, -(1 << 30), 1 << 20, -(1 << 20),
                               500000000, -500000000, INT32_MAX});
}
Tensor Lows() { return MakeTensor<float>({2}, {-1, -4}); }
Tensor Highs() { return MakeTensor<float>({2}, {2, 0.5f}); }

TEST(RequantizePerChannelTest, EveryChannelHasItsRange) {
  for (const DataType type : {DT_QINT8, DT_QUINT8}) {
    OpTester t("RequantizePerChannel");
    t.Attr("out_type", type).Input(ChannelSums()).Input(Lows()).Input(Highs());
    Ends(&t, {-0.7f, 0.9f});
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Values(t.Output(0)),
              type == DT_QINT8
                  ? (std::vector<int>{0, 127, -128, 0, 0, 127, -66, 127})
                  : (std::vector<int>{0, 255, 0, 1, 0, 255, 0, 255}));
    ExpectRange(&t, -0.7f, 0.9f);
  }
  OpTester one("RequantizePerChannel");
  one.Attr("out_type", DT_QINT8).Input(ChannelSums());
  Ends(&one, {-1, 2, -2, 2});
  ASSERT_EQ(one.Run(), OkStatus());
  EXPECT_EQ(Values(one.Output(0)),
            (std::vector<int>{0, 64, -64, 0, 0, 30, -30, 127}));
}

TEST(RequantizePerChannelTest, Refuses) {
  const auto run = [](Tensor sums, Tensor low, const std::vector<float>& ends) {
    OpTester t("RequantizePerChannel");
    t.Attr("out_type", DT_QINT8).Input(std::move(sums)).Input(std::move(low));
    t.Input(Highs());
    Ends(&t, ends);
    return t.Run();
  };
  ExpectError(run(SumsOf({2, 2}, {1, 2, 3, 4}), Lows(), {-1, 1}), kInvalid,
              "4-dimensional");
  ExpectError(run(ChannelSums(), MakeTensor<float>({3}, {1, 2, 3}), {-1, 1}),
              kInvalid, "input_min has incorrect size, expected 2");
  ExpectError(run(ChannelSums(), MakeScalar(-1.0f), {-1, 1}), kInvalid,
              "input_max has incorrect size");
  ExpectError(run(ChannelSums(), MakeTensor<float>({2}, {1, NAN}), {-1, 1}),
              kInvalid, "channel 1 must be finite");
  ExpectError(run(ChannelSums(), Lows(), {0, 1}), kInvalid,
              "requested_output_min must be negative");
  ExpectError(run(ChannelSums(), Lows(), {0, 0}), kInvalid, "both be 0");
  EXPECT_EQ(run(ChannelSums(), MakeTensor<float>({2}, {-3e38f, -3e38f}),
                {-1e-40f, 0}),
            OkStatus());
  EXPECT_EQ(run(SumsOf({0, 1, 1, 2}, {}), Lows(), {-1, 1}), OkStatus());
}

TEST(RequantizePerChannelTest, RangeIsThatOfTheWidestChannel) {
  const struct {
    std::vector<int> sums;
    float clip, low, high;
  } cases[] = {
      {{0, 1 << 20, -(1 << 30), 5}, 6, -1, 1},
      {{0, 1 << 20, -(1 << 30), 5}, 0.5f, -0.5f, 0.5f},
      {{0, 1 << 20, 1 << 29, 5}, 6, 0, 0.5f},
      {{0, INT32_MIN, 1, 5}, 6, -4, 4},
  };
  for (const auto& c : cases) {
    OpTester t("RequantizationRangePerChannel");
    t.Attr("clip_value_max", c.clip).Input(SumsOf({1, 1, 2, 2}, c.sums));
    t.Input(Lows()).Input(Highs());
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_FLOAT_EQ(t.Output(0).scalar<float>(), c.low);
    EXPECT_FLOAT_EQ(t.Output(1).scalar<float>(), c.high);
  }
  OpTester empty("RequantizationRangePerChannel");
  empty.Attr("clip_value_max", 6.0f).Input(SumsOf({0, 1, 1, 2}, {}));
  empty.Input(Lows()).Input(Highs());
  ExpectError(empty.Run(), kInvalid, "must not be empty");
}

}  // namespace
}  // namespace headrace
