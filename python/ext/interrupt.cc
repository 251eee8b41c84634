#include "interrupt.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <thread>

#include "gil.h"
#include "headrace/mutex.h"

namespace headrace::python {
namespace {

// One a process; never destroyed, since the signal may come at any time.
struct InterruptState {
  pthread_t main_thread = pthread_self();
  sem_t wake;
  bool watching = false;                // main thread only
  InterruptScope* innermost = nullptr;  // main thread only
  Mutex mu;
  InterruptScope* running GUARDED_BY(mu) = nullptr;  // innermost that watches
  int64_t last_id GUARDED_BY(mu) = 0;
  // The id of `running`, and of the run that the last signal came in; 0: none.
  std::atomic<int64_t> current{0}, interrupted{0};
  struct sigaction next = {};  // the handler behind ours
  // Python's signal.getsignal and signal.default_int_handler.
  PyObject *getsignal = nullptr, *default_handler = nullptr;
};
InterruptState* interrupts = nullptr;

void OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (const int64_t run = interrupts->current; run != 0) {
    interrupts->interrupted = run;
    sem_post(&interrupts->wake);
  }
  errno = saved;
  if ((interrupts->next.sa_flags & SA_SIGINFO) != 0) {
    if (interrupts->next.sa_sigaction != nullptr) {
      interrupts->next.sa_sigaction(number, info, context);
    }
  } else if (interrupts->next.sa_handler != SIG_DFL &&
             interrupts->next.sa_handler != SIG_IGN) {
    interrupts->next.sa_handler(number);
  }
}

// True if Ctrl-C must end the run at once: Python's own handler always raises
// KeyboardInterrupt. The effect of any other handler is known only after it has
// run.
bool HandlerRaises() {
  const KernelCall python(nullptr);
  if (!python.ok()) return false;
  PyObject* const handler = CallPython(
      [] { return PyObject_CallFunction(interrupts->getsignal, "i", SIGINT); });
  if (handler == nullptr) PyErr_Clear();
  Py_XDECREF(handler);
  return handler == interrupts->default_handler;
}

void Watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) {
    if (sem_wait(&interrupts->wake) != 0) continue;
    // Another run may have started since.
    const int64_t interrupted = interrupts->interrupted;
    if (!HandlerRaises()) continue;
    MutexLock lock(&interrupts->mu);
    if (interrupts->running != nullptr &&
        interrupts->running->id() == interrupted) {
      interrupts->running->manager()->StartCancel(
          absl::CancelledError("Interrupted by the keyboard"));
    }
  }
}

// False if SIGINT has no handler that would raise anything.
bool PutHandlerInFront() {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0) return false;
  if ((current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == OnSignal) {
    return true;
  }
  if ((current.sa_flags & SA_SIGINFO) == 0 &&
      (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN)) {
    return false;
  }
  if (!interrupts->watching) {
    std::thread(Watch).detach();
    interrupts->watching = true;
  }
  interrupts->next = current;
  struct sigaction ours = current;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = OnSignal;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

// The watching thread does not come along into a child process. Not analysed:
// the mutex, which that thread may have locked, is made anew.
void InterruptAfterFork() NO_THREAD_SAFETY_ANALYSIS {
  interrupts->main_thread = pthread_self();
  interrupts->watching = false;
  interrupts->innermost = interrupts->running = nullptr;
  interrupts->current = 0;
  new (&interrupts->mu) Mutex;
  sem_init(&interrupts->wake, 0, 0);
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) == 0 &&
      (current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == OnSignal) {
    sigaction(SIGINT, &interrupts->next, nullptr);
  }
}

}  // namespace

InterruptScope::InterruptScope(CancellationManager* caller)
    : is_main_(pthread_equal(pthread_self(), interrupts->main_thread) != 0),
      watches_(is_main_ && PutHandlerInFront()),
      caller_(caller),
      manager_(is_main_ ? caller : nullptr),
      enclosing_(is_main_ ? interrupts->innermost : nullptr) {
  if (is_main_) interrupts->innermost = this;
  if (!watches_) return;
  MutexLock lock(&interrupts->mu);
  id_ = ++interrupts->last_id;
  outer_ = interrupts->running;
  interrupts->running = this;
  interrupts->current = id_;
}

InterruptScope::~InterruptScope() {
  if (is_main_) interrupts->innermost = enclosing_;
  if (!watches_) return;
  MutexLock lock(&interrupts->mu);
  interrupts->running = outer_;
  interrupts->current = outer_ == nullptr ? 0 : outer_->id_;
}

void InterruptScope::Poll() {
  if (type_.is_valid()) return;  // the run is about to end
  {
    const GilAcquire locked;
    if (CallPython([] { return PyErr_CheckSignals(); }) == 0) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    type_ = nanobind::steal(type);
    value_ = nanobind::steal(value);
    trace_ = nanobind::steal(trace);
  }
  manager_.StartCancel(
      absl::CancelledError("A signal's handler raised an exception"));
}

void InterruptScope::Note(const nanobind::python_error& error) {
  if (pthread_equal(pthread_self(), interrupts->main_thread) == 0) return;
  InterruptScope* const scope = interrupts->innermost;
  if (scope == nullptr || scope->type_.is_valid() ||
      error.matches(PyExc_Exception)) {
    return;
  }
  scope->type_ = nanobind::borrow(error.type());
  scope->value_ = nanobind::borrow(error.value());
  scope->trace_ = nanobind::borrow(error.traceback());
}

void InterruptScope::Rethrow() {
  if (!type_.is_valid()) return;
  PyErr_Restore(type_.release().ptr(), value_.release().ptr(),
                trace_.release().ptr());
  throw nanobind::python_error();
}

void InitInterrupts() {
  if (interrupts != nullptr) return;
  interrupts = new InterruptState;
  const auto signals = nanobind::module_::import_("_signal");
  interrupts->getsignal =
      nanobind::object(signals.attr("getsignal")).release().ptr();
  interrupts->default_handler =
      nanobind::object(signals.attr("default_int_handler")).release().ptr();
  sem_init(&interrupts->wake, 0, 0);
  pthread_atfork(nullptr, nullptr, InterruptAfterFork);
}

}  // namespace headrace::python
