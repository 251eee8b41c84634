#include "headrace/op_traits.h"

#include <gtest/gtest.h>

#include "headrace/op.h"

namespace headrace {
namespace {

TEST(OpTraitsTest, AnOpThatStatesNoEffectsIsPureUnlessItIsStateful) {
  OpDef op;
  EXPECT_EQ(op.traits, &kNoTraits);
  EXPECT_EQ(EffectsOf(op), Effect::kNone);
  EXPECT_EQ(DescribeTraits(op), "effects:pure");
  op.is_stateful = true;
  EXPECT_EQ(EffectsOf(op), Effect::kUnknown);
  EXPECT_EQ(DescribeTraits(op), "effects:unknown");
}

}  // namespace
}  // namespace headrace
