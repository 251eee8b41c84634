#include "absl/strings/str_join.h"
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

std::string Ops(const Node& n) {
  std::vector<std::string> ops;
  std::vector<int64_t> operands, results;
  EXPECT_EQ(n.attrs().Get("ops", &ops), OkStatus());
  EXPECT_EQ(n.attrs().Get("operands", &operands), OkStatus());
  EXPECT_EQ(n.attrs().Get("results", &results), OkStatus());
  std::string text;
  for (size_t i = 0; i < ops.size(); ++i) {
    StrAppend(&text, ops[i], " ", operands[2 * i]);
    if (operands[2 * i + 1] >= 0) StrAppend(&text, " ", operands[2 * i + 1]);
    text += "; ";
  }
  return StrCat(text, "results ", absl::StrJoin(results, " "));
}

// x^2 and its half are read by the forward step and by the gradient, which is
// another group, since it depends on a product of the first one's value.
TEST_F(PassTest, AGradientComputesCheapValuesAgain) {
  const Endpoint x = In("x", {8, 64});
  const Endpoint square = Op("square", "Square", {x});
  const Endpoint half = Op("half", "Mul", {square, Scalar("h", 0.5)});
  const Endpoint tanh = Op("tanh", "Tanh", {half});
  const Endpoint y = Op("y", "Mul", {square, tanh});
  const Endpoint far = Op("far", "MatMul", {y, Weights("w", {64, 64})});
  const Endpoint dt = Op("dt", "Mul", {far, square});
  const Endpoint dh = Op("dh", "TanhGrad", {tanh, dt});
  const Endpoint dx =
      Op("dx", "AddN", {Op("ds", "Mul", {far, tanh}), dh, x, half}, {{"N", 4}});
  Fetch(dx);
  EXPECT_EQ(Run("group_elementwise"),
            "y = _FusedElementwiseGroup(x, h)\n"
            "far = MatMul(y:1, w)\n"
            "dx = _FusedElementwiseGroup(far, y, x, h)\n"
            "fetch_dx_0 = _Retval(dx)\n");
}

// The variable may have been updated when the second group runs.
TEST_F(PassTest, WhatMayBeAVariableIsNotComputedAgainFrom) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({8, 64})}});
  const Endpoint read = Op("read", "Identity", {v});
  const Endpoint half = Op("half", "Mul", {read, Scalar("h", 0.5)});
  const Endpoint far = Op("far", "Softmax", {Op("y", "Exp", {half})});
  const Endpoint part = Op("part", "Mul", {far, half});
  Fetch(Op("out", "AddN", {part, read, far}, {{"N", 3}}));
  EXPECT_EQ(Run("group_elementwise"),
            "v = VariableV2()\n"
            "read = Identity(v)\n"
            "y = _FusedElementwiseGroup(read, h)\n"
            "far = Softmax(y:1)\n"
            "out = _FusedElementwiseGroup(far, y, read)\n"
            "fetch_out_0 = _Retval(out)\n");
}

TEST_F(PassTest, GroupsOfAnyBatch) {
  const Endpoint x = In("x", {-1, 64});
  const Endpoint y = Op("y", "Tanh", {x});
  const Endpoint dy = Op("dy", "Mul", {x, y});
  const Endpoint dx = Op("dx", "TanhGrad", {y, dy});
  // Its batch may be another, which is an error then.
  const Endpoint other = In("other", {-1, 64});
  Fetch(Op("out", "AddN", {dx, dy}, {{"N", 2}}));
  Fetch(Op("unsure", "AddN", {dx, other}, {{"N", 2}}));
  EXPECT_EQ(Run("group_elementwise"),
            "out = _FusedElementwiseGroup(x)\n"
            "fetch_out_0 = _Retval(out:1)\n"
            "unsure = AddN(out, other)\n"
            "fetch_unsure_0 = _Retval(unsure)\n");
}

TEST_F(PassTest, AGroupIsConvex) {
  // e reads a by way of a product: it is another group, though it reads b.
  const Endpoint x = In("x", {64, 64});
  const Endpoint a = Op("a", "Exp", {x});
  const Endpoint b = Op("b", "Mul", {a, x});
  const Endpoint c = Op("c", "Sub", {b, a});
  const Endpoint d = Op("d", "MatMul", {a, c});
  const Endpoint e = Op("e", "Mul", {d, b});
  const Endpoint f = Op("f", "Add", {e, Op("g", "Neg", {e})});
  Fetch(f);
  Fetch(c);
  EXPECT_EQ(Run("group_elementwise"),
            "c = _FusedElementwiseGroup(x)\n"
            "d = MatMul(c, c:2)\n"
            "fetch_c_0 = _Retval(c:2)\n"
            "f = _FusedElementwiseGroup(d, c:1)\n"
            "fetch_f_0 = _Retval(f)\n");
  EXPECT_EQ(Changes("group_elementwise"), 4);
  EXPECT_EQ(Ops(*g_.FindNode("c")), "Exp 0; Mul 1 0; Sub 2 1; results 0 1 2");
  EXPECT_EQ(Ops(*g_.FindNode("f")), "Mul 0 1; Neg 2; Add 2 3; results 2");
}

TEST_F(PassTest, WhatIsNoGroupStays) {
  const Endpoint x = In("x", {8, 64}), open = In("open", {-1, 64});
  const auto fork = [&](const std::string& name, Endpoint v) {
    Fetch(Op(name + "/c", "Mul",
             {Op(name + "/a", "Neg", {v}), Op(name + "/b", "Abs", {v})}));
  };
  // A chain is fuse_elementwise's.
  Fetch(Op("chain2", "Abs", {Op("chain1", "Neg", {x})}));
  // Another shape, or perhaps another.
  const Endpoint n = Op("n", "Neg", {x});
  Fetch(n);
  Fetch(Op("wide", "Add", {n, In("more", {2, 8, 64})}));
  const Endpoint o = Op("o", "Neg", {open});
  Fetch(o);
  Fetch(Op("maybe", "Add", {o, x}));
  // Scalars; integers; targets.
  fork("scalar", In("s", TensorShape({})));
  fork("integers", In("i", {8, 64}, DT_INT32));
  context_.targets = {"target/a", "target/b", "target/c"};
  fork("target", x);
  // A node that waits for another.
  const Endpoint awaited = Op("awaited", "Neg", {x});
  const Endpoint waits = Op("waits", "Mul", {awaited, x}, {}, {awaited.node});
  Fetch(waits);
  // A loop that needs the op's attr.
  const Endpoint leaky = Op("leaky", "LeakyRelu", {x}, {{"alpha", 0.3f}});
  Fetch(leaky);
  Fetch(Op("leakier", "LeakyRelu", {leaky}, {{"alpha", 0.3f}}));
  // Short rows.
  const Endpoint narrow = Op("narrow", "Neg", {In("y", {8, 5})});
  Fetch(narrow);
  Fetch(Op("by_row", "Mul", {narrow, Weights("row", {5})}));
  Run("group_elementwise");
  EXPECT_EQ(Changes("group_elementwise"), 0);
}

// A branch that is not taken must not keep the rest of a group from running.
TEST_F(PassTest, OnlyNodesThatAreDeadTogetherBecomeAGroup) {
  const Endpoint x = In("x", {8, 64});
  const Endpoint p = In("p", TensorShape({}), DT_BOOL);
  const Endpoint a = Op("a", "Exp", {x});
  Node* const split = Op("split", "Switch", {x, p}).node;
  const Endpoint b = Op("b", "Mul", {a, {split, 1}});
  const Endpoint c = Op("c", "Mul", {Op("c1", "Neg", {b}), b});
  const Endpoint d = Op("d", "Sub", {a, {split, 0}});
  const Endpoint e = Op("e", "Mul", {Op("e1", "Neg", {d}), d});
  Fetch(Op("merge", "Merge", {c, e}, {{"N", 2}}));
  Fetch(a);
  EXPECT_EQ(Run("group_elementwise"),
            "a = Exp(x)\n"
            "split = Switch(x, p)\n"
            "fetch_a_0 = _Retval(a)\n"
            "e = _FusedElementwiseGroup(a, split)\n"
            "c = _FusedElementwiseGroup(a, split:1)\n"
            "merge = Merge(c, e)\n"
            "fetch_merge_0 = _Retval(merge)\n");
}

TEST_F(PassTest, AGroupWaitsForWhatItsNodesWaitFor) {
  const Endpoint x = In("x", {8, 64});
  const Endpoint a = Op("a", "Exp", {x});
  const Endpoint sum = Op("sum", "Softmax", {a});
  // c waits for what a is needed for, b for something else.
  const Endpoint b = Op("b", "Mul", {a, x}, {}, {In("y", {2}).node});
  const Endpoint c = Op("c", "Mul", {a, b}, {}, {sum.node});
  Fetch(Op("d", "Mul", {c, Op("e", "Neg", {c})}));
  Fetch(sum);
  Fetch(Op("f", "Identity", {x}, {}, {c.node}));
  EXPECT_EQ(Run("group_elementwise"),
            "b = _FusedElementwiseGroup(x, ^y)\n"
            "sum = Softmax(b)\n"
            "fetch_sum_0 = _Retval(sum)\n"
            "d = _FusedElementwiseGroup(b, b:1, ^sum)\n"
            "fetch_d_0 = _Retval(d:1)\n"
            "f = Identity(x, ^d)\n"
            "fetch_f_0 = _Retval(f)\n");
}

// Two groups that a later node joins, and rows, columns and scalars.
TEST_F(PassTest, GroupsGrowTogether) {
  const Endpoint x = In("x", {8, 64}), y = In("y", {8, 64});
  const Endpoint column = In("column", {8, 1});
  const Endpoint a = Op("a", "Sub", {x, column});
  const Endpoint b = Op("b", "BiasAdd", {y, Weights("row", {64})});
  const Endpoint c = Op("c", "AddN", {a, b, x}, {{"N", 3}});
  Fetch(Op("out", "RealDiv", {Scalar("one", 1), c}));
  EXPECT_EQ(Run("group_elementwise"),
            "out = _FusedElementwiseGroup(x, column, y, row, one)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(Ops(*g_.FindNode("out")),
            "Sub 0 1; Add 2 3; Add 5 6; Add 7 0; RealDiv 4 8; results 4");
}

// A gradient of a sum over rows repeats a column.
TEST_F(PassTest, AGroupRepeatsColumnsItself) {
  const Endpoint x = In("x", {8, 64}), column = In("column", {8, 1});
  const Endpoint wide =
      Op("wide", "BroadcastTo", {column, Ints("shape", {8, 64})});
  const Endpoint part = Op("part", "RealDiv", {wide, Scalar("n", 64)});
  Fetch(Op("out", "AddN", {x, Op("a", "Mul", {part, x}), part}, {{"N", 3}}));
  EXPECT_EQ(Run("group_elementwise"),
            "out = _FusedElementwiseGroup(x, n, column)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(Ops(*g_.FindNode("out")),
            "RealDiv 2 1; Mul 3 0; Add 0 4; Add 5 3; results 3");
}

}  // namespace
}  // namespace headrace
