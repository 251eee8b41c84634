// CancellableWait: a wait on a condition variable that a cancellation ends too.
#ifndef HEADRACE_KERNELS_DATA_CANCELLABLE_WAIT_H_
#define HEADRACE_KERNELS_DATA_CANCELLABLE_WAIT_H_

#include "headrace/cancellation.h"
#include "headrace/mutex.h"

namespace headrace {

//   CancellableWait wait(cancellation, &mu, &changed);  // mu not held
//   MutexLock lock(&mu);
//   while (!ready && !wait.cancelled()) changed.Wait(&mu);
// Used by the thread that waits. A cancellation may come from any thread.
class CancellableWait {
 public:
  CancellableWait(CancellationManager* cancellation, Mutex* mu,
                  CondVar* changed)
      : cancellation_(cancellation), token_(cancellation->NextToken()) {
    registered_ = cancellation->RegisterCallback(token_, [mu, changed] {
      // From here on a waiter either sees the cancellation or is already
      // waiting.
      MutexLock lock(mu);
      changed->SignalAll();
    });
  }
  // The caller must not hold `mu`.
  ~CancellableWait() {
    if (registered_) cancellation_->DeregisterCallback(token_);
  }
  CancellableWait(const CancellableWait&) = delete;
  CancellableWait& operator=(const CancellableWait&) = delete;

  bool cancelled() const { return cancellation_->IsCancelled(); }

 private:
  CancellationManager* const cancellation_;
  const CancellationManager::Token token_;
  bool registered_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_CANCELLABLE_WAIT_H_
