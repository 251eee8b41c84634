"""What all metrics have: variables that accumulate, a value, and an op that
updates them and gives the new value."""
from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collections, control_dependencies)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.losses.weights import (
    as_float, broadcast_weights, squeezed, weights_like)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.scopes import variable_scope
from headrace._src.variables.strategies import of_all_replicas
from headrace._src.variables.variables import Variable, assign_add


def metric_variable(shape, dtype, validate_shape=True, name=None):
    """A local variable of zeros, which does not train. Without validate_shape
    its shape may change."""
    if executing_eagerly():
        raise RuntimeError("tf.metrics are not supported when eager execution is "
                           "enabled: use tf.keras.metrics.")
    return Variable(
        lambda: _array.zeros(shape, dtype), trainable=False, name=name,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM)


def collected(value, update, metrics_collections, updates_collections):
    """The two, after they joined the collections."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def matched(labels, predictions, weights):
    """The three as tensors, with dimensions of 1 at the end added or removed
    where they differ by one. ValueError if the shapes do not fit."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = squeezed(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is not None:
        weights = weights_like(weights, predictions, expand=True)
    return labels, predictions, weights


def ratio(a, b, name):
    """a / b, 0 where b is not positive."""
    return _math.div_no_nan(a, _math.maximum(b, 0), name=name)


def _weighted(values, weights):
    """(values * weights, weights) as floats of one shape."""
    _, values, weights = matched(None, values, weights)
    weights = broadcast_weights(as_float(weights), values)
    return _math.multiply(values, weights), weights


def mean(values, weights=None, metrics_collections=None,
         updates_collections=None, name=None):
    """The weighted mean of all values: the variables `total` and `count`."""
    with variable_scope(name, "mean", (values, weights)):
        values = as_float(values)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = as_float(_array.size(values))
        else:
            values, weights = _weighted(values, weights)
            number = _math.reduce_sum(weights)
        more = assign_add(total, _math.reduce_sum(values))
        with control_dependencies([values]):
            counted = assign_add(count, number)
        return collected(ratio(of_all_replicas(total), of_all_replicas(count),
                               "value"),
                         ratio(more, counted, "update_op"),
                         metrics_collections, updates_collections)


def mean_tensor(values, weights=None, metrics_collections=None,
                updates_collections=None, name=None):
    """The weighted mean of each element by itself."""
    with variable_scope(name, "mean", (values, weights)):
        values = as_float(values)
        shape = values.get_shape()
        total = metric_variable(shape, dtypes.float32, name="total_tensor")
        count = metric_variable(shape, dtypes.float32, name="count_tensor")
        number = _array.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = _math.multiply(number, weights)
        more = assign_add(total, values)
        with control_dependencies([values]):
            counted = assign_add(count, number)
        return collected(ratio(of_all_replicas(total), of_all_replicas(count),
                               "value"),
                         ratio(more, counted, "update_op"),
                         metrics_collections, updates_collections)


def fraction(a, b, name):
    """a / (a + b), 0 where the sum is 0."""
    return _raw.Select(a + b > 0, _math.div(a, a + b), 0., name=name)
