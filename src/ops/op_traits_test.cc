// What the schemas of this folder say is consistent in itself. Whether it holds
// for kernels, src/kernels/lib/op_traits_test.cc and
// tests/oracle/test_op_traits.py check.
#include "headrace/op_traits.h"

#include <absl/strings/match.h>
#include <gtest/gtest.h>

#include "framework/shape_fns/shape_value_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

bool HasArg(const std::vector<OpDef::Arg>& args,
            bool (*wanted)(const OpDef::Arg&)) {
  for (const OpDef::Arg& a : args) {
    if (wanted(a)) return true;
  }
  return false;
}
bool IsRef(const OpDef::Arg& a) { return a.is_ref; }
bool IsResource(const OpDef::Arg& a) { return a.type == DT_RESOURCE; }

// Hand references on, and look at nothing behind them.
bool ForwardsReferences(const OpDef& op) {
  const OpClass c = op.traits->op_class;
  return (c >= OpClass::kSwitch && c <= OpClass::kNextIteration) ||
         op.name == "RefIdentity" || op.name == "RefSelect";
}

TEST(OpTraitsTest, EveryOpThatMayTouchStateStatesItsEffects) {
  int touching = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    const bool touches = op->is_stateful || HasArg(op->inputs, IsRef) ||
                         HasArg(op->outputs, IsRef) ||
                         HasArg(op->inputs, IsResource);
    if (!touches || ForwardsReferences(*op)) continue;
    ++touching;
    EXPECT_TRUE(op->traits->states_effects) << op->name;
  }
  EXPECT_GT(touching, 350);
}

TEST(OpTraitsTest, EveryOpThatTakesAFunctionCallsFunctions) {
  int callers = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    for (const OpDef::Attr& a : op->attrs) {
      if (a.type != AttrType::kFunc && a.type != AttrType::kListFunc) continue;
      ++callers;
      EXPECT_TRUE(HasAny(EffectsOf(*op), Effect::kCallsFunctions)) << op->name;
      break;
    }
  }
  EXPECT_GT(callers, 30);
}

TEST(OpTraitsTest, TraitsFitTheSignatures) {
  for (const OpDef* op : OpRegistry::Global()->All()) {
    SCOPED_TRACE(op->name);
    const OpTraits& t = *op->traits;
    if (t.keeps_shape || t.output_buffer != OutputBuffer::kOwn) {
      EXPECT_FALSE(op->outputs.empty());
    }
    if (t.elementwise != Elementwise::kNo) {
      EXPECT_EQ(op->inputs.size(),
                t.elementwise == Elementwise::kUnary ? 1u : 2u);
      EXPECT_EQ(op->outputs.size(), 1u);
      ASSERT_EQ(op->attrs.size(), 1u);
      for (const DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
        EXPECT_EQ(ValidateAttrValue(op->attrs[0], dtype), OkStatus());
      }
    }
    // Passes look at these inputs without asking how many there are.
    switch (t.no_op_when) {
      case NoOpWhen::kOtherIsOne:
      case NoOpWhen::kSecondIsOne:
      case NoOpWhen::kSecondIsZero:
        EXPECT_EQ(op->inputs.size(), 2u);
        break;
      case NoOpWhen::kPaddingIsZero:
      case NoOpWhen::kOrderIsKept:
      case NoOpWhen::kNoAxes:
        EXPECT_GE(op->inputs.size(), 2u);
        break;
      default:
        break;
    }
    if (t.arithmetic != ArithmeticOp::kNone) {
      const bool unary = t.arithmetic == ArithmeticOp::kNegate ||
                         t.arithmetic == ArithmeticOp::kSquare;
      EXPECT_EQ(op->inputs.size(), unary ? 1u : 2u);
    }
    if (t.file_names.stated) {
      EXPECT_TRUE(
          HasAny(EffectsOf(*op), Effect::kReadsFiles | Effect::kWritesFiles));
      for (int i = 0; i < 8; ++i) {
        if ((t.file_names.inputs >> i & 1) == 0) continue;
        ASSERT_LT(i, static_cast<int>(op->inputs.size()));
        EXPECT_EQ(op->inputs[i].type, DT_STRING) << "input " << i;
        // The input of the op is that of the node.
        for (int k = 0; k <= i; ++k) {
          EXPECT_LT(op->inputs[k].number_attr, 0);
          EXPECT_LT(op->inputs[k].type_list_attr, 0);
        }
      }
      if (t.file_names.attr != nullptr) {
        const int i = op->FindAttr(t.file_names.attr);
        ASSERT_GE(i, 0) << t.file_names.attr;
        EXPECT_EQ(op->attrs[i].type, AttrType::kString);
      }
    }
    if (t.variable_update != VariableUpdate::kNone) {
      EXPECT_EQ(op->inputs.size(), 2u);
      EXPECT_TRUE(op->inputs[0].is_ref && op->outputs[0].is_ref);
      EXPECT_TRUE(HasAny(EffectsOf(*op), Effect::kWritesState));
    }
    if (t.layer.kind != LayerKind::kNone) {
      EXPECT_GE(op->inputs.size(), 2u);
    }
    if (t.activation.kind != ActivationTraits::kNone) {
      EXPECT_EQ(op->inputs.size(), 1u);
      EXPECT_TRUE(t.keeps_shape);
    }
    if (t.activation.parameter != nullptr) {
      const int i = op->FindAttr(t.activation.parameter);
      ASSERT_GE(i, 0);
      EXPECT_EQ(op->attrs[i].type, AttrType::kFloat);
    }
    if (t.layer.is_plain()) {
      const OpDef* fused = OpRegistry::Global()->Find(t.layer.fused_op);
      ASSERT_NE(fused, nullptr) << t.layer.fused_op;
      EXPECT_EQ(fused->traits->layer.kind, t.layer.kind);
      EXPECT_FALSE(fused->traits->layer.is_plain());
      for (const char* attr : {"fused_ops", "num_args", "leakyrelu_alpha"}) {
        EXPECT_GE(fused->FindAttr(attr), 0) << attr;
      }
    }
    if (t.floats_never_fail) {
      EXPECT_EQ(EffectsOf(*op), Effect::kNone);
      EXPECT_EQ(op->outputs.size(), 1u);
    }
    if (t.value_is_of_shapes) {
      EXPECT_NE(t.shape_value_fn, nullptr);
    }
    if (op->is_commutative && op->inputs.size() == 2) {
      EXPECT_EQ(op->inputs[0].type_attr, op->inputs[1].type_attr);
    }
    if (t.variable_use != VariableUse::kNone) {
      EXPECT_TRUE(t.states_effects);
    }
  }
}

// But those that read files whose names come through a queue.
TEST(OpTraitsTest, EveryOpWithFilesSaysWhereTheirNamesAre) {
  int found = 0;
  for (const OpDef* op : OpRegistry::Global()->All()) {
    const bool has_files =
        HasAny(EffectsOf(*op), Effect::kReadsFiles | Effect::kWritesFiles);
    if (!has_files || absl::StartsWith(op->name, "ReaderRead") ||
        absl::StartsWith(op->name, "_")) {
      continue;
    }
    ++found;
    EXPECT_TRUE(op->traits->file_names.stated) << op->name;
  }
  EXPECT_GE(found, 45);
}

TEST(OpTraitsTest, TraitsAreDescribedInWords) {
  const auto traits = [](const char* op) {
    return DescribeTraits(*OpRegistry::Global()->Find(op));
  };
  EXPECT_EQ(traits("LeakyRelu"),
            "effects:pure keeps-shape activation:function "
            "activation-parameter:alpha symbolic-shape");
  EXPECT_EQ(traits("ReadVariableOp"), "effects:reads-state output:stored");
  EXPECT_EQ(traits("PrintV2"),
            "effects:writes-files|prints file-names:attr-output_stream");
  EXPECT_EQ(traits("WriteScalarSummary"),
            "effects:writes-state|writes-files file-names:none");
  EXPECT_EQ(traits("MatchingFiles"),
            "effects:reads-files folder-names:input-0");
  EXPECT_EQ(traits("AssignSub"), "effects:writes-state updates:subtract");
  EXPECT_EQ(traits("Switch"), "effects:pure class:switch output:input");
}

}  // namespace
}  // namespace headrace
