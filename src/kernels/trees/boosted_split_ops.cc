// The best split of each node, from the sums of BoostedTreesMakeStatsSummary
// and BoostedTreesAggregateStats. The gain of a split is that of its two leaves
// without that of the node, less tree_complexity.
#include <algorithm>
#include <limits>
#include <string>

#include "kernels/trees/boosted_args.h"
#include "kernels/trees/boosted_gains.h"

namespace headrace {
namespace {

constexpr float kNoGain = std::numeric_limits<float>::lowest();

// The regularization: four scalars from input `first` on.
struct SplitCosts {
  Status Read(const OpKernelContext& ctx, int first) {
    HR_RETURN_IF_ERROR(BoostedScalar(ctx, first, "l1", &l1));
    HR_RETURN_IF_ERROR(BoostedScalar(ctx, first + 1, "l2", &l2));
    HR_RETURN_IF_ERROR(
        BoostedScalar(ctx, first + 2, "tree_complexity", &complexity));
    return BoostedScalar(ctx, first + 3, "min_node_weight", &min_node_weight);
  }
  float l1 = 0, l2 = 0, complexity = 0, min_node_weight = 0;
};

// The nodes of input 0, node_id_range: [first, last).
Status ReadNodes(const OpKernelContext& ctx, int64_t max_splits, int32_t* first,
                 int32_t* last) {
  const Tensor& range = ctx.input(0);
  if (range.shape() != TensorShape({2})) {
    return errors::InvalidArgument("node_id_range must have shape [2], got ",
                                   range.shape().DebugString());
  }
  *first = range.data<int32_t>()[0];
  *last = range.data<int32_t>()[1];
  if (*first >= 0 && (*last <= max_splits || *first >= *last)) {
    return OkStatus();
  }
  return errors::InvalidArgument("node_id_range [", *first, ", ", *last,
                                 ") is not in [0, max_splits = ", max_splits,
                                 ")");
}

template <typename T>
Status SetVector(OpKernelContext* ctx, int i, const std::vector<T>& values,
                 int64_t columns = 0) {
  Tensor* out = nullptr;
  const auto n = static_cast<int64_t>(values.size());
  HR_RETURN_IF_ERROR(ctx->allocate_output(
      i, columns == 0 ? TensorShape({n}) : TensorShape({n / columns, columns}),
      &out));
  std::copy(values.begin(), values.end(), out->data<T>());
  return OkStatus();
}

class BoostedBestGainsOp : public OpKernel {
 public:
  explicit BoostedBestGainsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_splits", &splits_));
  }
  void Compute(OpKernelContext* ctx) override {
    std::vector<const Tensor*> list;
    OP_REQUIRES_OK(ctx, ctx->input_list("stats_summary_list", &list));
    const int n = static_cast<int>(list.size());
    int32_t first = 0, last = 0;
    SplitCosts costs;
    OP_REQUIRES_OK(ctx, ReadNodes(*ctx, splits_, &first, &last));
    OP_REQUIRES_OK(ctx, costs.Read(*ctx, n + 1));
    for (int f = 0; f < n; ++f) {
      const Tensor& stats = *list[f];
      OP_REQUIRES(ctx,
                  stats.dims() == 3 && stats.dim_size(0) == splits_ &&
                      stats.dim_size(1) > 0 && stats.dim_size(2) == 2,
                  errors::InvalidArgument(
                      "stats_summary_list[", f, "] must have shape [", splits_,
                      ", num_buckets, 2], got ", stats.shape().DebugString()));
      Found found;
      const int64_t buckets = stats.dim_size(1);
      for (int32_t node = first; node < last; ++node) {
        FindSplit(stats.data<float>() + node * buckets * 2, buckets, node,
                  costs, &found);
      }
      OP_REQUIRES_OK(ctx, SetVector(ctx, f, found.nodes));
      OP_REQUIRES_OK(ctx, SetVector(ctx, n + f, found.gains));
      OP_REQUIRES_OK(ctx, SetVector(ctx, 2 * n + f, found.thresholds));
      OP_REQUIRES_OK(ctx, SetVector(ctx, 3 * n + f, found.left, 1));
      OP_REQUIRES_OK(ctx, SetVector(ctx, 4 * n + f, found.right, 1));
    }
  }

 private:
  struct Found {
    std::vector<int32_t> nodes, thresholds;
    std::vector<float> gains, left, right;
  };

  // `stats`: gradient and hessian of each bucket.
  static void FindSplit(const float* stats, int64_t buckets, int32_t node,
                        const SplitCosts& costs, Found* found) {
    float total_g = 0, total_h = 0;
    for (int64_t b = 0; b < buckets; ++b) {
      total_g += stats[2 * b];
      total_h += stats[2 * b + 1];
    }
    if (total_h < costs.min_node_weight) return;
    const float parent =
        BestBoostedLeaf(total_g, total_h, costs.l1, costs.l2).gain;
    float best = kNoGain, g = 0, h = 0;
    int32_t threshold = 0;
    BoostedLeafValue best_left, best_right;
    for (int64_t b = 0; b < buckets; ++b) {
      g += stats[2 * b];
      h += stats[2 * b + 1];
      const BoostedLeafValue left = BestBoostedLeaf(g, h, costs.l1, costs.l2);
      const BoostedLeafValue right =
          BestBoostedLeaf(total_g - g, total_h - h, costs.l1, costs.l2);
      if (!BoostedGainIsLarger(left.gain + right.gain, best)) continue;
      best = left.gain + right.gain;
      threshold = static_cast<int32_t>(b);
      best_left = left;
      best_right = right;
    }
    found->nodes.push_back(node);
    found->gains.push_back(best - parent - costs.complexity);
    found->thresholds.push_back(threshold);
    found->left.push_back(best_left.weight);
    found->right.push_back(best_right.weight);
  }

  int64_t splits_ = 0;
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesCalculateBestGainsPerFeature").Device(DEVICE_CPU),
    BoostedBestGainsOp);

// Sums of gradients and hessians.
struct Sums {
  explicit Sums(int64_t gradients = 0, int64_t hessians = 0)
      : g(gradients, 0.f), h(hessians, 0.f) {}
  void Add(const float* stats) {
    for (float& x : g) x += *stats++;
    for (float& x : h) x += *stats++;
  }
  Sums Without(const Sums& o) const {
    Sums rest = *this;
    for (size_t i = 0; i < g.size(); ++i) rest.g[i] -= o.g[i];
    for (size_t i = 0; i < h.size(); ++i) rest.h[i] -= o.h[i];
    return rest;
  }
  float HessianNorm() const {
    float sum = 0;
    for (const float x : h) sum += x * x;
    return std::sqrt(sum);
  }
  std::vector<float> g, h;
};

// Looks for the best split of one feature of several dimensions.
class SplitSearch {
 public:
  SplitSearch(SplitCosts costs, int64_t gradients, int64_t hessians)
      : costs_(costs), gradients_(gradients), hessians_(hessians) {}

  // `stats`: [dimensions, buckets + 1, gradients + hessians], the last bucket
  // of missing values. Of equal splits the first one stays, so that the order
  // in which they are tried is TensorFlow's.
  void Node(int32_t node, const float* stats, int64_t dims, int64_t buckets,
            bool is_equality) {
    Begin(node, stats, buckets);
    if (!is_heavy_) return;
    const int64_t size = gradients_ + hessians_;
    for (int64_t d = 0; d < dims; ++d) {
      const float* of_dim = stats + d * (buckets + 1) * size;
      if (is_equality) {
        for (int64_t b = 0; b < buckets; ++b) {
          Sums left(gradients_, hessians_);
          left.Add(of_dim + b * size);
          Try(left, total_.Without(left), d, b, "EQUALITY_DEFAULT_RIGHT");
        }
        continue;
      }
      Sums all(gradients_, hessians_), left(gradients_, hessians_);
      for (int64_t b = 0; b <= buckets; ++b) all.Add(of_dim + b * size);
      for (int64_t b = 0; b < buckets; ++b) {
        left.Add(of_dim + b * size);
        Sums with_missing = left;
        with_missing.Add(of_dim + buckets * size);
        Try(with_missing, all.Without(with_missing), d, b,
            "INEQUALITY_DEFAULT_LEFT");
        Try(left, all.Without(left), d, b, "INEQUALITY_DEFAULT_RIGHT");
      }
    }
    End();
  }

  // The same of sparse sums: only buckets for which `is_there` is true, of
  // [dimensions, buckets + 1], are thresholds.
  void SparseNode(int32_t node, const float* stats, int64_t dims,
                  int64_t buckets, const std::vector<bool>& is_there) {
    Begin(node, stats, buckets);
    if (!is_heavy_) return;
    const int64_t size = gradients_ + hessians_;
    for (int64_t d = 0; d < dims; ++d) {
      const float* of_dim = stats + d * (buckets + 1) * size;
      Sums all(gradients_, hessians_);
      for (int64_t b = 0; b <= buckets; ++b) all.Add(of_dim + b * size);
      for (const bool missing_left : {false, true}) {
        Sums left(gradients_, hessians_);
        if (missing_left) left.Add(of_dim + buckets * size);
        for (int64_t b = 0; b < buckets; ++b) {
          if (!is_there[d * (buckets + 1) + b]) continue;
          left.Add(of_dim + b * size);
          Try(left, all.Without(left), d, b,
              missing_left ? "INEQUALITY_DEFAULT_LEFT"
                           : "INEQUALITY_DEFAULT_RIGHT");
        }
      }
    }
    End();
  }

  Status SetOutputs(OpKernelContext* ctx) const {
    HR_RETURN_IF_ERROR(SetVector(ctx, 0, nodes_));
    HR_RETURN_IF_ERROR(SetVector(ctx, 1, gains_));
    HR_RETURN_IF_ERROR(SetVector(ctx, 2, dims_));
    HR_RETURN_IF_ERROR(SetVector(ctx, 3, thresholds_));
    HR_RETURN_IF_ERROR(SetVector(ctx, 4, left_, gradients_));
    HR_RETURN_IF_ERROR(SetVector(ctx, 5, right_, gradients_));
    return SetVector(ctx, 6, types_);
  }

 private:
  struct Candidate {
    float gain = kNoGain;
    int32_t dim = 0, bucket = 0;
    std::vector<float> left, right;
    const char* type = "";
  };

  void Begin(int32_t node, const float* stats, int64_t buckets) {
    node_ = node;
    best_ = Candidate();
    total_ = Sums(gradients_, hessians_);
    for (int64_t b = 0; b <= buckets; ++b) {
      total_.Add(stats + b * (gradients_ + hessians_));
    }
    is_heavy_ = !(total_.HessianNorm() < costs_.min_node_weight);
  }

  void End() {
    if (best_.gain == kNoGain) return;
    std::vector<float> unused;
    const float parent =
        BestBoostedLeaf(total_.g, total_.h, costs_.l1, costs_.l2, &unused);
    nodes_.push_back(node_);
    gains_.push_back(best_.gain - parent - costs_.complexity);
    dims_.push_back(best_.dim);
    thresholds_.push_back(best_.bucket);
    left_.insert(left_.end(), best_.left.begin(), best_.left.end());
    right_.insert(right_.end(), best_.right.begin(), best_.right.end());
    types_.emplace_back(best_.type);
  }

  void Try(const Sums& left, const Sums& right, int64_t dim, int64_t bucket,
           const char* type) {
    Candidate c;
    c.gain = BestBoostedLeaf(left.g, left.h, costs_.l1, costs_.l2, &c.left) +
             BestBoostedLeaf(right.g, right.h, costs_.l1, costs_.l2, &c.right);
    if (!BoostedGainIsLarger(c.gain, best_.gain)) return;
    c.dim = static_cast<int32_t>(dim);
    c.bucket = static_cast<int32_t>(bucket);
    c.type = type;
    best_ = std::move(c);
  }

  const SplitCosts costs_;
  const int64_t gradients_, hessians_;
  int32_t node_ = 0;
  Sums total_;  // of the node, from its first dimension
  bool is_heavy_ = false;
  Candidate best_;
  std::vector<int32_t> nodes_, dims_, thresholds_;
  std::vector<float> gains_, left_, right_;
  std::vector<tstring> types_;
};

// [max_splits, dimensions, buckets + 1, gradients + hessians].
Status CheckStats(const TensorShape& shape, int64_t gradients) {
  if (shape.dims() == 4 && shape.dim_size(1) > 0 && shape.dim_size(2) > 0) {
    const int64_t hessians = shape.dim_size(3) - gradients;
    if (hessians == gradients || hessians == gradients * gradients) {
      return OkStatus();
    }
  }
  return errors::InvalidArgument(
      "the shape of the stats summary must be [max_splits, feature_dims, "
      "num_buckets + 1, logits_dimension + (logits_dimension or its square)], "
      "got ",
      shape.DebugString(), " with logits_dimension ", gradients);
}

class BoostedBestFeatureSplitOp : public OpKernel {
 public:
  explicit BoostedBestFeatureSplitOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    std::string type;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("logits_dimension", &gradients_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("split_type", &type));
    is_equality_ = type == "equality";
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& stats = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckStats(stats.shape(), gradients_));
    int32_t first = 0, last = 0;
    SplitCosts costs;
    OP_REQUIRES_OK(ctx, ReadNodes(*ctx, stats.dim_size(0), &first, &last));
    OP_REQUIRES_OK(ctx, costs.Read(*ctx, 2));
    const int64_t dims = stats.dim_size(1), buckets = stats.dim_size(2) - 1;
    const int64_t size = stats.dim_size(3);
    SplitSearch search(costs, gradients_, size - gradients_);
    for (int32_t node = first; node < last; ++node) {
      search.Node(node,
                  stats.data<float>() + node * dims * (buckets + 1) * size,
                  dims, buckets, is_equality_);
    }
    OP_REQUIRES_OK(ctx, search.SetOutputs(ctx));
  }

 private:
  int64_t gradients_ = 1;
  bool is_equality_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesCalculateBestFeatureSplit").Device(DEVICE_CPU),
    BoostedBestFeatureSplitOp);

// The same of sparse sums; what is not among the entries is 0.
class BoostedSparseBestSplitOp : public OpKernel {
 public:
  explicit BoostedSparseBestSplitOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("logits_dimension", &gradients_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &indices = ctx->input(1), &values = ctx->input(2);
    OP_REQUIRES_OK(ctx, CheckBoostedRank(indices, "stats_summary_indices", 2));
    OP_REQUIRES_OK(ctx, CheckBoostedRank(values, "stats_summary_values", 1));
    OP_REQUIRES(
        ctx,
        indices.dim_size(1) == 4 &&
            indices.dim_size(0) == values.NumElements() &&
            ctx->input(3).shape() == TensorShape({4}),
        errors::InvalidArgument(
            "stats_summary_indices, stats_summary_values and "
            "stats_summary_shape must have shapes [n, 4], [n] and [4], "
            "got ",
            indices.shape().DebugString(), ", ", values.shape().DebugString(),
            " and ", ctx->input(3).shape().DebugString()));
    TensorShape shape;
    for (int i = 0; i < 4; ++i) {
      const int32_t size = ctx->input(3).data<int32_t>()[i];
      OP_REQUIRES(ctx, size >= 0,
                  errors::InvalidArgument("stats_summary_shape[", i,
                                          "] = ", size, " is negative"));
      shape.AddDim(size);
    }
    OP_REQUIRES_OK(ctx, CheckStats(shape, gradients_));
    int32_t first = 0, last = 0;
    SplitCosts costs;
    OP_REQUIRES_OK(ctx, ReadNodes(*ctx, shape.dim_size(0), &first, &last));
    OP_REQUIRES_OK(ctx, costs.Read(*ctx, 4));
    // The sums of one node at a time are made dense.
    TensorShape of_node = shape;
    of_node.RemoveDim(0);
    Tensor dense;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_FLOAT, of_node, &dense));
    std::vector<std::vector<int64_t>> entries(
        static_cast<size_t>(std::max(0, last - first)));
    for (int64_t e = 0; e < values.NumElements(); ++e) {
      const int32_t* at = indices.data<int32_t>() + 4 * e;
      for (int i = 0; i < 4; ++i) {
        OP_REQUIRES(ctx, at[i] >= 0 && at[i] < shape.dim_size(i),
                    errors::InvalidArgument(
                        "stats_summary_indices[", e, ", ", i, "] = ", at[i],
                        " is not in the shape ", shape.DebugString()));
      }
      if (at[0] >= first && at[0] < last) entries[at[0] - first].push_back(e);
    }
    SplitSearch search(costs, gradients_, shape.dim_size(3) - gradients_);
    for (int32_t node = first; node < last; ++node) {
      if (entries[node - first].empty()) continue;
      std::fill_n(dense.data<float>(), dense.NumElements(), 0.f);
      std::vector<bool> is_there(shape.dim_size(1) * shape.dim_size(2), false);
      for (const int64_t e : entries[node - first]) {
        const int32_t* at = indices.data<int32_t>() + 4 * e;
        const int64_t bucket = at[1] * shape.dim_size(2) + at[2];
        is_there[bucket] = true;
        dense.data<float>()[bucket * shape.dim_size(3) + at[3]] =
            values.data<float>()[e];
      }
      search.SparseNode(node, dense.data<float>(), shape.dim_size(1),
                        shape.dim_size(2) - 1, is_there);
    }
    OP_REQUIRES_OK(ctx, search.SetOutputs(ctx));
  }

 private:
  int64_t gradients_ = 1;
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesSparseCalculateBestFeatureSplit").Device(DEVICE_CPU),
    BoostedSparseBestSplitOp);

}  // namespace
}  // namespace headrace
