// Distributions over the classes 0 .. range - 1 for candidate samplers. They
// use the numbers of a stream as TensorFlow does, so equal seeds give equal
// classes.
#ifndef HEADRACE_KERNELS_RANDOM_RANGE_SAMPLER_H_
#define HEADRACE_KERNELS_RANDOM_RANGE_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "framework/kernel/philox.h"
#include "headrace/status.h"

namespace headrace {

// Const methods may run on several threads at a time.
class RangeSampler {
 public:
  // range > 0
  explicit RangeSampler(int64_t range) : range_(range) {}
  virtual ~RangeSampler() = default;

  int64_t range() const { return range_; }
  virtual int64_t Sample(PhiloxWords* next) const = 0;
  // The probability of a class in [0, range).
  virtual float Probability(int64_t value) const = 0;
  // The number of classes with a probability above 0. No more can be drawn
  // without repetition.
  virtual int64_t NumPossible() const { return range_; }

 private:
  const int64_t range_;
};

// All classes have equal probability.
class UniformSampler : public RangeSampler {
 public:
  using RangeSampler::RangeSampler;
  int64_t Sample(PhiloxWords* next) const override;
  float Probability(int64_t value) const override;
};

// Approximately Zipf's law: class k has probability log((k + 2) / (k + 1)) /
// log(range + 1). For classes in order of decreasing frequency.
class LogUniformSampler : public RangeSampler {
 public:
  explicit LogUniformSampler(int64_t range);
  int64_t Sample(PhiloxWords* next) const override;
  float Probability(int64_t value) const override;

 private:
  const double log_range_;
};

// Proportional to counts; each class starts with count 1. The counts are the
// leaves of a binary tree of sums. Only counted nodes are stored, so memory
// depends on the classes seen and not on the range.
class LearnedSampler : public RangeSampler {
 public:
  // range < 2^31 - 1
  explicit LearnedSampler(int64_t range);
  int64_t Sample(PhiloxWords* next) const override;
  float Probability(int64_t value) const override;
  // Adds one to the count of `value`, in [0, range). Does nothing once the sum
  // of all counts is 2^31 - 1.
  void Count(int64_t value);

 private:
  // The sum of the counts below a node. The root is node 1; the children of
  // node n are 2n and 2n + 1.
  int64_t Sum(uint64_t node, int depth) const;

  int depth_ = 0;  // of the leaves
  absl::flat_hash_map<uint64_t, int32_t> counted_;
};

// Proportional to given weights, with Walker's alias table: a class and its
// alias share one of `range` equal parts.
class WeightedSampler : public RangeSampler {
 public:
  // InvalidArgument unless there are 1 .. 2^31 - 1 weights, all finite and not
  // negative, and at least one is positive.
  static Status Make(std::vector<float> weights,
                     std::unique_ptr<WeightedSampler>* out);
  int64_t Sample(PhiloxWords* next) const override;
  float Probability(int64_t value) const override;
  int64_t NumPossible() const override { return possible_; }

 private:
  struct Part {
    float own = 1;  // the share of the class itself
    int32_t alias = 0;
  };
  explicit WeightedSampler(std::vector<float> weights);

  const std::vector<float> weights_;
  std::vector<Part> parts_;
  float total_ = 0;
  int64_t possible_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_RANDOM_RANGE_SAMPLER_H_
