// What kernels say of themselves, which plans rely on.
#include "headrace/kernel_traits.h"

#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"
#include "framework/kernel/temporary_memory.h"
#include "framework/tensor/stored_constant.h"

namespace headrace {
namespace {

std::unique_ptr<OpKernel> Make(const std::string& op, AttrMap attrs) {
  static TestDevice* const device = new TestDevice;
  auto node = std::make_shared<NodeDef>();
  node->name = "n";
  node->op = op;
  node->attrs = std::move(attrs);
  const OpDef* const def = OpRegistry::Global()->Find(op);
  EXPECT_NE(def, nullptr) << op;
  AddDefaultAttrs(*def, &node->attrs);
  std::unique_ptr<OpKernel> kernel;
  EXPECT_EQ(CreateOpKernel(device, node, def, &kernel), OkStatus()) << op;
  return kernel;
}

TEST(KernelTraitsTest, AConvolutionTakesScratchMemoryAndUnalignedFilters) {
  const auto conv =
      Make("Conv2D", {{"T", DT_FLOAT},
                      {"strides", std::vector<int64_t>{1, 1, 1, 1}},
                      {"padding", std::string("SAME")}});
  const KernelTraits& traits = conv->traits();
  ASSERT_NE(traits.temporary_memory, nullptr);
  ASSERT_NE(traits.stored_constant_reader, nullptr);
  EXPECT_TRUE(traits.stored_constant_reader->TakesStoredConstant(1));
  EXPECT_FALSE(traits.stored_constant_reader->TakesStoredConstant(0));
  EXPECT_TRUE(traits.is_expensive);
  EXPECT_TRUE(traits.may_outlast_run);
}

TEST(KernelTraitsTest, AConstantGivesItsStoredTensor) {
  const auto constant =
      Make("Const", {{"dtype", DT_INT32}, {"value", MakeScalar<int32_t>(7)}});
  const KernelTraits& traits = constant->traits();
  ASSERT_NE(traits.stored_constant, nullptr);
  EXPECT_EQ(traits.stored_constant->stored_tensor().scalar<int32_t>(), 7);
  EXPECT_FALSE(traits.is_expensive);
}

TEST(KernelTraitsTest, AGatherReadsUnalignedParams) {
  const auto gather = Make(
      "GatherV2",
      {{"Tparams", DT_FLOAT}, {"Tindices", DT_INT32}, {"Taxis", DT_INT32}});
  ASSERT_NE(gather->traits().stored_constant_reader, nullptr);
  EXPECT_EQ(gather->traits().temporary_memory, nullptr);
}

TEST(KernelTraitsTest, ACallOfAFunctionSaysSoAndAQueueDoesNot) {
  NameAttrList f;
  f.name = "f";
  EXPECT_TRUE(Make("PartitionedCall", {{"Tin", std::vector<DataType>{}},
                                       {"Tout", std::vector<DataType>{}},
                                       {"f", f}})
                  ->traits()
                  .calls_functions);
  const auto take = Make(
      "QueueDequeueV2", {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  EXPECT_FALSE(take->traits().calls_functions);
  EXPECT_FALSE(take->traits().may_outlast_run);
}

}  // namespace
}  // namespace headrace
