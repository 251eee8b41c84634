// CheckpointReader: what is in a checkpoint, for Python.
#ifndef HEADRACE_PYTHON_EXT_CHECKPOINT_IO_H_
#define HEADRACE_PYTHON_EXT_CHECKPOINT_IO_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

void RegisterCheckpointIo(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_CHECKPOINT_IO_H_
