// What TensorFlow 1.15 and 2.21 give for seed 1, seed2 2.
#include <fstream>

#include "framework/kernel/op_tester.h"
#include "kernels/random/range_sampler.h"

namespace headrace {
namespace {

constexpr auto kBadInput = absl::StatusCode::kInvalidArgument;

struct SamplerCase {
  std::string op;
  bool unique;
  int64_t range;
  std::vector<int64_t> sampled;
  std::vector<float> true_count, count;
};

struct Sampler : OpTester {
  Sampler(const std::string& op, int64_t num_sampled, bool unique,
          int64_t range)
      : OpTester(op) {
    Attr("num_true", 2).Attr("num_sampled", num_sampled);
    Attr("unique", unique).Attr("seed", 1).Attr("seed2", 2);
    if (range != 0) Attr("range_max", range);
    Input(MakeTensor<int64_t>({2, 2}, {0, 3, 7, 1}));
  }
};

TEST(CandidateSamplerTest, SameClassesAsTensorFlow) {
  const SamplerCase cases[] = {
      {"UniformCandidateSampler",
       false,
       10,
       {9, 6, 7, 1, 3, 8},
       {.6f, .6f, .6f, .6f},
       {.6f, .6f, .6f, .6f, .6f, .6f}},
      {"UniformCandidateSampler",
       true,
       10,
       {9, 6, 7, 1, 3, 8},
       {.6f, .6f, .6f, .6f},
       {.6f, .6f, .6f, .6f, .6f, .6f}},
      {"LogUniformCandidateSampler",
       false,
       1000,
       {4, 20, 6, 4, 721, 306},
       {.60197294f, .19379199f, .10229024f, .35213158f},
       {.15833959f, .040400926f, .11596712f, .15833959f, .0012020255f,
        .0028242734f}},
      {"LogUniformCandidateSampler",
       true,
       10,
       {0, 1, 8, 6, 2, 3},
       {.9347411f, .54224217f, .33164358f, .7727922f},
       {.9347411f, .7727922f, .3019513f, .36769292f, .6402764f, .54224217f}},
      {"LearnedUnigramCandidateSampler",
       false,
       10,
       {9, 5, 2, 9, 1, 6},
       {.6f, .6f, .6f, .6f},
       {.6f, .6f, .6f, .6f, .6f, .6f}},
      {"LearnedUnigramCandidateSampler",
       true,
       10,
       {9, 5, 2, 1, 6, 3},
       {.5217031f, .5217031f, .5217031f, .5217031f},
       {.5217031f, .5217031f, .5217031f, .5217031f, .5217031f, .5217031f}},
      {"ThreadUnsafeUnigramCandidateSampler",
       true,
       11,
       {5, 6, 9, 3, 0, 1},
       {.6144567f, .6144567f, .6144567f, .6144567f},
       {.6144567f, .6144567f, .6144567f, .6144567f, .6144567f, .6144567f}},
      {"AllCandidateSampler",
       true,
       0,
       {0, 1, 2, 3, 4, 5, 6, 7},
       {1, 1, 1, 1},
       {1, 1, 1, 1, 1, 1, 1, 1}}};
  for (const SamplerCase& c : cases) {
    SCOPED_TRACE(c.op);
    const auto n = static_cast<int64_t>(c.sampled.size());
    Sampler t(c.op, n, c.unique, c.range);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<int64_t>({n}, c.sampled));
    ExpectClose(t.Output(1), MakeTensor<float>({2, 2}, c.true_count));
    ExpectClose(t.Output(2), MakeTensor<float>({n}, c.count));
  }
}

TEST(CandidateSamplerTest, RangesBeyond32Bits) {
  Sampler t("UniformCandidateSampler", 4, false, (int64_t{1} << 40) + 1);
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<int64_t>({4}, {910107809546, 950244543545,
                                        355255041219, 1044822496341}));
}

struct Fixed : Sampler {
  Fixed(std::vector<float> unigrams, int64_t range, bool unique)
      : Sampler("FixedUnigramCandidateSampler", 6, unique, range) {
    Attr("unigrams", std::move(unigrams));
  }
};
const std::vector<float> kUnigrams = {1, 2,    3,     4,    .5f,
                                      7, 1.5f, 2.25f, 3.5f, 10};

TEST(CandidateSamplerTest, FixedUnigrams) {
  Fixed t(kUnigrams, 10, false);
  t.Attr("distortion", .75f);
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int64_t>({6}, {5, 9, 6, 3, 3, 9}));
  ExpectClose(t.Output(1), MakeTensor<float>({2, 2}, {.24934891f, .7052652f,
                                                      .4580832f, .41935325f}));
  ExpectClose(t.Output(2),
              MakeTensor<float>({6}, {1.0730772f, 1.4021919f, .33796823f,
                                      .7052652f, .7052652f, 1.4021919f}));

  Fixed unique(kUnigrams, 10, true);
  ASSERT_EQ(unique.Run(), OkStatus());
  ExpectEqual(unique.Output(0), MakeTensor<int64_t>({6}, {5, 9, 6, 3, 8, 7}));
  ExpectClose(unique.Output(2),
              MakeTensor<float>({6}, {.8679393f, .95283896f, .32774884f,
                                      .6673306f, .6153578f, .45253423f}));

  Fixed reserved(kUnigrams, 12, false);
  reserved.Attr("num_reserved_ids", 2);
  ASSERT_EQ(reserved.Run(), OkStatus());
  ExpectEqual(reserved.Output(0),
              MakeTensor<int64_t>({6}, {11, 5, 7, 5, 5, 11}));
  ExpectClose(reserved.Output(1),
              MakeTensor<float>({2, 2}, {0, .34532374f, 1.2086331f, 0}));
}

TEST(CandidateSamplerTest, ShardsOfUnigrams) {
  const std::vector<int64_t> want[] = {{3, 5, 4, 5, 5, 3}, {2, 5, 4, 5, 5, 2}};
  const float count[] = {1.6633663f, 1.8947368f};
  for (int shard = 0; shard < 2; ++shard) {
    Fixed t(kUnigrams, 6, false);
    t.Attr("num_reserved_ids", 2).Attr("num_shards", 2).Attr("shard", shard);
    t.ClearInputs();
    t.Input(MakeTensor<int64_t>({2, 2}, {0, 3, 1, 1}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<int64_t>({6}, want[shard]));
    EXPECT_NEAR(t.Output(2).data<float>()[0], count[shard], 1e-5);
  }
}

TEST(CandidateSamplerTest, VocabularyFiles) {
  const std::string path = testing::TempDir() + "/vocabulary.csv";
  std::ofstream(path) << "a,1\nb,2.5\r\n\nc,3\n\"q,r\",4";
  Sampler t("FixedUnigramCandidateSampler", 6, false, 4);
  t.Attr("vocab_file", path);
  t.ClearInputs();
  t.Input(MakeTensor<int64_t>({1, 2}, {0, 1}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int64_t>({6}, {3, 1, 2, 3, 2, 3}));
  EXPECT_NEAR(t.Output(2).data<float>()[0], 2.2857144, 1e-6);

  std::ofstream(path) << "a,1\nb,many\n";
  ExpectError(t.Run(), kBadInput, "line 2: the last field must be a number");
  Sampler none("FixedUnigramCandidateSampler", 6, false, 4);
  none.Attr("vocab_file", path + ".not");
  ExpectError(none.Run(), absl::StatusCode::kNotFound, path);
}

TEST(CandidateSamplerTest, Refusals) {
  ExpectError(Sampler("UniformCandidateSampler", 11, true, 10).Run(), kBadInput,
              "Sampler's range is too small: 11 different classes wanted, 10");
  ExpectError(Sampler("UniformCandidateSampler", 2, true, 7).Run(), kBadInput,
              "true_classes must be in [0, 7), got 7");
  ExpectError(Sampler("LearnedUnigramCandidateSampler", 2, true, 5).Run(),
              kBadInput, "got 7");
  ExpectError(
      Sampler("LearnedUnigramCandidateSampler", 2, true, (int64_t{1} << 31) - 1)
          .Run(),
      kBadInput, "range_max must be below 2^31 - 1");
  ExpectError(Sampler("UniformCandidateSampler", 2, true, -1).Run(), kBadInput,
              "range_max");
  ExpectError(
      Sampler("UniformCandidateSampler", int64_t{1} << 31, false, 9).Run(),
      kBadInput, "num_sampled must be below 2^31");
  Sampler columns("UniformCandidateSampler", 2, true, 10);
  columns.Attr("num_true", 3);
  ExpectError(columns.Run(), kBadInput, "expected: 3, got: 2");
  Sampler vector("UniformCandidateSampler", 2, true, 10);
  vector.ClearInputs();
  vector.Input(MakeTensor<int64_t>({2}, {0, 3}));
  ExpectError(vector.Run(), kBadInput, "true_classes must be a matrix");
}

TEST(CandidateSamplerTest, RefusalsOfUnigrams) {
  // Six different classes of the three that can be drawn.
  ExpectError(Fixed({0, 0, 1, 1, 1, 0, 0, 0}, 8, true).Run(), kBadInput,
              "3 have a probability above 0");
  ExpectError(Fixed({}, 10, false).Run(), kBadInput,
              "Must provide either vocab_file or unigrams");
  Fixed both(kUnigrams, 10, false);
  both.Attr("vocab_file", "x");
  ExpectError(both.Run(), kBadInput, "Must only provide one");
  ExpectError(Fixed(kUnigrams, 9, false).Run(), kBadInput, "are more");
  ExpectError(Fixed(kUnigrams, 11, false).Run(), kBadInput, "are 10");
  ExpectError(Fixed({1, -1}, 2, false).Run(), kBadInput, "class 1 is -1");
  ExpectError(Fixed({1, NAN}, 2, false).Run(), kBadInput, "finite");
  ExpectError(Fixed({0, 0}, 2, false).Run(), kBadInput, "sum of all weights");
  ExpectError(Fixed({3e38f, 3e38f}, 2, false).Run(), kBadInput, "sum of all");
  Fixed reserved({1}, int64_t{1} << 40, false);
  reserved.Attr("num_reserved_ids", (int64_t{1} << 40) - 1);
  ExpectError(reserved.Run(), kBadInput, "num_reserved_ids");
  Fixed shard(kUnigrams, 10, false);
  shard.Attr("shard", 1);
  ExpectError(shard.Run(), kBadInput, "shard must be below num_shards");
}

// Counts make a class likelier, whatever the range.
TEST(RangeSamplerTest, LearnedCounts) {
  for (int64_t range : {1, 2, 5, 8, 1000, (1 << 30) + 3}) {
    LearnedSampler s(range);
    EXPECT_FLOAT_EQ(s.Probability(range - 1), 1.0f / range);
    for (int i = 0; i < 3; ++i) s.Count(range - 1);
    EXPECT_FLOAT_EQ(s.Probability(range - 1), 4.0f / (range + 3.0f));
    PhiloxWords next(Philox(1, 2));
    for (int i = 0; i < 100; ++i) {
      const int64_t v = s.Sample(&next);
      ASSERT_TRUE(v >= 0 && v < range) << v;
    }
  }
}

TEST(ComputeAccidentalHitsTest, TheLastOfEqualCandidates) {
  OpTester t("ComputeAccidentalHits");
  t.Attr("num_true", 2).Input(MakeTensor<int64_t>({2, 2}, {0, 3, 7, 1}));
  t.Input(MakeTensor<int64_t>({5}, {7, 3, 5, 7, 0}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({3}, {0, 0, 1}));
  ExpectEqual(t.Output(1), MakeTensor<int64_t>({3}, {4, 1, 3}));
  const float low = std::numeric_limits<float>::lowest();
  ExpectEqual(t.Output(2), MakeTensor<float>({3}, {low, low, low}));
}

TEST(ComputeAccidentalHitsTest, Refusals) {
  OpTester t("ComputeAccidentalHits");
  t.Attr("num_true", -1).Input(MakeTensor<int64_t>({1, 2}, {0, 3}));
  t.Input(MakeTensor<int64_t>({1}, {7}));
  ExpectError(t.Run(), kBadInput, "matrix with num_true = -1");
  OpTester rank("ComputeAccidentalHits");
  rank.Attr("num_true", 2).Input(MakeTensor<int64_t>({1, 2}, {0, 3}));
  rank.Input(MakeScalar<int64_t>(7));
  ExpectError(rank.Run(), kBadInput, "sampled_candidates must be a vector");
}

}  // namespace
}  // namespace headrace
