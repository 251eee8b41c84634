#include "kernels/image/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace headrace {

float IntersectionOverUnion(const float* a, const float* b) {
  auto low = [](const float* box, int k) {
    return std::min(box[k], box[k + 2]);
  };
  auto high = [](const float* box, int k) {
    return std::max(box[k], box[k + 2]);
  };
  const float area_a = (high(a, 0) - low(a, 0)) * (high(a, 1) - low(a, 1));
  const float area_b = (high(b, 0) - low(b, 0)) * (high(b, 1) - low(b, 1));
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(
      std::min(high(a, 0), high(b, 0)) - std::max(low(a, 0), low(b, 0)), 0.0f);
  const float width = std::max(
      std::min(high(a, 1), high(b, 1)) - std::max(low(a, 1), low(b, 1)), 0.0f);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

std::vector<NmsCandidate> SelectBoxes(
    const std::vector<float>& scores, const NmsOptions& options,
    absl::FunctionRef<float(int64_t, int64_t)> overlap) {
  std::vector<NmsCandidate> queue_init;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > options.score_threshold) {
      queue_init.push_back({scores[i], static_cast<int64_t>(i)});
    }
  }
  std::priority_queue<NmsCandidate> queue(std::less<NmsCandidate>(),
                                          std::move(queue_init));
  const bool soft = options.soft_sigma > 0;
  const float decay = soft ? -0.5f / options.soft_sigma : 0;
  std::vector<NmsCandidate> taken;
  while (!queue.empty() &&
         static_cast<int64_t>(taken.size()) < options.max_outputs) {
    NmsCandidate next = queue.top();
    queue.pop();
    const float before = next.score;
    bool dropped = false;
    // From the end: what was taken last is the likeliest neighbour.
    for (size_t j = taken.size(); j > next.seen && !dropped; --j) {
      const float o = overlap(next.index, taken[j - 1].index);
      if (soft) {
        next.score *= std::exp(decay * o * o);
        dropped = !(next.score > options.score_threshold);
      } else {
        dropped = o > options.overlap_threshold;
      }
    }
    if (dropped) continue;
    next.seen = taken.size();
    if (next.score == before) {
      taken.push_back(next);
    } else {
      queue.push(next);
    }
  }
  return taken;
}

}  // namespace headrace
