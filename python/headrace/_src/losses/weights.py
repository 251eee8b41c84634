"""Weights of losses and metrics: scalars, or of the values' rank with
dimensions of 1 where all share a weight."""
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow import Assert
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

MESSAGE = "weights can not be broadcast to values."


def assert_broadcastable(weights, values):
    """An operation that fails unless `weights` fit `values`; ValueError if the
    static shapes tell already."""
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        with name_scope(None, "weights", [weights]) as inner:
            weights = convert_to_tensor(weights, name=inner)
            weights_shape = _array.shape(weights, name="shape")
            weights_rank = _array.rank(weights, name="rank")
        with name_scope(None, "values", [values]) as inner:
            values = convert_to_tensor(values, name=inner)
            values_shape = _array.shape(values, name="shape")
            values_rank = _array.rank(values, name="rank")
        w, v = weights.get_shape(), values.get_shape()
        if w.ndims == 0 and v.ndims is not None:
            return _array.no_op(name="static_scalar_check_success")
        if w.ndims is not None and v.ndims is not None:
            if w.ndims != v.ndims:
                raise ValueError(
                    "%s values.rank=%s. weights.rank=%s. values.shape=%s. "
                    "weights.shape=%s." % (MESSAGE, v.ndims, w.ndims, v, w))
            if w.is_fully_defined() and v.is_fully_defined():
                for i, (a, b) in enumerate(zip(w.as_list(), v.as_list())):
                    if a not in (1, b):
                        raise ValueError(
                            "%s Mismatch at dim %d. values.shape=%s "
                            "weights.shape=%s." % (MESSAGE, i, v, w))
                return _array.no_op(name="static_dims_check_success")
        is_scalar = _math.equal(0, weights_rank, name="is_scalar")

        def same_sizes():
            return _math.reduce_all(_math.logical_or(
                _math.equal(weights_shape, 1),
                _math.equal(weights_shape, values_shape)))

        def valid():
            same_rank = _math.equal(values_rank, weights_rank,
                                    name="is_same_rank")
            return cond(same_rank, same_sizes, lambda: same_rank,
                        name="has_valid_nonscalar_shape")
        fits = cond(is_scalar, lambda: is_scalar, valid,
                    name="is_valid_shape")
        return Assert(fits, [
            MESSAGE, "weights.shape=", weights.name, weights_shape,
            "values.shape=", values.name, values_shape, "is_scalar=",
            is_scalar], name=scope)


def broadcast_weights(weights, values):
    """`weights` in the shape of `values`."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype,
                                    name="weights")
        w, v = weights.get_shape(), values.get_shape()
        if (w.is_fully_defined() and v.is_fully_defined()
                and w.as_list() == v.as_list()):
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return _math.multiply(weights, _array.ones_like(values),
                                  name=scope)


def squeezed(labels, predictions, difference=0):
    """The two without a last dimension of 1, where one has a dimension more
    than the other and `difference` say."""
    with name_scope(None, "remove_squeezable_dimensions",
                    [labels, predictions]):
        labels = convert_to_tensor(labels)
        predictions = convert_to_tensor(predictions)
        a, b = labels.get_shape(), predictions.get_shape()
        if a.ndims is not None and b.ndims is not None:
            more = b.ndims - a.ndims
            if more == difference + 1 and b[-1].is_compatible_with(1):
                predictions = _array.squeeze(predictions, [-1])
            elif more == difference - 1 and a[-1].is_compatible_with(1):
                labels = _array.squeeze(labels, [-1])
            return labels, predictions
        more = _array.rank(predictions) - _array.rank(labels)
        if b.ndims is None or b[-1].is_compatible_with(1):
            given = predictions
            predictions = cond(_math.equal(difference + 1, more),
                               lambda: _array.squeeze(given, [-1]),
                               lambda: given)
        if a.ndims is None or a[-1].is_compatible_with(1):
            labels_given = labels
            labels = cond(_math.equal(difference - 1, more),
                          lambda: _array.squeeze(labels_given, [-1]),
                          lambda: labels_given)
        return labels, predictions


def weights_like(weights, labels, expand=False):
    """`weights` without a last dimension of 1 that `labels` have not; with
    `expand` also with one that labels have."""
    weights = convert_to_tensor(weights)
    w, v = weights.get_shape(), labels.get_shape()
    if w.ndims == 0:
        return weights
    if w.ndims is not None and v.ndims is not None:
        if w.ndims - v.ndims == 1:
            return _array.squeeze(weights, [-1])
        if v.ndims - w.ndims == 1 and expand:
            return _array.expand_dims(weights, [-1])
        return weights
    more = _array.rank(weights) - _array.rank(labels)

    def smaller():
        if w.ndims is None or w[-1].is_compatible_with(1):
            return cond(_math.equal(1, more),
                        lambda: _array.squeeze(weights, [-1]),
                        lambda: weights)
        return weights
    if not expand:
        return smaller()
    sized = cond(_math.equal(more, -1),
                 lambda: _array.expand_dims(weights, [-1]), smaller)
    return cond(_math.equal(_array.rank(weights), 0), lambda: weights,
                lambda: sized)


def as_float(x):
    return _math.cast(x, dtypes.float32)
