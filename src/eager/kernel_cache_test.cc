#include "eager/kernel_cache.h"

#include <gtest/gtest.h>

#include "eager/context.h"
#include "headrace/op.h"

namespace headrace {
namespace {

EagerCall CallOf(const char* op, std::vector<DataType> inputs,
                 AttrMap attrs = {}) {
  EagerCall call;
  call.name = op;
  call.op_def = std::shared_ptr<const OpDef>(std::shared_ptr<const void>(),
                                             OpRegistry::Global()->Find(op));
  call.attrs = std::move(attrs);
  call.input_types.assign(inputs.begin(), inputs.end());
  return call;
}

std::string KeyOf(const EagerCall& call) {
  std::string key;
  EXPECT_TRUE(AppendKernelKey(call, &key));
  return key;
}

// Every two of these calls need kernels of their own.
TEST(KernelKeyTest, TellsCallsApart) {
  NameAttrList f{"f", std::make_shared<AttrMap>(AttrMap{{"T", DT_FLOAT}})};
  NameAttrList g{"f", std::make_shared<AttrMap>(AttrMap{{"T", DT_INT32}})};
  EagerCall sized = CallOf("ConcatV2", {DT_INT32, DT_INT32, DT_INT32});
  sized.arg_sizes = {2, 1};
  EagerCall sized_else = sized;
  sized_else.arg_sizes = {1, 1};
  const EagerCall calls[] = {
      CallOf("AddV2", {DT_FLOAT, DT_FLOAT}),
      CallOf("AddV2", {DT_INT32, DT_INT32}),
      CallOf("AddV2", {DT_FLOAT}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"a", 1}}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"a", true}}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"a", 1.0f}}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"b", 1}}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"a", "1"}}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"a", "12"}, {"b", ""}}),
      CallOf("Mul", {DT_FLOAT, DT_FLOAT}, {{"a", "1"}, {"b", "2"}}),
      CallOf("Mul", {}, {{"a", std::vector<int64_t>{1, 2}}}),
      CallOf("Mul", {}, {{"a", std::vector<int64_t>{1}}}),
      CallOf("Mul", {}, {{"a", std::vector<bool>{true}}}),
      CallOf("Mul", {}, {{"a", PartialTensorShape()}}),
      CallOf("Mul", {}, {{"a", TensorShape()}}),
      CallOf("Mul", {}, {{"a", TensorShape({1})}}),
      CallOf("Mul", {}, {{"a", Tensor::Scalar<float>(1)}}),
      CallOf("Mul", {}, {{"a", Tensor::Scalar<float>(2)}}),
      CallOf("Mul", {}, {{"a", f}}),
      CallOf("Mul", {}, {{"a", g}}),
      sized,
      sized_else,
  };
  for (const EagerCall& a : calls) {
    for (const EagerCall& b : calls) {
      EXPECT_EQ(KeyOf(a) == KeyOf(b), &a == &b);
    }
  }
}

TEST(KernelKeyTest, LargeTensorsAreNotCompared) {
  std::string key;
  EXPECT_FALSE(AppendKernelKey(
      CallOf("Const", {}, {{"value", Tensor(DT_FLOAT, TensorShape({1000}))}}),
      &key));
  EXPECT_FALSE(AppendKernelKey(
      CallOf("Const", {}, {{"value", Tensor(DT_STRING, TensorShape({}))}}),
      &key));
}

TEST(KernelCacheTest, DropsWhatWasNotUsedForLongestButNoState) {
  KernelCache cache;
  const auto make = [](bool state) {
    auto k = MakeRef<EagerKernel>();
    k->keeps_state = state;
    return k;
  };
  const auto name = [](int i) { return "k" + std::to_string(i); };
  cache.Insert("state", make(true));
  const RefPtr<EagerKernel> first = cache.Insert("first", make(false));
  EXPECT_EQ(cache.Insert("first", make(false)), first);
  for (int i = 0; i < 10000; ++i) {
    cache.Insert(name(i), make(false));
    ASSERT_NE(cache.Find("first"), nullptr) << i;
  }
  EXPECT_LE(cache.size(), 4096u);
  EXPECT_NE(cache.Find("state"), nullptr);
  EXPECT_NE(cache.Find(name(9999)), nullptr);
  EXPECT_EQ(cache.Find(name(0)), nullptr);
  cache.Clear();
  EXPECT_EQ(cache.size(), 0u);
}

TEST(KernelCacheTest, OneKernelForEqualCalls) {
  auto made = EagerContext::Create({});
  ASSERT_TRUE(made.ok()) << made.status();
  EagerContext& context = **made;
  const std::vector<RefPtr<TensorHandle>> inputs(
      2, MakeRef<TensorHandle>(Tensor::Scalar<float>(2)));
  const auto run = [&](const EagerCall& call) {
    std::vector<RefPtr<TensorHandle>> out;
    Device* used = nullptr;
    const Status s =
        context.Execute(call, DeviceName(), inputs, nullptr, 1, &out, &used);
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(used, context.devices()[0]);
    return out.empty() ? 0 : out[0]->tensor().scalar<float>();
  };
  const EagerCall sum = CallOf("AddV2", {DT_FLOAT, DT_FLOAT});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(sum), 4);
  EXPECT_EQ(context.num_kernels(), 1u);
  EXPECT_EQ(run(CallOf("Sub", {DT_FLOAT, DT_FLOAT})), 0);
  EXPECT_EQ(context.num_kernels(), 2u);
  context.ClearCaches();
  EXPECT_EQ(context.num_kernels(), 0u);
  EXPECT_EQ(run(sum), 4);
}

}  // namespace
}  // namespace headrace
