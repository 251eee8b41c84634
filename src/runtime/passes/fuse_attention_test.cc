#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, AttentionBecomesOneNode) {
  const Endpoint q = In("q", {-1, 3, 9, 8}), k = In("k", {-1, 3, 20, 8}),
                 v = In("v", {-1, 20, 3, 5});
  const Endpoint s = Op("s", "BatchMatMulV2", {q, k}, {{"adj_y", true}});
  const Endpoint scaled = Op("scaled", "RealDiv", {s, Scalar("two", 2)});
  const Endpoint masked =
      Op("masked", "AddV2", {scaled, In("m", {-1, 1, 1, 20})});
  const Endpoint p = Op("p", "Softmax", {masked});
  const Endpoint heads =
      Op("heads", "Transpose", {v, Ints("order", {0, 2, 1, 3})});
  const Endpoint out = Op("out", "BatchMatMulV2", {p, heads});
  Fetch(Op("back", "Transpose", {out, Ints("order2", {0, 2, 1, 3})}));
  EXPECT_EQ(Run("fuse_attention"),
            "back = _FusedAttention(q, k, v, m)\n"
            "fetch_back_0 = _Retval(back)\n");
  EXPECT_EQ(Changes("fuse_attention"), 5);
  std::string labels, scores;
  float scale = 0;
  const Node& n = *g_.FindNode("back");
  EXPECT_EQ(n.attrs().Get("labels", &labels), OkStatus());
  EXPECT_EQ(n.attrs().Get("scores", &scores), OkStatus());
  EXPECT_EQ(n.attrs().Get("scale", &scale), OkStatus());
  EXPECT_EQ(labels, "abth,absh,asbd->atbd");
  EXPECT_EQ(scores, "abts");
  EXPECT_EQ(scale, 0.5f);
  EXPECT_EQ(n.output_shape(0).DebugString(), "[?,9,3,5]");
}

TEST_F(PassTest, AttentionOfWhichAPartIsWantedStays) {
  const Endpoint q = In("q", {-1, 9, 8});
  for (const std::string name : {"a", "b", "c"}) {
    const Endpoint s =
        Op(name + "/s", "BatchMatMul", {q, q}, {{"adj_y", true}});
    const Endpoint p = Op(name + "/p", "Softmax", {s});
    Fetch(Op(name, "BatchMatMul", {p, q}));
  }
  Fetch({g_.FindNode("a/p"), 0});
  Fetch({g_.FindNode("b/s"), 0});
  context_.targets.insert("c/p");
  Run("fuse_attention");
  EXPECT_EQ(Changes("fuse_attention"), 0);
}

}  // namespace
}  // namespace headrace
