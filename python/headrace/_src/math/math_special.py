"""Less common functions of tf.* and tf.math: counting, segments, histograms,
special functions."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _check
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow_ops import with_dependencies
from headrace._src.framework import dtypes
from headrace._src.framework.dispatch import dispatched
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.clipping import clip_by_value


# Counting.

def bincount(arr, weights=None, minlength=None, maxlength=None,
             dtype=dtypes.int32):
    """How often each number from 0 on is in `arr`, or the sums of its weights.
    At least minlength numbers; those from maxlength on are left out."""
    with name_scope(None, "bincount"):
        arr = convert_to_tensor(arr, dtype=dtypes.int32, name="arr")
        not_empty = _math.reduce_prod(_array.shape(arr)) > 0
        size = _math.cast(not_empty, dtypes.int32) * (_math.reduce_max(arr) + 1)
        if minlength is not None:
            size = _math.maximum(convert_to_tensor(
                minlength, dtype=dtypes.int32, name="minlength"), size)
        if maxlength is not None:
            size = _math.minimum(convert_to_tensor(
                maxlength, dtype=dtypes.int32, name="maxlength"), size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return _raw.UnsortedSegmentSum(weights, arr, size)
        return _raw.Bincount(arr, size, constant([], dtype))


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32,
                     name=None, weights=None):
    """A matrix with a row for each label and a column for each prediction: how
    often they meet, or the sum of the weights. A dimension of size 1 that one
    of the two has more at its end is dropped."""
    with name_scope(name, "confusion_matrix",
                    [predictions, labels, num_classes, weights]):
        labels, predictions = _same_ranks(
            convert_to_tensor(labels, name="labels"),
            convert_to_tensor(predictions, name="predictions"))
        labels = _math.cast(labels, dtypes.int64)
        predictions = _math.cast(predictions, dtypes.int64)
        labels = _not_negative(labels, "labels")
        predictions = _not_negative(predictions, "predictions")
        if num_classes is None:
            num_classes = _math.maximum(_math.reduce_max(predictions),
                                        _math.reduce_max(labels)) + 1
        else:
            limit = _math.cast(num_classes, dtypes.int64)
            labels = _below(labels, limit, "labels")
            predictions = _below(predictions, limit, "predictions")
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(
                weights.get_shape())
            weights = _math.cast(weights, dtype)
        shape = _array.stack([num_classes, num_classes])
        indices = _array.stack([labels, predictions], axis=1)
        if weights is None:
            weights = _array.ones_like(predictions, dtype)
        sparse_shape = _math.cast(shape, dtypes.int64)
        zeros = _array.zeros(_math.cast(shape, dtypes.int32), dtype)
        return _raw.SparseTensorDenseAdd(indices, weights, sparse_shape, zeros)


def _not_negative(x, what):
    return with_dependencies([_check.assert_non_negative(
        x, message="`%s` contains negative values" % what)], x)


def _below(x, limit, what):
    return with_dependencies([_check.assert_less(
        x, limit, message="`%s` out of bound" % what)], x)


def _same_ranks(labels, predictions):
    """Both, that with a last dimension of size 1 too many without it."""
    a, b = labels.get_shape(), predictions.get_shape()
    if a.ndims is not None and b.ndims is not None:
        if b.ndims == a.ndims + 1 and b[-1].is_compatible_with(1):
            predictions = _array.squeeze(predictions, [-1])
        elif a.ndims == b.ndims + 1 and a[-1].is_compatible_with(1):
            labels = _array.squeeze(labels, [-1])
        return labels, predictions
    more = _array.rank(predictions) - _array.rank(labels)
    if b.ndims is None or b[-1:].is_compatible_with([1]):
        predictions = cond(_math.equal(1, more),
                           lambda x=predictions: _array.squeeze(x, [-1]),
                           lambda x=predictions: x)
    if a.ndims is None or a[-1:].is_compatible_with([1]):
        labels = cond(_math.equal(-1, more),
                      lambda x=labels: _array.squeeze(x, [-1]),
                      lambda x=labels: x)
    return labels, predictions


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32,
                          name=None):
    """How many values are in each of nbins equal parts of value_range; what is
    outside counts for the first or the last."""
    with name_scope(name, "histogram_fixed_width",
                    [values, value_range, nbins]) as scope:
        return _raw.HistogramFixedWidth(values, value_range, nbins, dtype=dtype,
                                        name=scope)


def histogram_fixed_width_bins(values, value_range, nbins=100,
                               dtype=dtypes.int32, name=None):
    """For each value the part of value_range, of nbins equal ones, that it is
    in; the first or last for those outside. The result is of type int32."""
    with name_scope(name, "histogram_fixed_width_bins",
                    [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = _array.shape(values)
        values = _array.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = _math.cast(convert_to_tensor(nbins, dtype=dtypes.int32,
                                             name="nbins"), values.dtype)
        scaled = _math.truediv(values - value_range[0],
                               value_range[1] - value_range[0])
        bins = clip_by_value(_math.floor(nbins * scaled), 0, nbins - 1)
        return _array.reshape(_math.cast(bins, dtypes.int32), shape)


# Segments.

def _segment_counts(data, segment_ids, num_segments):
    """How many slices each segment has, at least 1, in a shape that broadcasts
    with the segments."""
    if data._rank() is not None and segment_ids._rank() is not None:
        ones = _array.ones(_array.shape(segment_ids), dtype=data.dtype)
        counts = _raw.UnsortedSegmentSum(ones, segment_ids, num_segments)
        return _math.maximum(_array.reshape(counts, [num_segments] + [1] * (
            data._rank() - segment_ids._rank())), 1)
    num_segments = convert_to_tensor(num_segments)
    ids_shape = _array.shape(segment_ids)
    flat = _array.reshape(segment_ids, [-1])
    counts = _raw.UnsortedSegmentSum(
        _array.ones_like(flat, dtype=data.dtype), flat, num_segments)
    more = _array.rank(data) - _array.size(ids_shape)
    counts = _array.reshape(counts, _array.concat(
        [[num_segments], _array.ones(_array.reshape(more, [1]),
                                     num_segments.dtype)], 0))
    return _math.maximum(counts, 1)


@dispatched
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The means of the slices with each id; 0 for ids that none has. Slices
    with negative ids are left out."""
    with name_scope(name, "UnsortedSegmentMean"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return _raw.UnsortedSegmentSum(data, segment_ids, num_segments) / counts


@dispatched
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sums of the slices with each id, divided by the root of their
    number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return (_raw.UnsortedSegmentSum(data, segment_ids, num_segments)
                / _math.sqrt(counts))


def _sparse_segments(op_type, doc):
    op = getattr(_raw, op_type)
    op_with_number = getattr(_raw, op_type + "WithNumSegments")

    def function(data, indices, segment_ids, name=None, num_segments=None):
        if num_segments is None:
            return op(data, indices, segment_ids, name=name)
        return op_with_number(data, indices, segment_ids, num_segments,
                              name=name)
    function.__doc__ = doc + """ of the rows of `data` at `indices` that have
    the same segment id. The ids are sorted; num_segments makes more rows than
    there are ids, zeros."""
    return function


sparse_segment_sum = _sparse_segments("SparseSegmentSum", "The sums")
sparse_segment_mean = _sparse_segments("SparseSegmentMean", "The means")
sparse_segment_sqrt_n = _sparse_segments(
    "SparseSegmentSqrtN", "The sums, divided by the root of their number,")
for _function, _name in ((sparse_segment_sum, "sparse_segment_sum"),
                         (sparse_segment_mean, "sparse_segment_mean"),
                         (sparse_segment_sqrt_n, "sparse_segment_sqrt_n")):
    _function.__name__ = _function.__qualname__ = _name


# Functions of numbers.

def lbeta(x, name=None):
    """The logarithm of the absolute value of the beta function of the numbers
    in the last dimension: sum(lgamma(x)) - lgamma(sum(x))."""
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        logs = _math.reduce_sum(_raw.Lgamma(x), axis=[-1])
        return logs - _raw.Lgamma(_math.reduce_sum(x, axis=[-1]))


def polyval(coeffs, x, name=None):
    """The polynomial with the list `coeffs`, highest power first, at x."""
    with name_scope(name, "polyval"):
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return _array.zeros_like(x, name=name)
        coeffs = [convert_to_tensor(c, name="coeff_%d" % i)
                  for i, c in enumerate(coeffs)]
        value = coeffs[0]
        for c in coeffs[1:]:
            value = c + value * x
        return value


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """log(cumsum(exp(x))) along `axis`, without overflow."""
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        return _raw.CumulativeLogsumexp(x, axis, exclusive=exclusive,
                                        reverse=reverse, name=scope)


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the sum of squares over dimensions."""
    x = convert_to_tensor(input_tensor)
    out = _raw.EuclideanNorm(x, _math._axis(x, axis, None),
                             keep_dims=bool(keepdims), name=name)
    if axis is None and not keepdims:
        out.set_shape([])
    return out


def multiply_no_nan(x, y, name=None):
    """x * y, and 0 where y is 0, whatever x is."""
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        return _raw.MulNoNan(x, y, name=scope)


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return _raw.DivNoNan(constant(1, x.dtype.base_dtype, name="one"), x,
                             name=scope)


def nextafter(x1, x2, name=None):
    """The next number after x1 towards x2."""
    return _raw.NextAfter(x1, x2, name=name)


def clip_by_average_norm(t, clip_norm, name=None):
    """t, scaled down to a norm a number of its elements of clip_norm where that
    is larger."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = _math.cast(_array.size(t), dtypes.float32)
        inverse = _math.rsqrt(_math.reduce_sum(
            t * t, _math.range(_array.rank(t))))
        return _raw.Identity(
            t * clip_norm * _math.minimum(inverse * count,
                                          constant(1.0) / clip_norm),
            name=scope)


def sparse_matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False,
                  b_is_sparse=False, name=None):
    """The product of matrices of which many elements are 0."""
    return _raw.SparseMatMul(a, b, transpose_a=transpose_a,
                             transpose_b=transpose_b, a_is_sparse=a_is_sparse,
                             b_is_sparse=b_is_sparse, name=name)


def to_complex64(x, name="ToComplex64"):
    return _math.cast(x, dtypes.complex64, name)


def to_complex128(x, name="ToComplex128"):
    return _math.cast(x, dtypes.complex128, name)


# Sorting.

def _direction(direction):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError("%s should be one of ASCENDING, DESCENDING"
                         % (direction,))
    return direction == "ASCENDING"


def _sorted(values, axis, ascending, part):
    """The values in order along `axis` (part 0), or their indices (part 1);
    equal ones as they come."""
    axis = convert_to_tensor(axis, dtype=dtypes.int32, name="axis")
    at = _known_axis(axis)
    values = convert_to_tensor(values, name="values")
    n = values._rank()
    last = n is not None and -n <= at < n and at in (-1, n - 1)
    if ascending:
        values = _reversed_order(values)
    count = _array.shape(values)[at]
    _array.rank(values)  # a node that TensorFlow makes too
    order = None if at == -1 or last else _swapped(values, at)
    if order is not None:
        values = _array.transpose(values, order)
    out = _raw.TopKV2(values, count)[part]
    if order is not None:
        out = _array.transpose(out, order)
    return _reversed_order(out) if ascending and part == 0 else out


def _swapped(values, at):
    """The order of the dimensions with number `at` in the place of the last."""
    n = values._rank()
    if n is not None:
        order = list(range(n))
        order[at], order[-1] = order[-1], order[at]
        return constant(order, dtypes.int32, name="transposition")
    rank = _array.rank(values)
    at = at + rank if at < 0 else at
    order = _math.range(rank)
    order = _array.where_v2(_math.equal(order, at), rank - 1, order)
    swapped = _math.equal(_math.range(rank), rank - 1)
    return _array.where_v2(swapped, at, order)


def _reversed_order(x):
    """What is largest where x is smallest. For integers -1 - x, which takes the
    smallest one too."""
    return -x - 1 if x.dtype.is_integer else -x


def _known_axis(axis):
    known = constant_value(axis)
    if known is None or np.ndim(known):
        raise ValueError("axis must be a constant scalar")
    return int(known)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The values in order along `axis`, "ASCENDING" or "DESCENDING"."""
    with name_scope(name, "sort"):
        return _sorted(values, axis, _direction(direction), 0)


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that put the values in order along `axis`; equal ones keep
    their order, asked for by `stable` or not."""
    with name_scope(name, "argsort"):
        return _sorted(values, axis, _direction(direction), 1)


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32,
                 name=None):
    """Where each value goes into its row of sorted_sequence: before equal ones
    for "left", after them for "right"."""
    ops = {"left": _raw.LowerBound, "right": _raw.UpperBound}
    if side not in ops:
        raise ValueError("side must be either 'right' or 'left'.  Saw: %s."
                         % side)
    length = _array.shape(sorted_sequence)[-1]
    count = _array.shape(values)[-1]
    out = ops[side](_array.reshape(sorted_sequence, [-1, length]),
                    _array.reshape(values, [-1, count]), out_type=out_type,
                    name=name)
    return _array.reshape(out, _array.shape(values))
