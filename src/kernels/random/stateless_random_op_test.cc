// Stateless distributions; TensorFlow 2.21's numbers for seed [1, 2].
#include <algorithm>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kRefused = absl::StatusCode::kInvalidArgument;

Tensor Ints(std::vector<int32_t> values) {
  const auto n = static_cast<int64_t>(values.size());
  return MakeTensor<int32_t>({n}, values);
}
Tensor Doubles(std::vector<double> values) {
  const auto n = static_cast<int64_t>(values.size());
  return MakeTensor<double>({n}, values);
}
Tensor Floats(std::vector<float> values) {
  const auto n = static_cast<int64_t>(values.size());
  return MakeTensor<float>({n}, values);
}

struct Stateless : OpTester {
  Stateless(const std::string& op, std::vector<int32_t> shape) : OpTester(op) {
    Input(Ints(std::move(shape))).Input(Ints({1, 2}));
  }
};

TEST(StatelessRandomTest, Poisson) {
  Stateless t("StatelessRandomPoisson", {3, 3});
  t.Attr("dtype", DT_INT32).Input(Floats({.5, 3, 50}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<int32_t>({3, 3}, {3, 6, 50, 2, 3, 49, 1, 6, 41}));
}

TEST(StatelessRandomTest, Gamma) {
  Stateless t("StatelessRandomGammaV2", {3, 3});
  t.Input(Doubles({.5, 1, 7}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(
      t.Output(0),
      MakeTensor<double>(
          {3, 3}, {0.06695361383821083, 1.89350913788573, 9.274794319749969,
                   0.62823544551181, 0.22994833614986177, 7.227194511792936,
                   0.18136731678689116, 1.1978731947487329, 8.81850530490622}),
      1e-13);
  OpTester v3("StatelessRandomGammaV3");
  v3.Input(Ints({3, 3})).Input(MakeTensor<uint64_t>({1}, {5}));
  v3.Input(MakeTensor<uint64_t>({2}, {1, 2})).Input(MakeScalar<int32_t>(1));
  v3.Input(Doubles({.5, 1, 7}));
  ASSERT_EQ(v3.Run(), OkStatus());
  ExpectClose(
      v3.Output(0),
      MakeTensor<double>(
          {3, 3}, {0.3600360136146269, 1.5574779014514806, 10.369242495916884,
                   0.7785493922463134, 0.4670397980967582, 9.142428983105695,
                   0.3109988145917902, 0.25326023251014035, 2.40298662567263}),
      1e-13);
}

TEST(StatelessRandomTest, Binomial) {
  const std::vector<double> want = {1, 2, 17, 53, 0, 0,  40, 1, 3, 20, 50,
                                    1, 0, 40, 1,  2, 17, 48, 1, 0, 40};
  Stateless t("StatelessRandomBinomial", {3, 7});
  t.Attr("dtype", DT_DOUBLE).Input(Doubles({1, 5, 20, 100, 1000, 30, 40}));
  t.Input(Doubles({.5, .3, .9, .5, .001, 0, 1}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<double>({3, 7}, want));
  Stateless broadcast("StatelessRandomBinomial", {2, 3, 2});
  broadcast.Input(MakeTensor<double>({3, 1}, {10, 100, 1000}));
  broadcast.Input(Doubles({.2, .6}));
  ASSERT_EQ(broadcast.Run(), OkStatus());
  ExpectEqual(broadcast.Output(0),
              MakeTensor<int64_t>(
                  {2, 3, 2}, {3, 4, 16, 60, 184, 601, 2, 4, 23, 61, 206, 607}));
}

// No such distribution, or one whose terms cancel out: an answer all the same.
TEST(StatelessRandomTest, BinomialOfStrangeParameters) {
  const double nan = NAN, inf = INFINITY;
  Stateless t("StatelessRandomBinomial", {8});
  t.Attr("dtype", DT_DOUBLE);
  t.Input(Doubles({10, 10, -1, nan, inf, 1e300, 1e18, 1e300}));
  t.Input(Doubles({nan, -1, .5, .5, .5, .5, 1e-18, 1e-300}));
  ASSERT_EQ(t.Run(), OkStatus());
  const double* x = t.Output(0).data<double>();
  EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[3]) && std::isnan(x[4]));
  EXPECT_EQ(x[1], 0);
  EXPECT_EQ(x[2], 0);
  EXPECT_NEAR(x[5] / 1e300, .5, .01);
  EXPECT_LT(x[6], 20);
  EXPECT_LT(x[7], 20);
  Stateless ints("StatelessRandomBinomial", {2});
  ints.Attr("dtype", DT_INT32);
  ints.Input(Doubles({1e300, nan})).Input(Doubles({.5, .5}));
  ASSERT_EQ(ints.Run(), OkStatus());
  ExpectEqual(ints.Output(0), Ints({INT32_MAX, 0}));
}

TEST(StatelessRandomTest, ParameterizedTruncatedNormal) {
  const float inf = INFINITY;
  Stateless t("StatelessParameterizedTruncatedNormal", {3, 5});
  t.Input(Floats({0, 1, 2, 0, 10})).Input(Floats({1, 2, .5, 1, 1}));
  t.Input(Floats({-2, 0, 3, .1f, -inf})).Input(Floats({2, inf, 4, .2f, 5}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(
      t.Output(0),
      MakeTensor<float>({3, 5}, {.5441101f, 2.6834571f, 3.1527064f, .15906385f,
                                 4.8946104f, .20738031f, 4.8793736f, 3.0523262f,
                                 .16260678f, 4.9549394f, .07356432f, 2.3025155f,
                                 3.1040874f, .19221205f, 4.8571115f}));
  Stateless d("StatelessParameterizedTruncatedNormal", {3, 5});
  d.Input(Doubles({0, 1, 2, 0, 10})).Input(Doubles({1, 2, .5, 1, 1}));
  d.Input(Doubles({-2, 0, 3, .1, -inf})).Input(Doubles({2, inf, 4, .2, 5}));
  ASSERT_EQ(d.Run(), OkStatus());
  ExpectClose(
      d.Output(0),
      MakeTensor<double>(
          {3, 5}, {-0.1423118100189212, 2.200718557601929, 3.0665710261545147,
                   0.18094343665826942, 4.743086623208452, 0.7406072461585091,
                   1.277151784918264, 3.3175052567680243, 0.14235661873840594,
                   4.885975239878515, -1.469047669443883, 1.5110059861087386,
                   3.096236919574975, 0.1306663597432236, 4.937525709430237}),
      1e-13);
  // One set of parameters, spread over operands of different ranks.
  Stateless one("StatelessParameterizedTruncatedNormal", {6, 1});
  one.Input(MakeScalar<float>(0)).Input(Floats({1}));
  one.Input(MakeScalar<float>(-1.4f)).Input(MakeScalar<float>(1));
  ASSERT_EQ(one.Run(), OkStatus());
  ExpectClose(one.Output(0),
              MakeTensor<float>({6, 1}, {.5441101f, .20738031f, .07356432f,
                                         .04643455f, -1.3015898f, -.9538565f}));
}

TEST(StatefulTruncatedNormalTest, SameNumbersAsTensorFlow) {
  const float inf = INFINITY;
  OpTester t("ParameterizedTruncatedNormal");
  t.Attr("seed", 1).Attr("seed2", 2).Input(Ints({3, 5}));
  t.Input(Floats({0, 1, 10})).Input(Floats({1, 2, 1}));
  t.Input(Floats({-2, 3, -inf})).Input(Floats({2, 4, 5}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(
      t.Output(0),
      MakeTensor<float>(
          {3, 5}, {-1.0467793f, .8397046f, 1.2358364f, .3037427f, 1.2963251f,
                   3.8690896f, 3.0422273f, 3.353646f, 3.2380319f, 3.5988817f,
                   4.689284f, 4.923976f, 4.9674478f, 4.789058f, 4.862195f}));
  OpTester one("ParameterizedTruncatedNormal");
  one.Attr("seed", 1).Attr("seed2", 2).Input(Ints({250}));
  for (float p : {0.f, 1.f, .5f, .9f}) one.Input(MakeScalar<float>(p));
  ASSERT_EQ(one.Run(), OkStatus());
  // A batch has 100 numbers.
  ExpectClose(one.Output(0).Slice(98, 104),
              Floats({.8567386f, .8105482f, .55386835f, .6743294f, .55740833f,
                      .82735443f}));
}

TEST(RandomGammaGradTest, Values) {
  OpTester t("RandomGammaGrad");
  t.Input(Doubles({.3, 1, 7, 200, .001, -1}));
  t.Input(Doubles({.2, 1.3, 5, 210, 1e-5, 1}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(
      t.Output(0),
      Doubles({1.2120372612897217, 1.3365896776306756, 0.8613410926736427,
               1.0254476436926852, 0.10937472778081823, NAN}),
      1e-10);
}

TEST(StatelessShuffleTest, Rows) {
  OpTester t("StatelessShuffle");
  t.Input(Ints({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  t.Input(MakeTensor<uint64_t>({1}, {5}));
  t.Input(MakeTensor<uint64_t>({2}, {1, 2})).Input(MakeScalar<int32_t>(1));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Ints({1, 4, 6, 3, 5, 2, 8, 9, 7, 0}));
}

struct IndexShuffle : OpTester {
  IndexShuffle(Tensor index, Tensor seed, Tensor max_index)
      : OpTester("RandomIndexShuffle") {
    Input(std::move(index)).Input(std::move(seed)).Input(std::move(max_index));
  }
};

TEST(RandomIndexShuffleTest, SameIndicesAsTensorFlow) {
  const struct {
    int64_t max_index;
    std::vector<int64_t> want;
  } cases[] = {{0, {0}},
               {1, {1, 0}},
               {5, {2, 0, 3, 4, 5, 1}},
               {255, {158, 197, 156, 129, 107, 53}},
               {70000, {13622, 45065, 36391, 50692, 5714, 36952}},
               {int64_t{1} << 33,
                {3497874, 11886211, 20274608, 28662945, 37050838, 45439175}}};
  for (const auto& c : cases) {
    const auto n = static_cast<int64_t>(c.want.size());
    Tensor index(DT_INT64, TensorShape({n}));
    for (int64_t i = 0; i < n; ++i) index.data<int64_t>()[i] = i;
    IndexShuffle t(index, MakeTensor<uint32_t>({3}, {1, 2, 3}),
                   MakeScalar<int64_t>(c.max_index));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<int64_t>({n}, c.want));
  }
  IndexShuffle rounds(Ints({0, 1, 2, 3, 4, 5}),
                      MakeTensor<int64_t>({3}, {1, 2, 3}),
                      MakeScalar<int32_t>(9));
  rounds.Attr("rounds", 8);
  ASSERT_EQ(rounds.Run(), OkStatus());
  ExpectEqual(rounds.Output(0), Ints({6, 9, 4, 1, 3, 2}));
  IndexShuffle wide(Ints({0, 1, 2, 3, 4, 5}),
                    MakeTensor<int64_t>({3}, {-1, (int64_t{1} << 40) + 7, 3}),
                    MakeScalar<int32_t>(9));
  ASSERT_EQ(wide.Run(), OkStatus());
  ExpectEqual(wide.Output(0), Ints({8, 2, 4, 1, 3, 0}));
  IndexShuffle seeds(MakeScalar<int32_t>(3),
                     MakeTensor<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}),
                     Ints({9, 8}));
  ASSERT_EQ(seeds.Run(), OkStatus());
  ExpectEqual(seeds.Output(0), Ints({4, 7}));
  // The power of two whose blocks are too narrow still has an answer.
  IndexShuffle edge(MakeScalar<int32_t>(65536), Ints({1, 2, 3}),
                    MakeScalar<int32_t>(65536));
  ASSERT_EQ(edge.Run(), OkStatus());
  EXPECT_LE(edge.Output(0).scalar<int32_t>(), 65536);
}

TEST(RandomIndexShuffleTest, EachIndexOnce) {
  Tensor index(DT_INT32, TensorShape({1000}));
  for (int i = 0; i < 1000; ++i) index.data<int32_t>()[i] = i;
  IndexShuffle t(index, Ints({4, 5, 6}), MakeScalar<int32_t>(999));
  ASSERT_EQ(t.Run(), OkStatus());
  Tensor got = t.Output(0);
  std::sort(got.data<int32_t>(), got.data<int32_t>() + 1000);
  ExpectEqual(got, index);
}

TEST(RandomIndexShuffleTest, Refusals) {
  const Tensor seed = Ints({1, 2, 3});
  const Tensor nine = MakeScalar<int32_t>(9);
  ExpectError(IndexShuffle(MakeScalar<int32_t>(11), seed, nine).Run(), kRefused,
              "max_index must be >= index, but 9 < 11");
  ExpectError(IndexShuffle(MakeScalar<int32_t>(-1), seed, nine).Run(), kRefused,
              "index must be >= 0 but was -1");
  ExpectError(IndexShuffle(nine, seed, MakeScalar<int32_t>(-1)).Run(), kRefused,
              "max_index must be >= 0 but was -1");
  ExpectError(IndexShuffle(nine, Ints({1, 2}), nine).Run(), kRefused,
              "Seed must be a vector of size [3]");
  ExpectError(IndexShuffle(nine, MakeScalar<int32_t>(3), nine).Run(), kRefused,
              "Seed must be a vector of size [3]");
  ExpectError(IndexShuffle(Ints({1, 2}), seed, Ints({9, 9, 9})).Run(), kRefused,
              "different numbers of elements");
  for (int rounds : {0, 2, 3, 5, 1 << 30, -4}) {
    IndexShuffle t(nine, seed, nine);
    ExpectError(t.Attr("rounds", rounds).Run(), kRefused,
                "rounds must be even");
  }
}

TEST(StatelessRandomTest, NoSamplesOfAnyParameters) {
  for (const char* op : {"StatelessRandomGammaV2", "StatelessRandomPoisson"}) {
    Stateless t(op, {0, 2});
    t.Attr("dtype", DT_DOUBLE).Input(Doubles({1, 2, 3}));
    ASSERT_EQ(t.Run(), OkStatus()) << op;
    EXPECT_EQ(t.Output(0).shape(), TensorShape({0, 2})) << op;
  }
}

TEST(StatelessRandomTest, Refusals) {
  const char* kEnds = "Shape passed in must end with broadcasted shape";
  Stateless poisson("StatelessRandomPoisson", {3, 2});
  poisson.Attr("dtype", DT_INT32).Input(Doubles({1, 2, 3}));
  ExpectError(poisson.Run(), kRefused, kEnds);
  Stateless gamma("StatelessRandomGammaV2", {});
  ExpectError(gamma.Input(Doubles({1, 2, 3})).Run(), kRefused, kEnds);
  Stateless binomial("StatelessRandomBinomial", {3});
  binomial.Input(Doubles({1, 2, 3})).Input(Doubles({1, 2}));
  ExpectError(binomial.Run(), kRefused, "Incompatible shapes");
  OpTester seed("StatelessRandomGammaV2");
  seed.Input(Ints({3})).Input(Ints({1, 2, 3})).Input(Doubles({1, 2, 3}));
  ExpectError(seed.Run(), kRefused, "seed must have shape [2]");
  Stateless negative("StatelessRandomGammaV2", {-3});
  ExpectError(negative.Input(Doubles({1, 2, 3})).Run(), kRefused,
              "Dimension -3 must be >= 0");
  const double bad[][4] = {{0, -1, 0, 1},  {0, 1, 1, 1},
                           {NAN, 1, 0, 1}, {0, NAN, 0, 1},
                           {0, 1, NAN, 1}, {0, 1, -INFINITY, INFINITY}};
  for (const auto& p : bad) {
    Stateless t("StatelessParameterizedTruncatedNormal", {3});
    for (double x : p) t.Input(MakeScalar<double>(x));
    ExpectError(t.Run(), kRefused, "Invalid parameters");
  }
}

TEST(StatelessSampleDistortedBoundingBoxTest, SameCropAsTensorFlow) {
  OpTester t("StatelessSampleDistortedBoundingBox");
  t.Input(Ints({100, 200, 3}));
  t.Input(MakeTensor<float>({1, 1, 4}, {.1f, .2f, .6f, .7f}));
  t.Input(MakeScalar<float>(.5f)).Input(Ints({5, 6}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Ints({1, 79, 0}));
  ExpectEqual(t.Output(1), Ints({87, 79, -1}));
}

}  // namespace
}  // namespace headrace
