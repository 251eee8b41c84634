// Traits of schemas hold for the kernels: those that concern memory and loops.
// tests/oracle/test_op_traits.py compares values.
#include "headrace/op_traits.h"

#include <map>
#include <set>

#include "framework/kernel/op_tester.h"
#include "framework/memory/failing_allocations.h"
#include "kernels/lib/elementwise.h"
#include "kernels/lib/epilogue.h"

namespace headrace {
namespace {

TEST(OpTraitsOfKernels, EveryElementwiseOpHasLoopsForFusedNodes) {
  int found = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    const Elementwise kind = op->traits->elementwise;
    if (kind == Elementwise::kNo) continue;
    ++found;
    for (const DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
      if (kind == Elementwise::kUnary) {
        EXPECT_NE(FindUnaryLoop(op->name, dtype), nullptr) << op->name;
      } else {
        EXPECT_NE(FindBinaryLoop(op->name, dtype), nullptr) << op->name;
      }
    }
  }
  EXPECT_GE(found, 40);
}

TEST(OpTraitsOfKernels, EveryActivationCanBeFused) {
  std::set<Activation> found;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    Activation a;
    const Status s = FindActivation(op->name, &a);
    if (op->traits->activation.kind == ActivationTraits::kNone) {
      EXPECT_TRUE(errors::IsNotFound(s)) << op->name;
      continue;
    }
    EXPECT_EQ(s, OkStatus()) << op->name;
    EXPECT_TRUE(found.insert(a).second) << op->name;
    Activation again;
    EXPECT_EQ(FindActivation(op->name, &again), OkStatus());
    EXPECT_EQ(again, a) << op->name;
  }
  EXPECT_GE(found.size(), 6u);
}

Tensor Floats(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<float>()[i] = static_cast<float>(i);
  }
  return t;
}

// A node of an op whose outputs are, or may be, in the memory of an input.
struct Case {
  std::vector<Tensor> inputs;
  AttrMap attrs;
  int whole = 0;  // the input whose memory it is
};

const std::map<std::string, Case>& Cases() {
  const auto ints = [](std::vector<int32_t> v) {
    const auto n = static_cast<int64_t>(v.size());
    return MakeTensor<int32_t>({n}, v);
  };
  const Tensor x = Floats({8, 40}), tall = Floats({8, 1, 40});
  static const auto* const cases = new std::map<std::string, Case>{
      {"Identity", {{x}}},
      {"IdentityN", {{x, tall}}},
      {"StopGradient", {{x}}},
      {"PreventGradient", {{x}}},
      {"GuaranteeConst", {{x}}},
      {"Snapshot", {{x}}},
      {"PlaceholderWithDefault",
       {{x}, {{"shape", PartialTensorShape({8, 40})}}}},
      {"Bitcast", {{x}, {{"type", DT_INT32}}}},
      {"Reshape", {{x, ints({40, 8})}}},
      {"Squeeze", {{tall}}},
      {"ExpandDims", {{x, MakeScalar<int32_t>(1)}}},
      {"Split", {{MakeScalar<int32_t>(0), x}, {{"num_split", int64_t{2}}}, 1}},
      {"SplitV",
       {{x, ints({2, 6}), MakeScalar<int32_t>(0)},
        {{"num_split", int64_t{2}}}}},
      {"Unpack", {{x}, {{"num", int64_t{8}}}}},
      {"Slice", {{x, ints({2, 0}), ints({4, 40})}}},
      {"StridedSlice", {{x, ints({2}), ints({6}), ints({1})}}},
  };
  return *cases;
}

TEST(OpTraitsOfKernels, OutputsThatAreInputsShareTheirMemory) {
  // Where allocations fail the outputs are those of another run.
  if (FailingAllocations::ArePreloaded()) GTEST_SKIP();
  int found = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    const OutputBuffer buffer = op->traits->output_buffer;
    if (buffer == OutputBuffer::kOwn || buffer == OutputBuffer::kStored ||
        op->traits->op_class == OpClass::kSwitch) {  // the executor's
      continue;
    }
    SCOPED_TRACE(op->name);
    const auto it = Cases().find(op->name);
    ASSERT_NE(it, Cases().end()) << "there is no case of this op";
    ++found;
    const Case& c = it->second;
    OpTester t(op->name);
    for (const auto& [name, value] : c.attrs) {
      t.Attr(std::string(name), value);
    }
    for (const Tensor& in : c.inputs) t.Input(in);
    ASSERT_EQ(t.Run(), OkStatus());
    const int outputs = buffer == OutputBuffer::kEachInput
                            ? static_cast<int>(c.inputs.size())
                            : 1;
    for (int i = 0; i < outputs; ++i) {
      const int input = buffer == OutputBuffer::kEachInput ? i : c.whole;
      const Tensor& in = t.InputTensor(input);
      const char* const begin = static_cast<const char*>(in.raw_data());
      const char* const at = static_cast<const char*>(t.Output(i).raw_data());
      if (buffer == OutputBuffer::kPart) {
        EXPECT_LT(t.Output(i).TotalBytes(), in.TotalBytes());
        EXPECT_TRUE(begin <= at && at < begin + in.TotalBytes());
        continue;
      }
      EXPECT_EQ(at, begin) << "output " << i;
      EXPECT_EQ(t.Output(i).TotalBytes(), in.TotalBytes());
      if (buffer != OutputBuffer::kView) ExpectEqual(t.Output(i), in);
    }
  }
  EXPECT_EQ(found, static_cast<int>(Cases().size()));
}

}  // namespace
}  // namespace headrace
