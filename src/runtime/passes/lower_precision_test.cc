#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, LayersOfFloatsAreMarkedForBfloat16) {
  const Endpoint x = In("x", {1, 8, 8, 4});
  const Endpoint w = In("w", {3, 3, 4, 6});
  const Endpoint m = In("m", {2, 3});
  const std::vector<int64_t> strides = {1, 1, 1, 1};
  Fetch(Op("conv", "Conv2D", {x, w},
           {{"strides", strides}, {"padding", "SAME"}}));
  Fetch(Op("depthwise", "DepthwiseConv2dNative", {x, w},
           {{"strides", strides}, {"padding", "SAME"}}));
  Fetch(Op("product", "MatMul", {m, m}, {{"transpose_b", true}}));
  Fetch(Op("sum", "Add", {m, m}));
  Run("lower_precision");
  EXPECT_EQ(Changes("lower_precision"), 2);
  for (const char* name : {"conv", "depthwise", "product", "sum"}) {
    const bool wanted =
        name == std::string("conv") || name == std::string("product");
    EXPECT_EQ(g_.FindNode(name)->attrs().Find(kPrecisionAttr) != nullptr,
              wanted)
        << name;
  }
}

TEST_F(PassTest, ALayerKeepsItsPrecisionWhenItIsFused) {
  const Endpoint m = In("m", {3, 3});
  const Endpoint b = In("b", {3});
  const Endpoint p = Op("product", "MatMul", {m, m});
  Fetch(Op("out", "BiasAdd", {p, b}));
  Run("lower_precision");
  Run("fuse_matmul");
  const Node* const fused = g_.FindNode("out");
  ASSERT_EQ(fused->type_string(), "_FusedMatMul");
  EXPECT_NE(fused->attrs().Find(kPrecisionAttr), nullptr);
}

}  // namespace
}  // namespace headrace
