#include "kernels/trees/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"

namespace headrace {
namespace {

constexpr int kMostOutputs = 1 << 20;

float AtDepth(const pb::ForestDepthDependentParam& p, int depth) {
  const auto d = static_cast<float>(depth);
  if (p.has_linear()) {
    const auto& l = p.linear();
    return std::min(std::max(l.slope() * d + l.y_intercept(), l.min_val()),
                    l.max_val());
  }
  if (p.has_exponential()) {
    const auto& e = p.exponential();
    return e.bias() +
           e.multiplier() * std::pow(e.base(), e.depth_multiplier() * d);
  }
  if (p.has_threshold()) {
    const auto& t = p.threshold();
    return d >= t.threshold() ? t.on_value() : t.off_value();
  }
  return p.constant_value();
}

Status ReadTest(const pb::ForestBinaryNode& in, ForestTest* out) {
  const pb::ForestInequalityTest& test = in.inequality_left_child_test();
  int32_t feature = 0;
  if (!in.has_inequality_left_child_test() ||
      !absl::SimpleAtoi(test.feature_id().id().value(), &feature) ||
      feature < 0 || test.type() > pb::ForestInequalityTest::LESS_THAN) {
    return errors::InvalidArgument(
        "tree proto: a split is no test whether a feature is less than a "
        "number");
  }
  *out = {feature, test.threshold().float_value(), test.type()};
  return OkStatus();
}

void WriteTest(const ForestTest& in, pb::ForestBinaryNode* out) {
  pb::ForestInequalityTest* test = out->mutable_inequality_left_child_test();
  test->mutable_feature_id()->mutable_id()->set_value(absl::StrCat(in.feature));
  test->mutable_threshold()->set_float_value(in.threshold);
  test->set_type(in.type);
}

void WriteVector(const std::vector<float>& in, pb::ForestVector* out) {
  for (const float x : in) out->add_value()->set_float_value(x);
}

// Numbers for all outputs, from either form.
Status ReadVector(const pb::ForestVector& in, int outputs,
                  std::vector<float>* out) {
  if (in.value_size() != outputs) {
    return errors::InvalidArgument("forest proto: ", in.value_size(),
                                   " values of a leaf for ", outputs,
                                   " outputs");
  }
  out->clear();
  for (const pb::ForestValue& v : in.value()) out->push_back(v.float_value());
  return OkStatus();
}

Status ReadSparse(const pb::ForestSparseVector& in, int outputs,
                  std::vector<float>* out) {
  out->assign(outputs, 0.f);
  for (const auto& [i, v] : in.sparse_value()) {
    if (i < 0 || i >= outputs) {
      return errors::InvalidArgument("forest proto: output ", i,
                                     " is not in [0, ", outputs, ")");
    }
    (*out)[i] = v.float_value();
  }
  return OkStatus();
}

}  // namespace

Status ForestParams::Parse(const std::string& bytes) {
  if (!pb.ParseFromString(bytes)) {
    return errors::InvalidArgument(
        "params are no serialized TensorForestParams");
  }
  if (pb.num_outputs() <= 0 || pb.num_outputs() > kMostOutputs) {
    return errors::InvalidArgument("params: num_outputs must be in [1, ",
                                   kMostOutputs, "], got ", pb.num_outputs());
  }
  if (pb.pruning_type().type() != pb::SPLIT_PRUNE_NONE ||
      pb.finish_type().type() != pb::SPLIT_FINISH_BASIC) {
    return errors::Unimplemented(
        "params: forests prune no candidates of splits and finish nodes by "
        "split_after_samples alone: use split_pruning_name 'none' and "
        "split_finish_name 'basic'");
  }
  if (pb.collection_type() != pb::COLLECTION_BASIC ||
      pb.stats_type() == pb::STATS_FIXED_SIZE_SPARSE_GINI ||
      pb.inequality_test_type() > pb::ForestInequalityTest::LESS_THAN) {
    return errors::Unimplemented(
        "params: this collection_type, stats_type or inequality_test_type is "
        "not supported");
  }
  return OkStatus();
}

int ForestParams::SplitsToConsider(int depth) const {
  const float n = AtDepth(pb.num_splits_to_consider(), depth);
  return n >= 1 ? static_cast<int>(std::min(n, 1e6f)) : 1;
}

float ForestParams::SplitAfter(int depth) const {
  return AtDepth(pb.split_after_samples(), depth);
}

Status ForestTree::Parse(const std::string& bytes, int outputs) {
  pb::ForestModel model;
  if (!model.ParseFromString(bytes)) {
    return errors::InvalidArgument("Unable to parse tree proto.");
  }
  const auto& in = model.decision_tree().nodes();
  std::vector<Node> made(std::max(in.size(), 1));
  std::vector<bool> is_child(made.size(), false);
  if (in.empty()) made[0].values.assign(outputs, 0.f);
  for (int i = 0; i < in.size(); ++i) {
    Node& node = made[i];
    if (in[i].has_binary_node()) {
      const pb::ForestBinaryNode& split = in[i].binary_node();
      HR_RETURN_IF_ERROR(ReadTest(split, &node.test));
      node.left = split.left_child_id().value();
      node.right = split.right_child_id().value();
      for (const int32_t child : {node.left, node.right}) {
        if (child <= i || child >= in.size() || is_child[child]) {
          return errors::InvalidArgument("tree proto: node ", i, ": child ",
                                         child, " is not in (", i, ", ",
                                         in.size(), ") or has two parents");
        }
        is_child[child] = true;
      }
    } else if (in[i].leaf().has_sparse_vector()) {
      HR_RETURN_IF_ERROR(
          ReadSparse(in[i].leaf().sparse_vector(), outputs, &node.values));
    } else if (in[i].leaf().has_vector()) {
      HR_RETURN_IF_ERROR(
          ReadVector(in[i].leaf().vector(), outputs, &node.values));
    } else {
      node.values.assign(outputs, 0.f);
    }
  }
  nodes_ = std::move(made);
  return OkStatus();
}

pb::ForestTreeNode ForestTree::NodeMessage(int32_t i) const {
  const Node& node = nodes_[i];
  pb::ForestTreeNode out;
  // TensorFlow's root has none; it finds the way by the ids of the others.
  if (i > 0) out.mutable_node_id()->set_value(i);
  if (node.is_leaf()) {
    WriteVector(node.values, out.mutable_leaf()->mutable_vector());
    return out;
  }
  pb::ForestBinaryNode* split = out.mutable_binary_node();
  split->mutable_left_child_id()->set_value(node.left);
  split->mutable_right_child_id()->set_value(node.right);
  WriteTest(node.test, split);
  return out;
}

std::string ForestTree::Serialize() const {
  pb::ForestModel model;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    *model.mutable_decision_tree()->add_nodes() =
        NodeMessage(static_cast<int32_t>(i));
  }
  return model.SerializeAsString();
}

int32_t ForestTree::Leaf(const float* example,
                         std::vector<int32_t>* path) const {
  int32_t at = 0;
  for (;;) {
    if (path != nullptr) path->push_back(at);
    const Node& node = nodes_[at];
    if (node.is_leaf()) return at;
    at = node.test.IsLeft(example[node.test.feature]) ? node.left : node.right;
  }
}

int32_t ForestTree::MaxFeature() const {
  int32_t found = -1;
  for (const Node& node : nodes_) {
    if (!node.is_leaf()) found = std::max(found, node.test.feature);
  }
  return found;
}

void ForestTree::Split(int32_t leaf, const ForestTest& test, ForestValues left,
                       ForestValues right) {
  const auto first = static_cast<int32_t>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  nodes_[first].values = std::move(left);
  nodes_[first + 1].values = std::move(right);
  Node& node = nodes_[leaf];
  node.left = first;
  node.right = first + 1;
  node.test = test;
  node.values.clear();
}

void ForestSlot::Sums::Add(const ForestParams& params, const float* target,
                           float w) {
  const int outputs = params.pb.num_outputs();
  values.resize(outputs, 0.f);
  weight += w;
  if (!params.pb.is_regression()) {
    values[static_cast<int>(*target)] += w;
    return;
  }
  squares.resize(outputs, 0.f);
  for (int i = 0; i < outputs; ++i) {
    values[i] += w * target[i];
    squares[i] += w * target[i] * target[i];
  }
}

void ForestSlot::AddExample(const ForestParams& params, const float* example,
                            const float* target, float weight) {
  for (Candidate& c : candidates_) {
    if (c.test.IsLeft(example[c.test.feature])) {
      c.left.Add(params, target, weight);
    }
  }
  total_.Add(params, target, weight);
  weight_ += weight;
}

bool ForestSlot::IsFinished(const ForestParams& params) const {
  if (weight_ < params.SplitAfter(depth_)) return false;
  if (params.pb.is_regression()) return true;
  return std::count_if(total_.values.begin(), total_.values.end(),
                       [](float x) { return x > 0; }) > 1;
}

ForestSlot::Sums ForestSlot::Minus(const Sums& a, const Sums& b) {
  Sums rest = a;
  rest.weight -= b.weight;
  for (size_t i = 0; i < b.values.size(); ++i) rest.values[i] -= b.values[i];
  for (size_t i = 0; i < b.squares.size(); ++i) rest.squares[i] -= b.squares[i];
  return rest;
}

// Of classes the weight times the Gini impurity, as if each class had one
// example more; of regressions the sum of variances.
float ForestSlot::Score(const ForestParams& params, const Sums& sums) {
  float square = 0, variance = 0;
  for (size_t i = 0; i < sums.values.size(); ++i) {
    square += sums.values[i] * sums.values[i];
    if (!sums.squares.empty()) {
      const float mean = sums.values[i] / sums.weight;
      variance += sums.squares[i] / sums.weight - mean * mean;
    }
  }
  if (params.pb.is_regression()) return variance;
  const auto classes = static_cast<double>(params.pb.num_outputs());
  const double smooth = classes + sums.weight;
  const double gini =
      1.0 - (square + 2 * sums.weight + classes) / (smooth * smooth);
  return static_cast<float>(sums.weight * gini);
}

ForestValues ForestSlot::Values(const ForestParams& params, const Sums& sums) {
  ForestValues values = sums.values;
  if (params.pb.is_regression()) {
    for (float& x : values) x /= sums.weight;
  }
  return values;
}

bool ForestSlot::BestSplit(const ForestParams& params, ForestTest* test,
                           ForestValues* left, ForestValues* right) const {
  float least = std::numeric_limits<float>::max();
  const Candidate* best = nullptr;
  for (const Candidate& c : candidates_) {
    const Sums rest = Minus(total_, c.left);
    if (!(c.left.weight > 0) || !(rest.weight > 0)) continue;
    const float score = Score(params, c.left) + Score(params, rest);
    if (!(score < least)) continue;
    least = score;
    best = &c;
  }
  if (best == nullptr) return false;
  *test = best->test;
  *left = Values(params, best->left);
  *right = Values(params, Minus(total_, best->left));
  return true;
}

void ForestSlot::SumsToMessage(const ForestParams& params, const Sums& sums,
                               pb::ForestLeafStat* out) {
  out->set_weight_sum(sums.weight);
  std::vector<float> values = sums.values, squares = sums.squares;
  values.resize(params.pb.num_outputs(), 0.f);
  squares.resize(params.pb.num_outputs(), 0.f);
  if (params.pb.is_regression()) {
    WriteVector(values, out->mutable_regression()->mutable_mean_output());
    WriteVector(squares,
                out->mutable_regression()->mutable_mean_output_squares());
    return;
  }
  WriteVector(values, out->mutable_classification()->mutable_dense_counts());
}

Status ForestSlot::SumsFromMessage(const ForestParams& params,
                                   const pb::ForestLeafStat& in, Sums* out) {
  const int outputs = params.pb.num_outputs();
  out->weight = in.weight_sum();
  if (in.has_regression()) {
    HR_RETURN_IF_ERROR(
        ReadVector(in.regression().mean_output(), outputs, &out->values));
    return ReadVector(in.regression().mean_output_squares(), outputs,
                      &out->squares);
  }
  if (in.classification().has_sparse_counts()) {
    return ReadSparse(in.classification().sparse_counts(), outputs,
                      &out->values);
  }
  if (!in.classification().has_dense_counts()) return OkStatus();
  return ReadVector(in.classification().dense_counts(), outputs, &out->values);
}

void ForestSlot::ToMessage(const ForestParams& params,
                           pb::ForestFertileSlot* out) const {
  out->set_depth(depth_);
  if (!params.pb.checkpoint_stats()) return;
  SumsToMessage(params, total_, out->mutable_leaf_stats());
  for (const Candidate& c : candidates_) {
    pb::ForestSplitCandidate* candidate = out->add_candidates();
    WriteTest(c.test, candidate->mutable_split());
    SumsToMessage(params, c.left, candidate->mutable_left_stats());
  }
}

Status ForestSlot::FromMessage(const ForestParams& params,
                               const pb::ForestFertileSlot& in) {
  depth_ = in.depth();
  HR_RETURN_IF_ERROR(SumsFromMessage(params, in.leaf_stats(), &total_));
  weight_ = total_.weight;
  for (const pb::ForestSplitCandidate& c : in.candidates()) {
    Candidate candidate;
    HR_RETURN_IF_ERROR(ReadTest(c.split(), &candidate.test));
    HR_RETURN_IF_ERROR(
        SumsFromMessage(params, c.left_stats(), &candidate.left));
    candidates_.push_back(std::move(candidate));
  }
  return OkStatus();
}

}  // namespace headrace
