#include "kernels/trees/forest.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

ForestParams Params(bool regression) {
  pb::TensorForestParams pb;
  pb.set_num_outputs(regression ? 1 : 2);
  pb.set_is_regression(regression);
  pb.set_max_nodes(9);
  pb.mutable_split_after_samples()->set_constant_value(4);
  pb.mutable_num_splits_to_consider()->set_constant_value(2);
  ForestParams params;
  EXPECT_EQ(params.Parse(pb.SerializeAsString()), OkStatus());
  return params;
}

ForestTest TestOf(int feature, float threshold) {
  ForestTest t;
  t.feature = feature;
  t.threshold = threshold;
  return t;
}

// Feature 0 tells the classes apart, feature 1 does not.
TEST(ForestSlotTest, TheBestSplitIsThePurest) {
  const float examples[][2] = {{0, 0}, {0, 1}, {2, 0}, {2, 1}};
  const float classes[] = {0, 0, 1, 1}, values[] = {-1, -1, 5, 5};
  for (const bool regression : {false, true}) {
    const ForestParams params = Params(regression);
    ForestSlot slot;
    EXPECT_TRUE(slot.WantsCandidates(params));
    slot.AddCandidate(TestOf(1, 0));
    slot.AddCandidate(TestOf(0, 1));
    EXPECT_FALSE(slot.WantsCandidates(params));
    for (int i = 0; i < 4; ++i) {
      EXPECT_FALSE(slot.IsFinished(params));
      slot.AddExample(params, examples[i],
                      regression ? &values[i] : &classes[i], 1);
    }
    EXPECT_TRUE(slot.IsFinished(params));
    ForestTest test;
    ForestValues left, right;
    ASSERT_TRUE(slot.BestSplit(params, &test, &left, &right));
    EXPECT_EQ(test.feature, 0);
    EXPECT_EQ(left, regression ? ForestValues({-1}) : ForestValues({2, 0}));
    EXPECT_EQ(right, regression ? ForestValues({5}) : ForestValues({0, 2}));
  }
}

TEST(ForestSlotTest, OneSidedCandidatesAreNoSplit) {
  const ForestParams params = Params(false);
  ForestSlot slot;
  slot.AddCandidate(TestOf(0, 9));
  const float example[] = {0, 0}, label = 1;
  slot.AddExample(params, example, &label, 1);
  ForestTest test;
  ForestValues left, right;
  EXPECT_FALSE(slot.BestSplit(params, &test, &left, &right));
  EXPECT_EQ(slot.CheckFeatures(1), OkStatus());
  EXPECT_FALSE(slot.CheckFeatures(0).ok());
}

TEST(ForestTreeTest, SplitsLeadToLeaves) {
  ForestTree tree;
  ASSERT_EQ(tree.Parse("", 2), OkStatus());
  tree.Split(0, TestOf(1, 0.5f), {1, 0}, {0, 1});
  const float low[] = {9, 0.5f}, high[] = {9, 0.6f};
  EXPECT_EQ(tree.Leaf(low, nullptr), 1);
  std::vector<int32_t> path;
  EXPECT_EQ(tree.Leaf(high, &path), 2);
  EXPECT_EQ(path, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(tree.MaxFeature(), 1);
  ForestTree other;
  ASSERT_EQ(other.Parse(tree.Serialize(), 2), OkStatus());
  EXPECT_EQ(other.Serialize(), tree.Serialize());
  EXPECT_FALSE(other.Parse(tree.Serialize(), 3).ok());
}

}  // namespace
}  // namespace headrace
