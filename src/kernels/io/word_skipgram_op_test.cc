// Expected pairs and counts are TensorFlow's.
#include "base/env.h"
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

class SkipgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = JoinPath(::testing::TempDir(), "skipgram.txt");
    std::string ten;
    for (int i = 0; i < 250; ++i) ten += "a b c d e f g h i j\n";
    Write(ten);
  }
  void TearDown() override { (void)Env::Default()->DeleteFile(path_); }
  void Write(const std::string& text) {
    ASSERT_EQ(Env::Default()->WriteFile(path_, text), OkStatus());
  }
  OpTester& Make(OpTester& t, int64_t batch, int64_t window, int64_t min_count,
                 float subsample) {
    return t.Attr("filename", path_)
        .Attr("batch_size", batch)
        .Attr("window_size", window)
        .Attr("min_count", min_count)
        .Attr("subsample", subsample);
  }
  // "ab ac": a with its neighbours b and c.
  static std::string Pairs(const OpTester& t) {
    std::string out;
    const Tensor& words = t.Output(0);
    for (int64_t i = 0; i < t.Output(5).NumElements(); ++i) {
      absl::StrAppend(
          &out, i > 0 ? " " : "",
          absl::string_view(
              words.data<tstring>()[t.Output(5).data<int32_t>()[i]]),
          absl::string_view(
              words.data<tstring>()[t.Output(6).data<int32_t>()[i]]));
    }
    return out;
  }

  std::string path_;
};

TEST_F(SkipgramTest, PairsAsTensorFlowDrawsThem) {
  const struct {
    int64_t window;
    float subsample;
    std::string pairs;
    int32_t epoch;
    int64_t processed;
  } cases[] = {
      {1, 0, "ab ba bc cb cd dc de ed", 0, 1502},
      {3, 0,
       "ab ac ba bc bd be ca cb cd ce da db dc de df dg ec ed ef eg fe fg gf "
       "gh hf hg hi hj if ig ih ij ia ib jh ji ja jb aj ab",
       0, 745},
      {3, 0.02f,
       "ad af da df dg fa fd fg fj fa ga gd gf gj ga gb jg ja aj ab bg bj ba "
       "bc bd be cb cd db dc de df ed ef fc fd fe fg fh fi",
       0, 747},
  };
  for (const auto& c : cases) {
    OpTester t("Skipgram");
    const auto n = static_cast<int64_t>(c.pairs.size() + 1) / 3;
    ASSERT_EQ(Make(t, n, c.window, 1, c.subsample).Run(), OkStatus());
    EXPECT_EQ(Pairs(t), c.pairs);
    ExpectEqual(t.Output(2), MakeScalar<int64_t>(2500));
    ExpectEqual(t.Output(3), MakeScalar(c.epoch));
    ExpectEqual(t.Output(4), MakeScalar(c.processed));
  }
}

TEST_F(SkipgramTest, PairsAreMadeAhead) {
  OpTester t("Skipgram");
  ASSERT_EQ(Make(t, 6000, 1, 1, 0).Run(), OkStatus());
  ExpectEqual(t.Output(3), MakeScalar<int32_t>(1));
  ExpectEqual(t.Output(4), MakeScalar<int64_t>(4505));
}

TEST_F(SkipgramTest, RareWordsAreOne) {
  Write("the quick brown fox jumps over the lazy dog the end the fox\n");
  OpTester t("Skipgram");
  ASSERT_EQ(Make(t, 12, 1, 2, 0).Run(), OkStatus());
  ExpectEqual(t.Output(0),
              MakeTensor<tstring>(
                  {3}, {tstring("UNK"), tstring("the"), tstring("fox")}));
  ExpectEqual(t.Output(1), MakeTensor<int32_t>({3}, {7, 4, 2}));
  ExpectEqual(t.Output(3), MakeScalar<int32_t>(153));
  ExpectEqual(t.Output(4), MakeScalar<int64_t>(1502));
  ExpectEqual(t.Output(5),
              MakeTensor<int32_t>({12}, {1, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}));
  ExpectEqual(t.Output(6),
              MakeTensor<int32_t>({12}, {0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 1, 0}));
}

TEST_F(SkipgramTest, Refusals) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const struct {
    int64_t batch, window;
    const char* message;
  } cases[] = {{0, 1, "must be positive"},
               {-1, 1, "must be positive"},
               {1, 0, "must be positive"},
               {1, 251, "contains 2500 words"},
               {1, INT64_MAX, "contains 2500 words"}};
  for (const auto& c : cases) {
    OpTester t("Skipgram");
    ExpectError(Make(t, c.batch, c.window, 1, 0).Run(), kInvalid, c.message);
  }
  OpTester large("Skipgram");
  ExpectError(Make(large, int64_t{1} << 60, 1, 1, 0).Run(),
              absl::StatusCode::kResourceExhausted, "");
  OpTester none_left("Skipgram");
  ExpectError(Make(none_left, 1, 1, 1, 1e-30f).Run(),
              absl::StatusCode::kFailedPrecondition, "leaves out nearly every");
  path_ += ".none";
  OpTester missing("Skipgram");
  ExpectError(Make(missing, 1, 1, 1, 0).Run(), absl::StatusCode::kNotFound, "");
}

}  // namespace
}  // namespace headrace
