#include "kernels/trees/boosted_ensemble.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

BoostedEnsemble::Split SplitOf(int feature, float gain, float left,
                               float right) {
  BoostedEnsemble::Split s;
  s.feature = feature;
  s.gain = gain;
  s.left = left;
  s.right = right;
  return s;
}

// Of a root with two splits below it, one of which loses.
BoostedEnsemble Grown() {
  BoostedEnsemble trees;
  trees.CountAttempt();
  trees.AddTree(1, 0.5f);
  trees.AddSplit(0, 0, SplitOf(2, 1, 0.25f, -0.25f));
  trees.AddSplit(0, 1, SplitOf(0, -1, 0.125f, 0.25f));
  trees.AddSplit(0, 2, SplitOf(1, 1, 0.5f, 1));
  return trees;
}

TEST(BoostedEnsembleTest, SplitNodesKeepTheirValue) {
  const BoostedEnsemble trees = Grown();
  EXPECT_EQ(trees.num_nodes(0), 7);
  EXPECT_EQ(trees.Value(0, 0), 0.5f);
  EXPECT_EQ(trees.Value(0, 1), 0.75f);
  EXPECT_EQ(trees.Value(0, 3), 0.875f);
  EXPECT_EQ(trees.MaxFeature(), 2);
  EXPECT_EQ(trees.Next(0, 0, 0), 1);
  EXPECT_EQ(trees.Next(0, 0, 1), 2);
}

TEST(BoostedEnsembleTest, PruneNotesWhereNodesWent) {
  BoostedEnsemble trees = Grown();
  trees.Prune(0);
  EXPECT_EQ(trees.num_nodes(0), 5);
  EXPECT_TRUE(trees.IsLeaf(0, 1));
  const struct {
    int node, now;
    float change;
  } cases[] = {{0, 0, 0},      {1, 1, 0}, {2, 2, 0}, {3, 1, -0.125f},
               {4, 1, -0.25f}, {5, 3, 0}, {6, 4, 0}};
  for (const auto& c : cases) {
    int node = c.node;
    float change = 1;
    ASSERT_EQ(trees.Pruned(0, &node, &change), OkStatus());
    EXPECT_EQ(node, c.now);
    EXPECT_EQ(change, c.change);
  }
  int node = 99;
  float change = 0;
  EXPECT_FALSE(trees.Pruned(0, &node, &change).ok());
}

TEST(BoostedEnsembleTest, ParseGivesTheSameBack) {
  const BoostedEnsemble trees = Grown();
  BoostedEnsemble other;
  ASSERT_EQ(other.Parse(trees.Serialize()), OkStatus());
  EXPECT_EQ(other.Serialize(), trees.Serialize());
  EXPECT_FALSE(other.Parse("\xff").ok());
  EXPECT_EQ(other.num_trees(), 1);
  ASSERT_EQ(other.Parse(""), OkStatus());
  EXPECT_EQ(other.num_trees(), 0);
}

TEST(BoostedEnsembleResourceTest, ReadersKeepWhatTheyRead) {
  auto resource = MakeRef<BoostedEnsembleResource>(Grown(), 3);
  const auto before = resource->Read();
  ASSERT_EQ(resource->Update([](BoostedEnsemble* trees) {
    trees->SetValue(0, 3, 9);
    return OkStatus();
  }),
            OkStatus());
  int64_t stamp = 0;
  EXPECT_EQ(resource->Read(&stamp)->Value(0, 3), 9);
  EXPECT_EQ(stamp, 4);
  EXPECT_EQ(before->Value(0, 3), 0.875f);
}

}  // namespace
}  // namespace headrace
