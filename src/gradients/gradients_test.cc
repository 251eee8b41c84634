// AddSymbolicGradients on graphs: what it adds, what it refuses, how it scales.
#include "headrace/gradients.h"

#include "graph/graph_test_util.h"
#include "headrace/op.h"

namespace headrace {
namespace {

REGISTER_OP("TestNoGradient").Input("x: float").Output("y: float");
REGISTER_NO_GRADIENT("TestNoGradient", "it is a test");

Endpoint Add(Graph* g, const std::string& name, const std::string& op,
             std::vector<Endpoint> inputs, AttrMap attrs = {}) {
  return {AddOp(g, name, op, std::move(inputs), std::move(attrs)), 0};
}

std::vector<Gradient> Build(Graph* g, std::vector<Endpoint> ys,
                            std::vector<Endpoint> xs,
                            GradientOptions options = {}) {
  std::vector<Gradient> dxs;
  const Status s = AddSymbolicGradients(g, ys, xs, options, &dxs);
  EXPECT_TRUE(s.ok()) << s;
  return dxs;
}

TEST(GradientsTest, NodesHaveTheNamesOfWhatTheyDifferentiate) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2, 3});
  const Endpoint y = Add(&g, "y", "Tanh", {x});
  const std::vector<Gradient> dxs = Build(&g, {y}, {x});
  ASSERT_EQ(dxs.size(), 1);
  EXPECT_EQ(EndpointName(dxs[0].dense), "gradients/y_grad/TanhGrad:0");
  EXPECT_NE(g.FindNode("gradients/grad_ys_0"), nullptr);
  EXPECT_EQ(dxs[0].dense.node->output_shape(0), PartialTensorShape({2, 3}));
}

TEST(GradientsTest, AnOpWithoutAGradientEndsTheWay) {
  const GradientEntry* const entry = GradientRegistry::Find("TestNoGradient");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->fn, nullptr);
  EXPECT_STREQ(entry->reason, "it is a test");
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2, 3});
  const Endpoint y = Add(&g, "y", "TestNoGradient", {x});
  EXPECT_TRUE(Build(&g, {y}, {x})[0].IsNone());
}

TEST(GradientsTest, OnlyTheBroadcastSideIsSummed) {
  Graph g;
  const Endpoint a = Placeholder(&g, "a", DT_FLOAT, {4, 3});
  const Endpoint b = Placeholder(&g, "b", DT_FLOAT, {3});
  const Endpoint y = Add(&g, "y", "AddV2", {a, b});
  const std::vector<Gradient> dxs = Build(&g, {y}, {a, b});
  EXPECT_EQ(dxs[0].dense.node->type_string(), "Fill");
  EXPECT_EQ(dxs[1].dense.node->type_string(), "Reshape");
  EXPECT_EQ(g.FindNode("gradients/y_grad/BroadcastGradientArgs"), nullptr);
}

TEST(GradientsTest, UnknownShapesAreSummedAtRunTime) {
  Graph g;
  const Endpoint a = Placeholder(&g, "a", DT_FLOAT);
  const Endpoint y = Add(&g, "y", "AddV2", {a, a});
  const std::vector<Gradient> dxs = Build(&g, {y}, {a});
  EXPECT_EQ(dxs[0].dense.node->type_string(), "AddN");
  EXPECT_NE(g.FindNode("gradients/y_grad/BroadcastGradientArgs"), nullptr);
}

TEST(GradientsTest, WhatNobodyNeedsIsNotBuilt) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2, 3});
  const Endpoint w = Placeholder(&g, "w", DT_FLOAT, {3, 4});
  const Endpoint y = Add(&g, "y", "MatMul", {x, w});
  Build(&g, {y}, {w});
  EXPECT_NE(g.FindNode("gradients/y_grad/MatMul"), nullptr);
  EXPECT_EQ(g.FindNode("gradients/y_grad/MatMul_1"), nullptr);
}

TEST(GradientsTest, UnconnectedIsNoneOrZero) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2});
  const Endpoint y = Placeholder(&g, "y", DT_FLOAT, {2});
  EXPECT_TRUE(Build(&g, {y}, {x})[0].IsNone());
  GradientOptions options;
  options.scope = "zero";
  options.zero_if_unconnected = true;
  EXPECT_EQ(Build(&g, {y}, {x}, options)[0].dense.node->type_string(),
            "ZerosLike");
}

TEST(GradientsTest, GatheredRowsStaySlices) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {5, 2});
  const Endpoint ids = Placeholder(&g, "ids", DT_INT32, {3});
  const Endpoint axis = Const(&g, "axis", Tensor::Scalar<int32_t>(0));
  const Endpoint y = Add(&g, "y", "GatherV2", {x, ids, axis});
  const std::vector<Gradient> dxs = Build(&g, {y}, {x});
  ASSERT_TRUE(dxs[0].IsSparse());
  const StatusOr<Endpoint> dense = DensifyGradient(&g, {}, dxs[0]);
  ASSERT_TRUE(dense.ok()) << dense.status();
  EXPECT_EQ(dense->node->type_string(), "UnsortedSegmentSum");
}

TEST(GradientsTest, RefusalsNameWhatIsWrong) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2, 2});
  const Endpoint y = Add(&g, "y", "Tanh", {x});
  const Endpoint c = Placeholder(&g, "c", DT_COMPLEX64, {2});
  const Endpoint wide = Placeholder(&g, "wide", DT_FLOAT, {3});
  const Endpoint whole = Placeholder(&g, "whole", DT_INT32, {2, 2});
  const Endpoint longer = Placeholder(&g, "longer", DT_DOUBLE, {2, 2});
  const Endpoint lu = Add(&g, "lu", "Lu", {x});
  const auto gradients = [](Endpoint e) {
    GradientOptions options;
    options.grad_ys = {{.dense = e}};
    return options;
  };
  struct Case {
    std::vector<Endpoint> ys, xs;
    GradientOptions options;
    absl::StatusCode code;
    const char* words;
  };
  const Case cases[] = {
      {{y}, {{}}, {}, absl::StatusCode::kInvalidArgument, "xs[0]"},
      {{{y.node, 1}}, {x}, {}, absl::StatusCode::kInvalidArgument, "ys[0]"},
      {{c}, {c}, {}, absl::StatusCode::kInvalidArgument, "must set grad_ys"},
      {{y}, {x}, gradients(wide), absl::StatusCode::kInvalidArgument, "[3]"},
      {{y}, {x}, gradients(whole), absl::StatusCode::kInvalidArgument, "int32"},
      {{y},
       {x},
       gradients(longer),
       absl::StatusCode::kInvalidArgument,
       "grad_ys[0] ('longer:0') has type double, but the gradient of 'y:0' "
       "must "
       "have its type float"},
      {{y, y},
       {x},
       gradients(x),
       absl::StatusCode::kInvalidArgument,
       "1 grad_ys for 2 ys"},
      {{lu},
       {x},
       {},
       absl::StatusCode::kNotFound,
       "No gradient defined for operation 'lu' (op type: Lu)"},
  };
  for (const Case& c : cases) {
    std::vector<Gradient> dxs;
    const Status s = AddSymbolicGradients(&g, c.ys, c.xs, c.options, &dxs);
    EXPECT_EQ(s.code(), c.code) << s;
    EXPECT_NE(std::string(s.message()).find(c.words), std::string::npos) << s;
  }
}

// A GraphDef may give a node the function of any op.
TEST(GradientsTest, FunctionsOfOtherOpsFindNothingThatIsNotThere) {
  for (const std::string& op : GradientRegistry::All()) {
    Graph g;
    const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2});
    const Endpoint y =
        Add(&g, "y", "Identity", {x}, {{"_gradient_op_type", op}});
    const Endpoint z = Add(&g, "z", "Const", {},
                           {{"dtype", DT_FLOAT},
                            {"value", Tensor::Scalar<float>(1)},
                            {"_gradient_op_type", op}});
    std::vector<Gradient> dxs;
    const Status s = AddSymbolicGradients(&g, {y}, {x}, {}, &dxs);
    EXPECT_EQ(dxs.size(), s.ok() ? 1 : 0) << op;
    EXPECT_TRUE(AddSymbolicGradients(&g, {z}, {z}, {.scope = "z"}, &dxs).ok());
  }
}

TEST(GradientsTest, ALongChainIsWalkedInLinearTime) {
  const auto nodes_of = [](int n) {
    Graph g;
    const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {2});
    Endpoint y = x;
    for (int i = 0; i < n; ++i) {
      y = Add(&g, StrCat("n", i), i % 2 == 0 ? "Tanh" : "Neg", {y});
    }
    EXPECT_FALSE(Build(&g, {y}, {x})[0].IsNone());
    return g.num_nodes();
  };
  // One node for each, and three to begin with.
  EXPECT_EQ(nodes_of(10), 1 + 10 + 10 + 3);
  EXPECT_EQ(nodes_of(10000), 1 + 10000 + 10000 + 3);
}

}  // namespace
}  // namespace headrace
