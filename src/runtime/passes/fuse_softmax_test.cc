#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class FuseSoftmaxTest : public PassTest {
 protected:
  Endpoint Spell(const std::string& name, Endpoint x, int32_t max_axis = -1,
                 int32_t sum_axis = -1, bool keeps = true) {
    const Endpoint max =
        Op(name + "/max", "Max", {x, Axis(name + "/a", max_axis)},
           {{"keep_dims", true}});
    const Endpoint e =
        Op(name + "/exp", "Exp", {Op(name + "/less", "Sub", {x, max})});
    const Endpoint sum =
        Op(name + "/sum", "Sum", {e, Axis(name + "/b", sum_axis)},
           {{"keep_dims", keeps}});
    return Op(name, "RealDiv", {e, sum});
  }
  Endpoint Axis(const std::string& name, int32_t axis) {
    return Const(&g_, name, Tensor::Scalar<int32_t>(axis));
  }
};

TEST_F(FuseSoftmaxTest, OverTheLastDim) {
  const Endpoint x = In("x", {-1, 3, 9});
  Fetch(Spell("p", x, -1, 2));
  EXPECT_EQ(Run("fuse_softmax"),
            "p = Softmax(x)\n"
            "fetch_p_0 = _Retval(p)\n");
  EXPECT_EQ(Changes("fuse_softmax"), 4);
}

TEST_F(FuseSoftmaxTest, AttentionThatSpellsItOut) {
  const Endpoint q = In("q", {2, 9, 8});
  const Endpoint s = Op("s", "BatchMatMulV2", {q, q}, {{"adj_y", true}});
  Fetch(Op("out", "BatchMatMulV2", {Spell("p", s), q}));
  EXPECT_EQ(Run("fuse_softmax fuse_attention"),
            "out = _FusedAttention(q, q, q)\n"
            "fetch_out_0 = _Retval(out)\n");
}

TEST_F(FuseSoftmaxTest, WhatIsNoSoftmaxStays) {
  const Endpoint x = In("x", {4, 4, 4});
  Fetch(Spell("another_dim", x, 1, 1));
  Fetch(Spell("another_sum", x, -1, 1));
  Fetch(Spell("another_max", x, 0, -1));
  Fetch(Spell("the_sums_dim_goes", x, -1, -1, false));
  Fetch(Spell("unknown_rank", In("u"), 2, 2));
  Fetch(Spell("exponentials_wanted", x));
  Fetch({g_.FindNode("exponentials_wanted/exp"), 0});
  Fetch(Spell("half", In("h", {4, 4}, DT_HALF)));
  const Endpoint y = In("y", {4, 4, 4});
  const Endpoint max =
      Op("max", "Max", {y, Axis("a", -1)}, {{"keep_dims", true}});
  const Endpoint e = Op("exp", "Exp", {Op("less", "Sub", {x, max})});
  Fetch(Op("another_input", "RealDiv",
           {e, Op("sum", "Sum", {e, Axis("b", -1)}, {{"keep_dims", true}})}));
  Run("fuse_softmax");
  EXPECT_EQ(Changes("fuse_softmax"), 0);
}

}  // namespace
}  // namespace headrace
