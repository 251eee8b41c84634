// TaskGroup: the scheduled functions and parallel loops that belong to one
// piece of work, such as a run of a step, so that the thread that waits for the
// work can take part in it (ThreadPool::Help).
#ifndef HEADRACE_BASE_TASK_GROUP_H_
#define HEADRACE_BASE_TASK_GROUP_H_

#include <atomic>
#include <cstdint>

namespace headrace {

// Thread-safe. Lives until its work has ended and Help has returned.
class TaskGroup {
 public:
  TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // The group for which this thread works; null: none. The loops that the
  // thread starts belong to it.
  static TaskGroup* Current();

  // For its lifetime, the thread works for `group`, which may be null.
  class Scope {
   public:
    explicit Scope(TaskGroup* group);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TaskGroup* const outer_;
  };

  // Says that the work has ended, and wakes the thread that waits for it. After
  // this the group may be gone. Once.
  void Finish();
  bool finished() const {
    return (word_.load(std::memory_order_acquire) & kFinished) != 0;
  }
  // Makes the thread that waits in Help look at its condition again.
  void Nudge();

 private:
  friend class ThreadPool;

  static constexpr uint32_t kFinished = 1;
  static constexpr uint32_t kHelped = 2;    // a thread, the helper, is in Help
  static constexpr uint32_t kSpinning = 4;  // it sees new work by itself
  static constexpr uint32_t kParked = 8;    // it sleeps on word_
  static constexpr uint32_t kWaiting =
      16;                                // others, who only wait, sleep on it
  static constexpr uint32_t kTick = 32;  // the rest counts wake-ups

  // Wakes the helper if it sleeps. True if it slept or spins, so that it looks
  // for work now.
  bool Call();

  std::atomic<uint32_t> word_{0};
  std::atomic<int32_t> queued_{0};  // tasks that wait in a queue
  // Where the helper looks for tasks and for loops: pools' states.
  std::atomic<const void*> tasks_in_{nullptr};
  std::atomic<const void*> loops_in_{nullptr};
  // A pool's list of sleeping helpers that take blocks of any loop.
  TaskGroup* next_guest_ = nullptr;
  TaskGroup* previous_guest_ = nullptr;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_TASK_GROUP_H_
