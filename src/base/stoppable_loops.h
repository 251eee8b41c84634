// StoppableLoops: while one lives on a thread, the parallel loops that this
// thread runs, and the loops inside their bodies, leave out the blocks not yet
// begun as soon as `stopped` says so. For work that may be abandoned half done:
// loops that only fill results which nobody will then look at.
#ifndef HEADRACE_BASE_STOPPABLE_LOOPS_H_
#define HEADRACE_BASE_STOPPABLE_LOOPS_H_

#include <atomic>

namespace headrace {

class StoppableLoops {
 public:
  // Asked before each block, on any thread; once true it stays true.
  using Stopped = bool (*)(const void* arg);

  StoppableLoops(Stopped stopped, const void* arg);
  ~StoppableLoops();
  StoppableLoops(const StoppableLoops&) = delete;
  StoppableLoops& operator=(const StoppableLoops&) = delete;

  // True if a loop has left blocks out: what it filled is not complete.
  bool cut() const { return cut_.load(std::memory_order_relaxed); }

  // For ThreadPool.
  bool Stop() const {
    if (!stopped_(arg_)) return false;
    cut_.store(true, std::memory_order_relaxed);
    return true;
  }
  static const StoppableLoops* Current();
  // Makes it the thread's for the loops inside a body; returns the one before.
  static const StoppableLoops* SetCurrent(const StoppableLoops* loops);

 private:
  const Stopped stopped_;
  const void* const arg_;
  const StoppableLoops* const outer_;
  mutable std::atomic<bool> cut_{false};
};

}  // namespace headrace

#endif  // HEADRACE_BASE_STOPPABLE_LOOPS_H_
