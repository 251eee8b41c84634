// What the clang build refuses. clang's -verify holds each line to the comment
// above it: if one is not refused with that message, because a flag is gone or
// the annotations have become nothing, compiling this file fails.
#include <functional>

#include "headrace/mutex.h"

namespace headrace {
namespace {

class Account {
 public:
  int ReadUnlocked() const {
    // expected-error@+1 {{reading variable 'balance_'}}
    return balance_;
  }
  void WriteUnlocked() {
    // expected-error@+1 {{writing variable 'balance_'}}
    balance_ = 1;
  }
  void WritePointedTo() {
    // expected-error@+1 {{writing the value pointed to by 'history_'}}
    *history_ = 1;
  }
  void CallUnlocked() {
    // expected-error@+1 {{calling function 'AddLocked'}}
    AddLocked(1);
  }
  void WaitUnlocked() {
    // expected-error@+1 {{calling function 'Wait'}}
    changed_.Wait(&mu_);
  }
  void LockTwice() {
    MutexLock lock(&mu_);
    // expected-error@+1 {{cannot call function 'Audit' while mutex 'mu_'}}
    Audit();
  }
  void ForgetToUnlock() {
    mu_.Lock();  // expected-note {{mutex acquired here}}
    // expected-error@+1 {{mutex 'mu_' is still held at the end of function}}
  }
  void WriteInLambda() {
    MutexLock lock(&mu_);
    const std::function<void()> later = [this] {
      // expected-error@+1 {{writing variable 'balance_'}}
      balance_ = 2;
    };
    later();
  }

  // What is right is not refused.
  void Deposit(int amount) {
    MutexLock lock(&mu_);
    AddLocked(amount);
    while (balance_ < 0) changed_.Wait(&mu_);
    const std::function<void()> later = [this]() REQUIRES(mu_) { ++balance_; };
    later();
    [this] {
      mu_.AssertHeld();
      ++balance_;
    }();
  }
  int ReadByAccessor() {
    MutexLock lock(mu());
    return balance_;
  }

 private:
  Mutex* mu() RETURNS_MUTEX(mu_) { return &mu_; }
  void AddLocked(int amount) REQUIRES(mu_) { balance_ += amount; }
  void Audit() EXCLUDES(mu_) {}

  Mutex mu_;
  CondVar changed_;
  int balance_ GUARDED_BY(mu_) = 0;
  int* history_ PT_GUARDED_BY(mu_) = nullptr;
};

}  // namespace

// Somebody uses it.
void UseAccount() {
  Account a;
  a.ReadUnlocked();
  a.WriteUnlocked();
  a.WritePointedTo();
  a.CallUnlocked();
  a.WaitUnlocked();
  a.LockTwice();
  a.ForgetToUnlock();
  a.WriteInLambda();
  a.Deposit(a.ReadByAccessor());
}

}  // namespace headrace
