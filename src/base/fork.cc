#include "base/fork.h"

#include <pthread.h>
#include <time.h>

#include <map>
#include <vector>

namespace headrace {
namespace {

constinit std::atomic<uint32_t> generation{0};

// How long whoever forks waits for a lock: 1000 times 100 us.
constexpr int kTries = 1000;
constexpr long kPauseNs = 100'000;

struct Held {
  Mutex mu;
  std::map<Mutex*, int> times GUARDED_BY(mu);  // each was registered
  bool is_registered GUARDED_BY(mu) = false;
  std::vector<Mutex*> locked;  // by the thread that forks
};

// Never destroyed: processes fork while they end, too.
Held* GetHeld() {
  static Held* const held = new Held;
  return held;
}

// Without absl's clock, whose lock another thread may hold. Not analysed, like
// the two below: which mutexes are locked is known at run time alone.
bool LockSoon(Mutex* mu) NO_THREAD_SAFETY_ANALYSIS {
  for (int i = 0; i < kTries; ++i) {
    if (mu->TryLock()) return true;
    const timespec pause = {0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
  return false;
}

void BeforeFork() NO_THREAD_SAFETY_ANALYSIS {
  Held* const held = GetHeld();
  held->mu.Lock();
  held->locked.clear();
  for (const auto& [mu, times] : held->times) {
    if (LockSoon(mu)) held->locked.push_back(mu);
  }
}

void AfterFork() NO_THREAD_SAFETY_ANALYSIS {
  Held* const held = GetHeld();
  for (Mutex* mu : held->locked) mu->Unlock();
  held->mu.Unlock();
}

[[maybe_unused]] const int kAtForkRegistered =
    pthread_atfork(nullptr, nullptr,
                   [] { generation.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

uint32_t ForkGeneration() { return generation.load(std::memory_order_relaxed); }

void HoldDuringFork(Mutex* mu) {
  Held* const held = GetHeld();
  MutexLock lock(&held->mu);
  // The handlers registered last run first. Under these locks memory is
  // allocated, whose handlers are registered when the library is loaded.
  if (!held->is_registered) {
    pthread_atfork(&BeforeFork, &AfterFork, &AfterFork);
    held->is_registered = true;
  }
  ++held->times[mu];
}

void ReleaseFromFork(Mutex* mu) {
  Held* const held = GetHeld();
  MutexLock lock(&held->mu);
  const auto it = held->times.find(mu);
  if (it != held->times.end() && --it->second == 0) held->times.erase(it);
}

}  // namespace headrace
