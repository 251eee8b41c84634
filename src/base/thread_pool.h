// A ThreadPool runs scheduled functions and parallel loops. Headrace has one
// for the whole process (Global), so that sessions, kernels and loaders share
// the processors instead of each bringing threads of its own.
//
// Loops are cut into blocks of a fixed size, which does not depend on the
// number of threads, so that a result does not either. The thread that calls
// ParallelFor takes part and can finish alone: loops may nest, run from workers
// and run while every worker is busy or blocked.
//
// Workers start at the first use. One that runs out of work spins for about
// 100 us, then parks and costs nothing. After fork() the child's pools start
// workers of their own at their next use; work scheduled in the parent and not
// yet run stays with the parent. (Do not fork from inside a function that the
// pool is running and then return from it in the child.)
#ifndef HEADRACE_BASE_THREAD_POOL_H_
#define HEADRACE_BASE_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"

namespace headrace {

// Thread-safe. Scheduled functions must not throw.
class ThreadPool {
 public:
  using Task = absl::AnyInvocable<void()>;
  using LoopBody = absl::FunctionRef<void(int64_t begin, int64_t end)>;

  // `num_threads` counts the caller of ParallelFor: ThreadPool(4, "x") has
  // three workers. It is raised to 1; ThreadPool(1, "x") runs loops on the
  // caller, and makes one worker if something is scheduled. `name` shows in
  // debuggers.
  explicit ThreadPool(int num_threads, std::string name = "headrace");
  // Runs everything scheduled, then joins. No ParallelFor may be in progress.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The process-wide pool, of AvailableCpus() threads. Never destroyed.
  static ThreadPool* Global();

  // The parallelism of ParallelFor, the caller included.
  int NumThreads() const { return num_threads_; }

  // Runs `fn` once on a worker, soon; first come, first served. Does not wait.
  // (If the system refuses every thread, runs it here.) Throws std::bad_alloc
  // if there is no memory to remember it.
  void Schedule(Task fn);

  // Calls fn(begin, end) once for each block [k * block, min((k + 1) * block,
  // total)), from this thread and from workers, in no fixed order; returns when
  // all calls have returned, and what they wrote is visible. A thread begins
  // with the same part of the range in every loop, where what it worked on in
  // the loop before may still be in its cache. `total` <= 0 does
  // nothing; `block` is raised to 1. A single block runs right here. The
  // workers' floating-point mode (flush-to-zero, rounding) is the caller's for
  // the time of the loop. If a block throws a std::exception no further one
  // begins, and the first that was thrown comes out of this call.
  void ParallelFor(int64_t total, int64_t block, LoopBody fn);

  // ParallelFor with blocks worth 25-50 us each by `cost_ns_per_unit`, the
  // estimated nanoseconds for one of the `total` units. The blocks depend on
  // the two numbers alone. Work under 50 us is one block and runs inline.
  void ParallelForCost(int64_t total, double cost_ns_per_unit, LoopBody fn);

  // The block size ParallelForCost uses, for kernels that keep one result a
  // block.
  static int64_t BlockForCost(int64_t total, double cost_ns_per_unit);

  // True on a worker of this pool.
  bool InWorker() const;

 private:
  class State;
  State* state();

  const int num_threads_;
  const std::string name_;
  // Queue, loops and workers. Replaced, and the old one left alone, when found
  // to be from before a fork.
  std::atomic<State*> state_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_THREAD_POOL_H_
