// Sums of gradients and hessians of the examples of each node, by bucket of a
// feature, and BoostedTreesBucketize, which finds the buckets.
#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "kernels/trees/boosted_args.h"

namespace headrace {
namespace {

Status ReadSizes(OpKernelConstruction* ctx, int64_t* splits, int64_t* buckets) {
  HR_RETURN_IF_ERROR(ctx->GetAttr("max_splits", splits));
  return ctx->GetAttr("num_buckets", buckets);
}

// The nodes, gradients and hessians of examples: inputs 0 to 2.
struct StatsExamples {
  Status Read(const OpKernelContext& ctx, int64_t max_splits) {
    HR_RETURN_IF_ERROR(CheckBoostedRank(ctx.input(0), "node_ids", 1));
    HR_RETURN_IF_ERROR(CheckBoostedRank(ctx.input(1), "gradients", 2));
    HR_RETURN_IF_ERROR(CheckBoostedRank(ctx.input(2), "hessians", 2));
    size = ctx.input(0).NumElements();
    for (int i = 1; i < 3; ++i) {
      if (ctx.input(i).dim_size(0) != size) {
        return errors::InvalidArgument(
            i == 1 ? "gradients" : "hessians", " must have ", size,
            " rows, one for each of node_ids, got shape ",
            ctx.input(i).shape().DebugString());
      }
    }
    gradients = ctx.input(1).data<float>();
    hessians = ctx.input(2).data<float>();
    num_gradients = ctx.input(1).dim_size(1);
    num_hessians = ctx.input(2).dim_size(1);
    nodes = ctx.input(0).data<int32_t>();
    for (int64_t i = 0; i < size; ++i) {
      if (nodes[i] < 0 || nodes[i] >= max_splits) {
        return errors::InvalidArgument(
            "node_ids[", i, "] = ", nodes[i],
            " is not in [0, max_splits = ", max_splits, ")");
      }
    }
    return OkStatus();
  }
  int64_t num_stats() const { return num_gradients + num_hessians; }
  template <typename T>
  void AddTo(int64_t i, T* stats) const {
    for (int64_t j = 0; j < num_gradients; ++j) {
      stats[j] += gradients[i * num_gradients + j];
    }
    for (int64_t j = 0; j < num_hessians; ++j) {
      stats[num_gradients + j] += hessians[i * num_hessians + j];
    }
  }

  int64_t size = 0, num_gradients = 0, num_hessians = 0;
  const int32_t* nodes = nullptr;
  const float *gradients = nullptr, *hessians = nullptr;
};

Status CheckBucket(int32_t bucket, int64_t buckets, int64_t example) {
  if (bucket >= 0 && bucket < buckets) return OkStatus();
  return errors::InvalidArgument("example ", example, " is in bucket ", bucket,
                                 ", which is not in [0, ", buckets, ")");
}

// A feature may have more buckets than it was to get, as quantiles are only
// about right: those beyond num_buckets count as the last one.
class BoostedMakeStatsOp : public OpKernel {
 public:
  explicit BoostedMakeStatsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadSizes(ctx, &splits_, &buckets_));
  }
  void Compute(OpKernelContext* ctx) override {
    StatsExamples examples;
    OP_REQUIRES_OK(ctx, examples.Read(*ctx, splits_));
    OP_REQUIRES(ctx, examples.num_gradients == 1 && examples.num_hessians == 1,
                errors::InvalidArgument(
                    "gradients and hessians must have one column, got shapes ",
                    ctx->input(1).shape().DebugString(), " and ",
                    ctx->input(2).shape().DebugString()));
    std::vector<const Tensor*> features;
    OP_REQUIRES_OK(ctx,
                   BoostedVectors(*ctx, "bucketized_features_list", &features));
    const int64_t n = examples.size;
    const auto num_features = static_cast<int64_t>(features.size());
    OP_REQUIRES(ctx, features.empty() || features[0]->NumElements() == n,
                errors::InvalidArgument("bucketized_features_list must have ",
                                        n, " elements, as node_ids, got ",
                                        features[0]->NumElements()));
    for (const Tensor* feature : features) {
      for (int64_t i = 0; i < n; ++i) {
        OP_REQUIRES_OK(ctx,
                       CheckBucket(feature->data<int32_t>()[i],
                                   std::numeric_limits<int32_t>::max(), i));
      }
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {num_features, splits_, buckets_, 2}, &out));
    const int64_t of_feature = splits_ * buckets_ * 2;
    ctx->ParallelFor(num_features, static_cast<double>(4 * n + of_feature),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t f = begin; f < end; ++f) {
                         // As in TensorFlow, the sums are double until they are
                         // complete.
                         std::vector<double> stats(of_feature, 0.0);
                         const int32_t* bucket = features[f]->data<int32_t>();
                         for (int64_t i = 0; i < n; ++i) {
                           const int64_t place =
                               examples.nodes[i] * buckets_ +
                               std::min<int64_t>(bucket[i], buckets_ - 1);
                           examples.AddTo(i, stats.data() + 2 * place);
                         }
                         std::copy(stats.begin(), stats.end(),
                                   out->data<float>() + f * of_feature);
                       }
                     });
  }

 private:
  int64_t splits_ = 0, buckets_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesMakeStatsSummary").Device(DEVICE_CPU),
                        BoostedMakeStatsOp);

// One feature of several dimensions. Bucket -1 means that the value is missing;
// its sums come after those of the buckets.
class BoostedAggregateOp : public OpKernel {
 public:
  explicit BoostedAggregateOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadSizes(ctx, &splits_, &buckets_));
  }
  void Compute(OpKernelContext* ctx) override {
    StatsExamples examples;
    OP_REQUIRES_OK(ctx, examples.Read(*ctx, splits_));
    const Tensor& feature = ctx->input(3);
    OP_REQUIRES_OK(ctx, CheckBoostedRank(feature, "feature", 2));
    OP_REQUIRES(ctx, feature.dim_size(0) == examples.size,
                errors::InvalidArgument("feature must have ", examples.size,
                                        " rows, as node_ids, got shape ",
                                        feature.shape().DebugString()));
    const int64_t dims = feature.dim_size(1), stats = examples.num_stats();
    const int32_t* bucket = feature.data<int32_t>();
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {splits_, dims, buckets_ + 1, stats}, &out));
    std::vector<double> sums(out->NumElements(), 0.0);
    for (int64_t i = 0; i < examples.size; ++i) {
      for (int64_t d = 0; d < dims; ++d, ++bucket) {
        const int64_t b = *bucket == -1 ? buckets_ : *bucket;
        if (b != buckets_)
          OP_REQUIRES_OK(ctx, CheckBucket(*bucket, buckets_, i));
        const int64_t place =
            ((examples.nodes[i] * dims + d) * (buckets_ + 1) + b) * stats;
        examples.AddTo(i, sums.data() + place);
      }
    }
    std::copy(sums.begin(), sums.end(), out->data<float>());
  }

 private:
  int64_t splits_ = 0, buckets_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesAggregateStats").Device(DEVICE_CPU),
                        BoostedAggregateOp);

// The same of a sparse feature, with sparse sums: a value that is not among the
// entries is missing.
class BoostedSparseAggregateOp : public OpKernel {
 public:
  explicit BoostedSparseAggregateOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadSizes(ctx, &splits_, &buckets_));
  }
  void Compute(OpKernelContext* ctx) override {
    StatsExamples examples;
    OP_REQUIRES_OK(ctx, examples.Read(*ctx, splits_));
    const Tensor &indices = ctx->input(3), &values = ctx->input(4);
    const Tensor& shape = ctx->input(5);
    OP_REQUIRES_OK(ctx, CheckBoostedRank(indices, "feature_indices", 2));
    OP_REQUIRES_OK(ctx, CheckBoostedRank(values, "feature_values", 1));
    OP_REQUIRES(
        ctx,
        indices.dim_size(1) == 2 &&
            indices.dim_size(0) == values.NumElements() &&
            shape.shape() == TensorShape({2}),
        errors::InvalidArgument(
            "feature_indices, feature_values and feature_shape must "
            "have shapes [n, 2], [n] and [2], got ",
            indices.shape().DebugString(), ", ", values.shape().DebugString(),
            " and ", shape.shape().DebugString()));
    const int32_t dims = shape.data<int32_t>()[1];
    OP_REQUIRES(
        ctx, dims >= 0 && examples.size <= kMostValues / (dims + 1LL),
        errors::InvalidArgument("feature_shape[1] = ", dims,
                                " is too large or negative: ", examples.size,
                                " examples have more than ", kMostValues,
                                " values, which are visited one by one"));
    std::map<std::array<int64_t, 3>, std::vector<float>> sums;
    const auto add = [&](int64_t i, int64_t d, int64_t bucket) {
      std::vector<float>& stats = sums[{examples.nodes[i], d, bucket}];
      stats.resize(examples.num_stats(), 0.f);
      examples.AddTo(i, stats.data());
    };
    // Which entries are there, in the order of the examples. The entries may
    // come in any order.
    std::vector<std::pair<int64_t, int64_t>> there;
    for (int64_t e = 0; e < values.NumElements(); ++e) {
      const int32_t i = indices.data<int32_t>()[2 * e];
      const int32_t d = indices.data<int32_t>()[2 * e + 1];
      const int32_t bucket = values.data<int32_t>()[e];
      OP_REQUIRES(ctx, i >= 0 && i < examples.size && d >= 0 && d < dims,
                  errors::InvalidArgument("feature_indices[", e, "] = [", i,
                                          ", ", d, "] is not in [",
                                          examples.size, ", ", dims, "]"));
      OP_REQUIRES_OK(ctx, CheckBucket(bucket, buckets_, i));
      add(i, d, bucket);
      there.emplace_back(i, d);
    }
    std::sort(there.begin(), there.end());
    auto next = there.begin();
    for (int64_t i = 0; i < examples.size; ++i) {
      for (int64_t d = 0; d < dims; ++d) {
        const bool found = next != there.end() && *next == std::pair{i, d};
        while (next != there.end() && *next == std::pair{i, d}) ++next;
        if (!found) add(i, d, buckets_);
      }
    }
    SetOutputs(ctx, sums, dims, examples.num_stats());
  }

 private:
  void SetOutputs(
      OpKernelContext* ctx,
      const std::map<std::array<int64_t, 3>, std::vector<float>>& sums,
      int64_t dims, int64_t stats) {
    const int64_t n = static_cast<int64_t>(sums.size()) * stats;
    Tensor *indices = nullptr, *values = nullptr, *shape = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, 4}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {4}, &shape));
    int32_t* index = indices->data<int32_t>();
    float* value = values->data<float>();
    for (const auto& [key, found] : sums) {
      for (int64_t s = 0; s < stats; ++s) {
        for (const int64_t k : key) *index++ = static_cast<int32_t>(k);
        *index++ = static_cast<int32_t>(s);
        *value++ = found[s];
      }
    }
    const int64_t sizes[] = {splits_, dims, buckets_ + 1, stats};
    for (int i = 0; i < 4; ++i) {
      shape->data<int32_t>()[i] = static_cast<int32_t>(sizes[i]);
    }
  }

  static constexpr int64_t kMostValues = int64_t{1} << 28;

  int64_t splits_ = 0, buckets_ = 0;
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesSparseAggregateStats").Device(DEVICE_CPU),
    BoostedSparseAggregateOp);

// The bucket of each value: the first whose boundary is not below it, or the
// last.
class BoostedBucketizeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::vector<const Tensor*> values, boundaries;
    OP_REQUIRES_OK(ctx, ctx->input_list("float_values", &values));
    OP_REQUIRES_OK(ctx, ctx->input_list("bucket_boundaries", &boundaries));
    for (size_t f = 0; f < values.size(); ++f) {
      OP_REQUIRES_OK(ctx, CheckBoostedRank(*values[f], "float_values", 1));
      OP_REQUIRES_OK(ctx,
                     CheckBoostedRank(*boundaries[f], "bucket_boundaries", 1));
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(static_cast<int>(f),
                                               values[f]->shape(), &out));
      const float* begin = boundaries[f]->data<float>();
      const int64_t n = boundaries[f]->NumElements();
      for (int64_t i = 0; i < values[f]->NumElements(); ++i) {
        const int64_t bucket =
            std::lower_bound(begin, begin + n, values[f]->data<float>()[i]) -
            begin;
        out->data<int32_t>()[i] =
            static_cast<int32_t>(std::max<int64_t>(0, std::min(bucket, n - 1)));
      }
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesBucketize").Device(DEVICE_CPU),
                        BoostedBucketizeOp);

}  // namespace
}  // namespace headrace
