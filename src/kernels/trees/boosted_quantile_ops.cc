// Ops that find the boundaries of features' buckets. A resource has a
// QuantileStream for each feature; BoostedTreesQuantileStreamResourceFlush
// makes boundaries of what the streams got.
#include <algorithm>
#include <cmath>

#include "kernels/trees/boosted_args.h"
#include "kernels/trees/quantile_stream.h"

namespace headrace {
namespace {

// Thread-safe.
class QuantileResource : public ResourceBase {
 public:
  QuantileResource(float epsilon, int64_t max_elements, int64_t num_streams)
      : num_streams_(num_streams),
        streams_(num_streams, QuantileStream(epsilon, max_elements)),
        boundaries_(num_streams) {}
  std::string DebugString() const override {
    return absl::StrCat("quantiles of ", num_streams_, " features");
  }
  // InvalidArgument unless there are `n` streams.
  Status CheckSize(int64_t n) const {
    if (n == num_streams_) return OkStatus();
    return errors::InvalidArgument("the resource has ", num_streams_,
                                   " quantile streams, the op ", n,
                                   " features");
  }

  void Add(std::vector<QuantileSummary> summaries) {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < summaries.size(); ++i) {
      streams_[i].Push(std::move(summaries[i]));
    }
  }
  std::vector<QuantileSummary> Finish() {
    MutexLock lock(&mu_);
    std::vector<QuantileSummary> found;
    for (QuantileStream& stream : streams_) found.push_back(stream.Finish());
    return found;
  }
  void SetBoundaries(std::vector<std::vector<float>> boundaries) {
    MutexLock lock(&mu_);
    boundaries_ = std::move(boundaries);
  }
  // Empty until they are set.
  std::vector<std::vector<float>> boundaries() const {
    MutexLock lock(&mu_);
    return boundaries_;
  }

 private:
  const int64_t num_streams_;
  mutable Mutex mu_;
  std::vector<QuantileStream> streams_ GUARDED_BY(mu_);
  std::vector<std::vector<float>> boundaries_ GUARDED_BY(mu_);
};

REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesQuantileStreamResourceHandleOp").Device(DEVICE_CPU),
    BoostedHandleOp<QuantileResource>);
REGISTER_KERNEL_BUILDER(
    Name("IsBoostedTreesQuantileStreamResourceInitialized").Device(DEVICE_CPU),
    BoostedIsInitializedOp<QuantileResource>);

Status CheckEpsilon(float epsilon) {
  if (epsilon >= 0 && std::isfinite(epsilon)) return OkStatus();
  return errors::InvalidArgument(
      "An epsilon value of 0 or more is needed, got ", epsilon);
}

class BoostedCreateQuantilesOp : public OpKernel {
 public:
  explicit BoostedCreateQuantilesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_elements", &max_elements_));
    OP_REQUIRES(ctx, max_elements_ > 0,
                errors::InvalidArgument("max_elements must be positive, got ",
                                        max_elements_));
  }
  void Compute(OpKernelContext* ctx) override {
    float epsilon = 0;
    int64_t streams = 0;
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, 1, "epsilon", &epsilon));
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, 2, "num_streams", &streams));
    OP_REQUIRES_OK(ctx, CheckEpsilon(epsilon));
    OP_REQUIRES(ctx, streams >= 0 && streams <= kMostStreams,
                errors::InvalidArgument("num_streams must be in [0, ",
                                        kMostStreams, "], got ", streams));
    OP_REQUIRES_OK(ctx, MakeBoostedResource<QuantileResource>(
                            *ctx, epsilon, max_elements_, streams));
  }

 private:
  static constexpr int64_t kMostStreams = 1 << 24;
  int64_t max_elements_ = 0;
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesCreateQuantileStreamResource").Device(DEVICE_CPU),
    BoostedCreateQuantilesOp);

Status SetSummary(OpKernelContext* ctx, int i, const QuantileSummary& summary) {
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(ctx->allocate_output(i, {summary.size(), 4}, &out));
  float* to = out->data<float>();
  for (const QuantileSummary::Entry& e : summary.entries()) {
    for (const float x : {e.value, e.weight, e.min_rank, e.max_rank}) {
      *to++ = x;
    }
  }
  return OkStatus();
}

class BoostedMakeQuantilesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::vector<const Tensor*> values;
    OP_REQUIRES_OK(ctx, BoostedVectors(*ctx, "float_values", &values));
    const int n = static_cast<int>(values.size());
    const Tensor& weights = ctx->input(n);
    const int64_t batch = values.empty() ? 0 : values[0]->NumElements();
    float epsilon = 0;
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, n + 1, "epsilon", &epsilon));
    OP_REQUIRES_OK(ctx, CheckEpsilon(epsilon));
    const int64_t num_weights = weights.NumElements();
    OP_REQUIRES(ctx, values.empty() || num_weights == 1 || num_weights == batch,
                errors::InvalidArgument(
                    "Weights should be a single value or same size as "
                    "features. example_weights has ",
                    num_weights, " elements, float_values ", batch));
    for (int f = 0; f < n; ++f) {
      QuantileStream stream(epsilon, batch + 1);
      for (int64_t i = 0; i < batch; ++i) {
        const float value = values[f]->data<float>()[i];
        OP_REQUIRES(
            ctx, !std::isnan(value),
            errors::InvalidArgument("float_values[", f, "][", i, "] is NaN"));
        stream.Push(value, weights.data<float>()[num_weights == 1 ? 0 : i]);
      }
      OP_REQUIRES_OK(ctx, SetSummary(ctx, f, stream.Finish()));
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesMakeQuantileSummaries").Device(DEVICE_CPU),
    BoostedMakeQuantilesOp);

// The summary of a matrix of value, weight, min_rank, max_rank.
Status ReadSummary(const Tensor& t, QuantileSummary* out) {
  if (t.dims() != 2 || t.dim_size(1) != 4) {
    return errors::InvalidArgument("summaries must have shape [n, 4], got ",
                                   t.shape().DebugString());
  }
  std::vector<QuantileSummary::Entry> entries(t.dim_size(0));
  const float* from = t.data<float>();
  for (size_t i = 0; i < entries.size(); ++i, from += 4) {
    entries[i] = {from[0], from[1], from[2], from[3]};
    if (i > 0 && !(entries[i - 1].value < entries[i].value)) {
      return errors::InvalidArgument(
          "summaries must be sorted by their values, got ",
          entries[i - 1].value, " before ", entries[i].value);
    }
  }
  *out = QuantileSummary(std::move(entries));
  return OkStatus();
}

class BoostedAddQuantilesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QuantileResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    std::vector<const Tensor*> list;
    OP_REQUIRES_OK(ctx, ctx->input_list("summaries", &list));
    OP_REQUIRES_OK(ctx, resource->CheckSize(static_cast<int64_t>(list.size())));
    std::vector<QuantileSummary> summaries(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      OP_REQUIRES_OK(ctx, ReadSummary(*list[i], &summaries[i]));
    }
    resource->Add(std::move(summaries));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesQuantileStreamResourceAddSummaries").Device(DEVICE_CPU),
    BoostedAddQuantilesOp);

class BoostedFlushQuantilesOp : public OpKernel {
 public:
  explicit BoostedFlushQuantilesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("generate_quantiles", &quantiles_));
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QuantileResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    int64_t buckets = 0;
    OP_REQUIRES_OK(ctx, BoostedScalar(*ctx, 1, "num_buckets", &buckets));
    OP_REQUIRES(ctx, buckets > 0 && buckets <= kMostBuckets,
                errors::InvalidArgument("num_buckets must be in [1, ",
                                        kMostBuckets, "], got ", buckets));
    std::vector<std::vector<float>> boundaries;
    for (const QuantileSummary& summary : resource->Finish()) {
      std::vector<float> found = quantiles_ ? summary.Quantiles(buckets - 1)
                                            : summary.Boundaries(buckets);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      boundaries.push_back(std::move(found));
    }
    resource->SetBoundaries(std::move(boundaries));
  }

 private:
  static constexpr int64_t kMostBuckets = 1 << 24;
  bool quantiles_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesQuantileStreamResourceFlush").Device(DEVICE_CPU),
    BoostedFlushQuantilesOp);

class BoostedFlushSummariesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QuantileResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    OP_REQUIRES_OK(ctx, resource->CheckSize(ctx->num_outputs()));
    const std::vector<QuantileSummary> found = resource->Finish();
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      OP_REQUIRES_OK(ctx, SetSummary(ctx, i, found[i]));
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesFlushQuantileSummaries").Device(DEVICE_CPU),
    BoostedFlushSummariesOp);

class BoostedBoundariesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QuantileResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    OP_REQUIRES_OK(ctx, resource->CheckSize(ctx->num_outputs()));
    const std::vector<std::vector<float>> found = resource->boundaries();
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(
          ctx, ctx->allocate_output(i, {static_cast<int64_t>(found[i].size())},
                                    &out));
      std::copy(found[i].begin(), found[i].end(), out->data<float>());
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesQuantileStreamResourceGetBucketBoundaries")
        .Device(DEVICE_CPU),
    BoostedBoundariesOp);

class BoostedSetBoundariesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QuantileResource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    std::vector<const Tensor*> list;
    OP_REQUIRES_OK(ctx, ctx->input_list("bucket_boundaries", &list));
    OP_REQUIRES_OK(ctx, resource->CheckSize(static_cast<int64_t>(list.size())));
    std::vector<std::vector<float>> boundaries;
    for (const Tensor* t : list) {
      OP_REQUIRES_OK(ctx, CheckBoostedRank(*t, "bucket_boundaries", 1));
      boundaries.emplace_back(t->data<float>(),
                              t->data<float>() + t->NumElements());
    }
    resource->SetBoundaries(std::move(boundaries));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesQuantileStreamResourceDeserialize").Device(DEVICE_CPU),
    BoostedSetBoundariesOp);

}  // namespace
}  // namespace headrace
