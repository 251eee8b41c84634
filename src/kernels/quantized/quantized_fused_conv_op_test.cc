// The numbers wanted are TensorFlow 2.21's.
#include "kernels/quantized/quantized_test_util.h"

namespace headrace {
namespace {

using absl::StatusCode;

const std::vector<int> kImage = {0,   255, 17,  90, 200, 3,
                                 128, 64,  250, 1,  33,  77};
const std::vector<int> kFilter = {1,  -2, 127,  -128, 5, 60,
                                  -7, 90, -100, 33,   0, 4};
const std::vector<float> kBias = {1.5f, -2, 0.25f};
const std::vector<int> kWholeBias = {1000, -2000, 30};
const std::vector<float> kOut = {-6, 10};

Tensor Floats(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}

// An image of 2 x 3 x 2 and a filter of 1 x 2 x 2 x 3.
struct FusedConv {
  DataType type = DT_QUINT8;
  std::vector<float> bias = {};
  std::vector<int> whole_bias = {};
  std::vector<float> range = {-1, 4};
  std::vector<float> low = {-0.5f}, high = {0.25f};  // of the filter
  std::vector<float> out = {};                       // its range
  DataType out_type = DT_QINT32;
  std::vector<Tensor> more = {};
  std::vector<int64_t> strides = {1, 1, 1, 1}, padding_list = {};

  void Give(OpTester* t) const {
    t->Attr("strides", strides).Attr("padding", std::string("SAME"));
    t->Attr("out_type", out_type);
    if (!padding_list.empty()) t->Attr("padding_list", padding_list);
    Tensor filter = Numbers<int8_t>(DT_QINT8, {1, 2, 2, 3}, kFilter);
    t->Input(Numbers<uint8_t>(type, {1, 2, 3, 2}, kImage)).Input(filter);
    if (!bias.empty()) t->Input(Floats(bias));
    if (!whole_bias.empty()) t->Input(Sums(whole_bias));
    Ends(t, range);
    t->Input(low.size() == 1 ? MakeScalar(low[0]) : Floats(low));
    t->Input(high.size() == 1 ? MakeScalar(high[0]) : Floats(high));
    Ends(t, out);
    for (const Tensor& m : more) t->Input(m);
  }
};

FusedConv Channels(FusedConv c) {
  c.low = {-0.5f, 0, -0.125f};
  c.high = {0.25f, 1, 0.0625f};
  return c;
}

Tensor Summand(DataType type) {
  Tensor t(type, {1, 2, 3, 3});
  for (int i = 0; i < 18; ++i) {
    if (type == DT_FLOAT) {
      t.data<float>()[i] = -3 + 8.0f / 17 * static_cast<float>(i);
    } else {
      static_cast<uint8_t*>(t.raw_data())[i] = static_cast<uint8_t>(14 * i);
    }
  }
  return t;
}

TEST(QuantizedFusedConvTest, WhatIsFusedIsDoneToTheSums) {
  const struct {
    const char* op;
    FusedConv conv;
    std::vector<int> out;
  } cases[] = {
      {"QuantizedConv2D",
       {},
       {-29789, 2805, 13960, -12804, 18416, -12429, -184, -385, 25580, -9781,
        22564, -4900, 2432, 2475, 28818, -9823, 319, 8811}},
      {"QuantizedConv2DPerChannel",
       Channels({}),
       {-14894, 2805, 1745, -6402, 18416, -1554, -92, -385, 3197, -4890, 22564,
        -612, 1216, 2475, 3602, -4912, 319, 1101}},
      {"QuantizedConv2DAndRelu",
       {},
       {0, 2805, 13960, 0, 18416, 0, 0, 0, 25580, 0, 22564, 0, 2432, 2475,
        28818, 0, 319, 8811}},
      {"QuantizedConv2DAndReluAndRequantize",
       Channels({.out = kOut, .out_type = DT_QUINT8}),
       {0, 9, 5, 0, 58, 0, 0, 0, 10, 0, 71, 0, 4, 8, 11, 0, 1, 3}},
      {"QuantizedConv2DAndRequantize",
       {.out = kOut, .out_type = DT_QINT8},
       {-23, 2, 11, -10, 14, -10, 0, 0, 20, -8, 18, -4, 2, 2, 23, -8, 0, 7}},
      {"QuantizedConv2DWithBias",
       {.bias = kBias},
       {-5500, -29580, 18008, 11485, -13969, -8381, 24105, -32770, 29628, 14508,
        -9821, -852, 26721, -29910, 32866, 14466, -32066, 12859}},
      {"QuantizedConv2DWithBias",
       {.type = DT_QINT8, .bias = kBias},
       {15076, -14604, 616, 1085, -20753, 15187, 11657, -16002, -4916, 3852,
        -16093, -9796, 14273, -13142, -1678, 2274, -15810, 10827}},
      {"QuantizedConv2DWithBias",
       {.bias = kBias,
        .strides = {1, 2, 1, 1},
        .padding_list = {0, 0, 1, 2, 0, 1, 0, 0}},
       {24289, -32385, 4048, 24289, -32385, 4048,  24289, -32385, 4048,
        14508, -9821,  -852, 26721, -29910, 32866, 14466, -32066, 12859,
        24289, -32385, 4048, 24289, -32385, 4048,  24289, -32385, 4048}},
      {"QuantizedConv2DWithBiasAndRelu",
       {.bias = kBias},
       {0, 0, 18008, 11485, 0, 0, 24105, 0, 29628, 14508, 0, 0, 26721, 0, 32866,
        14466, 0, 12859}},
      {"QuantizedConv2DWithBiasAndReluAndRequantize",
       Channels({.bias = kBias, .out = kOut, .out_type = DT_QUINT8}),
       {0, 0, 12, 18, 7, 1, 38, 0, 16, 23, 20, 4, 42, 0, 18, 23, 0, 10}},
      {"QuantizedConv2DWithBiasAndRequantize",
       {.whole_bias = kWholeBias, .out = kOut, .out_type = DT_QINT8},
       {-23, 1, 11, -9, 13, -10, 1, -2, 20, -7, 16, -4, 3, 0, 23, -7, -1, 7}},
      {"QuantizedConv2DWithBiasSumAndRelu",
       {.bias = kBias, .more = {Summand(DT_FLOAT)}},
       {0, 0, 0, 0, 0, 0, 21247, 0, 42011, 34510, 17802, 34391, 69583, 20572,
        90969, 80188, 41276, 93822}},
      {"QuantizedConv2DWithBiasSumAndReluAndRequantize",
       {.whole_bias = kWholeBias,
        .out = kOut,
        .out_type = DT_QUINT8,
        .more = {Summand(DT_QUINT8), MakeScalar(0.0f), MakeScalar(3.0f)}},
       {0, 5, 30, 0, 43, 1, 26, 26, 74, 24, 74, 39, 56, 55, 104, 49, 65, 85}},
      {"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
       {.bias = kBias,
        .out = kOut,
        .out_type = DT_QUINT8,
        .more = {Summand(DT_QINT8), MakeScalar(-3.0f), MakeScalar(2.0f)}},
       {0, 0, 45, 43, 12, 29, 89, 7, 114, 99, 0, 0, 0, 0, 16, 0, 0, 9}},
      {"QuantizedDepthwiseConv2D",
       {},
       {-119,   1530,  -1700, -29670, 1275, 15660, -1383, 17966, -17841,
        -11421, 450,   5412,  200,    -400, 25400, -384,  15,    180,
        -1622,  22244, -8744, -8159,  320,  3844,  19,    2470,  28450,
        2413,   5,     368,   33,     -66,  4191,  -9856, 385,   4620}},
      {"QuantizedDepthwiseConv2DWithBiasAndRelu",
       {.bias = {1.5f, -2, 0.25f, 3, -4, 0.5f}},
       {24170, 0, 2348,  18907, 0, 23756, 22906, 0, 0,    37156, 0, 13508,
        24489, 0, 29448, 48193, 0, 8276,  22667, 0, 0,    40418, 0, 11940,
        24308, 0, 32498, 50990, 0, 8464,  24322, 0, 8239, 38721, 0, 12716}},
      {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
       {.whole_bias = {1000, -2000, 30, -1000, 2000, -30},
        .out = kOut,
        .out_type = DT_QUINT8},
       {1, 0,  0, 0, 5, 25, 0, 25, 0,  0, 4, 8, 2, 0, 40, 0, 3, 0,
        0, 32, 0, 0, 4, 6,  2, 1,  45, 2, 3, 1, 2, 0, 7,  0, 4, 7}},
  };
  for (const auto& c : cases) {
    OpTester t(c.op);
    c.conv.Give(&t);
    ASSERT_EQ(t.Run(), OkStatus()) << c.op;
    const std::vector<int> got = Values(t.Output(0));
    ASSERT_EQ(got.size(), c.out.size()) << c.op;
    // TensorFlow scales sums in floats.
    const int far = c.conv.out_type == DT_QINT32 ? 1 : 0;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], c.out[i], far) << c.op << " at " << i;
    }
    if (!c.conv.out.empty()) {
      ExpectRange(&t, -6, 10);
    } else if (c.conv.low.size() > 1) {
      ExpectClose(t.Output(2), Floats({124333.24f, 165777.66f, 31083.31f}));
    } else if (c.conv.type == DT_QINT8) {
      ExpectRange(&t, -124822.734f, 124822.734f);
    } else {
      ExpectRange(&t, -124333.24f, 124333.24f);
    }
  }
}

TEST(QuantizedFusedConvTest, OddNumbersHaveResults) {
  // Sums of nothing but zeros still get their bias.
  OpTester zero("QuantizedConv2DWithBiasAndReluAndRequantize");
  FusedConv({.bias = {1.5f, NAN, INFINITY},
             .range = {0, 0},
             .out = kOut,
             .out_type = DT_QUINT8})
      .Give(&zero);
  ASSERT_EQ(zero.Run(), OkStatus());
  const std::vector<int> got = Values(zero.Output(0));
  EXPECT_EQ((std::vector<int>{got[0], got[1], got[2]}),
            (std::vector<int>{38, 0, 255}));

  OpTester none("QuantizedConv2DPerChannel");
  FusedConv({.low = {0, 0, 0}, .high = {0, 0, 0}}).Give(&none);
  ASSERT_EQ(none.Run(), OkStatus());
  EXPECT_EQ(Values(none.Output(0))[0], -29789);
}

TEST(QuantizedFusedConvTest, Refuses) {
  const char* const kPlain = "QuantizedConv2DWithBias";
  const char* const kGiven = "QuantizedConv2DWithBiasAndRequantize";
  const struct {
    const char* op;
    FusedConv conv;
    const char* message;
    StatusCode code = StatusCode::kInvalidArgument;
  } cases[] = {
      {kPlain, {.bias = {1, 2}}, "bias must be a vector of 3"},
      {kPlain, {.bias = kBias, .range = {NAN, 1}}, "finite"},
      {kPlain, {.bias = kBias, .range = {0, INFINITY}}, "finite"},
      {kPlain, {.bias = kBias, .range = {1, 0}}, "must not end below"},
      {kPlain, {.bias = kBias, .range = {0, 0}}, "0 alone"},
      {kPlain, {.bias = kBias, .low = {0, 0}, .high = {1, 1}}, "min_filter"},
      {kPlain, {.bias = kBias, .low = {0, 0, 0}}, "min_filter"},
      {kPlain, {.bias = kBias, .low = {2}}, "in order"},
      {kPlain, {.bias = kBias, .low = {NAN}}, "finite"},
      {kPlain, {.bias = kBias, .strides = {1, 0, 1, 1}}, "larger than 0"},
      {kPlain,
       {.bias = kBias, .strides = {2, 1, 1, 1}},
       "batch and depth",
       StatusCode::kUnimplemented},
      {kPlain, {.bias = kBias, .padding_list = {0, 0, 1}}, "8 entries"},
      {kPlain,
       {.bias = kBias, .padding_list = {0, 0, -1, 0, 0, 0, 0, 0}},
       "nonnegative"},
      {kPlain,
       {.bias = kBias, .padding_list = {1, 0, 0, 0, 0, 0, 0, 0}},
       "batch and depth"},
      {"QuantizedConv2D",
       {.low = {0, 0, 0}, .high = {1, 1, 1}},
       "must be scalars"},
      {kGiven, {.bias = kBias, .out = {0, 0}, .out_type = DT_QINT8}, "output"},
      {kGiven,
       {.bias = kBias, .out = {1, NAN}, .out_type = DT_QINT8},
       "finite"},
      {"QuantizedConv2DWithBiasSumAndRelu",
       {.bias = kBias, .more = {Tensor(DT_FLOAT, {1, 2, 3, 1})}},
       "summand must have the output's shape"},
      {"QuantizedConv2DWithBiasSumAndReluAndRequantize",
       {.bias = kBias,
        .out = kOut,
        .out_type = DT_QUINT8,
        .more = {Summand(DT_QUINT8), MakeScalar(3.0f), MakeScalar(0.0f)}},
       "must not end below"},
      {"QuantizedDepthwiseConv2D",
       {.low = {0, 0, 0}, .high = {1, 1, 1}},
       "vectors of 6"},
  };
  for (const auto& c : cases) {
    OpTester t(c.op);
    c.conv.Give(&t);
    ExpectError(t.Run(), c.code, c.message);
  }
}

}  // namespace
}  // namespace headrace
