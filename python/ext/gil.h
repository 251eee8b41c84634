// The GIL, let go of and taken, by threads that outlive Python.
//
// When Python ends, the threads that it does not wait for (daemon threads,
// those of the library) still run, and one that then asks for the GIL is ended
// right where it asks: by pthread_exit, which unwinds its stack. Above may be
// C++ that nothing must unwind so: destructors that touch Python objects
// without the GIL, noexcept functions, catch (...). So whatever may ask for the
// GIL is called here, and a thread that is ended in it is parked: it stays as
// it is until the process ends.
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

// Never returns. Holds no lock that others need, nor the GIL.
[[noreturn]] void ParkThread();

// Runs `f`, which calls Python.
template <typename F>
decltype(auto) CallPython(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const abi::__forced_unwind&) {
    ParkThread();
  }
}

// While it lives, its thread is without the GIL.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

// Takes the GIL on a thread that Python knows already.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

// A call into Python by a kernel of `device`, on any thread: it has the GIL,
// and it is noted as long as it lasts. Not ok() once Python ends: then there is
// no GIL, and nothing of Python may be touched.
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

// A run that a Python thread is in, without the GIL. The runs that are left
// when Python has ended are cancelled, before what they work with is destroyed.
class RunEntry {
 public:
  RunEntry();
  ~RunEntry();
  RunEntry(const RunEntry&) = delete;
  RunEntry& operator=(const RunEntry&) = delete;
};
// So that its runs can be cancelled. With the GIL.
void NoteSession(const std::shared_ptr<Session>& session);
// Destroys it; on another thread if it has to wait for a Python function, and
// not at all if that will never return. Without the GIL.
void DestroySession(std::shared_ptr<Session> session);

// True where an object's last reference may be dropped: with the GIL held, and
// Python there.
bool MayTouchPython();

// Call when the module is imported, with it.
void InitGil(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_GIL_H_
