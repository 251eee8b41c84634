"""Less common functions of arrays, as tf.*: repeating, scattering, grids, masks
and sets of values."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import Dimension
from headrace._src.ops import array_ops as _array


def repeat(input, repeats, axis=None, name=None):
    """Each element `repeats` times, along `axis` or flattened: a number, or a
    vector of one for each of them."""
    with name_scope(name, "Repeat", [input, repeats]):
        x = convert_to_tensor(input, name="input")
        if axis is None:
            x, axis = _raw.Reshape(x, [-1]), 0
        n = x._rank()
        if n == 0:  # as a vector of one element
            x, n = _raw.Reshape(x, [1]), 1
        if n is None:
            raise ValueError("repeat along an axis needs a tensor of known "
                             "rank")
        if not -n <= axis < n:
            raise ValueError("axis=%s out of bounds: expected %s<=axis<%s"
                             % (axis, -n, n))
        axis = axis % n
        times = repeats
        if not isinstance(repeats, (int, np.integer)):
            times = _raw.Cast(convert_to_tensor(repeats, name="repeats"),
                              DstT=dtypes.int32)
            if times._rank() not in (0, 1):
                raise ValueError("repeat: argument repeats: Shape %s must have "
                                 "rank at most 1" % times.get_shape())
            if times._rank() == 1:
                return _repeat_each(x, times, axis)
        multiples = [1] * (n + 1)
        multiples[axis + 1] = times
        tiled = _raw.Tile(_raw.ExpandDims(x, axis + 1), _array.stack(multiples))
        dims = _array.shape(x)
        return _raw.Reshape(tiled, _array.concat(
            [dims[:axis], [dims[axis] * times], dims[axis + 1:]], 0))


def _repeat_each(x, times, axis):
    """Slice i of x along `axis` times[i] times."""
    size = x.get_shape()[axis]
    if times.get_shape().as_list() != [1]:
        size.assert_is_compatible_with(times.get_shape()[0])
    count = _array.shape(x)[axis]
    times = _raw.BroadcastTo(times, _raw.Reshape(count, [1]))
    used = sequence_mask(times)
    numbers = _raw.BroadcastTo(
        _raw.ExpandDims(_raw.Range(0, count, 1), 1), _raw.Shape(used))
    return _array.gather(x, _array.boolean_mask(numbers, used), axis=axis)


def ensure_shape(x, shape, name=None):
    """x with its shape known as `shape`; the run fails if it has another."""
    return _raw.EnsureShape(x, shape, name=name)


def fingerprint(data, method="farmhash64", name=None):
    """8 bytes for each slice of the first dimension, equal for equal
    slices."""
    return _raw.Fingerprint(data, method, name=name)


def dimension_at_index(shape, index):
    """The Dimension at `index`, unknown for a shape of unknown rank."""
    return Dimension(None) if shape.ndims is None else shape.dims[index]


def scatter_nd(indices, updates, shape, name=None):
    """Zeros of `shape` to which `updates` are added at `indices`."""
    return _raw.ScatterNd(indices, updates, shape, name=name)


def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """`tensor` with the elements at `indices` replaced by `updates`."""
    return _raw.TensorScatterUpdate(tensor, indices, updates, name=name)


def tensor_scatter_nd_add(tensor, indices, updates, name=None):
    """`tensor` with `updates` added at `indices`."""
    return _raw.TensorScatterAdd(tensor, indices, updates, name=name)


def tensor_scatter_nd_sub(tensor, indices, updates, name=None):
    """`tensor` with `updates` subtracted at `indices`."""
    return _raw.TensorScatterSub(tensor, indices, updates, name=name)


def meshgrid(*args, **kwargs):
    """Coordinate grids of vectors: a list of n tensors of rank n for n vectors.

    With `indexing` "xy" (the default) the first two dimensions are the second
    and the first vector's, with "ij" all are in order. The vectors: numbers of
    any type, which the grids have; scalars count as vectors of one. ValueError
    for another indexing; TypeError for other named arguments."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError("'%s' is an invalid keyword argument for this function"
                        % next(iter(kwargs)))
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        n = len(args)
        grids = []
        for i, x in enumerate(args):
            dims = [1] * n
            dims[i] = -1
            grids.append(_raw.Reshape(_array.stack(x), dims))
        sizes = [_array.size(x) for x in args]
        if indexing == "xy" and n > 1:
            dims = [-1, 1] + [1] * (n - 2)
            swapped = [1, -1] + [1] * (n - 2)
            grids[0] = _raw.Reshape(grids[0], swapped)
            grids[1] = _raw.Reshape(grids[1], dims)
            sizes[0], sizes[1] = sizes[1], sizes[0]
        full = _array.ones(sizes, grids[0].dtype.base_dtype)
        return [g * full for g in grids]


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool_, name=None):
    """True in the first lengths[i] places of row i."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            n = lengths._rank()
            axes = (constant(np.arange(n), dtypes.int32) if n is not None
                    else _raw.Range(0, _raw.Rank(lengths), 1))
            maxlen = _raw.Max(lengths, axes)
            maxlen = _raw.Maximum(constant(0, maxlen.dtype.base_dtype),
                                  maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen._rank() not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        row = _raw.Range(constant(0, maxlen.dtype.base_dtype), maxlen,
                         constant(1, maxlen.dtype.base_dtype))
        column = _raw.Cast(_raw.ExpandDims(lengths, -1),
                           DstT=maxlen.dtype.base_dtype)
        mask = _raw.Less(row, column)
        dtype = dtypes.as_dtype(dtype)
        return mask if dtype == dtypes.bool_ else _raw.Cast(mask, DstT=dtype)


def unique(x, out_idx=dtypes.int32, name=None):
    """(the distinct values in order of appearance, their index for each
    element)."""
    return _raw.Unique(x, out_idx=out_idx, name=name)


def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """(y, idx, count) of a vector: its different elements in order of
    appearance, the place in y of each element, and how often each occurs."""
    return _raw.UniqueWithCounts(x, out_idx=out_idx, name=name)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    return _raw.ListDiff(x, y, out_idx=index_dtype, name=name)
