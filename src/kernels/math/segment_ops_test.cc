#include <limits>

#include "framework/kernel/op_tester.h"

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
    const char *op, *gradient_of_rows;
    float divisor;
  } cases[] = {{"SparseSegmentSum", "SparseSegmentSumGradV2", 1},
               {"SparseSegmentMean", "SparseSegmentMeanGradV2", 2},
               {"SparseSegmentSqrtN", "SparseSegmentSqrtNGradV2", 1.41421356f}};
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
    OpTester v2(c.gradient_of_rows);
    v2.Input(MakeTensor<float>({2, 2}, {1, 2, 3, 4}));
    v2.Input(Vec<int64_t>({5, 2, 5})).Input(Vec<int32_t>({0, 0, 1}));
    v2.Input(MakeScalar<int32_t>(7));
    ASSERT_EQ(v2.Run(), OkStatus());
    ExpectClose(
        v2.Output(0),
        MakeTensor<float>({2, 2}, {1 / d, 2 / d, 3 + 1 / d, 4 + 2 / d}));
    ExpectEqual(v2.Output(1), Vec<int64_t>({2, 5}));
    OpTester none(c.gradient_of_rows);
    none.Input(MakeTensor<half>({0, 2}, {})).Input(Vec<int32_t>({}));
    none.Input(Vec<int64_t>({})).Input(MakeScalar<int32_t>(7));
    ASSERT_EQ(none.Run(), OkStatus());
    ExpectEqual(none.Output(0), MakeTensor<half>({0, 2}, {}));
    ExpectEqual(none.Output(1), Vec<int32_t>({}));
    OpTester outside(c.gradient_of_rows);
    outside.Input(MakeTensor<float>({1, 1}, {1})).Input(Vec<int32_t>({7}));
    outside.Input(Vec<int32_t>({0})).Input(MakeScalar<int32_t>(7));
    ExpectError(outside.Run(), absl::StatusCode::kInvalidArgument,
                "Index 7 out of range [0, 7)");
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

TEST(HistogramTest, CountsByRow) {
  const std::vector<float> none, weights = {.5f, 2, 3, 4};
  const Tensor four = Vec<int32_t>({1, 1, 2, 9}), size = MakeScalar(4);
  const Tensor rows = MakeTensor<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 2});
  const auto sparse = [&](Tensor indices, Tensor values,
                          std::vector<int64_t> shape, std::vector<float> w) {
    OpTester t("SparseBincount");
    t.Input(std::move(indices)).Input(std::move(values)).Input(Vec(shape));
    t.Input(size).Input(Vec(w));
    const Status s = t.Run();
    if (s.ok() && shape.size() > 1) {
      const float two = w.empty() ? 2 : w[0] + w[1];
      const float one = w.empty() ? 1 : w[2];
      ExpectEqual(t.Output(0),
                  MakeTensor<float>({2, 4}, {0, two, 0, 0, 0, 0, one, 0}));
    } else if (s.ok()) {
      ExpectEqual(t.Output(0), Vec<float>({1, 2, 0, 0}));
    }
    return s;
  };
  EXPECT_EQ(sparse(rows, four, {2, 3}, none), OkStatus());
  EXPECT_EQ(sparse(rows, four, {2, 3}, weights), OkStatus());
  const Tensor one_row = MakeTensor<int64_t>({3, 1}, {0, 3, 5});
  EXPECT_EQ(sparse(one_row, Vec<int32_t>({1, 1, 0}), {6}, none), OkStatus());
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(sparse(one_row, Vec<int32_t>({1, -1, 0}), {6}, none), kInvalid,
              "must be non-negative, got -1 at position 1");
  ExpectError(sparse(rows, four, {1, 3}, none), kInvalid,
              "indices[2] = [1,0] is out of bounds");
  ExpectError(sparse(rows, four, {2, 3}, {1, 2}), kInvalid, "weights must be");
  ExpectError(sparse(rows, four, {2}, none), kInvalid, "rows of 2");

  const auto ragged = [&](std::vector<int64_t> splits, bool binary) {
    OpTester t("RaggedBincount");
    t.Attr("binary_output", binary);
    t.Input(Vec(splits)).Input(four).Input(size).Input(Vec(weights));
    const Status s = t.Run();
    if (s.ok()) {
      const float two = binary ? 1 : 2.5f, one = binary ? 1 : 3;
      ExpectEqual(t.Output(0), MakeTensor<float>({3, 4}, {0, two, 0, 0, 0, 0, 0,
                                                          0, 0, 0, one, 0}));
    }
    return s;
  };
  EXPECT_EQ(ragged({0, 2, 2, 4}, false), OkStatus());
  EXPECT_EQ(ragged({0, 2, 2, 4}, true), OkStatus());
  ExpectError(ragged({}, true), kInvalid, "Splits must be a non-empty vector");
  ExpectError(ragged({1, 4}, true), kInvalid, "must start with 0, not with 1");
  ExpectError(ragged({0, 9}, true), kInvalid, "got 9 instead of 4");
}

TEST(HistogramTest, SparseCounts) {
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto expect =
      [](const OpTester& t, int64_t rank, const std::vector<int64_t>& indices,
         const std::vector<float>& counts, const std::vector<int64_t>& shape) {
        ExpectEqual(t.Output(0),
                    MakeTensor<int64_t>(
                        {static_cast<int64_t>(counts.size()), rank}, indices));
        ExpectEqual(t.Output(1), Vec(counts));
        ExpectEqual(t.Output(2), Vec(shape));
      };
  const struct {
    int64_t min, max;
    bool binary;
    std::vector<float> weights;
    std::vector<int64_t> indices;
    std::vector<float> counts;
    int64_t width;
  } cases[] = {{-1, -1, false, {}, {1, 3}, {2, 1}, 4},
               {-1, -1, false, {.5f, 1, 2}, {1, 3}, {3, .5f}, 4},
               {-1, -1, true, {.5f, 1, 2}, {1, 3}, {1, 1}, 4},
               {9, -1, false, {}, {1, 3}, {2, 1}, 9},
               {9, 2, false, {}, {1}, {2}, 2},
               {-1, 0, false, {}, {}, {}, 0}};
  for (const auto& c : cases) {
    OpTester t("DenseCountSparseOutput");
    t.Attr("minlength", c.min).Attr("maxlength", c.max);
    t.Attr("binary_output", c.binary);
    t.Input(Vec<int32_t>({3, 1, 1})).Input(Vec(c.weights));
    ASSERT_EQ(t.Run(), OkStatus());
    expect(t, 1, c.indices, c.counts, {c.width});
  }
  const auto dense = [](Tensor values, Tensor weights) {
    OpTester t("DenseCountSparseOutput");
    t.Attr("binary_output", false);
    t.Input(std::move(values)).Input(std::move(weights));
    return t.Run();
  };
  EXPECT_EQ(dense(MakeTensor<int64_t>({2, 0}, {}), Vec<float>({})), OkStatus());
  ExpectError(dense(Vec<int64_t>({-1}), Vec<float>({})), kInvalid,
              "must all be non-negative");
  ExpectError(dense(Vec<int64_t>({INT64_MAX}), Vec<float>({})), kInvalid,
              "less than 2^63 - 1");
  ExpectError(dense(Vec<int64_t>({1, 2}), Vec<float>({1})), kInvalid,
              "must have the same shape");
  ExpectError(dense(MakeScalar(3), Vec<float>({})), kInvalid, "1 or 2-dim");

  OpTester s("SparseCountSparseOutput");
  s.Attr("binary_output", false);
  s.Input(MakeTensor<int64_t>({4, 2}, {1, 2, 0, 0, 1, 0, 0, 1}));
  s.Input(Vec<int32_t>({9, 1, 2, 1})).Input(Vec<int64_t>({2, 3}));
  s.Input(Vec<float>({}));
  ASSERT_EQ(s.Run(), OkStatus());
  expect(s, 2, {0, 1, 1, 2, 1, 9}, {2, 1, 1}, {2, 10});
  OpTester no_shape("SparseCountSparseOutput");
  no_shape.Attr("binary_output", false);
  no_shape.Input(MakeTensor<int64_t>({0, 0}, {})).Input(Vec<int32_t>({}));
  no_shape.Input(Vec<int64_t>({})).Input(Vec<float>({}));
  ExpectError(no_shape.Run(), kInvalid, "at least one element");

  const auto ragged = [&](std::vector<int64_t> splits) {
    OpTester t("RaggedCountSparseOutput");
    t.Attr("binary_output", false);
    t.Input(Vec(splits)).Input(Vec<int32_t>({1, 1, 2, 9}));
    t.Input(Vec<float>({}));
    const Status status = t.Run();
    if (status.ok()) expect(t, 2, {0, 1, 2, 2, 2, 9}, {2, 1, 1}, {3, 10});
    return status;
  };
  EXPECT_EQ(ragged({0, 2, 2, 4}), OkStatus());
  ExpectError(ragged({0}), kInvalid, "at least 2 elements");
  ExpectError(ragged({1, 4}), kInvalid, "must start with 0");
  ExpectError(ragged({0, 3}), kInvalid, "got 3 instead of 4");
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
