"""Checks of values, types and shapes: tf.assert_* and tf.debugging.

A check that the graph already answers raises when it is made; any other becomes
an operation that fails in the run.
"""
import collections.abc
import operator

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor, executing_eagerly
from headrace._loading import load
from headrace._src.control.control_flow import Assert
from headrace._src.control.control_flow_ops import group, with_dependencies
from headrace._src.framework import dtypes
from headrace._src.framework.errors import InvalidArgumentError
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import (
    constant_value, convert_to_tensor, is_tensor)
from headrace._src.framework.tensor_shape import dimension_value
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

_KNOWN = "static_checks_determined_all_ok"


def _name(x):
    return "" if isinstance(x, EagerTensor) else x.name


def _fail(data):
    """Raises what the run would raise, with the values that are known."""
    known = [constant_value(d) if is_tensor(d) else d for d in data]
    raise InvalidArgumentError(None, None, "\n".join(
        str(d if v is None else v) for d, v in zip(data, known)))


# Pairs of values.

def _compare(op, name, sign, x, y, data, summarize, message, scope):
    test, known_test = op
    if executing_eagerly():
        return load("_src.eager.control").compare(
            test, sign, x, y, data, summarize, message)
    with name_scope(scope, name, [x, y]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if data is None:
            data = ["Condition x %s y did not hold element-wise:" % sign,
                    "x (%s) = " % _name(x), x, "y (%s) = " % _name(y), y]
        if message is not None:
            data = [message, *data]
        holds = _math.reduce_all(test(x, y))
        known_x, known_y = constant_value(x), constant_value(y)
        if known_x is not None and known_y is not None and not np.all(
                known_test(known_x, known_y)):
            _fail(data)
        return Assert(holds, data, summarize)


_EQUAL = _raw.Equal, np.equal
_NOT_EQUAL = _raw.NotEqual, np.not_equal
_LESS = _raw.Less, np.less
_LESS_EQUAL = _raw.LessEqual, np.less_equal
_GREATER = _raw.Greater, np.greater
_GREATER_EQUAL = _raw.GreaterEqual, np.greater_equal


def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An Operation that fails unless x == y everywhere; InvalidArgumentError at
    once where the values are known, as for all of these.

    x and y: of one type, of shapes that broadcast. `data`: what the message
    shows, by default x and y. Returns an Operation, None from a run. TypeError
    or ValueError for different types."""
    with name_scope(name, "assert_equal", [x, y]):
        if x is y and executing_eagerly():
            return None
        if x is y:
            return _raw.NoOp()
    return _compare(_EQUAL, "assert_equal", "==", x, y, data, summarize,
                    message, name)


def _comparison(check, default, sign):
    def compare(x, y, data=None, summarize=None, message=None, name=None):
        return _compare(check, default, sign, x, y, data, summarize, message,
                        name)
    return _called(compare, default, """Fails unless x %s y everywhere.

    x and y: numbers of one type, of shapes that broadcast. Returns an Operation; the
    run fails with InvalidArgumentError, at once where the values are known, as in
    assert_equal. TypeError or ValueError for different types.""" % sign)


def _called(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


assert_none_equal = _comparison(_NOT_EQUAL, "assert_none_equal", "!=")
assert_less = _comparison(_LESS, "assert_less", "<")
assert_less_equal = _comparison(_LESS_EQUAL, "assert_less_equal", "<=")
assert_greater = _comparison(_GREATER, "assert_greater", ">")
assert_greater_equal = _comparison(_GREATER_EQUAL, "assert_greater_equal",
                                   ">=")


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None,
                message=None, name=None):
    """Fails unless |x - y| <= atol + rtol * |y| everywhere. Both tolerances are
    by default ten times the distance from 1 to the next number of the type."""
    with name_scope(name, "assert_near", [x, y, rtol, atol]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        if x.dtype.base_dtype == dtypes.bfloat16:
            step = 2.0 ** -7
        else:
            # ValueError for types without a next number.
            step = np.finfo(x.dtype.as_numpy_dtype).eps
        kind = (x.dtype.real_dtype if x.dtype.is_complex
                else x.dtype.base_dtype)
        rtol = convert_to_tensor(10 * step if rtol is None else rtol,
                                 dtype=kind, name="rtol")
        atol = convert_to_tensor(10 * step if atol is None else atol,
                                 dtype=kind, name="atol")
        if data is None:
            data = [message or "", "x and y not equal to tolerance rtol = %s, "
                    "atol = %s" % (rtol, atol), "x (%s) = " % _name(x), x,
                    "y (%s) = " % _name(y), y]
        distance = _math.abs(x - y)
        allowed = atol + rtol * _math.abs(y)
        return Assert(_math.reduce_all(_raw.LessEqual(distance, allowed)), data,
                      summarize)


# The sign of values.

def _sign_check(default, sign, check):
    """`check` gets x, zero, data and summarize."""
    def compare(x, data=None, summarize=None, message=None, name=None):
        with name_scope(name, default, [x]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [message or "", "Condition x %s 0 did not hold "
                        "element-wise:" % sign, "x (%s) = " % _name(x), x]
            zero = convert_to_tensor(0, dtype=x.dtype.base_dtype)
            return check(x, zero, data, summarize)
    return _called(compare, default, """Fails unless x %s 0 everywhere.

    x: real numbers of any shape. Returns an Operation; the run fails with
    InvalidArgumentError, at once where the values are known, as in assert_equal.
    TypeError for what cannot become a tensor.""" % sign)


# 0 < x for x > 0, as in TensorFlow: the node's name and order of inputs tell.
assert_negative = _sign_check("assert_negative", "<", assert_less)
assert_positive = _sign_check(
    "assert_positive", ">", lambda x, zero, *more: assert_less(zero, x, *more))
assert_non_negative = _sign_check(
    "assert_non_negative", ">=",
    lambda x, zero, *more: assert_less_equal(zero, x, *more))
assert_non_positive = _sign_check("assert_non_positive", "<=",
                                  assert_less_equal)


# Ranks.

def _known_rank(rank):
    """The rank as a number, or None; errors if it can be none."""
    if rank.dtype.base_dtype != dtypes.int32:
        raise TypeError("  %s must be of type %s" % (_name(rank), dtypes.int32))
    known = constant_value(rank)
    if known is None:
        return None
    if known.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(known)


def _assert_rank(x, ranks, what, known_test, test, data, summarize, message):
    """A NoOp if the test of the rank is known to hold."""
    known = [_known_rank(r) for r in ranks]
    rank = x._rank()
    if rank is not None and None not in known:
        if not known_test(rank, known):
            wanted = known[0] if what != "in" else tuple(known)
            raise ValueError(
                "%s.  Tensor %s must have rank %s%s.  Received rank %d, shape "
                "%s" % (message, _name(x), what + " " if what else "", wanted,
                        rank, x.get_shape()))
        return _raw.NoOp(name=_KNOWN)
    if data is None:
        data = ([message, "Tensor %s must have rank%s"
                 % (_name(x), " " + what if what else "")] + ranks
                + ["Received shape: ", _array.shape(x)])
    holds = test(_array.rank(x), ranks)
    checks = []
    for r, value in zip(ranks, known):
        if value is None:
            checks.append(assert_rank(r, 0, data=[
                "Rank must be a scalar. Received rank: ", r]))
    if checks:
        holds = with_dependencies(checks, holds)
    return Assert(holds, data, summarize)


def _assert_one_rank(default, what, known_test, op, x, rank, data, summarize,
                     message, name):
    with name_scope(name, default, [x, rank]):
        x = convert_to_tensor(x, name="x")
        rank = convert_to_tensor(rank, name="rank")
        return _assert_rank(
            x, [rank], what, lambda r, known: known_test(r, known[0]),
            lambda r, wanted: op(r, wanted[0]), data, summarize,
            message or "")


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """Fails unless x has this rank; ValueError at once if it is known to have
    another, as for all checks of ranks."""
    return _assert_one_rank("assert_rank", "", operator.eq, _raw.Equal, x,
                            rank, data, summarize, message, name)


def assert_rank_at_least(x, rank, data=None, summarize=None, message=None,
                         name=None):
    """Fails unless x has at least this rank."""
    return _assert_one_rank("assert_rank_at_least", "at least", operator.ge,
                            _raw.GreaterEqual, x, rank, data, summarize,
                            message, name)


def assert_rank_in(x, ranks, data=None, summarize=None, message=None,
                   name=None):
    """Fails unless x has one of these ranks."""
    with name_scope(name, "assert_rank_in",
                    [x] + list(ranks)):
        x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(r, name="rank") for r in ranks]

        def any_of(rank, wanted):
            hits = [_raw.Equal(rank, w) for w in wanted]
            total = hits[0] if hits else convert_to_tensor(False)
            for hit in hits[1:]:
                total = _raw.LogicalOr(total, hit)
            return total
        return _assert_rank(x, ranks, "in", lambda r, known: r in known, any_of,
                            data, summarize, message or "")


# Types.

def assert_integer(x, message=None, name=None):
    """A NoOp; TypeError unless x is of an integer type."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                '%s  Expected "x" to be integer type.  Found: %s of dtype %s'
                % (message or "", _name(x), x.dtype))
        return _raw.NoOp(name="statically_determined_was_integer")


def assert_type(tensor, tf_type, message=None, name=None):
    """A NoOp; TypeError unless `tensor` is of type `tf_type`."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError("%s  %s must be of type %s"
                            % (message or "", _name(tensor), tf_type))
        return _raw.NoOp(name="statically_determined_correct_type")


def assert_same_float_dtype(tensors=None, dtype=None):
    """The floating-point type that `tensors` and `dtype` have in common,
    float32 if there are none; ValueError if there is no such type."""
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        kind = tensor.dtype.base_dtype
        if dtype is None:
            first, dtype = tensor, kind
        elif kind != dtypes.as_dtype(dtype).base_dtype:
            raise ValueError(
                "%s, type=%s, must be of the same type (%s)%s."
                % (_name(tensor), kind, dtypes.as_dtype(dtype),
                   "" if first is None else " as %s" % _name(first)))
    dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got %s." % dtype)
    return dtype


# Those that TensorFlow 1.15 counts.
_NUMERIC = (dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16,
            dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.qint8,
            dtypes.qint32, dtypes.quint8, dtypes.complex64)


def is_numeric_tensor(tensor):
    """True for a Tensor (no variable, no value) of the commoner types of
    numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in _NUMERIC


def assert_proper_iterable(values):
    """TypeError for what is not iterable, and for what is but holds no values
    one by one: tensors, arrays, strings."""
    bad = (Tensor, np.ndarray, bytes, str)
    if isinstance(values, bad) or hasattr(values, "dense_shape"):
        raise TypeError('Expected argument "values" to be a "proper" iterable. '
                        " Found: %s" % type(values))
    if not hasattr(values, "__iter__"):
        raise TypeError('Expected argument "values" to be iterable.  Found: %s'
                        % type(values))


# Order.

def _steps(x):
    """Differences of neighbours in the flattened x. TypeError if they are no
    numbers."""
    if not is_numeric_tensor(x):
        raise TypeError("Expected x to be numeric, instead found: %s" % x)
    flat = _array.reshape(x, [-1])
    return flat[1:] - flat[:-1]


def is_non_decreasing(x, name=None):
    """Whether no element is smaller than the one before it, in row-major
    order."""
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(convert_to_tensor(x, name="x"))
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return _math.reduce_all(_raw.LessEqual(zero, steps))


def is_strictly_increasing(x, name=None):
    """Whether every element is larger than the one before it."""
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(convert_to_tensor(x, name="x"))
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return _math.reduce_all(_raw.Less(zero, steps))


# Shapes.

def assert_scalar(tensor, name=None, message=None):
    """`tensor`, converted; ValueError unless it is known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor._rank() != 0:
            raise ValueError("%sExpected scalar shape for %s, saw shape: %s."
                             % (message or "", _name(tensor),
                                tensor.get_shape()))
        return tensor


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Fails unless tensors have shapes that fit each other.

    `shapes`: a dictionary or pairs of a tensor and its shape, a sequence of
    sizes, of names (a name is one size everywhere) and of None for any size. A
    first entry of "..." or "*" stands for any number of dimensions. A scalar
    counts as a vector of one element. ValueError at once if a rank or size is
    known to be wrong."""
    pairs = shapes.items() if isinstance(shapes, collections.abc.Mapping) else (
        shapes)
    message = message or ""
    with name_scope(name, "assert_shapes"):
        wanted = [(_tensor_of(x), shape) for x, shape in pairs
                  if shape is not None]
        wanted = [(x, _symbols(x, shape, message)) for x, shape in wanted]
        checks = []
        for x, (symbols, any_more) in wanted:
            if any_more:
                continue
            if len(symbols) == 1:
                checks.append(assert_rank_in(x, [0, 1], data, summarize,
                                             message))
            else:
                checks.append(assert_rank(x, len(symbols), data, summarize,
                                          message))
        with control_dependencies(checks):
            checks += _check_sizes(wanted, data, summarize, message)
            return group(*checks)


def _tensor_of(x):
    return x if is_tensor(x) else convert_to_tensor(x)


def _symbols(x, shape, message):
    """(sizes and names, whether more dimensions may stand before them)."""
    if not hasattr(shape, "__iter__") and not hasattr(shape, "__getitem__"):
        raise ValueError(
            "%s.  Tensor %s.  Specified shape must be an iterable.  An "
            "iterable has the attribute `__iter__` or `__getitem__`.  Received "
            "specified shape: %s" % (message, _name(x), shape))
    symbols = [dimension_value(s) for s in shape]
    any_more = bool(symbols) and _stands_for_more(symbols[0])
    symbols = symbols[1:] if any_more else symbols
    for i, symbol in enumerate(symbols):
        if symbol == "*" or symbol is Ellipsis:
            raise ValueError(
                "%s.  Tensor %s specified shape index %d.  Symbol `...` or `*` "
                "for a variable number of unspecified dimensions is only "
                "allowed as the first entry" % (message, _name(x), i + any_more))
    return symbols or [1], any_more


def _stands_for_more(symbol):
    return symbol is Ellipsis or symbol == "*"


def _check_sizes(wanted, data, summarize, message):
    """Checks of sizes against numbers and against where a name came first."""
    checks, first = [], {}
    for x, (symbols, any_more) in wanted:
        for i, symbol in enumerate(symbols):
            at = i - len(symbols) if any_more else i
            size = _size_at(x, at, len(symbols), any_more)
            if symbol is None:
                continue
            try:
                expected, source = int(symbol), "Specified explicitly"
            except (TypeError, ValueError):
                if symbol not in first:
                    first[symbol] = (size, "Specified by tensor %s dimension %d"
                                     % (_name(x), at))
                    continue
                expected, source = first[symbol]
            if isinstance(size, int) and isinstance(expected, int):
                if size != expected:
                    raise ValueError(
                        "%s.  %s.  Tensor %s dimension %d must have size %d.  "
                        "Received size %d, shape %s"
                        % (message, source, _name(x), at, expected, size,
                           x.get_shape()))
                continue
            shown = data
            if data is None:
                shown = [message, source, "Tensor %s dimension" % _name(x), at,
                         "must have size", expected, "Received shape: ",
                         _array.shape(x)]
            checks.append(Assert(_raw.Equal(size, expected), shown, summarize))
    return checks


def _size_at(x, at, count, any_more):
    """The size of a dimension, a number or a tensor; a scalar has size 1."""
    shape = x.get_shape()
    if shape.ndims == 0:
        return 1
    if shape.ndims is not None:
        return _array._size_of_axis(x, at)
    if count == 1 and not any_more:
        return _math.reduce_prod(_array.shape(x))  # of rank 0 or 1
    if any_more:  # A one before the sizes is there for scalars only.
        return _array.concat([[1], _array.shape(x)], 0)[at]
    return _array.shape(x)[at]
