// The numbers wanted are TensorFlow 2.21's.
#include "kernels/quantized/quantized_test_util.h"

namespace headrace {
namespace {

using absl::StatusCode;

// A matrix of 3 x 4 times one of 4 x 3.
struct FusedMatMul {
  bool whole_bias = false;
  const char* mode = "MIN_FIRST";
  DataType type = DT_QINT32;
  float low = -1;  // of a
  std::vector<float> out = {};
  std::vector<float> b_range = {-0.5f, 0.25f};
  std::vector<float> bias = {1.5f, -2, 0.25f};
  bool turned = false;

  void Give(OpTester* t) const {
    const std::vector<int> a = {0,   255, 17,  90, 200, 3,
                                128, 64,  250, 1,  33,  77};
    const std::vector<int> b = {1,  -2, 127,  -128, 5, 60,
                                -7, 90, -100, 33,   0, 4};
    std::vector<int> a_turned, b_turned;
    for (int i = 0; i < 12; ++i) {
      a_turned.push_back(a[i % 3 * 4 + i / 3]);
      b_turned.push_back(b[i % 4 * 3 + i / 4]);
    }
    t->Attr("input_quant_mode", std::string(mode)).Attr("Toutput", type);
    t->Attr("transpose_a", turned).Attr("transpose_b", turned);
    t->Input(turned ? Bytes({4, 3}, a_turned) : Bytes({3, 4}, a));
    t->Input(turned ? Numbers<int8_t>(DT_QINT8, {3, 4}, b_turned)
                    : Numbers<int8_t>(DT_QINT8, {4, 3}, b));
    if (whole_bias) {
      t->Input(Sums({1000, -2000, 30}));
    } else {
      t->Input(MakeTensor<float>({static_cast<int64_t>(bias.size())}, bias));
    }
    Ends(t, {low, 4});
    Ends(t, b_range);
    Ends(t, out);
  }
};

TEST(QuantizedFusedMatMulTest, WhatIsFusedIsDoneToTheSums) {
  const std::vector<int> summed = {-28789, 805,  13990, 2032, 9135,
                                   13066,  3432, 475,   28848};
  const struct {
    const char* op;
    FusedMatMul matmul;
    std::vector<int> out;
  } cases[] = {
      {"QuantizedMatMulWithBias", {.whole_bias = true}, summed},
      {"QuantizedMatMulWithBias", {.whole_bias = true, .turned = true}, summed},
      {"QuantizedMatMulWithBias",
       {.whole_bias = true, .mode = "SCALED"},
       summed},
      {"QuantizedMatMulWithBiasAndRelu",
       {.low = 0},
       {0, 0, 18008, 25321, 0, 17084, 26721, 0, 32866}},
      {"QuantizedMatMulWithBiasAndReluAndRequantize",
       {.type = DT_QUINT8, .low = 0, .out = {-6, 10}},
       {0, 0, 28, 40, 0, 27, 42, 0, 52}},
      {"QuantizedMatMulWithBiasAndReluAndRequantize",
       {.type = DT_QUINT8, .low = 0, .out = {-6, 10}, .turned = true},
       {0, 0, 28, 40, 0, 27, 42, 0, 52}},
      {"QuantizedMatMulWithBiasAndRequantize",
       {.whole_bias = true, .type = DT_QUINT8, .low = 0, .out = {-6, 10}},
       {0, 1, 22, 3, 14, 21, 5, 1, 45}},
  };
  for (const auto& c : cases) {
    OpTester t(c.op);
    c.matmul.Give(&t);
    ASSERT_EQ(t.Run(), OkStatus()) << c.op;
    EXPECT_EQ(Values(t.Output(0)), c.out) << c.op;
    const float end = c.matmul.low == 0 ? 99466.59f : 124333.24f;
    c.matmul.out.empty() ? ExpectRange(&t, -end, end) : ExpectRange(&t, -6, 10);
  }
}

TEST(QuantizedFusedMatMulTest, MinFirstBiasIsTensorFlows) {
  // TensorFlow adds up in floats.
  OpTester sums("QuantizedMatMulWithBias");
  FusedMatMul({.mode = "SCALED"}).Give(&sums);
  ASSERT_EQ(sums.Run(), OkStatus());
  const std::vector<int> want = {66715688, -61463924, -60102312,
                                 66746512, -61455592, -60103236,
                                 66747908, -61464252, -60087452};
  const std::vector<int> got = Values(sums.Output(0));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 16);

  const struct {
    bool whole_bias;
    const char* mode;
    std::vector<float> out;
  } cases[] = {
      {false,
       "SCALED",
       {-0.33967900f, -1.82677162f, 1.11212754f, 1.56373322f, -1.31233597f,
        1.05506420f, 1.65019298f, -1.84715152f, 2.02971292f}},
      {true,
       "SCALED",
       {-1.77792203f, 0.04971437f, 0.86398029f, 0.12549020f, 0.56415010f,
        0.80691683f, 0.21195000f, 0.02933456f, 1.78156567f}},
      {false,
       "MIN_FIRST",
       {5150.20020f, -4744.78369f, -4639.67236f, 5152.57959f, -4744.14063f,
        -4639.74365f, 5152.68750f, -4744.80908f, -4638.52539f}},
      {true,
       "MIN_FIRST",
       {-2.22240257f, 0.06214298f, 1.07997537f, 0.15686275f, 0.70518762f,
        1.00864601f, 0.26493749f, 0.03666823f, 2.22695708f}},
  };
  for (const auto& c : cases) {
    OpTester t("QuantizedMatMulWithBiasAndDequantize");
    FusedMatMul({.whole_bias = c.whole_bias,
                 .mode = c.mode,
                 .type = DT_FLOAT,
                 .out = {-6, 10}})
        .Give(&t);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({3, 3}, c.out));
  }
}

TEST(QuantizedFusedMatMulTest, Refuses) {
  const struct {
    const char* op;
    FusedMatMul matmul;
    const char* message;
  } cases[] = {
      {"QuantizedMatMulWithBias", {.low = NAN}, "finite"},
      {"QuantizedMatMulWithBias", {.low = 4}, "must not be empty"},
      {"QuantizedMatMulWithBias", {.b_range = {1, 0}}, "must not be empty"},
      {"QuantizedMatMulWithBias", {.bias = {1, 2}}, "bias must be a vector"},
      {"QuantizedMatMulWithBiasAndRequantize",
       {.type = DT_QUINT8, .out = {0, 0}},
       "the range of the output"},
      {"QuantizedMatMulWithBiasAndRequantize",
       {.type = DT_QUINT8, .out = {1, 0}},
       "must not end below"},
  };
  for (const auto& c : cases) {
    OpTester t(c.op);
    c.matmul.Give(&t);
    ExpectError(t.Run(), StatusCode::kInvalidArgument, c.message);
  }
}

}  // namespace
}  // namespace headrace
