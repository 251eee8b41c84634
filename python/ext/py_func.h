// Registers what PyFunc nodes need of Python.
#ifndef HEADRACE_PYTHON_EXT_PY_FUNC_H_
#define HEADRACE_PYTHON_EXT_PY_FUNC_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

// A run that a Python thread is about to begin. Raises RecursionError if Python
// functions in runs have started too many already, or the stack nears its end.
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
