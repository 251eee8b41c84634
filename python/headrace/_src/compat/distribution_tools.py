"""tensorflow.python.ops.distributions.util: shapes, vectors and parameters of
distributions."""
import functools

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _checks
from headrace._src.control import control_flow as _control
from headrace._src.control.control_flow_ops import with_dependencies
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor, is_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def maybe_get_static_value(x, dtype=None):
    """What is known of the value of a tensor, an array, or None; any other value
    as it is. As an array of `dtype`, if that is given."""
    value = constant_value(x) if is_tensor(x) else x
    if value is None or dtype is None:
        return value
    return np.array(value, dtype)


def prefer_static_value(x):
    """The value as an array if it is known, else the tensor."""
    value = constant_value(x)
    return x if value is None else value


def prefer_static_rank(x):
    """The rank, an array if it is known, else a tensor."""
    return prefer_static_value(_array.rank(x))


def prefer_static_shape(x):
    """The shape, an array if it is known, else a tensor."""
    return prefer_static_value(_array.shape(x))


def prefer_static_broadcast_shape(shape1, shape2,
                                  name="prefer_static_broadcast_shape"):
    """What two shapes become together: a TensorShape if both are known, else a
    tensor."""
    with name_scope(name, values=[shape1, shape2]):
        shapes = [convert_to_tensor(s, dtype=dtypes.int32, name="shape")
                  for s in (shape1, shape2)]
        known = [constant_value(s) for s in shapes]
        if None not in [k if k is None else 0 for k in known]:
            return _array.broadcast_static_shape(*map(TensorShape, known))
        return _array.broadcast_dynamic_shape(*shapes)


def same_dynamic_shape(a, b):
    """A bool scalar: whether two tensors have one shape in the run."""
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    shapes = [_array.shape(a), _array.shape(b)]

    def equal():
        # Vectors of one length, whichever branch is taken.
        return _math.reduce_all(_math.equal(_array.concat(shapes, 0),
                                            _array.concat(shapes[::-1], 0)))
    return _control.cond(_math.equal(_array.rank(a), _array.rank(b)), equal,
                         lambda: constant(False))


def dimension_size(x, axis):
    """The size along an axis, a number if it is known, else a scalar."""
    shape = x.get_shape()
    size = None if shape.ndims is None else shape.as_list()[axis]
    return _array.shape(x)[axis] if size is None else size


def rotate_transpose(x, shift, name="rotate_transpose"):
    """The tensor with its axes `shift` places to the right, around the end."""
    with name_scope(name, values=[x, shift]):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        _checks.assert_integer(shift)
        known = constant_value(shift)
        if x.get_shape().ndims is not None and known is not None:
            rank = x.get_shape().ndims
            if rank < 2 or known % rank == 0:
                return x
            return _array.transpose(x, np.roll(np.arange(rank), known))
        rank = _array.rank(x)
        start = _math.floormod(-shift, rank)
        places = _math.range(0, rank)
        return _array.transpose(x, _array.concat(
            [places[start:], places[:start]], 0))


def pick_vector(cond, true_vector, false_vector, name="pick_vector"):
    """One of two vectors, of lengths that may differ, by a bool scalar.

    Raises:
      TypeError: `cond` is not bool, or the vectors are of two types.
    """
    with name_scope(name, values=(cond, true_vector, false_vector)):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool_:
            raise TypeError("%s.dtype=%s which is not %s"
                            % (cond, cond.dtype, dtypes.bool_))
        known = constant_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        true_vector = convert_to_tensor(true_vector, name="true_vector")
        false_vector = convert_to_tensor(false_vector, name="false_vector")
        if true_vector.dtype != false_vector.dtype:
            raise TypeError("%s.dtype=%s does not match %s.dtype=%s" % (
                true_vector, true_vector.dtype, false_vector,
                false_vector.dtype))
        n = _array.shape(true_vector)[0]
        both = _array.concat([true_vector, false_vector], 0)
        return _array.slice(both, [_array.where(cond, 0, n)],
                            [_array.where(cond, n, -1)])


def log_combinations(n, counts, name="log_combinations"):
    """The log of n! over the product of counts!, along the last axis."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        return _raw.Lgamma(x=n + 1) - _math.reduce_sum(
            _raw.Lgamma(x=counts + 1), axis=[-1])


def assert_symmetric(matrix):
    """The matrix, after a check that it is its own transpose."""
    return with_dependencies(
        [_checks.assert_equal(matrix, _array.matrix_transpose(matrix))], matrix)


def assert_integer_form(x, data=None, summarize=None, message=None,
                        int_dtype=None, name="assert_integer_form"):
    """An operation that fails in the run unless all numbers are whole.

    Raises:
      TypeError: x has another type than float16, float32, float64 and no
        int_dtype says what to compare with.
    """
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return _raw.NoOp()
        message = message or "%s has non-integer components" % x
        if int_dtype is None:
            try:
                int_dtype = {dtypes.float16: dtypes.int16,
                             dtypes.float32: dtypes.int32,
                             dtypes.float64: dtypes.int64}[x.dtype.base_dtype]
            except KeyError:
                raise TypeError("Unrecognized type %s" % x.dtype.name) from None
        return _checks.assert_equal(
            x, _math.cast(_math.cast(x, int_dtype), x.dtype), data=data,
            summarize=summarize, message=message, name=name)


def _checked_probs(probs, multidimensional):
    one = constant(1., probs.dtype)
    checks = [_checks.assert_non_negative(probs, message="probs is negative")]
    if multidimensional:
        checks.append(_checks.assert_near(
            _math.reduce_sum(probs, -1), one,
            message="probs does not sum to 1."))
    else:
        checks.append(_checks.assert_less_equal(
            probs, one, message="probs has components greater than 1."))
    return with_dependencies(checks, probs)


def get_logits_and_probs(logits=None, probs=None, multidimensional=False,
                         validate_args=False, name="get_logits_and_probs",
                         dtype=None):
    """Both of logits and probabilities, of which one is given: of classes along
    the last axis if `multidimensional`, else of single events.

    Raises:
      ValueError: both are given, or none.
      TypeError: logits are no floating numbers.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            inverse = (functools.partial(_raw.Softmax, name="probs")
                       if multidimensional
                       else functools.partial(_raw.Sigmoid, name="probs"))
            return logits, inverse(logits)
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        if validate_args:
            probs = _checked_probs(probs, multidimensional)
        with name_scope("logits"):
            if multidimensional:
                return _raw.Log(probs), probs
            return _raw.Log(probs) - _raw.Log1p(-probs), probs
