#include <cmath>

#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class QuantizeConvTest : public PassTest {
 protected:
  Endpoint Image(const std::string& name = "x") {
    return In(name, {1, 8, 8, 4});
  }
  Endpoint Quantize(const std::string& name, Endpoint x, float low = -1,
                    float high = 1, int64_t bits = 8, bool narrow = false) {
    return Op(name, "FakeQuantWithMinMaxVars",
              {x, Scalar(name + "/min", low), Scalar(name + "/max", high)},
              {{"num_bits", bits}, {"narrow_range", narrow}});
  }
  // The levels with which `conv` was marked; empty if it was not.
  std::vector<float> Levels(const std::string& conv) {
    Run("quantize_conv");
    std::vector<float> levels;
    g_.FindNode(conv)->attrs().Get(kFakeQuantAttr, &levels).IgnoreError();
    return levels;
  }
};

TEST_F(QuantizeConvTest, LevelsAndRangesAreTheNodes) {
  const Endpoint x = Op("qx", "FakeQuantWithMinMaxArgs", {Image()},
                        {{"min", 0.f}, {"max", 6.f}, {"num_bits", int64_t{7}}});
  const Endpoint w =
      Quantize("qw", Weights("w", {3, 3, 4, 2}), -2, 3, 8, /*narrow=*/true);
  Fetch(Conv("conv", x, w));
  EXPECT_EQ(Levels("conv"), (std::vector<float>{0, 127, 0, 6, 1, 255, -2, 3}));
  EXPECT_EQ(Changes("quantize_conv"), 1);
}

TEST_F(QuantizeConvTest, AFilterMayHaveARangeForEachChannel) {
  const Endpoint w = Op("qw", "FakeQuantWithMinMaxVarsPerChannel",
                        {Weights("w", {1, 1, 4, 2}), Floats("low", {-1, -2}),
                         Floats("high", {3, 4})});
  Fetch(Conv("conv", Quantize("qx", Image()), w));
  EXPECT_EQ(Levels("conv"),
            (std::vector<float>{0, 255, -1, 1, 0, 255, -1, 3, -2, 4}));
}

TEST_F(QuantizeConvTest, TheImageMayHaveBeenReshaped) {
  const Endpoint x =
      Op("reshaped", "Reshape",
         {Quantize("qx", In("x", {64, 4})), Ints("shape", {1, 8, 8, 4})});
  Fetch(Conv("conv", x, Quantize("qw", Weights("w", {1, 1, 4, 2}))));
  EXPECT_FALSE(Levels("conv").empty());
}

TEST_F(QuantizeConvTest, WhatIsNotKnownIsNotMarked) {
  const Endpoint x = Quantize("qx", Image());
  const Endpoint w = Quantize("qw", Weights("w", {1, 1, 4, 2}));
  Tensor nan(DT_FLOAT, TensorShape({1, 1, 4, 2}));
  for (float& v : nan.flat<float>()) v = NAN;
  const struct {
    const char* what;
    Endpoint image, filter;
  } cases[] = {
      {"an image that is not quantised", Image("y"), w},
      {"a filter that is not quantised", x, Weights("v", {1, 1, 4, 2})},
      {"a filter that is fed", x, Quantize("qf", In("f", {1, 1, 4, 2}))},
      {"a filter with a NaN", x, Quantize("qn", Const(&g_, "nan", nan))},
      {"a range that is fed",
       Op("qr", "FakeQuantWithMinMaxVars",
          {Image("z"), In("low", {}), Scalar("high", 1)}),
       w},
      {"more than 8 bits", Quantize("q9", Image("z9"), -1, 1, 9), w},
      {"bytes as something else",
       Op("back", "Bitcast",
          {Op("there", "Bitcast", {x}, {{"type", DT_INT32}})},
          {{"type", DT_FLOAT}}),
       w},
      {"ranges of an image's channels",
       Op("qc", "FakeQuantWithMinMaxVarsPerChannel",
          {Image("zc"), Floats("lows", {0, 0, 0, 0}),
           Floats("highs", {1, 2, 3, 4})}),
       w},
  };
  const auto name_of = [&](const auto& c) {
    return StrCat("conv", &c - cases);
  };
  for (const auto& c : cases) Fetch(Conv(name_of(c), c.image, c.filter));
  Run("quantize_conv");
  for (const auto& c : cases) {
    EXPECT_EQ(g_.FindNode(name_of(c))->attrs().Find(kFakeQuantAttr), nullptr)
        << c.what;
  }
}

TEST_F(QuantizeConvTest, AFusedConvolutionKeepsItsLevels) {
  const Endpoint w = Quantize("qw", Weights("w", {1, 1, 4, 2}));
  const Endpoint conv = Conv("conv", Quantize("qx", Image()), w);
  Fetch(Op("out", "BiasAdd", {conv, Weights("b", {2})}));
  Run("quantize_conv fuse_conv");
  const Node* const fused = g_.FindNode("out");
  ASSERT_EQ(fused->type_string(), "_FusedConv2D");
  EXPECT_NE(fused->attrs().Find(kFakeQuantAttr), nullptr);
}

}  // namespace
}  // namespace headrace
