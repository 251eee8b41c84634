// Transpose, Tile, Pad, MirrorPad, Reverse, Roll and the moves between space,
// batch and depth: results and refusals.
#include <gtest/gtest.h>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Iota(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) t.data<float>()[i] = i;
  return t;
}
Tensor Ints(const std::vector<int32_t>& v) {
  return Tensor::Vector<int32_t>(v);
}

TEST(TransposeTest, PermutesAndRefuses) {
  OpTester t("Transpose");
  t.Input(Iota({2, 3})).Input(Ints({1, 0}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({3, 2}, {0, 3, 1, 4, 2, 5}));
  for (const auto& perm : {std::vector<int32_t>{0, 0}, {0}, {0, 2}}) {
    OpTester bad("Transpose");
    bad.Input(Iota({2, 3})).Input(Ints(perm));
    EXPECT_EQ(bad.Run().code(), kInvalid);
  }
}

// The shape function lets them pass, as TensorFlow's does; the kernel does not.
TEST(TransposeTest, NegativePermutationsAreRefused) {
  for (const char* op : {"Transpose", "ConjugateTranspose"}) {
    OpTester t(op);
    t.Input(Iota({2, 3})).Input(Ints({0, -1}));
    ExpectError(t.Run(), kInvalid, "-1 is out of range [0 .. 2)");
  }
}

TEST(TransposeTest, Conjugates) {
  OpTester t("ConjugateTranspose");
  t.Input(MakeTensor<complex64>({1, 2}, {{1, 2}, {3, -4}})).Input(Ints({1, 0}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<complex64>({2, 1}, {{1, -2}, {3, 4}}));
}

TEST(TileTest, RepeatsAndRefuses) {
  OpTester t("Tile");
  t.Input(MakeTensor<float>({1, 2}, {1, 2})).Input(Ints({2, 2}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}));
  OpTester none("Tile");
  none.Input(Iota({2})).Input(Ints({0}));
  ASSERT_TRUE(none.Run().ok());
  EXPECT_EQ(none.Output(0).NumElements(), 0);
  for (const auto& m : {std::vector<int32_t>{-1}, {1, 1}}) {
    OpTester bad("Tile");
    bad.Input(Iota({2})).Input(Ints(m));
    EXPECT_EQ(bad.Run().code(), kInvalid);
  }
}

TEST(PadTest, FramesWithAConstant) {
  OpTester t("PadV2");
  t.Input(MakeTensor<float>({1, 2}, {1, 2}))
      .Input(MakeTensor<int32_t>({2, 2}, {1, 0, 1, 2}))
      .Input(MakeScalar<float>(9));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0),
              MakeTensor<float>({2, 5}, {9, 9, 9, 9, 9, 9, 1, 2, 9, 9}));
  OpTester scalar("Pad");
  scalar.Input(MakeScalar<float>(3)).Input(Tensor(DT_INT32, {0, 2}));
  ASSERT_TRUE(scalar.Run().ok());
  ExpectEqual(scalar.Output(0), MakeScalar<float>(3));
  OpTester bad("Pad");
  bad.Input(Iota({2})).Input(MakeTensor<int32_t>({1, 2}, {-1, 0}));
  ExpectError(bad.Run(), kInvalid, "non-negative");
}

TEST(MirrorPadTest, BothModesAndTheGradient) {
  for (const auto& [mode, want] : {std::pair<const char*, std::vector<float>>{
                                       "REFLECT", {2, 1, 0, 1, 2, 1}},
                                   {"SYMMETRIC", {1, 0, 0, 1, 2, 2}}}) {
    OpTester t("MirrorPad");
    t.Attr("mode", mode)
        .Input(Iota({3}))
        .Input(MakeTensor<int32_t>({1, 2}, {2, 1}));
    ASSERT_TRUE(t.Run().ok());
    ExpectEqual(t.Output(0), MakeTensor<float>({6}, want));
  }
  OpTester corner("MirrorPad");
  corner.Attr("mode", "SYMMETRIC")
      .Input(MakeTensor<float>({2, 2}, {1, 2, 3, 4}))
      .Input(MakeTensor<int32_t>({2, 2}, {1, 0, 1, 0}));
  ASSERT_TRUE(corner.Run().ok());
  ExpectEqual(corner.Output(0),
              MakeTensor<float>({3, 3}, {1, 1, 2, 1, 1, 2, 3, 3, 4}));
  OpTester grad("MirrorPadGrad");
  grad.Attr("mode", "SYMMETRIC")
      .Input(Iota({3, 3}))
      .Input(MakeTensor<int32_t>({2, 2}, {1, 0, 1, 0}));
  ASSERT_TRUE(grad.Run().ok());
  ExpectEqual(grad.Output(0), MakeTensor<float>({2, 2}, {8, 7, 13, 8}));
  OpTester bad("MirrorPad");
  bad.Attr("mode", "REFLECT")
      .Input(Iota({3}))
      .Input(MakeTensor<int32_t>({1, 2}, {3, 0}));
  ExpectError(bad.Run(), kInvalid, "less than the dimension size");
}

TEST(ReverseTest, AxesAndSequences) {
  OpTester t("ReverseV2");
  t.Input(Iota({2, 3})).Input(Ints({-1}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 3}, {2, 1, 0, 5, 4, 3}));
  OpTester twice("ReverseV2");
  twice.Input(Iota({2, 3})).Input(Ints({1, -1}));
  ExpectError(twice.Run(), kInvalid, "more than once");
  OpTester seq("ReverseSequence");
  seq.Attr("seq_dim", 1)
      .Input(Iota({3, 3}))
      .Input(MakeTensor<int64_t>({3}, {0, 2, 3}));
  ASSERT_TRUE(seq.Run().ok());
  ExpectEqual(seq.Output(0),
              MakeTensor<float>({3, 3}, {0, 1, 2, 4, 3, 5, 8, 7, 6}));
}

TEST(RollTest, RepeatedAxesAddUp) {
  OpTester t("Roll");
  t.Input(Iota({2, 3})).Input(Ints({1, 1, 3})).Input(Ints({0, 1, 1}));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 3}, {5, 3, 4, 2, 0, 1}));
}

TEST(SpaceBatchTest, TheOffsetIsTheMajorPart) {
  OpTester t("SpaceToBatchND");
  t.Input(Iota({1, 4}))
      .Input(Ints({2}))
      .Input(Tensor(MakeTensor<int32_t>({1, 2}, {0, 0})));
  ASSERT_TRUE(t.Run().ok());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {0, 2, 1, 3}));
  OpTester padded("SpaceToBatchND");
  padded.Input(Iota({1, 3}))
      .Input(Ints({2}))
      .Input(MakeTensor<int32_t>({1, 2}, {1, 0}));
  ASSERT_TRUE(padded.Run().ok());
  ExpectEqual(padded.Output(0), MakeTensor<float>({2, 2}, {0, 1, 0, 2}));
  OpTester back("BatchToSpaceND");
  back.Input(padded.Output(0))
      .Input(Ints({2}))
      .Input(MakeTensor<int32_t>({1, 2}, {1, 0}));
  ASSERT_TRUE(back.Run().ok());
  ExpectEqual(back.Output(0), Iota({1, 3}));
}

TEST(SpaceDepthTest, BothFormatsAndBack) {
  for (const char* format : {"NHWC", "NCHW"}) {
    const bool nhwc = std::string(format) == "NHWC";
    OpTester t("SpaceToDepth");
    t.Attr("block_size", 2)
        .Attr("data_format", format)
        .Input(
            Iota(nhwc ? TensorShape({1, 2, 2, 1}) : TensorShape({1, 1, 2, 2})));
    ASSERT_TRUE(t.Run().ok());
    ExpectEqual(t.Output(0), MakeTensor<float>(nhwc ? TensorShape({1, 1, 1, 4})
                                                    : TensorShape({1, 4, 1, 1}),
                                               {0, 1, 2, 3}));
    OpTester back("DepthToSpace");
    back.Attr("block_size", 2).Attr("data_format", format).Input(t.Output(0));
    ASSERT_TRUE(back.Run().ok());
    EXPECT_EQ(back.Output(0).tensor_data(), Iota({1, 2, 2, 1}).tensor_data());
  }
}

}  // namespace
}  // namespace headrace
