#include "headrace/op_kernel.h"

#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"
#include "framework/kernel/temporary_memory.h"
#include "headrace/op.h"

namespace headrace {
namespace {

REGISTER_OP("RegistryTest")
    .Input("x: T")
    .Output("z: int32")
    .Attr("T: type")
    .Input("rest: n * U")
    .Attr("U: type")
    .Attr("n: int = 2")
    .Output("y: T");

template <int kId>
class TestOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {}
};

REGISTER_KERNEL_BUILDER(Name("RegistryTest"), TestOp<0>);
REGISTER_KERNEL_BUILDER(Name("RegistryTest")
                            .HostMemory("rest")
                            .TypeConstraint<float>("T")
                            .HostMemory("y")
                            .TypeConstraint<double>("T")
                            .Priority(1)
                            .TypeConstraint("U", DT_BOOL)
                            .Device("RegistryTestDevice"),
                        TestOp<1>);
REGISTER_KERNEL_BUILDER(
    Name("RegistryTest").Device(DEVICE_CPU).Label("labelled").Priority(9),
    TestOp<2>);
REGISTER_KERNEL_BUILDER(Name("RegistryTest").Priority(1), TestOp<3>);

#define FOUR(M, A) M(A##0) M(A##1) M(A##2) M(A##3)
#define SPEC(A) .Attr("a" #A ": int = 1" #A)
#define FOURS(A) FOUR(SPEC, A##0) FOUR(SPEC, A##1) FOUR(SPEC, A##2)
REGISTER_OP("RegistryTestLong")
FOURS(0) FOURS(1) FOURS(2).Input("x: float") FOURS(3) FOURS(4) FOURS(5);
#undef FOUR
#undef SPEC
#undef FOURS

NodeDef TestNode(DataType t, DataType u) {
  NodeDef node;
  node.op = "RegistryTest";
  node.attrs.Set("T", t);
  node.attrs.Set("U", u);
  node.attrs.Set("n", int64_t{2});
  return node;
}

const char* ClassFound(const std::string& device, const NodeDef& node) {
  const KernelEntry* entry = KernelRegistry::Global()->Find(device, node);
  return entry == nullptr ? "none" : entry->kernel_class;
}

TEST(OpRegistry, KeepsTheOrderOfEachKindOfSpec) {
  const OpDef* def = OpRegistry::Global()->Find("RegistryTest");
  ASSERT_NE(def, nullptr);
  EXPECT_EQ(def->DebugString(),
            "Op<name=RegistryTest; signature=x:T, rest:n*U -> z:int32, y:T; "
            "attr=T:type; attr=U:type; attr=n:int,default=2,min=1>");
}

TEST(OpRegistry, TakesAnyNumberOfSpecs) {
  const OpDef* def = OpRegistry::Global()->Find("RegistryTestLong");
  ASSERT_NE(def, nullptr);
  ASSERT_EQ(def->attrs.size(), 72u);
  EXPECT_EQ(def->attrs.front().name, "a000");
  EXPECT_EQ(def->attrs.back().name, "a523");
  EXPECT_EQ(def->inputs.size(), 1u);
}

TEST(KernelRegistry, FindsByConstraintsLabelAndPriority) {
  EXPECT_STREQ(ClassFound(DEVICE_CPU, TestNode(DT_FLOAT, DT_BOOL)),
               "TestOp<3>");
  for (DataType t : {DT_FLOAT, DT_DOUBLE}) {
    EXPECT_STREQ(ClassFound("RegistryTestDevice", TestNode(t, DT_BOOL)),
                 "TestOp<1>");
  }
  EXPECT_STREQ(ClassFound("RegistryTestDevice", TestNode(DT_FLOAT, DT_INT8)),
               "none");
  EXPECT_STREQ(ClassFound("RegistryTestDevice", TestNode(DT_INT8, DT_BOOL)),
               "none");
  NodeDef labelled = TestNode(DT_FLOAT, DT_BOOL);
  labelled.attrs.Set("_kernel", std::string("labelled"));
  EXPECT_STREQ(ClassFound(DEVICE_CPU, labelled), "TestOp<2>");
}

TEST(KernelRegistry, KnowsWhatLivesInHostMemory) {
  const NodeDef node = TestNode(DT_FLOAT, DT_BOOL);
  const KernelEntry* entry =
      KernelRegistry::Global()->Find("RegistryTestDevice", node);
  ASSERT_NE(entry, nullptr);
  absl::InlinedVector<MemoryType, 4> inputs, outputs;
  ASSERT_EQ(
      KernelRegistry::MemoryTypes(*entry, *OpRegistry::Global()->Find(node.op),
                                  node, &inputs, &outputs),
      OkStatus());
  using Types = absl::InlinedVector<MemoryType, 4>;
  EXPECT_EQ(inputs, (Types{DEVICE_MEMORY, HOST_MEMORY, HOST_MEMORY}));
  EXPECT_EQ(outputs, (Types{DEVICE_MEMORY, HOST_MEMORY}));
}

// ---- KernelTraits ----

REGISTER_OP("TraitsTest").Input("x: float").Output("y: float");
REGISTER_OP("TraitsTestState")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful();
REGISTER_OP("TraitsTestResource").Input("x: resource").Output("y: float");
REGISTER_OP("TraitsTestRef").Input("x: Ref(float)").Output("y: float");

int times_asked = 0;

class TraitsOp : public OpKernel, public TemporaryMemory {
 public:
  explicit TraitsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(0));
  }
  int64_t TemporaryBytes(absl::Span<const TensorShape>,
                         absl::Span<const TensorShape>, ThreadPool*) override {
    return 17;
  }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    ++times_asked;
    traits->temporary_memory = this;
  }
};
REGISTER_KERNEL_BUILDER(Name("TraitsTest"), TraitsOp);
REGISTER_KERNEL_BUILDER(Name("TraitsTestState"), TestOp<4>);
REGISTER_KERNEL_BUILDER(Name("TraitsTestResource"), TestOp<4>);
REGISTER_KERNEL_BUILDER(Name("TraitsTestRef"), TestOp<4>);

std::unique_ptr<OpKernel> MakeTraitsKernel(const std::string& op) {
  static TestDevice* const device = new TestDevice;
  auto node = std::make_shared<NodeDef>();
  node->name = "n";
  node->op = op;
  std::unique_ptr<OpKernel> kernel;
  EXPECT_EQ(
      CreateOpKernel(device, node, OpRegistry::Global()->Find(op), &kernel),
      OkStatus());
  return kernel;
}

TEST(KernelTraits, AreAskedOnceWhenTheKernelIsMade) {
  times_asked = 0;
  const std::unique_ptr<OpKernel> kernel = MakeTraitsKernel("TraitsTest");
  const KernelTraits& traits = kernel->traits();
  EXPECT_FALSE(traits.is_expensive);
  EXPECT_FALSE(traits.calls_functions);
  ASSERT_NE(traits.temporary_memory, nullptr);
  EXPECT_EQ(traits.temporary_memory->TemporaryBytes({}, {}, nullptr), 17);
  EXPECT_EQ(kernel->traits().stored_constant, nullptr);
  EXPECT_EQ(times_asked, 1);
}

TEST(KernelRegistryTest, OnlyTheKernelsOfTestsAreLinked) {
  for (const KernelRegistry::Info& k : KernelRegistry::Global()->All()) {
    EXPECT_NE(k.op.find("Test"), std::string::npos) << k.op;
  }
}

TEST(KernelTraits, ACallMayOutlastItsRunIfNothingSaysThatItKeepsState) {
  EXPECT_TRUE(MakeTraitsKernel("TraitsTest")->traits().may_outlast_run);
  for (const char* op :
       {"TraitsTestState", "TraitsTestResource", "TraitsTestRef"}) {
    const std::unique_ptr<OpKernel> kernel = MakeTraitsKernel(op);
    EXPECT_FALSE(kernel->traits().may_outlast_run) << op;
    EXPECT_TRUE(kernel->traits().is_expensive) << op;
  }
}

}  // namespace
}  // namespace headrace
