// ThreadSanitizer's view of Mutex and friends; included by mutex.h alone. Each
// class is absl's with __tsan_release before a lock is given up and
// __tsan_acquire after it is taken. absl's Condition/Await is left out: its
// predicates run on other threads, where TSan would see them as races.
#ifndef HEADRACE_BASE_MUTEX_TSAN_H_
#define HEADRACE_BASE_MUTEX_TSAN_H_

#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace headrace {

class CondVar;

class Mutex {
 public:
  constexpr Mutex() : mu_(absl::kConstInit) {}
  explicit constexpr Mutex(absl::ConstInitType) : mu_(absl::kConstInit) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() {
    mu_.Lock();
    __tsan_acquire(this);
  }
  void Unlock() {
    __tsan_release(this);
    mu_.Unlock();
  }
  bool TryLock() {
    if (!mu_.TryLock()) return false;
    __tsan_acquire(this);
    return true;
  }
  void ReaderLock() {
    mu_.ReaderLock();
    __tsan_acquire(this);
  }
  void ReaderUnlock() {
    __tsan_release(this);
    mu_.ReaderUnlock();
  }
  void AssertHeld() const { mu_.AssertHeld(); }
  void AssertReaderHeld() const { mu_.AssertReaderHeld(); }

 private:
  friend class CondVar;
  absl::Mutex mu_;
};

class MutexLock {
 public:
  explicit MutexLock(Mutex* mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

class ReaderMutexLock {
 public:
  explicit ReaderMutexLock(Mutex* mu) : mu_(mu) { mu_->ReaderLock(); }
  ~ReaderMutexLock() { mu_->ReaderUnlock(); }
  ReaderMutexLock(const ReaderMutexLock&) = delete;
  ReaderMutexLock& operator=(const ReaderMutexLock&) = delete;

 private:
  Mutex* const mu_;
};

class CondVar {
 public:
  void Wait(Mutex* mu) {
    __tsan_release(mu);
    cv_.Wait(&mu->mu_);
    __tsan_acquire(mu);
  }
  bool WaitWithTimeout(Mutex* mu, absl::Duration timeout) {
    __tsan_release(mu);
    const bool expired = cv_.WaitWithTimeout(&mu->mu_, timeout);
    __tsan_acquire(mu);
    return expired;
  }
  bool WaitWithDeadline(Mutex* mu, absl::Time deadline) {
    __tsan_release(mu);
    const bool expired = cv_.WaitWithDeadline(&mu->mu_, deadline);
    __tsan_acquire(mu);
    return expired;
  }
  void Signal() { cv_.Signal(); }
  void SignalAll() { cv_.SignalAll(); }

 private:
  absl::CondVar cv_;
};

class Notification {
 public:
  Notification() = default;
  ~Notification() { __tsan_acquire(this); }
  bool HasBeenNotified() const {
    return Acquire(notification_.HasBeenNotified());
  }
  void WaitForNotification() const {
    notification_.WaitForNotification();
    Acquire(true);
  }
  bool WaitForNotificationWithTimeout(absl::Duration timeout) const {
    return Acquire(notification_.WaitForNotificationWithTimeout(timeout));
  }
  bool WaitForNotificationWithDeadline(absl::Time deadline) const {
    return Acquire(notification_.WaitForNotificationWithDeadline(deadline));
  }
  void Notify() {
    __tsan_release(this);
    notification_.Notify();
  }

 private:
  bool Acquire(bool notified) const {
    if (notified) __tsan_acquire(const_cast<Notification*>(this));
    return notified;
  }
  absl::Notification notification_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_MUTEX_TSAN_H_
