// headrace._headrace: what the Python package is built on. One file a topic;
// the package, not this module, is the interface for users.
#include <nanobind/nanobind.h>

#include "checkpoint_io.h"
#include "gil.h"
#include "headrace/version.h"
#include "interrupt.h"
#include "message.h"
#include "numpy_convert.h"
#include "py_eager.h"
#include "py_func.h"
#include "py_gradients.h"
#include "py_graph.h"
#include "py_server.h"
#include "py_session.h"
#include "py_support.h"
#include "record_io.h"

NB_MODULE(_headrace, m) {
  using namespace headrace::python;  // NOLINT: a list of registrations
  // Objects that live as long as the process are no leaks.
  nanobind::set_leak_warnings(false);
  ImportNumpy();
  InitGil(m);
  InitInterrupts();
  m.attr("version") = headrace::Version();
  m.attr("compiler_version") = __VERSION__;
  RegisterSupport(m);
  RegisterMessages(m);
  RegisterGraph(m);
  RegisterEager(m);
  RegisterOpFunction(m);
  RegisterGradients(m);
  RegisterNumpy(m);
  RegisterSession(m);
  RegisterServer(m);
  RegisterPyFunc(m);
  RegisterRecordIo(m);
  RegisterCheckpointIo(m);
}
