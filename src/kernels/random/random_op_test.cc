#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "framework/kernel/philox.h"

namespace headrace {
namespace {

Tensor Vec(std::vector<int32_t> dims) {
  const int64_t n = static_cast<int64_t>(dims.size());
  return MakeTensor<int32_t>({n}, dims);
}

Tensor RunSeeded(const std::string& op, DataType dtype, int32_t n,
                 ThreadPool* pool = ThreadPool::Global()) {
  OpTester t(op, pool);
  t.Attr("seed", 1).Attr("seed2", 2).Attr("dtype", dtype).Input(Vec({n}));
  EXPECT_EQ(t.Run(), OkStatus());
  return t.Output(0);
}

// The known answers of the generator's authors.
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_EQ(Philox(0, 0)(),
            (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox::FromState(~0ull, ~0ull, ~0ull)(),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

// What TensorFlow gives for seed 1, seed2 2.
TEST(RandomOpTest, SameNumbersAsTensorFlow) {
  ExpectClose(RunSeeded("RandomUniform", DT_FLOAT, 4),
              MakeTensor<float>({4}, {0.406396747f, 0.857599616f, 0.0553958416f,
                                      0.0858722925f}),
              0, 0);
  ExpectClose(RunSeeded("RandomUniform", DT_DOUBLE, 2),
              MakeTensor<double>({2}, {0.251174498, 0.44316677}), 1e-8);
  ExpectClose(RunSeeded("RandomUniform", DT_HALF, 3),
              MakeTensor<half>(
                  {3}, {half(0.2021484f), half(0.4560547f), half(0.8027344f)}));
  ExpectClose(RunSeeded("RandomStandardNormal", DT_FLOAT, 5),
              MakeTensor<float>({5}, {-1.04677927f, 0.839704573f, 1.2358364f,
                                      2.06378531f, 0.303742707f}));
  ExpectClose(RunSeeded("TruncatedNormal", DT_FLOAT, 4),
              MakeTensor<float>(
                  {4}, {-1.04677927f, 0.839704573f, 1.2358364f, 0.303742707f}));
}

TEST(RandomOpTest, Integers) {
  OpTester t("RandomUniformInt");
  t.Attr("seed", 1).Attr("seed2", 2);
  t.Input(Vec({5}))
      .Input(MakeScalar<int32_t>(0))
      .Input(MakeScalar<int32_t>(10));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({5}, {9, 5, 2, 9, 1}));
}

TEST(RandomOpTest, Shuffle) {
  OpTester t("RandomShuffle");
  t.Attr("seed", 1).Attr("seed2", 2).Input(Vec({1, 2, 3, 4, 5}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Vec({5, 1, 3, 2, 4}));
}

TEST(RandomOpTest, Stateless) {
  OpTester t("StatelessRandomUniform");
  t.Attr("dtype", DT_FLOAT).Input(Vec({4})).Input(Vec({1, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({4}, {0.844060421f, 0.192045331f, 0.996223211f,
                                      0.160387397f}));
}

TEST(RandomOpTest, TheNumberOfThreadsDoesNotMatter) {
  ThreadPool one(1, "one"), four(4, "four");
  for (const char* op :
       {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    for (DataType d : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16}) {
      ExpectEqual(RunSeeded(op, d, 100003, &one),
                  RunSeeded(op, d, 100003, &four));
    }
  }
}

// A prefix of the stream does not depend on how much of it is asked for.
TEST(RandomOpTest, PartialGroups) {
  for (const char* op :
       {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    for (DataType d : {DT_FLOAT, DT_DOUBLE}) {
      const Tensor all = RunSeeded(op, d, 300);
      for (int n : {1, 2, 3, 5, 255, 257}) {
        ExpectEqual(RunSeeded(op, d, n), all.Slice(0, n));
      }
    }
  }
}

TEST(RandomOpTest, MultinomialNeverPicksMinusInfinity) {
  OpTester t("Multinomial");
  t.Attr("seed", 1).Attr("seed2", 2);
  const float inf = std::numeric_limits<float>::infinity();
  t.Input(MakeTensor<float>({2, 3}, {-inf, 0, -inf, 0, -inf, -inf}))
      .Input(MakeScalar<int32_t>(3));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int64_t>({2, 3}, {1, 1, 1, 0, 0, 0}));
}

TEST(RandomOpTest, GammaAndPoissonHaveTheirMeans) {
  OpTester g("RandomGamma");
  g.Attr("seed", 1).Attr("seed2", 2).Input(Vec({20000}));
  g.Input(MakeTensor<double>({3}, {0.5, 1, 7}));
  ASSERT_EQ(g.Run(), OkStatus());
  OpTester p("RandomPoissonV2");
  p.Attr("seed", 1).Attr("seed2", 2).Attr("dtype", DT_DOUBLE);
  p.Input(Vec({20000})).Input(MakeTensor<double>({3}, {0, 3, 50}));
  ASSERT_EQ(p.Run(), OkStatus());
  const double want[2][3] = {{0.5, 1, 7}, {0, 3, 50}};
  for (int op = 0; op < 2; ++op) {
    const Tensor& out = op == 0 ? g.Output(0) : p.Output(0);
    for (int k = 0; k < 3; ++k) {
      double sum = 0;
      for (int i = 0; i < 20000; ++i) sum += out.data<double>()[i * 3 + k];
      EXPECT_NEAR(sum / 20000, want[op][k], 0.02 * want[op][k]);
    }
  }
}

TEST(RandomOpTest, Refusals) {
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  OpTester negative("RandomUniform");
  negative.Attr("dtype", DT_FLOAT).Input(Vec({-1}));
  ExpectError(negative.Run(), kInvalid, "Dimension -1 must be >= 0");
  OpTester scalar("RandomUniform");
  scalar.Attr("dtype", DT_FLOAT).Input(MakeScalar<int32_t>(3));
  ExpectError(scalar.Run(), kInvalid, "shape must be a vector");
  OpTester bounds("RandomUniformInt");
  bounds.Input(Vec({3}))
      .Input(MakeScalar<int32_t>(5))
      .Input(MakeScalar<int32_t>(5));
  ExpectError(bounds.Run(), kInvalid, "Need minval < maxval, got 5 >= 5");
  OpTester seed("StatelessRandomNormal");
  seed.Attr("dtype", DT_FLOAT).Input(Vec({3})).Input(Vec({1}));
  ExpectError(seed.Run(), kInvalid, "seed must have shape [2], got [1]");
  OpTester classes("Multinomial");
  classes.Input(MakeTensor<float>({1, 0}, {})).Input(MakeScalar<int32_t>(2));
  ExpectError(classes.Run(), kInvalid, "num_classes should be positive");
}

}  // namespace
}  // namespace headrace
