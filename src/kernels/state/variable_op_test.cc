// Variables by reference and by handle: Assign*, Scatter*, reads.
#include "framework/kernel/op_tester.h"
#include "framework/kernel/resource_var.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

Tensor F(std::vector<float> v) {
  const int64_t n = static_cast<int64_t>(v.size());
  return MakeTensor<float>({n}, v);
}
Tensor I(std::vector<int32_t> v) {
  const int64_t n = static_cast<int64_t>(v.size());
  return MakeTensor<int32_t>({n}, v);
}
Tensor Heap(const Tensor& t) {
  Tensor copy;
  EXPECT_EQ(t.DeepCopyTo(&copy, Tensor::kHeap), OkStatus());
  return copy;
}

TEST(RefVariableTest, AssignKeepsTheBufferAndReadersSeeIt) {
  OpTester t("Assign");
  Tensor var = Heap(F({1, 2}));
  t.Ref(var).Input(F({3, 4}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), F({3, 4}));
  ExpectEqual(var, F({3, 4}));
}

TEST(RefVariableTest, FirstAssignTakesAnyShape) {
  OpTester t("Assign");
  t.Attr("T", DT_FLOAT).Ref(Tensor()).Input(MakeScalar<float>(7));
  EXPECT_FALSE(t.InputTensor(0).IsInitialized());
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.InputTensor(0), MakeScalar<float>(7));
  EXPECT_FALSE(t.InputTensor(0).IsInline());
}

TEST(RefVariableTest, AssignShapes) {
  OpTester strict("Assign");
  strict.Ref(Heap(F({1, 2}))).Input(F({1, 2, 3}));
  ExpectError(strict.Run(), kInvalid,
              "Assign requires shapes of both tensors to match. lhs shape= "
              "[2] rhs shape= [3]");
  OpTester loose("Assign");
  loose.Attr("validate_shape", false).Ref(Heap(F({1, 2}))).Input(F({1, 2, 3}));
  ASSERT_EQ(loose.Run(), OkStatus());
  ExpectEqual(loose.InputTensor(0), F({1, 2, 3}));
}

// ref update (b + x * a).
struct FusedAssign : OpTester {
  FusedAssign(const char* update, Tensor var, Tensor x, Tensor a, Tensor b)
      : OpTester("_FusedAssign") {
    Attr("T", DT_FLOAT).Attr("num_args", int64_t{2}).Attr("update", update);
    Attr("ops", std::vector<std::string>{"Mul", "Add"});
    Attr("sides", std::vector<int64_t>{1, 2});
    Ref(std::move(var)).Input(std::move(x)).Input(std::move(a));
    Input(std::move(b));
  }
};

TEST(RefVariableTest, AFusedAssignComputesWhatItAssigns) {
  const struct {
    const char* update;
    std::vector<float> want;
  } kCases[] = {{"Assign", {12, 23, 34}},
                {"AssignAdd", {112, 123, 134}},
                {"AssignSub", {88, 77, 66}}};
  for (const auto& c : kCases) {
    Tensor var = Heap(F({100, 100, 100}));
    FusedAssign t(c.update, var, F({1, 2, 3}), MakeScalar<float>(2),
                  F({10, 19, 28}));
    ASSERT_EQ(t.Run(), OkStatus()) << c.update;
    ExpectEqual(var, F(c.want));  // a reader who shares the buffer
    ExpectEqual(t.Output(0), F(c.want));
  }
}

TEST(RefVariableTest, AFusedAssignReadsItsOwnVariableBeforeItWrites) {
  const Tensor var = Heap(MakeTensor<float>({2, 300}, [] {
    std::vector<float> v(600);
    for (int i = 0; i < 600; ++i) v[i] = static_cast<float>(i);
    return v;
  }()));
  Tensor row;  // the last row, as a view
  ASSERT_TRUE(row.CopyFrom(var.Slice(1, 2), {300}));
  FusedAssign t("AssignAdd", var, var, MakeScalar<float>(2), row);
  ASSERT_EQ(t.Run(), OkStatus());
  for (int i = 0; i < 600; ++i) {
    EXPECT_EQ(var.data<float>()[i], 3 * i + 300 + i % 300) << i;
  }
}

TEST(RefVariableTest, AFusedAssignRefusesWhatAssignsRefuse) {
  const Tensor one = MakeScalar<float>(1);
  FusedAssign first("Assign", Tensor(), F({1, 2}), one, one);
  ASSERT_EQ(first.Run(), OkStatus());
  ExpectEqual(first.InputTensor(0), F({2, 3}));
  ExpectError(FusedAssign("AssignAdd", Tensor(), F({1, 2}), one, one).Run(),
              kPrecondition, "uninitialized value");
  ExpectError(FusedAssign("Assign", Heap(F({1})), F({1, 2}), one, one).Run(),
              kInvalid, "Assign requires shapes of both tensors to match");
  ExpectError(FusedAssign("AssignSub", Heap(F({1})), F({1, 2}), one, one).Run(),
              kInvalid, "Parameters and update must be the same size");
  ExpectError(
      FusedAssign("Assign", Heap(F({1, 2})), F({1, 2}), F({1, 2, 3}), one)
          .Run(),
      kInvalid, "args[0] must have one element or a shape that x's shape");
}

TEST(RefVariableTest, AddAndSub) {
  OpTester add("AssignAdd");
  Tensor var = Heap(F({1, 2}));
  add.Ref(var).Input(F({10, 20}));
  ASSERT_EQ(add.Run(), OkStatus());
  ExpectEqual(var, F({11, 22}));  // a reader who shares the buffer
  OpTester wrap("AssignSub");
  wrap.Ref(Heap(MakeTensor<int8_t>({1}, {-128})))
      .Input(MakeTensor<int8_t>({1}, {1}));
  ASSERT_EQ(wrap.Run(), OkStatus());
  ExpectEqual(wrap.InputTensor(0), MakeTensor<int8_t>({1}, {127}));
  OpTester shape("AssignAdd");
  shape.Ref(Heap(F({1, 2}))).Input(MakeScalar<float>(1));
  ExpectError(shape.Run(), kInvalid,
              "Parameters and update must be the same size");
}

TEST(RefVariableTest, Uninitialized) {
  OpTester add("AssignAdd");
  add.Attr("T", DT_FLOAT).Ref(Tensor()).Input(F({1}));
  ExpectError(add.Run(), kPrecondition,
              "Attempting to use uninitialized value");
  OpTester is("IsVariableInitialized");
  is.Attr("dtype", DT_FLOAT).Ref(Tensor());
  ASSERT_EQ(is.Run(), OkStatus());
  ExpectEqual(is.Output(0), MakeScalar<bool>(false));
}

TEST(RefVariableTest, CountUpTo) {
  OpTester t("CountUpTo");
  t.Attr("limit", 2).Ref(Heap(MakeScalar<int32_t>(1)));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeScalar<int32_t>(1));
  ExpectError(t.Run(), absl::StatusCode::kOutOfRange, "Reached limit of 2");
}

struct ScatterCase {
  const char* op;
  std::vector<float> want;  // from {1,2,3,4,5,6} as [3,2]
};
TEST(RefVariableTest, Scatter) {
  const ScatterCase cases[] = {{"ScatterUpdate", {30, 40, 3, 4, 50, 60}},
                               {"ScatterAdd", {41, 62, 3, 4, 55, 66}},
                               {"ScatterSub", {-39, -58, 3, 4, -45, -54}},
                               {"ScatterMul", {300, 1600, 3, 4, 250, 360}},
                               {"ScatterMin", {1, 2, 3, 4, 5, 6}},
                               {"ScatterMax", {30, 40, 3, 4, 50, 60}}};
  for (const ScatterCase& c : cases) {
    SCOPED_TRACE(c.op);
    OpTester t(c.op);
    t.Ref(Heap(MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})))
        .Input(I({0, 2, 0}))
        .Input(MakeTensor<float>({3, 2}, {10, 20, 50, 60, 30, 40}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({3, 2}, c.want));
  }
}

TEST(RefVariableTest, ScatterScalarAndRefusals) {
  OpTester scalar("ScatterAdd");
  scalar.Ref(Heap(F({1, 2, 3}))).Input(I({1})).Input(MakeScalar<float>(5));
  ASSERT_EQ(scalar.Run(), OkStatus());
  ExpectEqual(scalar.Output(0), F({1, 7, 3}));

  OpTester range("ScatterAdd");
  range.Ref(Heap(F({1, 2, 3}))).Input(I({1, 3})).Input(F({5, 5}));
  ExpectError(range.Run(), kInvalid, "indices[1] = 3 is not in [0, 3)");
  ExpectEqual(range.InputTensor(0), F({1, 2, 3}));

  OpTester shape("ScatterAdd");
  shape.Ref(Heap(F({1, 2, 3}))).Input(I({1})).Input(F({5, 5}));
  ExpectError(shape.Run(), kInvalid, "Must have updates.shape =");

  OpTester zero("ScatterDiv");
  zero.Ref(Heap(I({1, 2}))).Input(I({1})).Input(I({0}));
  ExpectError(zero.Run(), kInvalid, "Integer division by zero");
}

TEST(RefVariableTest, ScatterStrings) {
  OpTester t("ScatterUpdate");
  Tensor before = MakeTensor<tstring>({2}, {tstring("a"), tstring("b")});
  t.Ref(before).Input(I({1})).Input(MakeTensor<tstring>({1}, {tstring("c")}));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).data<tstring>()[1], "c");
  EXPECT_EQ(before.data<tstring>()[1], "b");
}

TEST(RefVariableTest, ScatterNd) {
  OpTester t("ScatterNdAdd");
  t.Ref(Heap(MakeTensor<float>({2, 2}, {1, 2, 3, 4})))
      .Input(MakeTensor<int32_t>({3, 2}, {0, 1, 1, 0, 0, 1}))
      .Input(F({10, 20, 30}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {1, 42, 23, 4}));
  OpTester bad("ScatterNdUpdate");
  bad.Ref(Heap(F({1, 2, 3})))
      .Input(MakeTensor<int32_t>({1, 1}, {3}))
      .Input(F({1}));
  ExpectError(bad.Run(), kInvalid,
              "indices[0] = [3] does not index into shape [3]");
  OpTester shape("ScatterNdUpdate");
  shape.Ref(Heap(F({1, 2, 3})))
      .Input(MakeTensor<int32_t>({1, 1}, {1}))
      .Input(F({1, 2}));
  ExpectError(shape.Run(), kInvalid, "Must have updates.shape");
}

// A resource variable in the tester's device, and a handle to it.
Tensor MakeVar(OpTester* t, const Tensor& value) {
  ResourceMgr* mgr = t->device()->resource_manager();
  if (value.IsInitialized()) {
    RefPtr<Var> var(new Var(value.dtype()));
    *var->tensor() = value;
    EXPECT_EQ(mgr->Create<Var>("localhost", "v", var), OkStatus());
  }
  Tensor handle(DT_RESOURCE, TensorShape());
  handle.scalar<ResourceHandle>() =
      mgr->MakeHandle<Var>(t->device()->name(), "localhost", "v");
  return handle;
}
Tensor Value(OpTester* t) {
  RefPtr<Var> var;
  EXPECT_EQ(
      t->device()->resource_manager()->Lookup<Var>("localhost", "v", &var),
      OkStatus());
  return *var->tensor();
}

TEST(ResourceVariableTest, ScatterNdOfBools) {
  for (const bool add : {true, false}) {
    OpTester t(add ? "ResourceScatterNdAdd" : "ResourceScatterNdSub");
    t.Input(MakeVar(&t, MakeTensor<bool>({4}, {false, true, false, true})))
        .Input(MakeTensor<int32_t>({4, 1}, {0, 1, 2, 3}))
        .Input(MakeTensor<bool>({4}, {false, false, true, true}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(Value(&t), MakeTensor<bool>({4}, {false, true, true, add}));
  }
}

TEST(ResourceVariableTest, ReadIsASnapshot) {
  OpTester t("AssignAddVariableOp");
  Tensor read = F({1, 2, 3, 4, 5, 6, 7, 8});
  t.Input(MakeVar(&t, read)).Input(read);
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(read, F({1, 2, 3, 4, 5, 6, 7, 8}));
  ExpectEqual(Value(&t), F({2, 4, 6, 8, 10, 12, 14, 16}));
}

TEST(ResourceVariableTest, AssignTakesAnyShape) {
  OpTester t("AssignVariableOp");
  t.Input(MakeVar(&t, F({1}))).Input(F({1, 2, 3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(Value(&t), F({1, 2, 3}));
  OpTester first("AssignVariableOp");
  first.Input(MakeVar(&first, Tensor())).Input(F({1, 2, 3}));
  ASSERT_EQ(first.Run(), OkStatus());
  OpTester type("AssignVariableOp");
  type.Input(MakeVar(&type, F({1}))).Input(I({1}));
  ExpectError(type.Run(), kInvalid, "with wrong dtype. Expected float got");
}

TEST(ResourceVariableTest, NeverAssigned) {
  OpTester read("ReadVariableOp");
  read.Attr("dtype", DT_FLOAT).Input(MakeVar(&read, Tensor()));
  ExpectError(read.Run(), kPrecondition,
              "Error while reading resource variable v from Container: "
              "localhost");
  OpTester add("AssignAddVariableOp");
  add.Input(MakeVar(&add, Tensor())).Input(F({1}));
  ExpectError(add.Run(), absl::StatusCode::kNotFound,
              "Could not find variable v");
  OpTester is("VarIsInitializedOp");
  is.Input(MakeVar(&is, Tensor()));
  ASSERT_EQ(is.Run(), OkStatus());
  ExpectEqual(is.Output(0), MakeScalar<bool>(false));
  OpTester destroy("DestroyResourceOp");
  destroy.Attr("ignore_lookup_error", false).Input(MakeVar(&destroy, Tensor()));
  ExpectError(destroy.Run(), absl::StatusCode::kNotFound, "does not exist");
}

TEST(ResourceVariableTest, ReadGatherShape) {
  OpTester read("ReadVariableOp");
  read.Attr("dtype", DT_FLOAT).Input(MakeVar(&read, F({1, 2})));
  ASSERT_EQ(read.Run(), OkStatus());
  ExpectEqual(read.Output(0), F({1, 2}));
  OpTester type("ReadVariableOp");
  type.Attr("dtype", DT_INT32).Input(MakeVar(&type, F({1, 2})));
  ExpectError(type.Run(), kInvalid, "wrong dtype");
  OpTester shape("VariableShape");
  shape.Input(MakeVar(&shape, F({1, 2})));
  ASSERT_EQ(shape.Run(), OkStatus());
  ExpectEqual(shape.Output(0), I({2}));
  OpTester gather("ResourceGather");
  gather.Attr("dtype", DT_FLOAT)
      .Input(MakeVar(&gather, MakeTensor<float>({2, 2}, {1, 2, 3, 4})))
      .Input(I({1, 0, 1}));
  ASSERT_EQ(gather.Run(), OkStatus());
  ExpectEqual(gather.Output(0), MakeTensor<float>({3, 2}, {3, 4, 1, 2, 3, 4}));
  OpTester batch("ResourceGather");
  batch.Attr("dtype", DT_FLOAT)
      .Attr("batch_dims", 1)
      .Input(MakeVar(&batch, MakeTensor<float>({2, 2}, {1, 2, 3, 4})))
      .Input(MakeTensor<int32_t>({2, 1}, {1, 0}));
  ASSERT_EQ(batch.Run(), OkStatus());
  ExpectEqual(batch.Output(0), MakeTensor<float>({2, 1}, {2, 3}));
  OpTester range("ResourceGather");
  range.Attr("dtype", DT_FLOAT)
      .Input(MakeVar(&range, F({1, 2})))
      .Input(I({-1}));
  ExpectError(range.Run(), kInvalid, "indices[0] = -1 is not in [0, 2)");
  OpTester nd("ResourceGatherNd");
  nd.Attr("dtype", DT_FLOAT)
      .Input(MakeVar(&nd, MakeTensor<float>({2, 2}, {1, 2, 3, 4})))
      .Input(MakeTensor<int32_t>({2, 2}, {0, 1, 1, 0}));
  ASSERT_EQ(nd.Run(), OkStatus());
  ExpectEqual(nd.Output(0), F({2, 3}));
}

TEST(ResourceVariableTest, NotAHandleToAVariable) {
  OpTester t("ReadVariableOp");
  t.Attr("dtype", DT_FLOAT).Input(Tensor(DT_RESOURCE, TensorShape()));
  ExpectError(t.Run(), kInvalid, "Trying to access resource");
  OpTester two("ReadVariableOp");
  two.Attr("dtype", DT_FLOAT).Input(Tensor(DT_RESOURCE, TensorShape({2})));
  ExpectError(two.Run(), kInvalid, "must be one resource handle");
}

}  // namespace
}  // namespace headrace
