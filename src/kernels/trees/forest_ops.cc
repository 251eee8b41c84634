// Ops of random forests. One step of training finds the leaf of each example
// (TraverseTreeV4), counts the example there (UpdateModelV4), and with the
// candidates of splits (ProcessInputV4); leaves that have seen enough are split
// (GrowTreeV4).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "base/random.h"
#include "kernels/lib/uniform_below.h"
#include "kernels/trees/boosted_args.h"
#include "kernels/trees/forest.h"

namespace headrace {
namespace {

REGISTER_KERNEL_BUILDER(Name("DecisionTreeResourceHandleOp").Device(DEVICE_CPU),
                        BoostedHandleOp<ForestTreeResource>);
REGISTER_KERNEL_BUILDER(Name("FertileStatsResourceHandleOp").Device(DEVICE_CPU),
                        BoostedHandleOp<ForestStatsResource>);
REGISTER_KERNEL_BUILDER(Name("TreeIsInitializedOp").Device(DEVICE_CPU),
                        BoostedIsInitializedOp<ForestTreeResource>);
REGISTER_KERNEL_BUILDER(Name("FertileStatsIsInitializedOp").Device(DEVICE_CPU),
                        BoostedIsInitializedOp<ForestStatsResource>);

// Ops with the attr `params`.
class ForestOp : public OpKernel {
 public:
  explicit ForestOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string bytes;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("params", &bytes));
    OP_REQUIRES_OK(ctx, params_.Parse(bytes));
    if (ctx->HasAttr("input_spec")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("input_spec", &bytes));
      OP_REQUIRES(ctx, !absl::StrContains(bytes, "original_type: 1"),
                  errors::Unimplemented("input_spec: columns of categories are "
                                        "not supported, only floats: ",
                                        bytes));
    }
  }

 protected:
  int outputs() const { return params_.pb.num_outputs(); }
  // The serialized message at input 1.
  static Status Bytes(const OpKernelContext& ctx, std::string* out) {
    HR_RETURN_IF_ERROR(CheckBoostedRank(ctx.input(1), "config", 0));
    *out = std::string(ctx.input(1).scalar<tstring>());
    return OkStatus();
  }
  // A matrix of examples. The three inputs after it, a sparse matrix, must be
  // empty.
  static Status Examples(const OpKernelContext& ctx, int i,
                         const Tensor** out) {
    if (ctx.input(i + 2).NumElements() > 0) {
      return errors::Unimplemented(
          "forests take dense features only, got sparse_input_values of ",
          ctx.input(i + 2).NumElements(), " elements");
    }
    *out = &ctx.input(i);
    return CheckBoostedRank(**out, "input_data", 2);
  }
  static Status CheckFeatures(const ForestTree& tree, const Tensor& examples) {
    if (tree.MaxFeature() < examples.dim_size(1)) return OkStatus();
    return errors::InvalidArgument(
        "a split asks for feature ", tree.MaxFeature(),
        ", but input_data has shape ", examples.shape().DebugString());
  }

  // Labels and weights of `n` examples.
  struct Targets {
    const float* of(int64_t i) const { return labels + i * stride; }
    float weight(int64_t i) const {
      return weights == nullptr ? 1.f : weights[i];
    }
    const float *labels = nullptr, *weights = nullptr;
    int64_t stride = 1;
  };
  Status ReadTargets(const Tensor& labels, const Tensor& weights, int64_t n,
                     Targets* out) const {
    const bool regression = params_.pb.is_regression();
    if (labels.NumElements() != (regression ? n * outputs() : n)) {
      return errors::InvalidArgument(
          "input_labels must have ", regression ? outputs() : 1,
          " numbers for each of ", n, " examples, got shape ",
          labels.shape().DebugString());
    }
    if (weights.NumElements() != 0 && weights.NumElements() != n) {
      return errors::InvalidArgument(
          "input_weights must be empty or have a number for each of ", n,
          " examples, got shape ", weights.shape().DebugString());
    }
    out->labels = labels.data<float>();
    out->weights = weights.NumElements() == 0 ? nullptr : weights.data<float>();
    out->stride = regression ? outputs() : 1;
    for (int64_t i = 0; i < n && !regression; ++i) {
      const float label = out->labels[i];
      if (!(label >= 0 && label < static_cast<float>(outputs()))) {
        return errors::InvalidArgument("input_labels[", i, "] = ", label,
                                       " is no class in [0, ", outputs(), ")");
      }
    }
    return OkStatus();
  }

  // A vector of nodes, one for each example.
  static Status ReadLeaves(const Tensor& t, int64_t n) {
    if (t.dims() == 1 && (n < 0 || t.NumElements() == n)) return OkStatus();
    return errors::InvalidArgument(
        "leaf_ids must be a vector of an element "
        "for each example, got shape ",
        t.shape().DebugString());
  }
  static Status CheckLeaf(const ForestTree& tree, int32_t leaf) {
    if (leaf >= 0 && leaf < static_cast<int64_t>(tree.nodes().size()) &&
        tree.nodes()[leaf].is_leaf()) {
      return OkStatus();
    }
    return errors::InvalidArgument("node ", leaf, " is no leaf of a tree of ",
                                   tree.nodes().size(), " nodes");
  }

  Status ParseSlots(const std::string& bytes, ForestSlots* out) const {
    pb::ForestFertileStats stats;
    if (!stats.ParseFromString(bytes)) {
      return errors::InvalidArgument("Unable to parse stats config.");
    }
    for (const pb::ForestFertileSlot& slot : stats.node_to_slot()) {
      HR_RETURN_IF_ERROR((*out)[slot.node_id()].FromMessage(params_, slot));
    }
    if (out->empty()) out->emplace(0, ForestSlot(0));
    return OkStatus();
  }

  ForestParams params_;
};

class CreateTreeOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    std::string bytes;
    ForestTree tree;
    OP_REQUIRES_OK(ctx, Bytes(*ctx, &bytes));
    OP_REQUIRES_OK(ctx, tree.Parse(bytes, outputs()));
    OP_REQUIRES_OK(
        ctx, MakeBoostedResource<ForestTreeResource>(*ctx, std::move(tree)));
  }
};
REGISTER_KERNEL_BUILDER(Name("CreateTreeVariable").Device(DEVICE_CPU),
                        CreateTreeOp);

class TreeDeserializeOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    std::string bytes;
    OP_REQUIRES_OK(ctx, Bytes(*ctx, &bytes));
    MutexLock lock(&resource->mu);
    OP_REQUIRES_OK(ctx, resource->tree.Parse(bytes, outputs()));
  }
};
REGISTER_KERNEL_BUILDER(Name("TreeDeserialize").Device(DEVICE_CPU),
                        TreeDeserializeOp);

class TreeSerializeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    MutexLock lock(&resource->mu);
    ctx->set_output(
        0, Tensor::Scalar<tstring>(tstring(resource->tree.Serialize())));
  }
};
REGISTER_KERNEL_BUILDER(Name("TreeSerialize").Device(DEVICE_CPU),
                        TreeSerializeOp);

class TreeSizeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    MutexLock lock(&resource->mu);
    ctx->set_output(0, Tensor::Scalar<int32_t>(static_cast<int32_t>(
                           resource->tree.nodes().size())));
  }
};
REGISTER_KERNEL_BUILDER(Name("TreeSize").Device(DEVICE_CPU), TreeSizeOp);

class FeatureUsageOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const int32_t n = std::max(0, params_.pb.num_features());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n}, &out));
    int32_t* counts = out->data<int32_t>();
    std::fill_n(counts, n, 0);
    MutexLock lock(&resource->mu);
    for (const ForestTree::Node& node : resource->tree.nodes()) {
      if (!node.is_leaf() && node.test.feature < n) ++counts[node.test.feature];
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("FeatureUsageCounts").Device(DEVICE_CPU),
                        FeatureUsageOp);

class TraverseTreeOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const Tensor* x = nullptr;
    OP_REQUIRES_OK(ctx, Examples(*ctx, 1, &x));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {x->dim_size(0)}, &out));
    int32_t* leaves = out->data<int32_t>();
    MutexLock lock(&resource->mu);
    OP_REQUIRES_OK(ctx, CheckFeatures(resource->tree, *x));
    for (int64_t i = 0; i < x->dim_size(0); ++i) {
      leaves[i] =
          resource->tree.Leaf(x->data<float>() + i * x->dim_size(1), nullptr);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("TraverseTreeV4").Device(DEVICE_CPU),
                        TraverseTreeOp);

class TreePredictionsOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const Tensor* x = nullptr;
    OP_REQUIRES_OK(ctx, Examples(*ctx, 1, &x));
    const int64_t n = x->dim_size(0);
    Tensor *out = nullptr, *paths = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, outputs()}, &out));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &paths));
    float* p = out->data<float>();
    tstring* texts = paths->data<tstring>();
    MutexLock lock(&resource->mu);
    OP_REQUIRES_OK(ctx, CheckFeatures(resource->tree, *x));
    std::vector<int32_t> path;
    for (int64_t i = 0; i < n; ++i, p += outputs()) {
      path.clear();
      const int32_t leaf =
          resource->tree.Leaf(x->data<float>() + i * x->dim_size(1), &path);
      const ForestValues& values = resource->tree.nodes()[leaf].values;
      float sum = 0;
      for (const float v : values) sum += v;
      const bool is_share = !params_.pb.is_regression() && sum > 0 && sum != 1;
      for (int j = 0; j < outputs(); ++j) {
        p[j] = is_share ? values[j] / sum : values[j];
      }
      if (!params_.pb.inference_tree_paths()) continue;
      pb::ForestTreePath message;
      for (const int32_t node : path) {
        *message.add_nodes_visited() = resource->tree.NodeMessage(node);
      }
      texts[i] = tstring(message.SerializeAsString());
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("TreePredictionsV4").Device(DEVICE_CPU),
                        TreePredictionsOp);

// Leaves of regressions are means, which only splits set.
class UpdateModelOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const Tensor& leaves = ctx->input(1);
    OP_REQUIRES_OK(ctx, ReadLeaves(leaves, -1));
    const int64_t n = leaves.NumElements();
    Targets targets;
    OP_REQUIRES_OK(ctx, ReadTargets(ctx->input(2), ctx->input(3), n, &targets));
    if (params_.pb.is_regression()) return;
    MutexLock lock(&resource->mu);
    for (int64_t i = 0; i < n; ++i) {
      const int32_t leaf = leaves.data<int32_t>()[i];
      OP_REQUIRES_OK(ctx, CheckLeaf(resource->tree, leaf));
      resource->tree.AddToLeaf(leaf, static_cast<int32_t>(*targets.of(i)),
                               targets.weight(i));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("UpdateModelV4").Device(DEVICE_CPU),
                        UpdateModelOp);

class CreateStatsOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    std::string bytes;
    ForestSlots slots;
    OP_REQUIRES_OK(ctx, Bytes(*ctx, &bytes));
    OP_REQUIRES_OK(ctx, ParseSlots(bytes, &slots));
    OP_REQUIRES_OK(
        ctx, MakeBoostedResource<ForestStatsResource>(*ctx, std::move(slots)));
  }
};
REGISTER_KERNEL_BUILDER(Name("CreateFertileStatsVariable").Device(DEVICE_CPU),
                        CreateStatsOp);

class StatsDeserializeOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestStatsResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    std::string bytes;
    ForestSlots slots;
    OP_REQUIRES_OK(ctx, Bytes(*ctx, &bytes));
    OP_REQUIRES_OK(ctx, ParseSlots(bytes, &slots));
    MutexLock lock(&resource->mu);
    resource->slots = std::move(slots);
  }
};
REGISTER_KERNEL_BUILDER(Name("FertileStatsDeserialize").Device(DEVICE_CPU),
                        StatsDeserializeOp);

class StatsSerializeOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestStatsResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    pb::ForestFertileStats stats;
    MutexLock lock(&resource->mu);
    for (const auto& [node, slot] : resource->slots) {
      pb::ForestFertileSlot* out = stats.add_node_to_slot();
      out->set_node_id(node);
      slot.ToMessage(params_, out);
    }
    ctx->set_output(
        0, Tensor::Scalar<tstring>(tstring(stats.SerializeAsString())));
  }
};
REGISTER_KERNEL_BUILDER(Name("FertileStatsSerialize").Device(DEVICE_CPU),
                        StatsSerializeOp);

class ProcessInputOp : public ForestOp {
 public:
  explicit ProcessInputOp(OpKernelConstruction* ctx) : ForestOp(ctx) {
    int64_t seed = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("random_seed", &seed));
    random_.emplace(
        Philox(seed > 0 ? static_cast<uint64_t>(seed) : RandomSeed64(), 0));
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestStatsResource> resource;
    OP_REQUIRES_OK(ctx, LookupInput<ForestStatsResource>(
                            *ctx, 1, ctx->resource_manager(), &resource));
    const Tensor* x = nullptr;
    OP_REQUIRES_OK(ctx, Examples(*ctx, 2, &x));
    const int64_t n = x->dim_size(0), features = x->dim_size(1);
    OP_REQUIRES(ctx,
                features > 0 && features < std::numeric_limits<int32_t>::max(),
                errors::InvalidArgument("input_data needs features, got shape ",
                                        x->shape().DebugString()));
    Targets targets;
    OP_REQUIRES_OK(ctx, ReadTargets(ctx->input(6), ctx->input(7), n, &targets));
    OP_REQUIRES_OK(ctx, ReadLeaves(ctx->input(8), n));
    const int32_t* leaves = ctx->input(8).data<int32_t>();
    std::set<int32_t> finished;
    MutexLock lock(&resource->mu);
    for (int64_t i = 0; i < n; ++i) {
      const auto at = resource->slots.find(leaves[i]);
      OP_REQUIRES(ctx, at != resource->slots.end(),
                  errors::InvalidArgument("leaf_ids[", i, "]: node ", leaves[i],
                                          " has no statistics"));
      ForestSlot& slot = at->second;
      const float* example = x->data<float>() + i * features;
      if (slot.WantsCandidates(params_)) {
        ForestTest test;
        test.feature = static_cast<int32_t>(
            UniformBelow(static_cast<uint32_t>(features), &*random_));
        test.threshold = example[test.feature];
        test.type = params_.pb.inequality_test_type();
        slot.AddCandidate(test);
      } else {
        OP_REQUIRES_OK(ctx, slot.CheckFeatures(features));
        slot.AddExample(params_, example, targets.of(i), targets.weight(i));
      }
      if (slot.IsFinished(params_)) finished.insert(leaves[i]);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {static_cast<int64_t>(finished.size())}, &out));
    std::copy(finished.begin(), finished.end(), out->data<int32_t>());
  }

 private:
  // Guarded by the statistics' mutex: a node has one resource.
  std::optional<PhiloxWords> random_;
};
REGISTER_KERNEL_BUILDER(Name("ProcessInputV4").Device(DEVICE_CPU),
                        ProcessInputOp);

class GrowTreeOp : public ForestOp {
 public:
  using ForestOp::ForestOp;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<ForestTreeResource> tree;
    RefPtr<ForestStatsResource> stats;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &tree));
    OP_REQUIRES_OK(ctx, LookupInput<ForestStatsResource>(
                            *ctx, 1, ctx->resource_manager(), &stats));
    const Tensor& finished = ctx->input(2);
    OP_REQUIRES_OK(ctx, ReadLeaves(finished, -1));
    MutexLock tree_lock(&tree->mu);
    MutexLock stats_lock(&stats->mu);
    for (int64_t i = 0; i < finished.NumElements(); ++i) {
      const auto size = static_cast<int64_t>(tree->tree.nodes().size());
      if (size >= params_.pb.max_nodes()) return;
      const int32_t node = finished.data<int32_t>()[i];
      OP_REQUIRES_OK(ctx, CheckLeaf(tree->tree, node));
      const auto at = stats->slots.find(node);
      OP_REQUIRES(ctx, at != stats->slots.end(),
                  errors::InvalidArgument("finished_nodes[", i, "]: node ",
                                          node, " has no statistics"));
      const int depth = at->second.depth();
      ForestTest test;
      ForestValues left, right;
      if (!at->second.BestSplit(params_, &test, &left, &right)) {
        at->second = ForestSlot(depth);  // it begins again
        continue;
      }
      tree->tree.Split(node, test, std::move(left), std::move(right));
      stats->slots.erase(at);
      for (int64_t child = size; child < size + 2; ++child) {
        stats->slots.emplace(static_cast<int32_t>(child),
                             ForestSlot(depth + 1));
      }
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("GrowTreeV4").Device(DEVICE_CPU), GrowTreeOp);

}  // namespace
}  // namespace headrace
