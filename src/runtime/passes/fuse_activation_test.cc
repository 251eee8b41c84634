#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, SpelledActivationsBecomeOneNodeAndPartOfALayer) {
  const Endpoint x =
      Op("product", "MatMul", {In("x", {-1, 4}), Weights("w", {4, 8})});
  const Endpoint scaled = Op("scaled", "Mul", {x, Scalar("root", 0.70710678f)});
  const Endpoint sum =
      Op("sum", "AddV2", {Scalar("one", 1), Op("erf", "Erf", {scaled})});
  const Endpoint half = Op("half", "Mul", {Scalar("h", 0.5f), x});
  Fetch(Op("gelu", "Mul", {half, sum}));
  EXPECT_EQ(Run("fuse_activation"),
            "product = MatMul(x, w)\n"
            "gelu = _Gelu(product)\n"
            "fetch_gelu_0 = _Retval(gelu)\n");
  EXPECT_EQ(Changes("fuse_activation"), 4);
  EXPECT_EQ(NodeErrorSuffix(g_.FindNode("gelu")->def()),
            "{{node gelu}} (fused from scaled, erf, sum, half, gelu)");
  EXPECT_EQ(Run("fuse_matmul"),
            "gelu = _FusedMatMul(x, w)\n"
            "fetch_gelu_0 = _Retval(gelu)\n");
  EXPECT_EQ(FusedOps("gelu"), "_Gelu");
}

TEST_F(PassTest, SpelledActivationsStayWhereAPartIsWanted) {
  const Endpoint x = In("x", {-1, 4});
  // Read by a node that is not of the formula, through data or control.
  const Endpoint gate = Op("gate", "Sigmoid", {x});
  Fetch(Op("a", "Mul", {x, gate}));
  Fetch(Op("neg", "Neg", {gate}));
  const Endpoint softplus = Op("softplus", "Softplus", {x});
  Fetch(Op("b", "Mul", {x, Op("tanh", "Tanh", {softplus})}));
  Fetch(Op("abs", "Abs", {x}, {}, {softplus.node}));
  // A target of the step.
  context_.targets.insert("target");
  Fetch(Op("c", "Mul", {x, Op("target", "Sigmoid", {x})}));
  // On another device.
  const Endpoint there = Op("there", "Sigmoid", {x},
                            {{"_class", std::vector<std::string>{"loc:@x"}}});
  Fetch(Op("d", "Mul", {x, there}));
  // Narrow floats round after each node.
  const Endpoint y = In("y", {-1, 4}, DT_HALF);
  Fetch(Op("e", "Mul", {y, Op("half", "Sigmoid", {y})}));
  Run("fuse_activation");
  EXPECT_EQ(Changes("fuse_activation"), 0);
}

// sigmoid(2 x / 2): a constant of one element may not add dims.
TEST_F(PassTest, ConstantsOfASpelledActivationMustKeepTheShape) {
  const Endpoint x = In("x", {4});
  Fetch(Op("a", "Mul",
           {x, Op("g", "Sigmoid",
                  {Op("m", "RealDiv",
                      {Op("p", "Mul", {x, Scalar("s", 0.5f)}),
                       Weights("ones", {1, 1})})})}));
  Fetch(Op("b", "Mul",
           {x, Op("h", "Sigmoid",
                  {Op("n", "RealDiv",
                      {Op("q", "Mul", {x, Scalar("t", 0.5f)}),
                       Weights("one", {1})})})}));
  Run("fuse_activation");
  EXPECT_EQ(g_.FindNode("a")->type_string(), "Mul");
  EXPECT_EQ(g_.FindNode("b")->type_string(), "_Swish");
}

}  // namespace
}  // namespace headrace
