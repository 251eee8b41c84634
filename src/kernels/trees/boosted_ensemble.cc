#include "kernels/trees/boosted_ensemble.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace headrace {
namespace {

// What a node of either type of split asks, and where it leads.
struct Branch {
  int32_t feature = -1, left = -1, right = -1;
};

bool GetBranch(const pb::BoostedNode& node, Branch* out) {
  if (node.has_bucketized_split()) {
    const auto& s = node.bucketized_split();
    *out = {s.feature_id(), s.left_id(), s.right_id()};
    return true;
  }
  if (node.has_categorical_split()) {
    const auto& s = node.categorical_split();
    *out = {s.feature_id(), s.left_id(), s.right_id()};
    return true;
  }
  return false;
}

// Children come after their parent and have no other, so that every way from
// the root ends at a leaf.
Status CheckTree(const pb::BoostedTree& tree, int index) {
  const auto refuse = [&](int node, const auto&... what) {
    return errors::InvalidArgument("tree ensemble proto: tree ", index,
                                   ", node ", node, ": ", what...);
  };
  const int n = tree.nodes_size();
  if (n == 0) {
    return errors::InvalidArgument("tree ensemble proto: tree ", index,
                                   " has no nodes");
  }
  std::vector<bool> is_child(n, false);
  for (int i = 0; i < n; ++i) {
    const pb::BoostedNode& node = tree.nodes(i);
    if (node.has_leaf()) {
      if (node.leaf().leaf_case() != pb::BoostedLeaf::LEAF_NOT_SET) {
        return refuse(i, "leaves of several values are not supported");
      }
      continue;
    }
    Branch b;
    if (!GetBranch(node, &b)) {
      return refuse(i, "neither a leaf nor a bucketized or categorical split");
    }
    if (b.feature < 0) return refuse(i, "feature_id ", b.feature);
    for (const int32_t child : {b.left, b.right}) {
      if (child <= i || child >= n) {
        return refuse(i, "child ", child, " is not in (", i, ", ", n, ")");
      }
      if (is_child[child])
        return refuse(i, "child ", child, " has two parents");
      is_child[child] = true;
    }
  }
  return OkStatus();
}

Status CheckEnsemble(const pb::BoostedTreeEnsemble& pb) {
  const int n = pb.trees_size();
  if (pb.tree_weights_size() != n || pb.tree_metadata_size() > n) {
    return errors::InvalidArgument("tree ensemble proto: ", n, " trees, ",
                                   pb.tree_weights_size(), " tree_weights, ",
                                   pb.tree_metadata_size(), " tree_metadata");
  }
  for (int i = 0; i < n; ++i) {
    HR_RETURN_IF_ERROR(CheckTree(pb.trees(i), i));
    if (i >= pb.tree_metadata_size()) continue;
    for (const auto& update : pb.tree_metadata(i).post_pruned_nodes_meta()) {
      if (update.new_node_id() < 0 ||
          update.new_node_id() >= pb.trees(i).nodes_size()) {
        return errors::InvalidArgument("tree ensemble proto: tree ", i,
                                       ": new_node_id ", update.new_node_id(),
                                       " is no node");
      }
    }
  }
  return OkStatus();
}

}  // namespace

Status BoostedEnsemble::Parse(absl::string_view bytes) {
  pb::BoostedTreeEnsemble pb;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !pb.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return errors::InvalidArgument("Unable to parse tree ensemble proto.");
  }
  HR_RETURN_IF_ERROR(CheckEnsemble(pb));
  while (pb.tree_metadata_size() < pb.trees_size()) pb.add_tree_metadata();
  pb_ = std::move(pb);
  return OkStatus();
}

int BoostedEnsemble::num_layers(int tree) const {
  return pb_.tree_metadata(tree).num_layers_grown();
}

bool BoostedEnsemble::is_finalized(int tree) const {
  return pb_.tree_metadata(tree).is_finalized();
}

void BoostedEnsemble::LastLayer(int32_t* begin, int32_t* end) const {
  *begin = pb_.growing_metadata().last_layer_node_start();
  *end = std::max(1, pb_.growing_metadata().last_layer_node_end());
}

float BoostedEnsemble::Value(int tree, int node) const {
  const pb::BoostedNode& n = pb_.trees(tree).nodes(node);
  return n.has_leaf() ? n.leaf().scalar()
                      : n.metadata().original_leaf().scalar();
}

void BoostedEnsemble::SetValue(int tree, int node, float value) {
  pb::BoostedNode* n = pb_.mutable_trees(tree)->mutable_nodes(node);
  (n->has_leaf() ? n->mutable_leaf()
                 : n->mutable_metadata()->mutable_original_leaf())
      ->set_scalar(value);
}

int32_t BoostedEnsemble::Feature(int tree, int node) const {
  Branch b;
  GetBranch(pb_.trees(tree).nodes(node), &b);
  return b.feature;
}

int BoostedEnsemble::Next(int tree, int node, int32_t bucket) const {
  const pb::BoostedNode& n = pb_.trees(tree).nodes(node);
  if (n.has_categorical_split()) {
    const auto& s = n.categorical_split();
    return bucket == s.value() ? s.left_id() : s.right_id();
  }
  const auto& s = n.bucketized_split();
  return bucket <= s.threshold() ? s.left_id() : s.right_id();
}

int32_t BoostedEnsemble::MaxFeature() const {
  int32_t found = -1;
  for (const pb::BoostedTree& tree : pb_.trees()) {
    for (const pb::BoostedNode& node : tree.nodes()) {
      Branch b;
      if (GetBranch(node, &b)) found = std::max(found, b.feature);
    }
  }
  return found;
}

Status BoostedEnsemble::Pruned(int tree, int* node, float* change) const {
  const auto& updates = pb_.tree_metadata(tree).post_pruned_nodes_meta();
  *change = 0;
  if (!updates.empty() && *node < updates.size()) {
    const auto& update = updates.Get(*node);
    *node = update.new_node_id();
    if (update.logit_change_size() > 0) *change = update.logit_change(0);
  }
  if (*node < num_nodes(tree)) return OkStatus();
  return errors::OutOfRange("tree ", tree, " has no node ", *node);
}

pb::BoostedTreeMetadata* BoostedEnsemble::Metadata(int tree) {
  return pb_.mutable_tree_metadata(tree);
}

void BoostedEnsemble::AddTree(float weight, float value) {
  pb_.add_trees()->add_nodes()->mutable_leaf()->set_scalar(value);
  pb_.add_tree_weights(weight);
  pb_.add_tree_metadata();
}

void BoostedEnsemble::CountAttempt() {
  pb::BoostedGrowingMetadata* growing = pb_.mutable_growing_metadata();
  growing->set_num_layers_attempted(growing->num_layers_attempted() + 1);
  const int n = num_trees();
  // A tree begins: the first, or after one that is finished.
  if (n == 0 || ((n == 1 || is_finalized(n - 2)) && num_nodes(n - 1) == 1)) {
    growing->set_num_trees_attempted(growing->num_trees_attempted() + 1);
  }
}

void BoostedEnsemble::AddSplit(int tree, int node, const Split& split) {
  pb::BoostedTree* t = pb_.mutable_trees(tree);
  const int left = t->nodes_size(), right = left + 1;
  const float value = t->nodes(node).leaf().scalar();
  t->add_nodes()->mutable_leaf()->set_scalar(value + split.left);
  t->add_nodes()->mutable_leaf()->set_scalar(value + split.right);
  pb::BoostedNode* n = t->mutable_nodes(node);
  if (node != 0 || value != 0) {
    *n->mutable_metadata()->mutable_original_leaf() = n->leaf();
  }
  n->mutable_metadata()->set_gain(split.gain);
  const auto fill = [&](auto* s) {
    s->set_feature_id(split.feature);
    s->set_dimension_id(split.dimension);
    s->set_left_id(left);
    s->set_right_id(right);
  };
  if (split.type == SplitType::kEqual) {
    fill(n->mutable_categorical_split());
    n->mutable_categorical_split()->set_value(split.threshold);
    return;
  }
  fill(n->mutable_bucketized_split());
  n->mutable_bucketized_split()->set_threshold(split.threshold);
  n->mutable_bucketized_split()->set_default_direction(
      split.type == SplitType::kDefaultRight ? pb::DEFAULT_RIGHT
                                             : pb::DEFAULT_LEFT);
}

void BoostedEnsemble::SetLayers(int tree, int layers) {
  Metadata(tree)->set_num_layers_grown(layers);
}

void BoostedEnsemble::Finalize(int tree) {
  Metadata(tree)->set_is_finalized(true);
}

void BoostedEnsemble::SetLastLayer(int32_t begin, int32_t end) {
  pb_.mutable_growing_metadata()->set_last_layer_node_start(begin);
  pb_.mutable_growing_metadata()->set_last_layer_node_end(end);
}

void BoostedEnsemble::Prune(int tree) {
  pb::BoostedTree* t = pb_.mutable_trees(tree);
  const int n = t->nodes_size();
  // Of a removed node: the node that it became part of, and what that changes.
  std::vector<int> parent(n);
  for (int i = 0; i < n; ++i) parent[i] = i;
  std::vector<float> change(n, 0.f);
  bool any = false;
  // Children come after their parents.
  for (int i = n - 1; i >= 0; --i) {
    pb::BoostedNode* node = t->mutable_nodes(i);
    Branch b;
    if (!GetBranch(*node, &b) || !(node->metadata().gain() < 0) ||
        !IsLeaf(tree, b.left) || !IsLeaf(tree, b.right)) {
      continue;
    }
    const float value = Value(tree, i);
    for (const int child : {b.left, b.right}) {
      change[child] = value - Value(tree, child);
      parent[child] = i;
    }
    *node->mutable_leaf() = pb::BoostedLeaf(node->metadata().original_leaf());
    node->clear_metadata();
    any = true;
  }
  if (!any) return;
  std::vector<int> renumbered(n, -1);
  int kept = 0;
  for (int i = 0; i < n; ++i) {
    if (parent[i] == i) renumbered[i] = kept++;
  }
  pb::BoostedTree pruned;
  Metadata(tree)->clear_post_pruned_nodes_meta();
  for (int i = 0; i < n; ++i) {
    int root = i;
    float total = 0;
    for (; parent[root] != root; root = parent[root]) total += change[root];
    auto* update = Metadata(tree)->add_post_pruned_nodes_meta();
    update->set_new_node_id(renumbered[root]);
    update->add_logit_change(total);
    if (root != i) continue;
    pb::BoostedNode* node = pruned.add_nodes();
    *node = std::move(*t->mutable_nodes(i));
    const auto renumber = [&](auto* s) {
      s->set_left_id(renumbered[s->left_id()]);
      s->set_right_id(renumbered[s->right_id()]);
    };
    if (node->has_bucketized_split()) {
      renumber(node->mutable_bucketized_split());
    } else if (node->has_categorical_split()) {
      renumber(node->mutable_categorical_split());
    }
  }
  *t = std::move(pruned);
}

std::string BoostedEnsembleResource::DebugString() const {
  return absl::StrCat("an ensemble of ", Read()->num_trees(), " boosted trees");
}

std::shared_ptr<const BoostedEnsemble> BoostedEnsembleResource::Read(
    int64_t* stamp) const {
  MutexLock lock(&mu_);
  if (stamp != nullptr) *stamp = stamp_;
  return ensemble_;
}

void BoostedEnsembleResource::Replace(BoostedEnsemble ensemble, int64_t stamp) {
  auto made = std::make_shared<BoostedEnsemble>(std::move(ensemble));
  MutexLock lock(&mu_);
  ensemble_ = std::move(made);
  stamp_ = stamp;
}

// Readers get the pointer under the lock, so that none can appear now. The
// fence orders our writes after the reads of those who dropped it.
void BoostedEnsembleResource::Unshare() {
  if (ensemble_.use_count() > 1) {
    ensemble_ = std::make_shared<BoostedEnsemble>(*ensemble_);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

}  // namespace headrace
