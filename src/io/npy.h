// NumPy's .npy files: one array with its dtype and shape.
#ifndef HEADRACE_IO_NPY_H_
#define HEADRACE_IO_NPY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

// Versions 1 to 3, C order, little-endian numbers and bools. InvalidArgument
// for anything else and for contents that are too short.
Status ParseNpy(absl::string_view bytes, Tensor* out);

// InvalidArgument for types that NumPy does not have.
Status WriteNpy(const Tensor& t, std::string* bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_NPY_H_
