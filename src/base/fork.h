// What a child of fork() may still use. The child has only the thread that
// called fork. A lock that another thread held stays locked in the child for
// ever, and the work of another thread stays unfinished.
//
// Four solutions:
// - Objects that can be created again are created again. ThreadPool does so
//   when the ForkGeneration has changed.
// - The forking thread takes locks that the whole process shares and holds
//   briefly: HoldDuringFork.
// - An object with many locks counts the threads inside it. The child refuses
//   to use it if other threads were inside: ForkGate.
// - The forking thread waits until no other thread runs the initializer of a
//   static local: InitializerScope, which wrapped_guards.cc uses for all of
//   them.
#ifndef HEADRACE_BASE_FORK_H_
#define HEADRACE_BASE_FORK_H_

#include <atomic>
#include <cstdint>

#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

// The number of forks between the process that loaded the library and this one.
uint32_t ForkGeneration();

// The forking thread holds `mu` during fork: the child finds it unlocked and
// its data consistent. If the owner of `mu` sleeps, fork waits at most 0.1 s
// for it. If the owner works or waits for a processor, fork waits at most 2 s.
// Then fork goes on without the lock. Call ReleaseFromFork as often as
// HoldDuringFork to undo it; `mu` must live until then. Thread-safe.
void HoldDuringFork(Mutex* mu);
void ReleaseFromFork(Mutex* mu);

// Marks this thread as running an initializer or waiting for one of another
// thread. Fork waits for such threads, at most 2 s; an initializer starts
// either before or after a fork. Scopes may nest. Destroy it on the thread that
// created it.
class InitializerScope {
 public:
  InitializerScope() { Begin(); }
  ~InitializerScope() { End(); }
  InitializerScope(const InitializerScope&) = delete;
  InitializerScope& operator=(const InitializerScope&) = delete;

  // For code whose begin and end are in different functions.
  static void Begin();
  static void End();
};

// Counts the threads inside an object, and its tasks on other threads. If the
// process forked while the count was above 0, nobody can enter the object in
// the child. Thread-safe, lock-free.
class ForkGate {
 public:
  ForkGate() : state_(uint64_t{ForkGeneration()} << 32) {}
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;

  // If it returns true, the caller is inside until it calls Leave.
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

  // Not to be asked if the gate is abandoned.
  bool IsEmpty() const {
    return static_cast<uint32_t>(state_.load(std::memory_order_acquire)) == 0;
  }

  // True if the parent process forked while somebody was inside. The object's
  // state is then undefined.
  bool IsAbandoned() const {
    const uint64_t s = state_.load(std::memory_order_acquire);
    return s >> 32 != ForkGeneration() && static_cast<uint32_t>(s) != 0;
  }

 private:
  // The fork generation of the last Enter (high half) and the count (low half).
  std::atomic<uint64_t> state_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_FORK_H_
