// Approximate quantiles of weighted numbers, by which features get their
// buckets (after Greenwald and Khanna, and Zhang and Wang).
//
// A summary is a sorted list of values with bounds of their ranks, where the
// rank of a value is the weight of all smaller ones. Summaries merge exactly
// and are compressed to fewer entries with wider bounds. A stream keeps a
// summary for each level of a tree of blocks; a block of the next level is two
// of the level below, compressed.
#ifndef HEADRACE_KERNELS_TREES_QUANTILE_STREAM_H_
#define HEADRACE_KERNELS_TREES_QUANTILE_STREAM_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace headrace {

// Thread-compatible.
class QuantileSummary {
 public:
  struct Entry {
    float value = 0, weight = 0, min_rank = 0, max_rank = 0;
    float PreviousMaxRank() const { return max_rank - weight; }
    float NextMinRank() const { return min_rank + weight; }
  };

  QuantileSummary() = default;
  // Entries sorted by value.
  explicit QuantileSummary(std::vector<Entry> entries)
      : entries_(std::move(entries)) {}
  // Exact, of numbers and their weights in any order.
  static QuantileSummary Of(std::vector<std::pair<float, float>> numbers);

  const std::vector<Entry>& entries() const { return entries_; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  void Merge(const QuantileSummary& other);
  // Leaves about `size` entries; ranks become less exact by the larger of
  // 1 / size and `least_error`, as a part of the weight.
  void Compress(int64_t size, double least_error);
  // Values between which lie about equal weights, the least and the largest
  // among them; at least `n` of them, if there are so many.
  std::vector<float> Boundaries(int64_t n) const;
  // The n + 1 values at the ranks 0, 1/n, ..., 1.
  std::vector<float> Quantiles(int64_t n) const;

 private:
  double ApproximationError() const;

  std::vector<Entry> entries_;
};

// Thread-compatible.
class QuantileStream {
 public:
  // Ranks are right but for `epsilon`, a part of the weight, as long as at most
  // `max_elements` numbers come. epsilon >= 0, max_elements > 0.
  QuantileStream(double epsilon, int64_t max_elements);

  // Numbers of weight 0 or less are left out.
  void Push(float value, float weight);
  void Push(QuantileSummary summary);
  // The summary of all; the stream is empty then.
  QuantileSummary Finish();

 private:
  void PushBuffer();

  const double epsilon_;
  int64_t block_size_ = 2, buffer_size_ = 2;
  std::vector<std::pair<float, float>> buffer_;
  std::vector<QuantileSummary> levels_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_TREES_QUANTILE_STREAM_H_
