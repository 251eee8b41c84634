// Expected values are TensorFlow's.
#include <limits>

#include "framework/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Ints = std::vector<int64_t>;

template <typename T = int64_t>
Tensor V(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}
Tensor Strings(const std::vector<std::string>& v) {
  return V(std::vector<tstring>(v.begin(), v.end()));
}
Tensor Ones(const TensorShape& shape) {
  return MakeTensor<float>(shape,
                           std::vector<float>(shape.num_elements(), 1.f));
}

template <typename T>
Status Range(const Tensor& starts, const Tensor& limits, const Tensor& deltas,
             std::vector<Tensor>* out, DataType splits = DT_INT64) {
  OpTester t("RaggedRange");
  t.Attr("Tsplits", splits).Input(starts).Input(limits).Input(deltas);
  HR_RETURN_IF_ERROR(t.Run());
  *out = {t.Output(0), t.Output(1)};
  return OkStatus();
}

template <typename T>
struct RangeCase {
  std::vector<T> starts, limits, deltas;
  Ints splits;
  std::vector<T> values;
};
template <typename T>
void CheckRanges(const std::vector<RangeCase<T>>& cases) {
  for (const auto& c : cases) {
    std::vector<Tensor> out;
    ASSERT_EQ(Range<T>(V(c.starts), V(c.limits), V(c.deltas), &out),
              OkStatus());
    ExpectEqual(out[0], V(c.splits));
    ExpectEqual(out[1], V(c.values));
  }
}

TEST(RaggedRangeTest, Results) {
  CheckRanges<int32_t>(
      {{{0, 5, 8}, {3, 5, 5}, {1, 1, -2}, {0, 3, 3, 5}, {0, 1, 2, 8, 6}},
       {{}, {}, {}, {0}, {}}});
  CheckRanges<int64_t>({{{kMin},
                         {kMax},
                         {kMax / 2 + 1},
                         {0, 4},
                         {kMin, kMin / 2, 0, kMax / 2 + 1}},
                        {{kMax}, {kMin}, {kMin}, {0, 2}, {kMax, -1}}});
  // A row's length is computed in float: 1.2f / 0.4f is 3 there, and above 3
  // in double.
  CheckRanges<float>({{{0}, {1.2f}, {0.4f}, {0, 3}, {0, 0.4f, 0.8f}},
                      {{0}, {5}, {kInf}, {0, 0}, {}},
                      {{5}, {0}, {1}, {0, 0}, {}}});
  CheckRanges<double>({{{0, 5},
                        {1, 3.9},
                        {0.25, -0.5},
                        {0, 4, 7},
                        {0, 0.25, 0.5, 0.75, 5, 4.5, 4}}});
}

TEST(RaggedRangeTest, NumbersAreAddedUp) {
  std::vector<Tensor> out;
  ASSERT_EQ(Range<float>(V<float>({0}), V<float>({10}), V<float>({0.1f}), &out),
            OkStatus());
  ASSERT_EQ(out[1].NumElements(), 100);
  EXPECT_EQ(out[1].data<float>()[22], 2.200000047683716f);
  EXPECT_EQ(out[1].data<float>()[70], 6.999995708465576f);
}

TEST(RaggedRangeTest, ScalarsStandForEveryRow) {
  std::vector<Tensor> out;
  ASSERT_EQ(Range<int32_t>(MakeScalar<int32_t>(2), V<int32_t>({3, 5, 8}),
                           MakeScalar<int32_t>(2), &out, DT_INT32),
            OkStatus());
  ExpectEqual(out[0], V<int32_t>({0, 1, 3, 6}));
  ExpectEqual(out[1], V<int32_t>({2, 2, 4, 2, 4, 6}));
  ASSERT_EQ(
      Range<float>(MakeScalar(0.f), MakeScalar(1.f), MakeScalar(.5f), &out),
      OkStatus());
  ExpectEqual(out[0], V({0, 2}));
}

TEST(RaggedRangeTest, Refusals) {
  std::vector<Tensor> out;
  const auto ints = [&](const Ints& a, const Ints& b, const Ints& c,
                        DataType splits = DT_INT64) {
    return Range<int64_t>(V(a), V(b), V(c), &out, splits);
  };
  ExpectError(ints({0}, {3}, {0}), kInvalid, "delta != 0");
  ExpectError(ints({0, 1}, {3}, {1}), kInvalid, "same shape");
  ExpectError(
      Range<int64_t>(MakeTensor<int64_t>({1, 1}, {0}), V({3}), V({1}), &out),
      kInvalid, "starts must be a scalar or vector");
  ExpectError(ints({kMin}, {kMax}, {1}), kInvalid, "number that int64 has");
  ExpectError(ints({0}, {int64_t{1} << 58}, {1}),
              absl::StatusCode::kResourceExhausted, "");
  ExpectError(ints({0, 0}, {kMax, kMax}, {1, 1}), kInvalid, "can count");
  ExpectError(ints({0}, {int64_t{1} << 31}, {1}, DT_INT32), kInvalid,
              "can count");
  const auto floats = [&](float a, float b, float c) {
    return Range<float>(V<float>({a}), V<float>({b}), V<float>({c}), &out);
  };
  ExpectError(floats(kNan, 1, 1), kInvalid, "number that int64 has");
  ExpectError(floats(0, kNan, 1), kInvalid, "number that int64 has");
  ExpectError(floats(0, 3, kNan), kInvalid, "number that int64 has");
  ExpectError(floats(0, kInf, 1), kInvalid, "number that int64 has");
}

Status Gather(const std::vector<Ints>& splits, const Tensor& values,
              const Tensor& indices, std::vector<Tensor>* out, int rank = -2) {
  OpTester t("RaggedGather");
  const int levels = static_cast<int>(splits.size());
  const int outputs = rank == -2 ? levels - 1 + indices.dims() : rank;
  t.Attr("PARAMS_RAGGED_RANK", int64_t{levels});
  t.Attr("OUTPUT_RAGGED_RANK", int64_t{outputs});
  for (const Ints& s : splits) t.Input(V(s));
  t.Input(values).Input(indices);
  HR_RETURN_IF_ERROR(t.Run());
  out->clear();
  for (int i = 0; i <= outputs; ++i) out->push_back(t.Output(i));
  return OkStatus();
}

TEST(RaggedGatherTest, Results) {
  const Tensor letters = Strings({"a", "b", "c", "d", "e"});
  const Tensor pairs =
      MakeTensor<float>({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const struct {
    std::vector<Ints> splits;
    Tensor values, indices;
    std::vector<Ints> out_splits;
    Tensor out_values;
  } cases[] = {
      {{{0, 3, 3, 5}},
       letters,
       V({2, 0, 2, 1}),
       {{0, 2, 5, 7, 7}},
       Strings({"d", "e", "a", "b", "c", "d", "e"})},
      {{{0, 3, 3, 5}},
       letters,
       MakeTensor<int32_t>({2, 2}, {2, 0, 2, 1}),
       {{0, 2, 4}, {0, 2, 5, 7, 7}},
       Strings({"d", "e", "a", "b", "c", "d", "e"})},
      {{{0, 3, 3, 5}},
       letters,
       MakeScalar<int64_t>(2),
       {},
       Strings({"d", "e"})},
      {{{0, 2, 3}, {0, 3, 3, 5}},
       pairs,
       V({1, 0, 1}),
       {{0, 1, 3, 4}, {0, 2, 5, 5, 7}},
       MakeTensor<float>({7, 2}, {7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})},
      {{{0, 2, 3}, {0, 3, 3, 5}},
       V<float>({1, 2, 3, 4, 5}),
       MakeTensor<int64_t>({1, 2, 1}, {1, 0}),
       {{0, 2}, {0, 1, 2}, {0, 1, 3}, {0, 2, 5, 5}},
       V<float>({4, 5, 1, 2, 3})},
      {{{0, 3, 3, 5}},
       pairs,
       MakeTensor<int64_t>({2, 0}, {}),
       {{0, 0, 0}, {0}},
       MakeTensor<float>({0, 2}, {})},
      // Rows that are not picked are not looked at.
      {{{1, 3, 3, 5}}, letters, V({1}), {{0, 0}}, Strings({})},
      {{{0, 3, 3, 4}}, letters, V({2}), {{0, 1}}, Strings({"d"})},
  };
  for (const auto& c : cases) {
    std::vector<Tensor> out;
    ASSERT_EQ(Gather(c.splits, c.values, c.indices, &out), OkStatus());
    ASSERT_EQ(out.size(), c.out_splits.size() + 1);
    for (size_t i = 0; i < c.out_splits.size(); ++i) {
      ExpectEqual(out[i], V(c.out_splits[i]));
    }
    ExpectEqual(out.back(), c.out_values);
  }
}

TEST(RaggedGatherTest, Refusals) {
  const Tensor five = V<float>({1, 2, 3, 4, 5});
  const struct {
    std::vector<Ints> splits;
    Tensor values, indices;
    int rank;
    const char* message;
  } cases[] = {
      {{{0, 3, 3, 5}}, five, V({3}), 1, "indices[0] = 3 is not in [0, 3)"},
      {{{0, 3, 3, 5}}, five, V({-1}), 1, "indices[0] = -1 is not in"},
      {{{0, 3, 3, 5}}, five, V({1}), 3, "OUTPUT_RAGGED_RANK is 3"},
      {{{0, 3, 3, 9}}, five, V({2}), 1, "point past values: got 9, have 5"},
      {{{0, 4, 3, 5}}, five, V({1}), 1, "must be sorted, got 4"},
      {{{0, -4, 3, 5}}, five, V({1}), 1, "must not be negative, got -4"},
      {{{}}, five, V({0}), 1, "at least one element"},
      {{{0, 1}}, MakeScalar(1.f), V({0}), 1, "must not be a scalar"},
      {{{0, 2, 9}, {0, 3, 3, 5}}, five, V({1}), 2, "got 9, have 3"},
      // An empty row of the level above must not hide what is below it.
      {{{0, 0, 3}, {-7, 3, 3, 5}}, five, V({0}), 2, "must not be negative"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    std::vector<Tensor> out;
    ExpectError(Gather(c.splits, c.values, c.indices, &out, c.rank), kInvalid,
                c.message);
  }
}

TEST(RaggedGatherTest, ManyPicksOfManyRowsAreCountedFirst) {
  constexpr int64_t kRows = 1 << 20;
  const Tensor inner(DT_INT64, TensorShape({kRows + 1}));
  Tensor zeros = inner;
  std::fill_n(zeros.data<int64_t>(), kRows + 1, 0);
  Tensor picks(DT_INT32, TensorShape({kRows}));
  std::fill_n(picks.data<int32_t>(), kRows, 0);
  OpTester t("RaggedGather");
  t.Attr("PARAMS_RAGGED_RANK", int64_t{2})
      .Attr("OUTPUT_RAGGED_RANK", int64_t{2});
  t.Input(V({0, kRows})).Input(zeros).Input(V<float>({})).Input(picks);
  ExpectError(t.Run(), absl::StatusCode::kResourceExhausted, "");
}

TEST(RaggedTensorToSparseTest, Results) {
  const struct {
    std::vector<Ints> splits;
    Tensor values;
    Ints indices, shape;
  } cases[] = {
      {{{0, 3, 3, 5}},
       V<float>({1, 2, 3, 4, 5}),
       {0, 0, 0, 1, 0, 2, 2, 0, 2, 1},
       {3, 3}},
      {{{0, 2, 3}, {0, 3, 3, 5}},
       Strings({"a", "b", "c", "d", "e"}),
       {0, 0, 0, 0, 0, 1, 0, 0, 2, 1, 0, 0, 1, 0, 1},
       {2, 2, 3}},
      {{{0, 2, 3}},
       MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}),
       {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1},
       {2, 2, 2}},
      {{{0}}, V<float>({}), {}, {0, 0}},
      {{{0}, {0}}, V<float>({}), {}, {0, 0, 0}},
      {{{0, 2}}, MakeTensor<float>({2, 0}, {}), {}, {1, 2, 0}},
  };
  for (const auto& c : cases) {
    for (const bool narrow : {false, true}) {
      OpTester t("RaggedTensorToSparse");
      t.Attr("RAGGED_RANK", static_cast<int64_t>(c.splits.size()));
      for (const Ints& s : c.splits) {
        t.Input(narrow ? V(std::vector<int32_t>(s.begin(), s.end())) : V(s));
      }
      ASSERT_EQ(t.Input(c.values).Run(), OkStatus());
      const int64_t n = c.values.NumElements();
      const auto rank = static_cast<int64_t>(c.shape.size());
      ExpectEqual(t.Output(0), MakeTensor<int64_t>({n, rank}, c.indices));
      Tensor flat;
      ASSERT_TRUE(flat.CopyFrom(c.values, TensorShape({n})));
      ExpectEqual(t.Output(1), flat);
      ExpectEqual(t.Output(2), V(c.shape));
    }
  }
}

// What every kernel that reads all of its splits refuses.
const struct {
  std::vector<Ints> splits;
  const char* message;
} kBadSplits[] = {
    {{{1, 3, 3, 5}}, "must begin with 0, got 1"},
    {{{0, 3, 3, 4}}, "number of values, 5, got 4"},
    {{{0, 3, 3, 9}}, "number of values, 5, got 9"},
    {{{0, 4, 3, 5}}, "must not fall, got 4 followed by 3"},
    {{{0, kMin, 5}}, "must not fall"},
    {{{}}, "at least one element"},
    {{{0, 2, 4}, {0, 3, 3, 5}}, "rt_nested_splits[0] must end with"},
    {{{0, 2, 2}, {0, 3, 3, 5}}, "number of values, 3, got 2"},
};

TEST(RaggedTensorToSparseTest, Refusals) {
  for (const auto& c : kBadSplits) {
    SCOPED_TRACE(c.message);
    OpTester t("RaggedTensorToSparse");
    t.Attr("RAGGED_RANK", static_cast<int64_t>(c.splits.size()));
    for (const Ints& s : c.splits) t.Input(V(s));
    ExpectError(t.Input(V<float>({1, 2, 3, 4, 5})).Run(), kInvalid, c.message);
  }
  OpTester t("RaggedTensorToSparse");
  t.Input(V({0, 1})).Input(MakeScalar(3.f)).Attr("RAGGED_RANK", int64_t{1});
  ExpectError(t.Run(), kInvalid, "at least one dimension");
}

constexpr const char* kFirst = "FIRST_DIM_SIZE";
constexpr const char* kIds = "VALUE_ROWIDS";
constexpr const char* kSplits = "ROW_SPLITS";

Status ToTensor(const Tensor& shape, const Tensor& values,
                const Tensor& default_value,
                const std::vector<Tensor>& partitions,
                const std::vector<std::string>& types, Tensor* out) {
  OpTester t("RaggedTensorToTensor");
  t.Attr("row_partition_types", types);
  t.Attr("num_row_partition_tensors", static_cast<int64_t>(partitions.size()));
  t.Input(shape).Input(values).Input(default_value);
  for (const Tensor& p : partitions) t.Input(p);
  HR_RETURN_IF_ERROR(t.Run());
  *out = t.Output(0);
  return OkStatus();
}

TEST(RaggedTensorToTensorTest, Results) {
  const Tensor nine = V<float>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor rows = V({0, 3, 3, 7, 9}), ids = V({0, 0, 0, 2, 2, 2, 2, 3, 3});
  const Tensor four = MakeScalar<int64_t>(4);
  const Tensor pairs = MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const std::vector<float> square = {1, 2, 3, 1.5, 1.5, 1.5, 1.5, 1.5,
                                     4, 5, 6, 7,   8,   9,   1.5, 1.5};
  constexpr float D = 1.5;
  const struct {
    Ints shape;
    Tensor values;
    Tensor default_value;
    std::vector<Tensor> partitions;
    std::vector<std::string> types;
    TensorShape out_shape;
    std::vector<float> out;
  } cases[] = {
      {{4, 4}, nine, MakeScalar(D), {rows}, {kSplits}, {4, 4}, square},
      {{-1, -1}, nine, MakeScalar(D), {rows}, {kSplits}, {4, 4}, square},
      {{4, -1},
       nine,
       MakeScalar(D),
       {four, ids},
       {kFirst, kIds},
       {4, 4},
       square},
      {{3, 3},
       nine,
       MakeScalar(D),
       {four, ids},
       {kFirst, kIds},
       {3, 3},
       {1, 2, 3, D, D, D, 4, 5, 6}},
      {{3, 2},
       nine,
       MakeScalar(D),
       {rows},
       {kSplits},
       {3, 2},
       {1, 2, D, D, 4, 5}},
      {{5, 5},
       nine,
       MakeScalar(D),
       {four, ids},
       {kFirst, kIds},
       {5, 5},
       {1, 2, 3, D, D, D, D, D, D, D, 4, 5, 6,
        7, D, 8, 9, D, D, D, D, D, D, D, D}},
      {{4, 2, 3},
       nine,
       MakeScalar(D),
       {MakeScalar<int64_t>(5), V({0, 1, 1, 3, 3, 4}),
        V({1, 1, 2, 3, 3, 4, 4, 4, 5})},
       {kFirst, kIds, kIds},
       {4, 2, 3},
       {D, D, D, D, D, D, 1, 2, D, 3, D, D,
        D, D, D, D, D, D, 4, 5, D, 6, 7, 8}},
      {{-1, -1, -1},
       nine,
       MakeScalar(D),
       {V({0, 2, 2, 5}), V({0, 3, 3, 5, 8, 9})},
       {kSplits, kSplits},
       {3, 3, 3},
       {1, 2, 3, D, D, D, D, D, D, D, D, D, D, D,
        D, D, D, D, 4, 5, D, 6, 7, 8, 9, D, D}},
      {{-1, -1, -1},
       nine,
       MakeScalar(D),
       {V({0, 2, 2, 5}), V({0, 0, 0, 2, 2, 3, 3, 3, 4})},
       {kSplits, kIds},
       {3, 3, 3},
       {1, 2, 3, D, D, D, D, D, D, D, D, D, D, D,
        D, D, D, D, 4, 5, D, 6, 7, 8, 9, D, D}},
      {{-1, 3, -1},
       pairs,
       MakeScalar(0.f),
       {V({0, 2, 2, 3})},
       {kSplits},
       {3, 3, 2},
       {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0}},
      {{-1, -1, 2},
       pairs,
       V<float>({7, 8}),
       {V({0, 2, 2, 3})},
       {kSplits},
       {3, 2, 2},
       {1, 2, 3, 4, 7, 8, 7, 8, 5, 6, 7, 8}},
      {{-1, -1, 2},
       pairs,
       V<float>({7}),
       {V({0, 2, 2, 3})},
       {kSplits},
       {3, 2, 2},
       {1, 2, 3, 4, 7, 7, 7, 7, 5, 6, 7, 7}},
      {{-1, -1, 2, 2},
       MakeTensor<float>({3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
       MakeTensor<float>({2, 1}, {7, 9}),
       {V({0, 2, 2, 3})},
       {kSplits},
       {3, 2, 2, 2},
       {0, 1, 2, 3, 4, 5, 6,  7,  7, 7, 9, 9,
        7, 7, 9, 9, 8, 9, 10, 11, 7, 7, 9, 9}},
      // Values that no row has are left out.
      {{-1, -1},
       V<float>({1, 2, 3}),
       MakeScalar(7.f),
       {V({0, 2})},
       {kSplits},
       {1, 2},
       {1, 2}},
      {{-1, -1},
       V<float>({1, 2, 3}),
       MakeScalar(7.f),
       {MakeScalar<int64_t>(2), V({0, 1})},
       {kFirst, kIds},
       {2, 1},
       {1, 2}},
      // So are rows of which the next level does not tell.
      {{-1, -1, -1},
       V<float>({1, 2, 3}),
       MakeScalar(7.f),
       {V({0, 2, 5}), V({0, 2, 3})},
       {kSplits, kSplits},
       {2, 3, 2},
       {1, 2, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
      {{-1, -1},
       V<float>({}),
       MakeScalar(7.f),
       {V({0})},
       {kSplits},
       {0, 0},
       {}},
      {{-1, 2},
       V<float>({}),
       MakeScalar(7.f),
       {V({0, 0, 0})},
       {kSplits},
       {2, 2},
       {7, 7, 7, 7}},
      {{-1, -1, 0},
       MakeTensor<float>({3, 0}, {}),
       MakeScalar(7.f),
       {V({0, 2, 3})},
       {kSplits},
       {2, 2, 0},
       {}},
      {{0, -1},
       V<float>({1, 2, 3}),
       MakeScalar(7.f),
       {V({0, 2, 3})},
       {kSplits},
       {0, 2},
       {}},
      {{-1, 0},
       V<float>({1, 2, 3}),
       MakeScalar(7.f),
       {V({0, 2, 3})},
       {kSplits},
       {2, 0},
       {}},
      // However many rows are claimed, memory is taken for the shape alone.
      {{2, 2},
       V<float>({1, 2, 3}),
       MakeScalar(7.f),
       {MakeScalar<int64_t>(kMax), V({0, 0, kMax - 1})},
       {kFirst, kIds},
       {2, 2},
       {1, 2, 7, 7}},
      {{1, 2, 2},
       V<float>({1, 2}),
       MakeScalar(7.f),
       {V({0, kMax}), V({0, kMax - 1})},
       {kSplits, kIds},
       {1, 2, 2},
       {1, 7, 7, 7}},
  };
  for (const auto& c : cases) {
    Tensor out;
    ASSERT_EQ(ToTensor(V(c.shape), c.values, c.default_value, c.partitions,
                       c.types, &out),
              OkStatus());
    ExpectEqual(out, MakeTensor<float>(c.out_shape, c.out));
  }
}

TEST(RaggedTensorToTensorTest, AnyTypeAndNoShape) {
  Tensor out;
  ASSERT_EQ(ToTensor(MakeScalar<int32_t>(-1), Strings({"a", "b", "c"}),
                     MakeScalar<tstring>(tstring("-")),
                     {V<int32_t>({0, 2, 2, 3})}, {kSplits}, &out),
            OkStatus());
  ExpectEqual(out, MakeTensor<tstring>(
                       {3, 2}, {tstring("a"), tstring("b"), tstring("-"),
                                tstring("-"), tstring("c"), tstring("-")}));
}

TEST(RaggedTensorToTensorTest, Refusals) {
  const Tensor three = V<float>({1, 2, 3}), seven = MakeScalar(7.f);
  const Tensor pairs = MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor open = V({-1, -1}), good = V({0, 2, 2, 3});
  const Tensor two = MakeScalar<int64_t>(2);
  const struct {
    Tensor shape, values, default_value;
    std::vector<Tensor> partitions;
    std::vector<std::string> types;
    const char* message;
  } cases[] = {
      {MakeScalar<int64_t>(3), three, seven, {good}, {kSplits}, ""},
      {V({-1, -1, 2}),
       pairs,
       V<float>({7, 8, 9}),
       {good},
       {kSplits},
       "default_value.shape=[3]"},
      {open, three, V<float>({7}), {good}, {kSplits}, "default_value.shape"},
      {V({-1, -1, 3}), three, seven, {good}, {kSplits}, "incompatible"},
      {V({-1, -1, 3}), pairs, seven, {good}, {kSplits}, "incompatible"},
      {V({-2, -1}), three, seven, {good}, {kSplits}, ""},
      {open, three, seven, {good}, {"BOGUS"}, "Unknown string"},
      {open,
       three,
       seven,
       {good},
       {kSplits, kSplits},
       "does not equal the number"},
      {open, three, seven, {good}, {}, "No row_partition_types"},
      {open, three, seven, {V({0, 0, 1})}, {kIds}, "in the first place"},
      {V({-1, -1, -1}),
       three,
       seven,
       {good, two},
       {kSplits, kFirst},
       "but in the first place"},
      {open,
       three,
       seven,
       {MakeScalar<int64_t>(-4), V({0, 0, 1})},
       {kFirst, kIds},
       "must be >= 0, got -4"},
      {open,
       three,
       seven,
       {MakeScalar<int64_t>(kMax / 2), V({0, 0, 1})},
       {kFirst, kIds},
       ""},
      {open,
       three,
       seven,
       {MakeScalar<int64_t>(1), V({0, 0, 1})},
       {kFirst, kIds},
       "row 1 which is not less than 1"},
      {open,
       three,
       seven,
       {two, V({-1, 0, 1})},
       {kFirst, kIds},
       "must not be negative"},
      {open,
       three,
       seven,
       {two, V({1, 0, 1})},
       {kFirst, kIds},
       "must not fall"},
      {open,
       three,
       seven,
       {two, V({0, 0, 1, 1})},
       {kFirst, kIds},
       "has 4 values, but values has 3"},
      {open, three, seven, {V({1, 2, 3})}, {kSplits}, "must begin with 0"},
      {open,
       three,
       seven,
       {V({0, 2, 5})},
       {kSplits},
       "has 5 values, but values has 3"},
      {open, three, seven, {V({0, 2, 1, 3})}, {kSplits}, "must not fall"},
      {open, three, seven, {V(Ints{})}, {kSplits}, "at least one element"},
      {open,
       three,
       seven,
       {MakeScalar<int64_t>(0)},
       {kSplits},
       "must be a vector"},
      {open,
       three,
       seven,
       {MakeTensor<int64_t>({1, 2}, {0, 3})},
       {kSplits},
       "must be a vector"},
      {open, MakeScalar(3.f), seven, {V({0, 1})}, {kSplits}, ""},
      {V({2, 2, 2}),
       three,
       seven,
       {V({0, 1}), V({0, 2, 3})},
       {kSplits, kSplits},
       "greater than output size: 2 > 1"},
      {V({int64_t{1} << 40, int64_t{1} << 40}),
       three,
       seven,
       {V({0, 2, 3})},
       {kSplits},
       ""},
      {MakeTensor<int64_t>({1, 2}, {2, 2}),
       three,
       seven,
       {V({0, 2, 3})},
       {kSplits},
       ""},
      {V({-1}), three, seven, {V({0, 2, 3})}, {kSplits}, "incompatible"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    Tensor out;
    ExpectError(ToTensor(c.shape, c.values, c.default_value, c.partitions,
                         c.types, &out),
                kInvalid, c.message);
  }
}

Status Encode(const std::vector<Ints>& splits, const Tensor& values,
              bool batched, Tensor* out) {
  OpTester t("RaggedTensorToVariant");
  t.Attr("batched_input", batched).Attr("Tsplits", DT_INT64);
  t.Attr("RAGGED_RANK", static_cast<int64_t>(splits.size()));
  for (const Ints& s : splits) t.Input(V(s));
  HR_RETURN_IF_ERROR(t.Input(values).Run());
  *out = t.Output(0);
  return OkStatus();
}
Tensor Encoded(const std::vector<Ints>& splits, const Tensor& values,
               bool batched) {
  Tensor out;
  EXPECT_EQ(Encode(splits, values, batched, &out), OkStatus());
  return out;
}
Tensor Variants(const TensorShape& shape, const std::vector<Tensor>& scalars) {
  Tensor t(DT_VARIANT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<Variant>()[i] = *scalars[i].data<Variant>();
  }
  return t;
}
Status Decode(const Tensor& encoded, int in, int out_rank,
              std::vector<Tensor>* out, DataType type = DT_FLOAT,
              DataType splits = DT_INT64) {
  OpTester t("RaggedTensorFromVariant");
  t.Attr("input_ragged_rank", int64_t{in}).Attr("Tvalues", type);
  t.Attr("output_ragged_rank", int64_t{out_rank}).Attr("Tsplits", splits);
  HR_RETURN_IF_ERROR(t.Input(encoded).Run());
  out->clear();
  for (int i = 0; i <= out_rank; ++i) out->push_back(t.Output(i));
  return OkStatus();
}

TEST(RaggedTensorVariantTest, ThereAndBack) {
  const Tensor five = V<float>({1, 2, 3, 4, 5});
  const Tensor square = MakeTensor<float>({2, 2}, {1, 2, 3, 4});
  const std::vector<Ints> one = {{0, 3, 3, 5}}, two = {{0, 2, 3}, {0, 3, 3, 5}};
  const Tensor plain = Encoded(one, five, false);
  const Tensor vec = Encoded({}, V<float>({3, 4}), false);
  const struct {
    Tensor encoded;
    int in, out;
    std::vector<Ints> splits;
    Tensor values;
  } cases[] = {
      {plain, 1, 1, one, five},
      {plain, -1, 1, one, five},
      {Encoded(one, five, true), 0, 1, one, five},
      {Encoded(one, five, true), -1, 1, one, five},
      {Encoded(two, five, true), 1, 2, two, five},
      {Encoded(two, five, false), 2, 2, two, five},
      {Encoded({}, square, true), 0, 1, {{0, 2, 4}}, V<float>({1, 2, 3, 4})},
      {Encoded({}, square, false), 0, 0, {}, square},
      {Encoded({}, MakeScalar(3.f), false), 0, 0, {}, MakeScalar(3.f)},
      {Encoded({}, V<float>({3, 4}), true), 0, 0, {}, V<float>({3, 4})},
      {Encoded({}, V<float>({3, 4}), true), -1, 0, {}, V<float>({3, 4})},
      {Variants({2, 2}, {vec, vec, vec, vec}),
       0,
       0,
       {},
       MakeTensor<float>({4, 2}, {3, 4, 3, 4, 3, 4, 3, 4})},
      {Variants({2, 3}, {vec, vec, vec, vec, vec, vec}),
       0,
       2,
       {{0, 3, 6}, {0, 2, 4, 6, 8, 10, 12}},
       V<float>({3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4})},
      {Variants({2, 2}, {plain, Encoded({{0, 1}}, V<float>({9}), false),
                         Encoded({{0}}, V<float>({}), false),
                         Encoded({{0, 0, 2}}, V<float>({7, 8}), false)}),
       1,
       3,
       {{0, 2, 4}, {0, 3, 4, 4, 6}, {0, 3, 3, 5, 6, 6, 8}},
       V<float>({1, 2, 3, 4, 5, 9, 7, 8})},
      {Encoded({{0}}, V<float>({}), true), 0, 1, {{0}}, V<float>({})},
      {Encoded({{0}, {0}}, MakeTensor<float>({0, 3}, {}), true),
       1,
       2,
       {{0}, {0}},
       V<float>({})},
      {Variants({2, 0}, {}), 0, 2, {{0, 0, 0}, {0}}, V<float>({})},
      {Variants({0, 2}, {}), 0, 2, {{0}, {0}}, V<float>({})},
  };
  for (const auto& c : cases) {
    std::vector<Tensor> out;
    ASSERT_EQ(Decode(c.encoded, c.in, c.out, &out), OkStatus());
    for (int i = 0; i < c.out; ++i) ExpectEqual(out[i], V(c.splits[i]));
    ExpectEqual(out[c.out], c.values);
  }
}

TEST(RaggedTensorVariantTest, Refusals) {
  const Tensor five = V<float>({1, 2, 3, 4, 5});
  const Tensor plain = Encoded({{0, 3, 3, 5}}, five, false);
  const Tensor rows = Encoded({{0, 3, 3, 5}}, five, true);
  Tensor encoded;
  for (const auto& c : kBadSplits) {
    for (const bool batched : {false, true}) {
      SCOPED_TRACE(c.message);
      ExpectError(Encode(c.splits, five, batched, &encoded), kInvalid,
                  c.message);
    }
  }
  ExpectError(Encode({}, MakeScalar(3.f), true, &encoded), kInvalid, "");
  ExpectError(Encode({{0, 1}}, MakeScalar(3.f), false, &encoded), kInvalid, "");

  const struct {
    Tensor encoded;
    int in, out;
    DataType type, splits;
    const char* message;
  } cases[] = {
      {Variants({2, 2}, {plain, plain, plain, plain}), -1, 1, DT_FLOAT,
       DT_INT64, "output_ragged_rank"},
      {rows, 1, 2, DT_FLOAT, DT_INT64,
       "ragged_rank=0.  Expected "
       "ragged_rank=1"},
      {rows, 0, 2, DT_FLOAT, DT_INT64, ""},
      {plain, 0, 0, DT_FLOAT, DT_INT64, "ragged_rank=1"},
      {rows, 0, 1, DT_INT32, DT_INT64, "values Tensor dtype: int32"},
      {plain, 1, 1, DT_FLOAT, DT_INT32, "row_splits Tensor dtype: int32"},
      {Tensor(DT_VARIANT, TensorShape({1})), 0, 1, DT_FLOAT, DT_INT64,
       "index 0 doesn't hold a RaggedTensorVariant"},
      {Encoded({}, V<float>({3, 4}), true), 0, 1, DT_FLOAT, DT_INT64,
       "must have rank >= 1"},
      {Variants({2}, {Encoded({{0, 1}}, Ones({1, 2}), false),
                      Encoded({{0, 1}}, Ones({1, 3}), false)}),
       1, 2, DT_FLOAT, DT_INT64, "compatible shapes"},
      {Variants({2},
                {Encoded({}, Ones({2}), false), Encoded({}, Ones({3}), false)}),
       0, 0, DT_FLOAT, DT_INT64, "compatible shapes"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    std::vector<Tensor> out;
    ExpectError(Decode(c.encoded, c.in, c.out, &out, c.type, c.splits),
                kInvalid, c.message);
  }
}

Status VariantGradient(const Tensor& encoded, const Tensor& splits,
                       const std::vector<int32_t>& shape, Tensor* out,
                       DataType type = DT_FLOAT) {
  OpTester t("RaggedTensorToVariantGradient");
  t.Attr("Tvalues", type).Input(encoded).Input(splits).Input(V(shape));
  HR_RETURN_IF_ERROR(t.Run());
  *out = t.Output(0);
  return OkStatus();
}

TEST(RaggedTensorVariantTest, Gradient) {
  const Tensor five = V<float>({1, 2, 3, 4, 5});
  const Ints splits = {0, 3, 3, 5};
  const Tensor rows = Encoded({splits}, five, true);
  Tensor out;
  ASSERT_EQ(VariantGradient(rows, V(splits), {5}, &out), OkStatus());
  ExpectEqual(out, five);
  ASSERT_EQ(VariantGradient(rows, MakeScalar<int64_t>(0), {5}, &out),
            OkStatus());
  ExpectEqual(out, five);
  ASSERT_EQ(VariantGradient(Encoded({}, V<float>({3, 4}), true), V({0, 1, 2}),
                            {2}, &out),
            OkStatus());
  ExpectEqual(out, V<float>({3, 4}));
  // Nothing depends on the first row.
  Tensor partly = rows;
  ASSERT_EQ(rows.DeepCopyTo(&partly), OkStatus());
  partly.data<Variant>()[0] = Variant();
  ASSERT_EQ(VariantGradient(partly, V(splits), {5}, &out), OkStatus());
  ExpectEqual(out, V<float>({0, 0, 0, 4, 5}));

  ExpectError(VariantGradient(rows, V(splits), {6}, &out), kInvalid,
              "has 5 values");
  ExpectError(VariantGradient(rows, V(splits), {4}, &out), kInvalid,
              "more values");
  ExpectError(VariantGradient(rows, V(splits), {-5}, &out), kInvalid, "");
  ExpectError(VariantGradient(rows, V(splits), {5}, &out, DT_INT32), kInvalid,
              "values of type float, wanted int32");
  ExpectError(VariantGradient(partly, MakeScalar<int64_t>(0), {5}, &out),
              kInvalid, "row_splits has no row for it");
  ExpectError(VariantGradient(partly, V({0, kMax, kMax, kMax}), {5}, &out),
              kInvalid, "more values");
  ExpectError(VariantGradient(rows, V(Ints{}), {5}, &out), kInvalid,
              "row_splits must be a vector");
}

struct Cross {
  std::vector<Tensor> ragged_values, ragged_splits, sparse_indices,
      sparse_values, sparse_shapes, dense;
  std::string order;
  int64_t buckets = 0;
};
Status RunCross(const Cross& c, bool hashed, DataType splits, OpTester* t) {
  const auto types = [](const std::vector<Tensor>& list) {
    std::vector<DataType> out;
    for (const Tensor& x : list) out.push_back(x.dtype());
    return out;
  };
  t->Attr("ragged_values_types", types(c.ragged_values))
      .Attr("ragged_splits_types", types(c.ragged_splits))
      .Attr("sparse_values_types", types(c.sparse_values))
      .Attr("dense_types", types(c.dense))
      .Attr("Nsparse", static_cast<int64_t>(c.sparse_indices.size()))
      .Attr("input_order", c.order)
      .Attr("hashed_output", hashed)
      .Attr("num_buckets", c.buckets)
      .Attr("hash_key", int64_t{123})
      .Attr("out_values_type", hashed ? DT_INT64 : DT_STRING)
      .Attr("out_row_splits_type", splits);
  for (const auto* list :
       {&c.ragged_values, &c.ragged_splits, &c.sparse_indices, &c.sparse_values,
        &c.sparse_shapes, &c.dense}) {
    for (const Tensor& x : *list) t->Input(x);
  }
  return t->Run();
}

TEST(RaggedCrossTest, Results) {
  const Tensor abc = Strings({"a", "b", "c"}), rows = V({0, 2, 2, 3});
  const Tensor four = V({1, 2, 3, 4}), four_rows = V({0, 1, 2, 4});
  const Tensor at = MakeTensor<int64_t>({4, 2}, {0, 0, 1, 0, 1, 1, 2, 1});
  const Tensor pqrs = Strings({"p", "q", "r", "s"});
  const Tensor dense =
      MakeTensor<tstring>({3, 2}, {tstring("x"), tstring("y"), tstring("z"),
                                   tstring("w"), tstring("u"), tstring("v")});
  const struct {
    Cross cross;
    bool hashed;
    Tensor values;
    Ints splits;
  } cases[] = {
      {{{abc, four}, {rows, four_rows}, {}, {}, {}, {}, "RR"},
       false,
       Strings({"a_X_1", "b_X_1", "c_X_3", "c_X_4"}),
       {0, 2, 2, 4}},
      {{{abc, four}, {rows, four_rows}, {}, {}, {}, {}, "RR", 100},
       true,
       V({60, 80, 7, 11}),
       {0, 2, 2, 4}},
      {{{abc}, {rows}, {at}, {pqrs}, {V({3, 2})}, {dense}, "RSD"},
       false,
       Strings({"a_X_p_X_x", "a_X_p_X_y", "b_X_p_X_x", "b_X_p_X_y", "c_X_s_X_u",
                "c_X_s_X_v"}),
       {0, 4, 4, 6}},
      {{{abc}, {rows}, {at}, {pqrs}, {V({3, 2})}, {dense}, "DSR"},
       false,
       Strings({"x_X_p_X_a", "x_X_p_X_b", "y_X_p_X_a", "y_X_p_X_b", "u_X_s_X_c",
                "v_X_s_X_c"}),
       {0, 4, 4, 6}},
      {{{}, {}, {}, {}, {}, {MakeTensor<int64_t>({1, 2}, {1, 2})}, "D"},
       true,
       V({5460693908070567633, 4013637289993903739}),
       {0, 2}},
      {{{},
        {},
        {},
        {},
        {},
        {MakeTensor<int64_t>({1, 2}, {1, -2}),
         MakeTensor<tstring>({1, 1}, {tstring("a")})},
        "DD",
        10},
       true,
       V({5, 4}),
       {0, 2}},
      {{{}, {}, {}, {}, {}, {}, ""}, false, Strings({}), {0}},
      {{{Strings({})}, {V({0, 0, 0})}, {}, {}, {}, {}, "R"},
       false,
       Strings({}),
       {0, 0, 0}},
  };
  for (const auto& c : cases) {
    OpTester t("RaggedCross");
    ASSERT_EQ(RunCross(c.cross, c.hashed, DT_INT64, &t), OkStatus());
    ExpectEqual(t.Output(0), c.values);
    ExpectEqual(t.Output(1), V(c.splits));
  }
  // Splits of every type, each as it comes.
  OpTester t("RaggedCross");
  ASSERT_EQ(RunCross({{abc, four},
                      {V<int32_t>({0, 2, 2, 3}), four_rows},
                      {},
                      {},
                      {},
                      {},
                      "RR"},
                     false, DT_INT32, &t),
            OkStatus());
  ExpectEqual(t.Output(1), V<int32_t>({0, 2, 2, 4}));
}

TEST(RaggedCrossTest, Refusals) {
  const Tensor abc = Strings({"a", "b", "c"}), rows = V({0, 2, 2, 3});
  const Tensor at = MakeTensor<int64_t>({1, 2}, {0, 0});
  const struct {
    Cross cross;
    const char* message;
  } cases[] = {
      {{{abc}, {rows}, {}, {}, {}, {}, ""}, "Invalid input_order"},
      {{{abc}, {rows}, {}, {}, {}, {}, "X"}, "Invalid input_order"},
      {{{abc}, {rows}, {}, {}, {}, {}, "RR"}, "Invalid input_order"},
      {{{abc}, {rows}, {}, {}, {}, {}, "D"}, "Invalid input_order"},
      {{{abc, abc}, {rows, V({0, 3})}, {}, {}, {}, {}, "RR"}, ""},
      {{{abc}, {V({1, 2, 3})}, {}, {}, {}, {}, "R"}, "must begin with 0"},
      {{{abc}, {V({0, 2})}, {}, {}, {}, {}, "R"}, "number of values, 3, got 2"},
      {{{abc}, {V({0, 7})}, {}, {}, {}, {}, "R"}, "number of values, 3, got 7"},
      {{{abc}, {V({0, 2, 1, 3})}, {}, {}, {}, {}, "R"}, "must not fall"},
      {{{abc}, {V(Ints{})}, {}, {}, {}, {}, "R"}, ""},
      {{{abc}, {MakeScalar<int64_t>(0)}, {}, {}, {}, {}, "R"}, ""},
      {{{MakeTensor<tstring>({1, 1}, {tstring("a")})},
        {V({0, 1})},
        {},
        {},
        {},
        {},
        "R"},
       ""},
      {{{}, {}, {}, {}, {}, {Strings({"a"})}, "D"}, ""},
      {{{},
        {},
        {MakeTensor<int64_t>({1, 1}, {0})},
        {Strings({"p"})},
        {V({2})},
        {},
        "S"},
       "rank 2"},
      {{{}, {}, {at}, {Strings({"p", "q"})}, {V({2, 1})}, {}, "S"}, ""},
      {{{abc}, {rows, rows}, {}, {}, {}, {}, "R"}, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    OpTester t("RaggedCross");
    ExpectError(RunCross(c.cross, false, DT_INT64, &t), kInvalid, c.message);
  }
  OpTester many("RaggedCross");
  ExpectError(
      RunCross({{}, {}, {at}, {Strings({"p"})}, {V({kMax / 64, 1})}, {}, "S"},
               false, DT_INT64, &many),
      absl::StatusCode::kResourceExhausted, "");
  OpTester t("RaggedCross");
  t.Attr("ragged_values_types", std::vector<DataType>())
      .Attr("ragged_splits_types", std::vector<DataType>())
      .Attr("sparse_values_types", std::vector<DataType>())
      .Attr("dense_types", std::vector<DataType>())
      .Attr("Nsparse", int64_t{0})
      .Attr("input_order", std::string())
      .Attr("hashed_output", true)
      .Attr("num_buckets", int64_t{0})
      .Attr("hash_key", int64_t{1})
      .Attr("out_values_type", DT_STRING)
      .Attr("out_row_splits_type", DT_INT64);
  ExpectError(t.Run(), kInvalid, "out_values_type must be int64");
}

Status FillEmptyRows(const Tensor& rowids, const Tensor& values,
                     const Tensor& nrows, const Tensor& value,
                     std::vector<Tensor>* out) {
  OpTester t("RaggedFillEmptyRows");
  t.Input(rowids).Input(values).Input(nrows).Input(value);
  HR_RETURN_IF_ERROR(t.Run());
  *out = {t.Output(0), t.Output(1), t.Output(2), t.Output(3)};
  return OkStatus();
}

TEST(RaggedFillEmptyRowsTest, Results) {
  const struct {
    Ints rowids;
    std::vector<float> values;
    int64_t rows;
    Ints out_rowids;
    std::vector<float> out_values;
    Ints map;
  } cases[] = {
      {{0, 0, 2, 2, 4},
       {1, 2, 3, 4, 5},
       6,
       {0, 0, 1, 2, 2, 3, 4, 5},
       {1, 2, -1, 3, 4, -1, 5, -1},
       {0, 1, 3, 4, 6}},
      {{2, 0, 2}, {1, 2, 3}, 4, {0, 1, 2, 2, 3}, {2, -1, 1, 3, -1}, {2, 0, 3}},
      {{1, 0}, {1, 2}, 2, {0, 1}, {2, 1}, {1, 0}},
      {{0, 1}, {1, 2}, 2, {0, 1}, {1, 2}, {0, 1}},
      {{}, {}, 2, {0, 1}, {-1, -1}, {}},
      {{}, {}, 0, {}, {}, {}},
  };
  for (const auto& c : cases) {
    std::vector<Tensor> out;
    ASSERT_EQ(FillEmptyRows(V(c.rowids), V(c.values), MakeScalar(c.rows),
                            MakeScalar(-1.f), &out),
              OkStatus());
    ExpectEqual(out[0], V(c.out_rowids));
    ExpectEqual(out[1], V(c.out_values));
    ASSERT_EQ(out[2].NumElements(), c.rows);
    for (int64_t r = 0; r < c.rows; ++r) {
      EXPECT_EQ(out[2].data<bool>()[r],
                std::count(c.rowids.begin(), c.rowids.end(), r) == 0);
    }
    ExpectEqual(out[3], V(c.map));
  }
}

TEST(RaggedFillEmptyRowsTest, Refusals) {
  const Tensor none = V(Ints{}), nothing = V<float>({});
  const Tensor one = V<float>({1}), value = MakeScalar(-1.f);
  const auto rows = [](int64_t n) { return MakeScalar<int64_t>(n); };
  std::vector<Tensor> out;
  const struct {
    Tensor rowids, values, nrows, value;
  } cases[] = {{V({0}), one, rows(0), value},
               {V({-1}), one, rows(2), value},
               {V({2}), one, rows(2), value},
               {none, nothing, rows(-2), value},
               {V({0}), one, V({2}), value},
               {V({0}), one, rows(2), one},
               {V({0, 1}), one, rows(2), value},
               {V({0}), Ones({1, 1}), rows(2), value},
               {MakeTensor<int64_t>({1, 1}, {0}), one, rows(2), value}};
  for (const auto& c : cases) {
    ExpectError(FillEmptyRows(c.rowids, c.values, c.nrows, c.value, &out),
                kInvalid, "");
  }
  ExpectError(FillEmptyRows(none, nothing, rows(int64_t{1} << 60), value, &out),
              absl::StatusCode::kResourceExhausted, "");
}

TEST(RaggedFillEmptyRowsTest, Gradient) {
  OpTester t("RaggedFillEmptyRowsGrad");
  t.Input(V({2, 1})).Input(V<float>({1, 2, 3, 4}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), V<float>({3, 2}));
  ExpectEqual(t.Output(1), MakeScalar(5.f));
  for (const int64_t bad : {int64_t{4}, int64_t{-1}, kMax}) {
    OpTester u("RaggedFillEmptyRowsGrad");
    u.Input(V({bad})).Input(V<float>({1, 2, 3, 4}));
    ExpectError(u.Run(), kInvalid, "must be in [0, 4)");
  }
}

}  // namespace
}  // namespace headrace
