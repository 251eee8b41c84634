#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

using absl::StatusCode;
constexpr auto kInvalid = StatusCode::kInvalidArgument;

Tensor V(std::vector<float> v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}
Tensor Shape(std::vector<int32_t> dims) {
  return MakeTensor<int32_t>({static_cast<int64_t>(dims.size())}, dims);
}

Tensor Reserve(Tensor shape, int n) {
  OpTester t("TensorListReserve");
  t.Attr("element_dtype", DT_FLOAT).Input(std::move(shape));
  EXPECT_EQ(t.Input(MakeScalar<int32_t>(n)).Run(), OkStatus());
  return t.Output(0);
}
Status PushBack(const Tensor& list, Tensor v, Tensor* out) {
  OpTester t("TensorListPushBack");
  t.Attr("element_dtype", DT_FLOAT).Input(list).Input(std::move(v));
  HR_RETURN_IF_ERROR(t.Run());
  *out = t.Output(0);
  return OkStatus();
}
Status Stack(const Tensor& list, Tensor shape, Tensor* out) {
  OpTester t("TensorListStack");
  t.Attr("element_dtype", DT_FLOAT).Input(list).Input(std::move(shape));
  HR_RETURN_IF_ERROR(t.Run());
  *out = t.Output(0);
  return OkStatus();
}

TEST(TensorListOpTest, ListsAreValues) {
  Tensor a, b, c, v;
  ASSERT_EQ(PushBack(Reserve(Shape({2}), 0), V({1, 2}), &a), OkStatus());
  ASSERT_EQ(PushBack(a, V({3, 4}), &b), OkStatus());
  ASSERT_EQ(PushBack(a, V({5, 6}), &c), OkStatus());
  ASSERT_EQ(Stack(a, Shape({2}), &v), OkStatus());
  ExpectEqual(v, MakeTensor<float>({1, 2}, {1, 2}));
  ASSERT_EQ(Stack(b, Shape({2}), &v), OkStatus());
  ExpectEqual(v, MakeTensor<float>({2, 2}, {1, 2, 3, 4}));
  ASSERT_EQ(Stack(c, Shape({-1}), &v), OkStatus());
  ExpectEqual(v, MakeTensor<float>({2, 2}, {1, 2, 5, 6}));
  ExpectError(PushBack(a, V({1, 2, 3}), &v), kInvalid, "incompatible shape");
  ExpectError(Stack(b, Shape({3}), &v), kInvalid, "Incompatible shapes");
}

TEST(TensorListOpTest, UnsetElementsAreZerosOfKnownShape) {
  Tensor v;
  ASSERT_EQ(Stack(Reserve(Shape({2}), 2), Shape({2}), &v), OkStatus());
  ExpectEqual(v, MakeTensor<float>({2, 2}, {0, 0, 0, 0}));
  ExpectError(
      Stack(Reserve(MakeScalar<int32_t>(-1), 2), MakeScalar<int32_t>(-1), &v),
      kInvalid, "uninitialized");
}

TEST(TensorListOpTest, RefusesWhatIsNoListAndBadIndices) {
  Tensor v;
  ExpectError(Stack(Tensor(DT_VARIANT, TensorShape()), Shape({2}), &v),
              kInvalid, "is not a list");
  for (int index : {-1, 2}) {
    OpTester get("TensorListGetItem");
    get.Attr("element_dtype", DT_FLOAT).Input(Reserve(Shape({2}), 2));
    get.Input(MakeScalar<int32_t>(index)).Input(Shape({2}));
    ExpectError(get.Run(), kInvalid, "in a list with 2 elements");
  }
  OpTester reserve("TensorListReserve");
  reserve.Attr("element_dtype", DT_FLOAT).Input(Shape({2}));
  ExpectError(reserve.Input(MakeScalar<int32_t>(-1)).Run(), kInvalid,
              "but got -1");
}

TEST(TensorListOpTest, SplitAndConcat) {
  OpTester split("TensorListSplit");
  const Tensor x = MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  split.Input(x).Input(Shape({-1, 2}));
  ASSERT_EQ(split.Input(MakeTensor<int64_t>({2}, {1, 2})).Run(), OkStatus());
  OpTester concat("TensorListConcatV2");
  concat.Attr("element_dtype", DT_FLOAT).Input(split.Output(0));
  concat.Input(Shape({-1, 2})).Input(MakeTensor<int64_t>({0}, {}));
  ASSERT_EQ(concat.Run(), OkStatus());
  ExpectEqual(concat.Output(0), x);
  ExpectEqual(concat.Output(1), MakeTensor<int64_t>({2}, {1, 2}));
}

}  // namespace
}  // namespace headrace
