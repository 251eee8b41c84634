// Of common-subexpression elimination, MergeCommonSubexpressions.
#include "base/interrupt.h"
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class CseTest : public PassTest {
 protected:
  std::string Cse() { return Run("cse"); }
};

TEST_F(CseTest, WholeEqualSubgraphsBecomeOne) {
  const Endpoint x = In("x");
  for (const char* name : {"a", "b"}) {
    const Endpoint neg = Op(StrCat(name, "_neg"), "Neg", {x});
    const Endpoint c = Scalar(StrCat(name, "_c"), 2);
    Fetch(Op(name, "Mul", {neg, c}));
  }
  EXPECT_EQ(Cse(),
            "a_neg = Neg(x)\n"
            "a = Mul(a_neg, a_c)\n"
            "fetch_a_0 = _Retval(a)\n"
            "fetch_b_0 = _Retval(a)\n");
  EXPECT_EQ(Changes("cse"), 3);
}

TEST_F(CseTest, NothingToMerge) {
  EXPECT_EQ(Cse(), "");
  EXPECT_EQ(Changes("cse"), 0);
}

// Each pair differs in one thing.
TEST_F(CseTest, NodesThatDifferStayTwo) {
  const Endpoint x = In("x"), y = In("y");
  const Endpoint split =
      Op("split", "Split", {Const(&g_, "axis", Tensor::Scalar<int32_t>(0)), x},
         {{"num_split", 2}});
  const auto pair = [&](Endpoint a, Endpoint b) {
    Fetch(a);
    Fetch(b);
  };
  pair(Op("op1", "Neg", {x}), Op("op2", "Abs", {x}));
  pair(Op("in1", "Exp", {x}), Op("in2", "Exp", {y}));
  pair(Op("order1", "Sub", {x, y}), Op("order2", "Sub", {y, x}));
  pair(Op("out1", "Square", {{split.node, 0}}),
       Op("out2", "Square", {{split.node, 1}}));
  pair(Op("attr1", "LeakyRelu", {x}, {{"alpha", 0.1f}}),
       Op("attr2", "LeakyRelu", {x}, {{"alpha", 0.2f}}));
  const Endpoint d1 = Op("device1", "Tanh", {x}),
                 d2 = Op("device2", "Tanh", {x});
  g_.SetRequestedDevice(d2.node, "/cpu:1");
  pair(d1, d2);
  pair(Scalar("value1", 1), Scalar("value2", 2));
  pair(Const(&g_, "shape1", Tensor::Scalar(3.f)),
       Const(&g_, "shape2", MakeTensor<float>({1}, {3})));
  pair(Op("wait1", "Sin", {x}), Op("wait2", "Sin", {x}, {}, {y.node}));
  const int nodes = g_.num_nodes();
  Cse();
  EXPECT_EQ(Changes("cse"), 0);
  EXPECT_EQ(g_.num_nodes(), nodes);
}

TEST_F(CseTest, OperandsOfACommutativeOpMayBeInEitherOrder) {
  const Endpoint x = In("x"), y = In("y"), z = In("z");
  const struct {
    const char* op;
    bool commutes;
  } cases[] = {{"Add", true},   {"AddV2", true},
               {"Mul", true},   {"SquaredDifference", true},
               {"Equal", true}, {"Sub", false},
               {"Div", false},  {"Pow", false},
               {"Less", false}, {"Maximum", false}};
  for (const auto& c : cases) {
    const std::string a = StrCat(c.op, "_xy"), b = StrCat(c.op, "_yx");
    Fetch(Op(a, c.op, {x, y}));
    Fetch(Op(b, c.op, {y, x}));
    Fetch(Op(StrCat(c.op, "_xz"), c.op, {x, z}));
    Fetch(Op(StrCat(c.op, "_xx"), c.op, {x, x}));
    Cse();
    EXPECT_EQ(Changes("cse"), c.commutes ? 1 : 0) << c.op;
    EXPECT_NE(g_.FindNode(a), nullptr) << c.op;
    EXPECT_EQ(g_.FindNode(b) == nullptr, c.commutes) << c.op;
  }
}

// Which outputs of one node: (0, 1) is (1, 0), and is not (0, 0) or (1, 1).
TEST_F(CseTest, OperandsOfOneNodeAreOrderedByTheirOutputs) {
  const Endpoint split =
      Op("split", "Split",
         {Const(&g_, "axis", Tensor::Scalar<int32_t>(0)), In("x")},
         {{"num_split", 2}});
  const Endpoint p = {split.node, 0}, q = {split.node, 1};
  Fetch(Op("pq", "Mul", {p, q}));
  Fetch(Op("qp", "Mul", {q, p}));
  Fetch(Op("pp", "Mul", {p, p}));
  Fetch(Op("qq", "Mul", {q, q}));
  Cse();
  EXPECT_EQ(Changes("cse"), 1);
  EXPECT_EQ(g_.FindNode("qp"), nullptr);
}

TEST_F(CseTest, WhatMustStayInOrderStaysTwo) {
  const Endpoint x = In("x"), y = In("y"), z = In("z");
  const auto pair = [&](Endpoint a, Endpoint b) {
    Fetch(a);
    Fetch(b);
  };
  pair(Op("wait1", "Mul", {x, y}, {}, {z.node}),
       Op("wait2", "Mul", {y, x}, {}, {z.node}));
  // The order of a sum of three decides how it is rounded.
  pair(Op("three1", "AddN", {x, y, z}), Op("three2", "AddN", {y, x, z}));
  pair(Op("two1", "AddN", {x, y}), Op("two2", "AddN", {y, x}));
  const Endpoint s = In("s", {}, DT_STRING), t = In("t", {}, DT_STRING);
  pair(Op("text1", "Add", {s, t}), Op("text2", "Add", {t, s}));
  Cse();
  EXPECT_EQ(Changes("cse"), 1);
  EXPECT_TRUE(g_.FindNode("two1") == nullptr || g_.FindNode("two2") == nullptr);
}

TEST_F(CseTest, WhatIsNotPureStays) {
  const Endpoint x = In("x"), x2 = In("x2");
  const auto stateful = [&](const std::string& name) {
    return Op(name, "RandomUniform", {Ints("n" + name, {2})},
              {{"dtype", DT_FLOAT}});
  };
  Fetch(stateful("r1"));
  Fetch(stateful("r2"));
  Fetch(x);
  Fetch(x2);  // two placeholders are two values
  const Endpoint p = Const(&g_, "p", Tensor::Scalar(true));
  Fetch(Op("s1", "Switch", {x, p}));
  Fetch(Op("s2", "Switch", {x, p}));
  Cse();
  // The constants that the random ops read are one now.
  EXPECT_EQ(Changes("cse"), 1);
  for (const char* n : {"r1", "r2", "x2", "s1", "s2"}) {
    EXPECT_NE(g_.FindNode(n), nullptr) << n;
  }
}

TEST_F(CseTest, ATargetKeepsItsName) {
  const Endpoint x = In("x");
  context_.targets.insert("b");
  Fetch(Op("a", "Neg", {x}));
  Fetch(Op("b", "Neg", {x}));
  Fetch(Op("c", "Neg", {x}));
  EXPECT_EQ(Cse(),
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Neg(x)\n"
            "fetch_b_0 = _Retval(b)\n"
            "fetch_c_0 = _Retval(a)\n");
}

TEST_F(CseTest, WhoWaitedForOneWaitsForTheOther) {
  const Endpoint x = In("x");
  const Endpoint a = Op("a", "Neg", {x}), b = Op("b", "Neg", {x});
  Fetch(a);
  Fetch(Op("c", "Abs", {x}, {}, {b.node}));
  Fetch(Op("d", "Abs", {b}, {}, {a.node, b.node}));
  EXPECT_EQ(Cse(),
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n"
            "c = Abs(x, ^a)\n"
            "fetch_c_0 = _Retval(c)\n"
            "d = Abs(a, ^a)\n"
            "fetch_d_0 = _Retval(d)\n");
}

TEST_F(CseTest, LargeConstantsAreNotCompared) {
  const auto zeros = [&](const std::string& name, int64_t n) {
    Tensor t(DT_FLOAT, {n});
    std::fill_n(t.data<float>(), n, 0.f);
    Fetch(Const(&g_, name, t));
  };
  zeros("a", 16384);
  zeros("b", 16384);
  zeros("c", 16385);
  zeros("d", 16385);
  Cse();
  EXPECT_EQ(Changes("cse"), 1);
  EXPECT_NE(g_.FindNode("d"), nullptr);
}

TEST_F(CseTest, StringConstantsAreComparedByValue) {
  for (const char* name : {"a", "b"}) {
    Fetch(Const(&g_, name, MakeTensor<tstring>({1}, {"same"})));
  }
  Fetch(Const(&g_, "c", MakeTensor<tstring>({1}, {"other"})));
  Cse();
  EXPECT_EQ(Changes("cse"), 1);
  EXPECT_NE(g_.FindNode("c"), nullptr);
}

TEST_F(CseTest, EndsWhenItIsInterrupted) {
  Fetch(Op("a", "Neg", {In("x")}));
  const Interrupt interrupt([] { return errors::Cancelled("enough"); });
  int changes = 0;
  EXPECT_EQ(MergeCommonSubexpressions(context_, &g_, &changes),
            errors::Cancelled("enough"));
}

}  // namespace
}  // namespace headrace
