#include "runtime/deadline_timer.h"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <map>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

class Timer {
 public:
  // A child of fork() gets a timer of its own: threads do not survive.
  static Timer* Get() {
    Timer* t = timer.load(std::memory_order_acquire);
    if (t != nullptr) return t;
    auto* made = new Timer;
    if (timer.compare_exchange_strong(t, made)) {
      try {
        std::thread([made] { made->Loop(); }).detach();
      } catch (const std::exception&) {
        timer.store(nullptr);  // the next run may find a thread
        throw;
      }
      return made;
    }
    delete made;
    return t;
  }

  int64_t Add(int64_t timeout_ms, std::function<void()> expired) {
    MutexLock lock(&mu_);
    const int64_t key = next_key_++;
    const absl::Time at = Now() + absl::Milliseconds(timeout_ms);
    auto it = by_time_.emplace(at, std::make_pair(key, std::move(expired)));
    by_key_.emplace(key, it);
    changed_.Signal();
    return key;
  }

  void Remove(int64_t key) {
    MutexLock lock(&mu_);
    auto it = by_key_.find(key);
    if (it != by_key_.end()) {
      by_time_.erase(it->second);
      by_key_.erase(it);
      return;
    }
    while (running_ == key) finished_.Wait(&mu_);
  }

 private:
  void Loop() {
    mu_.Lock();
    for (;;) {
      if (by_time_.empty()) {
        changed_.Wait(&mu_);
        continue;
      }
      auto first = by_time_.begin();
      if (first->first > Now()) {
        changed_.WaitWithDeadline(&mu_, first->first);
        continue;
      }
      running_ = first->second.first;
      const std::function<void()> expired = std::move(first->second.second);
      by_key_.erase(running_);
      by_time_.erase(first);
      mu_.Unlock();
      expired();
      mu_.Lock();
      running_ = -1;
      finished_.SignalAll();
    }
  }

  static constinit inline std::atomic<Timer*> timer{nullptr};
  [[maybe_unused]] static inline const int kAtForkRegistered =
      pthread_atfork(nullptr, nullptr, [] { timer.store(nullptr); });

  using ByTime =
      std::multimap<absl::Time, std::pair<int64_t, std::function<void()>>>;
  Mutex mu_;
  CondVar changed_, finished_;
  int64_t next_key_ GUARDED_BY(mu_) = 0;
  int64_t running_ GUARDED_BY(mu_) = -1;
  ByTime by_time_ GUARDED_BY(mu_);
  std::map<int64_t, ByTime::iterator> by_key_ GUARDED_BY(mu_);
};

}  // namespace

Deadline::Deadline(int64_t timeout_ms, std::function<void()> expired)
    : key_(timeout_ms > 0 ? Timer::Get()->Add(timeout_ms, std::move(expired))
                          : -1) {}

Deadline::~Deadline() {
  // A timer of the parent process is gone, with whatever it had to do.
  if (key_ >= 0 && generation_ == ForkGeneration()) Timer::Get()->Remove(key_);
}

}  // namespace headrace
