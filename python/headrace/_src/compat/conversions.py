"""tensorflow.python.framework.ops and indexed_slices: conversions that leave
None, IndexedSlices and other composite values as they are."""
from headrace._src.framework.indexed_slices import (
    IndexedSlices, convert_to_tensor_or_indexed_slices)
from headrace._src.framework.dtypes import as_dtype
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import (
    TensorShape, as_shape, unknown_shape)


def _each(convert, values, dtype, name):
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be iterable.")
    return [v if v is None else convert(
        v, dtype, None if name is None else "%s_%d" % (name, i))
            for i, v in enumerate(values)]


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    """convert_to_tensor_or_indexed_slices of each, None as it is. TypeError
    unless they are a list or tuple."""
    return _each(convert_to_tensor_or_indexed_slices, values, dtype, name)


def internal_convert_to_tensor_or_indexed_slices(value, dtype=None, name=None,
                                                 as_ref=False):
    return convert_to_tensor_or_indexed_slices(value, dtype, name)


def internal_convert_n_to_tensor_or_indexed_slices(values, dtype=None,
                                                   name=None, as_ref=False):
    return _each(convert_to_tensor_or_indexed_slices, values, dtype, name)


def convert_to_tensor_or_composite(value, dtype=None, name=None):
    """A SparseTensor, RaggedTensor or IndexedSlices as it is, anything else as
    a Tensor. ValueError for another dtype."""
    if not (isinstance(value, IndexedSlices)
            or getattr(value, "_composite", False)):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(
            value.dtype):
        raise ValueError(
            "Tensor conversion dtype mismatch. Requested dtype is %s, Tensor has "
            "dtype is %s: %r" % (as_dtype(dtype).name, value.dtype.name, value))
    return value


def convert_n_to_tensor_or_composite(values, dtype=None, name=None):
    """convert_to_tensor_or_composite of each, None as it is."""
    return _each(convert_to_tensor_or_composite, values, dtype, name)


def common_shape(s1, s2):
    """What two shapes have in common: a size that differs is not known, and
    nothing is of two ranks."""
    s1, s2 = as_shape(s1), as_shape(s2)
    if s1.ndims is None or s1.ndims != s2.ndims:
        return unknown_shape()
    return TensorShape([a if a == b else None
                        for a, b in zip(s1.as_list(), s2.as_list())])
