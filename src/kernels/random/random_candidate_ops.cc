// Candidate samplers: num_sampled classes drawn from a distribution, with or
// without repetition, and how often each of them, and each true class, was to
// be expected among them. Without repetition the draws go on until the sample
// is full, and the expectation takes the number of draws for given.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/env.h"
#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/growing_table.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/range_sampler.h"

namespace headrace {
namespace {

class CandidateSamplerOp : public OpKernel {
 public:
  explicit CandidateSamplerOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_sampled", &num_sampled_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_true", &num_true_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("unique", &unique_));
    // The number of draws, no less than this, is an int32.
    OP_REQUIRES(ctx, num_sampled_ <= std::numeric_limits<int32_t>::max(),
                errors::InvalidArgument("num_sampled must be below 2^31, got ",
                                        num_sampled_));
    OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
  }

  void Compute(OpKernelContext* ctx) final {
    const Tensor& classes = ctx->input(0);
    OP_REQUIRES(ctx, classes.dims() == 2,
                errors::InvalidArgument("true_classes must be a matrix, got "
                                        "shape ",
                                        classes.shape().DebugString()));
    OP_REQUIRES(ctx, classes.dim_size(1) == num_true_,
                errors::InvalidArgument(
                    "true_classes must have num_true columns, expected: ",
                    num_true_, ", got: ", classes.dim_size(1)));
    const int64_t range = Range();
    for (int64_t i = 0; i < classes.NumElements(); ++i) {
      const int64_t c = classes.data<int64_t>()[i];
      OP_REQUIRES(ctx, c >= 0 && c < range,
                  errors::InvalidArgument("true_classes must be in [0, ", range,
                                          "), got ", c));
    }
    Tensor *sampled = nullptr, *true_count = nullptr, *count = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {num_sampled_}, &sampled));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, classes.shape(), &true_count));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {num_sampled_}, &count));
    OP_REQUIRES_OK(ctx, Sample(ctx, classes, sampled, true_count, count));
  }

 protected:
  virtual int64_t Range() const = 0;
  virtual Status Sample(OpKernelContext* ctx, const Tensor& classes,
                        Tensor* sampled, Tensor* true_count, Tensor* count) = 0;

  // Draws from `sampler`. A sample without repetition that takes more than
  // 2^31 draws is ResourceExhausted.
  Status Draw(OpKernelContext* ctx, const RangeSampler& sampler,
              const Tensor& classes, Tensor* sampled, Tensor* true_count,
              Tensor* count) {
    if (unique_ && num_sampled_ > sampler.NumPossible()) {
      return errors::InvalidArgument(
          "Sampler's range is too small: ", num_sampled_,
          " different classes wanted, ", sampler.NumPossible(),
          " have a probability above 0");
    }
    constexpr Philox::Counter kBlocksPerSample = 2048 / 4;
    PhiloxWords next(stream_.Reserve(kBlocksPerSample * num_sampled_));
    int64_t* out = sampled->data<int64_t>();
    GrowingSet<int64_t> seen;
    int64_t draws = 0;
    for (int64_t filled = 0; filled < num_sampled_; ++draws) {
      if (draws % 65536 == 65535) {
        if (ctx->cancellation_manager() != nullptr &&
            ctx->cancellation_manager()->IsCancelled()) {
          return errors::Cancelled("the step was cancelled");
        }
        if (draws >= std::numeric_limits<int32_t>::max()) {
          return errors::ResourceExhausted("after ", draws, " draws only ",
                                           filled, " of ", num_sampled_,
                                           " different classes were found");
        }
      }
      const int64_t value = sampler.Sample(&next);
      if (!unique_ || InsertIntoSet(&seen, value)) out[filled++] = value;
    }
    for (int64_t i = 0; i < num_sampled_; ++i) {
      count->data<float>()[i] = Expected(sampler.Probability(out[i]), draws);
    }
    for (int64_t i = 0; i < classes.NumElements(); ++i) {
      true_count->data<float>()[i] =
          Expected(sampler.Probability(classes.data<int64_t>()[i]), draws);
    }
    return OkStatus();
  }

 private:
  float Expected(float p, int64_t draws) const {
    if (draws == num_sampled_) return p * static_cast<float>(draws);
    // 1 - (1 - p)^draws
    return -std::expm1(static_cast<float>(draws) * std::log1p(-p));
  }

  int64_t num_sampled_ = 0, num_true_ = 0;
  bool unique_ = false;
  GuardedPhilox stream_;
};

// Draws from a sampler that its constructor makes and no run changes.
class UnchangingSamplerOp : public CandidateSamplerOp {
 protected:
  using CandidateSamplerOp::CandidateSamplerOp;

  int64_t Range() const override { return sampler_->range(); }
  Status Sample(OpKernelContext* ctx, const Tensor& classes, Tensor* sampled,
                Tensor* true_count, Tensor* count) override {
    return Draw(ctx, *sampler_, classes, sampled, true_count, count);
  }

  std::unique_ptr<const RangeSampler> sampler_;
};

template <typename Sampler>
class FormulaSamplerOp : public UnchangingSamplerOp {
 public:
  explicit FormulaSamplerOp(OpKernelConstruction* ctx)
      : UnchangingSamplerOp(ctx) {
    int64_t range = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("range_max", &range));
    sampler_ = std::make_unique<Sampler>(range);
  }
};
REGISTER_KERNEL_BUILDER(Name("UniformCandidateSampler").Device(DEVICE_CPU),
                        FormulaSamplerOp<UniformSampler>);
REGISTER_KERNEL_BUILDER(Name("LogUniformCandidateSampler").Device(DEVICE_CPU),
                        FormulaSamplerOp<LogUniformSampler>);

// Each run counts its true classes, after it has drawn.
class LearnedUnigramSamplerOp : public CandidateSamplerOp {
 public:
  explicit LearnedUnigramSamplerOp(OpKernelConstruction* ctx)
      : CandidateSamplerOp(ctx) {
    int64_t range = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("range_max", &range));
    OP_REQUIRES(ctx, range < std::numeric_limits<int32_t>::max(),
                errors::InvalidArgument(
                    "range_max must be below 2^31 - 1, got ", range));
    range_ = range;
    MutexLock lock(&mu_);
    sampler_ = std::make_unique<LearnedSampler>(range);
  }

 protected:
  int64_t Range() const override { return range_; }
  Status Sample(OpKernelContext* ctx, const Tensor& classes, Tensor* sampled,
                Tensor* true_count, Tensor* count) override {
    MutexLock lock(&mu_);
    HR_RETURN_IF_ERROR(
        Draw(ctx, *sampler_, classes, sampled, true_count, count));
    for (int64_t i = 0; i < classes.NumElements(); ++i) {
      sampler_->Count(classes.data<int64_t>()[i]);
    }
    return OkStatus();
  }

 private:
  int64_t range_ = 0;
  Mutex mu_;
  std::unique_ptr<LearnedSampler> sampler_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(
    Name("LearnedUnigramCandidateSampler").Device(DEVICE_CPU),
    LearnedUnigramSamplerOp);
REGISTER_KERNEL_BUILDER(
    Name("ThreadUnsafeUnigramCandidateSampler").Device(DEVICE_CPU),
    LearnedUnigramSamplerOp);

// The weights of this shard's classes: 0 for reserved ids, then those given,
// to the power `distortion`.
class UnigramWeights {
 public:
  UnigramWeights(int64_t range, int64_t shards, int64_t shard, float distortion)
      : range_(range),
        shards_(shards),
        shard_(shard),
        distortion_(distortion) {}

  Status Reserve(int64_t ids) {
    // Ids shard, shard + shards, ... below `ids`.
    const int64_t mine = ids > shard_ ? (ids - shard_ - 1) / shards_ + 1 : 0;
    if (mine > kMaxReserved || mine > range_) {
      return errors::InvalidArgument("num_reserved_ids is ", ids, ", of which ",
                                     mine, " are in this shard; at most ",
                                     std::min(range_, kMaxReserved),
                                     " are possible");
    }
    weights_.assign(mine, 0.0f);
    id_ = mine;
    return OkStatus();
  }
  Status Add(float weight) {
    if (id_++ % shards_ != shard_) return OkStatus();
    if (static_cast<int64_t>(weights_.size()) >= range_) return Mismatch();
    weights_.push_back(std::pow(weight, distortion_));
    return OkStatus();
  }
  Status Finish(std::vector<float>* out) {
    if (static_cast<int64_t>(weights_.size()) != range_) return Mismatch();
    *out = std::move(weights_);
    return OkStatus();
  }

 private:
  static constexpr int64_t kMaxReserved = int64_t{1} << 24;
  Status Mismatch() const {
    return errors::InvalidArgument(
        "range_max is ", range_, ", but reserved ids and weights are ",
        static_cast<int64_t>(weights_.size()) >= range_
            ? "more"
            : absl::StrCat(weights_.size()));
  }

  const int64_t range_, shards_, shard_;
  const float distortion_;
  int64_t id_ = 0;
  std::vector<float> weights_;
};

// A vocabulary has a word a line; what follows the last comma is its weight.
Status AddVocabulary(const std::string& path, UnigramWeights* weights) {
  auto opened = Env::Default()->MapFile(path);
  HR_RETURN_IF_ERROR(opened.status());
  std::string_view rest = (*opened)->view();
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t comma = line.rfind(',');
    if (comma != line.npos) line.remove_prefix(comma + 1);
    float weight = 0;
    if (!absl::SimpleAtof({line.data(), line.size()}, &weight)) {
      return errors::InvalidArgument("vocab_file ", path, ", line ", number,
                                     ": the last field must be a number, got "
                                     "'",
                                     line.substr(0, 80), "'");
    }
    HR_RETURN_IF_ERROR(weights->Add(weight));
  }
  return OkStatus();
}

class FixedUnigramSamplerOp : public UnchangingSamplerOp {
 public:
  explicit FixedUnigramSamplerOp(OpKernelConstruction* ctx)
      : UnchangingSamplerOp(ctx) {
    OP_REQUIRES_OK(ctx, Init(ctx));
  }

 private:
  Status Init(OpKernelConstruction* ctx) {
    int64_t range, reserved, shards, shard;
    std::string file;
    std::vector<float> unigrams, all;
    float distortion;
    HR_RETURN_IF_ERROR(ctx->GetAttr("range_max", &range));
    HR_RETURN_IF_ERROR(ctx->GetAttr("vocab_file", &file));
    HR_RETURN_IF_ERROR(ctx->GetAttr("unigrams", &unigrams));
    HR_RETURN_IF_ERROR(ctx->GetAttr("distortion", &distortion));
    HR_RETURN_IF_ERROR(ctx->GetAttr("num_reserved_ids", &reserved));
    HR_RETURN_IF_ERROR(ctx->GetAttr("num_shards", &shards));
    HR_RETURN_IF_ERROR(ctx->GetAttr("shard", &shard));
    if (file.empty() && unigrams.empty()) {
      return errors::InvalidArgument(
          "Must provide either vocab_file or unigrams.");
    }
    if (!file.empty() && !unigrams.empty()) {
      return errors::InvalidArgument(
          "Must only provide one of vocab_file and unigrams.");
    }
    if (shard >= shards) {
      return errors::InvalidArgument("shard must be below num_shards, ", shards,
                                     ", got ", shard);
    }
    UnigramWeights weights(range, shards, shard, distortion);
    HR_RETURN_IF_ERROR(weights.Reserve(reserved));
    if (!file.empty()) HR_RETURN_IF_ERROR(AddVocabulary(file, &weights));
    for (float w : unigrams) HR_RETURN_IF_ERROR(weights.Add(w));
    HR_RETURN_IF_ERROR(weights.Finish(&all));
    std::unique_ptr<WeightedSampler> made;
    HR_RETURN_IF_ERROR(WeightedSampler::Make(std::move(all), &made));
    sampler_ = std::move(made);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("FixedUnigramCandidateSampler").Device(DEVICE_CPU),
                        FixedUnigramSamplerOp);

// Every class once, in order: the range is num_sampled.
class AllSamplerOp : public CandidateSamplerOp {
 public:
  explicit AllSamplerOp(OpKernelConstruction* ctx) : CandidateSamplerOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_sampled", &range_));
  }

 protected:
  int64_t Range() const override { return range_; }
  Status Sample(OpKernelContext*, const Tensor&, Tensor* sampled,
                Tensor* true_count, Tensor* count) override {
    for (int64_t i = 0; i < range_; ++i) {
      sampled->data<int64_t>()[i] = i;
      count->data<float>()[i] = 1;
    }
    for (int64_t i = 0; i < true_count->NumElements(); ++i) {
      true_count->data<float>()[i] = 1;
    }
    return OkStatus();
  }

 private:
  int64_t range_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("AllCandidateSampler").Device(DEVICE_CPU),
                        AllSamplerOp);

}  // namespace
}  // namespace headrace
