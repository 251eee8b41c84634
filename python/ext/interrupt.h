// Signals during a run. The run sits in C++ on the main thread, where Python
// cannot look at them; so, while the thread only waits for the run, it looks
// after them every now and then, and Python's handlers are called. What one
// raises ends the run and is raised in its place.
//
// Ctrl-C is not left to that: while there is a handler for SIGINT, ours is put
// in front of it. It passes the signal on and wakes a thread that cancels the
// main thread's run, if it is for KeyboardInterrupt.
//
// A run that is not interrupted pays for one look at the handler and two locks.
#ifndef HEADRACE_PYTHON_EXT_INTERRUPT_H_
#define HEADRACE_PYTHON_EXT_INTERRUPT_H_

#include <nanobind/nanobind.h>

#include "base/wait_hook.h"
#include "headrace/cancellation.h"

namespace headrace::python {

// Made before a run, on any thread, with the GIL. manager() is cancelled by
// signals, if this is the main thread, and with `caller`, which may be null and
// must outlive it; it is null where there is neither.
class InterruptScope : private WaitHook {
 public:
  explicit InterruptScope(CancellationManager* caller);
  ~InterruptScope() override;
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  CancellationManager* manager() { return is_main_ ? &manager_ : caller_; }
  int64_t id() const { return id_; }  // of one that watches; above 0
  // For the time that the run is waited for; may be null.
  WaitHook* hook() { return is_main_ ? this : nullptr; }
  // After the run, with the GIL: raises what a handler raised meanwhile.
  void Rethrow();
  // For a Python function that the run calls on this thread: notes `error` if
  // it ends programs, as KeyboardInterrupt does, so that the run raises it.
  static void Note(const nanobind::python_error& error);

 private:
  void Poll() override;

  const bool is_main_, watches_;
  CancellationManager* const caller_;
  CancellationManager manager_;
  InterruptScope* const enclosing_;  // main thread only
  // Of those that watch, guarded by their lock.
  InterruptScope* outer_ = nullptr;
  int64_t id_ = 0;
  // What a handler raised.
  nanobind::object type_, value_, trace_;
};

// Call from the main thread when the module is imported.
void InitInterrupts();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_INTERRUPT_H_
