// StoppableLoops: for its lifetime, the parallel loops of this thread, and the
// loops inside their bodies, skip the blocks that have not started once
// `stopped` returns true. For work that may be left unfinished: loops that only
// fill results which nobody then reads.
#ifndef HEADRACE_BASE_STOPPABLE_LOOPS_H_
#define HEADRACE_BASE_STOPPABLE_LOOPS_H_

#include <atomic>

namespace headrace {

class StoppableLoops {
 public:
  // Called before each block, on any thread. Once it returns true it must stay
  // true.
  using Stopped = bool (*)(const void* arg);

  StoppableLoops(Stopped stopped, const void* arg);
  ~StoppableLoops();
  StoppableLoops(const StoppableLoops&) = delete;
  StoppableLoops& operator=(const StoppableLoops&) = delete;

  // True if a loop skipped blocks: its results are incomplete.
  bool cut() const { return cut_.load(std::memory_order_relaxed); }

  // For ThreadPool.
  bool Stop() const {
    if (!stopped_(arg_)) return false;
    cut_.store(true, std::memory_order_relaxed);
    return true;
  }
  static const StoppableLoops* Current();
  // Makes `loops` the thread's for the loops inside a body. Returns the
  // previous one.
  static const StoppableLoops* SetCurrent(const StoppableLoops* loops);

 private:
  const Stopped stopped_;
  const void* const arg_;
  const StoppableLoops* const outer_;
  mutable std::atomic<bool> cut_{false};
};

}  // namespace headrace

#endif  // HEADRACE_BASE_STOPPABLE_LOOPS_H_
