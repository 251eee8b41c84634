// Statistics of datasets: an aggregator, the dataset that names it to what is
// below it, and datasets that tell it of elements which they leave as they are.
#include <utility>

#include "headrace/clock.h"
#include "kernels/data/element_bytes.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/stats_aggregator.h"
#include "kernels/lib/resource_op.h"

namespace headrace {

void StatsAggregator::AddToHistogram(const std::string& name, double value) {
  MutexLock lock(&mu_);
  histograms_[name].Add(value);
}

void StatsAggregator::SetScalar(const std::string& name, double value) {
  MutexLock lock(&mu_);
  scalars_[name] = value;
}

std::string StatsAggregator::Summary() {
  pb::Summary summary;
  MutexLock lock(&mu_);
  for (const auto& [name, histogram] : histograms_) {
    histogram.AddTo(name, &summary);
  }
  for (const auto& [name, value] : scalars_) {
    pb::Summary::Value* const v = summary.add_value();
    v->set_tag(name);
    v->set_simple_value(static_cast<float>(value));
  }
  return summary.SerializeAsString();
}

namespace {

class StatsAggregatorHandleOp : public ResourceOp<StatsAggregator> {
 public:
  using ResourceOp::ResourceOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<StatsAggregator>* out) override {
    *out = MakeRef<StatsAggregator>();
    return OkStatus();
  }
  Status Verify(const OpKernelContext&, const StatsAggregator&) override {
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("StatsAggregatorHandle").Device(DEVICE_CPU),
                        StatsAggregatorHandleOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalStatsAggregatorHandle").Device(DEVICE_CPU),
    StatsAggregatorHandleOp);

class StatsAggregatorSummaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<StatsAggregator> aggregator;
    OP_REQUIRES_OK(ctx, LookupInput(ctx, "iterator", &aggregator));
    ctx->set_output(0, Tensor::Scalar(tstring(aggregator->Summary())));
  }
};
REGISTER_KERNEL_BUILDER(Name("StatsAggregatorSummary").Device(DEVICE_CPU),
                        StatsAggregatorSummaryOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalStatsAggregatorSummary").Device(DEVICE_CPU),
    StatsAggregatorSummaryOp);

class SetStatsAggregatorDataset : public Dataset {
 public:
  SetStatsAggregatorDataset(RefPtr<const Dataset> input, StatsTarget target)
      : Dataset(input->spec(), {input}), target_(std::move(target)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

  class Iterator : public InputIterator<SetStatsAggregatorDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      return input_->GetNext(dataset().Telling(ctx), out, end);
    }
    bool IsReady() override { return input_->IsReady(); }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("SetStatsAggregator", dataset().Telling(ctx),
                          dataset().input(), &input_);
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, Telling(ctx), out);
  }

 private:
  IteratorContext Telling(const IteratorContext& ctx) const {
    IteratorContext telling = ctx;
    telling.stats = &target_;
    return telling;
  }

  const StatsTarget target_;
};

class SetStatsAggregatorDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    StatsTarget target;
    tstring tag, counter_prefix;  // there are no counters
    HR_RETURN_IF_ERROR(
        LookupInput(ctx, "stats_aggregator", &target.aggregator));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "tag", &tag));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "counter_prefix", &counter_prefix));
    target.tag = std::string(tag);
    *out =
        MakeRef<SetStatsAggregatorDataset>(std::move(input), std::move(target));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("SetStatsAggregatorDataset").Device(DEVICE_CPU),
                        SetStatsAggregatorDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalSetStatsAggregatorDataset").Device(DEVICE_CPU),
    SetStatsAggregatorDatasetOp);

// Tells of each element how long it took, in microseconds, or its bytes.
class TellingDataset : public Dataset {
 public:
  TellingDataset(RefPtr<const Dataset> input, std::string tag, bool latency)
      : Dataset(input->spec(), {input}),
        tag_(std::move(tag)),
        latency_(latency) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

  class Iterator : public InputIterator<TellingDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      const absl::Time begin = Now();
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, end));
      if (*end || ctx.stats == nullptr) return OkStatus();
      ctx.stats->AddToHistogram(
          dataset().tag_,
          dataset().latency_
              ? static_cast<double>(absl::ToInt64Microseconds(Now() - begin))
              : static_cast<double>(ElementBytes(*out)));
      return OkStatus();
    }
    bool IsReady() override { return input_->IsReady(); }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("Stats", ctx, dataset().input(), &input_);
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const std::string tag_;
  const bool latency_;
};

template <bool kLatency>
class TellingDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    tstring tag;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "tag", &tag));
    *out =
        MakeRef<TellingDataset>(std::move(input), std::string(tag), kLatency);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("LatencyStatsDataset").Device(DEVICE_CPU),
                        TellingDatasetOp<true>);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalLatencyStatsDataset").Device(DEVICE_CPU),
    TellingDatasetOp<true>);
REGISTER_KERNEL_BUILDER(Name("BytesProducedStatsDataset").Device(DEVICE_CPU),
                        TellingDatasetOp<false>);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalBytesProducedStatsDataset").Device(DEVICE_CPU),
    TellingDatasetOp<false>);

}  // namespace
}  // namespace headrace
