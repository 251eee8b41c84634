// ThreadPool: runs scheduled functions and parallel loops. The process has one
// pool (Global), so that sessions, kernels and loaders share the processors.
//
// A loop is split into blocks of a fixed size. The size does not depend on the
// number of threads, so results do not depend on it either. The thread that
// calls ParallelFor takes part and can finish alone. Therefore loops may nest,
// run on workers, and run while every worker is busy or blocked.
//
// A thread that waits for a TaskGroup works meanwhile (Help): on the group's
// tasks and loops, so that a pool of N threads uses N processors although it
// has N - 1 workers.
//
// In pools of up to four threads, the thread that wakes a sleeping worker first
// takes its own processor out of the worker's affinity, and the worker restores
// its affinity as soon as it runs. Where processors share no cache, as in
// virtual machines, Linux may otherwise start the worker on the processor of
// the waking thread and move it only milliseconds later. Measured with
// MobileNet v2 on two processors, median of 60 runs with rests of 50 ms: 4.6
// to 5.2 ms so, 8.5 to 9.4 ms without. HEADRACE_MOVE_WORKERS=0 in the
// environment leaves the affinity alone. The affinity of other threads is never
// touched.
//
// Workers start at the first use. An idle worker spins for about 100 us, then
// sleeps. After fork() the child's pools start new workers at their next use.
// Work that the parent scheduled stays with the parent. (Do not fork inside a
// function that the pool runs and then return from it in the child.)
#ifndef HEADRACE_BASE_THREAD_POOL_H_
#define HEADRACE_BASE_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/task_group.h"

namespace headrace {

// Thread-safe. Scheduled functions must not throw.
class ThreadPool {
 public:
  using Task = absl::AnyInvocable<void()>;
  using LoopBody = absl::FunctionRef<void(int64_t begin, int64_t end)>;

  // `num_threads` includes the caller of ParallelFor: ThreadPool(4, "x") has
  // three workers. Values below 1 mean 1. ThreadPool(1, "x") runs loops on the
  // caller and starts one worker if a function is scheduled. Debuggers show
  // `name`.
  explicit ThreadPool(int num_threads, std::string name = "headrace");
  // Runs all scheduled functions, then joins the workers. No ParallelFor may be
  // running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process, with AvailableCpus() threads. Never destroyed.
  static ThreadPool* Global();

  // The number of threads of ParallelFor, including the caller.
  int NumThreads() const { return num_threads_; }

  // Runs `fn` once on a worker, in the order of the calls, or on the thread
  // that waits for `group`, which may be null. Does not wait. If the system
  // refuses every thread, runs `fn` on the caller. Throws std::bad_alloc if
  // there is no memory to queue it. The group outlives the call of `fn`.
  void Schedule(Task fn, TaskGroup* group = nullptr);

  enum class HelpWith {
    // What the group itself waits for. Safe whatever locks the caller holds: a
    // task that needs one of them could not end anyway.
    kGroup,
    // Also blocks of any other loop. The caller holds no locks.
    kAllLoops,
  };
  // Waits until stop() is true or `deadline` has passed, and works meanwhile:
  // on tasks of `group` in `tasks`, on blocks of loops in `loops`; either pool
  // may be null. Work that has begun is ended first. Whoever makes stop() true
  // calls group->Finish() or group->Nudge() afterwards; stop() is also called
  // at other times. Returns the last value of stop(). If another thread helps
  // the group already, this one only waits.
  static bool Help(TaskGroup* group, ThreadPool* tasks, ThreadPool* loops,
                   HelpWith with, absl::FunctionRef<bool()> stop,
                   absl::Time deadline = absl::InfiniteFuture());

  // Calls fn(begin, end) once for each block [k * block, min((k + 1) * block,
  // total)), on this thread and on workers, in no fixed order. Returns when all
  // calls have returned; their writes are then visible. Each thread starts with
  // the same part of the range in every loop, because its cache may still hold
  // the data of the previous loop. `total` <= 0 does nothing; `block` below 1
  // means 1. A single block runs on the caller. During the loop the workers
  // have the caller's floating-point mode (flush-to-zero, rounding). If a block
  // throws a std::exception, no further block starts, and this call throws the
  // first exception.
  void ParallelFor(int64_t total, int64_t block, LoopBody fn);

  // ParallelFor with blocks of 25-50 us each. `cost_ns_per_unit` is the
  // estimated time of one unit in nanoseconds. The blocks depend only on the
  // two numbers. Work under 50 us is one block and runs on the caller.
  void ParallelForCost(int64_t total, double cost_ns_per_unit, LoopBody fn);

  // The block size that ParallelForCost uses. For kernels that keep one result
  // per block.
  static int64_t BlockForCost(int64_t total, double cost_ns_per_unit);

  // True on a worker of this pool.
  bool InWorker() const;

 private:
  class State;
  State* state();

  const int num_threads_;
  const std::string name_;
  // Queue, loops and workers. Replaced, and the old state leaked, if it is from
  // before a fork.
  std::atomic<State*> state_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_THREAD_POOL_H_
