// A process-wide timer for deadlines of steps: one thread, started at the first
// use, that sleeps until the next deadline.
#ifndef HEADRACE_RUNTIME_DEADLINE_TIMER_H_
#define HEADRACE_RUNTIME_DEADLINE_TIMER_H_

#include <cstdint>
#include <functional>

#include "base/fork.h"

namespace headrace {

// Calls `expired` from the timer's thread `timeout_ms` after construction,
// unless destroyed first; never if `timeout_ms` is 0 or less. The destructor
// waits for a call in progress.
class Deadline {
 public:
  Deadline(int64_t timeout_ms, std::function<void()> expired);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  int64_t key_;  // of the timer's table
  const uint32_t generation_ = ForkGeneration();
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_DEADLINE_TIMER_H_
