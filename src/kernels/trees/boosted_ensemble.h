// BoostedEnsemble: the trees that the BoostedTrees ops grow and ask, over the
// message that checkpoints hold. Nodes of a tree are numbered; children have
// higher numbers than their parent.
//
// Node 0 of a tree is its root. While a tree grows, a node that is split keeps
// the value that it had as a leaf, so that predictions of examples that reached
// it earlier can be corrected by the difference.
//
// Leaves have one value each, as in TensorFlow 1.15.
#ifndef HEADRACE_KERNELS_TREES_BOOSTED_ENSEMBLE_H_
#define HEADRACE_KERNELS_TREES_BOOSTED_ENSEMBLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "headrace/boosted_trees.pb.h"
#include "headrace/mutex.h"
#include "headrace/resource_handle.h"
#include "headrace/status.h"

namespace headrace {

// Thread-compatible.
class BoostedEnsemble {
 public:
  enum class SplitType { kDefaultLeft, kDefaultRight, kEqual };
  struct Split {
    int32_t feature = 0, dimension = 0, threshold = 0;
    SplitType type = SplitType::kDefaultLeft;
    float gain = 0;
    float left = 0, right = 0;  // added to the node's value
  };

  // Takes the trees of a serialized message. InvalidArgument, and no change, if
  // it is none, or if its nodes are no trees.
  Status Parse(absl::string_view bytes);
  std::string Serialize() const { return pb_.SerializeAsString(); }

  int num_trees() const { return pb_.trees_size(); }
  int num_nodes(int tree) const { return pb_.trees(tree).nodes_size(); }
  int num_layers(int tree) const;
  bool is_finalized(int tree) const;
  float weight(int tree) const { return pb_.tree_weights(tree); }
  int64_t num_layers_attempted() const {
    return pb_.growing_metadata().num_layers_attempted();
  }
  // [begin, end) of the nodes that the next layer may split.
  void LastLayer(int32_t* begin, int32_t* end) const;

  bool IsNode(int tree, int node) const {
    return tree >= 0 && tree < num_trees() && node >= 0 &&
           node < num_nodes(tree);
  }
  bool IsLeaf(int tree, int node) const {
    return pb_.trees(tree).nodes(node).has_leaf();
  }
  // A leaf's value, or the value before the split.
  float Value(int tree, int node) const;
  void SetValue(int tree, int node, float value);
  int32_t Feature(int tree, int node) const;
  // The child of a split for the bucket of its feature.
  int Next(int tree, int node, int32_t bucket) const;
  // The highest number of a feature that a split asks for, -1 without any.
  int32_t MaxFeature() const;
  // What became of a node when its tree was pruned: its number now, and what
  // is to be added to predictions that ended there. OutOfRange for no node.
  Status Pruned(int tree, int* node, float* change) const;

  void AddTree(float weight, float value);
  // Counts one more try to grow a layer.
  void CountAttempt();
  // Of a leaf.
  void AddSplit(int tree, int node, const Split& split);
  void SetLayers(int tree, int layers);
  void Finalize(int tree);
  void SetLastLayer(int32_t begin, int32_t end);
  // Turns splits with negative gain and two leaves into leaves, from the bottom
  // up, and notes what became of each node.
  void Prune(int tree);

 private:
  pb::BoostedTreeMetadata* Metadata(int tree);

  pb::BoostedTreeEnsemble pb_;
};

// A BoostedEnsemble and its stamp, which counts changes.
//
// Thread-safe.
class BoostedEnsembleResource : public ResourceBase {
 public:
  BoostedEnsembleResource(BoostedEnsemble ensemble, int64_t stamp)
      : ensemble_(std::make_shared<BoostedEnsemble>(std::move(ensemble))),
        stamp_(stamp) {}
  std::string DebugString() const override;

  // The ensemble as it is now; later changes do not show there.
  std::shared_ptr<const BoostedEnsemble> Read(int64_t* stamp = nullptr) const;
  void Replace(BoostedEnsemble ensemble, int64_t stamp);
  // Changes the ensemble by `change`, a Status(BoostedEnsemble*). The stamp
  // grows by one if there is no error, and only then may `change` change it.
  template <typename F>
  Status Update(F change) {
    MutexLock lock(&mu_);
    Unshare();
    HR_RETURN_IF_ERROR(change(ensemble_.get()));
    ++stamp_;
    return OkStatus();
  }

 private:
  void Unshare() REQUIRES(mu_);

  mutable Mutex mu_;
  std::shared_ptr<BoostedEnsemble> ensemble_ GUARDED_BY(mu_);
  int64_t stamp_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_TREES_BOOSTED_ENSEMBLE_H_
