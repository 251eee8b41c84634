// Libraries of ops and kernels, which stay loaded for ever.
#ifndef HEADRACE_FRAMEWORK_OP_LIBRARY_H_
#define HEADRACE_FRAMEWORK_OP_LIBRARY_H_

#include <string>
#include <vector>

#include "headrace/op_def.h"

namespace headrace {

struct OpLibrary {
  void* handle;                   // the loader's
  std::vector<const OpDef*> ops;  // those it added, sorted by name
};

// Loads a library and lets it register what it has: its static objects do, its
// constructors, and, if it has one, its function TF_InitKernel. A library that
// was loaded before gives what it gave then. The result lives for ever.
//
// NotFound, with the loader's words, if the file cannot be loaded.
// InvalidArgument if it is another copy of the runtime (libheadrace.so or
// libtensorflow.so.*), which a process can have only once.
// AlreadyExists if it registers an op under a name that another op has, and
// whatever else NoteRegistrationFailure was told. Thread-safe.
StatusOr<const OpLibrary*> LoadOpLibrary(const std::string& path);

// Tells the LoadOpLibrary of this thread, if there is one, that the library
// could not register something.
void NoteRegistrationFailure(const Status& s);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_LIBRARY_H_
