// Expected values are TensorFlow's.
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Vec(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}
Tensor Rows(int64_t size, const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size()) / size, size}, v);
}
Tensor Six() { return Rows(2, {0, 0, 1, 0, 10, 10, 11, 10, 0, 1, 20, -5}); }

struct Nearest {
  Tensor indices, distances;
};
Status NearestTo(const Tensor& points, const Tensor& centers, Tensor k,
                 Nearest* out) {
  OpTester t("NearestNeighbors");
  HR_RETURN_IF_ERROR(t.Input(points).Input(centers).Input(k).Run());
  *out = {t.Output(0), t.Output(1)};
  return OkStatus();
}

TEST(NearestNeighborsTest, Results) {
  const Tensor centers = Rows(2, {0, 0, 10, 10, 5, 5});
  const struct {
    Tensor points, centers;
    int64_t k, columns;
    std::vector<int64_t> indices;
    std::vector<float> distances;
  } cases[] = {
      {Six(), centers, 1, 1, {0, 0, 1, 1, 0, 1}, {0, 1, 0, 1, 1, 325}},
      {Six(),
       centers,
       2,
       2,
       {0, 2, 0, 2, 1, 2, 1, 2, 0, 2, 1, 2},
       {0, 50, 1, 41, 0, 50, 1, 61, 1, 41, 325, 325}},
      {Six(),
       centers,
       9,
       3,
       {0, 2, 1, 0, 2, 1, 1, 2, 0, 1, 2, 0, 0, 2, 1, 1, 2, 0},
       {0, 50, 200, 1, 41, 181, 0, 50, 200, 1, 61, 221, 1, 41, 181, 325, 325,
        425}},
      {Six(), centers, 0, 0, {}, {}},
      {Six(), MakeTensor<float>({0, 2}, {}), 1, 0, {}, {}},
      {Rows(2, {0, 0}), Rows(2, {1, 0, 0, 1, -1, 0}), 2, 2, {0, 1}, {1, 1}},
      {Rows(2, {kNan, 0}), centers, 2, 2, {0, 1}, {kNan, kNan}},
      {MakeTensor<float>({2, 0}, {}),
       MakeTensor<float>({3, 0}, {}),
       2,
       2,
       {0, 1, 0, 1},
       {0, 0, 0, 0}},
      {Rows(11, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
       Rows(11, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9,
                 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
       2,
       2,
       {1, 0},
       {1, 4}},
  };
  for (const auto& c : cases) {
    Nearest out;
    ASSERT_EQ(NearestTo(c.points, c.centers, MakeScalar(c.k), &out),
              OkStatus());
    const TensorShape shape({c.points.dim_size(0), c.columns});
    ExpectEqual(out.indices, MakeTensor<int64_t>(shape, c.indices));
    ExpectClose(out.distances, MakeTensor<float>(shape, c.distances));
  }
}

TEST(NearestNeighborsTest, Refusals) {
  const Tensor one = MakeScalar<int64_t>(1);
  const struct {
    Tensor points, centers, k;
    const char* message;
  } cases[] = {
      {Six(), Six(), MakeScalar<int64_t>(-1), "k >= 0"},
      {MakeTensor<float>({0, 2}, {}), Six(), one, "points.rows() > 0"},
      {Six(), Rows(3, {1, 2, 3}), one, "2 vs 3"},
      {Vec({1, 2}), Six(), one, "points should be a matrix"},
      {Six(), Vec({1, 2}), one, "centers should be a matrix"},
      {Six(), Six(), MakeTensor<int64_t>({1}, {1}), "k should be a scalar"},
  };
  for (const auto& c : cases) {
    Nearest out;
    ExpectError(NearestTo(c.points, c.centers, c.k, &out), kInvalid, c.message);
  }
}

Status PlusPlus(const Tensor& points, int64_t samples, int64_t seed,
                int64_t retries, Tensor* out) {
  OpTester t("KmeansPlusPlusInitialization");
  t.Input(points).Input(MakeScalar(samples)).Input(MakeScalar(seed));
  HR_RETURN_IF_ERROR(t.Input(MakeScalar(retries)).Run());
  *out = t.Output(0);
  return OkStatus();
}

TEST(KmeansPlusPlusTest, DrawsAsTensorFlowDoes) {
  const Tensor squares = Rows(1, {0, 1, 4, 9, 16, 25, 36, 49});
  // Their squares are no numbers of float's: all distances are 0.
  const Tensor tiny = Rows(1, {1e-30f, 2e-30f, 3e-30f, 4e-30f});
  const struct {
    Tensor points;
    int64_t samples, seed, retries;
    std::vector<float> out;
  } cases[] = {
      {Six(), 1, 0, 0, {11, 10}},
      {Six(), 3, 1, 0, {0, 1, 20, -5, 10, 10}},
      {Six(), 3, 1, 3, {1, 0, 10, 10, 20, -5}},
      {Six(), 6, 42, 2, {1, 0, 10, 10, 20, -5, 0, 1, 0, 0, 11, 10}},
      {Six(), 3, 42, -1, {1, 0, 10, 10, 20, -5}},
      {Six(), 3, -42, 1, {0, 0, 11, 10, 20, -5}},
      {squares, 4, 0, 2, {16, 49, 4, 36}},
      {squares, 4, 1, 2, {9, 49, 36, 1}},
      {squares, 4, 2, 2, {25, 4, 49, 36}},
      {squares, 4, 3, 2, {4, 36, 49, 25}},
      {squares, 4, 4, 2, {9, 49, 25, 0}},
      {Rows(2, {1, 1, 1, 1, 1, 1}), 2, 3, 1, {1, 1, 1, 1}},
      {tiny, 2, 0, 0, {2e-30f, 4e-30f}},
      {MakeTensor<float>({3, 0}, {}), 2, 7, 2, {}},
  };
  for (const auto& c : cases) {
    Tensor out;
    ASSERT_EQ(PlusPlus(c.points, c.samples, c.seed, c.retries, &out),
              OkStatus());
    ExpectEqual(out,
                MakeTensor<float>({c.samples, c.points.dim_size(1)}, c.out));
  }
}

TEST(KmeansPlusPlusTest, NotANumberIsNoFailure) {
  Tensor out;
  ASSERT_EQ(PlusPlus(Rows(2, {kNan, 1, 1, 1, kInf, 2}), 3, 7, 2, &out),
            OkStatus());
  EXPECT_EQ(out.shape(), TensorShape({3, 2}));
}

TEST(KmeansPlusPlusTest, Refusals) {
  Tensor out;
  ExpectError(PlusPlus(Six(), 7, 42, 2, &out), kInvalid, "7 vs 6");
  ExpectError(PlusPlus(Six(), 0, 42, 2, &out), kInvalid, "num_to_sample > 0");
  ExpectError(PlusPlus(Vec({1, 1}), 1, 3, 1, &out), kInvalid, "matrix");
  ExpectError(PlusPlus(MakeTensor<float>({0, 2}, {}), 1, 1, 1, &out), kInvalid,
              "points.rows() > 0");
}

TEST(Kmc2ChainInitializationTest, WalksAsTensorFlowDoes) {
  const std::vector<float> eight = {.5, .1, .9, 2, .3, .7, .05, 1.5};
  const struct {
    std::vector<float> distances;
    int64_t seed, index;
  } cases[] = {
      {{1, 2, 3, 4}, 0, 3}, {{5}, 0, 0},       {eight, 0, 7},
      {eight, 1, 7},        {eight, 2, 7},     {eight, 3, 7},
      {eight, 4, 3},        {eight, 5, 7},     {{0, 0, 1, 0}, 3, 2},
      {{kNan, 1, 2}, 3, 0}, {{0, 0, 0}, 3, 0}, {{-1, 1, -2, 3}, 3, 3},
      {{1, kInf, 2}, 3, 1},
  };
  for (const auto& c : cases) {
    OpTester t("KMC2ChainInitialization");
    t.Input(Vec(c.distances)).Input(MakeScalar(c.seed));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeScalar(c.index));
  }
  for (const Tensor& bad : {Vec({}), Rows(1, {1})}) {
    OpTester t("KMC2ChainInitialization");
    t.Input(bad).Input(MakeScalar<int64_t>(0));
    ExpectError(t.Run(), kInvalid, "vector of at least one");
  }
}

template <typename T, typename Out>
void CheckIsotonic(const TensorShape& shape, const std::vector<T>& in,
                   const std::vector<Out>& out,
                   const std::vector<int32_t>& segments) {
  OpTester t("IsotonicRegression");
  t.Attr("output_dtype", DataTypeToEnum<Out>::value);
  ASSERT_EQ(t.Input(MakeTensor<T>(shape, in)).Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<Out>(shape, out));
  ExpectEqual(t.Output(1), MakeTensor<int32_t>(shape, segments));
}

TEST(IsotonicRegressionTest, Results) {
  CheckIsotonic<float, float>({3, 3}, {3, 1, 2, 1, 2, 3, 3, 2, 1},
                              {3, 1.5, 1.5, 2, 2, 2, 3, 2, 1},
                              {0, 1, 1, 0, 0, 0, 0, 1, 2});
  CheckIsotonic<float, float>({1, 5}, {2, 2, 1, 1, 0}, {2, 2, 1, 1, 0},
                              {0, 1, 2, 3, 4});
  CheckIsotonic<float, float>({1, 4}, {3, 1, 2, 1.5}, {3, 1.5, 1.5, 1.5},
                              {0, 1, 1, 2});
  CheckIsotonic<float, float>({1, 5}, {1, 1, 1, 2, 2},
                              {1.4f, 1.4f, 1.4f, 1.4f, 1.4f}, {0, 0, 0, 0, 0});
  CheckIsotonic<float, float>({1, 4}, {1, kNan, 3, 4}, {1, kNan, 3.5, 3.5},
                              {0, 1, 2, 2});
  CheckIsotonic<float, float>(
      {12},
      {-1.72628260f, 0.17742614f, -0.40178093f, -1.63019836f, 0.46278226f,
       -0.90729839f, 0.05194540f, 0.72909057f, 0.12898292f, 1.13940072f,
       -1.23482585f, 0.40234163f},
      {-0.19759318f, -0.19759318f, -0.19759318f, -0.19759318f, -0.19759318f,
       -0.19759318f, -0.19759318f, -0.19759318f, -0.19759318f, -0.19759318f,
       -0.41624212f, -0.41624212f},
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1});
  CheckIsotonic<float, float>({}, {3}, {3}, {0});
  CheckIsotonic<float, float>({2, 0}, {}, {}, {});
  CheckIsotonic<float, float>({0, 3}, {}, {}, {});
  CheckIsotonic<double, double>({1, 5}, {1, 3, 2.5, 4, 0},
                                {2.625, 2.625, 2.625, 2.625, 0},
                                {0, 0, 0, 0, 1});
  CheckIsotonic<int8_t, float>({1, 1, 3}, {3, 1, 2}, {3, 1.5, 1.5}, {0, 1, 1});
  CheckIsotonic<int16_t, float>({1, 3}, {3, 1, 2}, {3, 1.5, 1.5}, {0, 1, 1});
  CheckIsotonic<int32_t, double>(
      {12}, {39, -14, 21, 9, -25, 84, -84, 52, 57, 49, 10, -75},
      {39, 149.0 / 9, 149.0 / 9, 149.0 / 9, 149.0 / 9, 149.0 / 9, 149.0 / 9,
       149.0 / 9, 149.0 / 9, 149.0 / 9, 10, -75},
      {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3});
  CheckIsotonic<int64_t, double>({1, 3}, {3, 4, 2}, {3.5, 3.5, 2}, {0, 0, 1});
  CheckIsotonic<half, half>({1, 3}, {half(3), half(1), half(2.5f)},
                            {half(3), half(1.75f), half(1.75f)}, {0, 1, 1});
  CheckIsotonic<bfloat16, bfloat16>(
      {1, 3}, {bfloat16(1), bfloat16(3), bfloat16(2.5f)},
      {bfloat16(2.171875f), bfloat16(2.171875f), bfloat16(2.171875f)},
      {0, 0, 0});
}

TEST(IsotonicRegressionTest, TypesAreThoseOfTensorFlow) {
  OpTester t("IsotonicRegression");
  t.Attr("output_dtype", DT_FLOAT).Input(MakeTensor<uint8_t>({1}, {1}));
  ExpectError(t.Run(), kInvalid, "No OpKernel was registered");
}

}  // namespace
}  // namespace headrace
