#include <cmath>

#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class FuseFakeQuantTest : public PassTest {
 protected:
  Endpoint Layer(const std::string& name) {
    return Conv(name, In(name + "/x", {1, 8, 8, 4}),
                Weights(name + "/w", {3, 3, 4, 2}));
  }
  Endpoint Quantize(const std::string& name, Endpoint x, float low = -1,
                    float high = 1, int64_t bits = 8, bool narrow = false) {
    return Op(name, "FakeQuantWithMinMaxVars",
              {x, Scalar(name + "/min", low), Scalar(name + "/max", high)},
              {{"num_bits", bits}, {"narrow_range", narrow}});
  }
  std::vector<float> Steps(const std::string& node) {
    std::vector<float> steps;
    g_.FindNode(node)->attrs().Get(kResultStepsAttr, &steps).IgnoreError();
    return steps;
  }
};

TEST_F(FuseFakeQuantTest, AFusedConvolutionTakesItInLast) {
  const Endpoint bias =
      Op("bias", "BiasAdd", {Layer("conv"), Weights("b", {2})});
  Fetch(Quantize("out", Op("relu", "Relu6", {bias}), 0, 6, 8, true));
  EXPECT_EQ(Run("fuse_conv fuse_fake_quant"),
            "out = _FusedConv2D(conv/x, conv/w, b)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(FusedOps("out"), "BiasAdd Relu6 FakeQuantWithMinMaxArgs");
  EXPECT_EQ(Steps("out"), (std::vector<float>{1, 255, 0, 6}));
  EXPECT_EQ(Changes("fuse_fake_quant"), 1);
}

TEST_F(FuseFakeQuantTest, SoDoConvolutionsAlone) {
  Fetch(Op("q", "FakeQuantWithMinMaxArgs", {Layer("conv")},
           {{"min", -2.f}, {"max", 3.f}, {"num_bits", int64_t{16}}}));
  const Endpoint depthwise =
      Op("d", "DepthwiseConv2dNative",
         {In("y", {1, 8, 8, 4}), Weights("dw", {3, 3, 4, 1})},
         {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
          {"padding", std::string("SAME")}});
  Fetch(Quantize("dq", depthwise));
  Run("fuse_fake_quant");
  EXPECT_EQ(g_.FindNode("q")->type_string(), "_FusedConv2D");
  EXPECT_EQ(Steps("q"), (std::vector<float>{0, 65535, -2, 3}));
  EXPECT_EQ(g_.FindNode("dq")->type_string(), "_FusedDepthwiseConv2dNative");
}

TEST_F(FuseFakeQuantTest, TheLevelsOfTheImageStay) {
  const Endpoint x = Quantize("qx", In("x", {1, 8, 8, 4}));
  const Endpoint w = Quantize("qw", Weights("w", {1, 1, 4, 2}));
  Fetch(Quantize("out", Conv("conv", x, w)));
  Run("quantize_conv fuse_fake_quant");
  EXPECT_EQ(g_.FindNode("out")->type_string(), "_FusedConv2D");
  EXPECT_NE(g_.FindNode("out")->attrs().Find(kFakeQuantAttr), nullptr);
}

TEST_F(FuseFakeQuantTest, WhatIsNotKnownOrReadByOthersStays) {
  const Endpoint shared = Layer("shared");
  Fetch(shared);
  const struct {
    const char* what;
    Endpoint quantised;
  } cases[] = {
      {"a sum that is fetched", Quantize("a", shared)},
      {"a range that is fed",
       Op("b", "FakeQuantWithMinMaxVars",
          {Layer("cb"), In("low", {}), Scalar("high", 1)})},
      {"a range for each channel",
       Op("c", "FakeQuantWithMinMaxVarsPerChannel",
          {Layer("cc"), Floats("lows", {0, -1}), Floats("highs", {1, 1})})},
      {"a range of all zeros", Quantize("d", Layer("cd"), 0, 0)},
      {"a range that is none", Quantize("e", Layer("ce"), 1, -1)},
      {"a NaN", Quantize("f", Layer("cf"), NAN, 1)},
      {"a range without an end", Quantize("g", Layer("cg"), 0, HUGE_VALF)},
      {"a second one", Quantize("h2", Quantize("h", Layer("ch")), -2, 2)},
  };
  for (const auto& c : cases) Fetch(c.quantised);
  Run("fuse_fake_quant");
  for (const auto& c : cases) {
    EXPECT_TRUE(Steps(c.quantised.node->name()).empty()) << c.what;
  }
  EXPECT_FALSE(Steps("h").empty());
}

}  // namespace
}  // namespace headrace
