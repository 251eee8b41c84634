#include "base/waiting_threads.h"

#include <pthread.h>

#include <atomic>
#include <deque>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "base/flush_denormals.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

// A thread more costs an address range and some kernel memory; a pipeline that
// has so many runs away.
constexpr int kMaxThreads = 2048;
constexpr absl::Duration kIdleTime = absl::Seconds(5);

// Incremented in the child by fork().
std::atomic<int> waiting_generation{0};
[[maybe_unused]] const int kWaitingAtForkRegistered =
    pthread_atfork(nullptr, nullptr, [] { waiting_generation.fetch_add(1); });

struct Threads {
  explicit Threads(int generation) : generation(generation) {}
  const int generation;
  Mutex mu;
  CondVar work;
  std::deque<absl::AnyInvocable<void()>> tasks GUARDED_BY(mu);
  int idle GUARDED_BY(mu) = 0;
  int live GUARDED_BY(mu) = 0;
};

// Never destroyed: threads may outlive main. Those of a parent process are left
// alone, their mutex being in any state.
Threads* Current() {
  static std::atomic<Threads*> current{nullptr};
  Threads* t = current.load(std::memory_order_acquire);
  const int generation = waiting_generation.load();
  while (t == nullptr || t->generation != generation) {
    auto* made = new Threads(generation);
    if (current.compare_exchange_strong(t, made)) return made;
    delete made;
  }
  return t;
}

void Work(Threads* t, absl::AnyInvocable<void()> fn) {
  const FlushDenormals flush;
  for (;;) {
    fn();
    fn = nullptr;
    MutexLock lock(&t->mu);
    ++t->idle;
    const absl::Time end = Now() + kIdleTime;
    while (t->tasks.empty() && !t->work.WaitWithDeadline(&t->mu, end)) {
    }
    --t->idle;
    if (t->tasks.empty()) {
      --t->live;
      return;
    }
    fn = std::move(t->tasks.front());
    t->tasks.pop_front();
  }
}

}  // namespace

bool StartWaitingThread(absl::AnyInvocable<void()> fn) {
  Threads* t = nullptr;
  try {
    t = Current();
    MutexLock lock(&t->mu);
    if (t->idle > static_cast<int>(t->tasks.size())) {
      t->tasks.push_back(std::move(fn));
      t->work.Signal();
      return true;
    }
    if (t->live >= kMaxThreads) return false;
    ++t->live;
  } catch (const std::bad_alloc&) {
    return false;
  }
  try {
    std::thread(Work, t, std::move(fn)).detach();
    return true;
  } catch (const std::exception&) {  // no thread, or no memory for its start
    MutexLock lock(&t->mu);
    --t->live;
    return false;
  }
}

}  // namespace headrace
