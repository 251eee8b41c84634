#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, IdentitiesGoAndFetchedOnesStay) {
  const Endpoint x = In("x", {-1, 4});
  const Endpoint a = Op("a", "Identity", {x});
  const Endpoint b = Op("b", "StopGradient", {a});
  const Endpoint c = Op("c", "Neg", {b});
  Fetch(Op("d", "Identity", {c}));
  EXPECT_EQ(Run("remove_noops"),
            "c = Neg(x)\n"
            "d = Identity(c)\n"
            "fetch_d_0 = _Retval(d)\n");
  EXPECT_EQ(Changes("remove_noops"), 2);
}

TEST_F(PassTest, TargetsAndColocationPeersStay) {
  const Endpoint x = In("x");
  context_.targets.insert("target");
  const Endpoint t = Op("target", "Identity", {x});
  const Endpoint p = Op("peer", "Identity", {x});
  Fetch(Op("a", "Neg", {t}));
  Fetch(
      Op("b", "Neg", {p}, {{"_class", std::vector<std::string>{"loc:@peer"}}}));
  EXPECT_EQ(Run("remove_noops"),
            "target = Identity(x)\n"
            "peer = Identity(x)\n"
            "a = Neg(target)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Neg(peer)\n"
            "fetch_b_0 = _Retval(b)\n");
}

TEST_F(PassTest, ControlEdgesOfARemovedIdentityMoveToItsNeighbours) {
  const Endpoint x = In("x");
  const Endpoint before = Op("before", "Neg", {x});
  const Endpoint i = Op("i", "Identity", {x}, {}, {before.node});
  const Endpoint a = Op("a", "Neg", {i});
  Fetch(a);
  Fetch(Op("b", "Abs", {x}, {}, {i.node}));
  EXPECT_EQ(Run("remove_noops"),
            "before = Neg(x)\n"
            "a = Neg(x, ^before)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Abs(x, ^x, ^before)\n"
            "fetch_b_0 = _Retval(b)\n");
}

TEST_F(PassTest, AnIdentityThatSavesControlEdgesStays) {
  const Endpoint x = In("x");
  std::vector<Node*> before;
  for (int i = 0; i < 3; ++i) {
    before.push_back(Op(StrCat("b", i), "Neg", {x}).node);
  }
  const Endpoint i = Op("i", "Identity", {x}, {}, before);
  for (int k = 0; k < 3; ++k) Fetch(Op(StrCat("a", k), "Neg", {i}));
  const std::string after = Run("remove_noops");
  EXPECT_NE(after.find("i = Identity(x, ^b0, ^b1, ^b2)"), std::string::npos)
      << after;
}

TEST_F(PassTest, NothingBesideControlFlowIsTouched) {
  const Endpoint x = In("x"), p = In("p", {}, DT_BOOL);
  const Node* s = Op("switch", "Switch", {x, p}).node;
  Node* sw = const_cast<Node*>(s);
  // The pivot tells which branch runs; the pass-through feeds a Merge.
  const Endpoint pivot = Op("pivot", "Identity", {{sw, 1}});
  const Endpoint one = Op("one", "Abs", {x}, {}, {pivot.node});
  const Endpoint through = Op("through", "Identity", {{sw, 0}});
  Fetch(Op("merge", "Merge", {through, one}));
  EXPECT_EQ(Run("remove_noops"),
            "switch = Switch(x, p)\n"
            "pivot = Identity(switch:1)\n"
            "one = Abs(x, ^pivot)\n"
            "through = Identity(switch)\n"
            "merge = Merge(through, one)\n"
            "fetch_merge_0 = _Retval(merge)\n");
}

TEST_F(PassTest, ReadsOfReferencesStay) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}});
  Fetch(Op("a", "Neg", {Op("read", "Identity", {v})}));
  EXPECT_EQ(Run("remove_noops"),
            "v = VariableV2()\n"
            "read = Identity(v)\n"
            "a = Neg(read)\n"
            "fetch_a_0 = _Retval(a)\n");
}

TEST_F(PassTest, ReshapesGoWhereTheShapeIsSurelyTheSame) {
  const Endpoint x = In("x", {-1, 4});
  const Endpoint same = Op("same", "Reshape", {x, Ints("s1", {-1, 4})});
  Fetch(Op("a", "Neg", {same}));
  const Endpoint other = Op("other", "Reshape", {x, Ints("s2", {-1, 2})});
  Fetch(Op("b", "Neg", {other}));
  const Endpoint back = Op("back", "Reshape", {other, Ints("s3", {-1, 4})});
  Fetch(Op("c", "Neg", {back}));
  const Endpoint y = In("y", {-1, -1});
  Fetch(Op("d", "Neg", {Op("swap", "Reshape", {y, In("s", {2}, DT_INT32)})}));
  EXPECT_EQ(Run("remove_noops"),
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n"
            "other = Reshape(x, s2)\n"
            "b = Neg(other)\n"
            "fetch_b_0 = _Retval(b)\n"
            "c = Neg(x)\n"
            "fetch_c_0 = _Retval(c)\n"
            "swap = Reshape(y, s)\n"
            "d = Neg(swap)\n"
            "fetch_d_0 = _Retval(d)\n");
}

TEST_F(PassTest, TransposesThatUndoEachOtherGo) {
  const Endpoint x = In("x", {-1, 2, 3, 4});
  const Endpoint to = Op("to", "Transpose", {x, Ints("p1", {0, 3, 1, 2})});
  const Endpoint back = Op("back", "Transpose", {to, Ints("p2", {0, 2, 3, 1})});
  Fetch(Op("a", "Neg", {back}));
  const Endpoint twice =
      Op("twice", "Transpose", {to, Ints("p3", {0, 3, 1, 2})});
  Fetch(Op("b", "Neg", {twice}));
  Fetch(
      Op("c", "Neg", {Op("none", "Transpose", {x, Ints("p4", {0, 1, 2, 3})})}));
  EXPECT_EQ(Run("remove_noops"),
            "to = Transpose(x, p1)\n"
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n"
            "twice = Transpose(to, p3)\n"
            "b = Neg(twice)\n"
            "fetch_b_0 = _Retval(b)\n"
            "c = Neg(x)\n"
            "fetch_c_0 = _Retval(c)\n");
}

TEST_F(PassTest, ExactArithmeticWithOneAndZeroGoesUnlessItBroadcasts) {
  const Endpoint x = In("x", {-1, 3});
  const Endpoint one = Scalar("one", 1), zero = Scalar("zero", 0);
  const Endpoint ones = Const(&g_, "ones", MakeTensor<float>({2, 1}, {1, 1}));
  const Endpoint a = Op("a", "Mul", {Op("m", "Mul", {one, x}), ones});
  const Endpoint b = Op("b", "RealDiv", {Op("s", "Sub", {x, zero}), one});
  Fetch(a);
  Fetch(Op("n", "Neg", {b}));
  Fetch(Op("rest", "Neg", {Op("d", "RealDiv", {one, x})}));
  EXPECT_EQ(Run("remove_noops"),
            "a = Mul(x, ones)\n"
            "fetch_a_0 = _Retval(a)\n"
            "n = Neg(x)\n"
            "fetch_n_0 = _Retval(n)\n"
            "d = RealDiv(one, x)\n"
            "rest = Neg(d)\n"
            "fetch_rest_0 = _Retval(rest)\n");
}

// The shape of the second Reshape is there after the update, so its reader was.
TEST_F(PassTest, ReadersWaitForWhatARemovedShapeWaitedFor) {
  const Endpoint x = In("x", {2, 2});
  const Endpoint v =
      Op("v", "VarHandleOp", {},
         {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape({})}});
  const Endpoint update = Op("update", "AssignAddVariableOp",
                             {v, Scalar("one", 1)}, {{"dtype", DT_FLOAT}});
  const Endpoint shape = Ints("shape", {2, 2});
  g_.AddControlEdge(update.node, shape.node);
  Fetch(Op("a", "Neg", {Op("same", "Reshape", {x, shape})}));
  // Nothing shows when this one runs.
  const Endpoint harmless = Ints("harmless", {2, 2});
  g_.AddControlEdge(x.node, harmless.node);
  Fetch(Op("b", "Abs", {Op("again", "Reshape", {x, harmless})}));
  const std::string after = Run("remove_noops");
  EXPECT_NE(after.find("a = Neg(x, ^update)"), std::string::npos) << after;
  EXPECT_NE(after.find("b = Abs(x)"), std::string::npos) << after;
}

}  // namespace
}  // namespace headrace
