"""tensorflow.python.ops.distributions.util: shapes, vectors and parameters of
distributions."""
import functools
import inspect

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _checks
from headrace._src.control import control_flow as _control
from headrace._src.control.control_flow_ops import with_dependencies
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
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


def _most(dtype):
    """The largest whole number up to which the type holds all of them."""
    if dtype.base_dtype == dtypes.bool_:
        return 1
    if dtype.is_floating and dtype.as_numpy_dtype in (
            np.float16, np.float32, np.float64):
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    if dtype.base_dtype in (dtypes.uint8, dtypes.uint16, dtypes.int8,
                            dtypes.int16, dtypes.int32, dtypes.int64):
        return int(np.iinfo(dtype.as_numpy_dtype).max)
    raise TypeError("Unrecognized dtype: %s" % dtype.name)


def _least(dtype):
    unsigned = dtype.base_dtype in (dtypes.bool_, dtypes.uint8, dtypes.uint16)
    return 0 if unsigned else -_most(dtype)


def _is_whole(dtype):
    _most(dtype)  # refuses other types
    return dtype.is_integer or dtype.base_dtype == dtypes.bool_


def embed_check_nonnegative_integer_form(
        x, name="embed_check_nonnegative_integer_form"):
    """x, after a check in the run that its numbers are whole and none is
    negative."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        checks = [_checks.assert_non_negative(
            x, message="'{}' must be non-negative.".format(x))]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(
                x, message="'{}' cannot contain fractional components.".format(
                    x)))
        return with_dependencies(checks, x)


def embed_check_categorical_event_shape(
        categorical_param, name="embed_check_categorical_event_shape"):
    """The parameter, after a check that its last axis has two classes or more
    and no more than its type counts exactly. What is not known is checked in
    the run.

    Raises:
      TypeError: for a type that is not of floating numbers.
      ValueError: for a shape that is known to be wrong.
    """
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        if not x.dtype.is_floating:
            raise TypeError("Unable to validate size of unrecognized dtype "
                            "({}).".format(x.dtype.name))
        most = _most(x.dtype)
        no_axis = ("A categorical-distribution parameter must have at least 1 "
                   "dimension.")
        too_few = ("A categorical-distribution parameter must have at least 2 "
                   "events.")
        shape = x.get_shape()
        if shape.ndims == 0:
            raise ValueError(no_axis)
        size = None if shape.ndims is None else shape[-1].value
        if size is not None:
            if size < 2:
                raise ValueError(too_few)
            if size > most:
                raise ValueError(
                    "Number of classes exceeds `dtype` precision, i.e., {} "
                    "implies shape ({}) cannot exceed {}.".format(
                        x.dtype.name, size, most))
            return x
        size = _array.shape(x, name="x_shape")[-1]
        return with_dependencies([
            _checks.assert_rank_at_least(x, 1, message=no_axis),
            _checks.assert_greater_equal(size, 2, message=too_few),
            _checks.assert_less_equal(
                size, min(most, 2 ** 31 - 1),
                message="Number of classes exceeds `dtype` precision, i.e., {} "
                "dtype cannot exceed {} shape.".format(x.dtype.name, most)),
        ], x)


def embed_check_integer_casting_closed(x, target_dtype,
                                       assert_nonnegative=True,
                                       name="embed_check_casting_closed"):
    """x, after a check in the run that its numbers are whole and the same in
    the other type.

    Raises:
      TypeError: for types that are not of numbers, or both of floating ones.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not _is_whole(x.dtype) and not x.dtype.is_floating:
            raise TypeError("{}.dtype must be floating- or integer-type."
                            .format(x.dtype.name))
        if not _is_whole(target_dtype) and not target_dtype.is_floating:
            raise TypeError("target_dtype ({}) must be floating- or "
                            "integer-type.".format(target_dtype.name))
        if not _is_whole(x.dtype) and not _is_whole(target_dtype):
            raise TypeError(
                "At least one of {}.dtype ({}) and target_dtype ({}) must be "
                "integer-type.".format(x, x.dtype.name, target_dtype.name))
        checks = []
        if assert_nonnegative:
            checks.append(_checks.assert_non_negative(
                x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            checks.append(assert_integer_form(
                x, int_dtype=target_dtype,
                message="Elements must be {}-equivalent.".format(
                    target_dtype.name)))
        else:
            most, least = _most(target_dtype), _least(target_dtype)
            if _most(x.dtype) > most:
                checks.append(_checks.assert_less_equal(
                    x, constant(most, x.dtype),
                    message="Elements cannot exceed {}.".format(most)))
            if not assert_nonnegative and _least(x.dtype) < least:
                checks.append(_checks.assert_greater_equal(
                    x, constant(least, x.dtype),
                    message="Elements cannot be smaller than {}.".format(
                        least)))
        return with_dependencies(checks, x) if checks else x


def process_quadrature_grid_and_probs(quadrature_grid_and_probs, dtype,
                                      validate_args, name=None):
    """Points and weights of a quadrature as tensors of `dtype`, the weights
    with a sum of 1; by default eight of Gauss and Hermite.

    Raises:
      ValueError: there are not as many weights as points.
    """
    differ = ("`quadrature_grid_and_probs` must be a `tuple` of same-length "
              "zero-th-dimension `Tensor`s")
    with name_scope(name, "process_quadrature_grid_and_probs",
                    [quadrature_grid_and_probs]):
        if quadrature_grid_and_probs is None:
            grid, probs = np.polynomial.hermite.hermgauss(deg=8)
            probs = probs / np.sum(np.abs(probs))
            return (convert_to_tensor(grid.astype(dtype.as_numpy_dtype),
                                      name="grid", dtype=dtype),
                    convert_to_tensor(probs.astype(dtype.as_numpy_dtype),
                                      name="probs", dtype=dtype))
        grid, probs = quadrature_grid_and_probs
        grid = convert_to_tensor(grid, name="grid", dtype=dtype)
        probs = convert_to_tensor(probs, name="unnormalized_probs",
                                  dtype=dtype)
        probs /= _math.reduce_sum(_math.abs(probs), axis=-1, keepdims=True)
        m, n = dimension_size(probs, -1), dimension_size(grid, -1)
        if is_tensor(m) or is_tensor(n):
            if validate_args:
                with control_dependencies(
                        [_checks.assert_equal(m, n, message=differ)]):
                    return _array.identity(grid), _array.identity(probs)
        elif m != n:
            raise ValueError("{} (saw lengths {}, {})".format(differ, m, n))
        return grid, probs


def pad(x, axis, front=False, back=False, value=0, count=1, name=None):
    """x with `count` times `value` before and behind, as `front` and `back` say,
    along one axis. `axis` and `count` may be tensors.

    Raises:
      TypeError: count is no whole number.
      ValueError: neither front nor back.
    """
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        if not count.dtype.is_integer:
            raise TypeError("`count.dtype` (`{}`) must be `int`-like.".format(
                count.dtype.name))
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        axis = convert_to_tensor(axis, name="axis")
        rank = prefer_static_rank(x)
        place = prefer_static_value(axis)
        known = not is_tensor(place)
        place = (place + rank if place < 0 else place) if known else (
            _array.where(axis < 0, rank + axis, axis))
        paddings = _array.one_hot(
            _array.stack([place if front else -1, place if back else -1]),
            depth=rank, axis=0, on_value=count, dtype=dtypes.int32)
        out = _raw.PadV2(x, paddings, value)
        sizes, times = x.get_shape(), constant_value(count)
        if sizes.ndims is not None and known:
            sizes, place = sizes.as_list(), int(place)
            if None not in (sizes[place], times):
                sizes[place] += int(times) * (bool(front) + bool(back))
            else:
                sizes[place] = None
            out.set_shape(sizes)
        return out


def parent_frame_arguments():
    """The arguments that the function was called with that calls this one, by
    their names: not those of *args, and those of **kwargs."""
    frame = inspect.currentframe()
    names, of_args, of_kwargs, values = inspect.getargvalues(frame.f_back)
    found = {name: values[name] for name in names}
    found.update(values.get(of_kwargs, {}) if of_kwargs else {})
    return found


class AppendDocstring:
    """A decorator that adds a note, and what `kwargs_dict` says of arguments,
    to the docstring of a function. ValueError for names with spaces and texts
    of several lines."""

    def __init__(self, additional_note="", kwargs_dict=None):
        if kwargs_dict:
            texts = {key: kwargs_dict[key].lstrip() for key in kwargs_dict}
            for key, text in texts.items():
                if any(c.isspace() for c in key):
                    raise ValueError(
                        'Parameter name "%s" contains whitespace.' % key)
                if "\n" in text:
                    raise ValueError('Parameter description for "%s" contains '
                                     'newlines.' % key)
            bullets = "\n".join("*  `%s`: %s" % (key, texts[key])
                                for key in sorted(texts))
            additional_note += "\n\n##### `kwargs`:\n\n%s" % bullets
        self._note = additional_note

    def __call__(self, fn):
        @functools.wraps(fn)
        def noted(*args, **kwargs):
            return fn(*args, **kwargs)
        if noted.__doc__ is None:
            noted.__doc__ = self._note
        else:
            noted.__doc__ += "\n%s" % self._note
        return noted
