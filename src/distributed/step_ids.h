// Ids of steps: random, positive, with the upper bits clear as TensorFlow's.
#ifndef HEADRACE_DISTRIBUTED_STEP_IDS_H_
#define HEADRACE_DISTRIBUTED_STEP_IDS_H_

#include <cstdint>

#include "base/random.h"

namespace headrace {

inline constexpr uint64_t kStepIdMask = (uint64_t{1} << 56) - 1;

// Never 0.
inline int64_t NewStepId() {
  return static_cast<int64_t>(RandomSeed64() & kStepIdMask) | 1;
}
// The id of a step that follows another. 0 after the last id.
inline int64_t StepIdAfter(int64_t id) {
  return static_cast<int64_t>((static_cast<uint64_t>(id) + 1) & kStepIdMask);
}

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_STEP_IDS_H_
