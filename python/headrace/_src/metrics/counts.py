"""tf.metrics: how many predictions of yes and no are right or wrong, and what
follows from that."""
import functools

from headrace._src.control.check_ops import (
    assert_greater_equal, assert_less_equal, assert_type)
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.losses.weights import as_float, broadcast_weights
from headrace._src.metrics.streaming import (
    collected, fraction, matched, metric_variable)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.scopes import variable_scope
from headrace._src.variables.strategies import of_all_replicas
from headrace._src.variables.variables import assign_add

# Of a label and a prediction: what each count is of.
_KINDS = {"true_positives": (True, True), "false_negatives": (True, False),
          "true_negatives": (False, False), "false_positives": (False, True)}
_EPSILON = 1e-7  # keeps divisors from 0, and thresholds from predictions


def _counted(kind, labels, predictions, weights, metrics_collections,
             updates_collections, name):
    with variable_scope(name, kind, (predictions, labels, weights)):
        labels, predictions, weights = matched(
            _math.cast(labels, dtypes.bool_),
            _math.cast(predictions, dtypes.bool_), weights)
        label, prediction = _KINDS[kind]
        values = _math.logical_and(
            _math.equal(labels, label), _math.equal(predictions, prediction))
        assert_type(values, dtypes.bool_)
        count = metric_variable([], dtypes.float32, name="count")
        values = as_float(values)
        if weights is not None:
            ranks = weights.get_shape().ndims, values.get_shape().ndims
            if None not in ranks and ranks[0] not in (0, ranks[1]):
                raise ValueError("weights must be a scalar or have the rank of "
                                 "the values, %d, got shape %s"
                                 % (ranks[1], weights.get_shape()))
            values = _math.multiply(values, as_float(weights))
        value = _array.identity(of_all_replicas(count))
        return collected(
            value, assign_add(count, _math.reduce_sum(values)),
            metrics_collections, updates_collections)


def true_positives(labels, predictions, weights=None, metrics_collections=None,
                   updates_collections=None, name=None):
    """How many predictions of yes are right, by weight."""
    return _counted("true_positives", labels, predictions, weights,
                    metrics_collections, updates_collections, name)


def false_positives(labels, predictions, weights=None,
                    metrics_collections=None, updates_collections=None,
                    name=None):
    """How many predictions of yes are wrong, by weight."""
    return _counted("false_positives", labels, predictions, weights,
                    metrics_collections, updates_collections, name)


def true_negatives(labels, predictions, weights=None, metrics_collections=None,
                   updates_collections=None, name=None):
    """How many predictions of no are right, by weight."""
    return _counted("true_negatives", labels, predictions, weights,
                    metrics_collections, updates_collections, name)


def false_negatives(labels, predictions, weights=None,
                    metrics_collections=None, updates_collections=None,
                    name=None):
    """How many predictions of no are wrong, by weight."""
    return _counted("false_negatives", labels, predictions, weights,
                    metrics_collections, updates_collections, name)


def _share_of_true(other, default, labels, predictions, weights,
                   metrics_collections, updates_collections, name):
    """true positives / (true positives + `other`)."""
    with variable_scope(name, default, (predictions, labels, weights)):
        labels, predictions, weights = matched(
            _math.cast(labels, dtypes.bool_),
            _math.cast(predictions, dtypes.bool_), weights)
        right, right_update = true_positives(labels, predictions, weights)
        wrong, wrong_update = other(labels, predictions, weights)
        return collected(fraction(right, wrong, "value"),
                         fraction(right_update, wrong_update, "update_op"),
                         metrics_collections, updates_collections)


def precision(labels, predictions, weights=None, metrics_collections=None,
              updates_collections=None, name=None):
    """The share of predictions of yes that are right; 0 if there are none."""
    return _share_of_true(
        false_positives, "precision", labels, predictions, weights,
        metrics_collections, updates_collections, name)


def recall(labels, predictions, weights=None, metrics_collections=None,
           updates_collections=None, name=None):
    """The share of labels of yes that were predicted; 0 if there are none."""
    return _share_of_true(
        false_negatives, "recall", labels, predictions, weights,
        metrics_collections, updates_collections, name)


def at_thresholds(labels, predictions, thresholds, weights=None, kinds=None):
    """({kind: variable}, {kind: update}): counts, where a prediction is yes
    above the threshold, one for each threshold."""
    predictions = convert_to_tensor(predictions)
    zero = _math.cast(0.0, predictions.dtype.base_dtype)
    one = _math.cast(1.0, predictions.dtype.base_dtype)
    with control_dependencies([
            assert_greater_equal(predictions, zero,
                                 message="predictions must be in [0, 1]"),
            assert_less_equal(predictions, one,
                              message="predictions must be in [0, 1]")]):
        labels, predictions, weights = matched(
            _math.cast(labels, dtypes.bool_), as_float(predictions), weights)
    n = len(thresholds)
    row = _array.reshape(predictions, [1, -1])
    limits = _array.expand_dims(constant(thresholds, dtypes.float32), [1])
    yes = _math.greater(_array.tile(row, [n, 1]), limits)
    label = _array.tile(_array.reshape(labels, [1, -1]), [n, 1])
    if weights is not None:
        weights = broadcast_weights(as_float(weights), predictions)
        weights = _array.tile(_array.reshape(weights, [1, -1]), [n, 1])
    values, updates = {}, {}
    for kind in kinds or _KINDS:
        is_label, is_yes = _KINDS[kind]
        here = as_float(_math.logical_and(
            label if is_label else _math.logical_not(label),
            yes if is_yes else _math.logical_not(yes)))
        if weights is not None:
            here *= weights
        values[kind] = metric_variable([n], dtypes.float32, name=kind)
        updates[kind] = assign_add(values[kind], _math.reduce_sum(here, 1))
        values[kind] = of_all_replicas(values[kind])
    return values, updates


def _counts_at_thresholds(kind, labels, predictions, thresholds, weights,
                          metrics_collections, updates_collections, name):
    with variable_scope(name, kind, (predictions, labels, weights)):
        values, updates = at_thresholds(labels, predictions, thresholds,
                                        weights, [kind])
        return collected(convert_to_tensor(values[kind]), updates[kind],
                         metrics_collections, updates_collections)


def true_positives_at_thresholds(
        labels, predictions, thresholds, weights=None,
        metrics_collections=None, updates_collections=None, name=None):
    """true_positives, where a prediction is yes above each threshold."""
    return _counts_at_thresholds(
        "true_positives", labels, predictions, thresholds, weights,
        metrics_collections, updates_collections, name)


def false_positives_at_thresholds(
        labels, predictions, thresholds, weights=None,
        metrics_collections=None, updates_collections=None, name=None):
    """false_positives, where a prediction is yes above each threshold."""
    return _counts_at_thresholds(
        "false_positives", labels, predictions, thresholds, weights,
        metrics_collections, updates_collections, name)


def true_negatives_at_thresholds(
        labels, predictions, thresholds, weights=None,
        metrics_collections=None, updates_collections=None, name=None):
    """true_negatives, where a prediction is yes above each threshold."""
    return _counts_at_thresholds(
        "true_negatives", labels, predictions, thresholds, weights,
        metrics_collections, updates_collections, name)


def false_negatives_at_thresholds(
        labels, predictions, thresholds, weights=None,
        metrics_collections=None, updates_collections=None, name=None):
    """false_negatives, where a prediction is yes above each threshold."""
    return _counts_at_thresholds(
        "false_negatives", labels, predictions, thresholds, weights,
        metrics_collections, updates_collections, name)


def _share_at_thresholds(other, default, prefix, labels, predictions,
                         thresholds, weights, metrics_collections,
                         updates_collections, name):
    with variable_scope(name, default, (predictions, labels, weights)):
        values, updates = at_thresholds(
            labels, predictions, thresholds, weights,
            ["true_positives", other])

        def share(counts, name):
            right = counts["true_positives"]
            return _math.div(right, _EPSILON + right + counts[other],
                             name=prefix + name)
        return collected(share(values, "value"), share(updates, "update_op"),
                         metrics_collections, updates_collections)


def precision_at_thresholds(labels, predictions, thresholds, weights=None,
                            metrics_collections=None, updates_collections=None,
                            name=None):
    """precision, where a prediction is yes above each threshold."""
    return _share_at_thresholds(
        "false_positives", "precision_at_thresholds", "precision_", labels,
        predictions, thresholds, weights, metrics_collections,
        updates_collections, name)


def recall_at_thresholds(labels, predictions, thresholds, weights=None,
                         metrics_collections=None, updates_collections=None,
                         name=None):
    """recall, where a prediction is yes above each threshold."""
    return _share_at_thresholds(
        "false_negatives", "recall_at_thresholds", "recall_", labels,
        predictions, thresholds, weights, metrics_collections,
        updates_collections, name)


def even_thresholds(n):
    """n between 0 and 1, the first and last just beyond."""
    inner = [(i + 1) * 1.0 / (n - 1) for i in range(n - 2)]
    return [0.0 - _EPSILON] + inner + [1.0 + _EPSILON]


def _best(wanted, by, given, counts, name):
    """The share of `given` at the threshold where that of `by` is nearest to
    `wanted`. A share is of two counts: its own, then the others."""
    a, b = (counts[kind] for kind in by)
    shares = _math.div(a, a + b + _EPSILON)
    at = _math.cast(_math.argmin(_math.abs(shares - wanted), 0), dtypes.int32)
    a, b = (counts[kind] for kind in given)
    return _math.div(a[at], a[at] + b[at] + _EPSILON, name=name)


def found_at_thresholds(
        find, wanted, what, default, labels, predictions, weights,
        num_thresholds, metrics_collections, updates_collections, name):
    """What find(counts, name) gives of the counts at even thresholds, and of
    their updates. ValueError unless the share `wanted`, the argument `what`, is
    in [0, 1]. `default`: the name of the scope."""
    if wanted < 0 or wanted > 1:
        raise ValueError("`%s` must be in the range [0, 1]." % what)
    with variable_scope(name, default, (predictions, labels, weights)):
        values, updates = at_thresholds(
            labels, predictions, even_thresholds(num_thresholds), weights)
        return collected(find(values, "value"), find(updates, "update_op"),
                         metrics_collections, updates_collections)


_SPECIFICITY = "true_negatives", "false_positives"
_SENSITIVITY = "true_positives", "false_negatives"


def sensitivity_at_specificity(
        labels, predictions, specificity, weights=None, num_thresholds=200,
        metrics_collections=None, updates_collections=None, name=None):
    """The share of labels of yes that are predicted, at the threshold where
    the share of labels of no that are is nearest to `specificity`."""
    return found_at_thresholds(
        functools.partial(_best, specificity, _SPECIFICITY, _SENSITIVITY),
        specificity, "specificity", "sensitivity_at_specificity", labels,
        predictions, weights, num_thresholds, metrics_collections,
        updates_collections, name)


def specificity_at_sensitivity(
        labels, predictions, sensitivity, weights=None, num_thresholds=200,
        metrics_collections=None, updates_collections=None, name=None):
    """The share of labels of no that are predicted, at the threshold where the
    share of labels of yes that are is nearest to `sensitivity`; of several the
    highest."""
    def find(counts, name):
        right, missed = (counts[k] for k in _SENSITIVITY)
        shares = _math.div(right, right + missed + _EPSILON)
        distances = _math.abs(shares - sensitivity)
        # The last of the nearest: the highest threshold.
        nearest = _math.equal(distances, _math.reduce_min(distances))
        at = num_thresholds - 1 - _math.cast(_math.argmax(
            _math.cast(_array.reverse(nearest, [0]), dtypes.int32), 0),
            dtypes.int32)
        no, wrong = (counts[k] for k in _SPECIFICITY)
        return _math.div(no[at], no[at] + wrong[at] + _EPSILON, name=name)
    return found_at_thresholds(
        find, sensitivity, "sensitivity", "specificity_at_sensitivity", labels,
        predictions, weights, num_thresholds, metrics_collections,
        updates_collections, name)


def auc(labels, predictions, weights=None, num_thresholds=200,
        metrics_collections=None, updates_collections=None, curve="ROC",
        name=None, summation_method="trapezoidal", thresholds=None):
    """The area under the curve of recall over the share of false positives
    ("ROC") or of precision over recall ("PR"), from counts at thresholds.
    `summation_method`: "trapezoidal", "careful_interpolation" (for "PR"),
    "minoring" or "majoring". ValueError for others."""
    if curve not in ("ROC", "PR"):
        raise ValueError("curve must be either ROC or PR, %s unknown"
                         % (curve,))
    if summation_method not in ("trapezoidal", "careful_interpolation",
                                "minoring", "majoring"):
        raise ValueError("Invalid summation_method: %s" % (summation_method,))
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if thresholds is not None:
            thresholds = ([0.0 - _EPSILON] + sorted(thresholds)
                          + [1.0 + _EPSILON])
        else:
            thresholds = even_thresholds(num_thresholds)
        values, updates = at_thresholds(labels, predictions, thresholds,
                                        weights)
        area = functools.partial(_area, curve, summation_method)
        return collected(area(values, "value"), area(updates, "update_op"),
                         metrics_collections, updates_collections)


def _area(curve, method, counts, name):
    tp, fp = counts["true_positives"], counts["false_positives"]
    tn, fn = counts["true_negatives"], counts["false_negatives"]
    small = 1.0e-6
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated(*map(convert_to_tensor, (tp, fp, fn)))
    found = _math.div(tp + small, tp + fn + small)
    if curve == "ROC":
        x, y = _math.div(fp, fp + tn + small), found
    else:
        x, y = found, _math.div(tp + small, tp + fp + small)
    first, second = y[:-1], y[1:]
    height = {"minoring": lambda: _math.minimum(first, second),
              "majoring": lambda: _math.maximum(first, second)}.get(
                  method, lambda: (first + second) / 2.)()
    return _math.reduce_sum(_math.multiply(x[:-1] - x[1:], height), name=name)


def _interpolated(tp, fp, fn):
    """The area where both counts of positives change linearly between
    thresholds."""
    change = tp[:-1] - tp[1:]
    p = tp + fp
    slope = _math.div_no_nan(change, _math.maximum(p[:-1] - p[1:], 0),
                             name="prec_slope")
    intercept = tp[1:] - _math.multiply(slope, p[1:])
    growth = _array.where(
        _math.logical_and(p[:-1] > 0, p[1:] > 0),
        _math.div_no_nan(p[:-1], _math.maximum(p[1:], 0),
                         name="recall_relative_ratio"),
        _array.ones_like(p[1:]))
    return _math.reduce_sum(_math.div_no_nan(
        slope * (change + intercept * _math.log(growth)),
        _math.maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment"),
        name="interpolate_pr_auc")
