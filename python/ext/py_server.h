// Server for Python.
#ifndef HEADRACE_PYTHON_EXT_PY_SERVER_H_
#define HEADRACE_PYTHON_EXT_PY_SERVER_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

void RegisterServer(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_SERVER_H_
