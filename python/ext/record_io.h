// Files for Python: RecordReader and RecordWriter, and paths that match a
// pattern.
#ifndef HEADRACE_PYTHON_EXT_RECORD_IO_H_
#define HEADRACE_PYTHON_EXT_RECORD_IO_H_

#include <nanobind/nanobind.h>

namespace headrace::python {

void RegisterRecordIo(nanobind::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_RECORD_IO_H_
