// Values are TensorFlow 2.21's.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

// `n` numbers in [0, 1) that repeat only after 101.
std::vector<float> Numbers(int n, float offset) {
  std::vector<float> v;
  for (int i = 0; i < n; ++i) {
    v.push_back(static_cast<float>(i * 7919 % 101) / 101.0f + offset);
  }
  return v;
}

TEST(AudioOpsTest, Spectrogram) {
  OpTester t("AudioSpectrogram");
  t.Attr("window_size", int64_t{5}).Attr("stride", int64_t{3});
  t.Input(MakeTensor<float>({12, 2}, Numbers(24, -0.5f)));
  ASSERT_EQ(t.Run(), OkStatus());
  const std::vector<float> want = {
      0.07425742f,  0.25190356f, 0.25925538f, 0.082602546f, 0.02482529f,
      0.086633645f, 0.42540118f, 0.62629324f, 0.6208588f,   0.5838423f,
      0.24752475f,  0.31125888f, 0.269794f,   0.082759246f, 0.024825292f,
      0.16089112f,  0.43816203f, 0.6277589f,  0.62086564f,  0.5838423f,
      0.32178217f,  0.34961066f, 0.27751812f, 0.08287786f,  0.024825295f,
      0.4218352f,   0.46780473f, 0.48714748f, 0.39856905f,  0.32066622f};
  ExpectClose(t.Output(0), MakeTensor<float>({2, 3, 5}, want), 2e-6);
  std::vector<float> squared;
  for (float v : want) squared.push_back(v * v);
  t.Attr("magnitude_squared", true);
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<float>({2, 3, 5}, squared), 4e-6);
}

TEST(AudioOpsTest, SpectrogramOfTooFewSamples) {
  OpTester t("AudioSpectrogram");
  t.Attr("window_size", int64_t{16}).Attr("stride", int64_t{1});
  t.Input(MakeTensor<float>({12, 2}, Numbers(24, 0)));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).shape(), TensorShape({2, 0, 9}));
}

TEST(AudioOpsTest, SpectrogramRefusals) {
  for (auto [window, stride] :
       {std::pair<int64_t, int64_t>{1, 1}, {2, 0}, {int64_t{1} << 62, 1}}) {
    OpTester t("AudioSpectrogram");
    t.Attr("window_size", window).Attr("stride", stride);
    t.Input(MakeTensor<float>({2, 1}, {1, 2}));
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument, "window_size");
  }
}

// An Mfcc over a spectrogram of two frames.
struct MfccCase {
  int rate;
  float upper, lower;
  int64_t bands, coefficients;

  Status Run(Tensor* out) const {
    OpTester t("Mfcc");
    t.Attr("upper_frequency_limit", upper).Attr("lower_frequency_limit", lower);
    t.Attr("filterbank_channel_count", bands);
    t.Attr("dct_coefficient_count", coefficients);
    t.Input(MakeTensor<float>({1, 2, 33}, Numbers(66, 0)));
    t.Input(MakeScalar<int32_t>(rate));
    HR_RETURN_IF_ERROR(t.Run());
    *out = t.Output(0);
    return OkStatus();
  }
};

TEST(AudioOpsTest, Mfcc) {
  Tensor out;
  ASSERT_EQ((MfccCase{16000, 4000, 20, 8, 5}.Run(&out)), OkStatus());
  ExpectClose(
      out, MakeTensor<float>(
               {1, 2, 5}, {-0.16569467f, -1.3001525f, 0.11891379f, -0.25627857f,
                           -0.20467623f, -0.23466393f, -1.2818085f, 0.2762581f,
                           0.11322143f, -0.00229606f}));
  ASSERT_EQ((MfccCase{8000, 3000, 100, 4, 4}.Run(&out)), OkStatus());
  ExpectClose(
      out, MakeTensor<float>({1, 2, 4}, {2.769605f, -0.77167946f, 0.017379485f,
                                         -0.07601156f, 2.6818714f, -0.85541606f,
                                         -0.05679922f, -0.11652894f}));
}

TEST(AudioOpsTest, MfccBeyondTheSpectrumIsZero) {
  Tensor out;
  ASSERT_EQ((MfccCase{4000, 4000, 20, 4, 4}.Run(&out)), OkStatus());
  ExpectEqual(out, MakeTensor<float>({1, 2, 4}, std::vector<float>(8, 0.0f)));
}

TEST(AudioOpsTest, MfccRefusals) {
  const struct {
    MfccCase mfcc;
    const char* message;
  } cases[] = {
      {{0, 4000, 20, 8, 5}, "sample_rate"},
      {{16000, 20, 20, 8, 5}, "frequency_limit"},
      {{16000, 4000, -1, 8, 5}, "frequency_limit"},
      {{16000, 4000, 20, 8, 9}, "coefficient"},
      {{16000, 4000, 20, int64_t{1} << 40, 5}, "filterbank_channel_count"},
  };
  for (const auto& c : cases) {
    Tensor out;
    ExpectError(c.mfcc.Run(&out), absl::StatusCode::kInvalidArgument,
                c.message);
  }
}

TEST(AudioOpsTest, WavRepeatsTheLastChannelAndPadsWithSilence) {
  OpTester encode("EncodeWav");
  encode.Input(MakeTensor<float>({2, 1}, {0.5f, -0.25f}));
  encode.Input(MakeScalar<int32_t>(16000));
  ASSERT_EQ(encode.Run(), OkStatus());
  OpTester t("DecodeWav");
  t.Attr("desired_channels", int64_t{2}).Attr("desired_samples", int64_t{3});
  t.Input(encode.Output(0));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<float>({3, 2}, {0.5f, 0.5f, -0.25f, -0.25f, 0, 0}));
  ExpectEqual(t.Output(1), MakeScalar<int32_t>(16000));
}

}  // namespace
}  // namespace headrace
