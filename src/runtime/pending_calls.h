// PendingCalls: the asynchronous kernels of one step that have not called back,
// so that the message of a deadline can say what the step was waiting for.
//
// Thread-safe. Its lock is held while kernels are asked what they wait for; the
// locks of queues and the like come after it.
#ifndef HEADRACE_RUNTIME_PENDING_CALLS_H_
#define HEADRACE_RUNTIME_PENDING_CALLS_H_

#include <string>

#include "headrace/clock.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

class PendingCalls {
 public:
  // A part of whatever stands for the call.
  struct Entry {
    const AsyncOpKernel* kernel = nullptr;
    OpKernelContext* ctx = nullptr;
    absl::Time begin;
    Entry* previous = nullptr;
    Entry* next = nullptr;
  };

  PendingCalls() { head_.next = head_.previous = &head_; }
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;

  // Before ComputeAsync.
  void Add(Entry* e) {
    e->begin = Now();
    MutexLock lock(&mu_);
    e->previous = head_.previous;
    e->next = &head_;
    head_.previous->next = e;
    head_.previous = e;
  }
  // First thing when the kernel calls back: afterwards nobody looks at its
  // context any more.
  void Remove(Entry* e) {
    MutexLock lock(&mu_);
    e->previous->next = e->next;
    e->next->previous = e->previous;
  }

  // "; still waiting: node 'take' (QueueDequeueV2) for an element in ..." with
  // the first few calls, in the order in which they began, and since when
  // they wait if it is long; "" if there are none. Ask before cancelling: that
  // ends the calls.
  std::string Describe();

 private:
  std::string DescribeCalls();

  Mutex mu_;
  Entry head_ GUARDED_BY(mu_);  // of a ring
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PENDING_CALLS_H_
