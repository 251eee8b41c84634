// Times of another task, whose clock may differ, in those of this one.
#ifndef HEADRACE_DISTRIBUTED_CLOCK_OFFSET_H_
#define HEADRACE_DISTRIBUTED_CLOCK_OFFSET_H_

#include "absl/time/time.h"
#include "headrace/step_stats.pb.h"

namespace headrace {

// Moves the times of `stats`, which a task took between `begin` and `end` on
// this task's clock, by what puts them into the middle of that interval. Leaves
// them if they lie within it: then the clocks agree as far as can be seen.
void MoveClock(absl::Time begin, absl::Time end, pb::StepStats* stats);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_CLOCK_OFFSET_H_
