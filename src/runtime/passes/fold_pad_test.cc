#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, PaddingWithZerosGoesIntoEveryConvolutionThatReadsIt) {
  const Endpoint x = In("x", {-1, 8, 8, 2});
  const Endpoint paddings = Const(
      &g_, "paddings", MakeTensor<int32_t>({4, 2}, {0, 0, 1, 2, 3, 4, 0, 0}));
  const Endpoint pad = Op("pad", "Pad", {x, paddings});
  const Endpoint w = Weights("w", {3, 3, 2, 4});
  Fetch(Conv("a", pad, w, "VALID"));
  Fetch(Conv("b", pad, w, "VALID"));
  EXPECT_EQ(Run("fold_pad"),
            "a = Conv2D(x, w)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Conv2D(x, w)\n"
            "fetch_b_0 = _Retval(b)\n");
  std::vector<int64_t> explicit_paddings;
  const AttrMap& attrs = g_.FindNode("a")->attrs();
  ASSERT_EQ(attrs.Get("explicit_paddings", &explicit_paddings), OkStatus());
  EXPECT_EQ(explicit_paddings, std::vector<int64_t>({0, 0, 1, 2, 3, 4, 0, 0}));
  EXPECT_EQ(*attrs.Find("padding"), AttrValue("EXPLICIT"));
}

TEST_F(PassTest, PaddingThatAConvolutionCannotTakeStays) {
  const Endpoint x = In("x", {-1, 8, 8, 2});
  const auto paddings = [&](const std::string& name, int batch, int depth) {
    return Const(&g_, name,
                 MakeTensor<int32_t>({4, 2}, {batch, 0, 1, 1, 1, 1, 0, depth}));
  };
  const Endpoint w = Weights("w", {3, 3, 2, 4}),
                 w3 = Weights("w3", {1, 1, 3, 4});
  const Endpoint space = paddings("space", 0, 0);
  Fetch(Conv("a", Op("batch", "Pad", {x, paddings("p1", 1, 0)}), w, "VALID"));
  Fetch(Conv("b", Op("depth", "Pad", {x, paddings("p2", 0, 1)}), w3, "VALID"));
  Fetch(Conv("c", Op("same", "Pad", {x, space}), w, "SAME"));
  Fetch(
      Conv("d", Op("ones", "PadV2", {x, space, Scalar("one", 1)}), w, "VALID"));
  const Endpoint shared = Op("shared", "Pad", {x, space});
  Fetch(Conv("e", shared, w, "VALID"));
  Fetch(shared);
  Run("fold_pad");
  EXPECT_EQ(Changes("fold_pad"), 0);
  for (const char* pad : {"batch", "depth", "same", "ones", "shared"}) {
    EXPECT_NE(g_.FindNode(pad), nullptr) << pad;
  }
}

}  // namespace
}  // namespace headrace
