"""tf.contrib.metrics: metrics at many thresholds, agreement, and values kept."""
import collections

from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _check
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.math.math_special import confusion_matrix
from headrace._src.metrics.counts import (
    at_thresholds, even_thresholds, found_at_thresholds)
from headrace._src.metrics.streaming import (
    collected, matched, metric_variable, ratio)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.scopes import variable_scope
from headrace._src.variables.variables import assign, assign_add, scatter_add

_EPSILON = 1e-7
_TP, _FP = "true_positives", "false_positives"
_TN, _FN = "true_negatives", "false_negatives"


def f1_score(labels, predictions, weights=None, num_thresholds=200,
             metrics_collections=None, updates_collections=None, name=None):
    """The best harmonic mean of precision and recall over thresholds, a float32
    scalar. Labels are booleans, predictions in [0, 1], of one shape. ValueError
    for shapes that do not fit."""
    with variable_scope(name, "f1", (labels, predictions, weights)):
        values, updates = at_thresholds(
            labels, predictions, even_thresholds(num_thresholds), weights,
            [_TP, _FP, _FN])

        def best(counts, name):
            right = counts[_TP]
            precision = _math.div(right, _EPSILON + right + counts[_FP],
                                  name="precision_" + name)
            recall = _math.div(right, _EPSILON + right + counts[_FN],
                               name="recall_" + name)
            return _math.reduce_max(2.0 * precision * recall / (
                precision + recall + _EPSILON))
        return collected(best(values, "value"), best(updates, "update"),
                         metrics_collections, updates_collections)


def precision_at_recall(labels, predictions, target_recall, weights=None,
                        num_thresholds=200, metrics_collections=None,
                        updates_collections=None, name=None):
    """The precision at the largest threshold whose recall is at least
    target_recall. Shapes and dtypes are f1_score's. ValueError for a
    target_recall outside of [0, 1]."""
    def precision(counts, name):
        tp, fp, fn = counts[_TP], counts[_FP], counts[_FN]
        recalls = _math.div(tp, tp + fn + _EPSILON)
        # Recalls fall with the threshold.
        at = _math.reduce_sum(_math.cast(_math.greater_equal(
            recalls, target_recall), dtypes.int64)) - 1
        return _math.div(tp[at] + _EPSILON, tp[at] + fp[at] + _EPSILON, name)
    return found_at_thresholds(
        precision, target_recall, "target_recall", "precision_at_recall",
        labels, predictions, weights, num_thresholds, metrics_collections,
        updates_collections, name)


def recall_at_precision(labels, predictions, precision, weights=None,
                        num_thresholds=200, metrics_collections=None,
                        updates_collections=None, name=None,
                        strict_mode=False):
    """The recall at the threshold whose precision is nearest to `precision`; with
    strict_mode at the lowest one that reaches it, or 0. Shapes and dtypes are
    f1_score's. ValueError for a precision outside of [0, 1]."""
    if not 0 <= precision <= 1:  # nor NaN
        raise ValueError("`precision` must be in the range [0, 1].")

    def recall(counts, name):
        tp, fp, fn = counts[_TP], counts[_FP], counts[_FN]
        precisions = _math.div(tp, tp + fp + _EPSILON)

        def at(index):
            return _math.div(tp[index], tp[index] + fn[index] + _EPSILON, name)
        if not strict_mode:
            return at(_math.argmin(_math.abs(precisions - precision), 0,
                                   output_type=dtypes.int32))
        # The reciprocals of positive differences come first, small ones before
        # large ones.
        index = _math.argmax(
            _math.div(1.0, precisions - precision + _EPSILON), 0,
            output_type=dtypes.int32)
        return cond(precisions[index] >= precision, lambda: at(index),
                    lambda: .0)
    return found_at_thresholds(
        recall, precision, "precision", "recall_at_precision", labels,
        predictions, weights, num_thresholds, metrics_collections,
        updates_collections, name)


def streaming_curve_points(labels=None, predictions=None, weights=None,
                           num_thresholds=200, metrics_collections=None,
                           updates_collections=None, curve="ROC", name=None):
    """The points of a curve, float32 [num_thresholds, 2]: of "ROC" false and true
    positive rates, of "PR" recall and precision. Shapes and dtypes of the others
    are f1_score's. ValueError for another curve."""
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError("curve must be either ROC or PR, %s unknown"
                             % curve)
        values, updates = at_thresholds(
            labels, predictions, even_thresholds(num_thresholds), weights)
        epsilon = 1.0e-6
        tp, fp = values[_TP], values[_FP]
        tn, fn = values[_TN], values[_FN]
        recall = _math.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            points = _math.div(fp, fp + tn + epsilon), recall
        else:
            points = recall, _math.div(tp + epsilon, tp + fp + epsilon)
        return collected(_array.stack(points, axis=1),
                         group(*updates.values()), metrics_collections,
                         updates_collections)


def _rate(wrong, right, scope, prefix, predictions, labels, thresholds, weights,
          metrics_collections, updates_collections, name):
    with variable_scope(name, scope, (predictions, labels, weights)):
        values, updates = at_thresholds(labels, predictions, thresholds,
                                        weights, [wrong, right])

        def rate(counts, name):
            return _math.div(
                counts[wrong], _EPSILON + counts[wrong] + counts[right],
                name=prefix + name)
        return collected(rate(values, "value"), rate(updates, "update_op"),
                         metrics_collections, updates_collections)


def streaming_false_negative_rate_at_thresholds(
        predictions, labels, thresholds, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """The share of the labels that are true whose prediction is not above each
    threshold, float32 [thresholds]. Shapes, dtypes and errors are f1_score's."""
    return _rate(_FN, _TP, "false_negative_rate_at_thresholds", "fnr_",
                 predictions, labels, thresholds, weights,
                 metrics_collections, updates_collections, name)


def streaming_false_positive_rate_at_thresholds(
        predictions, labels, thresholds, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """The share of the labels that are false whose prediction is above each
    threshold, float32 [thresholds]. Shapes, dtypes and errors are f1_score's."""
    return _rate(_FP, _TN, "false_positive_rate_at_thresholds", "fpr_",
                 predictions, labels, thresholds, weights,
                 metrics_collections, updates_collections, name)


PrecisionRecallData = collections.namedtuple("PrecisionRecallData", """
    tp fp tn fn precision recall thresholds""")


def precision_recall_at_equal_thresholds(
        labels, predictions, weights=None, num_thresholds=None,
        use_locking=None, name=None):
    """(a named tuple of counts, precision, recall and thresholds, each
    [num_thresholds] of the predictions' dtype, update op) for thresholds at equal
    distances. Labels are booleans, predictions in [0, 1], of one shape.
    TypeError for other labels; ValueError for shapes that do not fit."""
    n = 201 if num_thresholds is None else num_thresholds
    if weights is None:
        weights = 1.0
    _check.assert_type(labels, dtypes.bool_)
    with variable_scope(name, "precision_recall_at_equal_thresholds",
                        (labels, predictions, weights)):
        with control_dependencies([
                _check.assert_greater_equal(
                    predictions, _math.cast(0.0, predictions.dtype),
                    message="predictions must be in [0, 1]"),
                _check.assert_less_equal(
                    predictions, _math.cast(1.0, predictions.dtype),
                    message="predictions must be in [0, 1]")]):
            labels, predictions, weights = matched(labels, predictions,
                                                   weights)
        exact = dtypes.float64  # float32 cannot count many ones
        weights = _math.cast(weights, exact)
        is_true = _math.cast(labels, exact)
        true = _array.reshape(is_true * weights, [-1])
        false = _array.reshape((1.0 - is_true) * weights, [-1])
        predictions = _array.reshape(predictions, [-1])
        # Each prediction counts in one bucket. The sums of the buckets from a
        # threshold on are the counts.
        bucket = _math.cast(_math.floor(predictions * (n - 1)), dtypes.int32)
        with name_scope("variables"):
            true_sums = metric_variable([n], exact, name="tp_buckets")
            false_sums = metric_variable([n], exact, name="fp_buckets")
        locking = True if use_locking is None else use_locking
        with name_scope("update_op"):
            updates = [scatter_add(true_sums, bucket, true,
                                   use_locking=locking),
                       scatter_add(false_sums, bucket, false,
                                   use_locking=locking)]
        tp = _math.cumsum(true_sums, reverse=True, name="tp")
        fp = _math.cumsum(false_sums, reverse=True, name="fp")
        tn, fn = fp[0] - fp, tp[0] - tp
        least = convert_to_tensor(1e-7, dtype=exact)
        data = PrecisionRecallData(*[
            _math.cast(t, predictions.dtype) for t in (
                tp, fp, tn, fn, tp / _math.maximum(least, tp + fp),
                tp / _math.maximum(least, tp + fn),
                _math.linspace(0.0, 1.0, n))])
        return data, group(*updates)


def cohen_kappa(labels, predictions_idx, num_classes, weights=None,
                metrics_collections=None, updates_collections=None, name=None):
    """How far labels and predictions, integers [n] or [n, 1] below num_classes,
    agree more than by chance: a float64 scalar, 1 for always. ValueError for
    fewer than two classes and for shapes that do not fit."""
    if num_classes < 2:
        raise ValueError("`num_classes` must be >= 2.Found: {}".format(
            num_classes))
    with variable_scope(name, "cohen_kappa",
                        (labels, predictions_idx, weights)):
        labels.get_shape().with_rank_at_most(2)
        if labels.get_shape().ndims == 2:
            labels = _array.squeeze(labels, axis=[-1])
        labels, predictions_idx, weights = matched(labels, predictions_idx,
                                                   weights)
        kind = (dtypes.int64 if weights is None or weights.dtype.is_integer
                else dtypes.float32)
        agreed, rows, columns = [
            metric_variable((num_classes,), kind, name=n)
            for n in ("po", "pe_row", "pe_col")]
        table = confusion_matrix(
            labels, predictions_idx, num_classes=num_classes, weights=weights,
            dtype=kind, name="counts_in_table")
        parts = [_raw.DiagPart(input=table), _math.reduce_sum(table, axis=0),
                 _math.reduce_sum(table, axis=1)]
        updates = [assign_add(v, p) for v, p in zip((agreed, rows, columns),
                                                    parts)]

        def kappa(agreed, rows, columns, name):
            sums = _math.reduce_sum(agreed)
            total = _math.reduce_sum(rows)
            chance = _math.reduce_sum(_math.div_no_nan(
                _math.cast(rows * columns, dtypes.float64),
                _math.cast(total, dtypes.float64)))
            sums, total = (_math.cast(t, dtypes.float64)
                           for t in (sums, total))
            return ratio(sums - chance, total - chance, name)
        return collected(kappa(agreed, rows, columns, "value"),
                         kappa(*updates, "update_op"), metrics_collections,
                         updates_collections)


def _next_size(required, factor=1.5):
    """The smallest power of `factor` that is large enough."""
    power = _math.ceil(_math.log(_math.cast(required, dtypes.float32))
                       / _math.log(_math.cast(factor, dtypes.float32)))
    return _math.cast(_math.ceil(factor ** power), dtypes.int32)


def streaming_concat(values, axis=0, max_size=None, metrics_collections=None,
                     updates_collections=None, name=None):
    """(all values of all runs behind each other along an axis, the op that adds
    those of a run). `values`: of any dtype, whose other dimensions are known;
    `max_size`: how many are kept. ValueError for another shape or axis."""
    with variable_scope(name, "streaming_concat", (values,)):
        shape = values.get_shape()
        if shape.dims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = len(shape)
        axis += rank if axis < 0 else 0
        if not 0 <= axis < rank:
            raise ValueError("axis = %r not in [0, %r)" % (axis, rank))
        fixed = [d.value for i, d in enumerate(shape.dims) if i != axis]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to "
                "concatenate along must have statically known size")
        # The axis comes first in the variable, so that an update is one slice.
        array = metric_variable([max_size or 0] + fixed, values.dtype,
                                validate_shape=False, name="array")
        size = metric_variable([], dtypes.int32, name="size")
        valid = array[:size]
        valid.set_shape([None] + fixed)
        value = _array.transpose(valid, [
            0 if i == axis else i + 1 if i < axis else i
            for i in range(rank)], name="concat")
        count = _array.shape(values)[axis]
        if max_size is not None:
            count = _math.minimum(count, max_size - size)
        batch = _array.transpose(values, [axis] + [
            i for i in range(rank) if i != axis])[:count]
        new_size = size + count

        def reallocate():
            old = array.value()
            with control_dependencies([old]):
                larger = assign(array, _array.zeros(_array.stack(
                    [_next_size(new_size)] + fixed), dtype=values.dtype),
                    validate_shape=False)
            with control_dependencies([larger]):
                copy = array[:size].assign(old[:size])
            with control_dependencies([copy]):
                return _array.no_op()
        has = _raw.Shape(input=array)[0]
        with control_dependencies([cond(new_size > has, reallocate,
                                        _array.no_op)]):
            append = array[size:new_size].assign(batch)
        with control_dependencies([append]):
            update = size.assign(new_size)
        return collected(value, update, metrics_collections,
                         updates_collections)
