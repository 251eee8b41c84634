// GatherTree; the values wanted are TensorFlow's.
#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::vector<int32_t> Values(const Tensor& t) {
  return {t.data<int32_t>(), t.data<int32_t>() + t.NumElements()};
}

// Four steps of one sentence with three beams.
Tensor Words() {
  return MakeTensor<int32_t>({4, 1, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3});
}
Tensor Parents() {
  return MakeTensor<int32_t>({4, 1, 3}, {0, 0, 0, 0, 1, 1, 2, 1, 2, 2, 2, 0});
}

Status GatherTree(const Tensor& words, const Tensor& parents,
                  const Tensor& lengths, const Tensor& end, Tensor* out) {
  OpTester t("GatherTree");
  t.Input(words).Input(parents).Input(lengths).Input(end);
  const Status s = t.Run();
  if (s.ok()) *out = t.Output(0);
  return s;
}

TEST(GatherTree, FollowsParentsFromTheLastStep) {
  const struct {
    int32_t length, end;
    std::vector<int32_t> want;
  } cases[] = {
      {4, 10, {2, 2, 2, 6, 6, 6, 9, 9, 7, 1, 2, 3}},
      {99, 10, {2, 2, 2, 6, 6, 6, 9, 9, 7, 1, 2, 3}},
      {3, 10, {2, 2, 2, 6, 5, 6, 7, 8, 9, 10, 10, 10}},
      {1, 10, {1, 2, 3, 10, 10, 10, 10, 10, 10, 10, 10, 10}},
      {0, 10, std::vector<int32_t>(12, 10)},
      {-2, 10, std::vector<int32_t>(12, 10)},
      // What comes after an end is the end.
      {4, 6, {2, 2, 2, 6, 6, 6, 6, 6, 6, 6, 6, 6}},
      {4, 9, {2, 2, 2, 6, 6, 6, 9, 9, 7, 9, 9, 3}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.length << " " << c.end);
    Tensor out;
    ASSERT_EQ(
        GatherTree(Words(), Parents(), MakeTensor<int32_t>({1}, {c.length}),
                   MakeScalar(c.end), &out),
        OkStatus());
    EXPECT_EQ(Values(out), c.want);
  }
}

TEST(GatherTree, SentencesHaveLengthsOfTheirOwn) {
  Tensor out;
  ASSERT_EQ(GatherTree(MakeTensor<int32_t>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                       MakeTensor<int32_t>({2, 2, 2}, {0, 0, 0, 0, 1, 0, 1, 1}),
                       MakeTensor<int32_t>({2}, {2, 1}), MakeScalar(int32_t{0}),
                       &out),
            OkStatus());
  EXPECT_EQ(Values(out), std::vector<int32_t>({2, 1, 3, 4, 5, 6, 0, 0}));
}

TEST(GatherTree, Empty) {
  for (const TensorShape& s : {TensorShape({0, 1, 3}), TensorShape({4, 0, 3}),
                               TensorShape({4, 1, 0})}) {
    const Tensor none(DT_INT32, s);
    Tensor out;
    ASSERT_EQ(
        GatherTree(none, none,
                   MakeTensor<int32_t>({s.dim_size(1)},
                                       std::vector<int32_t>(s.dim_size(1), 2)),
                   MakeScalar(int32_t{0}), &out),
        OkStatus());
    EXPECT_EQ(out.shape(), s);
  }
}

TEST(GatherTree, ParentsOfTheFirstStepAreNotRead) {
  Tensor out;
  EXPECT_EQ(
      GatherTree(MakeTensor<int32_t>({1, 1, 2}, {5, 6}),
                 MakeTensor<int32_t>({1, 1, 2}, {-1, 77}),
                 MakeTensor<int32_t>({1}, {1}), MakeScalar(int32_t{0}), &out),
      OkStatus());
}

TEST(GatherTree, Refusals) {
  const Tensor length = MakeTensor<int32_t>({1}, {4});
  const Tensor end = MakeScalar(int32_t{0});
  const auto parents = [](int32_t bad) {
    Tensor p = Parents();
    p.data<int32_t>()[10] = bad;
    return p;
  };
  const struct {
    Tensor words, parents, lengths, end;
    const char* message;
  } cases[] = {
      {Words(), parents(-1), length, end,
       "Saw invalid parent id -1 at (batch, time, beam) == (0, 2, 1)"},
      {Words(), parents(3), length, end, "parent_ids must be in [0, 3)"},
      {MakeTensor<int32_t>({3}, {1, 2, 3}), Parents(), length, end,
       "step_ids must be a 3-tensor, saw shape: [3]"},
      {Words(), MakeTensor<int32_t>({1, 1, 3}, {0, 0, 0}), length, end,
       "but shapes are: [4,1,3] and [1,1,3]"},
      {Words(), Parents(), MakeScalar(int32_t{4}), end,
       "max_sequence_lengths must be a vector, saw shape: []"},
      {Words(), Parents(), MakeTensor<int32_t>({2}, {4, 4}), end,
       "max_sequence_lengths.shape[0] must match"},
      {Words(), Parents(), length, MakeTensor<int32_t>({1}, {0}),
       "end_token must be a scalar, saw shape: [1]"},
  };
  for (const auto& c : cases) {
    Tensor out;
    const Status s = GatherTree(c.words, c.parents, c.lengths, c.end, &out);
    EXPECT_EQ(s.code(), kInvalid) << c.message;
    EXPECT_NE(s.message().find(c.message), std::string::npos) << s;
  }
}

}  // namespace
}  // namespace headrace
