// Signals during a run. The main thread executes a run in C++, where Python
// cannot handle signals. While the thread only waits for the run, it therefore
// checks for signals from time to time and calls Python's handlers. An
// exception of a handler ends the run and is raised in its place.
//
// Ctrl-C does not depend on these checks. If SIGINT has a handler, ours is
// installed before it. Our handler passes the signal on. It also wakes a thread
// that cancels the main thread's run, if the signal means KeyboardInterrupt.
//
// A run without signals pays for one look at the handler and two locks.
#ifndef HEADRACE_PYTHON_EXT_INTERRUPT_H_
#define HEADRACE_PYTHON_EXT_INTERRUPT_H_

#include <nanobind/nanobind.h>

#include "base/wait_hook.h"
#include "headrace/cancellation.h"

namespace headrace::python {

// Create it before a run, on any thread, with the GIL held. On the main thread,
// signals cancel manager(). `caller` cancels it, too; `caller` may be null and
// must outlive this object. manager() is null if this is not the main thread
// and `caller` is null.
class InterruptScope : private WaitHook {
 public:
  explicit InterruptScope(CancellationManager* caller);
  ~InterruptScope() override;
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  CancellationManager* manager() { return is_main_ ? &manager_ : caller_; }
  int64_t id() const {
    return id_;
  }  // above 0 if this scope watches for signals
  // Pass it to the wait for the run. Null on other threads than the main one.
  WaitHook* hook() { return is_main_ ? this : nullptr; }
  // Call it after the run, with the GIL held. Raises the exception that a
  // handler raised during the run.
  void Rethrow();
  // For a Python function that the run calls on this thread. If `error` ends
  // programs, as KeyboardInterrupt does, it is noted and the run raises it.
  static void Note(const nanobind::python_error& error);

 private:
  void Poll() override;

  const bool is_main_, watches_;
  CancellationManager* const caller_;
  CancellationManager manager_;
  InterruptScope* const enclosing_;  // main thread only
  // For scopes that watch; guarded by the watchers' lock.
  InterruptScope* outer_ = nullptr;
  int64_t id_ = 0;
  // The exception that a handler raised.
  nanobind::object type_, value_, trace_;
};

// Call it on the main thread when the module is imported.
void InitInterrupts();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_INTERRUPT_H_
