// Reshape, Squeeze, ExpandDims, Bitcast, Shape, Fill: results and refusals.
#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct ReshapeCase {
  TensorShape in;
  std::vector<int32_t> sizes;
  TensorShape want;
  const char* error = nullptr;
};

TEST(ReshapeTest, Shapes) {
  const ReshapeCase cases[] = {
      {{2, 3}, {3, 2}, {3, 2}},
      {{2, 3}, {-1}, {6}},
      {{1}, {}, {}},
      {{0, 2}, {0, -1}, {0, 2}},
      {{0}, {-1, 3}, {0, 3}},
      {{0, 3}, {-1, 0, 3}, {1, 0, 3}},
      {{4}, {-1, -1}, {}, "Only one input size may be -1, not both 0 and 1"},
      {{4}, {-2}, {}, "must be non-negative"},
      {{4}, {3}, {}, "tensor with 4 values, but the requested shape has 3"},
      {{4}, {-1, 3}, {}, "requires a multiple of 3"},
      {{4}, {1 << 30, 1 << 30, 1 << 30}, {}, "overflows"},
      {{4}, {0, -1}, {}, "cannot infer"},
  };
  for (const ReshapeCase& c : cases) {
    OpTester t("Reshape");
    t.Input(Tensor(DT_FLOAT, c.in)).Input(Tensor::Vector<int32_t>(c.sizes));
    const Status s = t.Run();
    if (c.error != nullptr) {
      ExpectError(s, kInvalid, c.error);
    } else {
      ASSERT_TRUE(s.ok()) << s;
      EXPECT_EQ(t.Output(0).shape(), c.want);
    }
  }
}

TEST(ReshapeTest, SharesTheBuffer) {
  OpTester t("Reshape");
  const Tensor in(DT_FLOAT, TensorShape({64, 2}));
  t.Input(in).Input(Tensor::Vector<int32_t>({128}));
  ASSERT_TRUE(t.Run().ok());
  EXPECT_TRUE(t.Output(0).SharesBufferWith(in));
}

TEST(SqueezeTest, RemovesOnes) {
  for (const auto& [dims, want] :
       {std::pair<std::vector<int64_t>, TensorShape>{{}, {2, 3}},
        {{0}, {2, 1, 3}},
        {{-2}, {1, 2, 3}}}) {
    OpTester t("Squeeze");
    t.Attr("squeeze_dims", dims).Input(Tensor(DT_INT8, {1, 2, 1, 3}));
    ASSERT_TRUE(t.Run().ok());
    EXPECT_EQ(t.Output(0).shape(), want);
  }
  OpTester bad("Squeeze");
  bad.Attr("squeeze_dims", std::vector<int64_t>{1})
      .Input(Tensor(DT_INT8, {1, 2}));
  ExpectError(bad.Run(), kInvalid,
              "Can not squeeze dim[1], expected a dimension of 1, got 2");
}

TEST(ExpandDimsTest, PutsAOneAnywhere) {
  for (const auto& [axis, want] :
       {std::pair<int32_t, TensorShape>{0, {1, 2, 3}},
        {2, {2, 3, 1}},
        {-1, {2, 3, 1}},
        {-3, {1, 2, 3}}}) {
    OpTester t("ExpandDims");
    t.Input(Tensor(DT_BOOL, {2, 3})).Input(Tensor::Vector<int32_t>({axis}));
    ASSERT_TRUE(t.Run().ok());
    EXPECT_EQ(t.Output(0).shape(), want);
  }
  OpTester bad("ExpandDims");
  bad.Input(Tensor(DT_BOOL, {2, 3})).Input(MakeScalar<int32_t>(3));
  ExpectError(bad.Run(), kInvalid, "dim index 3");
}

TEST(BitcastTest, ChangesTheLastDim) {
  OpTester t("Bitcast");
  t.Attr("type", DT_UINT8).Input(MakeTensor<int32_t>({2}, {1, 256}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0),
              MakeTensor<uint8_t>({2, 4}, {1, 0, 0, 0, 0, 1, 0, 0}));
  OpTester back("Bitcast");
  back.Attr("type", DT_INT32).Input(t.Output(0));
  ASSERT_TRUE(back.Run().ok());
  ExpectEqual(back.Output(0), MakeTensor<int32_t>({2}, {1, 256}));
  OpTester bad("Bitcast");
  bad.Attr("type", DT_INT32).Input(Tensor(DT_UINT8, {2, 3}));
  ExpectError(bad.Run(), kInvalid, "a last dimension of 4");
}

TEST(ShapeTest, AsInt32AndInt64) {
  OpTester t("Shape");
  t.Input(Tensor(DT_FLOAT, {2, 0, 3}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({3}, {2, 0, 3}));
  OpTester size("Size");
  size.Attr("out_type", DT_INT64).Input(Tensor(DT_FLOAT, {2, 3}));
  ASSERT_TRUE(size.Run().ok());
  ExpectEqual(size.Output(0), MakeScalar<int64_t>(6));
}

TEST(FillTest, FillsAndRefuses) {
  OpTester t("Fill");
  t.Input(MakeTensor<int32_t>({2}, {2, 2})).Input(MakeScalar<tstring>("x"));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<tstring>({2, 2}, {"x", "x", "x", "x"}));
  OpTester bad("Fill");
  bad.Input(MakeTensor<int32_t>({1}, {-1})).Input(MakeScalar<float>(1));
  EXPECT_EQ(bad.Run().code(), kInvalid);
}

TEST(PlaceholderTest, AsksToBeFed) {
  OpTester t("Placeholder");
  t.Attr("dtype", DT_FLOAT).Attr("shape", TensorShape({2}));
  ExpectError(t.Run(), kInvalid,
              "You must feed a value for placeholder tensor 'node' with dtype "
              "float and shape [2]");
}

}  // namespace
}  // namespace headrace
