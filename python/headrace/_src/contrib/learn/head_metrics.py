"""tf.contrib.learn: metrics that heads report, each (value, update)."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.losses.weights import broadcast_weights
from headrace._src.metrics import counts as _counts
from headrace._src.metrics import means as _means
from headrace._src.metrics.streaming import mean
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _log


def _as_float(weights):
    if weights is None:
        return None
    with name_scope(None, "float_weights", (weights,)) as name:
        return _math.cast(weights, dtypes.float32, name=name)


def _of_class(values, weights, class_id):
    """The column of a class, of the values and of their weights."""
    weights = _as_float(weights)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    if class_id is not None:
        if weights is not None:
            weights = weights[:, class_id]
        values = values[:, class_id]
    return values, weights


def mean_of(values, weights=None, class_id=None):
    """The mean of labels or predictions, or of one column of them."""
    return mean(*_of_class(_math.cast(values, dtypes.float32), weights,
                           class_id))


def share_of_class(ids, weights, class_id):
    """How many of integer ids are class_id."""
    return mean(_array.where(
        _math.equal(_math.cast(class_id, dtypes.int32),
                    _math.cast(ids, dtypes.int32)),
        _array.ones_like(ids), _array.zeros_like(ids)), weights=weights)


def auc(predictions, labels, weights=None, class_id=None, curve="ROC"):
    """metrics.auc, of all predictions or of one column."""
    predictions = _math.cast(predictions, dtypes.float32)
    if labels.dtype.base_dtype != dtypes.bool:
        _log.warning("Casting %s labels to bool.", labels.dtype)
        labels = _math.cast(labels, dtypes.bool)
    predictions, weights = _of_class(predictions, weights, class_id)
    if class_id is not None:
        labels = labels[:, class_id]
    return _counts.auc(labels, predictions, weights, curve=curve)


def accuracy_at(predictions, labels, weights, threshold):
    """The share of labels that predictions from a threshold on tell."""
    return _means.accuracy(labels, _math.cast(
        _math.greater_equal(predictions, threshold), dtypes.float32), weights)


def _at(metric, predictions, labels, weights, threshold):
    value, update = metric(labels, predictions, (threshold,),
                           _as_float(weights))
    return _array.squeeze(value), _array.squeeze(update)


def precision_at(predictions, labels, weights, threshold):
    """The precision of predictions from a threshold on."""
    return _at(_counts.precision_at_thresholds, predictions, labels, weights,
               threshold)


def recall_at(predictions, labels, weights, threshold):
    """The recall of predictions from a threshold on."""
    return _at(_counts.recall_at_thresholds, predictions, labels, weights,
               threshold)
