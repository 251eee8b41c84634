// WaitHook: what a thread does now and then while it waits for a run to end.
// Python's main thread looks after its signals so.
#ifndef HEADRACE_BASE_WAIT_HOOK_H_
#define HEADRACE_BASE_WAIT_HOOK_H_

#include "absl/time/time.h"
#include "headrace/mutex.h"

namespace headrace {

class WaitHook {
 public:
  virtual ~WaitHook() = default;
  // On the thread that waits, which holds no locks. May start runs.
  virtual void Poll() = 0;

  static constexpr int kPeriodMs = 50;
};

// Waits for `n` and calls `hook`, which may be null, every kPeriodMs meanwhile.
inline void WaitForNotification(const Notification& n, WaitHook* hook) {
  if (hook == nullptr) return n.WaitForNotification();
  constexpr absl::Duration kPeriod = absl::Milliseconds(WaitHook::kPeriodMs);
  while (!n.WaitForNotificationWithTimeout(kPeriod)) hook->Poll();
}

}  // namespace headrace

#endif  // HEADRACE_BASE_WAIT_HOOK_H_
