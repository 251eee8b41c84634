#include "absl/strings/str_join.h"
#include "headrace/elementwise.h"
#include "headrace/op.h"
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

// Ops with public headers alone: with loops of both types, of float, and none.
#define TEST_UNARY_OP(NAME)       \
  REGISTER_OP(NAME)               \
      .Input("x: T")              \
      .Output("y: T")             \
      .Attr("T: {float, double}") \
      .KeepsShape()               \
      .Elementwise()
TEST_UNARY_OP("TestChainLoops");
TEST_UNARY_OP("TestChainFloatLoop");
TEST_UNARY_OP("TestChainNoLoops");
#undef TEST_UNARY_OP

struct TestHalveFn {
  template <typename T>
  static T Apply(T x) {
    return x / T(2);
  }
};
HR_REGISTER_UNARY("TestChainLoops", TestHalveFn, float, double);
HR_REGISTER_UNARY("TestChainFloatLoop", TestHalveFn, float);

// An assignment with another name.
REGISTER_OP("TestChainUpdate")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: {float, double}")
    .SetShapeFn(shape_inference::UnchangedShape)
    .WritesState()
    .Updates(VariableUpdate::kSubtract);

TEST_F(PassTest, ChainsOfElementwiseOpsBecomeOneNode) {
  const Endpoint x = In("x", {-1, 8, 8, 4});
  const Endpoint centred = Op("centred", "Sub", {x, Weights("mean", {4})});
  const Endpoint scaled =
      Op("scaled", "Mul", {Weights("scale", {1, 1, 4}), centred});
  const Endpoint bias = Op("bias", "BiasAdd", {scaled, Weights("b", {4})});
  const Endpoint relu = Op("relu", "Relu", {bias});
  const Endpoint sum = Op("sum", "AddV2", {Op("square", "Square", {x}), relu});
  Fetch(Op("out", "RealDiv", {Scalar("one", 1), sum}));
  EXPECT_EQ(Run("fuse_elementwise"),
            "square = Square(x)\n"
            "out = _FusedElementwise(x, mean, scale, b, square, one)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(Changes("fuse_elementwise"), 5);
  std::vector<std::string> ops;
  std::vector<int64_t> sides;
  const Node& n = *g_.FindNode("out");
  EXPECT_EQ(n.attrs().Get("ops", &ops), OkStatus());
  EXPECT_EQ(n.attrs().Get("sides", &sides), OkStatus());
  EXPECT_EQ(absl::StrJoin(ops, " "), "Sub Mul Add Relu AddV2 RealDiv");
  EXPECT_EQ(absl::StrJoin(sides, " "), "1 2 1 0 2 2");
  EXPECT_EQ(NodeErrorSuffix(n.def()),
            "{{node out}} (fused from centred, scaled, bias, relu, sum, out)");
}

TEST_F(PassTest, ChainsEndWhereTheShapeMayChangeOrSomebodyElseReads) {
  const Endpoint x = In("x", {-1, 4}), y = In("y", {-1, 4});
  // Either batch may be 1.
  Fetch(Op("sum", "Add", {Op("exp", "Exp", {x}), y}));
  // A column makes a matrix of the row.
  Fetch(Op("wide", "Mul",
           {Op("neg", "Neg", {In("row", {1, 4})}), Weights("column", {3, 1})}));
  const Endpoint read = Op("read", "Sqrt", {x});
  Fetch(Op("a", "Square", {read}));
  Fetch(Op("b", "Abs", {y}, {}, {read.node}));
  const Endpoint fetched = Op("fetched", "Tanh", {x});
  Fetch(fetched);
  Fetch(Op("c", "Neg", {fetched}));
  context_.targets.insert("target");
  Fetch(Op("d", "Neg", {Op("target", "Log", {x})}));
  // Twice the same.
  const Endpoint twice = Op("twice", "Ceil", {x});
  Fetch(Op("e", "Mul", {twice, twice}));
  // Scalars, other types, other results.
  const Endpoint s = In("s", PartialTensorShape(DimVector()));
  Fetch(Op("f", "Neg", {Op("g", "Exp", {s})}));
  const Endpoint i = In("i", {-1}, DT_INT32);
  Fetch(Op("h", "Neg", {Op("j", "Abs", {i})}));
  Fetch(Op("k", "Greater", {Op("l", "Abs", {x}), Scalar("zero", 0)}));
  Run("fuse_elementwise");
  EXPECT_EQ(Changes("fuse_elementwise"), 0);
}

TEST_F(PassTest, AChainFromAReferenceReadsItWhereItsReaderDid) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}});
  const Endpoint read = Op("read", "Neg", {v});
  Fetch(Op("c", "Exp", {Op("b", "Abs", {read})}));
  EXPECT_EQ(Run("fuse_elementwise"),
            "v = VariableV2()\n"
            "read = Neg(v)\n"
            "c = _FusedElementwise(read)\n"
            "fetch_c_0 = _Retval(c)\n");
}

TEST_F(PassTest, AnAssignmentTakesInTheChainThatItEnds) {
  const auto variable = [this](const char* name, const TensorShape& shape) {
    return Op(name, "VariableV2", {}, {{"dtype", DT_FLOAT}, {"shape", shape}});
  };
  const Endpoint m = variable("m", {2, 3}), v = variable("v", {2, 3});
  const Endpoint rate = Scalar("rate", 0.5);
  const Endpoint faded =
      Op("faded", "Assign", {m, Op("fade", "Mul", {m, rate})});
  const Endpoint root = Op("root", "Sqrt", {faded});
  Fetch(
      Op("updated", "AssignSub",
         {v, Op("ratio", "RealDiv", {rate, Op("more", "Add", {root, rate})})}));
  // Of another shape, and of a value that somebody else reads.
  const Endpoint w = variable("w", {3});
  Fetch(Op("wide", "Assign", {w, Op("wider", "Neg", {v})},
           {{"validate_shape", false}}));
  const Endpoint read = Op("read", "Neg", {w});
  Fetch(read);
  Fetch(Op("set", "Assign", {w, read}));
  EXPECT_EQ(Run("fuse_elementwise"),
            "m = VariableV2()\n"
            "v = VariableV2()\n"
            "w = VariableV2()\n"
            "wider = Neg(v)\n"
            "wide = Assign(w, wider)\n"
            "fetch_wide_0 = _Retval(wide)\n"
            "read = Neg(w)\n"
            "fetch_read_0 = _Retval(read)\n"
            "set = Assign(w, read)\n"
            "fetch_set_0 = _Retval(set)\n"
            "faded = _FusedAssign(m, m, rate)\n"
            "updated = _FusedAssign(v, faded, rate, rate)\n"
            "fetch_updated_0 = _Retval(updated)\n");
}

TEST_F(PassTest, AnUpdateIsKnownByItsTrait) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2, 3})}});
  const Endpoint half = Op("half", "TestChainLoops", {In("x", {2, 3})});
  Fetch(Op("update", "TestChainUpdate", {v, half}));
  EXPECT_EQ(Run("fuse_elementwise"),
            "v = VariableV2()\n"
            "update = _FusedAssign(v, x)\n"
            "fetch_update_0 = _Retval(update)\n");
  std::string update;
  EXPECT_EQ(g_.FindNode("update")->attrs().Get("update", &update), OkStatus());
  EXPECT_EQ(update, "AssignSub");
}

TEST_F(PassTest, OpsGoIntoAChainIfTheyHaveLoops) {
  const struct {
    const char* op;
    DataType type;
    bool fused;
  } cases[] = {{"TestChainLoops", DT_FLOAT, true},
               {"TestChainLoops", DT_DOUBLE, true},
               {"TestChainFloatLoop", DT_FLOAT, true},
               {"TestChainFloatLoop", DT_DOUBLE, false},
               {"TestChainNoLoops", DT_FLOAT, false}};
  int count = 0;
  for (const auto& c : cases) {
    const std::string name = StrCat("case", count++);
    const Endpoint x = In(name + "_x", {-1, 4}, c.type);
    Fetch(Op(name, c.op, {Op(name + "_neg", "Neg", {x})}));
    Run("fuse_elementwise");
    EXPECT_EQ(g_.FindNode(name)->type_string(),
              c.fused ? "_FusedElementwise" : c.op)
        << c.op << " of " << DataTypeString(c.type);
  }
}

TEST_F(PassTest, LongChainsAreCut) {
  Endpoint e = In("x", {-1});
  for (int i = 0; i < 40; ++i) e = Op(StrCat("n", i), "Neg", {e});
  Fetch(e);
  EXPECT_EQ(Run("fuse_elementwise"),
            "n31 = _FusedElementwise(x)\n"
            "n39 = _FusedElementwise(n31)\n"
            "fetch_n39_0 = _Retval(n39)\n");
}

}  // namespace
}  // namespace headrace
