// What a child of fork() may still use. Of the parent's threads it has the one
// that forked; a lock that another one held stays locked in the child for ever,
// and work that another one was doing stays half done.
//
// Four ways to live with that:
//   - what can be made anew is made anew: see ThreadPool, which asks whether
//     the ForkGeneration has changed;
//   - a lock of the whole process, held for short times, is taken by whoever
//     forks: HoldDuringFork;
//   - an object with many locks counts who is inside, and a child refuses one
//     that others were using: ForkGate;
//   - whoever forks waits until no other thread is in the initializer of a
//     static local: InitializerScope, which wrapped_guards.cc uses for all.
#ifndef HEADRACE_BASE_FORK_H_
#define HEADRACE_BASE_FORK_H_

#include <atomic>
#include <cstdint>

#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

// How many forks lie between the process that loaded the library and this one.
uint32_t ForkGeneration();

// Whoever forks holds `mu` meanwhile, so that the child finds it free and what
// it guards whole. If its owner sleeps, that takes a tenth of a second at most,
// and two seconds if its owner works or waits for a processor; then the lock is
// left as it is. Until ReleaseFromFork, as often as it was called; `mu` lives
// as long. Thread-safe.
void HoldDuringFork(Mutex* mu);
void ReleaseFromFork(Mutex* mu);

// While it lives its thread runs an initializer, or waits for another thread's.
// Whoever forks waits for that, two seconds at most; initializers begin before
// or after a fork. Scopes nest. Ends on the thread that made it.
class InitializerScope {
 public:
  InitializerScope() { Begin(); }
  ~InitializerScope() { End(); }
  InitializerScope(const InitializerScope&) = delete;
  InitializerScope& operator=(const InitializerScope&) = delete;

  // For those whose begin and end are in different functions.
  static void Begin();
  static void End();
};

// Counts the threads, and the work on other threads, inside an object. In a
// child of a process that forked while somebody was inside, nobody comes in any
// more. Thread-safe, lock-free.
class ForkGate {
 public:
  ForkGate() : state_(uint64_t{ForkGeneration()} << 32) {}
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;

  // If true, the caller is inside until it calls Leave.
  [[nodiscard]] bool Enter() {
    uint64_t s = state_.load(std::memory_order_relaxed);
    uint64_t next;
    do {
      const uint64_t generation = uint64_t{ForkGeneration()} << 32;
      if (s >> 32 == generation >> 32) {
        next = s + 1;
      } else if (static_cast<uint32_t>(s) != 0) {
        return false;
      } else {
        next = generation + 1;
      }
    } while (!state_.compare_exchange_weak(s, next, std::memory_order_acquire));
    return true;
  }
  void Leave() { state_.fetch_sub(1, std::memory_order_release); }

  // Somebody was inside when the process forked that this one is a child of:
  // what the object holds is in no known state.
  bool IsAbandoned() const {
    const uint64_t s = state_.load(std::memory_order_acquire);
    return s >> 32 != ForkGeneration() && static_cast<uint32_t>(s) != 0;
  }

 private:
  // Of the last one who came in: the generation, then how many are inside.
  std::atomic<uint64_t> state_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_FORK_H_
