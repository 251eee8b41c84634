// Concat, Pack, Split, Slice, StridedSlice: results and refusals.
#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Iota(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) t.data<float>()[i] = i;
  return t;
}

TEST(ConcatTest, AlongEachAxis) {
  OpTester t("ConcatV2");
  t.Input(MakeTensor<float>({2, 1}, {1, 2}))
      .Input(MakeTensor<float>({2, 2}, {3, 4, 5, 6}))
      .Input(MakeScalar<int32_t>(-1));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 3}, {1, 3, 4, 2, 5, 6}));
  OpTester v1("Concat");
  v1.Input(MakeScalar<int32_t>(0))
      .Input(MakeTensor<tstring>({1}, {"a"}))
      .Input(MakeTensor<tstring>({0}, {}))
      .Input(MakeTensor<tstring>({2}, {"b", "c"}));
  ASSERT_TRUE(v1.Run().ok());
  ExpectEqual(v1.Output(0), MakeTensor<tstring>({3}, {"a", "b", "c"}));
}

TEST(ConcatTest, Refusals) {
  const std::tuple<TensorShape, TensorShape, int> cases[] = {
      {{}, {}, 0}, {{2, 2}, {0}, 0}, {{2, 2}, {3, 3}, 0}, {{2}, {2}, 1}};
  for (const auto& [a, b, axis] : cases) {
    OpTester t("ConcatV2");
    t.Input(Iota(a)).Input(Iota(b)).Input(MakeScalar<int32_t>(axis));
    ExpectError(t.Run(), kInvalid, "ConcatOp");
  }
}

TEST(ConcatOffsetTest, RunningSums) {
  OpTester t("ConcatOffset");
  t.Input(MakeScalar<int32_t>(-1));
  for (int n : {2, 3, 4}) t.Input(MakeTensor<int32_t>({2}, {7, n}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({2}, {0, 0}));
  ExpectEqual(t.Output(1), MakeTensor<int32_t>({2}, {0, 2}));
  ExpectEqual(t.Output(2), MakeTensor<int32_t>({2}, {0, 5}));
}

TEST(PackTest, AndUnpackIsItsInverse) {
  for (int axis : {0, 1, -1}) {
    OpTester pack("Pack");
    pack.Attr("axis", axis)
        .Input(MakeTensor<int64_t>({2}, {1, 2}))
        .Input(MakeTensor<int64_t>({2}, {3, 4}));
    ASSERT_TRUE(pack.Run().ok());
    ExpectEqual(pack.Output(0),
                axis == 0 ? MakeTensor<int64_t>({2, 2}, {1, 2, 3, 4})
                          : MakeTensor<int64_t>({2, 2}, {1, 3, 2, 4}));
    OpTester unpack("Unpack");
    unpack.Attr("axis", axis).Attr("num", 2).Input(pack.Output(0));
    ASSERT_TRUE(unpack.Run().ok());
    ExpectEqual(unpack.Output(1), MakeTensor<int64_t>({2}, {3, 4}));
  }
  OpTester bad("Unpack");
  bad.Attr("num", 3).Input(Iota({2, 2}));
  EXPECT_EQ(bad.Run().code(), kInvalid);
}

TEST(SplitTest, EvenAndBySizes) {
  OpTester t("Split");
  t.Attr("num_split", 2).Input(MakeScalar<int32_t>(1)).Input(Iota({2, 4}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(1), MakeTensor<float>({2, 2}, {2, 3, 6, 7}));
  OpTester v("SplitV");
  v.Attr("num_split", 3)
      .Input(Iota({5}))
      .Input(MakeTensor<int64_t>({3}, {1, -1, 2}))
      .Input(MakeScalar<int32_t>(0));
  ASSERT_TRUE(v.Run().ok());
  ExpectEqual(v.Output(1), MakeTensor<float>({2}, {1, 2}));
  ExpectEqual(v.Output(2), MakeTensor<float>({2}, {3, 4}));
}

TEST(SplitTest, Refusals) {
  OpTester uneven("Split");
  uneven.Attr("num_split", 3).Input(MakeScalar<int32_t>(0)).Input(Iota({4, 4}));
  ExpectError(uneven.Run(), kInvalid, "evenly divide");
  for (const auto& sizes : {std::vector<int64_t>{-1, -1},
                            {1, 2},
                            {9, -1},
                            {-2, 6},
                            {INT64_MAX, INT64_MAX}}) {
    OpTester t("SplitV");
    t.Attr("num_split", 2)
        .Input(Iota({4}))
        .Input(Tensor::Vector<int64_t>(sizes))
        .Input(MakeScalar<int32_t>(0));
    EXPECT_EQ(t.Run().code(), kInvalid);
  }
}

TEST(SliceTest, TakesABoxAndDoesNotClamp) {
  OpTester t("Slice");
  t.Input(Iota({3, 4}))
      .Input(MakeTensor<int32_t>({2}, {1, 1}))
      .Input(MakeTensor<int32_t>({2}, {-1, 2}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {5, 6, 9, 10}));
  const std::tuple<int, int, const char*> bad[] = {
      {-1, 1, "Expected begin[0] in [0, 5], but got -1"},
      {2, 4, "Expected size[0] in [0, 3], but got 4"}};
  for (const auto& [begin, size, message] : bad) {
    OpTester b("Slice");
    b.Input(Iota({5}))
        .Input(MakeTensor<int32_t>({1}, {begin}))
        .Input(MakeTensor<int32_t>({1}, {size}));
    ExpectError(b.Run(), kInvalid, message);
  }
}

struct StridedCase {
  std::vector<int64_t> begin, end, strides;
  int begin_mask = 0, end_mask = 0, ellipsis = 0, new_axis = 0, shrink = 0;
  TensorShape want;
  std::vector<float> values;
  const char* error = nullptr;
};

TEST(StridedSliceTest, Masks) {
  // Of [[0, 1, 2], [3, 4, 5]].
  const StridedCase cases[] = {
      {{0, 0}, {2, 3}, {1, 2}, 0, 0, 0, 0, 0, {2, 2}, {0, 2, 3, 5}},
      {{1}, {2}, {1}, 0, 0, 0, 0, 1, {3}, {3, 4, 5}},
      {{-1}, {0}, {1}, 0, 0, 0, 0, 1, {3}, {3, 4, 5}},
      {{0, -1}, {0, 0}, {1, 1}, 0, 0, 1, 0, 2, {2}, {2, 5}},
      {{0, 0}, {0, 0}, {1, -1}, 3, 3, 0, 0, 0, {2, 3}, {2, 1, 0, 5, 4, 3}},
      {{0, 0}, {9, -1}, {1, -1}, 0, 0, 0, 0, 0, {2, 0}, {}},
      {{0, 1}, {0, 2}, {1, 1}, 0, 0, 0, 1, 0, {1, 1, 3}, {3, 4, 5}},
      // A bit in two masks: the ellipsis wins over the new axis, that over the
      // shrinking.
      {{0, 1}, {0, 2}, {1, 2}, 0, 0, 1, 1, 2, {2}, {1, 4}},
      {{0, 1}, {0, 2}, {1, 1}, 0, 0, 0, 1, 1, {1, 1, 3}, {3, 4, 5}},
      {{5}, {6}, {1}, 0, 0, 0, 0, 1, {}, {}, "slice index 5 of dimension 0"},
      {{0}, {1}, {0}, 0, 0, 0, 0, 0, {}, {}, "must be non-zero"},
      {{0}, {1}, {-1}, 0, 0, 0, 0, 1, {}, {}, "only stride 1 allowed"},
      {{0, 0, 0},
       {1, 1, 1},
       {1, 1, 1},
       0,
       0,
       0,
       0,
       0,
       {},
       {},
       "Index out of range using input dim 2; input has only 2 dims"},
      {{0, 0}, {1, 1}, {1, 1}, 0, 0, 3, 0, 0, {}, {}, "Multiple ellipses"},
  };
  for (const StridedCase& c : cases) {
    OpTester t("StridedSlice");
    t.Attr("begin_mask", c.begin_mask)
        .Attr("end_mask", c.end_mask)
        .Attr("ellipsis_mask", c.ellipsis)
        .Attr("new_axis_mask", c.new_axis)
        .Attr("shrink_axis_mask", c.shrink)
        .Input(Iota({2, 3}))
        .Input(Tensor::Vector<int64_t>(c.begin))
        .Input(Tensor::Vector<int64_t>(c.end))
        .Input(Tensor::Vector<int64_t>(c.strides));
    const Status s = t.Run();
    if (c.error != nullptr) {
      ExpectError(s, kInvalid, c.error);
    } else {
      ASSERT_TRUE(s.ok()) << s;
      ExpectEqual(t.Output(0), MakeTensor<float>(c.want, c.values));
    }
  }
}

TEST(StridedSliceGradTest, PutsValuesBack) {
  OpTester t("StridedSliceGrad");
  t.Input(MakeTensor<int32_t>({1}, {5}))
      .Input(MakeTensor<int32_t>({1}, {4}))
      .Input(MakeTensor<int32_t>({1}, {-9}))
      .Input(MakeTensor<int32_t>({1}, {-2}))
      .Input(MakeTensor<float>({3}, {1, 2, 3}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({5}, {3, 0, 2, 0, 1}));
}

}  // namespace
}  // namespace headrace
