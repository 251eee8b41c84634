// RunningSteps: the steps of a session that are in progress. Closing the
// session ends them, and it goes only when the last one has left.
#ifndef HEADRACE_SESSION_RUNNING_STEPS_H_
#define HEADRACE_SESSION_RUNNING_STEPS_H_

#include <atomic>
#include <string>

#include "headrace/cancellation.h"
#include "headrace/mutex.h"
#include "headrace/status.h"
#include "runtime/pending_calls.h"

namespace headrace {

struct RunningStep {
  // `why` and what the step is waiting for.
  Status Explain(const Status& why) {
    return Annotate(why, pending.Describe());
  }

  CancellationManager cancellation;
  PendingCalls pending;

 private:
  friend class RunningSteps;
  // Guarded by the mutex of the RunningSteps that it is in.
  int pins = 0;  // by who cancels it without the lock
  RunningStep* previous = nullptr;
  RunningStep* next = nullptr;
};

// Thread-safe.
class RunningSteps {
 public:
  RunningSteps() { head_.next = head_.previous = &head_; }
  RunningSteps(const RunningSteps&) = delete;
  RunningSteps& operator=(const RunningSteps&) = delete;

  // Cancelled after Close.
  Status CheckOpen() const {
    return closed_.load(std::memory_order_acquire) ? ClosedError() : OkStatus();
  }

  // CheckOpen; if that is OK, `step` lives until it has left.
  Status Enter(RunningStep* step);
  void Leave(RunningStep* step);

  // No step enters from now on, and those that have are cancelled. May be
  // called any number of times.
  void Close();
  void WaitUntilNone();

 private:
  static Status ClosedError();

  std::atomic<bool> closed_{false};
  Mutex mu_;         // not held while a step is cancelled
  CondVar changed_;  // the last step has left, or pins are gone
  // Of a ring, all of whose links and pins are guarded by mu_.
  RunningStep head_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_RUNNING_STEPS_H_
