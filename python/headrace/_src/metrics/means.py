"""tf.metrics: means of errors, and accuracies."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.losses.weights import as_float, squeezed
from headrace._src.math.math_special import confusion_matrix
from headrace._src.metrics.streaming import (
    collected, matched, mean, metric_variable, ratio)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.scopes import variable_scope
from headrace._src.variables.strategies import of_all_replicas
from headrace._src.variables.variables import assign_add, scatter_add


def accuracy(labels, predictions, weights=None, metrics_collections=None,
             updates_collections=None, name=None):
    """How often predictions equal labels.

    `labels` and `predictions`: of one shape, of any type (predictions are
    cast); `weights`: None, or what broadcasts to the labels. Returns (value,
    update), scalars of float32, over local variables `total` and `count`; both
    join the collections. ValueError for shapes that do not fit, RuntimeError
    when executing eagerly, as for all metrics."""
    labels, predictions, weights = matched(labels, predictions, weights)
    kind = labels.dtype.base_dtype
    if kind != predictions.dtype.base_dtype:
        predictions = _math.cast(predictions, kind)
    right = as_float(_math.equal(predictions, labels))
    return mean(right, weights, metrics_collections, updates_collections,
                name or "accuracy")


def mean_absolute_error(labels, predictions, weights=None,
                        metrics_collections=None, updates_collections=None,
                        name=None):
    """The mean of |predictions - labels|."""
    labels, predictions, weights = matched(labels, predictions, weights)
    return mean(_math.abs(predictions - labels), weights, metrics_collections,
                updates_collections, name or "mean_absolute_error")


def mean_squared_error(labels, predictions, weights=None,
                       metrics_collections=None, updates_collections=None,
                       name=None):
    """The mean of (predictions - labels)^2."""
    labels, predictions, weights = matched(labels, predictions, weights)
    return mean(_math.squared_difference(labels, predictions), weights,
                metrics_collections, updates_collections,
                name or "mean_squared_error")


def root_mean_squared_error(labels, predictions, weights=None,
                            metrics_collections=None, updates_collections=None,
                            name=None):
    """The square root of mean_squared_error."""
    labels, predictions, weights = matched(labels, predictions, weights)
    value, update = mean_squared_error(labels, predictions, weights, None, None,
                                       name or "root_mean_squared_error")
    return collected(_math.sqrt(value), _math.sqrt(update),
                     metrics_collections, updates_collections)


def mean_relative_error(labels, predictions, normalizer, weights=None,
                        metrics_collections=None, updates_collections=None,
                        name=None):
    """The mean of |predictions - labels| / normalizer, 0 where that is 0."""
    labels, predictions, weights = matched(labels, predictions, weights)
    predictions, normalizer = squeezed(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    errors = _array.where(
        _math.equal(normalizer, 0.0), _array.zeros_like(labels),
        _math.div(_math.abs(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections,
                name or "mean_relative_error")


def mean_cosine_distance(labels, predictions, dim, weights=None,
                         metrics_collections=None, updates_collections=None,
                         name=None):
    """1 - the mean of the sums of labels * predictions along `dim`."""
    labels, predictions, weights = matched(labels, predictions, weights)
    products = _math.reduce_sum(_math.multiply(predictions, labels),
                                axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None,
                         name or "mean_cosine_distance")
    return collected(_math.subtract(1.0, value), _math.subtract(1.0, update),
                     metrics_collections, updates_collections)


def percentage_below(values, threshold, weights=None, metrics_collections=None,
                     updates_collections=None, name=None):
    """The share of values below `threshold`."""
    return mean(as_float(_math.less(values, threshold)), weights,
                metrics_collections, updates_collections,
                name or "percentage_below_threshold")


def _flat(x):
    x = convert_to_tensor(x)
    return x if x.get_shape().ndims == 1 else _array.reshape(x, [-1])


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None,
                            metrics_collections=None, updates_collections=None,
                            name=None):
    """The mean over classes of the share of their examples that were
    predicted right. The update gives the share of each class."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(_math.cast(labels, dtypes.int64))
        predictions = _flat(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = _array.ones([_array.size(labels)], dtypes.float32)
        right = as_float(_math.equal(_math.cast(predictions, dtypes.int64),
                                     labels))
        if weights is not None:
            weights = as_float(_flat(weights))
            right *= weights
            ones *= weights
        more = scatter_add(total, labels, ones)
        counted = scatter_add(count, labels, right)
        value = _math.reduce_mean(
            _math.div_no_nan(of_all_replicas(count),
                             _math.maximum(of_all_replicas(total), 0)),
            name="mean_accuracy")
        return collected(value, ratio(counted, more, "update_op"),
                         metrics_collections, updates_collections)


def streaming_confusion_matrix(labels, predictions, num_classes, weights=None):
    """(variable, update): the confusion matrix over all runs, as float64."""
    matrix = metric_variable([num_classes, num_classes], dtypes.float64,
                             name="total_confusion_matrix")
    return of_all_replicas(matrix), assign_add(matrix, confusion_matrix(
        _flat(_math.cast(labels, dtypes.int64)),
        _flat(_math.cast(predictions, dtypes.int64)),
        _math.cast(num_classes, dtypes.int64), dtype=dtypes.float64,
        weights=None if weights is None else _flat(weights)))


def mean_iou(labels, predictions, num_classes, weights=None,
             metrics_collections=None, updates_collections=None, name=None):
    """The mean over classes that occur of the examples that are of the class
    and predicted so, over those that are either. The update gives the
    confusion matrix."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        labels = convert_to_tensor(labels)
        predictions = convert_to_tensor(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        matrix, update = streaming_confusion_matrix(
            labels, predictions, num_classes, weights)
        rows = as_float(_math.reduce_sum(matrix, 0))
        columns = as_float(_math.reduce_sum(matrix, 1))
        both = as_float(_raw.DiagPart(matrix))
        either = rows + columns - both
        classes = _math.reduce_sum(as_float(_math.not_equal(either, 0)))
        either = _array.where(_math.greater(either, 0), either,
                              _array.ones_like(either))
        iou = _math.div(both, either)
        value = _array.where(
            _math.greater(classes, 0), _math.reduce_sum(
                iou, name="mean_iou") / classes,
            _array.zeros_like(classes))
        return collected(value, update, metrics_collections,
                         updates_collections)
