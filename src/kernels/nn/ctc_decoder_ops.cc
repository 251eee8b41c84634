// CTCGreedyDecoder takes the most likely class of each time step.
// CTCBeamSearchDecoder searches the most likely labellings; the probability of
// a labelling is the sum over the paths that spell it. Both return sparse
// [batch, longest] and a score: minus the sum of the chosen logits, or the
// labelling's log-probability.
//
// The search keeps the `beam_width` best prefixes of each step. A prefix has
// two probabilities: that it ends with a blank, and that it ends with its last
// label. Both are needed because only a blank separates a repeated label from a
// continued one.
//
// merge_repeated of the search joins equal neighbours in the result, even those
// that a blank separated. Models rely on it as the default.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/growing_table.h"
#include "kernels/nn/ctc.h"

namespace headrace {
namespace {

using CtcSequence = std::vector<int64_t>;

Status CheckCtcInputs(OpKernelContext* ctx) {
  const Tensor &inputs = ctx->input(0), &lengths = ctx->input(1);
  HR_RETURN_IF_ERROR(CheckCtcLogits(inputs));
  if (lengths.dims() != 1 || lengths.dim_size(0) != inputs.dim_size(1)) {
    return errors::InvalidArgument(
        "len(sequence_length) != batch_size: got shape ",
        lengths.shape().DebugString(), ", wanted [", inputs.dim_size(1), "]");
  }
  for (int64_t b = 0; b < lengths.NumElements(); ++b) {
    if (lengths.data<int32_t>()[b] > inputs.dim_size(0)) {
      return errors::FailedPrecondition(
          "sequence_length(", b, ") = ", lengths.data<int32_t>()[b],
          ", wanted at most ", inputs.dim_size(0));
    }
  }
  return OkStatus();
}

// Path p of `paths`, whose sequences are sequences[b * paths + p], as the
// sparse tensor in outputs p, paths + p and 2 paths + p.
Status SetSequences(OpKernelContext* ctx, const std::vector<CtcSequence>& from,
                    int64_t paths, int64_t p) {
  const auto batch = static_cast<int64_t>(from.size()) / paths;
  int64_t n = 0, longest = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto size = static_cast<int64_t>(from[b * paths + p].size());
    n += size;
    longest = std::max(longest, size);
  }
  Tensor *indices = nullptr, *values = nullptr, *shape = nullptr;
  const int at = static_cast<int>(p), step = static_cast<int>(paths);
  HR_RETURN_IF_ERROR(ctx->allocate_output(at, {n, 2}, &indices));
  HR_RETURN_IF_ERROR(ctx->allocate_output(step + at, {n}, &values));
  HR_RETURN_IF_ERROR(ctx->allocate_output(2 * step + at, {2}, &shape));
  int64_t* index = indices->data<int64_t>();
  int64_t* value = values->data<int64_t>();
  for (int64_t b = 0; b < batch; ++b) {
    int64_t position = 0;
    for (int64_t label : from[b * paths + p]) {
      *index++ = b;
      *index++ = position++;
      *value++ = label;
    }
  }
  shape->data<int64_t>()[0] = batch;
  shape->data<int64_t>()[1] = longest;
  return OkStatus();
}

template <typename T>
class CtcGreedyDecoderOp : public OpKernel {
 public:
  explicit CtcGreedyDecoderOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("merge_repeated", &merge_repeated_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("blank_index", &blank_index_));
  }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckCtcInputs(ctx));
    const Tensor& inputs = ctx->input(0);
    const int64_t batch = inputs.dim_size(1), classes = inputs.dim_size(2);
    OP_REQUIRES(
        ctx, blank_index_ >= -classes && blank_index_ < classes,
        errors::InvalidArgument("blank_index expected to be in [", -classes,
                                ", ", classes, "), got ", blank_index_));
    const int64_t blank =
        blank_index_ < 0 ? blank_index_ + classes : blank_index_;
    std::vector<CtcSequence> decoded(batch);
    Tensor* scores = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(3, {batch, 1}, &scores));
    T* const score = scores->data<T>();
    const int32_t* lengths = ctx->input(1).data<int32_t>();
    const T* x = inputs.data<T>();
    const double cost =
        static_cast<double>(inputs.NumElements()) / static_cast<double>(batch);
    ctx->ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        int64_t previous = -1;
        score[b] = 0;
        for (int64_t t = 0; t < lengths[b]; ++t) {
          const T* in = x + (t * batch + b) * classes;
          const int64_t best = std::max_element(in, in + classes) - in;
          score[b] -= in[best];
          if (best != blank && !(merge_repeated_ && best == previous)) {
            decoded[b].push_back(best);
          }
          previous = best;
        }
      }
    });
    OP_REQUIRES_OK(ctx, SetSequences(ctx, decoded, 1, 0));
  }

 private:
  bool merge_repeated_ = false;
  int64_t blank_index_ = -1;
};

// The beam search over one sequence.
template <typename T>
class CtcBeam {
 public:
  CtcBeam(int64_t classes, int64_t width) : classes_(classes), width_(width) {
    prefixes_.push_back({});
    Prefix& root = prefixes_.back();
    root.now = {.blank = 0, .label = kZero, .total = 0};
    Keep(0);
  }

  void Step(const T* logits) {
    const T max = *std::max_element(logits, logits + classes_);
    T sum = 0;
    for (int64_t c = 0; c < classes_; ++c) sum += std::exp(logits[c] - max);
    const T norm = max + std::log(sum);
    const int64_t blank = classes_ - 1;

    const std::vector<int64_t> beam = Ranked();
    kept_.clear();
    for (int64_t i : beam) prefixes_[i].before = prefixes_[i].now;
    for (int64_t i : beam) {
      Prefix& p = prefixes_[i];
      if (p.parent >= 0) {
        const Prefix& parent = prefixes_[p.parent];
        if (parent.now.total != kZero) {
          p.now.label = LogSum(p.now.label, Extended(parent, p.label));
        }
        p.now.label += logits[p.label] - norm;
      }
      p.now.blank = p.before.total + logits[blank] - norm;
      p.now.total = LogSum(p.now.blank, p.now.label);
      Keep(i);
    }
    for (int64_t i : beam) {
      if (!IsCandidate(prefixes_[i].before.total)) continue;
      for (int64_t c = 0; c < blank; ++c) Grow(i, c, logits[c] - norm);
    }
    if (prefixes_.size() > next_cleaning_) Clean();
  }

  // Best first. False if there are not as many.
  bool Best(int64_t n, bool merge_repeated, CtcSequence* sequences, T* scores) {
    const std::vector<int64_t> beam = Ranked();
    if (static_cast<int64_t>(beam.size()) < n) return false;
    for (int64_t k = 0; k < n; ++k) {
      scores[k] = prefixes_[beam[k]].now.total;
      int64_t next = -1;
      for (int64_t i = beam[k]; prefixes_[i].parent >= 0;
           i = prefixes_[i].parent) {
        const int64_t label = prefixes_[i].label;
        if (!merge_repeated || label != next) sequences[k].push_back(label);
        next = label;
      }
      std::reverse(sequences[k].begin(), sequences[k].end());
    }
    return true;
  }

 private:
  static constexpr T kZero = kLogZero<T>;

  // Logarithms; `total` is the sum of the other two.
  struct Probability {
    T blank = kZero, label = kZero, total = kZero;
  };
  // Prefixes come after their parents.
  struct Prefix {
    int64_t parent = -1;
    int64_t label = -1;
    Probability before, now;
  };
  // Orders the beam from the least likely up; NaN is the least, and of equals
  // the later one.
  struct Entry {
    T total;
    int64_t prefix;
    bool operator<(const Entry& o) const {
      const bool nan = std::isnan(total), other_nan = std::isnan(o.total);
      if (nan != other_nan) return nan;
      if (!nan && total != o.total) return total < o.total;
      return prefix > o.prefix;
    }
  };

  // The part of the parent's probability that a label can extend.
  static T Extended(const Prefix& parent, int64_t label) {
    return label == parent.label ? parent.before.blank : parent.before.total;
  }

  void Keep(int64_t i) { kept_.insert({prefixes_[i].now.total, i}); }

  std::vector<int64_t> Ranked() const {
    std::vector<int64_t> ranked;
    ranked.reserve(kept_.size());
    for (auto it = kept_.rbegin(); it != kept_.rend(); ++it) {
      ranked.push_back(it->prefix);
    }
    return ranked;
  }

  bool IsCandidate(T total) const {
    return total > kZero && (static_cast<int64_t>(kept_.size()) < width_ ||
                             total > kept_.begin()->total);
  }

  // Takes prefix i with label c into the beam if it is likely enough. The one
  // that falls out may come back in the same step.
  void Grow(int64_t i, int64_t c, T log_y) {
    const auto it = children_.find({i, c});
    if (it != children_.end() && prefixes_[it->second].now.total != kZero) {
      return;
    }
    const T total = log_y + Extended(prefixes_[i], c);
    if (!IsCandidate(total)) return;
    if (static_cast<int64_t>(kept_.size()) == width_) {
      prefixes_[kept_.begin()->prefix].now = Probability();
      kept_.erase(kept_.begin());
    }
    int64_t child;
    if (it != children_.end()) {
      child = it->second;
    } else {
      child = static_cast<int64_t>(prefixes_.size());
      prefixes_.push_back({i, c, {}, {}});
      InsertIntoMap(&children_, /*had_erased=*/false, std::make_pair(i, c),
                    child);
    }
    prefixes_[child].now = {.blank = kZero, .label = total, .total = total};
    Keep(child);
  }

  // Forgets the prefixes that none of the beam begins with.
  void Clean() {
    std::vector<int64_t> moved(prefixes_.size(), -1);
    for (const Entry& e : kept_) {
      for (int64_t i = e.prefix; i >= 0 && moved[i] < 0;
           i = prefixes_[i].parent) {
        moved[i] = 0;
      }
    }
    int64_t n = 0;
    children_.clear();
    for (size_t i = 0; i < prefixes_.size(); ++i) {
      if (moved[i] < 0) continue;
      Prefix p = prefixes_[i];
      if (p.parent >= 0) {
        p.parent = moved[p.parent];
        InsertIntoMap(&children_, /*had_erased=*/false,
                      std::make_pair(p.parent, p.label), n);
      }
      moved[i] = n;
      prefixes_[n++] = p;
    }
    prefixes_.resize(n);
    std::set<Entry> kept;
    for (const Entry& e : kept_) kept.insert({e.total, moved[e.prefix]});
    kept_ = std::move(kept);
    next_cleaning_ = 2 * prefixes_.size() + kCleaning;
  }

  static constexpr size_t kCleaning = 4096;
  const int64_t classes_, width_;
  std::vector<Prefix> prefixes_;  // the root first
  GrowingMap<std::pair<int64_t, int64_t>, int64_t> children_;
  std::set<Entry> kept_;
  size_t next_cleaning_ = kCleaning;
};

template <typename T>
class CtcBeamSearchDecoderOp : public OpKernel {
 public:
  explicit CtcBeamSearchDecoderOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("beam_width", &beam_width_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("top_paths", &top_paths_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("merge_repeated", &merge_repeated_));
  }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckCtcInputs(ctx));
    OP_REQUIRES(ctx, top_paths_ <= beam_width_,
                errors::InvalidArgument(
                    "requested more paths than the beam width: top_paths is ",
                    top_paths_, ", beam_width ", beam_width_));
    const Tensor& inputs = ctx->input(0);
    const int64_t batch = inputs.dim_size(1), classes = inputs.dim_size(2);
    TensorShape score_shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build({batch, top_paths_}, &score_shape));
    Tensor* scores = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(static_cast<int>(3 * top_paths_),
                                             score_shape, &scores));
    T* const score = scores->data<T>();
    std::vector<CtcSequence> decoded(batch * top_paths_);
    std::vector<char> too_few(batch, 0);
    const int32_t* lengths = ctx->input(1).data<int32_t>();
    const T* x = inputs.data<T>();
    const double cost =
        20.0 * static_cast<double>(inputs.dim_size(0)) *
        static_cast<double>(classes) *
        static_cast<double>(std::min<int64_t>(beam_width_, 100));
    {
      const CancellableLoops cancellable(ctx);
      ctx->ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          CtcBeam<T> beam(classes, beam_width_);
          for (int64_t t = 0; t < lengths[b]; ++t) {
            beam.Step(x + (t * batch + b) * classes);
          }
          too_few[b] =
              !beam.Best(top_paths_, merge_repeated_, &decoded[b * top_paths_],
                         score + b * top_paths_);
        }
      });
    }
    if (!ctx->status().ok()) return;
    for (int64_t b = 0; b < batch; ++b) {
      OP_REQUIRES(ctx, !too_few[b],
                  errors::InvalidArgument(
                      "Less leaves in the beam search than requested: batch ",
                      b, " has fewer than ", top_paths_, " paths"));
    }
    for (int64_t p = 0; p < top_paths_; ++p) {
      OP_REQUIRES_OK(ctx, SetSequences(ctx, decoded, top_paths_, p));
    }
  }

 private:
  int64_t beam_width_ = 1, top_paths_ = 1;
  bool merge_repeated_ = true;
};

#define REGISTER_DECODERS(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("CTCGreedyDecoder").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      CtcGreedyDecoderOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("CTCBeamSearchDecoder").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CtcBeamSearchDecoderOp<T>)
REGISTER_DECODERS(float);
REGISTER_DECODERS(double);
#undef REGISTER_DECODERS

}  // namespace
}  // namespace headrace
