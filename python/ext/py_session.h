#ifndef HEADRACE_PYTHON_EXT_PY_SESSION_H_
#define HEADRACE_PYTHON_EXT_PY_SESSION_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

// Registers SessionCore, the base class of headrace.Session, and Callable.
void RegisterSession(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_SESSION_H_
