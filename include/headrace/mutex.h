// Mutex, MutexLock, CondVar and Notification, with the interface of absl's and
// clang's thread-safety annotations under short names.
//
// The annotations are checked by `./run check`, which builds everything with
// clang's -Wthread-safety as an error; to GCC they are nothing. A lambda that
// is called with a lock held says so: REQUIRES(mu) behind its parameters if it
// is stored in a std::function or absl::FunctionRef, mu.AssertHeld() inside if
// it is given to a template of ours, whose own call would be checked too.
//
// They stand on the standard library and not on absl, because Debian's absl is
// built with its deadlock detector: every absl::Mutex::Lock goes through one
// global spin lock (104 ns against 32 ns alone, worse together), which a fork
// can leave locked in the child. ThreadSanitizer also understands these as they
// are.
#ifndef HEADRACE_MUTEX_H_
#define HEADRACE_MUTEX_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "headrace/clock.h"

// Of data: read and written with the mutex held. PT_: what the pointer points
// to is.
#ifndef GUARDED_BY  // some releases of absl define it, and two more
#define GUARDED_BY(x) ABSL_GUARDED_BY(x)
#endif
#ifndef PT_GUARDED_BY
#define PT_GUARDED_BY(x) ABSL_PT_GUARDED_BY(x)
#endif
// Of functions: the caller holds the mutexes, or holds none of them.
#define REQUIRES(...) ABSL_EXCLUSIVE_LOCKS_REQUIRED(__VA_ARGS__)
#define EXCLUDES(...) ABSL_LOCKS_EXCLUDED(__VA_ARGS__)
// Of functions: they lock the mutexes, unlock them, or return that one.
#define ACQUIRE(...) ABSL_EXCLUSIVE_LOCK_FUNCTION(__VA_ARGS__)
#define RELEASE(...) ABSL_UNLOCK_FUNCTION(__VA_ARGS__)
#define RETURNS_MUTEX(x) ABSL_LOCK_RETURNED(x)
// Of functions that clang cannot follow. The reason stands beside it.
#ifndef NO_THREAD_SAFETY_ANALYSIS
#define NO_THREAD_SAFETY_ANALYSIS ABSL_NO_THREAD_SAFETY_ANALYSIS
#endif

namespace headrace {

// Not recursive. A constant to initialise, so a global one needs no start-up.
class ABSL_LOCKABLE Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() { mu_.lock(); }
  void Unlock() RELEASE() { mu_.unlock(); }
  [[nodiscard]] bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    return mu_.try_lock();
  }
  // Tells clang's analysis that the caller holds this. Checks nothing.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mu_;
};

// Holds `mu` from its construction to its end.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() RELEASE() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// Says that a section only reads. Readers exclude each other all the same: the
// sections are short, and a shared lock's own count is as contended as the
// lock. A reader must not take the same Mutex again.
using ReaderMutexLock = MutexLock;

// Thread-safe. Waits may end without a signal: loop on the condition.
class CondVar {
 public:
  void Wait(Mutex* mu) REQUIRES(mu) {
    Held held(mu);
    cv_.wait(held.lock);
  }
  // True when the time ran out; at once for a timeout of zero or less.
  bool WaitWithTimeout(Mutex* mu, absl::Duration timeout) REQUIRES(mu) {
    if (timeout >= absl::Hours(24 * 365)) {  // nobody waits for the end
      Wait(mu);
      return false;
    }
    Held held(mu);
    return cv_.wait_for(held.lock, absl::ToChronoNanoseconds(timeout)) ==
           std::cv_status::timeout;
  }
  bool WaitWithDeadline(Mutex* mu, absl::Time deadline) REQUIRES(mu) {
    return WaitWithTimeout(mu, deadline - Now());
  }
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

 private:
  // Lends the std::mutex, which is locked and stays locked, to std's wait.
  struct Held {
    explicit Held(Mutex* mu) : lock(mu->mu_, std::adopt_lock) {}
    ~Held() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable cv_;
};

// Something that happens once. Thread-safe. What was written before Notify is
// visible after a wait. A thread that has waited may destroy it, Notify being
// still about to return; nobody else may be waiting then.
class Notification {
 public:
  Notification() = default;
  ~Notification() { MutexLock lock(&mu_); }  // until Notify has let go
  Notification(const Notification&) = delete;
  Notification& operator=(const Notification&) = delete;

  void Notify() {
    MutexLock lock(&mu_);
    notified_.store(true, std::memory_order_release);
    cv_.SignalAll();  // under the lock: after it *this may be gone
  }
  bool HasBeenNotified() const {
    return notified_.load(std::memory_order_acquire);
  }
  void WaitForNotification() const {
    MutexLock lock(&mu_);
    while (!HasBeenNotified()) cv_.Wait(&mu_);
  }
  // Whether it has happened by then.
  bool WaitForNotificationWithTimeout(absl::Duration timeout) const {
    return WaitForNotificationWithDeadline(Now() + timeout);
  }
  bool WaitForNotificationWithDeadline(absl::Time deadline) const {
    MutexLock lock(&mu_);
    while (!HasBeenNotified()) {
      if (cv_.WaitWithDeadline(&mu_, deadline)) return HasBeenNotified();
    }
    return true;
  }

 private:
  mutable Mutex mu_;
  mutable CondVar cv_;
  std::atomic<bool> notified_{false};
};

}  // namespace headrace

#endif  // HEADRACE_MUTEX_H_
