"""Ragged tensors of nested lists, and those that must be fed."""
import numpy as np

from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant as _constant
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, RaggedTensorValue, is_ragged)


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None,
             row_splits_dtype=dtypes.int64):
    """A RaggedTensor of nested lists; a Tensor if ragged_rank is 0 or the lists
    are not nested.

    `pylist`: lists and tuples of numbers, strings or arrays, all scalars at the
    same depth. `dtype`: by default what fits them. `ragged_rank`: all
    dimensions but the outermost and those of `inner_shape` by default.
    TypeError for a ragged `pylist`; ValueError for lists that do not fit each
    other or the arguments."""
    def ragged(values, splits):
        return RaggedTensor.from_row_splits(
            values, _constant(splits, row_splits_dtype), validate=False)

    def inner(values, shape, name="Const"):
        return _constant(values, dtype, shape, name)

    with name_scope(name, "RaggedConstant"):
        return _of_lists(pylist, ragged_rank, inner_shape, ragged, inner)


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None,
                   row_splits_dtype="int64"):
    """As tf.ragged.constant, as a RaggedTensorValue or array: what
    Session.run takes as a feed. `dtype`: one of NumPy or of tf."""
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype
    kind = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def ragged(values, splits):
        return RaggedTensorValue(values, np.array(splits, kind))

    def inner(values, shape, name=None):
        array = np.array(values, dtype)
        return array if shape is None else np.reshape(array, shape)

    return _of_lists(pylist, ragged_rank, inner_shape, ragged, inner)


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A RaggedTensor that must be fed, with a RaggedTensorValue of the same
    ragged_rank; a plain placeholder if that is 0.

    `value_shape`: the shape of one of the innermost values."""
    if ragged_rank == 0:
        return _array.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        shape = TensorShape([None]).concatenate(TensorShape(value_shape))
        value = _array.placeholder(dtype, shape, "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = _array.placeholder(dtypes.int64, [None],
                                        "row_splits_%d" % i)
            value = RaggedTensor(value, splits, internal=True)
        return value


def _is_list(x):
    return isinstance(x, (list, tuple)) or np.ndim(x) != 0


def _of_lists(pylist, ragged_rank, inner_shape, ragged, inner):
    """ragged(values, splits) of inner(values, shape)."""
    if is_ragged(pylist):
        raise TypeError("pylist is ragged already: %r" % (pylist,))
    if not _is_list(pylist):
        _check_scalar(pylist, ragged_rank, inner_shape)
        return inner(pylist, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError("ragged_rank=%r is negative" % ragged_rank)
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError("pylist=%r has empty lists deeper than its scalars"
                         % (pylist,))
    _check_ranks(pylist, scalars, deepest, ragged_rank, inner_shape)
    inner_rank = len(inner_shape or ())
    if ragged_rank == 0 or ragged_rank is None and (
            deepest < 2 or inner_shape is not None
            and deepest - inner_rank < 2):
        return inner(pylist, inner_shape)
    if inner_shape is None:
        inner_shape = (() if ragged_rank is None
                       else _inner_shape(pylist, ragged_rank))
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1 - (
            0 if scalars is None else inner_rank))
    values, partitions = pylist, []
    for _ in range(ragged_rank):
        lengths = [len(row) for row in values]
        partitions.append([0] + [int(n) for n in np.cumsum(lengths)])
        values = [x for row in values for x in row]
    result = inner(values, (len(values),) + tuple(inner_shape), "values")
    for splits in reversed(partitions):
        result = ragged(result, splits)
    return result


def _check_scalar(value, ragged_rank, inner_shape):
    if ragged_rank:
        raise ValueError("Invalid pylist=%r: incompatible with ragged_rank=%d"
                         % (value, ragged_rank))
    if inner_shape:
        raise ValueError("Invalid pylist=%r: incompatible with dim("
                         "inner_shape)=%d" % (value, len(inner_shape)))


def _check_ranks(pylist, scalars, deepest, ragged_rank, inner_shape):
    if inner_shape is None or ragged_rank is None:
        return
    wanted = ragged_rank + len(inner_shape) + 1
    if (wanted < deepest) if scalars is None else (wanted != scalars):
        raise ValueError("Invalid pylist=%r: incompatible with ragged_rank=%d "
                         "and dim(inner_shape)=%d"
                         % (pylist, ragged_rank, len(inner_shape)))


def _depths(x):
    """(the depth of the scalars or None if there are none, the largest depth
    of a list)."""
    if not _is_list(x):
        return 0, 0
    scalars, deepest = None, 1
    for child in x:
        inner_scalars, inner_deepest = _depths(child)
        if inner_scalars is not None:
            if scalars not in (None, inner_scalars + 1):
                raise ValueError("the scalars of pylist are at different depths: "
                                 "%d and %d below %r"
                                 % (scalars, inner_scalars + 1, x))
            scalars = inner_scalars + 1
        deepest = max(deepest, inner_deepest + 1)
    return scalars, deepest


def _inner_shape(pylist, ragged_rank):
    """The uniform shape of what is at depth ragged_rank + 1."""
    rows = pylist
    for depth in range(ragged_rank):
        if not all(_is_list(row) for row in rows):
            raise ValueError(
                "pylist has scalars at depth %d, but with ragged_rank=%d they "
                "are deeper than %d" % (depth + 1, ragged_rank, ragged_rank))
        rows = [x for row in rows for x in row]
    shape = _first_shape(rows)
    if not _has_shape(rows, shape):
        raise ValueError("the inner values do not all have the shape %s"
                         % (shape[1:],))
    return shape[1:]


def _first_shape(x):
    if not _is_list(x):
        return ()
    return (len(x),) + (_first_shape(x[0]) if len(x) else ())


def _has_shape(x, shape):
    if not _is_list(x):
        return not shape
    return bool(shape) and len(x) == shape[0] and all(
        _has_shape(child, shape[1:]) for child in x)
