"""tensorflow.python.ops.metrics_impl and confusion_matrix: what metrics of
programs are made of."""
from headrace._src.framework.graph import (
    add_to_collections, name_scope)
from headrace._src.losses.weights import squeezed
from headrace._src.math import math_special as _special
from headrace._src.metrics import counts as _counts
from headrace._src.metrics import means as _means
from headrace._src.metrics.streaming import matched
from headrace._src.ops import math_ops as _math

streaming_confusion_matrix = _means.streaming_confusion_matrix
_SHORT = {"tp": "true_positives", "fn": "false_negatives",
          "tn": "true_negatives", "fp": "false_positives"}


def confusion_matrix(labels, predictions, num_classes=None, weights=None,
                     dtype="int32", name=None):
    """tf.math.confusion_matrix of TensorFlow 2: the arguments in its order."""
    return _special.confusion_matrix(labels, predictions, num_classes, dtype,
                                     name, weights)


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0,
                                 name=None):
    """(labels, predictions): that of the two without its last dimension of 1
    whose rank is one too large for rank(predictions) - rank(labels) to be
    expected_rank_diff."""
    with name_scope(name, "remove_squeezable_dimensions",
                    [labels, predictions]):
        return squeezed(labels, predictions, expected_rank_diff)


def matched_shapes(predictions, labels, weights):
    """(predictions, labels, weights) with dimensions of 1 at the end added or
    removed where they differ by one."""
    labels, predictions, weights = matched(labels, predictions, weights)
    return predictions, labels, weights


def confusion_matrix_at_thresholds(labels, predictions, thresholds,
                                   weights=None, includes=None):
    """({kind: variable}, {kind: update}) for the kinds "tp", "fn", "tn" and
    "fp": how often predictions above each threshold are right or wrong.
    ValueError for another kind."""
    if includes is None:
        includes = list(_SHORT)
    for kind in includes:
        if kind not in _SHORT:
            raise ValueError("Invalid key: %s." % kind)
    short = [kind for kind in _SHORT if kind in includes]
    values, updates = _counts.at_thresholds(
        labels, predictions, thresholds, weights, [_SHORT[k] for k in short])
    return ({k: values[_SHORT[k]] for k in short},
            {k: updates[_SHORT[k]] for k in short})


def aggregate_across_replicas(metrics_collections, metric_value_fn, *args):
    """metric_value_fn(strategy, *args), which joins the collections."""
    from headrace._src.distribute.strategy import get_replica_context

    def value(strategy, *args):
        found = metric_value_fn(strategy, *args)
        if metrics_collections:
            add_to_collections(metrics_collections, found)
        return found
    return get_replica_context().merge_call(value, args=args)


def aggregate_variable(v, collections):
    """The value of a metric's variable, which joins the collections."""
    return aggregate_across_replicas(
        collections, lambda strategy, v: strategy.extended.read_var(v), v)


def safe_scalar_div(numerator, denominator, name):
    """numerator / denominator, 0 where the latter is 0."""
    return _math.div_no_nan(numerator, denominator, name=name)
