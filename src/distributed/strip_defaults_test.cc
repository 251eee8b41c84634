#include "distributed/strip_defaults.h"

#include <gtest/gtest.h>

#include "graph/graph_test_util.h"
#include "headrace/importer.h"

namespace headrace {
namespace {

TEST(StripDefaultsTest, WhatIsLeftOutComesBack) {
  Graph g;
  const Tensor one(DT_FLOAT, TensorShape({1, 1}));
  const Endpoint a = Const(&g, "a", one);
  AddOp(&g, "plain", "MatMul", {a, a});
  AddOp(&g, "turned", "MatMul", {a, a}, {{"transpose_a", true}});
  pb::GraphDef def;
  GraphToGraphDef(g, &def);
  const std::string whole = def.ShortDebugString();
  StripDefaultAttrs(&def);
  for (const pb::NodeDef& n : def.node()) {
    if (n.op() != "MatMul") continue;
    EXPECT_FALSE(n.attr().contains("transpose_b")) << n.name();
    EXPECT_EQ(n.attr().contains("transpose_a"), n.name() == "turned");
    EXPECT_TRUE(n.attr().contains("T"));
  }
  Graph back;
  ASSERT_EQ(ImportGraphDef({}, def, &back), OkStatus());
  for (const char* name : {"plain", "turned"}) {
    EXPECT_TRUE(back.FindNode(name)->attrs() == g.FindNode(name)->attrs())
        << name;
  }
}

TEST(StripDefaultsTest, WorkersGetAllThatTensorFlow1Knows) {
  Graph g;
  const Endpoint a = Const(&g, "a", Tensor(DT_FLOAT, TensorShape({1, 1})));
  AddOp(&g, "product", "MatMul", {a, a});
  AddOp(&g, "v", "VarHandleOp", {},
        {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape({1})}});
  pb::GraphDef def;
  GraphToGraphDef(g, &def);
  StripNewDefaultAttrs(&def);
  for (const pb::NodeDef& n : def.node()) {
    for (const char* later : {"grad_a", "allowed_devices", "debug_name"}) {
      EXPECT_FALSE(n.attr().contains(later)) << n.name();
    }
    EXPECT_EQ(n.attr().contains("transpose_a"), n.op() == "MatMul");
    EXPECT_EQ(n.attr().contains("container"), n.op() == "VarHandleOp");
  }
}

TEST(StripDefaultsTest, UnknownOpsStay) {
  pb::GraphDef def;
  pb::NodeDef* const node = def.add_node();
  node->set_op("NoSuchOp");
  (*node->mutable_attr())["x"].set_b(false);
  StripDefaultAttrs(&def);
  EXPECT_TRUE(def.node(0).attr().contains("x"));
}

}  // namespace
}  // namespace headrace
