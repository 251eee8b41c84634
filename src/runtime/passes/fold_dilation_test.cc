// Of fold_dilation: what cannot be folded stays. Results are compared in
// session/fused_graph_test.cc.
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class DilationTest : public PassTest {
 protected:
  struct Case {
    const char* name;
    PartialTensorShape image = {-1, 8, 8, 2};
    int64_t channels = 4;
    std::vector<int32_t> block = {2, 2}, undo = {2, 2};
    std::vector<int32_t> paddings = {2, 2, 2, 2}, crops = {0, 0, 0, 0};
    const char* padding = "VALID";
    bool fed_paddings = false, fetch_phases = false, fetch_conv = false;
  };
  // Returns what is left of the pattern.
  std::string FoldPattern(const Case& c) {
    const std::string prefix = StrCat(c.name, "/");
    const auto pairs = [&](const std::string& name,
                           const std::vector<int32_t>& v) {
      return Const(&g_, prefix + name, MakeTensor<int32_t>({2, 2}, v));
    };
    const Endpoint paddings = c.fed_paddings
                                  ? In(prefix + "fed", {2, 2}, DT_INT32)
                                  : pairs("paddings", c.paddings);
    const Endpoint phases = Op(
        prefix + "phases", "SpaceToBatchND",
        {In(prefix + "x", c.image), Ints(prefix + "block", c.block), paddings});
    const Endpoint conv =
        Conv(prefix + "conv", phases,
             Weights(prefix + "w", {3, 3, c.image.dim_size(3), c.channels}),
             c.padding);
    Fetch(Op(prefix + "whole", "BatchToSpaceND",
             {conv, Ints(prefix + "undo", c.undo), pairs("crops", c.crops)}));
    if (c.fetch_phases) Fetch(phases);
    if (c.fetch_conv) Fetch(conv);
    Run("fold_dilation");
    return StrCat(g_.FindNode(prefix + "phases") != nullptr, " ",
                  g_.FindNode(prefix + "whole") != nullptr);
  }
};

TEST_F(DilationTest, BlocksBecomeDilations) {
  EXPECT_EQ(FoldPattern({.name = "a",
                         .block = {2, 4},
                         .undo = {2, 4},
                         .paddings = {2, 2, 4, 4},
                         .crops = {1, 0, 0, 3}}),
            "0 0");
  EXPECT_EQ(Changes("fold_dilation"), 2);
  const Node* const conv = g_.FindNode("a/conv");
  std::vector<int64_t> values;
  ASSERT_EQ(conv->attrs().Get("dilations", &values), OkStatus());
  EXPECT_EQ(values, std::vector<int64_t>({1, 2, 4, 1}));
  ASSERT_EQ(conv->attrs().Get("explicit_paddings", &values), OkStatus());
  EXPECT_EQ(values, std::vector<int64_t>({0, 0, 1, 2, 4, 1, 0, 0}));
  EXPECT_EQ(conv->output_shape(0), PartialTensorShape({-1, 7, 5, 4}));
}

TEST_F(DilationTest, WhatDoesNotFitStays) {
  const Case cases[] = {
      {.name = "other_block", .undo = {4, 4}},
      {.name = "unknown_size", .image = {-1, -1, 8, 2}},
      {.name = "crops_of_the_image", .crops = {3, 0, 0, 0}},
      {.name = "padded_phases", .padding = "SAME"},
      {.name = "fed_paddings", .fed_paddings = true},
      {.name = "phases_are_read", .fetch_phases = true},
      {.name = "conv_is_read", .fetch_conv = true},
      {.name = "winograd", .image = {-1, 8, 8, 8}, .channels = 8},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(FoldPattern(c), "1 1");
    EXPECT_EQ(Changes("fold_dilation"), 0);
  }
}

}  // namespace
}  // namespace headrace
