"""Arithmetic of ragged tensors: ranges, sums over segments and dimensions."""
import contextlib

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.control import check_ops as _check
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ragged import partitions as _rows
from headrace._src.ragged.ragged_map import map_flat_values
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, convert, is_ragged, same_partition_dtype)

_NUMBERS = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


def range(starts, limits=None, deltas=1, dtype=None, name=None,
          row_splits_dtype=dtypes.int64):
    """A RaggedTensor whose row i is the numbers from starts[i] to limits[i] in
    steps of deltas[i]; with one argument, those from 0 to starts[i].

    All: scalars or vectors of int32, int64, float32 or float64, of `dtype` or
    the largest of their types. ValueError or InvalidArgumentError for vectors
    of different lengths, and for a step of 0 in the run."""
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        parts = [convert_to_tensor(x, dtype, n) for x, n in (
            (starts, "starts"), (limits, "limits"), (deltas, "deltas"))]
        if dtype is None:
            kinds = [x.dtype.base_dtype for x in parts]
            if not all(kind in _NUMBERS for kind in kinds):
                raise TypeError("ragged.range takes int32, int64, float32 and "
                                "float64, got %s"
                                % ", ".join(kind.name for kind in kinds))
            kind = max(kinds, key=_NUMBERS.index)
            parts = [_math.cast(x, kind) for x in parts]
        splits, values = _raw.RaggedRange(
            *parts, Tsplits=dtypes.as_dtype(row_splits_dtype), name=scope)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# Segments.

def segments(op, data, segment_ids, num_segments, name=None):
    """op(data, segment_ids, num_segments) with a row of the result for each
    segment, as long as the longest row of `data` in it. `segment_ids` has the
    shape of the first dimensions of `data`."""
    with name_scope(name) if name else contextlib.nullcontext():
        data, ids = convert(data, name="data"), convert(segment_ids,
                                                        name="segment_ids")
        same_partition_dtype(data, ids)
        if ids.dtype.base_dtype not in _rows.INTEGERS:
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if not is_ragged(data):
            if is_ragged(ids):
                raise ValueError(
                    "segment_ids.shape must be a prefix of data.shape, but "
                    "segment_ids is ragged and data is not.")
            return op(data, ids, num_segments)
        if is_ragged(ids):
            check = _check.assert_equal(
                ids.row_splits, data.row_splits, message="segment_ids.shape "
                "must be a prefix of data.shape")
            with control_dependencies([check]):
                return segments(op, data.values, ids.values, num_segments)
        lengths = _rows.lengths_of(data.row_splits)
        longest = _math.maximum(
            _raw.UnsortedSegmentMax(lengths, ids, num_segments), 0)
        splits = _rows.splits_of(longest)
        starts = _array.gather(splits, ids)
        places = _rows.ranges(starts, starts + lengths)
        return RaggedTensor(segments(op, data.values, places, splits[-1]),
                            splits, internal=True)


def _counts(data):
    """1 for each value."""
    return data.with_flat_values(_array.ones_like(data.flat_values)) \
        if is_ragged(data) else _array.ones_like(data)


def quotient(total, count):
    """total / count, both in the same rows."""
    if is_ragged(total):
        return total.with_flat_values(total.flat_values / count.flat_values)
    return total / count


def segment_mean(data, segment_ids, num_segments, divisor=lambda count: count):
    """The sum of each segment divided by what `divisor` makes of its count."""
    total, count = (segments(_raw.UnsortedSegmentSum, x, segment_ids,
                             num_segments) for x in (data, _counts(data)))
    return quotient(total, map_flat_values(divisor, count))


# Reductions.

def reduce(whole, op, value, axis, name):
    """`value`, ragged, reduced along `axis`: an int, a list of ints or None for
    all. `whole(tensor, axis, name=None)` reduces a tensor, `op` segments."""
    axis = _known_axis(axis)
    if axis is None:
        return whole(value.flat_values, None, name=name)
    with name_scope(name, "RaggedReduce"):
        if isinstance(axis, (tuple, list)):
            return _reduce_several(whole, op, value, axis)
        axis = _rows.positive_axis(axis, value.shape.ndims)
        splits = value.row_splits
        if axis == 0:
            columns = _rows.ranges(*_from_zero(splits))
            longest = _math.maximum(
                _math.reduce_max(_rows.lengths_of(splits)), 0)
            return segments(op, value.values, columns, longest)
        if axis == 1:
            result = segments(op, value.values, _rows.ids_of(splits),
                              value.nrows())
            rows = value.shape[0].value
            if rows is not None and not is_ragged(result):
                result.set_shape([rows] + value.values.shape.as_list()[1:])
            return result
        inner = value.values
        return value.with_values(
            reduce(whole, op, inner, axis - 1, None) if is_ragged(inner)
            else whole(inner, axis - 1))


def _from_zero(splits):
    lengths = _rows.lengths_of(splits)
    return _array.zeros_like(lengths), lengths


def _known_axis(axis):
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be a constant")
    if isinstance(axis, (np.ndarray, np.generic)):
        axis = axis.tolist()
    return axis


def _reduce_several(whole, op, value, axes):
    """One after the other, the innermost first."""
    rank = value.shape.ndims
    if len(axes) > 1:
        axes = sorted({_rows.positive_axis(a, rank): a for a in axes})
    for axis in reversed(axes):
        value = (reduce(whole, op, value, axis, None) if is_ragged(value)
                 else whole(value, axis))
    return value


def reduce_mean(value, axis, name):
    """The sums divided by the counts. Integers give float64."""
    with name_scope(name, "RaggedReduceMean"):
        return quotient(*[
            reduce(_math.reduce_sum, _raw.UnsortedSegmentSum, x, axis, None)
            for x in (value, _counts(value))])


def reduce_bools(whole, op, value, axis, name):
    """`op` of 0 and 1, as bools again."""
    with name_scope(name, "RaggedReduceBools"):
        numbers = map_flat_values(_math.cast, value, dtypes.int32)
        return map_flat_values(_math.cast,
                               reduce(whole, op, numbers, axis, None),
                               dtypes.bool_)
