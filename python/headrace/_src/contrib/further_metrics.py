"""tf.contrib.metrics: covariances, rates of errors, counts at thresholds, and
metrics of classes that are sorted already."""
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import constant
from headrace._src.losses.weights import as_float, broadcast_weights
from headrace._src.metrics import counts as _counts
from headrace._src.metrics import top_k as _top_k
from headrace._src.metrics.streaming import (
    collected, fraction, matched, metric_variable)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.scopes import variable_scope
from headrace._src.variables.variables import assign_add


def count(values, weights=None, metrics_collections=None,
          updates_collections=None, name=None):
    """The number of values, or the sum of their weights."""
    with variable_scope(name, "count", (values, weights)):
        variable = metric_variable([], dtypes.float32, name="count")
        number = as_float(_array.size(values))
        if weights is not None:
            _, values, weights = matched(None, as_float(values), weights)
            number = _math.reduce_sum(
                broadcast_weights(as_float(weights), values))
        return collected(_array.identity(variable),
                         assign_add(variable, number), metrics_collections,
                         updates_collections)


def _moved_mean(variable, values, weights, size, total):
    """(mean of the batch, mean of what was before), after `variable`, the mean of
    all, took the batch in."""
    weighted = values if weights is None else values * weights
    batch = _math.div_no_nan(_math.reduce_sum(weighted), size)
    change = _math.div_no_nan((batch - variable) * size, total)
    return batch, assign_add(variable, change) - change


def _covariance(comoment, number, name):
    return _array.where(_math.less(number, 2.), constant(float("nan")),
                        _math.truediv(comoment, number - 1.), name=name)


def streaming_covariance(predictions, labels, weights=None,
                         metrics_collections=None, updates_collections=None,
                         name=None):
    """The unbiased covariance of all predictions and labels; NaN for less than
    two. Weights count as numbers of samples."""
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        labels, predictions, weights = matched(labels, predictions, weights)
        number, mean_of_predictions, mean_of_labels, comoment = [
            metric_variable([], dtypes.float32, name=n)
            for n in ("count", "mean_prediction", "mean_label", "comoment")]
        if weights is None:
            size = as_float(_array.size(labels))
        else:
            weights = broadcast_weights(as_float(weights), labels)
            size = _math.reduce_sum(weights)
        total = assign_add(number, size)
        before = total - size
        mean, old_mean = _moved_mean(mean_of_predictions, predictions, weights,
                                     size, total)
        label, old_label = _moved_mean(mean_of_labels, labels, weights, size,
                                       total)
        products = (predictions - mean) * (labels - label)
        if weights is not None:
            products *= weights
        moved = assign_add(comoment, _math.reduce_sum(products) + (
            old_mean - mean) * (old_label - label) * _math.div_no_nan(
                before * size, total))
        return collected(_covariance(comoment, number, "covariance"),
                         _covariance(moved, total, "update_op"),
                         metrics_collections, updates_collections)


def streaming_pearson_correlation(
        predictions, labels, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """The covariance divided by both standard deviations."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        labels, predictions, weights = matched(labels, predictions, weights)
        if weights is not None:
            weights = broadcast_weights(as_float(weights), labels)
        both, of_predictions, of_labels = [
            streaming_covariance(a, b, weights=weights, name=n)
            for a, b, n in ((predictions, labels, "covariance"),
                            (predictions, predictions, "variance_predictions"),
                            (labels, labels, "variance_labels"))]
        return collected(*[_math.truediv(
            both[i], _math.multiply(_math.sqrt(of_predictions[i]),
                                    _math.sqrt(of_labels[i])), name=n)
            for i, n in enumerate(("pearson_r", "update_op"))],
            metrics_collections, updates_collections)


def _rate(default, wrong, right, labels, predictions, weights,
          metrics_collections, updates_collections, name):
    with variable_scope(name, default, (predictions, labels, weights)):
        labels, predictions, weights = matched(
            _math.cast(labels, dtypes.bool_),
            _math.cast(predictions, dtypes.bool_), weights)
        errors, hits = [f(labels, predictions, weights)
                        for f in (wrong, right)]
        return collected(fraction(errors[0], hits[0], "value"),
                         fraction(errors[1], hits[1], "update_op"),
                         metrics_collections, updates_collections)


def streaming_false_positive_rate(
        predictions, labels, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """The share of labels of no that were predicted as yes."""
    return _rate("false_positive_rate", _counts.false_positives,
                 _counts.true_negatives, labels, predictions, weights,
                 metrics_collections, updates_collections, name)


def streaming_false_negative_rate(
        predictions, labels, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """The share of labels of yes that were predicted as no."""
    return _rate("false_negative_rate", _counts.false_negatives,
                 _counts.true_positives, labels, predictions, weights,
                 metrics_collections, updates_collections, name)


def _at_thresholds(kind, predictions, labels, thresholds, weights):
    values, updates = _counts.at_thresholds(labels, predictions, thresholds,
                                            weights, [kind])
    return values[kind], updates[kind]


def streaming_true_positives_at_thresholds(predictions, labels, thresholds,
                                           weights=None):
    """(variable, update): right predictions of yes above each threshold."""
    return _at_thresholds("true_positives", predictions, labels, thresholds,
                          weights)


def streaming_false_positives_at_thresholds(predictions, labels, thresholds,
                                            weights=None):
    """(variable, update): wrong predictions of yes above each threshold."""
    return _at_thresholds("false_positives", predictions, labels, thresholds,
                          weights)


def streaming_true_negatives_at_thresholds(predictions, labels, thresholds,
                                           weights=None):
    """(variable, update): right predictions of no below each threshold."""
    return _at_thresholds("true_negatives", predictions, labels, thresholds,
                          weights)


def streaming_false_negatives_at_thresholds(predictions, labels, thresholds,
                                            weights=None):
    """(variable, update): wrong predictions of no below each threshold."""
    return _at_thresholds("false_negatives", predictions, labels, thresholds,
                          weights)


def streaming_sparse_average_precision_at_k(
        predictions, labels, k, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """tf.metrics.average_precision_at_k, with the predictions first."""
    return _top_k.average_precision_at_k(
        labels, predictions, k, weights, metrics_collections,
        updates_collections, name)


def streaming_sparse_average_precision_at_top_k(
        top_k_predictions, labels, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """average_precision_at_k of classes [..., k], the best first."""
    return _top_k.average_precision_at_top_k(
        labels, top_k_predictions, weights, metrics_collections,
        updates_collections, name)


def streaming_sparse_precision_at_top_k(
        top_k_predictions, labels, class_id=None, weights=None,
        metrics_collections=None, updates_collections=None, name=None):
    """tf.metrics.precision_at_top_k, with the predictions first."""
    return _top_k.precision_at_top_k(
        labels, top_k_predictions, None, class_id, weights,
        metrics_collections, updates_collections, name)


def sparse_recall_at_top_k(
        labels, top_k_predictions, class_id=None, weights=None,
        metrics_collections=None, updates_collections=None, name=None):
    """tf.metrics.recall_at_top_k."""
    return _top_k.recall_at_top_k(
        labels, top_k_predictions, None, class_id, weights,
        metrics_collections, updates_collections, name)
