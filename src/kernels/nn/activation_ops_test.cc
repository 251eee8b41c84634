#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Vec(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}

// Around zero, beyond both tails, and what is not a number; 17 elements so that
// there is a vector and a rest.
const std::vector<float> kX = {-2, -1, -0.5, -0.0f, 0,    0.5,  1,     2,   6,
                               7,  14, -14,  100,   -100, kInf, -kInf, kNan};

struct Case {
  const char* op;
  double (*f)(double);
};
const Case kCases[] = {
    {"Relu", [](double x) { return x < 0 ? 0 : x; }},
    {"Relu6", [](double x) { return x < 0   ? 0
                                    : x > 6 ? 6
                                            : x; }},
    {"LeakyRelu", [](double x) { return x > 0 ? x : 0.2f * x; }},
    {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {"Selu",
     [](double x) {
       return x < 0 ? 1.7580993408473768 * std::expm1(x)
                    : 1.0507009873554805 * x;
     }},
    {"Softplus", [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }},
    {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
};

template <typename T>
void ExpectMatches(double rtol) {
  for (const Case& c : kCases) {
    const int64_t n = static_cast<int64_t>(kX.size());
    Tensor x(DataTypeToEnum<T>::value, TensorShape({n})), want = x;
    ASSERT_EQ(x.DeepCopyTo(&want), OkStatus());
    for (int64_t i = 0; i < n; ++i) {
      x.data<T>()[i] = static_cast<T>(kX[i]);
      const double y = c.f(static_cast<double>(x.data<T>()[i]));
      want.data<T>()[i] = static_cast<T>(static_cast<float>(y));
    }
    OpTester t(c.op);
    t.Input(x);
    ASSERT_EQ(t.Run(), OkStatus()) << c.op;
    SCOPED_TRACE(c.op);
    ExpectClose(t.Output(0), want, rtol, rtol);
  }
}

TEST(ActivationTest, MatchTheirDefinitions) {
  ExpectMatches<float>(2e-6);
  ExpectMatches<double>(1e-6);
  ExpectMatches<half>(2e-3);
  ExpectMatches<bfloat16>(2e-2);
}

TEST(ActivationTest, IntegersAndNegativeZero) {
  OpTester relu("Relu");
  relu.Input(MakeTensor<int8_t>({3}, {-128, 0, 5}));
  ASSERT_EQ(relu.Run(), OkStatus());
  ExpectEqual(relu.Output(0), MakeTensor<int8_t>({3}, {0, 0, 5}));
  OpTester zero("Relu");
  zero.Input(Vec({-0.0f}));
  ASSERT_EQ(zero.Run(), OkStatus());
  EXPECT_TRUE(std::signbit(zero.Output(0).data<float>()[0]));
}

TEST(ActivationTest, Gradients) {
  struct GradCase {
    const char* op;
    std::vector<float> g, x, want;
  };
  const GradCase cases[] = {
      // Multiplies: a NaN gradient stays where the feature is negative.
      {"ReluGrad",
       {3, 3, kNan, 3, 3},
       {1, 0, -1, kNan, -1},
       {3, 0, kNan, 0, 0}},
      {"Relu6Grad", {3, 3, 3, 3}, {3, 0, 6, 7}, {3, 0, 0, 0}},
      {"LeakyReluGrad", {5, 5, 5, kNan}, {1, 0, -1, -1}, {5, 1, 1, kNan}},
      {"EluGrad", {2, 2, 2}, {1, 0, -0.5}, {2, 2, 1}},
      {"SeluGrad",
       {2, 2},
       {1, -1},
       {2 * 1.0507009873554805f, 2 * 0.7580993408473768f}},
      {"SoftplusGrad", {2, 2, 2}, {0, 100, -100}, {1, 2, 0}},
      {"SoftsignGrad", {4, 4}, {1, -1}, {1, 1}},
  };
  for (const GradCase& c : cases) {
    OpTester t(c.op);
    t.Input(Vec(c.g)).Input(Vec(c.x));
    ASSERT_EQ(t.Run(), OkStatus()) << c.op;
    SCOPED_TRACE(c.op);
    ExpectClose(t.Output(0), Vec(c.want));
    OpTester bad(c.op);
    bad.Input(Vec({1, 2})).Input(Vec({1}));
    ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument, "same shape");
  }
}

}  // namespace
}  // namespace headrace
