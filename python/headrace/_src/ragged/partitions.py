"""Row partitions: which values are in which row, in several notations.

splits [n + 1]: row i has the values from splits[i] to splits[i + 1].
lengths [n]: how many values each row has.
segment ids [number of values]: the row of each value.
"""
from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.control import check_ops as _check
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.math.math_special import bincount
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

INTEGERS = dtypes.int32, dtypes.int64


def integers(value, name, dtype):
    """An integer tensor as one of `dtype`. TypeError for other numbers."""
    tensor = convert_to_tensor(value, name=name, dtype_hint=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError("%s must be an integer; dtype=%s"
                        % (name, tensor.dtype.base_dtype.name))
    return _math.cast(tensor, dtype)


def positive_axis(axis, rank):
    """`axis` counted from the first dimension. TypeError for what is no int,
    ValueError for one out of range."""
    if not isinstance(axis, int):
        raise TypeError("axis must be an int; got %s" % type(axis).__name__)
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is "
                             "statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError("axis=%s out of bounds: expected %s<=axis<%s"
                         % (axis, -rank, rank))
    return axis % rank


def lengths_of(splits):
    return splits[1:] - splits[:-1]


def splits_of(lengths):
    splits = _array.concat([_array.zeros([1], lengths.dtype),
                            _math.cumsum(lengths)], 0)
    rows = lengths.get_shape()
    if rows.ndims == 1 and rows[0].value is not None:
        splits.set_shape([rows[0].value + 1])
    return splits


def ids_of(splits, out_type=None):
    """The segment ids: value j is in the row whose end is the first that is
    larger than j."""
    out_type = out_type or splits.dtype.base_dtype
    values = _math.range(splits[-1])
    ends = _raw.ExpandDims(splits[1:], 0)
    ids = _raw.UpperBound(ends, _raw.ExpandDims(values, 0), out_type=out_type)
    return _raw.Squeeze(ids, squeeze_dims=[0])


def times_each(x, times):
    """Each element of a vector `times` times."""
    wide = _array.tile(_raw.ExpandDims(x, 1), _array.stack([1, times]))
    return _raw.Reshape(wide, [-1])


def ranges(starts, limits):
    """The numbers from starts[i] to limits[i], for all i, as one vector."""
    one = _array.ones([], starts.dtype.base_dtype)
    return _raw.RaggedRange(starts, limits, one,
                            Tsplits=starts.dtype.base_dtype)[1]


def check_same(first, *others):
    """Assertions that nested row splits equal the first. ValueError if their
    numbers differ."""
    message = "Inputs must have identical ragged splits"
    if any(len(other) != len(first) for other in others):
        raise ValueError(message)
    return [_check.assert_equal(a, b, message=message) for other in others
            for a, b in zip(first, other) if a is not b]


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value, for the row splits of a ragged tensor.

    `splits`: int32 or int64 [n + 1], ascending from 0. The result has splits[n]
    elements, of `out_type` or the type of the splits. ValueError for splits of
    another type or rank and for none at all."""
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = convert_to_tensor(splits, name="splits",
                                   dtype_hint=dtypes.int64)
        if splits.dtype not in INTEGERS:
            raise ValueError("splits must have dtype int32 or int64, got %s"
                             % splits.dtype.name)
        splits.get_shape().assert_has_rank(1)
        if splits.get_shape()[0].value == 0:
            raise ValueError("Invalid row_splits: []")
        return ids_of(splits, None if out_type is None
                      else dtypes.as_dtype(out_type))


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None,
                              name=None):
    """The row splits of a ragged tensor whose value j is in row segment_ids[j].

    `segment_ids`: an integer vector, ascending; `num_segments`: the number of
    rows, by default those up to the last one with a value. The result is of
    `out_type`, by default the type of the tensor that is given, or int64.
    ValueError for another rank, TypeError for what is no integer."""
    if out_type is None:
        given = [t for t in (segment_ids, num_segments)
                 if isinstance(t, Tensor)]
        out_type = given[0].dtype.base_dtype if given else dtypes.int64
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = integers(segment_ids, "segment_ids", dtypes.int32)
        ids.get_shape().assert_has_rank(1)
        if num_segments is not None:
            num_segments = integers(num_segments, "num_segments", dtypes.int32)
            num_segments.get_shape().assert_has_rank(0)
        splits = splits_of(bincount(ids, minlength=num_segments,
                                    maxlength=num_segments, dtype=out_type))
        known = None if num_segments is None else constant_value(num_segments)
        if known is not None:
            splits.set_shape([int(known) + 1])
        return splits
