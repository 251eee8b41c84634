#include "distributed/idle_watch.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr absl::Duration kLongestPeriod = absl::Minutes(1);

}  // namespace

IdleWatch::IdleWatch(absl::Duration ttl, std::function<void()> look)
    : look_(std::move(look)),
      thread_([this, period = std::min(ttl / 4, kLongestPeriod)] {
        Run(period);
      }) {}

IdleWatch::~IdleWatch() {
  stop_.Notify();
  thread_.join();
}

void IdleWatch::Run(absl::Duration period) {
  while (!stop_.WaitForNotificationWithTimeout(period)) look_();
}

}  // namespace headrace
