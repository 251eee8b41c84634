#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, GroupsOfPureNodesOrderNothing) {
  const Endpoint x = In("x", {-1, 4});
  const Endpoint y = Op("y", "Neg", {x});
  const Endpoint a = Op("a", "Exp", {y}), b = Op("b", "Abs", {y});
  Node* const group = AddOp(&g_, "group", "NoOp", {}, {}, {a.node, b.node});
  Fetch(Op("c", "Neg", {a}, {}, {group}));
  Fetch(Op("d", "Neg", {b}, {}, {group}));
  EXPECT_EQ(Run("remove_controls"),
            "y = Neg(x)\n"
            "a = Exp(y)\n"
            "b = Abs(y)\n"
            "c = Neg(a)\n"
            "fetch_c_0 = _Retval(c)\n"
            "d = Neg(b)\n"
            "fetch_d_0 = _Retval(d)\n");
  EXPECT_EQ(Changes("remove_controls"), 3);
}

TEST_F(PassTest, AReadOfAVariableStaysBeforeItsUpdate) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}});
  const Endpoint read = Op("read", "Identity", {v});
  // May read the bytes of the variable when it runs.
  const Endpoint used = Op("used", "Neg", {read});
  const Endpoint x = In("x", {2});
  const Endpoint y = Op("y", "Neg", {x});
  Node* const group = AddOp(&g_, "group", "NoOp", {}, {}, {used.node, y.node});
  const Endpoint after = Op("after", "Exp", {y}, {}, {group});
  Fetch(used);
  Fetch(Op("update", "AssignAdd", {v, after}));
  EXPECT_EQ(Run("remove_controls"),
            "v = VariableV2()\n"
            "read = Identity(v)\n"
            "used = Neg(read)\n"
            "y = Neg(x)\n"
            "group = NoOp(^used)\n"
            "after = Exp(y, ^group)\n"
            "fetch_used_0 = _Retval(used)\n"
            "update = AssignAdd(v, after)\n"
            "fetch_update_0 = _Retval(update)\n");
}

TEST_F(PassTest, ShapesLeaveWaitingToTheirReaders) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}});
  const Endpoint x = In("x", {2});
  Node* const update = Op("update", "AssignAdd", {v, x}).node;
  const Endpoint y = Op("y", "Neg", {x});
  const Endpoint shape = Op("shape", "Shape", {y}, {}, {update});
  const Endpoint size = Op("size", "Shape", {y}, {}, {update});
  Fetch(Op("a", "Reshape", {x, shape}, {}, {update}));
  Fetch(Op("b", "Reshape", {x, size}, {}, {update}));
  Fetch(Op("c", "Neg", {size}));  // may be before the update
  EXPECT_EQ(Run("remove_controls"),
            "v = VariableV2()\n"
            "update = AssignAdd(v, x)\n"
            "y = Neg(x)\n"
            "shape = Shape(y)\n"
            "size = Shape(y, ^update)\n"
            "a = Reshape(x, shape, ^update)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Reshape(x, size)\n"
            "fetch_b_0 = _Retval(b)\n"
            "c = Neg(size)\n"
            "fetch_c_0 = _Retval(c)\n");
}

TEST_F(PassTest, WhatIsNeededForItsErrorsAloneStays) {
  const Endpoint x = In("x", {-1, 4});
  const Endpoint product = Op("product", "MatMul", {x, x});
  const Endpoint check = Op("check", "CheckNumerics", {x}, {{"message", ""}});
  Fetch(Op("y", "Neg", {x}, {}, {product.node}));
  Fetch(Op("z", "Abs", {x}, {}, {check.node}));
  Fetch(Op("both", "Exp", {check}, {}, {check.node}));
  EXPECT_EQ(Run("remove_controls"),
            "product = MatMul(x, x)\n"
            "check = CheckNumerics(x)\n"
            "y = Neg(x, ^product)\n"
            "fetch_y_0 = _Retval(y)\n"
            "z = Abs(x, ^check)\n"
            "fetch_z_0 = _Retval(z)\n"
            "both = Exp(check)\n"
            "fetch_both_0 = _Retval(both)\n");
}

// A gradient that nobody wants is computed for the group's sake alone.
TEST_F(PassTest, WhatCannotFailGoesIfNobodyNeedsItsValue) {
  const Endpoint x = In("x", {8, 4}), open = In("open", {-1, 4});
  const Endpoint y = Op("y", "Softmax", {x});
  const Endpoint sum =
      Op("sum", "Sum", {Op("part", "Mul", {y, x}), Ints("axis", {1})});
  const Endpoint unwanted =
      Op("unwanted", "Reshape", {sum, Ints("shape", {8, 1})});
  // What may fail: of shapes not known, or after a node that may.
  const Endpoint unsure = Op("unsure", "Mul", {open, open});
  const Endpoint product = Op("product", "MatMul", {x, Weights("w", {4, 4})});
  const Endpoint after = Op("after", "Neg", {product});
  Node* const group = AddOp(&g_, "group", "NoOp", {}, {},
                            {unwanted.node, y.node, unsure.node, after.node});
  Node* const pure = AddOp(&g_, "pure", "NoOp", {}, {}, {unwanted.node});
  Fetch(Op("a", "Neg", {y}, {}, {group}));
  Fetch(Op("b", "Abs", {y}, {}, {pure}));
  EXPECT_EQ(Run("remove_controls"),
            "y = Softmax(x)\n"
            "unsure = Mul(open, open)\n"
            "product = MatMul(x, w)\n"
            "after = Neg(product)\n"
            "group = NoOp(^unsure, ^after)\n"
            "a = Neg(y, ^group)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Abs(y)\n"
            "fetch_b_0 = _Retval(b)\n");
}

TEST_F(PassTest, ABranchKeepsTheEdgesThatSayWhetherItRuns) {
  const Endpoint x = In("x", {2}), p = In("p", {}, DT_BOOL);
  const Endpoint branch = Op("branch", "Switch", {x, p});
  const Endpoint pivot = Op("pivot", "Identity", {{branch.node, 1}});
  const Endpoint y = Op("y", "Neg", {x});
  Fetch(Op("inside", "Exp", {y}, {}, {pivot.node}));
  Fetch(Op("covered", "Exp", {pivot}, {}, {pivot.node}));
  Fetch(pivot);
  EXPECT_EQ(Run("remove_controls"),
            "branch = Switch(x, p)\n"
            "pivot = Identity(branch:1)\n"
            "y = Neg(x)\n"
            "inside = Exp(y, ^pivot)\n"
            "fetch_inside_0 = _Retval(inside)\n"
            "covered = Exp(pivot)\n"
            "fetch_covered_0 = _Retval(covered)\n"
            "fetch_pivot_0 = _Retval(pivot)\n");
}

}  // namespace
}  // namespace headrace
