// Registers the Python side of PyFunc nodes.
#ifndef HEADRACE_PYTHON_EXT_PY_FUNC_H_
#define HEADRACE_PYTHON_EXT_PY_FUNC_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

// A run that a Python thread is about to start. Raises RecursionError if Python
// functions inside runs have already started too many runs, or if the stack is
// nearly full.
class NestedRun {
 public:
  NestedRun();
  ~NestedRun();
  NestedRun(const NestedRun&) = delete;
  NestedRun& operator=(const NestedRun&) = delete;

 private:
  const bool nested_;
};

void RegisterPyFunc(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_FUNC_H_
