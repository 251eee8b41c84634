#include "kernels/random/range_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/lib/uniform_below.h"

namespace headrace {

int64_t UniformSampler::Sample(PhiloxWords* next) const {
  return static_cast<int64_t>(
      UniformBelow<uint64_t>(static_cast<uint64_t>(range()), next));
}

float UniformSampler::Probability(int64_t) const {
  return static_cast<float>(1.0 / static_cast<double>(range()));
}

LogUniformSampler::LogUniformSampler(int64_t range)
    : RangeSampler(range), log_range_(std::log1p(range)) {}

int64_t LogUniformSampler::Sample(PhiloxWords* next) const {
  const uint32_t a = (*next)(), b = (*next)();
  const double x = std::exp(UniformDouble(a, b) * log_range_);
  // Rounding could lead out of the range, and beyond int64.
  if (!(x < 0x1p63)) return range() - 1;
  return (static_cast<int64_t>(x) - 1) % range();
}

float LogUniformSampler::Probability(int64_t value) const {
  const double v = static_cast<double>(value);
  return static_cast<float>(std::log((v + 2) / (v + 1)) / log_range_);
}

LearnedSampler::LearnedSampler(int64_t range) : RangeSampler(range) {
  while ((int64_t{1} << depth_) < range) ++depth_;
}

int64_t LearnedSampler::Sum(uint64_t node, int depth) const {
  const int above_leaves = depth_ - depth;
  const auto first =
      static_cast<int64_t>((node - (uint64_t{1} << depth)) << above_leaves);
  const int64_t leaves =
      std::clamp<int64_t>(range() - first, 0, int64_t{1} << above_leaves);
  const auto counted = counted_.find(node);
  return leaves + (counted == counted_.end() ? 0 : counted->second);
}

int64_t LearnedSampler::Sample(PhiloxWords* next) const {
  int64_t position =
      UniformBelow<uint32_t>(static_cast<uint32_t>(Sum(1, 0)), next);
  uint64_t node = 1;
  for (int depth = 1; depth <= depth_; ++depth) {
    node *= 2;
    const int64_t left = Sum(node, depth);
    if (position >= left) {
      position -= left;
      ++node;
    }
  }
  return static_cast<int64_t>(node - (uint64_t{1} << depth_));
}

float LearnedSampler::Probability(int64_t value) const {
  const uint64_t leaf = (uint64_t{1} << depth_) + static_cast<uint64_t>(value);
  return static_cast<float>(Sum(leaf, depth_)) / static_cast<float>(Sum(1, 0));
}

void LearnedSampler::Count(int64_t value) {
  if (Sum(1, 0) >= std::numeric_limits<int32_t>::max()) return;
  uint64_t node = (uint64_t{1} << depth_) + static_cast<uint64_t>(value);
  for (; node > 0; node /= 2) ++counted_[node];
}

Status WeightedSampler::Make(std::vector<float> weights,
                             std::unique_ptr<WeightedSampler>* out) {
  if (weights.empty() || weights.size() > static_cast<size_t>(INT32_MAX)) {
    return errors::InvalidArgument("there must be 1 to ", INT32_MAX,
                                   " weights, got ", weights.size());
  }
  float total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i])) {
      return errors::InvalidArgument(
          "weights must be finite and not negative, but that of class ", i,
          " is ", weights[i], " (after distortion)");
    }
    total += weights[i];
  }
  if (!(total > 0) || std::isinf(total)) {
    return errors::InvalidArgument(
        "the sum of all weights must be positive and finite, got ", total);
  }
  out->reset(new WeightedSampler(std::move(weights)));
  return OkStatus();
}

WeightedSampler::WeightedSampler(std::vector<float> weights)
    : RangeSampler(static_cast<int64_t>(weights.size())),
      weights_(std::move(weights)),
      parts_(weights_.size()) {
  const int n = static_cast<int>(weights_.size());
  double sum = 0;
  for (float w : weights_) {
    sum += w;
    total_ += w;
    possible_ += w > 0;
  }
  // Weights in parts; what is above 1 fills up, as their alias, those below.
  std::vector<double> share(n);
  std::vector<int> above, below;
  for (int i = 0; i < n; ++i) {
    share[i] = weights_[i] * static_cast<float>(n) / sum;
    (share[i] < 1 ? below : above).push_back(i);
    parts_[i] = {1, i};
  }
  while (!above.empty() && !below.empty()) {
    const int poor = below.back(), rich = above.back();
    below.pop_back();
    parts_[poor] = {static_cast<float>(share[poor]), rich};
    share[rich] -= 1 - share[poor];
    if (share[rich] < 1) {
      above.pop_back();
      below.push_back(rich);
    }
  }
  // What is left is 1 up to rounding, unless its weight is none at all.
  const auto largest = static_cast<int32_t>(
      std::max_element(weights_.begin(), weights_.end()) - weights_.begin());
  for (int i : below) {
    if (weights_[i] == 0) parts_[i] = {0, largest};
  }
}

int64_t WeightedSampler::Sample(PhiloxWords* next) const {
  const float u = UniformFloat((*next)());
  const auto n = static_cast<uint32_t>(parts_.size());
  const uint32_t i = UniformBelow<uint32_t>(n, next);
  return u < parts_[i].own ? static_cast<int64_t>(i) : parts_[i].alias;
}

float WeightedSampler::Probability(int64_t value) const {
  return weights_[value] / total_;
}

}  // namespace headrace
