// Releases and takes the GIL, safely for threads that outlive Python.
//
// When Python ends, some threads still run: daemon threads and threads of the
// library. If such a thread then asks for the GIL, Python ends it at that place
// with pthread_exit, which unwinds its stack. The stack may contain C++ that
// must not be unwound so: destructors that touch Python objects without the
// GIL, noexcept functions, catch (...). Therefore every call that may ask for
// the GIL goes through this header. A thread that Python ends inside it is
// parked: it sleeps until the process ends.
#ifndef HEADRACE_PYTHON_EXT_GIL_H_
#define HEADRACE_PYTHON_EXT_GIL_H_

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <utility>

namespace headrace {
class Device;
class Session;
}  // namespace headrace

namespace headrace::python {

namespace nb = nanobind;

// Never returns. The caller must hold neither the GIL nor a lock that other
// threads need.
[[noreturn]] void ParkThread();

// Runs `f`, which calls Python. The caller holds the GIL.
template <typename F>
decltype(auto) CallPython(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const abi::__forced_unwind&) {
    ParkThread();
  }
}

// Releases the GIL of this thread for the lifetime of this object.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

// Takes the GIL on a thread that Python already knows.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

// A call into Python by a kernel of `device`, on any thread. It holds the GIL
// and is registered for its lifetime. When Python has ended, ok() is false: the
// GIL is not held and no Python object may be touched.
class KernelCall {
 public:
  explicit KernelCall(const Device* device);
  ~KernelCall();
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  bool ok() const { return gil_.has_value(); }

 private:
  const Device* const device_;
  std::optional<GilAcquire> gil_;
};

// A run of a Python thread, which has released the GIL. When Python ends, the
// remaining runs are cancelled before the objects that they use are destroyed.
class RunEntry {
 public:
  RunEntry();
  ~RunEntry();
  RunEntry(const RunEntry&) = delete;
  RunEntry& operator=(const RunEntry&) = delete;
};
// Registers a session, so that its runs can be cancelled. Hold the GIL.
void NoteSession(const std::shared_ptr<Session>& session);
// Destroys the session. If that must wait for a Python function, another thread
// does it. If that function will never return, the session is leaked. Do not
// hold the GIL.
void DestroySession(std::shared_ptr<Session> session);

// True if the last reference to a Python object may be dropped here: the GIL is
// held and Python has not ended.
bool MayTouchPython();

// Call it when the module is imported.
void InitGil(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_GIL_H_
