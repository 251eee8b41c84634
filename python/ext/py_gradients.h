// Gradients for Python: AddSymbolicGradients in the scopes of a Python graph.
#ifndef HEADRACE_PYTHON_EXT_PY_GRADIENTS_H_
#define HEADRACE_PYTHON_EXT_PY_GRADIENTS_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

void RegisterGradients(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_GRADIENTS_H_
