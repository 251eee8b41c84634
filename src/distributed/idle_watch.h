// IdleWatch: a thread that looks now and then for what nobody uses any more.
#ifndef HEADRACE_DISTRIBUTED_IDLE_WATCH_H_
#define HEADRACE_DISTRIBUTED_IDLE_WATCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {

// When something was last used; at first, when it was made. Thread-safe.
class LastUse {
 public:
  void Touch() { ns_ = absl::ToUnixNanos(Now()); }
  absl::Time time() const { return absl::FromUnixNanos(ns_); }

 private:
  std::atomic<int64_t> ns_{absl::ToUnixNanos(Now())};
};

// Thread-safe.
class IdleWatch {
 public:
  // Calls `look`, which must not throw, some times in each `ttl`.
  IdleWatch(absl::Duration ttl, std::function<void()> look);
  // Waits for `look` if it runs. Not from `look`.
  ~IdleWatch();

 private:
  void Run(absl::Duration period);

  const std::function<void()> look_;
  Notification stop_;
  std::thread thread_;
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_IDLE_WATCH_H_
