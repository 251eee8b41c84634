// Tensors from NumPy arrays and Python values, and back.
//
// In: a C-contiguous, aligned array of the right type in native byte order is
// wrapped; the tensor keeps a reference to it and never writes it. Everything
// else is converted by NumPy first.
// Out: an array over the tensor's own buffer if nobody else can see it, else a
// copy; a scalar comes out as a NumPy scalar. Strings are object arrays of
// bytes. half is float16; bfloat16 is ml_dtypes.bfloat16 where that can be
// imported, and otherwise uint16 with the bits as they are.
//
// Call with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_NUMPY_CONVERT_H_
#define HEADRACE_PYTHON_EXT_NUMPY_CONVERT_H_

#include <nanobind/nanobind.h>

#include "headrace/tensor.h"

namespace headrace::python {

namespace nb = nanobind;

// kMayShare is how feeds come in: arrays are wrapped, and values converted as
// numpy.asarray does. What the caller writes into the array later is seen, so
// that it must not outlive the step unless somebody copies it; kFeedCopy does
// so here. kCopy is for constants: the value is copied, and its type must fit.
enum class Sharing { kCopy, kFeedCopy, kMayShare };

// Any value as a tensor of type `want`; DT_INVALID: of the type that the value
// has (Python floats float, ints int32 where they fit). Raises TypeError or
// ValueError.
Tensor ToTensor(nb::handle value, DataType want, Sharing sharing);
// Scalars and flat lists of Python numbers, without NumPy; false if `value` is
// something else or does not fit.
bool PlainValueToTensor(nb::handle value, DataType want, Tensor* out);
// Consumes the tensor.
nb::object ToNumpy(Tensor t);

// The memory of a Python bytes object, which it keeps alive.
RefPtr<TensorBuffer> BufferOverBytes(nb::handle bytes);

// Drops references that other threads left behind when the last tensor over an
// array or bytes went.
void DropReleasedArrays();

void ImportNumpy();  // before anything else; raises ImportError
void RegisterNumpy(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_NUMPY_CONVERT_H_
