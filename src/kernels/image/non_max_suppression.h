// Greedily selects boxes with little overlap. Shared by the NonMaxSuppression
// ops.
#ifndef HEADRACE_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_
#define HEADRACE_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/functional/function_ref.h"

namespace headrace {

struct NmsOptions {
  int64_t max_outputs = 0;
  float overlap_threshold = 0.5f;
  float score_threshold = std::numeric_limits<float>::lowest();
  float soft_sigma = 0;
  bool pad = false;
};

// Boxes are y, x of two opposite corners, in any order. 0 if a box has no area.
float IntersectionOverUnion(const float* a, const float* b);

struct NmsCandidate {
  float score;
  int64_t index;
  // The number of selected boxes that this candidate was already compared with.
  size_t seen = 0;
  bool operator<(const NmsCandidate& o) const {  // later in the queue
    return score != o.score ? score < o.score : index > o.index;
  }
};

// The selected candidates, in order. A NaN score is never selected.
std::vector<NmsCandidate> SelectBoxes(
    const std::vector<float>& scores, const NmsOptions& options,
    absl::FunctionRef<float(int64_t, int64_t)> overlap);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_
