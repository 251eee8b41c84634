// What trees say of examples. An example is the bucket of each feature; it ends
// at one leaf of each tree, and its logit is the sum of the leaves' values.
//
// BoostedTreesTrainingPredict goes on from the node where an example was
// before, and gives the change of its logit since then.
#include <algorithm>
#include <limits>

#include "headrace/boosted_trees.pb.h"
#include "kernels/trees/boosted_args.h"
#include "kernels/trees/boosted_ensemble.h"

namespace headrace {
namespace {

// The buckets of a batch.
struct PredictExamples {
  // Reads the list input bucketized_features. InvalidArgument if the trees ask
  // for more features.
  Status Read(const OpKernelContext& ctx, const BoostedEnsemble& trees) {
    std::vector<const Tensor*> list;
    HR_RETURN_IF_ERROR(BoostedVectors(ctx, "bucketized_features", &list));
    for (const Tensor* t : list) features.push_back(t->data<int32_t>());
    size = list.empty() ? 0 : list.front()->NumElements();
    const int32_t most = trees.MaxFeature();
    if (most < static_cast<int64_t>(features.size())) return OkStatus();
    return errors::InvalidArgument("a split of the trees asks for feature ",
                                   most, ", but there are ", features.size(),
                                   " bucketized_features");
  }
  int Next(const BoostedEnsemble& trees, int tree, int node, int64_t i) const {
    return trees.Next(tree, node, features[trees.Feature(tree, node)][i]);
  }

  std::vector<const int32_t*> features;
  int64_t size = 0;
};

// Ops that have the attr logits_dimension.
class BoostedPredictBase : public OpKernel {
 public:
  explicit BoostedPredictBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t dimension = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("logits_dimension", &dimension));
    OP_REQUIRES(ctx, dimension == 1,
                errors::InvalidArgument("Currently only one dimensional "
                                        "outputs are supported, got "
                                        "logits_dimension ",
                                        dimension));
  }

 protected:
  static double CostOf(const BoostedEnsemble& trees) {
    return 20.0 * (trees.num_trees() + 1);
  }
};

class BoostedPredictOp : public BoostedPredictBase {
 public:
  using BoostedPredictBase::BoostedPredictBase;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<BoostedEnsembleResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const auto trees = resource->Read();
    PredictExamples examples;
    OP_REQUIRES_OK(ctx, examples.Read(*ctx, *trees));
    Tensor* logits = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {examples.size, 1}, &logits));
    ctx->ParallelFor(
        examples.size, CostOf(*trees), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            float sum = 0;
            for (int tree = 0; tree < trees->num_trees(); ++tree) {
              int node = 0;
              while (!trees->IsLeaf(tree, node)) {
                node = examples.Next(*trees, tree, node, i);
              }
              sum += trees->weight(tree) * trees->Value(tree, node);
            }
            logits->data<float>()[i] = sum;
          }
        });
  }
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesPredict").Device(DEVICE_CPU),
                        BoostedPredictOp);

class BoostedTrainingPredictOp : public BoostedPredictBase {
 public:
  using BoostedPredictBase::BoostedPredictBase;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<BoostedEnsembleResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const auto trees = resource->Read();
    PredictExamples examples;
    OP_REQUIRES_OK(ctx, examples.Read(*ctx, *trees));
    const int64_t n = examples.size;
    for (int i = 1; i < 3; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).shape() == TensorShape({n}),
                  errors::InvalidArgument(
                      i == 1 ? "cached_tree_ids" : "cached_node_ids",
                      " must have shape [", n, "], as the features, got ",
                      ctx->input(i).shape().DebugString()));
    }
    const int32_t* old_trees = ctx->input(1).data<int32_t>();
    const int32_t* old_nodes = ctx->input(2).data<int32_t>();
    Tensor *logits = nullptr, *tree_ids = nullptr, *node_ids = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, 1}, &logits));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &tree_ids));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {n}, &node_ids));
    const int last = trees->num_trees() - 1;
    if (last < 0) {
      std::copy_n(old_trees, n, tree_ids->data<int32_t>());
      std::fill_n(node_ids->data<int32_t>(), n, 0);
      std::fill_n(logits->data<float>(), n, 0.f);
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      OP_REQUIRES_OK(ctx, CheckPlace(*trees, old_trees[i], old_nodes[i], i));
    ctx->ParallelFor(n, CostOf(*trees), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        node_ids->data<int32_t>()[i] =
            GoOn(*trees, examples, i, old_trees[i], old_nodes[i],
                 &logits->data<float>()[i]);
        tree_ids->data<int32_t>()[i] = last;
      }
    });
  }

 private:
  static Status CheckPlace(const BoostedEnsemble& trees, int tree, int node,
                           int64_t i) {
    float change = 0;
    if (tree >= 0 && tree < trees.num_trees() &&
        (node < 0 || trees.Pruned(tree, &node, &change).ok())) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        "example ", i, ": cached_tree_ids and cached_node_ids name node ", node,
        " of tree ", tree, ", which the ensemble of ", trees.num_trees(),
        " trees does not have");
  }

  // The node of the last tree where example i ends.
  static int GoOn(const BoostedEnsemble& trees, const PredictExamples& examples,
                  int64_t i, int tree, int node, float* logit) {
    // What the example got from this tree before goes off.
    float rest = 0, sum = 0;
    if (node >= 0) {
      (void)trees.Pruned(tree, &node, &rest);
      rest -= trees.Value(tree, node);
    } else {
      node = 0;
    }
    for (;; ++tree, node = 0) {
      while (!trees.IsLeaf(tree, node)) {
        node = examples.Next(trees, tree, node, i);
      }
      sum += trees.weight(tree) * (rest + trees.Value(tree, node));
      rest = 0;
      if (tree == trees.num_trees() - 1) break;
    }
    *logit = sum;
    return node;
  }
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesTrainingPredict").Device(DEVICE_CPU),
                        BoostedTrainingPredictOp);

// Of each example, a message: the features that its splits asked for, and its
// logit after each of these, beginning with the bias.
class BoostedDebugOutputsOp : public BoostedPredictBase {
 public:
  using BoostedPredictBase::BoostedPredictBase;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<BoostedEnsembleResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    const auto trees = resource->Read();
    PredictExamples examples;
    OP_REQUIRES_OK(ctx, examples.Read(*ctx, *trees));
    OP_REQUIRES(ctx, trees->num_trees() > 0,
                errors::FailedPrecondition("the ensemble has no trees"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {examples.size}, &out));
    for (int64_t i = 0; i < examples.size; ++i) {
      out->data<tstring>()[i] =
          tstring(Describe(*trees, examples, i).SerializeAsString());
    }
  }

 private:
  static pb::BoostedDebugOutput Describe(const BoostedEnsemble& trees,
                                         const PredictExamples& examples,
                                         int64_t i) {
    pb::BoostedDebugOutput found;
    float before = 0;  // of the trees that are done
    float logit = trees.weight(0) * trees.Value(0, 0);
    found.add_logits_path(logit);
    for (int tree = 0; tree < trees.num_trees(); ++tree) {
      int node = 0;
      while (!trees.IsLeaf(tree, node)) {
        found.add_feature_ids(trees.Feature(tree, node));
        node = examples.Next(trees, tree, node, i);
        logit = trees.weight(tree) * trees.Value(tree, node);
        found.add_logits_path(logit + before);
      }
      // A tree of one leaf is the bias, or was not grown yet.
      if (tree == 0 || node > 0) before += logit;
    }
    return found;
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesExampleDebugOutputs").Device(DEVICE_CPU),
    BoostedDebugOutputsOp);

}  // namespace
}  // namespace headrace
