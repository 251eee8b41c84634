#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class GroupConvTest : public PassTest {
 protected:
  static constexpr int kGroups = 3;

  Endpoint Axis(int axis = 3) {
    return Const(&g_, StrCat("axis", axes_++), Tensor::Scalar<int32_t>(axis));
  }
  std::vector<Endpoint> Split(Endpoint x) {
    Node* const split = AddOp(&g_, "split", "Split", {Axis(), x},
                              {{"num_split", int64_t{kGroups}}});
    return {{split, 0}, {split, 1}, {split, 2}};
  }
  std::vector<Endpoint> SplitV(Endpoint x, const std::vector<int32_t>& sizes) {
    Node* const split =
        AddOp(&g_, "split", "SplitV", {x, Ints("sizes", sizes), Axis(-1)},
              {{"num_split", int64_t{kGroups}}});
    return {{split, 0}, {split, 1}, {split, 2}};
  }
  // x[:, :, :, begin:begin + 2], or x[..., begin:begin + 2].
  Endpoint Strides(Endpoint x, int begin, bool ellipsis) {
    const std::string name = StrCat("slice", begin);
    const auto list = [&](const char* what, int last, int others) {
      std::vector<int32_t> v(ellipsis ? 1 : 3, others);
      v.push_back(last);
      return Ints(StrCat(name, what), v);
    };
    const int64_t others = ellipsis ? 0 : 7;
    return Op(
        name, "StridedSlice",
        {x, list("b", begin, 0), list("e", begin + 2, 0), list("s", 1, 1)},
        {{"begin_mask", others},
         {"end_mask", others},
         {"ellipsis_mask", int64_t{ellipsis}}});
  }
  Endpoint Slice(Endpoint x, int begin) {
    const std::string name = StrCat("slice", begin);
    return Op(name, "Slice",
              {x, Ints(name + "b", {0, 0, 0, begin}),
               Ints(name + "s", {-1, 8, -1, 2})});
  }
  // A convolution of each part, from 2 channels to 4.
  std::vector<Endpoint> Convs(const std::vector<Endpoint>& parts,
                              const std::string& padding = "SAME") {
    std::vector<Endpoint> out;
    for (size_t i = 0; i < parts.size(); ++i) {
      out.push_back(Conv(StrCat("conv", i), parts[i],
                         Weights(StrCat("w", i), {1, 1, 2, 4}), padding));
    }
    return out;
  }
  Endpoint Concat(std::vector<Endpoint> parts, int axis = 3) {
    const int64_t n = static_cast<int64_t>(parts.size());
    parts.push_back(Axis(axis));
    return Op("concat", "ConcatV2", parts, {{"N", n}});
  }

  void Clear() {
    std::vector<Node*> all;
    g_.ForEachNode([&](Node* n) { all.push_back(n); });
    for (Node* n : all) g_.RemoveNode(n);
    axes_ = fetches_ = 0;
  }

  int axes_ = 0;
};

TEST_F(GroupConvTest, ConvolutionsOfAllPartsBecomeOne) {
  for (int form = 0; form < 5; ++form) {
    SCOPED_TRACE(form);
    Clear();
    const Endpoint x = In("x", {-1, 8, 8, 6});
    std::vector<Endpoint> parts;
    if (form == 0) parts = Split(x);
    if (form == 1) parts = SplitV(x, {2, 2, 2});
    for (const int begin : {0, 2, 4}) {
      if (form == 2) parts.push_back(Strides(x, begin, false));
      if (form == 3) parts.push_back(Strides(x, begin, true));
      if (form == 4) parts.push_back(Slice(x, begin));
    }
    Fetch(Concat(Convs(parts), form % 2 == 0 ? 3 : -1));
    EXPECT_EQ(Run("group_conv"),
              "concat = Conv2D(x, concat/filter)\n"
              "fetch_concat_0 = _Retval(concat)\n");
    EXPECT_EQ(Changes("group_conv"), 3);
    // Rows of the filters side by side.
    const Tensor w = Value("concat/filter");
    EXPECT_EQ(w.shape(), TensorShape({1, 1, 2, 12}));
    for (int i = 0; i < 24; ++i) {
      EXPECT_EQ(w.data<float>()[i], 0.5f * (i / 12 * 4 + i % 4 + 1)) << i;
    }
  }
}

TEST_F(GroupConvTest, BiasAndActivationAreThoseOfTheWhole) {
  std::vector<Endpoint> parts = Convs(Split(In("x", {-1, 8, 8, 6})));
  for (size_t i = 0; i < parts.size(); ++i) {
    const float f = static_cast<float>(i);
    parts[i] = Op(StrCat("bias", i), "BiasAdd",
                  {parts[i], Floats(StrCat("b", i), {f, f, f, f})});
    parts[i] = Op(StrCat("relu", i), "Relu", {parts[i]});
  }
  Fetch(Concat(parts));
  EXPECT_EQ(Run("group_conv"),
            "concat/Conv2D = Conv2D(x, concat/filter)\n"
            "concat/BiasAdd = BiasAdd(concat/Conv2D, concat/bias)\n"
            "concat = Relu(concat/BiasAdd)\n"
            "fetch_concat_0 = _Retval(concat)\n");
  EXPECT_EQ(Changes("group_conv"), 7);
  const Tensor bias = Value("concat/bias");
  ASSERT_EQ(bias.NumElements(), 12);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(bias.data<float>()[i], static_cast<float>(i / 4));
  }
}

TEST_F(GroupConvTest, WhatIsNoConvolutionInGroupsStays) {
  const auto none = [&](const char* what) {
    SCOPED_TRACE(what);
    Run("group_conv");
    EXPECT_EQ(Changes("group_conv"), 0);
    EXPECT_EQ(g_.FindNode("concat/filter"), nullptr);
    Clear();
  };
  const auto image = [&](int64_t channels = 6) {
    return In("x", {-1, 8, 8, channels});
  };
  Fetch(Concat(Convs(Split(image())), 2));
  none("another axis");
  std::vector<Endpoint> parts = Split(image());
  std::swap(parts[0], parts[1]);
  Fetch(Concat(Convs(parts)));
  none("another order");
  parts = Split(image());
  parts[1] = parts[0];
  Fetch(Concat(Convs(parts)));
  none("a part twice");
  parts = Convs(Split(image()));
  Fetch(parts[1]);
  Fetch(Concat(parts));
  none("one of them is fetched");
  parts = Convs(Split(image()));
  parts[1] = Op("relu", "Relu", {parts[1]});
  Fetch(Concat(parts));
  none("an activation of one part");
  parts = Split(image());
  std::vector<Endpoint> convs = Convs(parts);
  convs[2] = Conv("other", parts[2], Weights("v", {3, 3, 2, 4}));
  Fetch(Concat(convs));
  none("another filter's size");
  parts = Split(image());
  convs = Convs(parts);
  convs[2] = Conv("other", parts[2], Weights("v", {1, 1, 2, 4}), "VALID");
  Fetch(Concat(convs));
  none("another padding");
  Fetch(Concat(Convs(SplitV(image(8), {2, 2, 4}))));
  none("parts that differ");
  Node* const two =
      AddOp(&g_, "split", "SplitV", {image(), Ints("sizes", {2, 2, 2}), Axis()},
            {{"num_split", int64_t{3}}});
  Fetch(Concat(Convs({{two, 0}, {two, 1}})));
  none("a part is missing");
}

TEST_F(GroupConvTest, GroupsOfManyChannelsStay) {
  std::vector<Endpoint> parts = Split(In("x", {-1, 8, 8, 3 * 48}));
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = Conv(StrCat("conv", i), parts[i],
                    Weights(StrCat("w", i), {3, 3, 48, 8}));
  }
  Fetch(Concat(parts));
  Run("group_conv");
  EXPECT_EQ(Changes("group_conv"), 0);
}

}  // namespace
}  // namespace headrace
