// Unary and binary element-wise ops: values, broadcasting, refusals.
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Run1(const std::string& op, Tensor x) {
  OpTester t(op);
  t.Input(std::move(x));
  EXPECT_EQ(t.Run(), OkStatus()) << op;
  return t.Output(0);
}
Tensor Run2(const std::string& op, Tensor x, Tensor y) {
  OpTester t(op);
  t.Input(std::move(x)).Input(std::move(y));
  const Status s = t.Run();
  EXPECT_EQ(s, OkStatus()) << op;
  return s.ok() ? t.Output(0) : Tensor();
}
template <typename T>
Tensor Vec(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}

struct FloatCase {
  const char* op;
  double (*want)(double);
};
const FloatCase kFloatCases[] = {
    {"Abs", [](double x) { return std::abs(x); }},
    {"Neg", [](double x) { return -x; }},
    {"Reciprocal", [](double x) { return 1 / x; }},
    {"Inv", [](double x) { return 1 / x; }},
    {"Square", [](double x) { return x * x; }},
    {"Sqrt", [](double x) { return std::sqrt(x); }},
    {"Rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"Round", [](double x) { return std::nearbyint(x); }},
    {"Rint", [](double x) { return std::nearbyint(x); }},
    {"Exp", [](double x) { return std::exp(x); }},
    {"Expm1", [](double x) { return std::expm1(x); }},
    {"Log", [](double x) { return std::log(x); }},
    {"Log1p", [](double x) { return std::log1p(x); }},
    {"Sin", [](double x) { return std::sin(x); }},
    {"Cos", [](double x) { return std::cos(x); }},
    {"Tan", [](double x) { return std::tan(x); }},
    {"Asin", [](double x) { return std::asin(x); }},
    {"Acos", [](double x) { return std::acos(x); }},
    {"Atan", [](double x) { return std::atan(x); }},
    {"Sinh", [](double x) { return std::sinh(x); }},
    {"Cosh", [](double x) { return std::cosh(x); }},
    {"Tanh", [](double x) { return std::tanh(x); }},
    {"Asinh", [](double x) { return std::asinh(x); }},
    {"Acosh", [](double x) { return std::acosh(x); }},
    {"Atanh", [](double x) { return std::atanh(x); }},
    {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Erf", [](double x) { return std::erf(x); }},
    {"Erfc", [](double x) { return std::erfc(x); }},
    {"Ceil", [](double x) { return std::ceil(x); }},
    {"Floor", [](double x) { return std::floor(x); }},
};

TEST(UnaryTest, FloatsAgreeWithTheLibraryInDouble) {
  std::vector<float> x = {0,     -0.0f, 1,     -1,     0.5,  -0.5f, 1.5,
                          2.5,   -2.5f, 0.1f,  3,      -3,   10,    -10,
                          0.62f, 0.63f, 20,    -20,    60,   -60,   1e-10f,
                          88,    -100,  1e20f, -1e20f, kInf, -kInf, kNan};
  for (int i = 0; i < 1000; ++i) x.push_back(std::sin(i) * 8);
  for (const FloatCase& c : kFloatCases) {
    SCOPED_TRACE(c.op);
    std::vector<float> want;
    std::vector<double> x64(x.begin(), x.end()), want64;
    std::vector<half> x16, want16;
    for (float v : x) {
      want.push_back(static_cast<float>(c.want(v)));
      want64.push_back(c.want(v));
      x16.push_back(half(v));
      want16.push_back(
          half(static_cast<float>(c.want(static_cast<float>(half(v))))));
    }
    ExpectClose(Run1(c.op, Vec(x)), Vec(want), 6e-7, 1e-44);
    ExpectClose(Run1(c.op, Vec(x64)), Vec(want64), 1e-14, 1e-300);
    ExpectClose(Run1(c.op, Vec(x16)), Vec(want16), 1e-3, 1e-7);
  }
}

TEST(UnaryTest, ExpAndLogAtTheEnds) {
  ExpectClose(Run1("Exp", Vec<float>({-87.5f, -95, -103.5f, -110, 88.7f, 89})),
              Vec<float>({std::exp(-87.5f), std::exp(-95.0f), std::exp(-103.5f),
                          0, std::exp(88.7f), kInf}),
              1e-6, 2e-45);
  ExpectClose(
      Run1("Log", Vec<float>({0, -0.0f, -1, 1e-40f, kInf, 3e38f})),
      Vec<float>({-kInf, -kInf, kNan, std::log(1e-40f), kInf, std::log(3e38f)}),
      1e-6);
}

TEST(UnaryTest, IntegersWrapAndSigns) {
  ExpectEqual(Run1("Abs", Vec<int32_t>({-5, INT32_MIN})),
              Vec<int32_t>({5, INT32_MIN}));
  ExpectEqual(Run1("Neg", Vec<int8_t>({-128, 3})), Vec<int8_t>({-128, -3}));
  ExpectEqual(Run1("Square", Vec<int32_t>({65536, -3})), Vec<int32_t>({0, 9}));
  ExpectEqual(Run1("Square", Vec<uint16_t>({65535})), Vec<uint16_t>({1}));
  ExpectClose(Run1("Sign", Vec<float>({-2, -0.0f, 3, kNan})),
              Vec<float>({-1, 0, 1, kNan}));
  ExpectClose(Run1("Sign", Vec<complex64>({{3, 4}, {0, 0}})),
              Vec<complex64>({{0.6f, 0.8f}, {0, 0}}));
  ExpectEqual(Run1("Invert", Vec<uint8_t>({0, 5})), Vec<uint8_t>({255, 250}));
  ExpectEqual(Run1("PopulationCount", Vec<int16_t>({-1, 5})),
              Vec<uint8_t>({16, 2}));
  ExpectEqual(Run1("LogicalNot", Vec<bool>({true, false})),
              Vec<bool>({false, true}));
  ExpectEqual(Run1("IsNan", Vec<float>({1, kNan, kInf})),
              Vec<bool>({false, true, false}));
  ExpectEqual(Run1("IsInf", Vec<half>({half(1), half(kNan), half(-kInf)})),
              Vec<bool>({false, false, true}));
  ExpectEqual(Run1("IsFinite", Vec<double>({1, kNan, kInf})),
              Vec<bool>({true, false, false}));
}

// What TensorFlow gives.
TEST(UnaryTest, BesselAndIntegrals) {
  const Tensor x = Vec<double>({0, 1e-3, 0.3, 1, 1.7, 2.5, 4, 6, 9, 20, 100,
                                -0.5, -2, -7, kInf, -kInf, kNan});
  const struct {
    const char* op;
    std::vector<double> want;
  } cases[] = {
      {"BesselI0",
       {1, 1.00000025, 1.02262688, 1.26606588, 1.86396496, 3.28983914,
        11.301922, 67.234407, 1093.58835, 43558282.6, 1.07375171e+42,
        1.06348337, 2.2795853, 168.593909, kNan, kNan, kNan}},
      {"BesselI1",
       {0, 0.000500000063, 0.15169384, 0.565159104, 1.19634657, 2.51671625,
        9.75946515, 61.3419368, 1030.91472, 42454973.4, 1.06836939e+42,
        -0.257894305, -1.59063685, -156.039093, kNan, kNan, kNan}},
      {"BesselJ0",
       {1, 0.99999975, 0.977626247, 0.765197687, 0.397984859, -0.0483837765,
        -0.39714981, 0.150645257, -0.0903336112, 0.167024664, 0.0199858503,
        0.938469807, 0.223890779, 0.300079271, kNan, kNan, kNan}},
      {"BesselJ1",
       {0, 0.000499999938, 0.148318816, 0.440050586, 0.577765232, 0.497094102,
        -0.066043328, -0.276683858, 0.245311787, 0.0668331242, -0.077145352,
        -0.242268458, -0.576724808, 0.00468282348, kNan, kNan, kNan}},
      {"BesselK0",
       {kInf, 7.0236888, 1.37246006, 0.421024438, 0.165496318, 0.0623475532,
        0.0111596761, 0.00124399433, 5.0881313e-05, 5.74123782e-10,
        4.65662823e-45, kInf, kInf, kInf, 0, kInf, kNan}},
      {"BesselK0e",
       {kInf, 7.030716, 1.8526273, 1.14446308, 0.905918139, 0.75954869,
        0.609297669, 0.501863131, 0.412295549, 0.278544877, 0.125175622, kInf,
        kInf, kInf, 0, kInf, kNan}},
      {"BesselK1",
       {kInf, 999.996238, 3.05599203, 0.60190723, 0.209362488, 0.0738908163,
        0.0124834989, 0.00134391972, 5.36370164e-05, 5.88305797e-10,
        4.67985374e-45, kInf, kInf, kInf, 0, kInf, kNan}},
      {"BesselK1e",
       {kInf, 1000.99673, 4.12515776, 1.63615349, 1.14603925, 0.900174424,
        0.681575945, 0.54217591, 0.434625245, 0.285425497, 0.12579995, kInf,
        kInf, kInf, 0, kInf, kNan}},
      {"BesselY0",
       {-kInf, -4.47141661, -0.807273578, 0.0882569642, 0.452027, 0.49807036,
        -0.0169407393, -0.288194684, 0.249936698, 0.0626405968, -0.0772443134,
        -kInf, -kInf, -kInf, kNan, -kInf, kNan}},
      {"BesselY1",
       {-kInf, -636.622167, -2.29310514, -0.781212821, -0.284726245,
        0.145918138, 0.397925711, -0.175010344, 0.104314575, -0.165511614,
        -0.020372312, -kInf, -kInf, -kInf, kNan, -kInf, kNan}},
      {"Spence",
       {1.64493407, 1.63702261, 0.889377624, 0, -0.605158402, -1.14738066,
        -1.93937542, -2.74927913, -3.685676, -5.92783972, -12.1924217, kNan,
        kNan, kNan, kNan, kNan, kNan}},
      {"Dawsn",
       {0, 0.000999999333, 0.282631665, 0.538079507, 0.372559349, 0.223083722,
        0.129348001, 0.084542689, 0.0559050467, 0.0250313679, 0.00500025004,
        -0.424436384, -0.301340389, -0.0721809747, 0, 0, kNan}},
      {"Expint",
       {-kInf, -6.32953936, -0.302668539, 1.89511782, 3.9209632, 7.07376589,
        19.6308745, 85.9897621, 1037.87829, 25615652.7, 2.71555274e+41, kNan,
        kNan, kNan, kNan, kNan, kNan}},
      {"FresnelCos",
       {0, 0.001, 0.299400976, 0.7798934, 0.323826876, 0.45741301, 0.498426033,
        0.499531468, 0.535366127, 0.499987335, 0.499999899, -0.492344226,
        -0.488253406, -0.545467093, 0.5, -0.5, kNan}},
      {"FresnelSin",
       {0, 5.23598776e-10, 0.014116998, 0.438259147, 0.54919594, 0.619181756,
        0.420515754, 0.446960761, 0.499861046, 0.484084536, 0.496816901,
        -0.0647324329, -0.343415678, -0.499704789, 0.5, -0.5, kNan}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    ExpectClose(Run1(c.op, x), Vec(c.want), 1e-8, 1e-16);
  }
}

TEST(UnaryTest, ComplexParts) {
  const Tensor z = Vec<complex64>({{3, -4}, {0, 1}});
  ExpectClose(Run1("Real", z), Vec<float>({3, 0}));
  ExpectClose(Run1("Imag", z), Vec<float>({-4, 1}));
  ExpectClose(Run1("ComplexAbs", z), Vec<float>({5, 1}));
  ExpectClose(Run1("Angle", z),
              Vec<float>({std::atan2(-4.0f, 3.0f), 1.5707964f}));
  ExpectClose(Run1("Conj", z), Vec<complex64>({{3, 4}, {0, -1}}));
  ExpectClose(Run2("Complex", Vec<float>({1, 2}), MakeScalar<float>(3)),
              Vec<complex64>({{1, 3}, {2, 3}}));
  ExpectClose(Run1("Exp", Vec<complex64>({{0, 3.14159265f}})),
              Vec<complex64>({{-1, 0}}));
}

TEST(UnaryTest, SpecialFunctions) {
  ExpectClose(Run1("Lgamma", Vec<float>({0.5f, 5, 0, -1, -0.5f})),
              Vec<float>({0.5723649f, 3.1780538f, kInf, kInf, 1.2655121f}));
  ExpectClose(Run1("Digamma", Vec<double>({1, 0.5, -0.5, 20, 0, -1, 1e-3})),
              Vec<double>({-0.57721566490153286, -1.9635100260214235,
                           0.03648997397857652, 2.9705239922421491, kNan, kNan,
                           -1000.5755719318103}),
              1e-13);
  ExpectClose(
      Run1("Erfinv", Vec<double>({0, 0.5, -0.9, 1, 1.5})),
      Vec<double>({0, 0.47693627620446988, -1.1630871536766741, kInf, kNan}),
      1e-12, 1e-15);
  ExpectClose(
      Run2("Igamma", Vec<float>({1, 0, 2, 1}), Vec<float>({1, 1, -1, 0})),
      Vec<float>({0.63212056f, kNan, kNan, 0}));
  ExpectClose(
      Run2("Igammac", Vec<float>({1, 0, 2, 1}), Vec<float>({1, 1, -1, 0})),
      Vec<float>({0.36787944f, kNan, kNan, 1}));
  ExpectClose(
      Run2("Zeta", Vec<double>({2, kInf, 1e30, 1e30, kInf, 2, 1.1, 0.5}),
           Vec<double>({1, 2, 2, 0.5, 1, kInf, 1e300, 2})),
      Vec<double>({1.6449340668482264, 0, 0, kInf, 1, 0, 1e-29, kNan}));
  OpTester t("Betainc");
  t.Input(MakeScalar<float>(2)).Input(MakeScalar<float>(3));
  t.Input(Vec<float>({0, 0.5f, 1, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), Vec<float>({0, 0.6875f, 1, kNan}));
}

TEST(UnaryTest, SpecialFunctionsOfBfloat16) {
  const Tensor x = Vec<bfloat16>({bfloat16(0.5f), bfloat16(1), bfloat16(2)});
  const auto rounded = [](std::vector<float> v) {
    return Vec<bfloat16>({bfloat16(v[0]), bfloat16(v[1]), bfloat16(v[2])});
  };
  ExpectClose(Run1("Digamma", x), rounded({-1.96351f, -0.577216f, 0.422784f}));
  ExpectClose(Run1("BesselI0", x), rounded({1.06348f, 1.26607f, 2.27959f}));
  ExpectClose(Run1("BesselK0", x), rounded({0.924419f, 0.421024f, 0.113894f}));
  ExpectClose(Run2("Igamma", x, x), rounded({0.682689f, 0.632121f, 0.593994f}));
}

TEST(UnaryTest, Gradients) {
  const Tensor y = Vec<float>({0.5f, 2}), dy = Vec<float>({3, 4});
  ExpectClose(Run2("SigmoidGrad", y, dy), Vec<float>({0.75f, -8}));
  ExpectClose(Run2("TanhGrad", y, dy), Vec<float>({2.25f, -12}));
  ExpectClose(Run2("SqrtGrad", y, dy), Vec<float>({3, 1}));
  ExpectClose(Run2("RsqrtGrad", y, dy), Vec<float>({-0.1875f, -16}));
  ExpectClose(Run2("ReciprocalGrad", y, dy), Vec<float>({-0.75f, -16}));
  OpTester t("TanhGrad");
  t.Input(y).Input(Vec<float>({1, 2, 3}));
  ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
              "must have the same size and shape");
}

// Values of TensorFlow: Sigmoid's and Tanh's leave conjugation to who builds
// the gradient.
TEST(UnaryTest, GradientsOfComplexNumbersConjugateWhereTensorFlowDoes) {
  const Tensor y = Vec<complex64>({{1, 2}, {0.5f, -1}});
  const Tensor dy = Vec<complex64>({{3, -1}, {1, 1}});
  const struct {
    const char* op;
    std::vector<complex64> want;
  } cases[] = {
      {"SigmoidGrad", {{10, -10}, {1.25f, 1.25f}}},
      {"TanhGrad", {{8, -16}, {0.75f, 2.75f}}},
      {"SqrtGrad", {{0.5f, 0.5f}, {0.6f, -0.2f}}},
      {"RsqrtGrad", {{15.5f, -8.5f}, {0.5625f, 0.8125f}}},
      {"ReciprocalGrad", {{13, 9}, {1.75f, -0.25f}}},
      {"InvGrad", {{13, 9}, {1.75f, -0.25f}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    ExpectClose(Run2(c.op, y, dy), Vec<complex64>(c.want));
  }
}

TEST(BinaryTest, ApproximateEqualTakesInTheTolerance) {
  OpTester real("ApproximateEqual");
  real.Attr("tolerance", 0.5f).Input(Vec<float>({1, 2, 1, 5, 0}));
  real.Input(Vec<float>({1.5f, 2.25f, 0.5f, 4, NAN}));
  ASSERT_EQ(real.Run(), OkStatus());
  ExpectEqual(real.Output(0), Vec<bool>({true, true, true, false, false}));
  OpTester none("ApproximateEqual");
  none.Attr("tolerance", 0.f).Input(Vec<double>({1, 1}));
  none.Input(Vec<double>({1, 0.9}));
  ASSERT_EQ(none.Run(), OkStatus());
  ExpectEqual(none.Output(0), Vec<bool>({true, false}));
  OpTester whole("ApproximateEqual");
  whole.Attr("tolerance", 1.f).Input(Vec<int32_t>({1, 5}));
  whole.Input(Vec<int32_t>({2, 3}));
  ASSERT_EQ(whole.Run(), OkStatus());
  ExpectEqual(whole.Output(0), Vec<bool>({true, false}));
}

TEST(BinaryTest, IntegerDivision) {
  const Tensor x = Vec<int32_t>({7, -7, 7, -7, INT32_MIN});
  const Tensor y = Vec<int32_t>({2, 2, -2, -2, -1});
  const struct {
    const char* op;
    std::vector<int32_t> want;
  } cases[] = {
      {"Div", {3, -3, -3, 3, INT32_MIN}},
      {"TruncateDiv", {3, -3, -3, 3, INT32_MIN}},
      {"FloorDiv", {3, -4, -4, 3, INT32_MIN}},
      {"Mod", {1, -1, 1, -1, 0}},
      {"TruncateMod", {1, -1, 1, -1, 0}},
      {"FloorMod", {1, 1, -1, -1, 0}},
  };
  for (const auto& c : cases) {
    ExpectEqual(Run2(c.op, x, y), Vec(c.want));
    OpTester t(c.op);
    t.Input(x).Input(Vec<int32_t>({1, 0, 1, 1, 1}));
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
                "Integer division by zero");
  }
  ExpectClose(
      Run2("FloorMod", Vec<float>({-1, 5.5f, -1}), Vec<float>({3, -2, kInf})),
      Vec<float>({2, -0.5f, kInf}));
  ExpectClose(Run2("FloorDiv", Vec<float>({1, -1}), Vec<float>({0.1f, 2})),
              Vec<float>({10, -1}));
}

TEST(BinaryTest, FloatRules) {
  ExpectClose(Run2("Maximum", Vec<float>({kNan, 1, 1, 3}),
                   Vec<float>({1, kNan, 2, -3})),
              Vec<float>({kNan, kNan, 2, 3}));
  ExpectClose(Run2("Minimum", Vec<float>({kNan, 1, 1, 3}),
                   Vec<float>({1, kNan, 2, -3})),
              Vec<float>({kNan, kNan, 1, -3}));
  ExpectClose(Run2("DivNoNan", Vec<float>({1, kNan, 6}), Vec<float>({0, 0, 3})),
              Vec<float>({0, 0, 2}));
  ExpectClose(Run2("MulNoNan", Vec<float>({kNan, 2}), Vec<float>({0, 3})),
              Vec<float>({0, 6}));
  ExpectClose(Run2("Xdivy", Vec<float>({0, 6}), Vec<float>({kNan, 3})),
              Vec<float>({0, 2}));
  ExpectClose(Run2("Xlogy", Vec<float>({0, 2}), Vec<float>({kNan, 1})),
              Vec<float>({0, 0}));
  ExpectClose(Run2("Pow", Vec<float>({0, kNan, 1, -8, 3}),
                   Vec<float>({0, 0, kNan, 1 / 3.0f, 2})),
              Vec<float>({1, 1, 1, kNan, 9}));
  for (float y : {2.0f, 3.0f, 0.5f, -0.5f, 1.7f}) {
    const std::vector<float> x = {0, -0.0f, 2.5f, -2.5f, kInf, -kInf, kNan};
    std::vector<float> want;
    for (float v : x) want.push_back(std::pow(v, y));
    ExpectClose(Run2("Pow", Vec(x), MakeScalar(y)), Vec(want), 3e-7);
  }
  ExpectClose(Run2("SquaredDifference", Vec<complex64>({{1, 2}}),
                   Vec<complex64>({{0, 0}})),
              Vec<complex64>({{5, 0}}));
  ExpectClose(Run2("Atan2", Vec<float>({1}), Vec<float>({-1})),
              Vec<float>({2.3561945f}));
  ExpectEqual(Run2("NextAfter", Vec<float>({1}), Vec<float>({2})),
              Vec<float>({1.0000001f}));
}

TEST(BinaryTest, IntegersAndStrings) {
  ExpectEqual(Run2("Add", Vec<int8_t>({127, -128}), Vec<int8_t>({1, -1})),
              Vec<int8_t>({-128, 127}));
  ExpectEqual(Run2("Mul", Vec<uint16_t>({65535}), Vec<uint16_t>({65535})),
              Vec<uint16_t>({1}));
  ExpectEqual(
      Run2("Pow", Vec<int32_t>({2, 0, 3, 2}), Vec<int32_t>({10, 0, 3, 33})),
      Vec<int32_t>({1024, 1, 27, 0}));
  ExpectEqual(Run2("LeftShift", Vec<int32_t>({1, 8}), Vec<int32_t>({32, -1})),
              Vec<int32_t>({INT32_MIN, 8}));
  ExpectEqual(Run2("RightShift", Vec<int8_t>({-8, -8}), Vec<int8_t>({1, 100})),
              Vec<int8_t>({-4, -1}));
  ExpectEqual(Run2("BitwiseXor", Vec<uint8_t>({6}), Vec<uint8_t>({3})),
              Vec<uint8_t>({5}));
  ExpectEqual(Run2("LogicalAnd", Vec<bool>({true, true}), MakeScalar(false)),
              Vec<bool>({false, false}));
  ExpectEqual(Run2("Add", Vec<tstring>({"a", "b"}), MakeScalar<tstring>("!")),
              Vec<tstring>({"a!", "b!"}));
  ExpectEqual(Run2("Add", MakeTensor<tstring>({2, 1}, {"a", "b"}),
                   Vec<tstring>({"x", "y"})),
              MakeTensor<tstring>({2, 2}, {"ax", "ay", "bx", "by"}));
  ExpectEqual(Run2("Equal", Vec<tstring>({"a", "b"}), MakeScalar<tstring>("b")),
              Vec<bool>({false, true}));
  ExpectEqual(Run2("NotEqual", Vec<float>({kNan, 1}), Vec<float>({kNan, 1})),
              Vec<bool>({true, false}));
  OpTester t("Pow");
  t.Input(Vec<int32_t>({1})).Input(Vec<int32_t>({-1}));
  ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
              "Integers to negative integer powers are not allowed");
}

// Against double precision, what C99 says of the corners included; and the same
// bits whether the exponent is one for all or one each.
TEST(BinaryTest, PowOfFloats) {
  const std::vector<float> special = {
      0.0f,     -0.0f,       1,    -1,       2,       -2,     0.5f,
      3,        -3,          kInf, -kInf,    kNan,    1e-45f, -1e-45f,
      1e38f,    16777217.0f, 1.5f, -1.5f,    8388609, 127,    -149,
      0.99999f, 1.000001f,   2.5f, -8388609, 1e-30f};
  std::vector<float> x, y;
  for (const float a : special) {
    for (const float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (int i = 0; i < 20000; ++i) {
    x.push_back(0.001f * static_cast<float>(i % 4999 + 1));
    y.push_back(0.01f * static_cast<float>(i % 2003) - 10);
  }
  const Tensor z = Run2("Pow", Vec(x), Vec(y));
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto want = static_cast<float>(std::pow(double{x[i]}, double{y[i]}));
    const float got = z.data<float>()[i];
    const bool close = std::isnan(want) ? std::isnan(got)
                       : want == got
                           ? std::signbit(want) == std::signbit(got)
                           : std::abs(want - got) <= 2e-7f * std::abs(want);
    if (!close && wrong++ < 10) {
      ADD_FAILURE() << x[i] << " ^ " << y[i] << " is " << got << ", wanted "
                    << want;
    }
  }
  for (const float e : {2.0f, 3.0f, 0.5f, 1.7f}) {
    const Tensor all = Run2("Pow", Vec(x), MakeScalar(e));
    const Tensor each =
        Run2("Pow", Vec(x), Vec(std::vector<float>(x.size(), e)));
    EXPECT_EQ(all.tensor_data(), each.tensor_data()) << e;
    const Tensor base = Run2("Pow", MakeScalar(e), Vec(y));
    const Tensor bases =
        Run2("Pow", Vec(std::vector<float>(y.size(), e)), Vec(y));
    EXPECT_EQ(base.tensor_data(), bases.tensor_data()) << e;
  }
}

// Every broadcast against the definition, element by element.
TEST(BinaryTest, BroadcastsAnyRank) {
  const struct {
    std::vector<int64_t> x, y, z;
  } cases[] = {
      {{2, 3}, {3}, {2, 3}},
      {{3}, {2, 3}, {2, 3}},
      {{2, 1}, {1, 3}, {2, 3}},
      {{4, 1, 3}, {2, 1}, {4, 2, 3}},
      {{2, 3, 40}, {2, 1, 40}, {2, 3, 40}},
      {{2, 1, 3, 1, 2, 1, 2}, {1, 3, 1, 2, 1, 3, 1}, {2, 3, 3, 2, 2, 3, 2}},
      {{1, 1, 1}, {3}, {1, 1, 3}},
      {{1}, {}, {1}},
      {{0, 1}, {1, 5}, {0, 5}},
      {{100, 1}, {1, 100}, {100, 100}},
      {{3, 700, 2}, {700, 2}, {3, 700, 2}},
      {{3, 2, 1}, {1, 2, 900}, {3, 2, 900}},
      // One row for many others, on either side.
      {{50, 33}, {33}, {50, 33}},
      {{1, 255}, {9, 255}, {9, 255}},
      {{3, 7, 5, 40}, {3, 1, 1, 40}, {3, 7, 5, 40}},
      {{2, 1, 1, 24}, {2, 70, 9, 24}, {2, 70, 9, 24}},
      {{2, 1, 3, 1, 60}, {2, 4, 3, 30, 60}, {2, 4, 3, 30, 60}},
      {{2, 1, 60}, {1, 30, 60}, {2, 30, 60}},
  };
  for (const auto& c : cases) {
    for (DataType type : {DT_FLOAT, DT_HALF, DT_INT64}) {
      const TensorShape xs(c.x), ys(c.y), zs(c.z);
      SCOPED_TRACE(StrCat(xs.DebugString(), " ", ys.DebugString(), " ", type));
      const auto make = [&](const TensorShape& s, int seed) {
        Tensor t(type, s);
        for (int64_t i = 0; i < s.num_elements(); ++i) {
          const int v = static_cast<int>((i * 7 + seed) % 50);
          if (type == DT_FLOAT) t.data<float>()[i] = v;
          if (type == DT_HALF) t.data<half>()[i] = half(v);
          if (type == DT_INT64) t.data<int64_t>()[i] = v;
        }
        return t;
      };
      const auto at = [](const TensorShape& s, const TensorShape& out,
                         int64_t i) {
        int64_t index = 0, step = 1;
        for (int d = 1; d <= out.dims(); ++d) {
          const int64_t k = i % out.dim_size(out.dims() - d);
          i /= out.dim_size(out.dims() - d);
          if (d > s.dims()) continue;
          const int64_t size = s.dim_size(s.dims() - d);
          index += size == 1 ? 0 : k * step;
          step *= size;
        }
        return index;
      };
      Tensor want(type, zs);
      for (int64_t i = 0; i < zs.num_elements(); ++i) {
        const int v = static_cast<int>((at(xs, zs, i) * 7 + 1) % 50 -
                                       (at(ys, zs, i) * 7 + 3) % 50);
        if (type == DT_FLOAT) want.data<float>()[i] = v;
        if (type == DT_HALF) want.data<half>()[i] = half(v);
        if (type == DT_INT64) want.data<int64_t>()[i] = v;
      }
      ExpectEqual(Run2("Sub", make(xs, 1), make(ys, 3)), want);
    }
  }
}

TEST(BinaryTest, RefusesShapesThatDoNotFit) {
  OpTester t("Add");
  t.Input(Vec<float>({})).Input(Vec<float>({1, 2}));
  ExpectError(t.Run(), absl::StatusCode::kInvalidArgument,
              "Incompatible shapes: [0] vs. [2]");
  for (const char* op : {"Equal", "NotEqual"}) {
    OpTester e(op);
    e.Attr("incompatible_shape_error", false);
    e.Input(Vec<float>({1, 2})).Input(Vec<float>({1, 2, 3}));
    ASSERT_EQ(e.Run(), OkStatus());
    ExpectEqual(e.Output(0), MakeScalar<bool>(op[0] == 'N'));
  }
  OpTester a("ApproximateEqual");
  a.Attr("tolerance", 0.5f).Input(Vec<float>({1, 2}));
  a.Input(Vec<float>({1.4f, 2.6f}));
  ASSERT_EQ(a.Run(), OkStatus());
  ExpectEqual(a.Output(0), Vec<bool>({true, false}));
}

// The same bits with one thread and with several, on more than one block.
TEST(BinaryTest, ThreadsDoNotMatter) {
  Tensor x(DT_FLOAT, TensorShape({300, 1000}));
  for (int64_t i = 0; i < x.NumElements(); ++i) x.data<float>()[i] = i * 1e-4f;
  Tensor y(DT_FLOAT, TensorShape({300, 1}));
  for (int64_t i = 0; i < 300; ++i) y.data<float>()[i] = i;
  Tensor result[2];
  for (int k = 0; k < 2; ++k) {
    ThreadPool pool(k == 0 ? 1 : 4);
    OpTester t("Mul", &pool);
    t.Input(x).Input(y);
    ASSERT_EQ(t.Run(), OkStatus());
    result[k] = t.Output(0);
  }
  ExpectEqual(result[0], result[1]);
}

// A row for each image, at which threads begin anywhere.
TEST(BinaryTest, ThreadsDoNotMatterToRepeatedRows) {
  Tensor x(DT_FLOAT, TensorShape({3, 1000, 77}));
  for (int64_t i = 0; i < x.NumElements(); ++i) x.data<float>()[i] = i * 1e-2f;
  Tensor y(DT_FLOAT, TensorShape({3, 1, 77}));
  for (int64_t i = 0; i < y.NumElements(); ++i) y.data<float>()[i] = i + 1;
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    OpTester t("Mul", &pool);
    t.Input(y).Input(x);
    ASSERT_EQ(t.Run(), OkStatus());
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      ASSERT_EQ(t.Output(0).data<float>()[i],
                x.data<float>()[i] * y.data<float>()[i / 77000 * 77 + i % 77]);
    }
  }
}

}  // namespace
}  // namespace headrace
