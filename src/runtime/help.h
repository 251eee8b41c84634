// The wait for the end of a step, or of a part of one, on a thread that works
// meanwhile.
#ifndef HEADRACE_RUNTIME_HELP_H_
#define HEADRACE_RUNTIME_HELP_H_

#include "base/task_group.h"
#include "base/thread_pool.h"
#include "base/wait_hook.h"
#include "headrace/clock.h"

namespace headrace {

// Returns when the work of `group` has ended; see ThreadPool::Help. Calls
// `hook`, which may be null, every WaitHook::kPeriodMs milliseconds, or when
// the kernel that it runs has ended.
inline void HelpUntilFinished(TaskGroup* group, ThreadPool* tasks,
                              ThreadPool* loops, ThreadPool::HelpWith with,
                              WaitHook* hook) {
  const auto finished = [group] { return group->finished(); };
  if (hook == nullptr) {
    ThreadPool::Help(group, tasks, loops, with, finished);
    return;
  }
  constexpr absl::Duration kPeriod = absl::Milliseconds(WaitHook::kPeriodMs);
  while (
      !ThreadPool::Help(group, tasks, loops, with, finished, Now() + kPeriod)) {
    hook->Poll();
  }
}

// What the caller of a run may help with: a thread that works for another group
// is in a kernel, and may hold locks.
inline ThreadPool::HelpWith CallersHelp() {
  return TaskGroup::Current() == nullptr ? ThreadPool::HelpWith::kAllLoops
                                         : ThreadPool::HelpWith::kGroup;
}

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_HELP_H_
