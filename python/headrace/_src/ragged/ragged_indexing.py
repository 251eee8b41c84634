"""rt[...]: rows, and slices of ragged dimensions."""
from headrace._headrace import Tensor
from headrace._src.control.control_flow import cond
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ragged.ragged_arrays import expand_dims, gather
from headrace._src.ragged.ragged_math import range as _range
from headrace._src.ragged.ragged_tensor import RaggedTensor, is_ragged

_ALL = slice(None)


def getitem(rt, key):
    """rt[key]. The first key is an index or a slice of rows; ragged dimensions
    further in only take slices: an index would not be in every row."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    with name_scope(None, "RaggedGetItem"):
        return _of_rows(rt, keys)


def _of_rows(rt, keys):
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _of_rows(rt, _without_ellipsis(keys, rt.shape.ndims))
    if key is _array.newaxis:
        return expand_dims(_of_rows(rt, rest), 0)
    if isinstance(key, slice):
        return _of_columns(_slice_rows(rt, key), rest)
    start, limit = rt.row_splits[:-1][key], rt.row_splits[1:][key]
    row = rt.values[start:limit]
    return row[tuple(rest)] if rest else row


def _slice_rows(rt, key):
    if key == _ALL:
        return rt
    starts, limits = rt.row_splits[:-1][key], rt.row_splits[1:][key]
    if key.step is not None and not (isinstance(key.step, int)
                                     and key.step == 1):
        return _of_ranges(starts, limits, 1, rt.values)
    # Rows that follow each other have values that do.
    zero = _array.zeros([1], rt.row_splits.dtype.base_dtype)
    first = _array.concat([starts, zero], 0)[:1]
    splits = _array.concat([first, limits], 0)
    values = rt.values[splits[0]:splits[-1]]
    return RaggedTensor(values, splits - splits[0], internal=True)


def _of_columns(rt, keys):
    """`keys` for the dimensions after the first."""
    if not keys:
        return rt
    if isinstance(rt, Tensor):
        return rt[tuple([_ALL] + keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _of_columns(rt, _without_ellipsis(keys, rt.values.shape.ndims))
    if key is _array.newaxis:
        return expand_dims(_of_columns(rt, rest), 1)
    if not isinstance(key, slice):
        raise ValueError("a ragged dimension takes slices, not the index %r: "
                         "it need not be in every row" % (key,))
    if key != _ALL:
        starts, limits = rt.row_splits[:-1], rt.row_splits[1:]
        first, last = starts, limits
        if isinstance(key.step, int) and key.step < 0:  # the other way round
            starts, limits = starts - 1, limits - 1
            first, last = limits, starts
        if key.start is not None:
            first = _moved(key.start, rt, starts, limits)
        if key.stop is not None:
            last = _moved(key.stop, rt, starts, limits)
        rt = _of_ranges(first, last, key.step, rt.values)
    return rt.with_values(_of_columns(rt.values, rest))


def _without_ellipsis(keys, rank):
    """The keys with a slice before the Ellipsis, or without it if the others
    are enough."""
    if rank is None:
        raise ValueError("`...` needs a RaggedTensor of known rank")
    count = len([key for key in keys if key is not _array.newaxis])
    if count > rank + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == rank + 1 else [_ALL] + keys


def _moved(offset, rt, lowest, highest):
    """The place `offset` of each row, from its end if it is negative, between
    two others."""
    def from_start():
        return _math.minimum(rt.row_splits[:-1] + offset, highest)

    def from_end():
        return _math.maximum(rt.row_splits[1:] + offset, lowest)

    if isinstance(offset, Tensor):
        offset = _math.cast(offset, lowest.dtype.base_dtype)
        return cond(offset >= 0, from_start, from_end)
    if not isinstance(offset, int):
        raise TypeError("slice offsets must be integers or None")
    return from_start() if offset >= 0 else from_end()


def _of_ranges(starts, limits, step, values):
    """A row for each range, of every `step`-th value in it."""
    step = convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    kind = starts.dtype.base_dtype
    places = _range(starts, limits, _math.cast(step, kind),
                    row_splits_dtype=kind)
    return places.with_values(gather(values, places.values)
                              if is_ragged(values) else
                              _array.gather(values, places.values))
