// NumPy's .npy files: one array with dtype and shape. Thread-safe.
#ifndef HEADRACE_IO_NPY_H_
#define HEADRACE_IO_NPY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

// Reads versions 1 to 3, C order, little-endian numbers and bools.
// InvalidArgument for anything else and for a file that is too short.
Status ParseNpy(absl::string_view bytes, Tensor* out);

// InvalidArgument for a type that NumPy does not have.
Status WriteNpy(const Tensor& t, std::string* bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_NPY_H_
