// Tensors in which a few values represent all elements: large constants that a
// GraphDef describes with a few bytes. They take the memory of the given values
// and of one block of the repeated rest; the addresses of the rest map that
// block repeatedly. Kernels read them like any other tensor.
#ifndef HEADRACE_FRAMEWORK_TENSOR_SPLAT_BUFFER_H_
#define HEADRACE_FRAMEWORK_TENSOR_SPLAT_BUFFER_H_

#include "headrace/tensor.h"

namespace headrace {

// Smaller ones are not worth a mapping.
inline constexpr int64_t kMinSplatBytes = int64_t{8} << 20;

// A tensor of type and shape whose first elements are those of `given`, a
// tensor of the same type with at least one, and whose others equal the last of
// them. Its buffer is not writable. False, with nothing done, if that would
// save little, for types whose elements cannot be repeated byte by byte, and
// where the system has no such mapping to give.
bool MakeSplat(const Tensor& given, const TensorShape& shape, Tensor* out);

// The bytes of memory that the tensor takes. A splat takes little. Data in
// files, or with another owner, takes nothing. Strings include their
// characters.
int64_t MemoryOf(const Tensor& t);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_SPLAT_BUFFER_H_
