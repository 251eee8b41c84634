// Expected values are TensorFlow's.
#include "kernels/sparse/ragged_test_util.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

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
