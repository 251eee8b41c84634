"""What ordinary functions do with ragged tensors, by their names: those of ops
that take tensors, and of functions that are `dispatched`."""
import inspect

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import string_ops as _strings
from headrace._src.ragged import partitions as _rows
from headrace._src.ragged import ragged_arrays as _arrays
from headrace._src.ragged import ragged_math as _ragged_math
from headrace._src.ragged.broadcasting import broadcast
from headrace._src.ragged.ragged_tensor import (
    convert, is_ragged, same_partition_dtype)

# Their first argument may be ragged.
_UNARY = """
    abs angle cast clip_by_value conj erf identity imag log_sigmoid negative
    ones_like real regex_full_match regex_replace round saturate_cast sign sqrt
    square string_length string_to_hash_bucket string_to_number substr
    zeros_like
    Acos Acosh AsString Asin Asinh Atan Atanh Ceil CheckNumerics Cos Cosh
    DecodeBase64 DecodeCompressed Digamma EncodeBase64 Erfc Exp Expm1 Floor
    Invert IsFinite IsInf IsNan Lgamma Log Log1p LogicalNot Reciprocal Rint
    Rsqrt Sin Sinh StringStrip StringToHashBucketFast StringToHashBucketStrong
    Tan UnicodeScript""".split()

# Their first argument is a list of tensors, which may be ragged.
_LISTS = "add_n string_join".split()

# Their first two arguments may be ragged; the shapes are broadcast.
_BINARY = """
    complex div_no_nan divide _truediv
    Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Equal FloorDiv FloorMod
    Greater GreaterEqual LeftShift Less LessEqual LogicalAnd LogicalOr Maximum
    Minimum Mul NotEqual Pow RealDiv RightShift SquaredDifference Sub
    TruncateDiv TruncateMod""".split()


_TENSORS = Tensor, int, float, str, bytes, np.ndarray, np.generic


def dispatch(name, function, args, kwargs):
    """function(*args, **kwargs) for ragged arguments, or NotImplemented."""
    handler = _HANDLERS.get(name)
    if handler is None:
        return NotImplemented
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return NotImplemented
    return handler(function, given)


def _any_ragged(values):
    """Whether some are ragged and the others can be tensors."""
    found = False
    for value in values:
        if is_ragged(value):
            found = True
        elif value is not None and not isinstance(value, _TENSORS):
            try:
                convert_to_tensor(value)
            except (TypeError, ValueError):
                return False
    return found


# Elementwise.

def _unary(function, given):
    name, x = next(iter(given.items()))
    if not is_ragged(x):
        return NotImplemented
    x = convert(x)
    return x.with_flat_values(function(**{**given, name: x.flat_values}))


def _of_list(function, given):
    name, values = next(iter(given.items()))
    if not isinstance(values, (list, tuple)) or not _any_ragged(values):
        return NotImplemented
    values = [convert(x) if is_ragged(x) else x for x in values]
    same_partition_dtype(*values)
    ragged = [x for x in values if is_ragged(x)]
    checks = _rows.check_same(*[x.nested_row_splits for x in ragged])
    flat = [x.flat_values if is_ragged(x) else x for x in values]
    with control_dependencies(checks):
        return ragged[0].with_flat_values(function(**{**given, name: flat}))


def _binary(function, given):
    (x_name, x), (y_name, y) = list(given.items())[:2]
    if not _any_ragged([x, y]) or x is None or y is None:
        return NotImplemented
    x, y = (convert(v) if is_ragged(v) else v for v in (x, y))
    if not is_ragged(x):
        x = convert_to_tensor(x, name=x_name, dtype_hint=y.dtype.base_dtype)
    if not is_ragged(y):
        y = convert_to_tensor(y, name=y_name, dtype_hint=x.dtype.base_dtype)

    def apply(x_values, y_values):
        return function(**{**given, x_name: x_values, y_name: y_values})

    if not is_ragged(y) and _is_inner(y, x):
        return x.with_flat_values(apply(x.flat_values, y))
    if not is_ragged(x) and _is_inner(x, y):
        return y.with_flat_values(apply(x, y.flat_values))
    x_values, y_values, rebuilt = broadcast(x, y)
    return rebuilt(apply(x_values, y_values))


def _is_inner(dense, ragged):
    """Whether all dimensions of `dense` meet uniform inner ones."""
    ranks = dense.get_shape().ndims, ragged.flat_values.get_shape().ndims
    return ranks[0] == 0 or None not in ranks and ranks[0] < ranks[1]


# Others. Each takes the arguments by their names.

def _handler(*tensors):
    """For a function of the arguments, which is called if one of `tensors` is
    ragged. A name that ends with "s" and holds a list stands for its items."""
    def decorate(function):
        def handle(_, given):
            values = []
            for name in tensors:
                value = given.get(name)
                values += value if isinstance(value, (list, tuple)) and any(
                    map(is_ragged, value)) else [value]
            if not _any_ragged(values):
                return NotImplemented
            return function(**given)
        return handle
    return decorate


def _one_of(new_name, new, old_name, old):
    if new is not None and old is not None:
        raise ValueError("Cannot specify both '%s' and '%s'"
                         % (old_name, new_name))
    return old if new is None else new


@_handler("values")
def _concat(values, axis, name="concat"):
    return _arrays.concat(values, axis, name)


@_handler("values")
def _stack(values, axis=0, name="stack"):
    return _arrays.stack(values, axis, name)


@_handler("params", "indices")
def _gather(params, indices, validate_indices=None, name=None, axis=None,
            batch_dims=0):
    _only_outermost(axis, batch_dims)
    return _arrays.gather(params, indices, name)


@_handler("params", "indices")
def _gather_nd(params, indices, name=None, batch_dims=0):
    _only_outermost(0, batch_dims)
    return _arrays.gather_nd(params, indices, name)


def _only_outermost(axis, batch_dims):
    for what, value in ("axis", axis or 0), ("batch_dims", batch_dims):
        if not isinstance(value, int) or value != 0:
            raise ValueError("a gather with ragged arguments takes %s=0 only, "
                             "got %r" % (what, value))


@_handler("params", "indices")
def _batch_gather(params, indices, name=None):
    return _arrays.batch_gather(params, indices, name)


@_handler("input")
def _expand_dims(input, axis=None, name=None, dim=None):
    return _arrays.expand_dims(input, _one_of("axis", axis, "dim", dim), name)


@_handler("input")
def _squeeze(input, axis=None, name=None, squeeze_dims=None):
    axis = _one_of("axis", axis, "squeeze_dims", squeeze_dims)
    return _arrays.squeeze(input, axis, name)


@_handler("input")
def _size(input, name=None, out_type=None):
    kind = {} if out_type is None else {"out_type": out_type}
    return _array.size(input.flat_values, name=name, **kind)


@_handler("input")
def _rank(input, name=None):
    return _arrays.rank(input, name)


@_handler("input")
def _tile(input, multiples, name=None):
    return _arrays.tile(input, multiples, name)


@_handler("indices")
def _one_hot(indices, depth, **options):
    return _arrays.one_hot(indices, depth, **options)


@_handler("condition", "x", "y")
def _where(condition, x=None, y=None, name=None):
    return _arrays.where(condition, x, y, name)


@_handler("data", "partitions")
def _dynamic_partition(data, partitions, num_partitions, name=None):
    return _arrays.dynamic_partition(data, partitions, num_partitions, name)


def _segments(op, default_name):
    @_handler("data", "segment_ids")
    def handle(data, segment_ids, num_segments, name=None):
        return _ragged_math.segments(op, data, segment_ids, num_segments,
                                     name or default_name)
    return handle


@_handler("data", "segment_ids")
def _segment_mean(data, segment_ids, num_segments, name=None):
    return _ragged_math.segment_mean(data, segment_ids, num_segments)


@_handler("data", "segment_ids")
def _segment_sqrt_n(data, segment_ids, num_segments, name=None):
    return _ragged_math.segment_mean(data, segment_ids, num_segments,
                                     _math.sqrt)


# Reductions.

def _axis_of(axis, reduction_indices, keepdims, keep_dims):
    if _one_of("keepdims", keepdims, "keep_dims", keep_dims):
        raise ValueError("a reduction of a RaggedTensor takes no "
                         "keepdims=True; see tf.expand_dims")
    return _one_of("axis", axis, "reduction_indices", reduction_indices)


def _reduction(reduce):
    """A handler that calls reduce(value, axis, name)."""
    @_handler("input_tensor")
    def handle(input_tensor, axis=None, keepdims=None, name=None,
               reduction_indices=None, keep_dims=None):
        axis = _axis_of(axis, reduction_indices, keepdims, keep_dims)
        value = convert(input_tensor)
        if isinstance(axis, (list, tuple)) and not axis:
            return value
        return reduce(value, axis, name)
    return handle


def _plain_reduction(whole, op, default_name):
    return _reduction(lambda value, axis, name: _ragged_math.reduce(
        whole, op, value, axis, name or default_name))


def _bool_reduction(whole, op):
    return _reduction(lambda value, axis, name: _ragged_math.reduce_bools(
        whole, op, value, axis, name))


@_handler("inputs")
def _reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None,
                 reduction_indices=None, keepdims=None):
    axis = _axis_of(axis, reduction_indices, keepdims, keep_dims)
    return _ragged_math.reduce(
        lambda x, a, name=None: _strings.reduce_join(
            x, a, separator=separator, name=name),
        lambda x, ids, n: _raw.UnsortedSegmentJoin(x, ids, n,
                                                   separator=separator),
        convert(inputs), axis, name)


_HANDLERS = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_LISTS, _of_list),
    **dict.fromkeys(_BINARY, _binary),
    "concat": _concat, "stack": _stack, "gather": _gather,
    "gather_nd": _gather_nd, "batch_gather": _batch_gather,
    "expand_dims": _expand_dims, "squeeze": _squeeze, "size": _size,
    "rank": _rank, "tile": _tile, "one_hot": _one_hot, "where": _where,
    "DynamicPartition": _dynamic_partition,
    "UnsortedSegmentSum": _segments(_raw.UnsortedSegmentSum,
                                    "RaggedSegmentSum"),
    "UnsortedSegmentProd": _segments(_raw.UnsortedSegmentProd,
                                     "RaggedSegmentProd"),
    "UnsortedSegmentMin": _segments(_raw.UnsortedSegmentMin,
                                    "RaggedSegmentMin"),
    "UnsortedSegmentMax": _segments(_raw.UnsortedSegmentMax,
                                    "RaggedSegmentMax"),
    "unsorted_segment_mean": _segment_mean,
    "unsorted_segment_sqrt_n": _segment_sqrt_n,
    "reduce_sum": _plain_reduction(_math.reduce_sum, _raw.UnsortedSegmentSum,
                                   "RaggedReduceSum"),
    "reduce_prod": _plain_reduction(
        _math.reduce_prod, _raw.UnsortedSegmentProd, "RaggedReduceProd"),
    "reduce_min": _plain_reduction(_math.reduce_min, _raw.UnsortedSegmentMin,
                                   "RaggedReduceMin"),
    "reduce_max": _plain_reduction(_math.reduce_max, _raw.UnsortedSegmentMax,
                                   "RaggedReduceMax"),
    "reduce_all": _bool_reduction(_math.reduce_prod, _raw.UnsortedSegmentProd),
    "reduce_any": _bool_reduction(_math.reduce_sum, _raw.UnsortedSegmentSum),
    "reduce_mean": _reduction(_ragged_math.reduce_mean),
    "reduce_join": _reduce_join,
}
