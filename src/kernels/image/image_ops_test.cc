// Resizing, cropping, colours, boxes: values that TensorFlow gives, and
// refusals.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Tensor Size(int32_t h, int32_t w) { return MakeTensor<int32_t>({2}, {h, w}); }

struct ResizeCase {
  const char* op;
  bool align_corners, half_pixel;
  std::vector<float> want;  // of [1, 2, 4, 8] made 6 pixels wide
};

TEST(ResizeTest, OneRow) {
  const ResizeCase cases[] = {
      {"ResizeBilinear",
       false,
       false,
       {1, 1.6666667f, 2.6666667f, 4, 6.6666667f, 8}},
      {"ResizeBilinear", true, false, {1, 1.6f, 2.4f, 3.6f, 5.6f, 8}},
      {"ResizeBilinear", false, true, {1, 1.5f, 2.3333333f, 3.6666667f, 6, 8}},
      {"ResizeNearestNeighbor", false, false, {1, 1, 2, 4, 4, 8}},
      {"ResizeNearestNeighbor", true, false, {1, 2, 2, 4, 4, 8}},
      {"ResizeNearestNeighbor", false, true, {1, 2, 2, 4, 8, 8}},
  };
  for (const ResizeCase& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.op, c.align_corners, c.half_pixel));
    OpTester t(c.op);
    t.Attr("align_corners", c.align_corners)
        .Attr("half_pixel_centers", c.half_pixel)
        .Input(MakeTensor<float>({1, 1, 4, 1}, {1, 2, 4, 8}))
        .Input(Size(1, 6));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({1, 1, 6, 1}, c.want));
  }
}

// A size that does not change: every method gives the image back.
TEST(ResizeTest, SameSize) {
  const Tensor image = MakeTensor<float>({1, 2, 3, 1}, {1, 7, 3, 4, 9, 6});
  for (const char* op : {"ResizeBilinear", "ResizeNearestNeighbor",
                         "ResizeBicubic", "ResizeArea"}) {
    SCOPED_TRACE(op);
    OpTester t(op);
    t.Input(image).Input(Size(2, 3));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), image);
  }
}

TEST(ResizeTest, AreaIsTheMean) {
  OpTester t("ResizeArea");
  t.Input(MakeTensor<uint8_t>({1, 2, 3, 1}, {1, 2, 3, 4, 5, 9}))
      .Input(Size(1, 2));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({1, 1, 2, 1}, {(1 + 4 + 0.5f * (2 + 5)) / 3,
                                               (3 + 9 + 0.5f * (2 + 5)) / 3}));
}

TEST(ResizeTest, Refusals) {
  const Tensor image = MakeTensor<float>({1, 1, 1, 1}, {1});
  OpTester zero("ResizeBilinear");
  zero.Input(image).Input(Size(0, 1));
  ExpectError(zero.Run(), kInvalid, "output dimensions must be positive");
  OpTester both("ResizeBilinear");
  both.Attr("align_corners", true).Attr("half_pixel_centers", true);
  both.Input(image).Input(Size(2, 1));
  ExpectError(both.Run(), kInvalid,
              "If half_pixel_centers is True, align_corners must be False.");
  OpTester rank("ResizeNearestNeighbor");
  rank.Input(MakeTensor<float>({1}, {1})).Input(Size(2, 1));
  ExpectError(rank.Run(), kInvalid, "must be 4-dimensional, got [1]");
  OpTester empty("ResizeBicubic");
  empty.Input(MakeTensor<float>({1, 0, 1, 1}, {})).Input(Size(2, 1));
  ExpectError(empty.Run(), kInvalid, "must be of non-zero size");
  OpTester huge("ResizeArea");
  huge.Input(image).Input(Size(2147483647, 1));
  EXPECT_FALSE(huge.Run().ok());
}

TEST(CropAndResizeTest, FlipsAndExtrapolates) {
  OpTester t("CropAndResize");
  t.Attr("extrapolation_value", -1.0f)
      .Input(MakeTensor<float>({1, 1, 3, 1}, {1, 2, 3}))
      .Input(MakeTensor<float>({2, 4}, {0, 1, 0, 0, 0, -1, 0, 1}))
      .Input(MakeTensor<int32_t>({2}, {0, 0}))
      .Input(Size(1, 3));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0),
              MakeTensor<float>({2, 1, 3, 1}, {3, 2, 1, -1, 1, 3}));
}

TEST(CropAndResizeTest, Refusals) {
  OpTester index("CropAndResize");
  index.Input(MakeTensor<float>({1, 1, 1, 1}, {1}))
      .Input(MakeTensor<float>({1, 4}, {0, 0, 1, 1}))
      .Input(MakeTensor<int32_t>({1}, {1}))
      .Input(Size(1, 1));
  ExpectError(index.Run(), absl::StatusCode::kOutOfRange,
              "box_index has values outside [0, batch_size)");
  OpTester nan("CropAndResize");
  nan.Input(MakeTensor<float>({1, 1, 1, 1}, {1}))
      .Input(MakeTensor<float>({1, 4}, {NAN, INFINITY, NAN, -INFINITY}))
      .Input(MakeTensor<int32_t>({1}, {0}))
      .Input(Size(1, 1));
  ASSERT_EQ(nan.Run(), OkStatus());
  ExpectClose(nan.Output(0), MakeTensor<float>({1, 1, 1, 1}, {0}));
}

TEST(ColourTest, RoundTripAndHue) {
  const Tensor rgb = MakeTensor<float>(
      {4, 3}, {0.2f, 0.4f, 0.9f, 0.5f, 0.5f, 0.5f, 0, 0, 0, 0.9f, 0.1f, 0.3f});
  OpTester hsv("RGBToHSV");
  hsv.Input(rgb);
  ASSERT_EQ(hsv.Run(), OkStatus());
  EXPECT_EQ(hsv.Output(0).data<float>()[3], 0);  // grey: no hue
  EXPECT_EQ(hsv.Output(0).data<float>()[4], 0);  // and no saturation
  OpTester back("HSVToRGB");
  back.Input(hsv.Output(0));
  ASSERT_EQ(back.Run(), OkStatus());
  ExpectClose(back.Output(0), rgb);
  OpTester hue("AdjustHue");  // a third of a turn moves channels on by one
  hue.Input(MakeTensor<float>({1, 1, 3}, {0.9f, 0.1f, 0.3f}))
      .Input(MakeScalar<float>(1.0f / 3));
  ASSERT_EQ(hue.Run(), OkStatus());
  ExpectClose(hue.Output(0), MakeTensor<float>({1, 1, 3}, {0.3f, 0.9f, 0.1f}));
  OpTester channels("RGBToHSV");
  channels.Input(MakeTensor<float>({1, 2}, {1, 2}));
  ExpectError(channels.Run(), kInvalid, "last dimension of size 3");
}

TEST(ColourTest, Contrast) {
  OpTester t("AdjustContrastv2");
  t.Input(MakeTensor<float>({1, 2, 2}, {1, 10, 3, 30}))
      .Input(MakeScalar<float>(2));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<float>({1, 2, 2}, {0, 0, 4, 40}));
}

Tensor Boxes() {  // the second nearly the first, the third elsewhere
  return MakeTensor<float>({3, 4}, {0, 0, 1, 1, 1, .95f, 0, 0, 2, 2, 3, 3});
}

TEST(NonMaxSuppressionTest, Versions) {
  const Tensor scores = MakeTensor<float>({3}, {0.8f, 0.9f, 0.9f});
  OpTester v3("NonMaxSuppressionV3");
  v3.Input(Boxes()).Input(scores).Input(MakeScalar<int32_t>(3));
  v3.Input(MakeScalar(0.5f)).Input(MakeScalar(0.0f));
  ASSERT_EQ(v3.Run(), OkStatus());
  ExpectEqual(v3.Output(0), MakeTensor<int32_t>({2}, {1, 2}));
  OpTester v4("NonMaxSuppressionV4");
  v4.Attr("pad_to_max_output_size", true);
  v4.Input(Boxes()).Input(scores).Input(MakeScalar<int32_t>(4));
  v4.Input(MakeScalar(0.5f)).Input(MakeScalar(0.0f));
  ASSERT_EQ(v4.Run(), OkStatus());
  ExpectEqual(v4.Output(0), MakeTensor<int32_t>({4}, {1, 2, 0, 0}));
  ExpectEqual(v4.Output(1), MakeScalar<int32_t>(2));
  OpTester v5("NonMaxSuppressionV5");
  v5.Input(Boxes()).Input(scores).Input(MakeScalar<int32_t>(3));
  v5.Input(MakeScalar(0.5f)).Input(MakeScalar(0.0f)).Input(MakeScalar(0.5f));
  ASSERT_EQ(v5.Run(), OkStatus());
  ExpectEqual(v5.Output(0), MakeTensor<int32_t>({3}, {1, 2, 0}));
  ExpectClose(
      v5.Output(1),
      MakeTensor<float>({3}, {0.9f, 0.9f, 0.8f * std::exp(-.95f * .95f)}));
}

TEST(NonMaxSuppressionTest, NotNumbers) {
  OpTester t("NonMaxSuppressionV3");
  t.Input(Boxes()).Input(MakeTensor<float>({3}, {NAN, 1, NAN}));
  t.Input(MakeScalar<int32_t>(3)).Input(MakeScalar(0.5f));
  t.Input(MakeScalar(0.0f));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({1}, {1}));
  OpTester threshold("NonMaxSuppressionV2");
  threshold.Input(Boxes()).Input(MakeTensor<float>({3}, {1, 1, 1}));
  threshold.Input(MakeScalar<int32_t>(3)).Input(MakeScalar(1.5f));
  ExpectError(threshold.Run(), kInvalid, "iou_threshold must be in [0, 1]");
  OpTester scores("NonMaxSuppression");
  scores.Input(Boxes()).Input(MakeTensor<float>({2}, {1, 1}));
  scores.Input(MakeScalar<int32_t>(3));
  ExpectError(scores.Run(), kInvalid, "scores has incompatible shape");
}

TEST(DrawBoundingBoxesTest, OutlineAndOutside) {
  OpTester t("DrawBoundingBoxes");
  t.Input(MakeTensor<float>({1, 3, 3, 1}, std::vector<float>(9, 0)))
      .Input(MakeTensor<float>(
          {1, 3, 4}, {0, 0, 1, 1, 2, 2, 3, 3, NAN, 0, INFINITY, -INFINITY}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<float>({1, 3, 3, 1}, {1, 1, 1, 1, 0, 1, 1, 1, 1}));
}

TEST(LoggingTest, Assert) {
  OpTester t("Assert");
  t.Attr("summarize", 2).Input(MakeScalar<bool>(false));
  t.Input(MakeTensor<int32_t>({3}, {1, 2, 3}))
      .Input(MakeScalar(tstring("hey")));
  ExpectError(t.Run(), kInvalid, "assertion failed: [1 2...] [hey]");
}

TEST(ExtractVolumePatchesTest, Results) {
  std::vector<float> x(18);
  for (int i = 0; i < 18; ++i) x[i] = static_cast<float>(i);
  const Tensor volume = MakeTensor<float>({1, 2, 3, 3, 1}, x);
  const auto run = [&](const Tensor& in, std::vector<int64_t> ksizes,
                       const char* padding, OpTester* t) {
    t->Attr("ksizes", ksizes).Attr("padding", std::string(padding));
    t->Attr("strides", std::vector<int64_t>{1, 1, 2, 1, 1}).Input(in);
    return t->Run();
  };
  OpTester same("ExtractVolumePatches"), valid("ExtractVolumePatches");
  ASSERT_EQ(run(volume, {1, 2, 2, 2, 1}, "SAME", &same), OkStatus());
  ExpectEqual(
      same.Output(0),
      MakeTensor<float>(
          {1, 2, 2, 3, 8},
          {0,  1,  3,  4,  9,  10, 12, 13, 1,  2,  4,  5,  10, 11, 13, 14,
           2,  0,  5,  0,  11, 0,  14, 0,  6,  7,  0,  0,  15, 16, 0,  0,
           7,  8,  0,  0,  16, 17, 0,  0,  8,  0,  0,  0,  17, 0,  0,  0,
           9,  10, 12, 13, 0,  0,  0,  0,  10, 11, 13, 14, 0,  0,  0,  0,
           11, 0,  14, 0,  0,  0,  0,  0,  15, 16, 0,  0,  0,  0,  0,  0,
           16, 17, 0,  0,  0,  0,  0,  0,  17, 0,  0,  0,  0,  0,  0,  0}));
  ASSERT_EQ(run(volume, {1, 2, 2, 2, 1}, "VALID", &valid), OkStatus());
  ExpectEqual(valid.Output(0),
              MakeTensor<float>({1, 1, 1, 2, 8}, {0, 1, 3, 4, 9, 10, 12, 13, 1,
                                                  2, 4, 5, 10, 11, 13, 14}));
  OpTester empty("ExtractVolumePatches"), large("ExtractVolumePatches"),
      rank("ExtractVolumePatches"), batch("ExtractVolumePatches"),
      short_sizes("ExtractVolumePatches");
  EXPECT_EQ(run(MakeTensor<float>({0, 2, 3, 3, 1}, {}), {1, 2, 2, 2, 1}, "SAME",
                &empty),
            OkStatus());
  ExpectError(run(volume, {1, 5, 2, 2, 1}, "VALID", &large), kInvalid,
              "negative");
  ExpectError(
      run(MakeTensor<float>({1, 1, 1, 1}, {0}), {1, 1, 1, 1, 1}, "SAME", &rank),
      kInvalid, "5-dimensional");
  ExpectError(run(volume, {2, 1, 1, 1, 1}, "SAME", &batch),
              absl::StatusCode::kUnimplemented, "across space");
  ExpectError(run(volume, {1, 1, 1, 1, 1, 1}, "SAME", &short_sizes), kInvalid,
              "ksizes must have 5 elements");
}

}  // namespace
}  // namespace headrace
