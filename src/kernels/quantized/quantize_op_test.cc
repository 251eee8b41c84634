#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

using absl::StatusCode;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const std::vector<float> kInput = {-1.5f, -1.0f, -0.5f, -0.3f, 0.0f,
                                   0.1f,  0.25f, 0.9f,  1.0f,  2.5f};

Tensor Floats(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}

template <typename T>
std::vector<int> Integers(const Tensor& t) {
  const T* const p = static_cast<const T*>(t.raw_data());
  return {p, p + t.NumElements()};
}
std::vector<int> Integers(const Tensor& t) {
  switch (t.dtype()) {
    case DT_QINT8:
      return Integers<int8_t>(t);
    case DT_QUINT8:
      return Integers<uint8_t>(t);
    case DT_QINT16:
      return Integers<int16_t>(t);
    case DT_QUINT16:
      return Integers<uint16_t>(t);
    default:
      return Integers<int32_t>(t);
  }
}

struct QuantizeCase {
  DataType type;
  const char* mode;
  const char* round;
  bool narrow;
  float low, high;
  std::vector<int> out;
  float out_low, out_high;
};

// TensorFlow's values.
const QuantizeCase kQuantizeCases[] = {
    {DT_QUINT8,
     "MIN_COMBINED",
     "",
     false,
     -1,
     1,
     {0, 0, 64, 89, 128, 140, 159, 242, 255, 255},
     -1,
     1},
    {DT_QUINT8,
     "MIN_FIRST",
     "",
     false,
     -1,
     1,
     {0, 0, 64, 90, 128, 141, 160, 243, 255, 255},
     -1,
     1},
    {DT_QUINT8,
     "SCALED",
     "",
     true,
     -1,
     1,
     {1, 1, 1, 1, 1, 26, 64, 230, 255, 255},
     1 / 255.0f,
     1},
    {DT_QINT8,
     "MIN_COMBINED",
     "",
     false,
     -1,
     1,
     {-128, -128, -64, -39, -1, 12, 31, 114, 127, 127},
     -1,
     1},
    {DT_QINT8,
     "MIN_FIRST",
     "",
     false,
     -1,
     1,
     {-128, -128, -64, -38, 0, 13, 32, 115, 127, 127},
     -1,
     1},
    {DT_QINT8,
     "SCALED",
     "",
     false,
     -0.5f,
     1,
     {-128, -127, -64, -38, 0, 13, 32, 114, 127, 127},
     -128 / 127.0f,
     1},
    {DT_QINT8,
     "SCALED",
     "HALF_TO_EVEN",
     true,
     -1,
     1,
     {-127, -127, -64, -38, 0, 13, 32, 114, 127, 127},
     -1,
     1},
    {DT_QINT16,
     "MIN_FIRST",
     "",
     false,
     -1,
     1,
     {-32768, -32768, -16384, -9830, 0, 3277, 8192, 29491, 32767, 32767},
     -1,
     1},
    {DT_QUINT16,
     "MIN_COMBINED",
     "",
     false,
     -1,
     1,
     {0, 0, 16384, 22937, 32768, 36044, 40959, 62258, 65535, 65535},
     -1,
     1},
    // What would not fit is the largest.
    {DT_QINT32,
     "SCALED",
     "",
     false,
     -1,
     1,
     {INT32_MIN, INT32_MIN, -1073741824, -644245120, 0, 214748368, 536870912,
      1932735232, INT32_MAX, INT32_MAX},
     -1,
     1},
    // Ranges that 0 is not in, and the empty one.
    {DT_QUINT8,
     "MIN_COMBINED",
     "",
     false,
     0.5f,
     1,
     {0, 0, 0, 0, 0, 26, 64, 230, 255, 255},
     0,
     1},
    {DT_QUINT8,
     "MIN_COMBINED",
     "",
     false,
     -2,
     -1,
     {64, 128, 191, 217, 255, 255, 255, 255, 255, 255},
     -2,
     0},
    {DT_QUINT8,
     "MIN_COMBINED",
     "",
     false,
     0,
     0,
     {0, 0, 0, 0, 0, 255, 255, 255, 255, 255},
     0,
     0.01f},
};

class Quantize : public OpTester {
 public:
  Quantize(DataType type, const char* mode, int axis = -1)
      : OpTester("QuantizeV2") {
    Attr("T", type).Attr("mode", std::string(mode));
    Attr("axis", int64_t{axis});
  }
};

TEST(QuantizeOpTest, GivesTensorFlowsIntegers) {
  for (const QuantizeCase& c : kQuantizeCases) {
    SCOPED_TRACE(StrCat(DataTypeString(c.type), " ", c.mode, " ", c.low));
    Quantize t(c.type, c.mode);
    t.Attr("narrow_range", c.narrow);
    if (*c.round != '\0') t.Attr("round_mode", std::string(c.round));
    t.Input(Floats(kInput)).Input(MakeScalar(c.low)).Input(MakeScalar(c.high));
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Integers(t.Output(0)), c.out);
    EXPECT_FLOAT_EQ(t.Output(1).scalar<float>(), c.out_low);
    EXPECT_FLOAT_EQ(t.Output(2).scalar<float>(), c.out_high);
  }
}

TEST(QuantizeOpTest, NanIsTheLowest) {
  Quantize t(DT_QINT8, "MIN_COMBINED");
  t.Input(Floats({kNan})).Input(MakeScalar(-1.0f)).Input(MakeScalar(1.0f));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(Integers(t.Output(0)), std::vector<int>{-128});
}

TEST(QuantizeOpTest, RangesAlongAnAxis) {
  const Tensor x = MakeTensor<float>({2, 2}, {0.5f, 0.5f, -1, -1});
  Quantize t(DT_QINT8, "SCALED", 1);
  t.Input(x).Input(Floats({-1, -2})).Input(Floats({1, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(Integers(t.Output(0)), (std::vector<int>{64, 32, -127, -64}));
  ExpectClose(t.Output(1), Floats({-128 / 127.0f, -256 / 127.0f}));
  OpTester back("Dequantize");
  back.Attr("T", DT_QINT8).Attr("mode", std::string("SCALED"));
  back.Attr("axis", int64_t{1});
  back.Input(t.Output(0)).Input(t.Output(1)).Input(t.Output(2));
  ASSERT_EQ(back.Run(), OkStatus());
  ExpectClose(
      back.Output(0),
      MakeTensor<float>({2, 2}, {64 / 127.0f, 64 / 127.0f, -1, -128 / 127.0f}));
}

TEST(QuantizeOpTest, Refuses) {
  const Tensor x = MakeTensor<float>({2, 3}, std::vector<float>(6));
  const Tensor one = MakeScalar(1.0f), zero = MakeScalar(0.0f);
  const Tensor two = Floats({1, 2});
  const struct {
    const char* mode;
    int axis;
    Tensor low, high;
    StatusCode code;
    const char* message;
  } cases[] = {
      {"SCALED", -1, one, zero, StatusCode::kInvalidArgument, "max_range"},
      {"SCALED", -1, zero, MakeScalar(kNan), StatusCode::kInvalidArgument,
       "max_range"},
      {"SCALED", -1, two, two, StatusCode::kInvalidArgument, "min_range"},
      {"SCALED", 0, two, one, StatusCode::kInvalidArgument, "max_range"},
      {"SCALED", 1, two, two, StatusCode::kInvalidArgument, "3 elements"},
      {"SCALED", 2, two, two, StatusCode::kInvalidArgument, "Axis"},
      {"MIN_FIRST", 0, two, two, StatusCode::kUnimplemented, "MIN_FIRST"},
  };
  for (const auto& c : cases) {
    Quantize t(DT_QUINT8, c.mode, c.axis);
    t.Input(x).Input(c.low).Input(c.high);
    ExpectError(t.Run(), c.code, c.message);
  }
  Quantize t(DT_QUINT8, "MIN_FIRST");
  t.Attr("round_mode", std::string("HALF_TO_EVEN"));
  t.Input(x).Input(zero).Input(one);
  ExpectError(t.Run(), StatusCode::kInvalidArgument, "HALF_TO_EVEN");
}

TEST(DequantizeOpTest, GivesTensorFlowsFloats) {
  const struct {
    const char* mode;
    std::vector<float> out;
  } cases[] = {
      {"MIN_COMBINED", {-1, 0.505882382f, 0.588235378f, 2}},
      {"MIN_FIRST", {-1, 0.505882323f, 0.588235319f, 2}},
      {"SCALED", {-2.01574802f, 0, 0.11023622f, 2}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.mode);
    Tensor x(DT_QINT8, TensorShape({4}));
    const int8_t values[] = {-128, 0, 7, 127};
    std::copy_n(values, 4, static_cast<int8_t*>(x.raw_data()));
    OpTester t("Dequantize");
    t.Attr("T", DT_QINT8).Attr("mode", std::string(c.mode));
    t.Input(x).Input(MakeScalar(-1.0f)).Input(MakeScalar(2.0f));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), Floats(c.out));
  }
}

struct RoundTripCase {
  int bits;
  bool is_signed, given, narrow, half_up;
  float low, high;
  std::vector<float> out;
};

TEST(QuantizeAndDequantizeOpTest, GivesTensorFlowsFloats) {
  const std::vector<float> x = {-1.5f, -0.5f, -0.3f, 0, 0.1f, 0.25f, 2.5f};
  const RoundTripCase cases[] = {
      {8,
       true,
       false,
       false,
       false,
       0,
       0,
       {-1.49606299f, -0.492125988f, -0.295275599f, 0, 0.0984251946f,
        0.255905509f, 2.5f}},
      {8,
       false,
       false,
       false,
       false,
       0,
       0,
       {-1.5f, -0.5f, -0.30392158f, 0, 0.0980392173f, 0.254901975f, 2.5f}},
      {8,
       true,
       true,
       false,
       true,
       -1,
       1,
       {-1.00787401f, -0.496062994f, -0.299212605f, 0, 0.10236220f,
        0.251968503f, 1}},
      {8,
       false,
       true,
       false,
       false,
       -1,
       1,
       {0, 0, 0, 0, 0.101960793f, 0.250980407f, 1}},
      {2, true, false, true, false, 0, 0, {-2.5f, 0, 0, 0, 0, 0, 2.5f}},
      {1, true, false, false, false, 0, 0, {-1.5f, 0, 0, 0, 0, 0, 3}},
      {4,
       true,
       true,
       false,
       false,
       -2,
       1,
       {-1.5f, -0.5f, -0.25f, 0, 0, 0.25f, 1.75f}},
      {4, true, true, false, false, 0, 0, {0, 0, 0, 0, 0, 0, 0}},
  };
  for (const RoundTripCase& c : cases) {
    SCOPED_TRACE(StrCat(c.bits, " bits, signed ", c.is_signed, " given ",
                        c.given, " ", c.low));
    OpTester t("QuantizeAndDequantizeV2");
    t.Attr("num_bits", int64_t{c.bits}).Attr("signed_input", c.is_signed);
    t.Attr("range_given", c.given).Attr("narrow_range", c.narrow);
    t.Attr("round_mode", std::string(c.half_up ? "HALF_UP" : "HALF_TO_EVEN"));
    t.Input(Floats(x)).Input(MakeScalar(c.low)).Input(MakeScalar(c.high));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), Floats(c.out));
  }
}

TEST(QuantizeAndDequantizeOpTest, NanStaysAndDoesNotCount) {
  OpTester t("QuantizeAndDequantizeV4");
  t.Input(Floats({kNan, 1, 2})).Input(MakeScalar(0.0f));
  t.Input(MakeScalar(0.0f));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_TRUE(std::isnan(t.Output(0).data<float>()[0]));
  EXPECT_FLOAT_EQ(t.Output(0).data<float>()[1], 1.00787401f);
}

TEST(QuantizeAndDequantizeOpTest, BitsMayBeAnInput) {
  for (const int bits : {-1, 0, 4, 62, 64}) {
    OpTester t("QuantizeAndDequantizeV3");
    t.Input(Floats({-1.5f, 0.25f})).Input(MakeScalar(-1.0f));
    t.Input(MakeScalar(1.0f)).Input(MakeScalar<int32_t>(bits));
    if (bits == 4) {
      ASSERT_EQ(t.Run(), OkStatus());
      ExpectClose(t.Output(0), Floats({-1.14285719f, 0.285714298f}));
    } else {
      ExpectError(t.Run(), StatusCode::kInvalidArgument, "num_bits");
    }
  }
}

TEST(QuantizeAndDequantizeOpTest, Refuses) {
  OpTester t("QuantizeAndDequantizeV2");
  t.Attr("range_given", true);
  t.Input(Floats({1})).Input(MakeScalar(1.0f)).Input(MakeScalar(-1.0f));
  ExpectError(t.Run(), StatusCode::kInvalidArgument, "Invalid range");
  OpTester grad("QuantizeAndDequantizeV4Grad");
  grad.Input(Floats({1})).Input(Floats({1, 2})).Input(MakeScalar(0.0f));
  grad.Input(MakeScalar(1.0f));
  ExpectError(grad.Run(), StatusCode::kInvalidArgument, "same size");
}

TEST(QuantizeAndDequantizeOpTest, GradientPassesInsideTheRange) {
  OpTester t("QuantizeAndDequantizeV4Grad");
  t.Input(Floats({1, 2, 3, 4})).Input(Floats({-1.5f, -1, 1, kNan}));
  t.Input(MakeScalar(-1.0f)).Input(MakeScalar(1.0f));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Floats({0, 2, 3, 0}));
  ExpectEqual(t.Output(1), MakeScalar(0.0f));
}

}  // namespace
}  // namespace headrace
