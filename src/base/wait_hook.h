// WaitHook: called periodically on a thread that waits for a run. Python's main
// thread uses it to handle signals.
#ifndef HEADRACE_BASE_WAIT_HOOK_H_
#define HEADRACE_BASE_WAIT_HOOK_H_

#include "absl/time/time.h"
#include "headrace/mutex.h"

namespace headrace {

class WaitHook {
 public:
  virtual ~WaitHook() = default;
  // Runs on the waiting thread, which holds no locks. May start runs.
  virtual void Poll() = 0;

  static constexpr int kPeriodMs = 50;
};

// Waits for `n`. Calls `hook`, which may be null, every kPeriodMs milliseconds.
inline void WaitForNotification(const Notification& n, WaitHook* hook) {
  if (hook == nullptr) return n.WaitForNotification();
  constexpr absl::Duration kPeriod = absl::Milliseconds(WaitHook::kPeriodMs);
  while (!n.WaitForNotificationWithTimeout(kPeriod)) hook->Poll();
}

}  // namespace headrace

#endif  // HEADRACE_BASE_WAIT_HOOK_H_
