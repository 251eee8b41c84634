#include "interrupt.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <thread>

#include "gil.h"

namespace headrace::python {
namespace {

// One a process; never destroyed, since the signal may come at any time.
struct State {
  pthread_t main_thread = pthread_self();
  sem_t wake;
  bool watching = false;  // main thread only
  std::mutex mu;
  InterruptScope* innermost = nullptr;  // main thread only
  InterruptScope* running = nullptr;    // guarded by mu; innermost that watches
  struct sigaction next = {};           // the handler behind ours
};
State* state = nullptr;

void OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  sem_post(&state->wake);
  errno = saved;
  if ((state->next.sa_flags & SA_SIGINFO) != 0) {
    if (state->next.sa_sigaction != nullptr) {
      state->next.sa_sigaction(number, info, context);
    }
  } else if (state->next.sa_handler != SIG_DFL &&
             state->next.sa_handler != SIG_IGN) {
    state->next.sa_handler(number);
  }
}

void Watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) {
    if (sem_wait(&state->wake) != 0) continue;
    const std::lock_guard<std::mutex> lock(state->mu);
    if (state->running != nullptr) {
      state->running->manager()->StartCancel(
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
  if (!state->watching) {
    std::thread(Watch).detach();
    state->watching = true;
  }
  state->next = current;
  struct sigaction ours = current;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = OnSignal;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

// The watching thread does not come along into a child process.
void AfterFork() {
  state->main_thread = pthread_self();
  state->watching = false;
  state->innermost = state->running = nullptr;
  new (&state->mu) std::mutex;
  sem_init(&state->wake, 0, 0);
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) == 0 &&
      (current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == OnSignal) {
    sigaction(SIGINT, &state->next, nullptr);
  }
}

}  // namespace

InterruptScope::InterruptScope(CancellationManager* caller)
    : is_main_(pthread_equal(pthread_self(), state->main_thread) != 0),
      watches_(is_main_ && PutHandlerInFront()),
      caller_(caller),
      manager_(is_main_ ? caller : nullptr),
      enclosing_(is_main_ ? state->innermost : nullptr) {
  if (is_main_) state->innermost = this;
  if (!watches_) return;
  const std::lock_guard<std::mutex> lock(state->mu);
  outer_ = state->running;
  state->running = this;
}

InterruptScope::~InterruptScope() {
  if (is_main_) state->innermost = enclosing_;
  if (!watches_) return;
  const std::lock_guard<std::mutex> lock(state->mu);
  state->running = outer_;
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
  if (pthread_equal(pthread_self(), state->main_thread) == 0) return;
  InterruptScope* const scope = state->innermost;
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
  if (state != nullptr) return;
  state = new State;
  sem_init(&state->wake, 0, 0);
  pthread_atfork(nullptr, nullptr, AfterFork);
}

}  // namespace headrace::python
