// Converts NumPy arrays and Python values to tensors, and back.
//
// To a tensor: an array that is C-contiguous, aligned, of the right type and in
// native byte order is wrapped. The tensor keeps a reference to it and never
// writes to it. NumPy first converts anything else.
//
// From a tensor: the array uses the tensor's buffer if nobody else can see that
// buffer, else it is a copy. A scalar becomes a NumPy scalar. Strings become
// object arrays of bytes. half is float16. bfloat16 is ml_dtypes.bfloat16 if
// that module can be imported, else float32, which has the same values. Values
// of other types are rounded to bfloat16.
//
// Call with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_NUMPY_CONVERT_H_
#define HEADRACE_PYTHON_EXT_NUMPY_CONVERT_H_

#include <nanobind/nanobind.h>

#include "headrace/tensor.h"

namespace headrace::python {

namespace nb = nanobind;

// kMayShare: for feeds. Wraps arrays, and converts values as numpy.asarray
// does. The tensor shows later writes to the array. It must not outlive the
// step unless somebody copies it. kFeedCopy: the same, with a copy. kCopy: for
// constants. Copies the value; its type must fit.
enum class Sharing { kCopy, kFeedCopy, kMayShare };

// Converts a value to a tensor of type `want`. DT_INVALID means the value's own
// type: float for Python floats, int32 for ints that fit. Raises TypeError or
// ValueError.
Tensor ToTensor(nb::handle value, DataType want, Sharing sharing);
// Converts scalars and flat lists of Python numbers without NumPy. Returns
// false if `value` is something else or does not fit.
bool PlainValueToTensor(nb::handle value, DataType want, Tensor* out);
// Takes over the tensor. A scalar is an object of NumPy's type, or bytes.
nb::object ToNumpy(Tensor t);
// The same, but a scalar is an array of no dimensions.
nb::object ToNumpyArray(Tensor t);

// A buffer over the memory of a Python bytes object, which it keeps alive.
RefPtr<TensorBuffer> BufferOverBytes(nb::handle bytes);

// When a thread without the GIL drops the last tensor over an array or bytes,
// the Python reference is kept on a list. This function drops these references.
void DropReleasedArrays();

void ImportNumpy();  // call it first; raises ImportError
void RegisterNumpy(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_NUMPY_CONVERT_H_
