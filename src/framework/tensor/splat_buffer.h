// Tensors of which a few values stand for all: constants that a few bytes of a
// GraphDef describe, however large they are. They take the memory of the values
// that were given and of one piece of the rest; the addresses of the rest show
// that piece again and again. Kernels read them like any other tensor.
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

// What the tensor takes of memory: of a splat little, of files and bytes with
// another owner nothing, of strings their characters, too.
int64_t MemoryOf(const Tensor& t);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_SPLAT_BUFFER_H_
