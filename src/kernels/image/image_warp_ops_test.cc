// Images resampled, transformed and cut out, and convolved so; what is expected
// was computed by TensorFlow.
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Pair(int32_t a, int32_t b) { return MakeTensor<int32_t>({2}, {a, b}); }
Tensor Floats(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}
Tensor Ramp(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.data<float>()[i] = static_cast<float>(i);
  }
  return t;
}
Tensor Picture() {
  return MakeTensor<float>({1, 3, 4, 1}, {4.2f, 7.2f, 0, 3, 1.5f, 0.9f, 1.9f,
                                          3.5f, 4, 5.4f, 4.2f, 6.9f});
}

TEST(ScaleAndTranslateTest, Kernels) {
  const struct {
    const char* kernel;
    bool antialias;
    std::vector<float> want;
  } cases[] = {
      {"lanczos1",
       true,
       {3.414298f, 5.205991f, 2.950513f, 0.7399995f, 3.132395f, 0, 3.266708f,
        4.015457f, 3.796247f, 3.685431f, 5.882276f, 0}},
      {"lanczos1",
       false,
       {4.112986f, 6.759586f, 3.515384f, 0.2770416f, 3.001901f, 0, 3.911629f,
        5.135325f, 4.66923f, 4.295533f, 6.753598f, 0}},
      {"lanczos3",
       true,
       {3.270839f, 4.85635f, 2.546283f, 0.6684998f, 2.837652f, 0, 3.016633f,
        3.46642f, 3.249311f, 3.939583f, 5.614455f, 0}},
      {"lanczos3",
       false,
       {4.00002f, 6.382295f, 3.167893f, 0.107268f, 2.697161f, 0, 3.661464f,
        4.531165f, 4.104196f, 4.463742f, 6.395346f, 0}},
      {"lanczos5",
       true,
       {3.281824f, 4.821149f, 2.462142f, 0.6798901f, 2.781284f, 0, 3.016915f,
        3.475251f, 3.113507f, 3.957326f, 5.590528f, 0}},
      {"lanczos5",
       false,
       {4.011378f, 6.328444f, 3.086473f, 0.04704964f, 2.561507f, 0, 3.647683f,
        4.480659f, 3.980729f, 4.546639f, 6.418316f, 0}},
      {"gaussian",
       true,
       {3.458082f, 4.287269f, 2.867352f, 1.647934f, 3.009883f, 0, 3.221826f,
        3.660214f, 3.505631f, 3.711764f, 5.108641f, 0}},
      {"gaussian",
       false,
       {3.979975f, 5.135592f, 3.141061f, 1.25287f, 2.691048f, 0, 3.628459f,
        4.20262f, 4.090731f, 4.323561f, 5.813706f, 0}},
      {"box",
       true,
       {4.2f, 7.2f, 3.6f, 0, 3, 0, 2.75f, 3.15f, 3.1f, 3.05f, 5.2f, 0}},
      {"box", false, {4.2f, 7.2f, 3.6f, 0, 3, 0, 4, 5.4f, 4.8f, 4.2f, 6.9f, 0}},
      {"triangle",
       true,
       {3.358163f, 4.582653f, 2.814286f, 1.214286f, 3.000001f, 0, 3.156122f,
        3.645918f, 3.585714f, 3.872959f, 5.520919f, 0}},
      {"triangle",
       false,
       {3.921429f, 5.635715f, 3.233333f, 0.9095241f, 2.885715f, 0, 3.659523f,
        4.421428f, 4.233333f, 4.355952f, 6.153572f, 0}},
      {"keyscubic",
       true,
       {3.272319f, 4.855974f, 2.692323f, 0.7705901f, 2.968868f, 0, 3.081925f,
        3.566277f, 3.451595f, 3.848771f, 5.633568f, 0}},
      {"keyscubic",
       false,
       {3.986925f, 6.374749f, 3.296211f, 0.2972759f, 2.887339f, 0, 3.73524f,
        4.669879f, 4.299904f, 4.366369f, 6.409846f, 0}},
      {"mitchellcubic",
       true,
       {3.348244f, 4.522171f, 2.752744f, 1.224954f, 2.973917f, 0, 3.125699f,
        3.583911f, 3.450211f, 3.783514f, 5.353067f, 0}},
      {"mitchellcubic",
       false,
       {3.977783f, 5.696501f, 3.195269f, 0.8011747f, 2.774848f, 0, 3.667961f,
        4.390283f, 4.166262f, 4.363122f, 6.087027f, 0}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.kernel << " " << c.antialias);
    OpTester t("ScaleAndTranslate");
    t.Attr("kernel_type", std::string(c.kernel));
    t.Attr("antialias", c.antialias);
    t.Input(Picture()).Input(Pair(2, 6)).Input(Floats({0.6f, 1.4f}));
    t.Input(Floats({0.1f, -0.3f}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({1, 2, 6, 1}, c.want), 1e-5,
                1e-5);
  }
}

TEST(ScaleAndTranslateTest, Gradients) {
  const struct {
    const char* kernel;
    bool antialias;
    std::vector<float> want;
  } cases[] = {{"triangle",
                true,
                {0.1377551f, 1.1479592f, 2.3418360f, 2.8010218f, 2.6020408f,
                 4.1836734f, 5.5102019f, 5.5612264f, 4.5459185f, 6.3826532f,
                 7.5765276f, 7.2091861f}},
               {"lanczos3",
                false,
                {-0.2392243f, 1.1312747f, 3.0706717f, 3.2925758f, 0.9880444f,
                 1.8992866f, 2.6157777f, 2.2928343f, 5.5880923f, 9.1506863f,
                 11.0900812f, 9.1198940f}}};
  for (const auto& c : cases) {
    OpTester t("ScaleAndTranslateGrad");
    t.Attr("kernel_type", std::string(c.kernel));
    t.Attr("antialias", c.antialias);
    t.Input(Ramp({1, 2, 6, 1})).Input(Picture()).Input(Floats({0.6f, 1.4f}));
    t.Input(Floats({0.1f, -0.3f}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({1, 3, 4, 1}, c.want), 1e-5,
                1e-5);
  }
}

TEST(ScaleAndTranslateTest, EdgesAndRefusals) {
  const auto run = [](Tensor image, Tensor size, std::vector<float> scale,
                      std::vector<float> translation,
                      const char* kernel = "lanczos3") {
    OpTester t("ScaleAndTranslate");
    t.Attr("kernel_type", std::string(kernel));
    t.Input(std::move(image)).Input(std::move(size)).Input(Floats(scale));
    t.Input(Floats(translation));
    return t.Run();
  };
  const float kInf = std::numeric_limits<float>::infinity();
  for (float s : {1e-45f, 1e-30f, 1e30f, kInf}) {
    for (float d : {kNan, -kInf, kInf, 1e38f, -1e38f}) {
      EXPECT_EQ(run(Picture(), Pair(2, 6), {s, 1}, {d, d}), OkStatus());
    }
  }
  EXPECT_EQ(run(Ramp({0, 3, 4, 1}), Pair(2, 6), {1, 1}, {0, 0}), OkStatus());
  EXPECT_EQ(
      run(MakeTensor<uint8_t>({1, 1, 1, 1}, {9}), Pair(2, 6), {1, 1}, {0, 0}),
      OkStatus());
  for (float s : {0.0f, -1.0f, kNan}) {
    ExpectError(run(Picture(), Pair(2, 6), {s, 1}, {0, 0}), kInvalid,
                "Scale must be greater than zero");
  }
  ExpectError(run(Picture(), Pair(0, 6), {1, 1}, {0, 0}), kInvalid,
              "output dimensions must be positive");
  ExpectError(run(Picture(), Pair(2, 6), {1}, {0, 0}), kInvalid, "scale must");
  ExpectError(run(Picture(), Pair(2, 6), {1, 1}, {0}), kInvalid,
              "translation must");
  ExpectError(run(Picture(), Pair(2, 6), {1, 1}, {0, 0}, "foo"), kInvalid,
              "Unrecognized kernel type: foo");
  ExpectError(run(Ramp({3, 4, 1}), Pair(2, 6), {1, 1}, {0, 0}), kInvalid,
              "4-dimensional");
  ExpectError(run(Ramp({1, 0, 4, 1}), Pair(2, 6), {1, 1}, {0, 0}), kInvalid,
              "non-zero size");
  ExpectError(run(Picture(), Pair(1 << 25, 1), {1, 1}, {0, 0}), kInvalid,
              "no side of an image");
}

TEST(ImageProjectiveTransformTest, FillModes) {
  const struct {
    const char *interpolation, *mode;
    std::vector<float> want;
  } cases[] = {
      {"NEAREST", "CONSTANT", {-1, -1, -1, 8,  9,  -1, -1, -1, -1, -1,
                               -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}},
      {"NEAREST", "REFLECT", {10, 9, 8, 8, 9, 6, 9, 8, 8, 9,
                              2,  1, 4, 4, 5, 2, 0, 0, 1, 2}},
      {"NEAREST", "WRAP", {3, 2, 3, 0, 9, 5, 2, 3, 0, 1,
                           1, 2, 3, 0, 1, 1, 3, 3, 1, 2}},
      {"NEAREST", "NEAREST", {8, 8, 8, 8, 9, 8, 8, 8, 8, 9,
                              8, 8, 8, 8, 9, 8, 8, 8, 9, 10}},
      {"BILINEAR",
       "CONSTANT",
       {-1, -1, -0.8512111f, 7.650485f, 8.653847f, -1, -1, -1, -1, -1,
        -1, -1, -1,          -1,        -1,        -1, -1, -1, -1, -1}},
      {"BILINEAR", "REFLECT", {10,         8.980198f, 8,          8,
                               8.653847f,  7.571428f, 7.080808f,  6.799999f,
                               7.524753f,  9.019608f, 2.541665f,  2.092785f,
                               2.040815f,  3.030303f, 4.599999f,  1.808511f,
                               0.4736842f, 0,         0.6185566f, 1.632653f}},
      {"BILINEAR", "WRAP", {3,          2.019802f,  3,          0,
                            8.653847f,  3.428571f,  3.919192f,  4.200001f,
                            0.8712872f, 1.333334f,  1.291667f,  2.350515f,
                            3,          0.4040405f, 1.4f,       1.446808f,
                            2.526316f,  3,          0.6185566f, 1.632653f}},
      {"BILINEAR",
       "NEAREST",
       {8, 8, 8, 8,         8.653847f, 8, 8, 8, 8.19802f,  9.176471f,
        8, 8, 8, 8.404041f, 9.4f,      8, 8, 8, 8.618557f, 9.632652f}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.interpolation << " " << c.mode);
    OpTester t("ImageProjectiveTransformV3");
    t.Attr("interpolation", std::string(c.interpolation));
    t.Attr("fill_mode", std::string(c.mode));
    t.Input(Ramp({1, 3, 4, 1}));
    t.Input(MakeTensor<float>({1, 8},
                              {1, 0.2f, -3, -0.1f, 1.1f, 2.4f, 0.01f, -0.02f}));
    t.Input(Pair(4, 5)).Input(MakeScalar(-1.0f));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({1, 4, 5, 1}, c.want), 1e-4,
                1e-4);
  }
}

TEST(ImageProjectiveTransformTest, EdgesAndRefusals) {
  const auto run = [](OpTester* t, Tensor images, Tensor transforms,
                      const char* interpolation = "BILINEAR",
                      const char* mode = "CONSTANT") {
    t->Attr("interpolation", std::string(interpolation));
    t->Attr("fill_mode", std::string(mode));
    t->Input(std::move(images)).Input(std::move(transforms)).Input(Pair(2, 3));
    return t->Run();
  };
  const Tensor image = Ramp({1, 3, 4, 1});
  // k is 0 in the second column.
  OpTester pole("ImageProjectiveTransformV2");
  ASSERT_EQ(
      run(&pole, image, MakeTensor<float>({1, 8}, {1, 0, 0, 0, 1, 0, -1, 0})),
      OkStatus());
  ExpectEqual(pole.Output(0),
              MakeTensor<float>({1, 2, 3, 1}, {0, 0, 0, 4, 0, 0}));
  for (const char* mode : {"CONSTANT", "REFLECT", "WRAP", "NEAREST"}) {
    for (const char* interpolation : {"NEAREST", "BILINEAR"}) {
      for (float v : {kNan, 1e30f, -1e30f, 3e38f}) {
        for (const TensorShape& s :
             {TensorShape({1, 3, 4, 1}), TensorShape({1, 1, 1, 1}),
              TensorShape({1, 0, 2, 1})}) {
          OpTester t("ImageProjectiveTransformV2");
          EXPECT_EQ(run(&t, Ramp(s),
                        MakeTensor<float>({1, 8}, {v, 0, 0, 0, 1, 0, v, 0}),
                        interpolation, mode),
                    OkStatus());
          Tensor bytes(DT_UINT8, s);
          std::fill_n(bytes.data<uint8_t>(), bytes.NumElements(), uint8_t{7});
          OpTester u("ImageProjectiveTransformV2");
          EXPECT_EQ(run(&u, bytes,
                        MakeTensor<float>({1, 8}, {1, 0, v, 0, 1, v, 0, 0}),
                        interpolation, mode),
                    OkStatus());
        }
      }
    }
  }
  OpTester large("ImageProjectiveTransformV2");
  large.Attr("interpolation", std::string("NEAREST"));
  large.Input(image).Input(Ramp({1, 8})).Input(Pair(1, INT32_MAX));
  ExpectError(large.Run(), kInvalid, "no side of the output may exceed");
  const auto refused = [&](Tensor images, Tensor transforms,
                           const char* message, const char* interpolation,
                           const char* mode) {
    OpTester t("ImageProjectiveTransformV2");
    ExpectError(
        run(&t, std::move(images), std::move(transforms), interpolation, mode),
        kInvalid, message);
  };
  refused(image, Ramp({1, 9}), "num_images x 8", "NEAREST", "WRAP");
  refused(image, Ramp({2, 8}), "num_images x 8", "NEAREST", "WRAP");
  refused(Ramp({3, 4, 1}), Ramp({1, 8}), "rank 4", "NEAREST", "WRAP");
  refused(image, Ramp({1, 8}), "NEAREST or BILINEAR", "FOO", "WRAP");
  refused(image, Ramp({1, 8}), "fill_mode must be", "NEAREST", "FOO");
}

TEST(ExtractGlimpseTest, Windows) {
  const struct {
    const char* op;
    bool centered, normalized;
    std::vector<float> want;
  } cases[] = {{"ExtractGlimpse", true, true, {0, 1, 4, 5, 8, 9}},
               {"ExtractGlimpseV2", true, true, {0, 1, 4, 5, 8, 9}},
               {"ExtractGlimpse", true, false, {0, 1, 4, 5, 8, 9}},
               {"ExtractGlimpseV2", true, false, {9, 10, 0, 0, 0, 0}},
               {"ExtractGlimpse", false, true, {0, 0, 0, 0, 0, 0}},
               {"ExtractGlimpseV2", false, true, {0, 0, 0, 0, 0, 0}},
               {"ExtractGlimpse", false, false, {0, 0, 0, 0, 0, 4}},
               {"ExtractGlimpseV2", false, false, {0, 1, 4, 5, 8, 9}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message()
                 << c.op << " " << c.centered << c.normalized);
    OpTester t(c.op);
    t.Attr("centered", c.centered).Attr("normalized", c.normalized);
    t.Attr("uniform_noise", false).Attr("noise", std::string("zero"));
    t.Input(Ramp({1, 3, 4, 1})).Input(Pair(3, 2));
    t.Input(MakeTensor<float>({1, 2}, {0.5f, -0.75f}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({1, 3, 2, 1}, c.want));
  }
}

TEST(ExtractGlimpseTest, NoiseAndRefusals) {
  const auto run = [](OpTester* t, bool uniform, const char* noise, Tensor size,
                      Tensor offsets) {
    t->Attr("uniform_noise", uniform).Attr("noise", std::string(noise));
    t->Input(Ramp({1, 3, 4, 1})).Input(std::move(size));
    t->Input(std::move(offsets));
    return t->Run();
  };
  for (const char* noise : {"uniform", "gaussian"}) {
    OpTester t("ExtractGlimpse");
    ASSERT_EQ(run(&t, noise[0] == 'u', noise, Pair(50, 3),
                  MakeTensor<float>({1, 2}, {0.9f, 0})),
              OkStatus());
    const float* y = t.Output(0).data<float>();
    bool differ = false;
    for (int i = 0; i < 150; ++i) {
      differ = differ || y[i] != y[0];
      EXPECT_TRUE(noise[0] != 'u' || (y[i] >= 0 && y[i] <= 11)) << y[i];
      EXPECT_TRUE(std::abs(y[i]) < 100);
    }
    EXPECT_TRUE(differ);
  }
  for (float v : {kNan, 1e30f, -1e30f}) {
    OpTester t("ExtractGlimpseV2");
    ASSERT_EQ(
        run(&t, false, "zero", Pair(2, 1), MakeTensor<float>({1, 2}, {v, v})),
        OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({1, 2, 1, 1}, {0, 0}));
  }
  const Tensor origin = MakeTensor<float>({1, 2}, {0, 0});
  OpTester both("ExtractGlimpse"), unknown("ExtractGlimpse"),
      negative("ExtractGlimpse"), many("ExtractGlimpse");
  ExpectError(run(&both, true, "zero", Pair(2, 2), origin), kInvalid,
              "could not be specified at the same time");
  ExpectError(run(&unknown, false, "foo", Pair(2, 2), origin), kInvalid,
              "got 'foo'");
  ExpectError(run(&negative, false, "zero", Pair(-2, 2), origin), kInvalid,
              "size must not be negative");
  OpTester large("ExtractGlimpse");
  ExpectError(run(&large, false, "zero", Pair(1, INT32_MAX), origin), kInvalid,
              "no side of a glimpse may exceed");
  ExpectError(run(&many, false, "zero", Pair(2, 2), Ramp({2, 2})), kInvalid,
              "offsets must be [1, 2]");
}

TEST(FusedPadConvTest, Results) {
  const struct {
    const char *op, *mode, *padding;
    bool align;
    TensorShape shape;
    std::vector<float> want;
  } cases[] = {
      {"FusedPadConv2D",
       "REFLECT",
       "SAME",
       false,
       {1, 3, 7, 1},
       {29.5f, 24, 29.5f, 35,    40.5f, 35,    4,  25.5f, 20, 25.5f, 31,
        36.5f, 31, -4,    14.5f, 12,    14.5f, 17, 19.5f, 17, 4}},
      {"FusedResizeAndPadConv2D",
       "REFLECT",
       "SAME",
       false,
       {1, 4, 6, 1},
       {21.73333f, 14.4f, 21.73333f, 29.06667f, 21.73333f, 2.4f,
        33.73333f, 26.4f, 33.73333f, 41.06667f, 33.73333f, -2.4f,
        46.53333f, 39.2f, 46.53333f, 53.86667f, 46.53333f, -0.8000002f,
        22.53333f, 19.2f, 22.53333f, 25.86667f, 22.53333f, 2.399999f}},
      {"FusedResizeAndPadConv2D",
       "REFLECT",
       "SAME",
       true,
       {1, 4, 6, 1},
       {20.25f, 12,    20.25f, 28.5f, 20.25f, 2,     30.25f, 22,
        30.25f, 38.5f, 30.25f, -2,    40.25f, 32,    40.25f, 48.5f,
        40.25f, -2,    19.75f, 16,    19.75f, 23.5f, 19.75f, 2}},
      {"FusedPadConv2D",
       "REFLECT",
       "VALID",
       false,
       {1, 2, 6, 1},
       {29.5f, 24, 29.5f, 35, 40.5f, 35, 25.5f, 20, 25.5f, 31, 36.5f, 31}},
      {"FusedResizeAndPadConv2D",
       "REFLECT",
       "VALID",
       false,
       {1, 3, 5, 1},
       {21.73333f, 14.4f, 21.73333f, 29.06667f, 21.73333f, 33.73333f, 26.4f,
        33.73333f, 41.06667f, 33.73333f, 46.53333f, 39.2f, 46.53333f, 53.86667f,
        46.53333f}},
      {"FusedResizeAndPadConv2D",
       "REFLECT",
       "VALID",
       true,
       {1, 3, 5, 1},
       {20.25f, 12, 20.25f, 28.5f, 20.25f, 30.25f, 22, 30.25f, 38.5f, 30.25f,
        40.25f, 32, 40.25f, 48.5f, 40.25f}},
      {"FusedPadConv2D",
       "SYMMETRIC",
       "SAME",
       false,
       {1, 3, 7, 1},
       {12,    12,    17.5f, 23, 28.5f, 28.5f, 0,  32,    32,    37.5f, 43,
        48.5f, 48.5f, -4,    22, 22,    24.5f, 27, 29.5f, 29.5f, 4}},
      {"FusedResizeAndPadConv2D",
       "SYMMETRIC",
       "SAME",
       false,
       {1, 4, 6, 1},
       {7.2f,  7.2f,  14.53333f, 21.86667f, 21.86667f, 0,
        26.4f, 26.4f, 33.73333f, 41.06667f, 41.06667f, -2.400001f,
        41.6f, 41.6f, 48.93333f, 56.26667f, 56.26667f, -0.8000002f,
        20.4f, 20.4f, 23.73333f, 27.06667f, 27.06667f, 0.8000002f}},
      {"FusedResizeAndPadConv2D",
       "SYMMETRIC",
       "SAME",
       true,
       {1, 4, 6, 1},
       {6,  6,  14.25f, 22.5f, 22.5f, 0,  22, 22, 30.25f, 38.5f, 38.5f, -2,
        38, 38, 46.25f, 54.5f, 54.5f, -2, 21, 21, 24.75f, 28.5f, 28.5f, 2}},
      {"FusedPadConv2D",
       "SYMMETRIC",
       "VALID",
       false,
       {1, 2, 6, 1},
       {12, 12, 17.5f, 23, 28.5f, 28.5f, 32, 32, 37.5f, 43, 48.5f, 48.5f}},
      {"FusedResizeAndPadConv2D",
       "SYMMETRIC",
       "VALID",
       false,
       {1, 3, 5, 1},
       {7.2f, 7.2f, 14.53333f, 21.86667f, 21.86667f, 26.4f, 26.4f, 33.73333f,
        41.06667f, 41.06667f, 41.6f, 41.6f, 48.93333f, 56.26667f, 56.26667f}},
      {"FusedResizeAndPadConv2D",
       "SYMMETRIC",
       "VALID",
       true,
       {1, 3, 5, 1},
       {6, 6, 14.25f, 22.5f, 22.5f, 22, 22, 30.25f, 38.5f, 38.5f, 38, 38,
        46.25f, 54.5f, 54.5f}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.op << c.mode << c.padding << c.align);
    const bool resizes = c.op[5] == 'R';
    OpTester t(c.op);
    t.Attr("mode", std::string(c.mode)).Attr("padding", std::string(c.padding));
    t.Attr("strides", std::vector<int64_t>{1, 2, 1, 1});
    if (resizes) t.Attr("resize_align_corners", c.align);
    t.Input(Ramp({1, 3, 4, 1}));
    if (resizes) t.Input(Pair(5, 3));
    t.Input(MakeTensor<int32_t>({4, 2}, {0, 0, 1, 2, 2, 1, 0, 0}));
    t.Input(MakeTensor<float>({3, 2, 1, 1}, {1, 2, -1, 0.5f, 0, 3}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>(c.shape, c.want));
  }
}

TEST(FusedPadConvTest, Refusals) {
  const auto run = [](Tensor image, std::vector<int32_t> pads, Tensor filter,
                      const char* mode = "REFLECT") {
    OpTester t("FusedPadConv2D");
    t.Attr("mode", std::string(mode)).Attr("padding", std::string("VALID"));
    t.Attr("strides", std::vector<int64_t>{1, 1, 1, 1});
    t.Input(std::move(image));
    t.Input(
        MakeTensor<int32_t>({static_cast<int64_t>(pads.size()) / 2, 2}, pads));
    t.Input(std::move(filter));
    return t.Run();
  };
  const Tensor image = Ramp({1, 3, 4, 1}), filter = Ramp({3, 2, 1, 1});
  const std::vector<int32_t> none(8, 0);
  EXPECT_EQ(run(image, {0, 0, 3, 3, 4, 4, 0, 0}, filter, "SYMMETRIC"),
            OkStatus());
  ExpectError(run(image, {0, 0, 3, 0, 0, 0, 0, 0}, filter), kInvalid,
              "paddings must be less than the dimension size: 3, 0");
  ExpectError(run(image, {0, 0, 0, -1, 0, 0, 0, 0}, filter), kInvalid,
              "non-negative: 0 -1");
  ExpectError(run(image, {1, 0, 0, 0, 0, 0, 0, 0}, filter, "SYMMETRIC"),
              kInvalid, "of the batch and the depth must be 0");
  ExpectError(run(image, {0, 0}, filter), kInvalid, "paddings must be [4, 2]");
  ExpectError(run(Ramp({3, 4, 1}), none, filter), kInvalid, "4-dimensional");
  ExpectError(run(Ramp({0, 3, 4, 1}), none, filter), kInvalid,
              "can't be empty");
  ExpectError(run(image, none, Ramp({3, 2, 2, 1})), kInvalid, "same depth");
  ExpectError(run(image, none, Ramp({9, 9, 1, 1})), kInvalid, "negative");
}

}  // namespace
}  // namespace headrace
