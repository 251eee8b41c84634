#include "kernels/trees/quantile_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {

QuantileSummary QuantileSummary::Of(
    std::vector<std::pair<float, float>> numbers) {
  std::sort(numbers.begin(), numbers.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  QuantileSummary made;
  for (size_t i = 0; i < numbers.size();) {
    Entry e;
    e.value = numbers[i].first;
    for (; i < numbers.size() && !(e.value < numbers[i].first); ++i) {
      e.weight += numbers[i].second;
    }
    if (!made.entries_.empty()) e.min_rank = made.entries_.back().max_rank;
    e.max_rank = e.min_rank + e.weight;
    made.entries_.push_back(e);
  }
  return made;
}

void QuantileSummary::Merge(const QuantileSummary& other) {
  if (other.entries_.empty()) return;
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  std::vector<Entry> merged;
  merged.reserve(entries_.size() + other.entries_.size());
  auto a = entries_.cbegin(), b = other.entries_.cbegin();
  const auto a_end = entries_.cend(), b_end = other.entries_.cend();
  float a_rank = 0, b_rank = 0;  // the least rank of the next value
  while (a != a_end || b != b_end) {
    Entry e;
    if (b == b_end || (a != a_end && a->value < b->value)) {
      e = {a->value, a->weight, a->min_rank + b_rank,
           a->max_rank + (b == b_end ? other.entries_.back().max_rank
                                     : b->PreviousMaxRank())};
      a_rank = a->NextMinRank();
      ++a;
    } else if (a == a_end || a->value > b->value) {
      e = {b->value, b->weight, b->min_rank + a_rank,
           b->max_rank +
               (a == a_end ? entries_.back().max_rank : a->PreviousMaxRank())};
      b_rank = b->NextMinRank();
      ++b;
    } else {
      e = {a->value, a->weight + b->weight, a->min_rank + b->min_rank,
           a->max_rank + b->max_rank};
      a_rank = a->NextMinRank();
      b_rank = b->NextMinRank();
      ++a;
      ++b;
    }
    merged.push_back(e);
  }
  entries_ = std::move(merged);
}

void QuantileSummary::Compress(int64_t wanted, double least_error) {
  wanted = std::max<int64_t>(wanted, 2);
  const int64_t n = size();
  if (n <= wanted) return;
  const double error = entries_.back().max_rank *
                       std::max(1.0 / static_cast<double>(wanted), least_error);
  // Each entry that is kept stands for a run of entries: as many as the error
  // allows, and n / wanted on average. The first and the last are kept.
  std::vector<Entry> kept = {entries_.front()};
  double credit = 0;
  int64_t read = 0, last = 1;
  while (read + 1 < n) {
    int64_t next = read + 1;
    while (next < n && credit < static_cast<double>(n) &&
           entries_[next].PreviousMaxRank() - entries_[read].NextMinRank() <=
               error) {
      credit += static_cast<double>(wanted);
      ++next;
    }
    read = read == next - 1 ? read + 1 : next - 1;
    kept.push_back(entries_[read]);
    last = read;
    credit -= static_cast<double>(n);
  }
  if (last + 1 != n) kept.push_back(entries_.back());
  entries_ = std::move(kept);
}

double QuantileSummary::ApproximationError() const {
  if (entries_.empty()) return 0;
  float gap = 0;
  for (size_t i = 1; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    gap = std::max({gap, e.max_rank - e.min_rank - e.weight,
                    e.PreviousMaxRank() - entries_[i - 1].NextMinRank()});
  }
  return static_cast<double>(gap) / entries_.back().max_rank;
}

std::vector<float> QuantileSummary::Boundaries(int64_t n) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  QuantileSummary compressed = *this;
  const auto error =
      static_cast<float>(ApproximationError() + 1.0 / static_cast<double>(n));
  compressed.Compress(n, error);
  for (const Entry& e : compressed.entries_) values.push_back(e.value);
  return values;
}

std::vector<float> QuantileSummary::Quantiles(int64_t n) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  n = std::max<int64_t>(n, 2);
  size_t at = 0;
  for (int64_t rank = 0; rank <= n; ++rank) {
    // Twice the rank is compared with sums of two bounds.
    const float twice = 2 * (static_cast<float>(rank) *
                             entries_.back().max_rank / static_cast<float>(n));
    size_t next = at + 1;
    while (next < entries_.size() &&
           twice >= entries_[next].min_rank + entries_[next].max_rank) {
      ++next;
    }
    at = next - 1;
    const bool is_before =
        next == entries_.size() ||
        twice < entries_[at].NextMinRank() + entries_[next].PreviousMaxRank();
    values.push_back(entries_[is_before ? at : next].value);
  }
  return values;
}

QuantileStream::QuantileStream(double epsilon, int64_t max_elements)
    : epsilon_(epsilon) {
  if (epsilon <= std::numeric_limits<double>::epsilon()) {
    block_size_ = max_elements;
  } else {
    // The least number of levels whose blocks hold all elements.
    for (int level = 1;
         level < 62 &&
         block_size_ < (max_elements >> level) +
                           ((max_elements & ((int64_t{1} << level) - 1)) != 0);
         ++level) {
      const double size = std::ceil(level / epsilon) + 1;
      block_size_ = size < 9e18 ? static_cast<int64_t>(size)
                                : std::numeric_limits<int64_t>::max();
    }
  }
  block_size_ = std::max<int64_t>(block_size_, 2);
  buffer_size_ = block_size_ > max_elements / 2
                     ? max_elements
                     : std::min(2 * block_size_, max_elements);
}

void QuantileStream::Push(float value, float weight) {
  if (!(weight > 0)) return;
  buffer_.emplace_back(value, weight);
  if (static_cast<int64_t>(buffer_.size()) >= buffer_size_) PushBuffer();
}

void QuantileStream::PushBuffer() {
  if (buffer_.empty()) return;
  Push(QuantileSummary::Of(std::exchange(buffer_, {})));
}

void QuantileStream::Push(QuantileSummary summary) {
  summary.Compress(block_size_, epsilon_);
  if (summary.size() == 0) return;
  for (size_t level = 0;; ++level) {
    if (levels_.size() <= level) levels_.emplace_back();
    QuantileSummary& here = levels_[level];
    const bool was_empty = here.size() == 0;
    summary.Merge(here);
    if (was_empty || summary.size() <= block_size_ + 1) {
      here = std::move(summary);
      return;
    }
    summary.Compress(block_size_, epsilon_);
    here = QuantileSummary();
  }
}

QuantileSummary QuantileStream::Finish() {
  PushBuffer();
  QuantileSummary all;
  for (const QuantileSummary& level : levels_) all.Merge(level);
  levels_.clear();
  return all;
}

}  // namespace headrace
