// Ops that grow trees: layer by layer, by the best split of each node.
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "kernels/trees/boosted_args.h"
#include "kernels/trees/boosted_ensemble.h"
#include "kernels/trees/boosted_gains.h"

namespace headrace {
namespace {

// The learning rate is in the leaves.
constexpr float kTreeWeight = 1;
// The bias is found when it changes by less than this part.
constexpr float kLeastChangeOfBias = 0.01f;
enum Pruning { kNone = 0, kPre = 1, kPost = 2 };

using Split = BoostedEnsemble::Split;
using BestSplits = std::map<int32_t, Split>;  // by node

// Grows the last tree by one layer; a tree of max_depth layers is finished, and
// another begins.
Status Grow(const BestSplits& splits, int64_t pruning, int32_t max_depth,
            BoostedEnsemble* trees) {
  const bool is_first = trees->num_trees() == 0;
  for (const auto& [node, split] : splits) {
    const int last = trees->num_trees() - 1;
    if (is_first ? node != 0
                 : !trees->IsNode(last, node) || !trees->IsLeaf(last, node)) {
      return errors::InvalidArgument("node ", node,
                                     " of the last tree is no leaf, so it "
                                     "cannot be split");
    }
    if (split.feature < 0) {
      return errors::InvalidArgument("feature_ids has the negative id ",
                                     split.feature);
    }
  }
  trees->CountAttempt();
  if (is_first) trees->AddTree(kTreeWeight, 0);
  const int tree = trees->num_trees() - 1;
  int begin = trees->num_nodes(tree);
  bool any = false;
  for (const auto& [node, split] : splits) {
    if (pruning == kPre && split.gain < 0) continue;
    trees->AddSplit(tree, node, split);
    any = true;
  }
  if (!any) return OkStatus();
  int end = trees->num_nodes(tree);
  trees->SetLayers(tree, trees->num_layers(tree) + 1);
  if (trees->num_layers(tree) >= max_depth) {
    begin = 0;
    end = 1;
    trees->Finalize(tree);
    if (pruning == kPost) trees->Prune(tree);
    trees->AddTree(kTreeWeight, 0);
  }
  trees->SetLastLayer(begin, end);
  return OkStatus();
}

// Of splits of one node the one with the larger gain stays; of equal ones that
// of the feature with the lower number.
void Keep(int32_t node, const Split& split, BestSplits* splits) {
  const auto [at, is_new] = splits->emplace(node, split);
  if (is_new) return;
  Split& best = at->second;
  const bool equal = std::abs(split.gain - best.gain) < kBoostedTolerance;
  if (equal ? split.feature < best.feature
            : BoostedGainIsLarger(split.gain, best.gain)) {
    best = split;
  }
}

// The lists of the splits, one element for each feature: of inputs with these
// names.
struct SplitLists {
  Status Read(const OpKernelContext& ctx) {
    static constexpr const char* kNames[] = {"node_ids", "gains", "thresholds",
                                             "left_node_contribs",
                                             "right_node_contribs"};
    for (int i = 0; i < 5; ++i) {
      HR_RETURN_IF_ERROR(ctx.input_list(kNames[i], &lists[i]));
      for (size_t f = 0; f < lists[i].size(); ++f) {
        const Tensor& t = *lists[i][f];
        const int64_t n = lists[0][f]->NumElements();
        const TensorShape wanted =
            i < 3 ? TensorShape({n}) : TensorShape({n, 1});
        if (t.shape() != wanted) {
          return errors::InvalidArgument(
              kNames[i], "[", f, "] must have shape ", wanted.DebugString(),
              ", got ", t.shape().DebugString());
        }
      }
    }
    return OkStatus();
  }
  int64_t size(size_t f) const { return lists[0][f]->NumElements(); }
  int32_t node(size_t f, int64_t i) const {
    return lists[0][f]->data<int32_t>()[i];
  }
  Split At(size_t f, int64_t i, int32_t feature, float rate) const {
    Split s;
    s.feature = feature;
    s.gain = lists[1][f]->data<float>()[i];
    s.threshold = lists[2][f]->data<int32_t>()[i];
    s.left = rate * lists[3][f]->data<float>()[i];
    s.right = rate * lists[4][f]->data<float>()[i];
    return s;
  }

  std::array<std::vector<const Tensor*>, 5> lists;
};

Status CheckPruning(int64_t pruning) {
  if (pruning >= kNone && pruning <= kPost) return OkStatus();
  return errors::InvalidArgument(
      "pruning_mode must be 0 (none), 1 (before) or 2 (after a tree is grown), "
      "got ",
      pruning);
}

// The ids of the features, a vector of `n` elements.
Status CheckFeatureIds(const Tensor& t, size_t n) {
  if (t.dims() == 1 && t.NumElements() == static_cast<int64_t>(n)) {
    return OkStatus();
  }
  return errors::InvalidArgument("feature_ids must have shape [", n,
                                 "], one for each of node_ids, got ",
                                 t.shape().DebugString());
}

class BoostedUpdateOp : public OpKernel {
 public:
  explicit BoostedUpdateOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pruning_mode", &pruning_));
    OP_REQUIRES_OK(ctx, CheckPruning(pruning_));
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<BoostedEnsembleResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    SplitLists lists;
    OP_REQUIRES_OK(ctx, lists.Read(*ctx));
    const size_t n = lists.lists[0].size();
    OP_REQUIRES_OK(ctx, CheckFeatureIds(ctx->input(1), n));
    int32_t depth = 0;
    float rate = 0;
    const int after = ctx->num_inputs() - 2;
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, after, "max_depth", &depth));
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, after + 1, "learning_rate", &rate));
    BestSplits splits;
    for (size_t f = 0; f < n; ++f) {
      for (int64_t i = 0; i < lists.size(f); ++i) {
        Keep(lists.node(f, i),
             lists.At(f, i, ctx->input(1).data<int32_t>()[f], rate), &splits);
      }
    }
    OP_REQUIRES_OK(ctx, resource->Update([&](BoostedEnsemble* trees) {
      return Grow(splits, pruning_, depth, trees);
    }));
  }

 private:
  int64_t pruning_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesUpdateEnsemble").Device(DEVICE_CPU),
                        BoostedUpdateOp);

class BoostedUpdateV2Op : public OpKernel {
 public:
  explicit BoostedUpdateV2Op(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t dimension = 1, groups = 1;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("logits_dimension", &dimension));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_groups", &groups));
    OP_REQUIRES(ctx, dimension == 1 && groups == 1,
                errors::InvalidArgument(
                    "only logits_dimension 1 and num_groups 1 are supported, "
                    "as in TensorFlow 1.15; got ",
                    dimension, " and ", groups));
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<BoostedEnsembleResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    SplitLists lists;
    OP_REQUIRES_OK(ctx, lists.Read(*ctx));
    const size_t n = lists.lists[0].size();
    OP_REQUIRES_OK(ctx, CheckFeatureIds(ctx->input(1), n));
    std::vector<const Tensor*> dimensions, types;
    OP_REQUIRES_OK(ctx, ctx->input_list("dimension_ids", &dimensions));
    OP_REQUIRES_OK(ctx, ctx->input_list("split_types", &types));
    int32_t depth = 0, pruning = 0;
    float rate = 0;
    const int after = ctx->num_inputs() - 3;
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, after, "max_depth", &depth));
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, after + 1, "learning_rate", &rate));
    OP_REQUIRES_OK(ctx,
                   BoostedScalar(*ctx, after + 2, "pruning_mode", &pruning));
    OP_REQUIRES_OK(ctx, CheckPruning(pruning));
    BestSplits splits;
    for (size_t f = 0; f < n; ++f) {
      for (const Tensor* t : {dimensions[f], types[f]}) {
        OP_REQUIRES(ctx, t->shape() == TensorShape({lists.size(f)}),
                    errors::InvalidArgument(
                        "dimension_ids and split_types must have shape [",
                        lists.size(f), "], as node_ids, got ",
                        t->shape().DebugString()));
      }
      for (int64_t i = 0; i < lists.size(f); ++i) {
        Split s = lists.At(f, i, ctx->input(1).data<int32_t>()[f], rate);
        s.dimension = dimensions[f]->data<int32_t>()[i];
        OP_REQUIRES_OK(ctx, ReadType(types[f]->data<tstring>()[i], &s.type));
        Keep(lists.node(f, i), s, &splits);
      }
    }
    OP_REQUIRES_OK(ctx, resource->Update([&](BoostedEnsemble* trees) {
      return Grow(splits, pruning, depth, trees);
    }));
  }

 private:
  static Status ReadType(absl::string_view name,
                         BoostedEnsemble::SplitType* type) {
    using Type = BoostedEnsemble::SplitType;
    if (name == "INEQUALITY_DEFAULT_LEFT") {
      *type = Type::kDefaultLeft;
    } else if (name == "INEQUALITY_DEFAULT_RIGHT") {
      *type = Type::kDefaultRight;
    } else if (name == "EQUALITY_DEFAULT_RIGHT") {
      *type = Type::kEqual;
    } else {
      return errors::InvalidArgument(
          "split_types must be INEQUALITY_DEFAULT_LEFT, "
          "INEQUALITY_DEFAULT_RIGHT or EQUALITY_DEFAULT_RIGHT, got '",
          name, "'");
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesUpdateEnsembleV2").Device(DEVICE_CPU),
                        BoostedUpdateV2Op);

// Adds the best constant to the first tree, which has one leaf until it is
// grown. True while that changes much.
class BoostedCenterBiasOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<BoostedEnsembleResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    float l1 = 0, l2 = 0;
    for (int i = 1; i < 3; ++i) {
      OP_REQUIRES(ctx,
                  ctx->input(i).dims() == 2 && ctx->input(i).NumElements() > 0,
                  errors::InvalidArgument(
                      i == 1 ? "mean_gradients" : "mean_hessians",
                      " must be a matrix of at least one element, got shape ",
                      ctx->input(i).shape().DebugString()));
    }
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, 3, "l1", &l1));
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, 4, "l2", &l2));
    const float change = BestBoostedLeaf(ctx->input(1).data<float>()[0],
                                         ctx->input(2).data<float>()[0], l1, l2)
                             .weight;
    bool goes_on = true;
    OP_REQUIRES_OK(ctx, resource->Update([&](BoostedEnsemble* trees) {
      if (trees->num_trees() == 0) {
        trees->AddTree(kTreeWeight, change);
        return OkStatus();
      }
      const float bias = trees->Value(0, 0) + change;
      trees->SetValue(0, 0, bias);
      goes_on = std::abs(change / bias) > kLeastChangeOfBias;
      return OkStatus();
    }));
    ctx->set_output(0, Tensor::Scalar<bool>(goes_on));
  }
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesCenterBias").Device(DEVICE_CPU),
                        BoostedCenterBiasOp);

}  // namespace
}  // namespace headrace
