#include "gil.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/waiting_threads.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"
#include "headrace/session.h"

namespace headrace::python {
namespace {

// How long the end waits for other threads, which nothing keeps but the
// machine.
constexpr absl::Duration kLongest = absl::Milliseconds(300);

struct State {
  // Set in turn, by the thread that ends Python: Python is being taken apart,
  // and it is gone.
  std::atomic<bool> ending{false}, gone{false};
  pthread_t ender = {};  // valid with `ending`

  Mutex mu;
  CondVar changed;
  std::map<const Device*, int> calls GUARDED_BY(mu);  // KernelCalls
  int asking GUARDED_BY(mu) = 0;  // those that have not got the GIL yet
  // Changed with the GIL only, so that fork finds it whole.
  std::vector<std::weak_ptr<Session>> sessions GUARDED_BY(mu);
  std::atomic<int> runs{0};  // RunEntry, of threads that are not parked
};
State* state = nullptr;  // never destroyed: threads outlive main

thread_local int runs_here = 0;
thread_local bool asking_here = false;

bool PythonIsFinalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Another thread takes Python apart.
bool OthersEndPython() {
  return state->ending.load(std::memory_order_acquire) &&
         pthread_equal(pthread_self(), state->ender) == 0;
}

// In the midst of Python's end, when the modules are cleared. A thread that is
// about to make itself known to Python is let through or parked first.
void BeginEnd(PyObject* /*capsule*/) {
  state->ender = pthread_self();
  state->ending.store(true, std::memory_order_release);
  const GilRelease unlocked;
  const absl::Time latest = Now() + kLongest;
  MutexLock lock(&state->mu);
  while (state->asking > 0 &&
         !state->changed.WaitWithDeadline(&state->mu, latest)) {
  }
}

// Python is no more; what the library and others made at their start is
// destroyed next.
void EndRuns() {
  state->gone = true;
  if (state->runs == 0) return;
  // Never dropped: the end of a session may have to wait for a run.
  auto& sessions = *new std::vector<std::shared_ptr<Session>>;
  {
    MutexLock lock(&state->mu);
    for (const auto& weak : state->sessions) {
      if (auto session = weak.lock()) sessions.push_back(std::move(session));
    }
  }
  // On another thread, because a parked thread may hold a lock that Close
  // needs.
  if (!StartWaitingThread([&sessions] {
        for (const auto& s : sessions) s->Close().IgnoreError();
      })) {
    return;
  }
  const absl::Time latest = Now() + kLongest;
  MutexLock lock(&state->mu);
  while (state->runs > 0 &&
         !state->changed.WaitWithDeadline(&state->mu, latest)) {
  }
}

// Other threads do not come along into a child process. Not analysed: the
// mutex, which one of them may have locked, is made anew.
void AfterFork() NO_THREAD_SAFETY_ANALYSIS {
  new (&state->mu) Mutex;
  new (&state->changed) CondVar;
  new (&state->calls) std::map<const Device*, int>;
  state->asking = 0;
  state->runs = runs_here;
}

// This thread's turn to ask for the GIL is over.
void StopAsking() {
  if (!asking_here) return;
  asking_here = false;
  MutexLock lock(&state->mu);
  --state->asking;
  state->changed.SignalAll();
}

void LeaveRuns(int n) {
  if (state->runs.fetch_sub(n) != n || !state->gone) return;
  MutexLock lock(&state->mu);
  state->changed.SignalAll();
}

}  // namespace

void ParkThread() {
  StopAsking();
  LeaveRuns(std::exchange(runs_here, 0));
  while (true) pause();
}

GilRelease::~GilRelease() {
  if (OthersEndPython()) ParkThread();
  CallPython([this] { PyEval_RestoreThread(state_); });
}

GilAcquire::GilAcquire()
    : state_(CallPython([] { return PyGILState_Ensure(); })) {}
GilAcquire::~GilAcquire() {
  CallPython([this] { PyGILState_Release(state_); });
}

KernelCall::KernelCall(const Device* device) : device_(device) {
  {
    MutexLock lock(&state->mu);
    if (state->ending || state->gone || PythonIsFinalizing()) return;
    ++state->calls[device];
    ++state->asking;
    asking_here = true;
  }
  gil_.emplace();
  StopAsking();
}

KernelCall::~KernelCall() {
  if (!ok()) return;
  gil_.reset();
  MutexLock lock(&state->mu);
  const auto it = state->calls.find(device_);  // none in a child process
  if (it != state->calls.end() && --it->second == 0) state->calls.erase(it);
}

RunEntry::RunEntry() {
  ++runs_here;
  state->runs.fetch_add(1);
}
RunEntry::~RunEntry() {
  --runs_here;
  LeaveRuns(1);
}

void NoteSession(const std::shared_ptr<Session>& session) {
  MutexLock lock(&state->mu);
  auto& all = state->sessions;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto& weak) { return weak.expired(); }),
            all.end());
  all.push_back(session);
}

void DestroySession(std::shared_ptr<Session> session) {
  if (session == nullptr) return;
  bool waits = false;
  {
    MutexLock lock(&state->mu);
    if (!state->calls.empty()) {
      for (const Device* d : session->ListDevices()) {
        waits |= state->calls.contains(d);
      }
    }
  }
  if (!waits) return;  // destroyed here
  auto* kept = new std::shared_ptr<Session>(std::move(session));
  if (PythonIsFinalizing()) return;
  // If there is no such thread, it stays.
  static_cast<void>(StartWaitingThread([kept] { delete kept; }));
}

bool MayTouchPython() {
  return !state->gone && !OthersEndPython() && PyGILState_Check() != 0;
}

void InitGil(nb::module_& m) {
  if (state == nullptr) {
    state = new State;
    pthread_atfork(nullptr, nullptr, AfterFork);
    Py_AtExit(EndRuns);
  }
  // Goes when the module's names do.
  m.attr("_end") = nb::steal(PyCapsule_New(state, nullptr, BeginEnd));
}

}  // namespace headrace::python
