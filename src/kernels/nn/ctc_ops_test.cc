// What is expected was computed by TensorFlow.
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Ints(const std::vector<int64_t>& v) {
  return MakeTensor<int64_t>({static_cast<int64_t>(v.size())}, v);
}
Tensor Ints32(const std::vector<int32_t>& v) {
  return MakeTensor<int32_t>({static_cast<int64_t>(v.size())}, v);
}
Tensor Pairs(const std::vector<int64_t>& v) {
  return MakeTensor<int64_t>({static_cast<int64_t>(v.size()) / 2, 2}, v);
}

std::vector<float> Logits() {
  return {1.8f,  0.4f,  0.1f,  -1.9f, -0.3f, -0.4f, -0.1f, -0.6f,
          0,     -0.5f, -1.3f, 0.9f,  0.9f,  1.7f,  0.1f,  -0.4f,
          -0.5f, -1.5f, 1,     -1.1f, -1.2f, -0.2f, 1.5f,  0.2f};
}
struct Loss {
  std::vector<float> x = Logits();  // [4, 2, 3]
  std::vector<int64_t> indices = {0, 0, 0, 1, 1, 0};
  std::vector<int32_t> labels = {0, 0, 1};
  std::vector<int32_t> lengths = {4, 3};
};
void Feed(OpTester& t, const Loss& c) {
  t.Input(MakeTensor<float>({4, 2, 3}, c.x)).Input(Pairs(c.indices));
  t.Input(Ints32(c.labels)).Input(Ints32(c.lengths));
}

TEST(CtcLossTest, Results) {
  const struct {
    const char* attr;
    bool value;
    std::vector<float> loss, gradient;
  } cases[] = {
      {"ctc_merge_repeated",
       true,
       {2.052498f, 1.510564f},
       {-0.2639561f, 0.1725322f,  0.09142381f, 0.09583391f,
        0.1419947f,  -0.2378286f, 0.1331772f,  0.2236716f,
        -0.356849f,  0.1816686f,  -0.1032711f, -0.07839739f,
        -0.2721328f, 0.6056108f,  -0.3334783f, 0.4468857f,
        -0.3103087f, -0.1365771f, -0.1348516f, 0.09929495f,
        0.03555645f, 0,           0,           0}},
      {"ctc_merge_repeated", false, {2.893244f, 1.686441f}, {0.01230133f,
                                                             0.1725322f,
                                                             -0.1848336f,
                                                             0.09583391f,
                                                             0.1937586f,
                                                             -0.2895925f,
                                                             0.2124455f,
                                                             0.2236716f,
                                                             -0.4361172f,
                                                             0.1816686f,
                                                             0.05346527f,
                                                             -0.2351337f,
                                                             -0.08201966f,
                                                             0.6056108f,
                                                             -0.5235912f,
                                                             0.4468857f,
                                                             -0.2865675f,
                                                             -0.1603182f,
                                                             0.008675337f,
                                                             0.09929495f,
                                                             -0.1079703f,
                                                             0,
                                                             0,
                                                             0}},
      {"preprocess_collapse_repeated",
       true,
       {2.310537f, 1.510564f},
       {0.00207448f,
        0.1725322f,
        -0.1746067f,
        0.09583391f,
        0.1419947f,
        -0.2378286f,
        -0.4188988f,
        0.2236716f,
        0.1952273f,
        0.1816686f,
        -0.1032711f,
        -0.07839739f,
        -0.6104586f,
        0.6056108f,
        0.004847698f,
        0.4468857f,
        -0.3103087f,
        -0.1365771f,
        -0.03573859f,
        0.09929495f,
        -0.06355626f,
        0,
        0,
        0}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.attr << " " << c.value);
    OpTester t("CTCLoss");
    t.Attr(c.attr, c.value);
    Feed(t, {});
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({2}, c.loss));
    ExpectClose(t.Output(1), MakeTensor<float>({4, 2, 3}, c.gradient));
  }
}

TEST(CtcLossTest, BlankMayBeTheFirstClass) {
  // The same logits with the blank moved to the front.
  Loss moved;
  const std::vector<float> x = Logits();
  for (size_t i = 0; i < x.size(); ++i) {
    moved.x[i / 3 * 3 + (i + 1) % 3] = x[i];
  }
  moved.labels = {1, 1, 2};
  OpTester t("CTCLossV2");
  Feed(t, moved);
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), MakeTensor<float>({2}, {2.052498f, 1.510564f}));
  for (int32_t bad : {0, 3}) {
    moved.labels[0] = bad;
    OpTester refused("CTCLossV2");
    Feed(refused, moved);
    ExpectError(refused.Run(), kInvalid, "labels must be in [1, 3)");
  }
}

TEST(CtcLossTest, NoTimeAndNoPath) {
  OpTester ignored("CTCLoss");
  ignored.Attr("ignore_longer_outputs_than_inputs", true);
  Feed(ignored, {.labels = {0, 1, 1}, .lengths = {1, 3}});
  ASSERT_EQ(ignored.Run(), OkStatus());
  ExpectClose(ignored.Output(0), MakeTensor<float>({2}, {0, 1.510564f}));
  // A repeated label needs a blank, and thus a third time step.
  OpTester repeated("CTCLoss");
  Feed(repeated, {.lengths = {2, 3}});
  ASSERT_EQ(repeated.Run(), OkStatus());
  EXPECT_EQ(repeated.Output(0).data<float>()[0], kInf);
  // Labels that are all blank: only the path of blanks.
  OpTester blank("CTCLoss");
  Feed(blank, {.x = std::vector<float>(24, 0), .labels = {2, 2, 1}});
  ASSERT_EQ(blank.Run(), OkStatus());
  EXPECT_NEAR(blank.Output(0).data<float>()[0], 4 * std::log(3.0), 1e-5);
  EXPECT_NEAR(blank.Output(1).data<float>()[20], 1.0 / 3 - 1, 1e-5);
  Loss nan;
  nan.x[0] = kNan;
  OpTester unknown("CTCLoss");
  Feed(unknown, nan);
  ASSERT_EQ(unknown.Run(), OkStatus());
  EXPECT_TRUE(std::isnan(unknown.Output(0).data<float>()[0]));
  EXPECT_NEAR(unknown.Output(0).data<float>()[1], 1.510564f, 1e-5);
}

TEST(CtcLossTest, Refusals) {
  const struct {
    Loss loss;
    const char* message;
  } cases[] = {
      {{.indices = {0, 0}, .labels = {0}}, "Labels length is zero in batch 1"},
      {{.lengths = {1, 3}}, "Not enough time for target transition"},
      {{.lengths = {4, -1}}, "sequence_length(1) = -1 is not in [0, 4]"},
      {{.lengths = {5, 3}}, "sequence_length(0) = 5 is not in [0, 4]"},
      {{.lengths = {4}}, "got shape [1], wanted [2]"},
      {{.labels = {2, 1, 1}}, "Saw a non-null label"},
      {{.labels = {0, -1, 1}}, "All labels must be nonnegative integers"},
      {{.labels = {0, 1}}, "labels_indices must be [n, 2]"},
      {{.indices = {0, 1, 0, 0, 1, 0}},
       "labels_indices[1] = [0,0] is out of o"},
      {{.indices = {0, 0, 0, 0, 1, 0}},
       "labels_indices[1] = [0,0] is repeated"},
      {{.indices = {0, 0, 0, 1, 2, 0}},
       "labels_indices[2] = [2,0] is out of b"},
      {{.indices = {0, 0, 0, -1, 1, 0}}, "labels_indices[1] = [0,-1] is out"}};
  for (const auto& c : cases) {
    OpTester t("CTCLoss");
    Feed(t, c.loss);
    ExpectError(t.Run(), kInvalid, c.message);
  }
  for (int rank = 0; rank < 10; ++rank) {
    if (rank == 3) continue;
    OpTester t("CTCLoss");
    t.Input(
        MakeTensor<double>(TensorShape(std::vector<int64_t>(rank, 1)), {1}));
    t.Input(Pairs({0, 0})).Input(Ints32({0})).Input(Ints32({1}));
    ExpectError(t.Run(), kInvalid, "inputs must be [time, batch, classes]");
  }
  for (const TensorShape& s : {TensorShape({0, 2, 3}), TensorShape({4, 0, 3}),
                               TensorShape({4, 2, 0})}) {
    OpTester t("CTCLoss");
    t.Input(MakeTensor<float>(s, {})).Input(Pairs({})).Input(Ints32({}));
    t.Input(Ints32({0, 0}));
    ExpectError(t.Run(), kInvalid,
                s.dim_size(1) == 0 ? "batch_size must not be 0"
                                   : "inputs must not be empty");
  }
}

std::vector<float> Sounds() {
  return {4.54f,  -2.91f, 0.09f,  -0.37f, 3.07f,  2.94f,  0.31f,  0.76f,
          -1.78f, -3.96f, -0.7f,  0.31f,  2.46f,  2.4f,   -0.77f, -0.6f,
          -1.78f, -3.96f, -0.7f,  0.31f,  -1.02f, -0.88f, -2.51f, 1.55f,
          -3.23f, -0.43f, -1.79f, 0.77f,  -1.02f, -2.36f, -0.06f, 0.86f,
          0.13f,  0.6f,   -1.27f, -0.73f, -1.34f, -0.72f, -1.63f, -3.45f,
          0.35f,  -0.8f,  -3.26f, 0.93f,  -1.81f, 0.1f,   1.46f,  0.26f};
}
Tensor SoundsTensor() { return MakeTensor<float>({6, 2, 4}, Sounds()); }

TEST(CtcGreedyDecoderTest, Results) {
  const struct {
    int64_t blank;
    bool merge;
    std::vector<int64_t> indices, values, shape;
  } cases[] = {{-1, false, {0, 0, 0, 1, 1, 0, 1, 1}, {0, 1, 0, 0}, {2, 2}},
               {-1, true, {0, 0, 0, 1, 1, 0}, {0, 1, 0}, {2, 2}},
               {0,
                false,
                {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0, 1, 1},
                {3, 3, 3, 1, 3, 3, 3},
                {2, 5}},
               {-4, true, {0, 0, 0, 1, 0, 2, 1, 0}, {3, 1, 3, 3}, {2, 3}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.blank);
    OpTester t("CTCGreedyDecoder");
    t.Attr("blank_index", c.blank).Attr("merge_repeated", c.merge);
    t.Input(SoundsTensor()).Input(Ints32({6, 4}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Pairs(c.indices));
    ExpectEqual(t.Output(1), Ints(c.values));
    ExpectEqual(t.Output(2), Ints(c.shape));
    ExpectClose(t.Output(3), MakeTensor<float>({2, 1}, {-7.46f, -7.94f}));
  }
}

TEST(CtcBeamSearchDecoderTest, Results) {
  for (bool merge : {false, true}) {
    OpTester t("CTCBeamSearchDecoder");
    t.Attr("beam_width", int64_t{4}).Attr("top_paths", int64_t{3});
    t.Attr("merge_repeated", merge);
    t.Input(SoundsTensor()).Input(Ints32({6, 4}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), Pairs({0, 0, 0, 1, 1, 0}));
    ExpectEqual(t.Output(3), Ints({0, 1, 0}));
    ExpectEqual(t.Output(6), Ints({2, 2}));
    ExpectEqual(t.Output(1), Pairs({0, 0, 0, 1, 0, 2, 1, 0, 1, 1}));
    ExpectEqual(t.Output(4), Ints({0, 2, 1, 1, 0}));
    ExpectEqual(t.Output(7), Ints({2, 3}));
    ExpectEqual(t.Output(5), merge ? Ints({0, 0, 1}) : Ints({0, 0, 0, 1}));
    ExpectEqual(t.Output(8), Ints({2, 2}));
    ExpectClose(
        t.Output(9),
        MakeTensor<float>({2, 3}, {-1.8343375f, -1.9640781f, -2.3370848f,
                                   -1.8342575f, -1.8699925f, -1.8846072f}));
  }
  std::vector<double> wide;
  for (float v : Sounds()) wide.push_back(std::round(v * 100) / 100);
  OpTester t("CTCBeamSearchDecoder");
  t.Attr("beam_width", int64_t{100}).Attr("top_paths", int64_t{3});
  t.Input(MakeTensor<double>({6, 2, 4}, wide)).Input(Ints32({6, 4}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(9),
              MakeTensor<double>({2, 3}, {-1.7965046, -1.9115830, -2.1482892,
                                          -1.8333562, -1.8699401, -1.8845951}));
}

// Long enough that forgotten prefixes are swept away several times.
TEST(CtcBeamSearchDecoderTest, LongSequences) {
  constexpr int64_t kTime = 2000, kClasses = 6;
  std::vector<float> x(kTime * kClasses);
  std::vector<int64_t> want;
  for (int64_t t = 0; t < kTime; ++t) {
    for (int64_t c = 0; c < kClasses; ++c) {
      x[t * kClasses + c] = 0.001f * static_cast<float>((t * 7 + c * 3) % 11);
    }
    const int64_t said = t % 2 == 0 ? t / 2 % 5 : kClasses - 1;
    x[t * kClasses + said] = 9;
    if (said < kClasses - 1) want.push_back(said);
  }
  OpTester t("CTCBeamSearchDecoder");
  t.Attr("beam_width", int64_t{20}).Attr("top_paths", int64_t{1});
  t.Input(MakeTensor<float>({kTime, 1, kClasses}, x)).Input(Ints32({kTime}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(1), Ints(want));
}

TEST(CtcDecoderTest, Edges) {
  const struct {
    std::vector<int32_t> lengths;
    int64_t width, paths;
    const char* message;  // null: succeeds
  } cases[] = {{{0, -1}, 4, 1, nullptr},
               {{6, 4}, 1, 1, nullptr},
               {{6, 4}, int64_t{1} << 62, 1, nullptr},
               {{6, 4}, 1, 2, "requested more paths than the beam width"},
               {{6, 0}, 4, 2, "Less leaves in the beam search"}};
  for (const auto& c : cases) {
    OpTester t("CTCBeamSearchDecoder");
    t.Attr("beam_width", c.width).Attr("top_paths", c.paths);
    t.Input(SoundsTensor()).Input(Ints32(c.lengths));
    if (c.message != nullptr) {
      ExpectError(t.Run(), kInvalid, c.message);
    } else {
      EXPECT_EQ(t.Run(), OkStatus());
    }
  }
  for (float bad : {kNan, kInf, -kInf}) {
    std::vector<float> x = Sounds();
    for (size_t i = 0; i < x.size(); i += 5) x[i] = bad;
    OpTester t("CTCBeamSearchDecoder");
    t.Attr("beam_width", int64_t{4}).Attr("top_paths", int64_t{1});
    t.Input(MakeTensor<float>({6, 2, 4}, x)).Input(Ints32({6, 4}));
    EXPECT_EQ(t.Run(), OkStatus());
  }
  for (const char* op : {"CTCGreedyDecoder", "CTCBeamSearchDecoder"}) {
    const auto refused = [op](Tensor x, std::vector<int32_t> lengths) {
      OpTester t(op);
      if (std::string(op) != "CTCGreedyDecoder") {
        t.Attr("beam_width", int64_t{4}).Attr("top_paths", int64_t{1});
      }
      t.Input(std::move(x)).Input(Ints32(lengths));
      return t.Run();
    };
    ExpectError(refused(SoundsTensor(), {6, 7}),
                absl::StatusCode::kFailedPrecondition, "sequence_length(1)");
    ExpectError(refused(SoundsTensor(), {6}), kInvalid, "wanted [2]");
    ExpectError(refused(MakeTensor<float>({0, 1, 2}, {}), {0}), kInvalid,
                "must not be empty");
    ExpectError(refused(MakeTensor<float>({}, {1}), {0}), kInvalid,
                "[time, batch, classes]");
  }
  for (int64_t blank : {-5, 4, 100}) {
    OpTester t("CTCGreedyDecoder");
    t.Attr("blank_index", blank);
    t.Input(SoundsTensor()).Input(Ints32({6, 4}));
    ExpectError(t.Run(), kInvalid, "blank_index expected to be in [-4, 4)");
  }
}

}  // namespace
}  // namespace headrace
