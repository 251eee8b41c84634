// Of the list of passes and of the pass PruneUnneeded.
#include "runtime/passes/graph_pass.h"

#include <set>

#include "base/interrupt.h"
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, PassesHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const GraphPass& p : GraphPasses()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_NE(std::string(p.what), "") << p.name;
  }
  // "prune" after all that leave something over, what orders the rest last.
  const size_t count = GraphPasses().size();
  EXPECT_STREQ(GraphPasses()[count - 2].name, "prune");
  EXPECT_STREQ(GraphPasses()[count - 1].name, "order_gradients");
}

TEST_F(PassTest, PassesThatAreOffAreReportedAndDoNothing) {
  const Endpoint x = In("x");
  Fetch(Op("a", "Neg", {Op("i", "Identity", {x})}));
  Op("unneeded", "Neg", {x});
  EXPECT_EQ(RunGraphPasses(context_, {"remove_noops", "prune"}, &g_, &report_),
            OkStatus());
  ASSERT_EQ(report_.size(), GraphPasses().size());
  EXPECT_EQ(Changes("remove_noops"), -1);
  EXPECT_EQ(Changes("prune"), -1);
  EXPECT_EQ(Changes("cse"), 0);
  EXPECT_NE(g_.FindNode("i"), nullptr);
  EXPECT_NE(g_.FindNode("unneeded"), nullptr);
  EXPECT_EQ(RunGraphPasses(context_, {}, &g_, nullptr), OkStatus());
  EXPECT_EQ(g_.FindNode("i"), nullptr);
  EXPECT_EQ(g_.FindNode("unneeded"), nullptr);
}

TEST_F(PassTest, PruningLeavesWhatAResultOrTargetNeeds) {
  const Endpoint x = In("x");
  context_.targets.insert("target");
  AddOp(&g_, "arg", "_Arg", {}, {{"T", DT_FLOAT}, {"index", 0}});
  const Endpoint before = Op("before", "Neg", {x});
  Op("target", "Abs", {x}, {}, {before.node});
  Op("reader", "Abs", {Op("unneeded", "Neg", {x})});
  Fetch(Op("a", "Neg", {x}));
  EXPECT_EQ(Run("prune"),
            "arg = _Arg()\n"
            "before = Neg(x)\n"
            "target = Abs(x, ^before)\n"
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n");
  EXPECT_EQ(Changes("prune"), 2);
}

TEST_F(PassTest, TheFirstErrorEndsThem) {
  const Interrupt interrupt([] { return errors::Cancelled("enough"); });
  EXPECT_EQ(RunGraphPasses(context_, {}, &g_, &report_),
            errors::Cancelled("enough"));
  EXPECT_TRUE(report_.empty());
}

}  // namespace
}  // namespace headrace
