#include <limits>

#include "framework/op_tester.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = std::numeric_limits<float>::lowest();

template <typename T>
Tensor Vec(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}
const Tensor& Data() {
  static const Tensor t = MakeTensor<float>({4, 2}, {1, 2, 3, 4, -5, 6, 7, 8});
  return t;
}

TEST(SegmentTest, Sorted) {
  const struct {
    const char* op;
    std::vector<float> want;
  } cases[] = {{"SegmentSum", {0, 0, 4, 6, 0, 0, 2, 14}},
               {"SegmentMean", {0, 0, 2, 3, 0, 0, 1, 7}},
               {"SegmentProd", {1, 1, 3, 8, 1, 1, -35, 48}},
               {"SegmentMax", {0, 0, 3, 4, 0, 0, 7, 8}},
               {"SegmentMin", {0, 0, 1, 2, 0, 0, -5, 6}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    OpTester t(c.op);
    t.Input(Data()).Input(Vec<int64_t>({1, 1, 3, 3}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({4, 2}, c.want));
    OpTester empty(c.op);
    empty.Input(MakeTensor<half>({0, 2}, {})).Input(Vec<int32_t>({}));
    ASSERT_EQ(empty.Run(), OkStatus());
    EXPECT_EQ(empty.Output(0).shape(), TensorShape({0, 2}));
  }
  for (const auto& [ids, message] :
       std::vector<std::pair<std::vector<int32_t>, std::string>>{
           {{0, 2, 1, 3}, "segment ids are not increasing"},
           {{-1, 0, 0, 0}, "must be >= 0"},
           {{0, 1}, "same size as dimension 0"}}) {
    OpTester t("SegmentSum");
    t.Input(Data()).Input(Vec(ids));
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument, message);
  }
  OpTester mean("SegmentMean");
  mean.Input(Vec<int32_t>({-1, -2, 4})).Input(Vec<int32_t>({0, 0, 2}));
  ASSERT_EQ(mean.Run(), OkStatus());
  ExpectEqual(mean.Output(0), Vec<int32_t>({-1, 0, 4}));
}

TEST(SegmentTest, Unsorted) {
  const struct {
    const char* op;
    std::vector<float> want;
  } cases[] = {{"UnsortedSegmentSum", {3, 4, 0, 0, -4, 8}},
               {"UnsortedSegmentProd", {3, 4, 1, 1, -5, 12}},
               {"UnsortedSegmentMax", {3, 4, kLowest, kLowest, 1, 6}},
               {"UnsortedSegmentMin", {3, 4, -kLowest, -kLowest, -5, 2}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    OpTester t(c.op);
    t.Input(Data()).Input(Vec<int32_t>({2, 0, 2, -1}));
    t.Input(MakeScalar<int32_t>(3));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({3, 2}, c.want));
  }
  OpTester h("UnsortedSegmentSum");
  h.Input(MakeTensor<half>({2, 2}, {half(1), half(2), half(3), half(4)}));
  h.Input(MakeTensor<int64_t>({2, 2}, {0, 1, 0, -3}));
  h.Input(MakeScalar<int64_t>(2));
  ASSERT_EQ(h.Run(), OkStatus());
  ExpectEqual(h.Output(0), Vec<half>({half(4), half(2)}));
  OpTester nan("UnsortedSegmentMax");
  nan.Input(Vec<float>({kNan, 1})).Input(Vec<int32_t>({0, 0}));
  nan.Input(MakeScalar<int32_t>(1));
  ASSERT_EQ(nan.Run(), OkStatus());
  ExpectEqual(nan.Output(0), Vec<float>({1}));

  OpTester bad("UnsortedSegmentSum");
  bad.Input(Data()).Input(Vec<int32_t>({0, 1, 5, 0}));
  bad.Input(MakeScalar<int32_t>(4));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument,
              "segment_ids[2] = 5 is out of range [0, 4)");
  OpTester negative("UnsortedSegmentSum");
  negative.Input(Data()).Input(Vec<int32_t>({0, 1, 0, 0}));
  negative.Input(MakeScalar<int32_t>(-1));
  ExpectError(negative.Run(), absl::StatusCode::kInvalidArgument,
              "must not be negative");
}

TEST(SegmentTest, Sparse) {
  const struct {
    const char* op;
    float divisor;
  } cases[] = {{"SparseSegmentSum", 1},
               {"SparseSegmentMean", 2},
               {"SparseSegmentSqrtN", 1.41421356f}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    const float d = c.divisor;
    OpTester t(c.op);
    t.Input(Data()).Input(Vec<int32_t>({3, 0, 2}));
    t.Input(Vec<int32_t>({0, 0, 2}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0),
                MakeTensor<float>({3, 2}, {8 / d, 10 / d, 0, 0, -5, 6}));
    OpTester n(std::string(c.op) + "WithNumSegments");
    n.Input(Data()).Input(Vec<int64_t>({3, 0})).Input(Vec<int32_t>({1, 1}));
    n.Input(MakeScalar<int32_t>(3));
    ASSERT_EQ(n.Run(), OkStatus());
    ExpectClose(n.Output(0),
                MakeTensor<float>({3, 2}, {0, 0, 8 / d, 10 / d, 0, 0}));
    OpTester g(std::string(c.op) + "Grad");
    g.Input(MakeTensor<float>({1, 2}, {2, 4})).Input(Vec<int32_t>({2, 2}));
    g.Input(Vec<int32_t>({0, 0})).Input(MakeScalar<int32_t>(3));
    ASSERT_EQ(g.Run(), OkStatus());
    ExpectClose(g.Output(0),
                MakeTensor<float>({3, 2}, {0, 0, 0, 0, 4 / d, 8 / d}));
  }
  OpTester bad("SparseSegmentSum");
  bad.Input(MakeTensor<float>({3, 1}, {1, 2, 3}));
  bad.Input(Vec<int32_t>({0, 1, 3})).Input(Vec<int32_t>({0, 0, 1}));
  ExpectError(bad.Run(), absl::StatusCode::kInvalidArgument,
              "Bad: indices[2] == 3 out of range [0, 3)");
  OpTester few("SparseSegmentSumWithNumSegments");
  few.Input(Data()).Input(Vec<int32_t>({0})).Input(Vec<int32_t>({5}));
  few.Input(MakeScalar<int32_t>(3));
  ExpectError(few.Run(), absl::StatusCode::kInvalidArgument,
              "segment ids must be < num_segments");
}

TEST(HistogramTest, CountsAndBins) {
  OpTester b("Bincount");
  b.Input(MakeTensor<int32_t>({2, 2}, {0, 1, 1, 5})).Input(MakeScalar(3));
  b.Input(Vec<float>({}));
  ASSERT_EQ(b.Run(), OkStatus());
  ExpectEqual(b.Output(0), Vec<float>({1, 2, 0}));
  OpTester negative("Bincount");
  negative.Input(Vec<int32_t>({-1})).Input(MakeScalar(3)).Input(Vec<float>({}));
  ExpectError(negative.Run(), absl::StatusCode::kInvalidArgument,
              "must be non-negative");
  OpTester huge("Bincount");
  huge.Input(Vec<int32_t>({1})).Input(MakeScalar(1879048192));
  huge.Input(Vec<float>({}));
  ExpectError(huge.Run(), absl::StatusCode::kResourceExhausted, "bins");
  OpTester d("DenseBincount");
  d.Attr("binary_output", true);
  d.Input(MakeTensor<int32_t>({2, 3}, {0, 1, 1, 2, 2, 9})).Input(MakeScalar(3));
  d.Input(Vec<int64_t>({}));
  ASSERT_EQ(d.Run(), OkStatus());
  ExpectEqual(d.Output(0), MakeTensor<int64_t>({2, 3}, {1, 1, 0, 0, 0, 1}));
  OpTester h("HistogramFixedWidth");
  h.Input(Vec<float>({-1, 0, 1.5f, 2, 5, 15})).Input(Vec<float>({0, 5}));
  h.Input(MakeScalar(5));
  ASSERT_EQ(h.Run(), OkStatus());
  ExpectEqual(h.Output(0), Vec<int32_t>({2, 1, 1, 0, 2}));
  OpTester nan("HistogramFixedWidth");
  nan.Input(Vec<float>({kNan})).Input(Vec<float>({0, 5})).Input(MakeScalar(5));
  ExpectError(nan.Run(), absl::StatusCode::kInvalidArgument, "NaN");
  OpTester z("Bucketize");
  z.Attr("boundaries", std::vector<float>{1, 2});
  z.Input(Vec<float>({0, 1, 2.5f, 10}));
  ASSERT_EQ(z.Run(), OkStatus());
  ExpectEqual(z.Output(0), Vec<int32_t>({0, 1, 2, 2}));
}

// More columns than one block of work has.
TEST(UnsortedSegmentTest, WideRows) {
  constexpr int64_t kRows = 3, kColumns = 1300;
  std::vector<float> x(kRows * kColumns), want(2 * kColumns);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    x[i] = static_cast<float>(i % 11);
    want[(i / kColumns == 1 ? 0 : kColumns) + i % kColumns] += x[i];
  }
  OpTester t("UnsortedSegmentSum");
  t.Input(MakeTensor<float>({kRows, kColumns}, x));
  t.Input(MakeTensor<int32_t>({3}, {1, 0, 1})).Input(MakeScalar<int32_t>(2));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, kColumns}, want));
}

}  // namespace
}  // namespace headrace
