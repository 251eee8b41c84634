#include "framework/kernel/op_tester.h"
#include "headrace/resource_handle.h"

namespace headrace {
namespace {

using absl::StatusCode;

// Handles own their arrays and stacks, so that each op can run in a step of its
// own.
class Arrays {
 public:
  explicit Arrays(int size, AttrMap attrs = {}) {
    OpTester t("TensorArrayV3");
    t.Attr("dtype", DT_FLOAT).Input(MakeScalar<int32_t>(size));
    for (const auto& [name, value] : attrs) t.Attr(name, value);
    EXPECT_EQ(t.Run(), OkStatus());
    handle_ = t.Output(0);
  }
  explicit Arrays(Tensor handle) : handle_(std::move(handle)) {}

  Status Write(int i, Tensor v) {
    OpTester t("TensorArrayWriteV3");
    t.Input(handle_).Input(MakeScalar<int32_t>(i)).Input(std::move(v));
    t.Input(MakeScalar<float>(0));
    return t.Run();
  }
  Status Read(int i, Tensor* v) {
    OpTester t("TensorArrayReadV3");
    t.Attr("dtype", DT_FLOAT).Input(handle_).Input(MakeScalar<int32_t>(i));
    t.Input(MakeScalar<float>(0));
    HR_RETURN_IF_ERROR(t.Run());
    *v = t.Output(0);
    return OkStatus();
  }
  Status Gather(std::vector<int32_t> at, Tensor* v) {
    OpTester t("TensorArrayGatherV3");
    const TensorShape n({static_cast<int64_t>(at.size())});
    t.Attr("dtype", DT_FLOAT).Input(handle_).Input(MakeTensor<int32_t>(n, at));
    t.Input(MakeScalar<float>(0));
    HR_RETURN_IF_ERROR(t.Run());
    *v = t.Output(0);
    return OkStatus();
  }
  Status Split(Tensor v, std::vector<int64_t> lengths) {
    OpTester t("TensorArraySplitV3");
    const TensorShape n({static_cast<int64_t>(lengths.size())});
    t.Input(handle_).Input(std::move(v)).Input(MakeTensor<int64_t>(n, lengths));
    t.Input(MakeScalar<float>(0));
    return t.Run();
  }
  Status Concat(Tensor* v, Tensor* lengths) {
    OpTester t("TensorArrayConcatV3");
    t.Attr("dtype", DT_FLOAT).Input(handle_).Input(MakeScalar<float>(0));
    HR_RETURN_IF_ERROR(t.Run());
    *v = t.Output(0);
    *lengths = t.Output(1);
    return OkStatus();
  }
  int Size() {
    OpTester t("TensorArraySizeV3");
    t.Input(handle_).Input(MakeScalar<float>(0));
    EXPECT_EQ(t.Run(), OkStatus());
    return t.Output(0).scalar<int32_t>();
  }
  Arrays Gradient(const std::string& source) {
    OpTester t("TensorArrayGradV3");
    t.Attr("source", source).Input(handle_).Input(MakeScalar<float>(0));
    EXPECT_EQ(t.Run(), OkStatus());
    return Arrays(t.Output(0));
  }
  Status Close() { return OpTester("TensorArrayCloseV3").Input(handle_).Run(); }

 private:
  Tensor handle_;
};

Tensor V(std::vector<float> v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}
constexpr auto kInvalid = StatusCode::kInvalidArgument;

TEST(TensorArrayOpTest, WritesAndReadsOnce) {
  Arrays a(2);
  Tensor v;
  EXPECT_EQ(a.Write(0, V({1, 2})), OkStatus());
  ExpectError(a.Write(0, V({1, 2})), kInvalid, "already been written");
  ExpectError(a.Write(2, V({1})), kInvalid, "not resizeable and size is: 2");
  ExpectError(a.Write(-1, V({1})), kInvalid, "index -1");
  ExpectError(a.Write(1, MakeScalar<int32_t>(1)), kInvalid, "dtype");
  EXPECT_EQ(a.Read(0, &v), OkStatus());
  ExpectEqual(v, V({1, 2}));
  ExpectError(a.Read(0, &v), kInvalid, "twice because it was cleared");
  ExpectError(a.Read(1, &v), kInvalid, "Could not read from TensorArray");
  EXPECT_EQ(a.Close(), OkStatus());
  ExpectError(a.Write(1, V({1})), kInvalid, "already been closed");
}

TEST(TensorArrayOpTest, UnwrittenElementsOfKnownShapeAreZeros) {
  Arrays a(2, {{"element_shape", PartialTensorShape({2})},
               {"clear_after_read", false}});
  EXPECT_EQ(a.Write(1, V({1, 2})), OkStatus());
  ExpectError(a.Write(0, V({1})), kInvalid, "incompatible");
  Tensor v;
  EXPECT_EQ(a.Gather({0, 1, 1}, &v), OkStatus());
  ExpectEqual(v, MakeTensor<float>({3, 2}, {0, 0, 1, 2, 1, 2}));
  EXPECT_EQ(a.Gather({}, &v), OkStatus());
  ExpectEqual(v, MakeTensor<float>({0, 2}, {}));
}

TEST(TensorArrayOpTest, GrowsOnlyIfDynamic) {
  Arrays a(0, {{"dynamic_size", true}});
  EXPECT_EQ(a.Write(6, V({1})), OkStatus());
  EXPECT_EQ(a.Size(), 7);
  // Far beyond what could be held densely.
  EXPECT_EQ(a.Write(2000000000, V({3})), OkStatus());
  Tensor v;
  EXPECT_EQ(a.Read(2000000000, &v), OkStatus());
  ExpectEqual(v, V({3}));
  a.Gradient("g");
  ExpectError(a.Write(2000000005, V({1})), kInvalid, "not resizeable");
}

TEST(TensorArrayOpTest, IdenticalElementShapesAreFixedByTheFirst) {
  Arrays a(2, {{"identical_element_shapes", true}});
  EXPECT_EQ(a.Write(0, V({1})), OkStatus());
  ExpectError(a.Write(1, V({1, 2})), kInvalid, "incompatible");
}

TEST(TensorArrayOpTest, GradientsAddUp) {
  Arrays a(2);
  EXPECT_EQ(a.Write(0, V({1, 2})), OkStatus());
  EXPECT_EQ(a.Write(1, V({1, 2, 3})), OkStatus());
  Arrays g = a.Gradient("g");
  const Tensor one = V({1, 10});
  EXPECT_EQ(g.Write(0, one), OkStatus());
  EXPECT_EQ(g.Write(0, one), OkStatus());
  ExpectError(g.Write(0, V({1})), kInvalid, "Could not aggregate");
  Tensor v;
  EXPECT_EQ(a.Gradient("g").Read(0, &v), OkStatus());
  ExpectEqual(v, V({2, 20}));
  ExpectEqual(one, V({1, 10}));  // what was written first is not written to
  EXPECT_EQ(g.Read(1, &v), OkStatus());
  ExpectEqual(v, V({0, 0, 0}));  // the shape is the forward element's
  EXPECT_EQ(a.Gradient("other").Write(0, V({1})), OkStatus());
}

TEST(TensorArrayOpTest, SplitAndConcat) {
  Arrays a(2);
  const Tensor x = MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  ExpectError(a.Split(x, {1, 1}), kInvalid, "sum of lengths is 2");
  ExpectError(a.Split(x, {4, -1}), kInvalid, "lengths must be >= 0");
  ExpectError(a.Split(x, {1, 1, 1}), kInvalid, "not marked as dynamically");
  EXPECT_EQ(a.Split(x, {1, 2}), OkStatus());
  Tensor v, lengths;
  EXPECT_EQ(a.Concat(&v, &lengths), OkStatus());
  ExpectEqual(v, x);
  ExpectEqual(lengths, MakeTensor<int64_t>({2}, {1, 2}));
  Arrays none(0);
  ExpectError(none.Concat(&v, &lengths), StatusCode::kUnimplemented,
              "size zero");
  ExpectError(none.Gather({}, &v), StatusCode::kUnimplemented, "size zero");
}

TEST(TensorArrayOpTest, GatherRefusesMixedShapes) {
  Arrays a(2, {{"clear_after_read", false}});
  EXPECT_EQ(a.Write(0, V({1})), OkStatus());
  EXPECT_EQ(a.Write(1, V({1, 2})), OkStatus());
  Tensor v, lengths;
  ExpectError(a.Gather({0, 1}, &v), kInvalid, "inconsistent shapes");
  ExpectError(a.Gather({0, 2}, &v), kInvalid, "index 2");
  EXPECT_EQ(a.Concat(&v, &lengths), OkStatus());
  ExpectEqual(v, V({1, 1, 2}));
}

TEST(TensorArrayOpTest, RefusesBadHandlesAndSizes) {
  OpTester size("TensorArrayV3");
  size.Attr("dtype", DT_FLOAT).Input(MakeScalar<int32_t>(-1));
  ExpectError(size.Run(), kInvalid, "must be >= 0, got -1");
  Arrays empty{Tensor(DT_RESOURCE, TensorShape())};
  ExpectError(empty.Write(0, V({1})), kInvalid, "");
}

TEST(StackOpTest, LastInFirstOut) {
  OpTester make("StackV2");
  make.Attr("elem_type", DT_FLOAT).Attr("stack_name", std::string("s"));
  ASSERT_EQ(make.Input(MakeScalar<int32_t>(2)).Run(), OkStatus());
  const Tensor h = make.Output(0);
  const auto push = [&](Tensor v) {
    return OpTester("StackPushV2").Input(h).Input(std::move(v)).Run();
  };
  Tensor v;
  const auto pop = [&] {
    OpTester t("StackPopV2");
    HR_RETURN_IF_ERROR(t.Attr("elem_type", DT_FLOAT).Input(h).Run());
    v = t.Output(0);
    return OkStatus();
  };
  ExpectError(pop(), kInvalid, "Stack[s] is empty when calling Pop().");
  EXPECT_EQ(push(V({1})), OkStatus());
  EXPECT_EQ(push(V({2, 3})), OkStatus());
  ExpectError(push(V({4})), kInvalid, "overflowed its max_size (2)");
  ExpectError(push(MakeScalar<int32_t>(1)), kInvalid, "Must have type float");
  EXPECT_EQ(pop(), OkStatus());
  ExpectEqual(v, V({2, 3}));
  EXPECT_EQ(OpTester("StackCloseV2").Input(h).Run(), OkStatus());
  ExpectError(pop(), kInvalid, "closed");
}

}  // namespace
}  // namespace headrace
