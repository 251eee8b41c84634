// A tree of a random forest (Hoeffding trees: nodes are split when they have
// seen enough examples), and the statistics of its leaves that may be split.
//
// Both are kept as plain numbers; messages are made of them only for
// checkpoints.
#ifndef HEADRACE_KERNELS_TREES_FOREST_H_
#define HEADRACE_KERNELS_TREES_FOREST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "headrace/mutex.h"
#include "headrace/resource_handle.h"
#include "headrace/status.h"
#include "headrace/tensor_forest.pb.h"

namespace headrace {

// The attr `params`. Immutable after Parse.
struct ForestParams {
  // InvalidArgument for bytes that are no TensorForestParams, Unimplemented for
  // what is not supported.
  Status Parse(const std::string& bytes);
  int SplitsToConsider(int depth) const;
  float SplitAfter(int depth) const;

  pb::TensorForestParams pb;
};

struct ForestTest {
  bool IsLeft(float value) const {
    return type == pb::ForestInequalityTest::LESS_OR_EQUAL ? value <= threshold
                                                           : value < threshold;
  }
  int32_t feature = 0;
  float threshold = 0;
  pb::ForestInequalityTest::Type type = pb::ForestInequalityTest::LESS_OR_EQUAL;
};

// What a leaf says: weights of classes, or means. Then it may be split.
using ForestValues = std::vector<float>;

// Thread-compatible.
class ForestTree {
 public:
  struct Node {
    bool is_leaf() const { return left < 0; }
    int32_t left = -1, right = -1;
    ForestTest test;
    ForestValues values;
  };

  // Takes a serialized Model; no bytes, a tree of one leaf. InvalidArgument,
  // and no change, if the bytes are no tree with leaves of `outputs` values.
  Status Parse(const std::string& bytes, int outputs);
  std::string Serialize() const;
  pb::ForestTreeNode NodeMessage(int32_t i) const;

  const std::vector<Node>& nodes() const { return nodes_; }
  // The leaf of an example; `path` gets the nodes on the way to it.
  int32_t Leaf(const float* example, std::vector<int32_t>* path) const;
  int32_t MaxFeature() const;
  void AddToLeaf(int32_t leaf, int32_t output, float weight) {
    nodes_[leaf].values[output] += weight;
  }
  // The children are the last two nodes.
  void Split(int32_t leaf, const ForestTest& test, ForestValues left,
             ForestValues right);

 private:
  std::vector<Node> nodes_;
};

// What a leaf has seen since it came: for each candidate of a split, the sums
// of the examples that go left.
class ForestSlot {
 public:
  explicit ForestSlot(int depth = 0) : depth_(depth) {}
  int depth() const { return depth_; }
  // The first examples give candidates and are not counted.
  bool WantsCandidates(const ForestParams& params) const {
    return weight_ == 0 && static_cast<int>(candidates_.size()) <
                               params.SplitsToConsider(depth_);
  }
  void AddCandidate(const ForestTest& test) {
    candidates_.push_back({test, Sums()});
  }
  // InvalidArgument if a candidate asks for more features.
  Status CheckFeatures(int64_t features) const {
    for (const Candidate& c : candidates_) {
      if (c.test.feature < features) continue;
      return errors::InvalidArgument("a candidate of a split asks for feature ",
                                     c.test.feature, " of ", features);
    }
    return OkStatus();
  }
  // `target`: the class, or the values of a regression.
  void AddExample(const ForestParams& params, const float* example,
                  const float* target, float weight);
  bool IsFinished(const ForestParams& params) const;
  // False if no candidate has examples on both sides.
  bool BestSplit(const ForestParams& params, ForestTest* test,
                 ForestValues* left, ForestValues* right) const;

  void ToMessage(const ForestParams& params, pb::ForestFertileSlot* out) const;
  Status FromMessage(const ForestParams& params,
                     const pb::ForestFertileSlot& in);

 private:
  struct Sums {
    void Add(const ForestParams& params, const float* target, float weight);
    float weight = 0;
    std::vector<float> values, squares;  // by output; squares of regressions
  };
  struct Candidate {
    ForestTest test;
    Sums left;
  };
  static Sums Minus(const Sums& a, const Sums& b);
  static float Score(const ForestParams& params, const Sums& sums);
  static ForestValues Values(const ForestParams& params, const Sums& sums);
  static void SumsToMessage(const ForestParams& params, const Sums& sums,
                            pb::ForestLeafStat* out);
  static Status SumsFromMessage(const ForestParams& params,
                                const pb::ForestLeafStat& in, Sums* out);

  int depth_;
  float weight_ = 0;
  Sums total_;
  std::vector<Candidate> candidates_;
};

// Resources. Their users hold `mu` while they read or change what it guards;
// who needs both locks takes the tree's first.
class ForestTreeResource : public ResourceBase {
 public:
  explicit ForestTreeResource(ForestTree made) : tree(std::move(made)) {}
  std::string DebugString() const override { return "a tree of a forest"; }

  mutable Mutex mu;
  ForestTree tree GUARDED_BY(mu);
};

using ForestSlots = std::map<int32_t, ForestSlot>;  // by leaf
class ForestStatsResource : public ResourceBase {
 public:
  explicit ForestStatsResource(ForestSlots made) : slots(std::move(made)) {}
  std::string DebugString() const override {
    return "statistics of a tree's leaves";
  }

  mutable Mutex mu;
  ForestSlots slots GUARDED_BY(mu);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_TREES_FOREST_H_
