#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

using Ints = std::vector<int64_t>;

Tensor I(const Ints& v) {
  return MakeTensor<int64_t>({static_cast<int64_t>(v.size())}, v);
}
// Rows of `rank` indices.
Tensor Rows(int64_t rank, const Ints& v) {
  return MakeTensor<int64_t>(
      {rank == 0 ? 0 : static_cast<int64_t>(v.size()) / rank, rank}, v);
}
template <typename T = float>
Tensor V(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}
struct Sparse {
  Tensor indices, values, shape;
};
Sparse S(const Ints& indices, const std::vector<float>& values,
         const Ints& shape) {
  return {Rows(shape.size(), indices), V(values), I(shape)};
}
OpTester& Feed(OpTester& t, const Sparse& s) {
  return t.Input(s.indices).Input(s.values).Input(s.shape);
}
void ExpectSparse(const OpTester& t, int i, const Sparse& want) {
  ExpectEqual(t.Output(i), want.indices);
  ExpectEqual(t.Output(i + 1), want.values);
  ExpectEqual(t.Output(i + 2), want.shape);
}
// What most cases are made of: three entries of a [3,4] matrix.
Sparse Three() { return S({0, 1, 1, 2, 2, 0}, {1, 2, 3}, {3, 4}); }

TEST(SparseReshapeTest, Results) {
  const struct {
    Ints indices, shape, wanted, out, out_shape;
  } cases[] = {
      {{0, 1, 1, 2}, {2, 3}, {3, 2}, {0, 1, 2, 1}, {3, 2}},
      {{0, 1, 1, 2}, {2, 3}, {-1}, {1, 5}, {6}},
      {{0, 1, 1, 2}, {2, 3}, {2, 3}, {0, 1, 1, 2}, {2, 3}},
      {{}, {0, 3}, {4, -1}, {}, {4, 0}},
      {{5, 1, -1, 0}, {2, 3}, {3, -1}, {8, 0, -1, -1}, {3, 2}},  // no bounds
  };
  for (const auto& c : cases) {
    OpTester t("SparseReshape");
    t.Input(Rows(c.shape.size(), c.indices)).Input(I(c.shape));
    t.Input(I(c.wanted));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Rows(c.out_shape.size(), c.out));
    ExpectEqual(t.Output(1), I(c.out_shape));
  }
}

TEST(SparseReshapeTest, Refusals) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const struct {
    Ints indices, shape, wanted;
    const char* message;
  } cases[] = {{{0, 1}, {2, 3}, {4, -1}, "requires a multiple of 4"},
               {{0, 1}, {2, 3}, {7}, "has 7"},
               {{0, 1}, {2, 3}, {-1, -1}, "only one"},
               {{0, 1}, {2, 3}, {-2, -3}, "non-negative"},
               {{}, {0, 3}, {0, -1}, "cannot infer"},
               {{0, 0}, {0, 3}, {3, 0}, "no elements"},
               {{0, 0}, {kHuge, kHuge}, {-1}, "too many elements"},
               {{0, 0}, {2, 3}, {kHuge, kHuge}, "too many elements"},
               {{0, 0}, {-2, -3}, {6}, "negative"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    OpTester t("SparseReshape");
    t.Input(Rows(2, c.indices)).Input(I(c.shape)).Input(I(c.wanted));
    ExpectError(t.Run(), kInvalid, c.message);
  }
}

TEST(SparseFillEmptyRowsTest, RowsAreOrderedAndFilled) {
  OpTester t("SparseFillEmptyRows");
  Feed(t, S({3, 0, 1, 2, 1, 0}, {1, 2, 3}, {5, 4})).Input(MakeScalar(9.f));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Rows(2, {0, 0, 1, 2, 1, 0, 2, 0, 3, 0, 4, 0}));
  ExpectEqual(t.Output(1), V({9, 2, 3, 9, 1, 9}));
  ExpectEqual(t.Output(2), V<bool>({true, false, true, false, true}));
  ExpectEqual(t.Output(3), I({4, 1, 2}));

  OpTester strings("SparseFillEmptyRows");
  strings.Input(Rows(1, {1})).Input(V<tstring>({"a"})).Input(I({2}));
  strings.Input(MakeScalar(tstring("none")));
  ASSERT_EQ(strings.Run(), OkStatus());
  ExpectEqual(strings.Output(1), V<tstring>({"none", "a"}));

  OpTester full("SparseFillEmptyRows");
  Feed(full, S({0, 3, 1, 0}, {1, 2}, {2, 4})).Input(MakeScalar(9.f));
  ASSERT_EQ(full.Run(), OkStatus());
  ExpectEqual(full.Output(0), Rows(2, {0, 3, 1, 0}));
  ExpectEqual(full.Output(1), V({1, 2}));
  ExpectEqual(full.Output(2), V<bool>({false, false}));
  ExpectEqual(full.Output(3), I({0, 1}));

  OpTester none("SparseFillEmptyRows");
  Feed(none, S({}, {}, {0, 4})).Input(MakeScalar(9.f));
  ASSERT_EQ(none.Run(), OkStatus());
  EXPECT_EQ(none.Output(0).shape(), TensorShape({0, 2}));

  OpTester grad("SparseFillEmptyRowsGrad");
  grad.Input(I({4, 1, 2})).Input(V({1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(grad.Run(), OkStatus());
  ExpectEqual(grad.Output(0), V({5, 2, 3}));
  ExpectEqual(grad.Output(1), MakeScalar(11.f));
}

TEST(SparseFillEmptyRowsTest, Refusals) {
  const struct {
    Sparse s;
    const char* message;
  } cases[] = {{S({9, 0}, {1}, {5, 2}), "indices(0, 0) is invalid: 9"},
               {S({-1, 0}, {1}, {5, 2}), "is invalid: -1"},
               {S({0, 0}, {1}, {0, 2}), "dense_shape[0] = 0"},
               {S({}, {}, {-1, 2}), "negative"},
               {{Rows(2, {0, 0}), V({1, 2}), I({2, 2})}, "2 elements"},
               {{Rows(2, {0, 0}), V({1}), I({2})}, "1 dims"}};
  for (const auto& c : cases) {
    OpTester t("SparseFillEmptyRows");
    Feed(t, c.s).Input(MakeScalar(0.f));
    ExpectError(t.Run(), kInvalid, c.message);
  }
  OpTester huge("SparseFillEmptyRows");
  Feed(huge, S({}, {}, {int64_t{1} << 50, 2})).Input(MakeScalar(0.f));
  ExpectError(huge.Run(), absl::StatusCode::kResourceExhausted, "OOM");
  OpTester grad("SparseFillEmptyRowsGrad");
  grad.Input(I({6})).Input(V({1, 2}));
  ExpectError(grad.Run(), kInvalid, "[0, 2) but got 6");
}

TEST(SparseToDenseTest, Forms) {
  const auto run = [](Tensor indices, Ints shape, Tensor values, bool validate,
                      OpTester* t) {
    t->Attr("validate_indices", validate);
    t->Input(std::move(indices)).Input(I(shape)).Input(std::move(values));
    return t->Input(MakeScalar(-1.f)).Run();
  };
  OpTester scalar("SparseToDense"), vector("SparseToDense"),
      matrix("SparseToDense"), repeated("SparseToDense"), bad("SparseToDense"),
      order("SparseToDense"), outside("SparseToDense");
  ASSERT_EQ(run(MakeScalar<int64_t>(1), {3}, MakeScalar(5.f), true, &scalar),
            OkStatus());
  ExpectEqual(scalar.Output(0), V({-1, 5, -1}));
  ASSERT_EQ(run(I({0, 2}), {3}, MakeScalar(5.f), true, &vector), OkStatus());
  ExpectEqual(vector.Output(0), V({5, -1, 5}));
  ASSERT_EQ(run(Rows(2, {0, 1, 1, 0}), {2, 2}, V({3, 4}), true, &matrix),
            OkStatus());
  ExpectEqual(matrix.Output(0), MakeTensor<float>({2, 2}, {-1, 3, 4, -1}));
  ASSERT_EQ(run(I({1, 1}), {3}, V({1, 2}), false, &repeated), OkStatus());
  ExpectEqual(repeated.Output(0), V({-1, 2, -1}));
  ExpectError(run(I({1, 1}), {3}, V({1, 2}), true, &bad), kInvalid, "repeated");
  ExpectError(run(I({1, 0}), {3}, V({1, 2}), true, &order), kInvalid,
              "out of order");
  ExpectError(run(I({5}), {3}, V({1}), false, &outside), kInvalid,
              "out of bounds");
}

TEST(SparseAddTest, ThreshAndGradient) {
  const Sparse a = S({0, 1, 2}, {1, kNan, -3}, {5}),
               b = S({0, 3}, {-1, .5}, {5});
  for (float thresh : {0.f, .6f}) {
    OpTester t("SparseAdd");
    Feed(t, a);
    Feed(t, b).Input(MakeScalar(thresh));
    ASSERT_EQ(t.Run(), OkStatus());
    if (thresh == 0) {
      ExpectEqual(t.Output(0), Rows(1, {0, 1, 2, 3}));
      ExpectClose(t.Output(1), V({0, kNan, -3, .5}));
    } else {
      ExpectEqual(t.Output(0), Rows(1, {1, 2, 3}));
    }
  }
  OpTester grad("SparseAddGrad");
  grad.Input(V({1, 2, 3})).Input(Rows(1, {0, 1})).Input(Rows(1, {1, 2, 4}));
  grad.Input(Rows(1, {0, 1, 4}));
  ASSERT_EQ(grad.Run(), OkStatus());
  ExpectEqual(grad.Output(0), V({1, 2}));
  ExpectEqual(grad.Output(1), V({2, 0, 3}));
  OpTester vector("SparseAddGrad");
  vector.Input(V({1})).Input(Rows(1, {0})).Input(Rows(1, {1}));
  vector.Input(V<int64_t>({0}));
  ExpectError(vector.Run(), kInvalid, "matrices");
  OpTester shapes("SparseAdd");
  Feed(shapes, a);
  Feed(shapes, S({0}, {1}, {4})).Input(MakeScalar(0.f));
  ExpectError(shapes.Run(), kInvalid, "one shape");
}

TEST(SparseTensorDenseAddTest, Results) {
  OpTester t("SparseTensorDenseAdd");
  t.Input(MakeTensor<int32_t>({2, 2}, {0, 1, 0, 1}));
  t.Input(V<int64_t>({5, 6})).Input(V<int32_t>({1, 2}));
  t.Input(MakeTensor<int64_t>({1, 2}, {10, 20}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int64_t>({1, 2}, {10, 31}));
  OpTester outside("SparseTensorDenseAdd"), shape("SparseTensorDenseAdd");
  Feed(outside, S({0, 9}, {1}, {2, 3}));
  outside.Input(MakeTensor<float>({2, 3}, {0, 0, 0, 0, 0, 0}));
  ExpectError(outside.Run(), kInvalid, "out of bounds");
  Feed(shape, S({0, 1}, {1}, {2, 3}));
  shape.Input(MakeTensor<float>({2, 1}, {0, 0}));
  ExpectError(shape.Run(), kInvalid, "nothing is broadcast");
}

TEST(SparseSparseExtremeTest, MissingIsZero) {
  const Sparse a = S({0, 1, 2}, {1, 2, -3}, {5}), b = S({0, 3}, {-1, -4}, {5});
  OpTester max("SparseSparseMaximum"), min("SparseSparseMinimum");
  Feed(max, a);
  Feed(max, b);
  ASSERT_EQ(max.Run(), OkStatus());
  ExpectEqual(max.Output(0), Rows(1, {0, 1, 2, 3}));
  ExpectEqual(max.Output(1), V({1, 2, 0, 0}));
  Feed(min, a);
  Feed(min, b);
  ASSERT_EQ(min.Run(), OkStatus());
  ExpectEqual(min.Output(1), V({-1, 0, -3, -4}));
}

TEST(SparseConcatTest, SortsAndSplitsAgain) {
  OpTester t("SparseConcat");
  t.Attr("concat_dim", int64_t{-1});
  t.Input(Rows(2, {1, 0, 0, 0})).Input(Rows(2, {0, 1}));
  t.Input(V({1, 2})).Input(V({3})).Input(I({2, 2})).Input(I({2, 3}));
  t.Attr("N", int64_t{2});
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectSparse(t, 0, S({0, 0, 0, 3, 1, 0}, {2, 3, 1}, {2, 5}));

  OpTester split("SparseSplit");
  split.Attr("num_split", int64_t{3}).Input(MakeScalar<int64_t>(1));
  Feed(split, Three());
  ASSERT_EQ(split.Run(), OkStatus());
  ExpectEqual(split.Output(0), Rows(2, {0, 1, 2, 0}));
  ExpectEqual(split.Output(1), Rows(2, {1, 0}));
  EXPECT_EQ(split.Output(2).shape(), TensorShape({0, 2}));
  ExpectEqual(split.Output(3), V({1, 3}));
  ExpectEqual(split.Output(6), I({3, 2}));
  ExpectEqual(split.Output(8), I({3, 1}));
}

TEST(SparseConcatTest, Refusals) {
  for (const auto& [axis, second, shape, message] :
       std::vector<std::tuple<int64_t, Ints, Ints, const char*>>{
           {2, {0, 0}, {2, 2}, "concat_dim"},
           {0, {0, 0}, {2, 3}, "Input shapes must match"},
           {0, {0}, {2}, "Ranks"},
           {0,
            {0, 0},
            {std::numeric_limits<int64_t>::max(), 2},
            "overflows"}}) {
    OpTester t("SparseConcat");
    t.Attr("concat_dim", axis).Attr("N", int64_t{2});
    t.Input(Rows(2, {1, 0})).Input(Rows(shape.size(), second));
    t.Input(V({1})).Input(V({3})).Input(I({2, 2})).Input(I(shape));
    ExpectError(t.Run(), kInvalid, message);
  }
  for (const auto& [axis, n, message] :
       std::vector<std::tuple<int64_t, int64_t, const char*>>{
           {0, 4, "between 1 and"}, {2, 2, "split_dim"}}) {
    OpTester t("SparseSplit");
    t.Attr("num_split", n).Input(MakeScalar<int64_t>(axis));
    Feed(t, Three());
    ExpectError(t.Run(), kInvalid, message);
  }
}

TEST(SparseSliceTest, BoxesAndGradient) {
  const struct {
    Ints start, size;
    Sparse want;
  } cases[] = {{{1, 1}, {9, 9}, S({0, 1}, {2}, {2, 3})},
               {{5, 0}, {1, 1}, S({}, {}, {0, 1})},
               {{-1, 0}, {2, 2}, S({1, 1}, {1}, {2, 2})},
               {{0, 0}, {3, 4}, Three()}};
  for (const auto& c : cases) {
    OpTester t("SparseSlice");
    Feed(t, Three()).Input(I(c.start)).Input(I(c.size));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectSparse(t, 0, c.want);
  }
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  OpTester far("SparseSlice"), negative("SparseSlice");
  Feed(far, Three()).Input(I({kLowest, 0})).Input(I({3, 4}));
  ASSERT_EQ(far.Run(), OkStatus());
  EXPECT_EQ(far.Output(1).NumElements(), 0);
  Feed(negative, Three()).Input(I({0, 0})).Input(I({-1, 9}));
  ExpectError(negative.Run(), kInvalid, "size must not be negative");

  OpTester grad("SparseSliceGrad"), bad("SparseSliceGrad");
  grad.Input(V({5})).Input(Three().indices).Input(I({1, 1}));
  grad.Input(Rows(2, {0, 1}));
  ASSERT_EQ(grad.Run(), OkStatus());
  ExpectEqual(grad.Output(0), V({0, 5, 0}));
  bad.Input(V({5})).Input(Three().indices).Input(I({1, 1}));
  bad.Input(Rows(2, {0, 9}));
  ExpectError(bad.Run(), absl::StatusCode::kInternal, "none of input_indices");
}

TEST(SparseReorderTest, IsStable) {
  OpTester t("SparseReorder");
  Feed(t, S({1, 0, 0, 1, 1, 0}, {1, 2, 3}, {2, 2}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), Rows(2, {0, 1, 1, 0, 1, 0}));
  ExpectEqual(t.Output(1), V({2, 1, 3}));
}

TEST(SparseMatMulTest, SparseByDense) {
  const Tensor b = MakeTensor<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  OpTester t("SparseTensorDenseMatMul");
  Feed(t, Three()).Input(b);
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({3, 2}, {3, 4, 10, 12, 3, 6}));
  OpTester adjoint("SparseTensorDenseMatMul");
  adjoint.Attr("adjoint_a", true).Attr("adjoint_b", true);
  Feed(adjoint, Three()).Input(MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(adjoint.Run(), OkStatus());
  ExpectEqual(adjoint.Output(0),
              MakeTensor<float>({4, 2}, {9, 18, 1, 4, 4, 10, 0, 0}));
  OpTester conjugate("SparseTensorDenseMatMul");
  conjugate.Attr("adjoint_a", true);
  conjugate.Input(Rows(2, {0, 0})).Input(V<complex64>({{0, 1}}));
  conjugate.Input(I({1, 1})).Input(MakeTensor<complex64>({1, 1}, {{0, 1}}));
  ASSERT_EQ(conjugate.Run(), OkStatus());
  ExpectEqual(conjugate.Output(0), MakeTensor<complex64>({1, 1}, {{1, 0}}));

  OpTester outside("SparseTensorDenseMatMul"), inner("SparseTensorDenseMatMul");
  Feed(outside, S({0, 9}, {1}, {3, 4})).Input(b);
  ExpectError(outside.Run(), kInvalid, "out of bounds");
  Feed(inner, S({0, 0}, {1}, {3, 3})).Input(b);
  ExpectError(inner.Run(), kInvalid, "inner dimension");

  OpTester dense("SparseMatMul");
  dense.Attr("transpose_b", true).Attr("a_is_sparse", true);
  dense.Attr("Ta", DT_BFLOAT16).Attr("Tb", DT_FLOAT);
  dense.Input(MakeTensor<bfloat16>({1, 2}, {bfloat16(1), bfloat16(2)}));
  dense.Input(MakeTensor<float>({1, 2}, {3, 4}));
  ASSERT_EQ(dense.Run(), OkStatus());
  ExpectEqual(dense.Output(0), MakeTensor<float>({1, 1}, {11}));
}

TEST(SparseReduceTest, Axes) {
  const Sparse s = S({0, 1, 1, 2, 2, 0, 2, 2}, {-1, -2, -3, -4}, {3, 4});
  const struct {
    std::vector<int32_t> axes;
    bool keep;
    TensorShape shape;
    std::vector<float> sum, max;
  } cases[] = {{{0}, false, {4}, {-3, -1, -6, 0}, {-3, -1, -2, 0}},
               {{-1}, false, {3}, {-1, -2, -7}, {-1, -2, -3}},
               {{1, 1}, true, {3, 1}, {-1, -2, -7}, {-1, -2, -3}},
               {{0, 1}, true, {1, 1}, {-10}, {-1}},
               {{0, 1}, false, {}, {-10}, {-1}}};
  for (const auto& c : cases) {
    for (bool max : {false, true}) {
      OpTester t(max ? "SparseReduceMax" : "SparseReduceSum");
      t.Attr("keep_dims", c.keep);
      Feed(t, s).Input(V<int32_t>(c.axes));
      ASSERT_EQ(t.Run(), OkStatus());
      ExpectEqual(t.Output(0), MakeTensor<float>(c.shape, max ? c.max : c.sum));
    }
  }
  OpTester sparse("SparseReduceSumSparse"), keep("SparseReduceMaxSparse");
  Feed(sparse, s).Input(V<int32_t>({0}));
  ASSERT_EQ(sparse.Run(), OkStatus());
  ExpectSparse(sparse, 0, S({0, 1, 2}, {-3, -1, -6}, {4}));
  keep.Attr("keep_dims", true);
  Feed(keep, s).Input(V<int32_t>({0}));
  ASSERT_EQ(keep.Run(), OkStatus());
  ExpectSparse(keep, 0, S({0, 0, 0, 1, 0, 2}, {-3, -1, -2}, {1, 4}));
  OpTester axis("SparseReduceSum"), outside("SparseReduceSum");
  Feed(axis, s).Input(V<int32_t>({2}));
  ExpectError(axis.Run(), kInvalid, "Invalid reduction dimension 2");
  Feed(outside, S({5, 5}, {1}, {3, 4})).Input(V<int32_t>({0}));
  ExpectError(outside.Run(), kInvalid, "out of bounds");
}

TEST(SparseDenseCwiseTest, DenseBroadcasts) {
  OpTester mul("SparseDenseCwiseMul"), add("SparseDenseCwiseAdd"),
      zero("SparseDenseCwiseDiv"), big("SparseDenseCwiseMul");
  Feed(mul, Three()).Input(MakeTensor<float>({3, 1}, {1, 2, 3}));
  ASSERT_EQ(mul.Run(), OkStatus());
  ExpectEqual(mul.Output(0), V({1, 4, 9}));
  Feed(add, Three()).Input(V({10, 20, 30, 40}));
  ASSERT_EQ(add.Run(), OkStatus());
  ExpectEqual(add.Output(0), V({21, 32, 13}));
  zero.Input(Rows(1, {0})).Input(V<int32_t>({1})).Input(I({1}));
  zero.Input(V<int32_t>({0}));
  ExpectError(zero.Run(), kInvalid, "division by zero");
  Feed(big, S({0}, {1}, {2})).Input(MakeTensor<float>({1, 2}, {1, 2}));
  ExpectError(big.Run(), kInvalid, "broadcasts dense to sparse only");
}

TEST(SparseSoftmaxTest, Rows) {
  OpTester t("SparseSoftmax"), vector("SparseSoftmax");
  Feed(t, S({0, 0, 0, 3, 1, 1}, {0, std::log(3.f), 100}, {2, 4}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), V({.25, .75, 1}));
  Feed(vector, S({0}, {1}, {2}));
  ExpectError(vector.Run(), kInvalid, "rank >= 2");
}

TEST(SerializeSparseTest, RoundTrips) {
  for (DataType kind : {DT_STRING, DT_VARIANT}) {
    OpTester one("SerializeSparse");
    Feed(one.Attr("out_type", kind), Three());
    ASSERT_EQ(one.Run(), OkStatus());
    OpTester back("DeserializeSparse");
    back.Attr("dtype", DT_FLOAT).Attr("Tserialized", kind);
    back.Input(one.Output(0));
    ASSERT_EQ(back.Run(), OkStatus());
    ExpectSparse(back, 0, Three());

    OpTester many("SerializeManySparse");
    Feed(many.Attr("out_type", kind), S({0, 1, 2, 2, 2, 3}, {1, 2, 3}, {5, 4}));
    ASSERT_EQ(many.Run(), OkStatus());
    ASSERT_EQ(many.Output(0).shape(), TensorShape({5, 3}));
    OpTester rows("DeserializeSparse");
    rows.Attr("dtype", DT_FLOAT).Attr("Tserialized", kind);
    rows.Input(many.Output(0));
    ASSERT_EQ(rows.Run(), OkStatus());
    ExpectSparse(rows, 0, S({0, 1, 2, 2, 2, 3}, {1, 2, 3}, {5, 4}));
  }
}

TEST(SerializeSparseTest, Refusals) {
  OpTester rank("SerializeManySparse"), order("SerializeManySparse");
  Feed(rank, S({0}, {1}, {3}));
  ExpectError(rank.Run(), kInvalid, "Rank of input SparseTensor should be > 1");
  Feed(order, S({1, 0, 0, 0}, {1, 2}, {3, 3}));
  ExpectError(order.Run(), kInvalid, "out of order");
  for (const auto& [in, message] : std::vector<std::pair<Tensor, const char*>>{
           {MakeTensor<tstring>({1, 3}, {"x", "y", "z"}), "no TensorProto"},
           {MakeTensor<tstring>({0, 3}, {}), "at least 1"},
           {MakeTensor<tstring>({1, 2}, {"x", "y"}), "3 columns"}}) {
    OpTester t("DeserializeManySparse");
    t.Attr("dtype", DT_FLOAT).Input(in);
    ExpectError(t.Run(), kInvalid, message);
  }
  OpTester empty("DeserializeSparse");
  empty.Attr("dtype", DT_FLOAT).Attr("Tserialized", DT_VARIANT);
  empty.Input(Tensor(DT_VARIANT, TensorShape({3})));
  ExpectError(empty.Run(), kInvalid, "holds no tensor");
  // A shape promises more slices than memory holds.
  OpTester huge("SerializeManySparse");
  Feed(huge, S({}, {}, {int64_t{1} << 50, 2}));
  ExpectError(huge.Run(), absl::StatusCode::kResourceExhausted, "OOM");
}

TEST(SparseTensorsMapTest, TakenOnce) {
  // One tester: the resource manager is the device's, and it owns that.
  OpTester take("TakeManySparseFromTensorsMap");
  take.Attr("dtype", DT_FLOAT).Attr("shared_name", std::string("none"));
  take.Input(I({0}));
  ExpectError(take.Run(), kInvalid, "Unable to find SparseTensor: 0");
  OpTester many("AddManySparseToTensorsMap");
  Feed(many, S({0, 1, 2, 2}, {1, 2}, {3, 4}));
  ASSERT_EQ(many.Run(), OkStatus());
  ExpectEqual(many.Output(0), I({0, 1, 2}));
  OpTester one("AddSparseToTensorsMap");
  Feed(one, Three());
  ASSERT_EQ(one.Run(), OkStatus());
  ExpectEqual(one.Output(0), MakeScalar<int64_t>(0));
}

// Recorded from TensorFlow.
TEST(SparseCrossTest, NamesAndHashes) {
  const auto feed = [](OpTester& t, Tensor dense) {
    t.Attr("N", int64_t{1});
    t.Input(Rows(2, {0, 0, 0, 1, 1, 0})).Input(V<tstring>({"a", "b", "c"}));
    t.Input(I({2, 2})).Input(std::move(dense));
    t.Attr("sparse_types", std::vector<DataType>{DT_STRING});
    t.Attr("hash_key", int64_t{956888297470});
  };
  const Ints indices = {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1};
  const Tensor words = MakeTensor<tstring>({2, 2}, {"x", "y", "z", "w"});
  OpTester names("SparseCross"), hashes("SparseCross"), mixed("SparseCross");
  feed(names, words);
  names.Attr("hashed_output", false).Attr("num_buckets", int64_t{0});
  names.Attr("out_type", DT_STRING).Attr("internal_type", DT_STRING);
  ASSERT_EQ(names.Run(), OkStatus());
  ExpectEqual(names.Output(0), Rows(2, indices));
  ExpectEqual(names.Output(1), V<tstring>({"a_X_x", "a_X_y", "b_X_x", "b_X_y",
                                           "c_X_z", "c_X_w"}));
  ExpectEqual(names.Output(2), I({2, 4}));
  feed(hashes, words);
  hashes.Attr("hashed_output", true).Attr("num_buckets", int64_t{1000});
  hashes.Attr("out_type", DT_INT64).Attr("internal_type", DT_STRING);
  ASSERT_EQ(hashes.Run(), OkStatus());
  ExpectEqual(hashes.Output(1), I({892, 747, 4, 805, 280, 235}));
  feed(mixed, MakeTensor<int64_t>({2, 2}, {7, 8, -9, 10}));
  mixed.Attr("hashed_output", true).Attr("num_buckets", int64_t{0});
  mixed.Attr("out_type", DT_INT64).Attr("internal_type", DT_INT64);
  ASSERT_EQ(mixed.Run(), OkStatus());
  ExpectEqual(mixed.Output(1), I({3509787333349122856, 7821721036908942428,
                                  443223928722139976, 9003972888028304919,
                                  2240240797798572304, 1626759058771676473}));
}

// Recorded from tf.contrib.layers of TensorFlow.
TEST(SparseCrossTest, FeatureCrosses) {
  const auto feed = [](OpTester& t, Tensor values, Tensor dense) {
    t.Attr("N", int64_t{1}).Attr("hashed_output", true);
    t.Attr("sparse_types", std::vector<DataType>{values.dtype()});
    t.Attr("dense_types", std::vector<DataType>{dense.dtype()});
    t.Input(Rows(2, {0, 0, 0, 1, 1, 0})).Input(std::move(values));
    t.Input(I({2, 2})).Input(std::move(dense)).Attr("out_type", DT_INT64);
  };
  const Tensor words = MakeTensor<tstring>({2, 2}, {"x", "y", "z", "w"});
  const Tensor numbers = MakeTensor<int64_t>({2, 2}, {7, 8, -9, 10});
  const Tensor letters = V<tstring>({"a", "b", "c"});
  OpTester shifted("SparseFeatureCross"), keyed("SparseFeatureCrossV2");
  feed(shifted, letters, words);
  shifted.Attr("num_buckets", int64_t{1000}).Attr("internal_type", DT_STRING);
  ASSERT_EQ(shifted.Run(), OkStatus());
  ExpectEqual(shifted.Output(1), I({903, 110, 291, 820, 639, 721}));
  feed(keyed, letters, words);
  keyed.Attr("num_buckets", int64_t{1000}).Attr("internal_type", DT_STRING);
  keyed.Attr("hash_key", int64_t{956888297470});
  ASSERT_EQ(keyed.Run(), OkStatus());
  ExpectEqual(keyed.Output(1), I({892, 747, 4, 805, 280, 235}));
  OpTester mixed("SparseFeatureCross"), integers("SparseFeatureCross");
  feed(mixed, letters, numbers);
  mixed.Attr("num_buckets", int64_t{0}).Attr("internal_type", DT_INT64);
  ASSERT_EQ(mixed.Run(), OkStatus());
  ExpectEqual(mixed.Output(1), I({8479621863018342117, 8479621863018342118,
                                  1603331213059006382, 1603331213059006381,
                                  3379466774602871885, 3379466774602871934}));
  feed(integers, I({5, -6, 7}), numbers);
  integers.Attr("num_buckets", int64_t{77}).Attr("internal_type", DT_INT64);
  ASSERT_EQ(integers.Run(), OkStatus());
  ExpectEqual(integers.Output(1), I({14, 15, 43, 58, 63, 34}));
}

TEST(SparseCrossTest, SeparatorsAndKeys) {
  const auto feed = [](OpTester& t) {
    t.Attr("N", int64_t{1});
    t.Attr("sparse_types", std::vector<DataType>{DT_STRING});
    t.Attr("dense_types", std::vector<DataType>{DT_STRING});
    t.Input(Rows(2, {0, 0, 0, 1, 1, 0})).Input(V<tstring>({"a", "b", "c"}));
    t.Input(I({2, 2}));
    t.Input(MakeTensor<tstring>({2, 2}, {"x", "y", "z", "w"}));
  };
  OpTester names("SparseCrossV2");
  feed(names);
  names.Input(MakeScalar<tstring>("--"));
  ASSERT_EQ(names.Run(), OkStatus());
  ExpectEqual(names.Output(0), Rows(2, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1}));
  ExpectEqual(names.Output(1),
              V<tstring>({"a--x", "a--y", "b--x", "b--y", "c--z", "c--w"}));
  ExpectEqual(names.Output(2), I({2, 4}));
  const struct {
    int64_t buckets;
    bool strong;
    Ints salt, want;
  } cases[] = {
      {0,
       false,
       {1, 2},
       {598440913169127831, 6036059348631970633, 4641000509844720313,
        5599933622718060628, 1621918656961971918, 4162198233228194460}},
      {100, false, {0, 0}, {38, 33, 20, 35, 18, 60}},
      {0,
       true,
       {1, 2},
       {7324330830475149127, 708031238239218187, 1048655356086242816,
        7844677534625648961, 6568955687041374298, 8770754301739087473}},
      {7, true, {3, -4}, {0, 5, 6, 6, 2, 2}}};
  for (const auto& c : cases) {
    OpTester t("SparseCrossHashed");
    feed(t);
    t.Input(MakeScalar(c.buckets)).Input(MakeScalar(c.strong)).Input(I(c.salt));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(1), I(c.want));
  }
  // Integers are hashed as they are, whatever the key.
  Tensor first;
  for (bool strong : {false, true}) {
    OpTester integers("SparseCrossHashed");
    integers.Attr("N", int64_t{1});
    integers.Attr("sparse_types", std::vector<DataType>{DT_INT64});
    integers.Attr("dense_types", std::vector<DataType>{DT_INT64});
    integers.Input(Rows(2, {0, 0, 0, 1, 1, 0})).Input(I({5, -6, 7}));
    integers.Input(I({2, 2})).Input(MakeTensor<int64_t>({2, 1}, {1, 2}));
    integers.Input(MakeScalar(int64_t{0})).Input(MakeScalar(strong));
    integers.Input(I({1, 2}));
    ASSERT_EQ(integers.Run(), OkStatus());
    ExpectEqual(integers.Output(0), Rows(2, {0, 0, 0, 1, 1, 0}));
    if (strong) ExpectEqual(integers.Output(1), first);
    first = integers.Output(1);
  }
  OpTester salt("SparseCrossHashed"), separator("SparseCrossV2");
  feed(salt);
  salt.Input(MakeScalar(int64_t{0})).Input(MakeScalar(true)).Input(I({1}));
  ExpectError(salt.Run(), kInvalid, "\"salt\" must be a vector of 2");
  feed(separator);
  separator.Input(V<tstring>({"-"}));
  ExpectError(separator.Run(), kInvalid, "\"sep\" must be a scalar");
}

TEST(SparseCrossTest, Refusals) {
  const auto run = [](std::vector<Tensor> dense) {
    OpTester t("SparseCross");
    t.Attr("N", int64_t{0}).Attr("sparse_types", std::vector<DataType>{});
    t.Attr("dense_types", std::vector<DataType>(dense.size(), DT_INT64));
    t.Attr("hashed_output", true).Attr("num_buckets", int64_t{0});
    t.Attr("hash_key", int64_t{1});
    t.Attr("out_type", DT_INT64).Attr("internal_type", DT_INT64);
    for (Tensor& d : dense) t.Input(std::move(d));
    return t.Run();
  };
  const Tensor wide(DT_INT64, TensorShape({1, 1000}));
  ExpectError(run({wide, Tensor(DT_INT64, TensorShape({2, 1}))}), kInvalid,
              "Expected batch size 1 got 2");
  ExpectError(run({I({1})}), kInvalid, "must be a matrix");
  // 1000^5 combinations, and more than int64 counts.
  ExpectError(run(std::vector<Tensor>(5, wide)),
              absl::StatusCode::kResourceExhausted, "OOM");
  ExpectError(run(std::vector<Tensor>(7, wide)), kInvalid, "int64");
}

TEST(SetOperationTest, AllForms) {
  const Tensor a = MakeTensor<int64_t>({2, 3}, {3, 1, 3, 4, 4, 5});
  const Tensor b = MakeTensor<int64_t>({2, 2}, {1, 2, 9, 4});
  const struct {
    const char* op;
    Ints indices, values, shape;
  } cases[] = {{"UNION",
                {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2},
                {1, 2, 3, 4, 5, 9},
                {2, 3}},
               {"intersection", {0, 0, 1, 0}, {1, 4}, {2, 1}},
               {"a-b", {0, 0, 1, 0}, {3, 5}, {2, 1}},
               {"b-a", {0, 0, 1, 0}, {2, 9}, {2, 1}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    OpTester t("DenseToDenseSetOperation");
    t.Attr("set_operation", std::string(c.op)).Input(a).Input(b);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Rows(2, c.indices));
    ExpectEqual(t.Output(1), I(c.values));
    ExpectEqual(t.Output(2), I(c.shape));
  }
  OpTester mixed("DenseToSparseSetOperation");
  mixed.Attr("set_operation", std::string("a-b")).Input(a);
  mixed.Input(Rows(2, {1, 0})).Input(I({4})).Input(I({2, 7}));
  ASSERT_EQ(mixed.Run(), OkStatus());
  ExpectEqual(mixed.Output(1), I({1, 3, 5}));
  ExpectEqual(mixed.Output(2), I({2, 2}));
  OpTester sparse("SparseToSparseSetOperation");
  sparse.Attr("set_operation", std::string("union"));
  sparse.Input(Rows(2, {0, 0, 2, 1})).Input(V<tstring>({"b", "a"}));
  sparse.Input(I({3, 4})).Input(Rows(2, {1, 0, 2, 3}));
  sparse.Input(V<tstring>({"c", "a"})).Input(I({3, 7}));
  ASSERT_EQ(sparse.Run(), OkStatus());
  ExpectEqual(sparse.Output(0), Rows(2, {0, 0, 1, 0, 2, 0}));
  ExpectEqual(sparse.Output(1), V<tstring>({"b", "c", "a"}));
  ExpectEqual(sparse.Output(2), I({3, 1}));
  OpTester size("SetSize");
  size.Input(Rows(2, {0, 0, 2, 1, 2, 2})).Input(V<uint8_t>({1, 2, 2}));
  size.Input(I({3, 4}));
  ASSERT_EQ(size.Run(), OkStatus());
  ExpectEqual(size.Output(0), V<int32_t>({1, 0, 1}));
}

TEST(SetOperationTest, Refusals) {
  const Tensor a = MakeTensor<int64_t>({2, 1}, {3, 1});
  OpTester name("DenseToDenseSetOperation"), shape("DenseToDenseSetOperation"),
      rank("DenseToDenseSetOperation"), order("SetSize");
  name.Attr("set_operation", std::string("x")).Input(a).Input(a);
  ExpectError(name.Run(), kInvalid, "Invalid set_operation x");
  shape.Attr("set_operation", std::string("union")).Input(a);
  shape.Input(MakeTensor<int64_t>({1, 1}, {3}));
  ExpectError(shape.Run(), kInvalid, "Mismatched group shapes");
  rank.Attr("set_operation", std::string("union")).Input(I({1})).Input(I({2}));
  ExpectError(rank.Run(), kInvalid, "rank 1 < 2");
  order.Input(Rows(2, {1, 0, 0, 0})).Input(I({1, 2})).Input(I({3, 4}));
  ExpectError(order.Run(), kInvalid, "out of order");
}

}  // namespace
}  // namespace headrace
