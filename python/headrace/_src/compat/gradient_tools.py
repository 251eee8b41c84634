"""What is beside tf.gradients in TensorFlow's modules of gradients, and tensors
as IndexedSlices of all their rows."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.gradients import gradients


def is_trainable(tensor_or_dtype):
    """Whether gradients go through a tensor or a dtype."""
    dtype = getattr(tensor_or_dtype, "dtype", tensor_or_dtype)
    return dtypes.as_dtype(dtype).base_dtype in (
        dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16,
        dtypes.complex64, dtypes.complex128, dtypes.resource, dtypes.variant)


def hessian_vector_product(ys, xs, v):
    """For each x, the second derivatives of the sum of ys by it times v.

    Raises:
      ValueError: xs and v have different lengths.
    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    products = [_math.multiply(g, _raw.StopGradient(w))
                for g, w in zip(gradients(ys, xs), v) if g is not None]
    return gradients(products, xs)


def as_indexed_slices(x, optimize=True):
    """A Tensor as IndexedSlices of all its rows; IndexedSlices as they are.
    TypeError for another object."""
    if isinstance(x, IndexedSlices):
        return x
    if not is_tensor(x):
        raise TypeError("Not a Tensor or IndexedSlices: %s" % type(x))
    x = convert_to_tensor(x)
    shape = _array._shape(x, None, optimize)
    return IndexedSlices(x, _math.range(0, shape[0]), shape)


def as_indexed_slices_list(inputs, optimize=True):
    """as_indexed_slices of each; the indices are of one dtype, int64 if one of
    them is. TypeError unless they are a list or tuple."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Expected a list or tuple, not a %s" % type(inputs))
    found = [as_indexed_slices(x, optimize) for x in inputs]
    if len({s.indices.dtype for s in found}) < 2:
        return found
    return [IndexedSlices(s.values, _math.cast(s.indices, dtypes.int64),
                          s.dense_shape) for s in found]


def reduced_shape(input_shape, axes):
    """The shape of a reduction with keepdims: a vector of int32."""
    shape, axes = (_math.cast(x, dtypes.int32) for x in (input_shape, axes))
    rank = _array.size(shape)
    return _raw.DynamicStitch(
        [_math.range(rank), (axes + rank) % rank],
        [shape, _array.fill(_array.shape(axes), 1)])
