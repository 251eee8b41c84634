// Ctrl-C during a run. The run sits in C++ on the main thread, where Python
// cannot look at its signals; so, while there is a handler for SIGINT, ours is
// put in front of it. It passes the signal on and wakes a thread that cancels
// the main thread's run.
//
// A run that is not interrupted pays for one look at the handler and two locks.
#ifndef HEADRACE_PYTHON_EXT_INTERRUPT_H_
#define HEADRACE_PYTHON_EXT_INTERRUPT_H_

#include "framework/cancellation.h"

namespace headrace::python {

// Made before a run, on any thread. manager() is cancelled by Ctrl-C, if this
// is the main thread, and with `caller`, which may be null and must outlive it;
// it is null where there is neither.
class InterruptScope {
 public:
  explicit InterruptScope(CancellationManager* caller);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  CancellationManager* manager() { return active_ ? &manager_ : caller_; }

 private:
  const bool active_;
  CancellationManager* const caller_;
  CancellationManager manager_;
  InterruptScope* outer_ = nullptr;
};

// Call from the main thread when the module is imported.
void InitInterrupts();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_INTERRUPT_H_
