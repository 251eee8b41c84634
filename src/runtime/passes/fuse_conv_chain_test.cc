#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

TEST_F(PassTest, DepthwiseAndPointwiseConvolutionsBecomeOne) {
  const AttrMap attrs = {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                         {"padding", "SAME"}};
  const Endpoint w3 = Weights("w3", {3, 3, 4, 1}),
                 w1 = Weights("w1", {1, 1, 4, 4}),
                 wide = Weights("wide", {1, 1, 1, 4}), b = Weights("b", {4});
  const Endpoint x = In("x", {-1, 8, 8, 4}), thin = In("thin", {-1, 8, 8, 1});
  // One by one: a first 1x1 that does not widen stays outside.
  const Endpoint a = Conv("a", x, w1);
  const Endpoint d =
      Op("d_relu", "Relu",
         {Op("d_bias", "BiasAdd",
             {Op("d", "DepthwiseConv2dNative", {a, w3}, attrs), b})});
  Fetch(Op("p_bias", "BiasAdd", {Conv("p", d, w1), b}));
  // A depthwise convolution whose result is read elsewhere stays.
  const Endpoint e =
      Op("e", "DepthwiseConv2dNative", {Conv("c", thin, wide), w3}, attrs);
  Fetch(Conv("f", e, w1));
  Fetch(Op("g", "Neg", {e}));
  const Endpoint h =
      Op("h", "DepthwiseConv2dNative", {Conv("i", thin, wide), w3}, attrs);
  Fetch(Conv("j", h, w1));
  // Padding that was a node of its own.
  AttrMap padded = attrs;
  padded.Set("padding", "EXPLICIT");
  padded.Set("explicit_paddings", std::vector<int64_t>{0, 0, 0, 1, 0, 1, 0, 0});
  Fetch(Conv("q", Op("k", "DepthwiseConv2dNative", {x, w3}, padded), w1));
  const std::string after = Run("fuse_conv fuse_conv_chain");
  for (const char* line :
       {"a = Conv2D(x, w1)\n", "p_bias = _FusedConvChain(a, w3, w1, b, b)\n",
        "f = Conv2D(e, w1)\n", "j = _FusedConvChain(thin, wide, w3, w1)\n",
        "q = _FusedConvChain(x, w3, w1)\n"}) {
    EXPECT_NE(after.find(line), std::string::npos) << after;
  }
  EXPECT_EQ(FusedOps("p_bias"), "BiasAdd,Relu BiasAdd");
}

}  // namespace
}  // namespace headrace
