#include "base/fork.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

namespace headrace {
namespace {

constinit std::atomic<uint32_t> generation{0};

// The number of waits of 100 us for a lock during fork. More if the lock's
// owner is running.
constexpr int kTries = 1000;
constexpr int kTriesForBusy = 12 * kTries;
// How often it looks for a moment without initializers.
constexpr int kAttempts = 20;

// Does not use absl's clock: another thread may hold its lock.
void Nap() {
  const timespec pause = {0, 100'000};
  nanosleep(&pause, nullptr);
}

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

#if defined(__GLIBC__)
pthread_mutex_t* Native(Mutex* mu) {
  // A Mutex is a std::mutex, and that is this.
  static_assert(sizeof(Mutex) == sizeof(pthread_mutex_t));
  return reinterpret_cast<pthread_mutex_t*>(mu);
}

// True if another thread holds `mu` and runs, or is ready to run.
bool OwnerIsBusy(Mutex* mu) {
  const int owner = Native(mu)->__data.__owner;
  if (owner == 0) return true;  // it has just been unlocked
  if (owner == gettid()) return false;
  char text[128];
  std::snprintf(text, sizeof(text), "/proc/self/task/%d/stat", owner);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t size = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  // "<id> (<name>) <state> ...": R runs, D waits for a disk.
  const char* const name_end = std::strrchr(text, ')');
  if (name_end == nullptr || name_end[1] != ' ') return false;
  return name_end[2] == 'R' || name_end[2] == 'D';
}

// Waits for the lock instead of polling it: a thread that works in step with
// the timer that wakes this one would have the lock whenever this one looks.
// Not analysed, like the functions below: which mutexes are locked is only
// known at run time.
bool LockWithin(Mutex* mu, int64_t us) NO_THREAD_SAFETY_ANALYSIS {
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t ns = until.tv_nsec + us * 1000;
  until.tv_sec += ns / 1'000'000'000;
  until.tv_nsec = ns % 1'000'000'000;
  return pthread_mutex_clocklock(Native(mu), CLOCK_MONOTONIC, &until) == 0;
}
#else
bool OwnerIsBusy(Mutex*) { return false; }
bool LockWithin(Mutex* mu, int64_t us) NO_THREAD_SAFETY_ANALYSIS {
  for (int64_t i = 0; i <= us / 100; ++i) {
    if (mu->TryLock()) return true;
    Nap();
  }
  return false;
}
#endif

bool LockSoon(Mutex* mu) {
  for (int i = 0; i < kTriesForBusy / kTries; ++i) {
    if (LockWithin(mu, kTries * 100)) return true;
    if (!OwnerIsBusy(mu)) return false;
  }
  return false;
}

// Initializers that run or wait for each other, in all threads and in this one.
constinit std::atomic<int> initializers{0};
constinit thread_local int own_initializers = 0;
// Threads that fork and hold all locks; new initializers wait for them.
constinit std::atomic<int> forking{0};

void WaitForInitializers() {
  for (int i = 0; i < kTriesForBusy; ++i) {
    if (initializers.load() <= own_initializers) return;
    Nap();
  }
}

// Other threads lock several of these, in orders of their own: one may hold
// what is missing here and wait for what is locked here. So all are given back,
// and the missing one is waited for first. One that nobody gives back is left
// out.
void LockHeld() NO_THREAD_SAFETY_ANALYSIS {
  constexpr int64_t kBriefly = 5000;  // us
  Held* const held = GetHeld();
  held->mu.Lock();
  std::vector<Mutex*> order;
  for (const auto& [mu, times] : held->times) order.push_back(mu);
  held->locked.clear();
  held->locked.reserve(order.size());
  for (int attempt = 0; attempt < kAttempts;) {
    size_t at = 0;
    while (at < order.size() &&
           (at == 0 ? LockSoon(order[at]) : LockWithin(order[at], kBriefly))) {
      held->locked.push_back(order[at++]);
    }
    if (at == order.size()) return;
    if (at == 0) {
      order.erase(order.begin());
      continue;
    }
    for (Mutex* mu : held->locked) mu->Unlock();
    held->locked.clear();
    std::rotate(order.begin(), order.begin() + at, order.begin() + at + 1);
    ++attempt;
  }
  for (Mutex* mu : order) {
    if (LockWithin(mu, kBriefly)) held->locked.push_back(mu);
  }
}

void UnlockHeld() NO_THREAD_SAFETY_ANALYSIS {
  Held* const held = GetHeld();
  for (Mutex* mu : held->locked) mu->Unlock();
  held->mu.Unlock();
}

// A thread that holds a lock may start an initializer, and a thread in an
// initializer may need a lock. Therefore neither waits for the fork until a
// moment at which this thread holds all locks and no thread is in an
// initializer.
void BeforeFork() {
  for (int attempt = 1;; ++attempt) {
    WaitForInitializers();
    LockHeld();
    forking.fetch_add(1);
    if (initializers.load() <= own_initializers || attempt == kAttempts) return;
    forking.fetch_sub(1);
    UnlockHeld();
  }
}

void AfterForkInParent() {
  UnlockHeld();
  forking.fetch_sub(1);
}

void AfterForkInChild() {
  UnlockHeld();
  // Other threads may have been about to begin or end one.
  initializers.store(own_initializers);
  forking.store(0);
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
    pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
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

void InitializerScope::Begin() {
  initializers.fetch_add(1);
  if (own_initializers++ > 0) return;
  // The wait is bounded: this thread may hold a lock that the forking thread
  // needs.
  for (int i = 0; i < kTries && forking.load() > 0; ++i) {
    initializers.fetch_sub(1);
    Nap();
    initializers.fetch_add(1);
  }
}

void InitializerScope::End() {
  --own_initializers;
  initializers.fetch_sub(1);
}

}  // namespace headrace
