// Expected values are TensorFlow's.
#include "kernels/sparse/ragged_test_util.h"

namespace headrace {
namespace {

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

}  // namespace
}  // namespace headrace
