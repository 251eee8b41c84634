// Fractional pooling; sequences and values wanted are TensorFlow's.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class FractionalPool : public OpTester {
 public:
  FractionalPool(const char* op, float rows, float columns, int64_t seed,
                 int64_t seed2)
      : OpTester(op) {
    Attr("pooling_ratio", std::vector<float>{1, rows, columns, 1});
    Attr("deterministic", true).Attr("seed", seed).Attr("seed2", seed2);
  }
};

std::vector<int64_t> Ends(const Tensor& t) {
  return {t.data<int64_t>(), t.data<int64_t>() + t.NumElements()};
}

TEST(FractionalPoolTest, EqualSeedsGiveTensorFlowsSequences) {
  const struct {
    int64_t high, wide;
    float rows, columns;
    bool pseudo_random;
    int64_t seed, seed2;
    std::vector<int64_t> row_ends, column_ends;
  } cases[] = {
      {10,
       9,
       1.414f,
       1.9f,
       true,
       1,
       2,
       {0, 1, 3, 4, 6, 7, 8, 10},
       {0, 2, 4, 7, 9}},
      {10,
       9,
       1.414f,
       1.9f,
       false,
       1,
       2,
       {0, 1, 2, 3, 5, 7, 9, 10},
       {0, 2, 4, 7, 9}},
      // Rows that are all there take their numbers from the stream too.
      {7, 25, 1.0f, 1.2f, true, -3, 77, {0, 1, 2, 3, 4, 5, 6, 7}, {0,  1,  2,
                                                                   4,  5,  6,
                                                                   7,  9,  10,
                                                                   11, 12, 14,
                                                                   15, 16, 17,
                                                                   19, 20, 21,
                                                                   22, 24, 25}},
      {7,
       25,
       1.0f,
       1.2f,
       false,
       -3,
       77,
       {0, 1, 2, 3, 4, 5, 6, 7},
       {0,  2,  3,  5,  6,  7,  8,  9,  10, 11, 12,
        14, 16, 18, 19, 20, 21, 22, 23, 24, 25}},
      {14,
       38,
       1.87f,
       1.62f,
       false,
       4,
       175332,
       {0, 2, 4, 6, 8, 10, 12, 14},
       {0,  1,  2,  4,  5,  7,  8,  10, 12, 14, 16, 17,
        19, 21, 23, 24, 26, 28, 30, 32, 33, 35, 37, 38}},
      {3, 37, 1.98f, 1.25f, true, 2, 86108, {0, 3}, {0,  1,  2,  4,  5,  6,
                                                     7,  9,  10, 11, 12, 14,
                                                     15, 16, 18, 19, 20, 21,
                                                     23, 24, 25, 27, 28, 29,
                                                     30, 32, 33, 34, 35, 37}},
  };
  for (const auto& c : cases) {
    FractionalPool t("FractionalMaxPool", c.rows, c.columns, c.seed, c.seed2);
    t.Attr("pseudo_random", c.pseudo_random);
    t.Input(Tensor(DT_FLOAT, {1, c.high, c.wide, 1}));
    for (int run = 0; run < 2; ++run) {
      ASSERT_EQ(t.Run(), OkStatus());
      EXPECT_EQ(Ends(t.Output(1)), c.row_ends);
      EXPECT_EQ(Ends(t.Output(2)), c.column_ends);
    }
  }
}

std::vector<int> Image() {
  return {9, 1, 5, 5, -3, 2, 4, 4, 0, 8,  7, 1, 6, -2, 3,
          3, 2, 2, 1, 8,  8, 0, 5, 6, -7, 2, 2, 9, 9,  3};
}
template <typename T>
Tensor Made(const TensorShape& shape, const std::vector<double>& values) {
  return MakeTensor<T>(shape, std::vector<T>(values.begin(), values.end()));
}
template <typename T>
Tensor ImageOf() {
  const std::vector<int> image = Image();
  return MakeTensor<T>({1, 5, 6, 1},
                       std::vector<T>(image.begin(), image.end()));
}

struct PoolCase {
  bool overlapping, average;
  std::vector<double> pooled, grad;
};
const std::vector<PoolCase>& PoolCases() {
  static const auto* const cases = new std::vector<PoolCase>{
      {false,
       false,
       {9, 5, 5, 2, 6, 3, 8, 2, 8, 8, 9, 6},
       {12, 0, 24, 36, 0,   48,  0, 0, 0,   84, 0, 0, 60,  0, 72,
        0,  0, 96, 0,  108, 120, 0, 0, 144, 0,  0, 0, 132, 0, 0}},
      {false,
       true,
       {5, 5, 1, 2, 3, 1.5, 5, 1.5, 1, 5, 5.75, 4.5},
       {6,  6,  24, 18, 18, 48, 15, 15, 36, 21, 21, 48, 15, 15, 36,
        21, 21, 48, 27, 27, 60, 33, 33, 72, 27, 27, 60, 33, 33, 72}},
      {true,
       false,
       {9, 8, 8, 2, 8, 8, 8, 6, 8, 9, 9, 6},
       {12, 0, 0, 0, 0,   48, 0, 0, 0,   216, 0, 0, 0,   0, 0,
        0,  0, 0, 0, 168, 0,  0, 0, 240, 0,   0, 0, 252, 0, 0}},
      {true,
       true,
       {23. / 6, 4.5, 10. / 3, 1.5, 32. / 9, 11. / 3, 34. / 9, 3, 7. / 3, 4.75,
        16. / 3, 4.5},
       {2,       2,       8,        12,       6,       30,
        26. / 3, 26. / 3, 80. / 3,  100. / 3, 46. / 3, 214. / 3,
        20. / 3, 20. / 3, 56. / 3,  64. / 3,  28. / 3, 124. / 3,
        74. / 3, 74. / 3, 200. / 3, 220. / 3, 94. / 3, 406. / 3,
        18,      18,      48,       52,       22,      94}}};
  return *cases;
}

// Averages and shares of integers are rounded towards 0.
template <typename T>
void PoolsAndBack() {
  for (const PoolCase& c : PoolCases()) {
    SCOPED_TRACE(absl::StrCat(c.overlapping, c.average));
    const char* const op =
        c.average ? "FractionalAvgPool" : "FractionalMaxPool";
    FractionalPool t(op, 1.5f, 1.4f, 3, 5);
    t.Attr("pseudo_random", true).Attr("overlapping", c.overlapping);
    t.Input(ImageOf<T>());
    ASSERT_EQ(t.Run(), OkStatus());
    EXPECT_EQ(Ends(t.Output(1)), (std::vector<int64_t>{0, 1, 3, 5}));
    EXPECT_EQ(Ends(t.Output(2)), (std::vector<int64_t>{0, 2, 3, 5, 6}));
    ExpectClose(t.Output(0), Made<T>({1, 3, 4, 1}, c.pooled));
    OpTester grad(absl::StrCat(op, "Grad"));
    grad.Attr("overlapping", c.overlapping);
    if (c.average) {
      grad.Input(MakeTensor<int64_t>({4}, {1, 5, 6, 1}));
    } else {
      grad.Input(ImageOf<T>()).Input(t.Output(0));
    }
    std::vector<double> g;
    for (int i = 1; i <= 12; ++i) g.push_back(12 * i);
    grad.Input(Made<T>({1, 3, 4, 1}, g)).Input(t.Output(1)).Input(t.Output(2));
    ASSERT_EQ(grad.Run(), OkStatus());
    ExpectClose(grad.Output(0), Made<T>({1, 5, 6, 1}, c.grad));
  }
}
TEST(FractionalPoolTest, Floats) { PoolsAndBack<float>(); }
TEST(FractionalPoolTest, Doubles) { PoolsAndBack<double>(); }
TEST(FractionalPoolTest, Int32) { PoolsAndBack<int32_t>(); }
TEST(FractionalPoolTest, Int64) { PoolsAndBack<int64_t>(); }

TEST(FractionalPoolTest, OtherwiseSequencesDiffer) {
  OpTester t("FractionalAvgPool");
  t.Attr("pooling_ratio", std::vector<float>{1, 1.3f, 1.3f, 1});
  t.Input(Tensor(DT_FLOAT, {1, 60, 60, 1}));
  ASSERT_EQ(t.Run(), OkStatus());
  const auto first = Ends(t.Output(1));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_NE(Ends(t.Output(1)), first);
  EXPECT_NE(Ends(t.Output(1)), Ends(t.Output(2)));
}

TEST(FractionalPoolTest, Refuses) {
  const auto run = [](const TensorShape& shape, const std::vector<float>& ratio,
                      bool deterministic) {
    OpTester t("FractionalMaxPool");
    t.Attr("pooling_ratio", ratio).Attr("deterministic", deterministic);
    t.Attr("seed", int64_t{1}).Input(Tensor(DT_FLOAT, shape));
    return t.Run();
  };
  const std::vector<float> half = {1, 1.5f, 1.5f, 1};
  ExpectError(run({6, 6, 1}, half, true), kInvalid, "4-dimensional");
  ExpectError(run({1, 6, 6, 1}, half, false), kInvalid, "seed2 should be 0");
  ExpectError(run({1, 6, 6, 1}, {1, 0.9f, 1, 1}, true), kInvalid,
              "smaller than 1");
  ExpectError(run({1, 6, 6, 1}, {1, NAN, 1, 1}, true), kInvalid,
              "smaller than 1");
  ExpectError(run({1, 6, 6, 1}, {1, INFINITY, 1, 1}, true), kInvalid,
              "smaller than 1");
  ExpectError(run({1, 6, 6, 1}, {1, 1, 1, 1, 1}, true), kInvalid, "4 elements");
  ExpectError(run({2, 6, 6, 1}, {2, 1, 1, 1}, true),
              absl::StatusCode::kUnimplemented, "over the batch");
  ExpectError(run({1, 6, 6, 1}, {1, 7, 1, 1}, true), kInvalid,
              "higher than input");
  ExpectError(run({1, 0, 6, 1}, half, true), kInvalid, "higher than input");
  EXPECT_EQ(run({0, 6, 6, 1}, half, true), OkStatus());
}

TEST(FractionalPoolTest, GradientsRefuse) {
  using Longs = std::vector<int64_t>;
  const struct {
    TensorShape grad;
    Longs rows, columns;
    const char* message;
  } cases[] = {
      {{1, 3, 3, 1}, {0, 2, 4}, {0, 2, 4, 6}, "row_pooling_sequence must be a"},
      {{1, 3, 3, 1}, {0, 2, 9, 6}, {0, 2, 4, 6}, "must rise within [0, 6]"},
      {{1, 3, 3, 1}, {0, -2, 4, 6}, {0, 2, 4, 6}, "must rise"},
      {{1, 3, 3, 1}, {-1, 2, 4, 6}, {0, 2, 4, 6}, "must rise"},
      {{1, 3, 3, 1}, {0, 2, 4, 6}, {0, 4, 2, 6}, "col_pooling_sequence must"},
      {{1, 3, 3, 1}, {0, 2, 4, 6}, {0, 2, 2, 6}, "must rise"},
      {{1, 3, 3, 1}, {0, 2, 4, INT64_MAX}, {0, 2, 4, 6}, "must rise"},
      {{2, 3, 3, 1}, {0, 2, 4, 6}, {0, 2, 4, 6}, "with the batch"},
      {{1, 3, 3, 2}, {0, 2, 4, 6}, {0, 2, 4, 6}, "with the batch"},
      {{1, 9, 1}, {0, 2, 4, 6}, {0, 2, 4, 6}, "4-dimensional"},
      {{1, 0, 3, 1}, {0}, {0, 2, 4, 6}, "not empty"},
  };
  for (const auto& c : cases) {
    const auto ends = [](const Longs& v) {
      return MakeTensor<int64_t>({static_cast<int64_t>(v.size())}, v);
    };
    const Tensor grad(DT_INT32, c.grad);
    OpTester max("FractionalMaxPoolGrad"), avg("FractionalAvgPoolGrad");
    max.Input(Tensor(DT_INT32, {1, 6, 6, 1})).Input(grad).Input(grad);
    max.Input(ends(c.rows)).Input(ends(c.columns));
    ExpectError(max.Run(), kInvalid, c.message);
    avg.Input(MakeTensor<int64_t>({4}, {1, 6, 6, 1})).Input(grad);
    avg.Input(ends(c.rows)).Input(ends(c.columns));
    ExpectError(avg.Run(), kInvalid, c.message);
  }
  const auto shape = [](const Longs& v) {
    OpTester t("FractionalAvgPoolGrad");
    t.Input(MakeTensor<int64_t>({static_cast<int64_t>(v.size())}, v));
    t.Input(Tensor(DT_INT32, {1, 1, 1, 1}));
    for (int i = 0; i < 2; ++i) t.Input(MakeTensor<int64_t>({2}, {0, 1}));
    return t.Run();
  };
  EXPECT_EQ(shape({1, 6, 6, 1}), OkStatus());
  ExpectError(shape({1, 6, 6}), kInvalid, "vector of 4 elements");
  EXPECT_FALSE(shape({1, -6, 6, 1}).ok());
  EXPECT_FALSE(shape({1, INT64_MAX, INT64_MAX, 1}).ok());
  EXPECT_FALSE(shape({1, int64_t{1} << 31, int64_t{1} << 28, 1}).ok());
  OpTester other("FractionalMaxPoolGrad");
  other.Input(MakeTensor<int32_t>({1, 1, 2, 1}, {3, 4}));
  for (const int v : {3, 9}) {
    other.Input(MakeTensor<int32_t>({1, 1, 1, 1}, {v}));
  }
  other.Input(MakeTensor<int64_t>({2}, {0, 1}));
  other.Input(MakeTensor<int64_t>({2}, {0, 2}));
  ExpectError(other.Run(), kInvalid, "orig_output is not what pooling");
}

}  // namespace
}  // namespace headrace
