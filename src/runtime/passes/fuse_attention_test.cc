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

std::string Steps(const Node& n) {
  std::vector<std::string> steps;
  EXPECT_EQ(n.attrs().Get("steps", &steps), OkStatus());
  return absl::StrJoin(steps, " ");
}

TEST_F(PassTest, AttentionTakesFactorsOfQueryAndKey) {
  const Endpoint q = In("q", {-1, 9, 3, 8}), k = In("k", {-1, 3, 20, 8}),
                 v = In("v", {-1, 3, 20, 5});
  const Endpoint q2 = Op("q3", "Mul",
                         {Op("q2", "Transpose",
                             {Op("q1", "RealDiv", {q, Scalar("four", 4)}),
                              Ints("order", {0, 2, 1, 3})}),
                          Scalar("eight", 8)});
  const Endpoint s =
      Op("s", "BatchMatMulV2", {q2, Op("k2", "Mul", {Scalar("three", 3), k})},
         {{"adj_y", true}});
  Fetch(Op("out", "BatchMatMulV2", {Op("p", "Softmax", {s}), v}));
  EXPECT_EQ(Run("fuse_attention"),
            "out = _FusedAttention(q, k, v)\n"
            "fetch_out_0 = _Retval(out)\n");
  float scale = 0;
  EXPECT_EQ(g_.FindNode("out")->attrs().Get("scale", &scale), OkStatus());
  EXPECT_EQ(scale, 6);
}

TEST_F(PassTest, AttentionTakesStepsOfAnyOrder) {
  const Endpoint q = In("q", {-1, -1, 8}), k = In("k", {-1, -1, 8}),
                 v = In("v", {-1, -1, 5}), b = In("b", {-1, -1});
  const Endpoint mask = In("mask", {-1, 1, -1}, DT_BOOL);
  Endpoint e = Op("s", "BatchMatMulV2", {q, k}, {{"adj_y", true}});
  e = Op("one", "Mul", {e, b});
  e = Op("two", "Sub", {e, In("m", {-1})});
  e = Op("three", "Mul", {e, Scalar("c3", 3)});
  e = Op("four", "SelectV2", {mask, Scalar("c4", -4), e});
  e = Op("five", "RealDiv", {e, In("dk", TensorShape({}))});
  e = Op("six", "Add", {In("a", {-1, 1}), e});
  Fetch(Op("out", "BatchMatMulV2", {Op("p", "Softmax", {e}), v}));
  EXPECT_EQ(Run("fuse_attention"),
            "out = _FusedAttention(q, k, v, b, m, c3, mask, c4, dk, a)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(Steps(*g_.FindNode("out")), "mul sub mul where_not div add");
}

// where(mask, scores, ones_like(scores) * -1e9), and a mask made of the shape
// of the scores.
TEST_F(PassTest, AttentionNeedsNoScoresForTheirShape) {
  const Endpoint q = In("q", {-1, -1, 8}), k = In("k", {-1, -1, 8}),
                 v = In("v", {-1, -1, 5});
  const Endpoint s = Op("s", "BatchMatMulV2", {q, k}, {{"adj_y", true}});
  const Endpoint scaled = Op("scaled", "Mul", {s, Scalar("two", 2)});
  const Endpoint shape = Op("shape", "Shape", {scaled});
  const Endpoint fill = Op("fill", "Fill", {shape, Scalar("one", 1)});
  const Endpoint band =
      Op("band", "MatrixBandPart",
         {fill, Const(&g_, "all", Tensor::Scalar<int64_t>(-1)),
          Const(&g_, "none", Tensor::Scalar<int64_t>(0))});
  const Endpoint mask = Op("mask", "Equal", {band, Scalar("zero", 0)});
  const Endpoint low = Op(
      "low", "Mul", {Op("ones", "OnesLike", {scaled}), Scalar("minus", -1e9f)});
  const Endpoint chosen = Op("chosen", "Select", {mask, low, scaled});
  Fetch(Op("out", "BatchMatMulV2", {Op("p", "Softmax", {chosen}), v}));
  EXPECT_EQ(Run("fuse_attention"),
            "shape = _ProductShape(q, k)\n"
            "fill = Fill(shape, one)\n"
            "band = MatrixBandPart(fill, all, none)\n"
            "mask = Equal(band, zero)\n"
            "out = _FusedAttention(q, k, v, mask, p/masked)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(Value("p/masked").data<float>()[0], -1e9f);
  EXPECT_EQ(Steps(*g_.FindNode("out")), "select_not");
  EXPECT_EQ(g_.FindNode("shape")->output_shape(0).DebugString(), "[3]");
}

TEST_F(PassTest, AttentionThatReadsItsOwnScoresStays) {
  const Endpoint q = In("q", {2, 8, 8}), k = In("k", {2, 8, 8}),
                 c = In("c", TensorShape({2, 8, 8}), DT_BOOL);
  const auto scores = [&](const std::string& name) {
    return Op(name, "BatchMatMulV2", {q, k}, {{"adj_y", true}});
  };
  Endpoint s = scores("a");
  Fetch(Op("a2", "BatchMatMulV2", {Op("a1", "Softmax", {s}), s}));
  s = scores("b");
  Fetch(Op("b3", "BatchMatMulV2",
           {Op("b2", "Softmax", {Op("b1", "AddV2", {s, s})}), k}));
  s = scores("c0");
  Fetch(Op(
      "c3", "BatchMatMulV2",
      {Op("c2", "Softmax",
          {Op("c1", "Select", {c, s, Op("c4", "Mul", {s, Scalar("two", 2)})})}),
       k}));
  // A value that may be larger than the scores; a condition by rows.
  s = scores("d0");
  Fetch(Op("d3", "BatchMatMulV2",
           {Op("d2", "Softmax",
               {Op("d1", "Select",
                   {In("by_row", TensorShape({2}), DT_BOOL), s,
                    In("low", TensorShape({2, 8, 8}))})}),
            k}));
  s = scores("e0");
  Fetch(Op("e3", "BatchMatMulV2",
           {Op("e2", "Softmax",
               {Op("e1", "AddV2", {s, In("large", {-1, -1, 8, 8})})}),
            k}));
  Run("fuse_attention");
  EXPECT_EQ(Changes("fuse_attention"), 0);
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
