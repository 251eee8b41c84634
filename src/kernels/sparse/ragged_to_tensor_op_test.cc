// Expected values are TensorFlow's.
#include "kernels/sparse/ragged_test_util.h"

namespace headrace {
namespace {

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

}  // namespace
}  // namespace headrace
