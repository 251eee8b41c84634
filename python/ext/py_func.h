// Registers what PyFunc nodes need of Python.
#ifndef HEADRACE_PYTHON_EXT_PY_FUNC_H_
#define HEADRACE_PYTHON_EXT_PY_FUNC_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

void RegisterPyFunc(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_FUNC_H_
