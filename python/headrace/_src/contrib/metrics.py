"""tf.contrib.metrics: those of tf.metrics with the predictions first, and
without a state."""
import inspect

from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.math import math_special as _special
from headrace._src.metrics import counts as _counts
from headrace._src.metrics import means as _means
from headrace._src.metrics import streaming as _streaming
from headrace._src.metrics import top_k as _top_k
from headrace._src.nn.activations import in_top_k
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _renamed(metric, name, swaps=True):
    """`metric` by another name, and with the predictions first."""
    parameters = list(inspect.signature(metric).parameters.values())
    if swaps:
        parameters[:2] = parameters[1::-1]
    signature = inspect.Signature(parameters)

    def streaming(*args, **kwargs):
        return metric(**signature.bind(*args, **kwargs).arguments)
    streaming.__signature__ = signature
    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = "tf.metrics.%s%s." % (
        metric.__name__, ", with the predictions first" if swaps else "")
    return streaming


streaming_mean_tensor = _renamed(
    _streaming.mean_tensor, "streaming_mean_tensor", swaps=False)
streaming_percentage_less = _renamed(
    _means.percentage_below, "streaming_percentage_less", swaps=False)
streaming_mean_absolute_error = _renamed(
    _means.mean_absolute_error, "streaming_mean_absolute_error")
streaming_mean_squared_error = _renamed(
    _means.mean_squared_error, "streaming_mean_squared_error")
streaming_root_mean_squared_error = _renamed(
    _means.root_mean_squared_error, "streaming_root_mean_squared_error")
streaming_mean_relative_error = _renamed(
    _means.mean_relative_error, "streaming_mean_relative_error")
streaming_mean_cosine_distance = _renamed(
    _means.mean_cosine_distance, "streaming_mean_cosine_distance")
streaming_mean_iou = _renamed(_means.mean_iou, "streaming_mean_iou")
streaming_true_positives = _renamed(
    _counts.true_positives, "streaming_true_positives")
streaming_true_negatives = _renamed(
    _counts.true_negatives, "streaming_true_negatives")
streaming_false_positives = _renamed(
    _counts.false_positives, "streaming_false_positives")
streaming_false_negatives = _renamed(
    _counts.false_negatives, "streaming_false_negatives")
streaming_precision_at_thresholds = _renamed(
    _counts.precision_at_thresholds, "streaming_precision_at_thresholds")
streaming_recall_at_thresholds = _renamed(
    _counts.recall_at_thresholds, "streaming_recall_at_thresholds")
streaming_sparse_precision_at_k = _renamed(
    _top_k.precision_at_k, "streaming_sparse_precision_at_k")
streaming_sparse_recall_at_k = _renamed(
    _top_k.recall_at_k, "streaming_sparse_recall_at_k")


def streaming_auc(predictions, labels, weights=None, num_thresholds=200,
                  metrics_collections=None, updates_collections=None,
                  curve="ROC", name=None):
    """tf.metrics.auc, with the predictions first."""
    return _counts.auc(labels, predictions, weights, num_thresholds,
                       metrics_collections, updates_collections, curve, name)


def streaming_sensitivity_at_specificity(
        predictions, labels, specificity, weights=None, num_thresholds=200,
        metrics_collections=None, updates_collections=None, name=None):
    """tf.metrics.sensitivity_at_specificity, with the predictions first."""
    return _counts.sensitivity_at_specificity(
        labels, predictions, specificity, weights, num_thresholds,
        metrics_collections, updates_collections, name)


def streaming_specificity_at_sensitivity(
        predictions, labels, sensitivity, weights=None, num_thresholds=200,
        metrics_collections=None, updates_collections=None, name=None):
    """tf.metrics.specificity_at_sensitivity, with the predictions first."""
    return _counts.specificity_at_sensitivity(
        labels, predictions, sensitivity, weights, num_thresholds,
        metrics_collections, updates_collections, name)


def streaming_recall_at_k(predictions, labels, k, weights=None,
                          metrics_collections=None, updates_collections=None,
                          name=None):
    """The mean of whether the label, int [batch], is one of the k best of the
    predictions [batch, classes]."""
    found = _math.to_float(in_top_k(predictions, labels, k))
    return _streaming.mean(found, weights, metrics_collections,
                           updates_collections, name or "recall_at_%d" % k)


def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that equal the labels. ValueError for types that
    differ, or are no integers, bools or strings."""
    kind = predictions.dtype.base_dtype
    if not (labels.dtype.is_integer or labels.dtype.base_dtype in (
            dtypes.bool_, dtypes.string)):
        raise ValueError("Labels should have bool, integer, or string dtype, "
                         "not %s" % labels.dtype)
    if labels.dtype.base_dtype != kind:
        raise ValueError("Dtypes of predictions and labels should match. Given: "
                         "predictions (%s) and labels (%s)"
                         % (kind, labels.dtype))
    with name_scope(name, "accuracy", values=[predictions, labels]):
        correct = _math.to_float(_math.equal(predictions, labels))
        if weights is None:
            return _math.reduce_mean(correct)
        weights = _math.cast(weights, dtypes.float32)
        return _math.div(
            _math.reduce_sum(correct * weights),
            _math.reduce_sum(weights * _array.ones_like(correct)))


def confusion_matrix(labels, predictions, num_classes=None,
                     dtype=dtypes.int32, name=None, weights=None):
    """tf.confusion_matrix."""
    return _special.confusion_matrix(
        labels=labels, predictions=predictions, num_classes=num_classes,
        dtype=dtype, name=name, weights=weights)


def aggregate_metrics(*value_update_tuples):
    """([values], [updates]) of pairs. ValueError for no pairs."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)
