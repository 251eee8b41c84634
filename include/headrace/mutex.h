// Mutex, MutexLock, CondVar and Notification with the interface of absl's, and
// short names for clang's thread-safety annotations.
//
// `./run check` checks the annotations: it builds everything with clang's
// -Wthread-safety as an error. GCC ignores them. A lambda that is called with a
// lock held must say so. If it is stored in a std::function or
// absl::FunctionRef, write REQUIRES(mu) after its parameters. If it is passed
// to one of our templates, call mu.AssertHeld() inside, because clang would
// check the template's call, too.
//
// These classes use the standard library instead of absl for two reasons.
// Debian's absl is built with a deadlock detector: each absl::Mutex::Lock takes
// one global spin lock (104 ns instead of 32 ns uncontended, worse under
// contention), and fork can leave that lock locked in the child.
// ThreadSanitizer also understands the standard mutexes without annotations.
#ifndef HEADRACE_MUTEX_H_
#define HEADRACE_MUTEX_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "headrace/clock.h"

// For data: read and write it only with the mutex held. PT_: the same for the
// pointee.
#ifndef GUARDED_BY  // some releases of absl define it, and two more
#define GUARDED_BY(x) ABSL_GUARDED_BY(x)
#endif
#ifndef PT_GUARDED_BY
#define PT_GUARDED_BY(x) ABSL_PT_GUARDED_BY(x)
#endif
// For functions: the caller must hold the mutexes, or must hold none of them.
#define REQUIRES(...) ABSL_EXCLUSIVE_LOCKS_REQUIRED(__VA_ARGS__)
#define EXCLUDES(...) ABSL_LOCKS_EXCLUDED(__VA_ARGS__)
// For functions: they lock the mutexes, unlock them, or return the mutex.
#define ACQUIRE(...) ABSL_EXCLUSIVE_LOCK_FUNCTION(__VA_ARGS__)
#define RELEASE(...) ABSL_UNLOCK_FUNCTION(__VA_ARGS__)
#define RETURNS_MUTEX(x) ABSL_LOCK_RETURNED(x)
// For functions that clang cannot analyse. State the reason beside it.
#ifndef NO_THREAD_SAFETY_ANALYSIS
#define NO_THREAD_SAFETY_ANALYSIS ABSL_NO_THREAD_SAFETY_ANALYSIS
#endif

namespace headrace {

// Not recursive. Constant-initialised: a global Mutex is usable before any
// constructor runs.
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

// Holds `mu` for the lifetime of this object.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() RELEASE() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// Marks a section that only reads. It still excludes other readers: these
// sections are short, and the count of a shared lock is as contended as the
// lock itself. A reader must not take the same Mutex again.
using ReaderMutexLock = MutexLock;

// Thread-safe. A wait may end without a signal, so check the condition in a
// loop.
class CondVar {
 public:
  void Wait(Mutex* mu) REQUIRES(mu) {
    Held held(mu);
    cv_.wait(held.lock);
  }
  // Returns true if the timeout expired. A timeout of zero or less returns at
  // once.
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
  // Passes the locked std::mutex to the wait of the standard library. It stays
  // locked.
  struct Held {
    explicit Held(Mutex* mu) : lock(mu->mu_, std::adopt_lock) {}
    ~Held() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable cv_;
};

// An event that happens once. Thread-safe. Writes before Notify are visible
// after a wait. A thread that has waited may destroy the object even if Notify
// has not returned yet; no other thread may be waiting then.
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
  // Returns true if the event happened within the timeout.
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
