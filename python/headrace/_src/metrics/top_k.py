"""tf.metrics: precision and recall of the k classes that are predicted
highest, where an example may have several labels."""
from headrace._src.control.control_flow import cond
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.losses.weights import (
    assert_broadcastable, broadcast_weights)
from headrace._src.metrics.streaming import collected, metric_variable
from headrace._src.nn.activations import top_k
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import (
    SparseTensor, convert_to_tensor_or_sparse_tensor)
from headrace._src.sparse import set_ops as _sets
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.variables.strategies import of_all_replicas
from headrace._src.variables.variables import assign_add


def _name(name, k, class_id=None):
    name = "%s_at_%s" % (name, "k" if k is None else "%d" % k)
    return name if class_id is None else "%s_class%d" % (name, class_id)


def as_sets(labels, predictions):
    """The labels with a last dimension for those of one example."""
    with name_scope(None, "expand_labels", [labels, predictions]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(
                _math.equal(_array.rank(predictions),
                            _array.size(labels.dense_shape) + 1),
                lambda: _sparse.sparse_reshape(
                    labels, _array.concat((labels.dense_shape, (1,)), 0),
                    name=scope),
                lambda: labels)
        n, wanted = labels.get_shape().ndims, predictions.get_shape().ndims
        if n is None or wanted is None:
            return cond(
                _math.equal(_array.rank(predictions),
                            _array.rank(labels) + 1),
                lambda: _array.expand_dims(labels, -1, name=scope),
                lambda: labels)
        if n == wanted:
            return labels
        if wanted == n + 1:
            return _array.expand_dims(labels, -1, name=scope)
        raise ValueError("Unexpected labels shape %s for predictions shape %s."
                         % (labels.get_shape(), predictions.get_shape()))


def of_class(ids, class_id):
    """The ids that are `class_id`; sets without it are empty."""
    if class_id is None:
        return ids
    if isinstance(ids, SparseTensor):
        return _sparse.sparse_retain(ids, _math.equal(ids.values, class_id))
    shape = _array.shape(ids, out_type=dtypes.int64)
    one = _array.concat([shape[:-1], [1]], 0)
    same = _sets.set_intersection(_array.fill(
        one, _math.cast(class_id, ids.dtype.base_dtype)), ids)
    return SparseTensor(same.indices, same.values, shape)


def _size_of(found, weights):
    """The sizes of sets as float64, times weights."""
    sizes = _math.cast(_sets.set_size(found), dtypes.float64)
    if weights is None:
        return sizes
    with control_dependencies([assert_broadcastable(weights, sizes)]):
        return _math.multiply(sizes, _math.cast(weights, dtypes.float64))


def _both(predictions, labels):
    return _sets.set_intersection(predictions, labels)


def _only_predicted(predictions, labels):
    return _sets.set_difference(predictions, labels, aminusb=True)


def _only_labels(predictions, labels):
    return _sets.set_difference(predictions, labels, aminusb=False)


def _total(name, choose, labels, predictions, k, class_id, weights):
    """(variable, update): the sizes of all sets that `choose` makes."""
    with name_scope(None, _name(name, k, class_id),
                    [predictions, labels, weights]) as scope:
        with name_scope(None, name + "s", [predictions, labels, weights]):
            sizes = _size_of(choose(of_class(predictions, class_id),
                                    of_class(labels, class_id)), weights)
        batch = _math.cast(_math.reduce_sum(sizes), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return of_all_replicas(variable), assign_add(variable, batch,
                                                     name="update")


def _share(metric, other, choose, labels, predictions_idx, k, class_id,
           weights, metrics_collections, updates_collections, name):
    with name_scope(name, _name(metric, k, class_id),
                    [predictions_idx, labels, weights]) as scope:
        labels = as_sets(labels, convert_to_tensor(predictions_idx))
        if labels.dtype.base_dtype != dtypes.int64:
            labels = _sparse_cast(labels)
        best = _math.cast(predictions_idx, dtypes.int64)
        right, right_update = _total("true_positive", _both, labels, best, k,
                                     class_id, weights)
        wrong, wrong_update = _total(other, choose, labels, best, k, class_id,
                                     weights)
        return collected(
            _math.div(right, _math.add(right, wrong), name=scope),
            _math.div(right_update, _math.add(right_update, wrong_update),
                      name="update"),
            metrics_collections, updates_collections)


def _sparse_cast(labels):
    if isinstance(labels, SparseTensor):
        return SparseTensor(labels.indices,
                            _math.cast(labels.values, dtypes.int64),
                            labels.dense_shape)
    return _math.cast(labels, dtypes.int64)


def precision_at_top_k(labels, predictions_idx, k=None, class_id=None,
                       weights=None, metrics_collections=None,
                       updates_collections=None, name=None):
    """The share of the predicted classes that are labels. `predictions_idx`:
    [..., k] classes; `labels`: [..., labels], a SparseTensor of such, or one
    for each example. `class_id`: of this class alone."""
    return _share("precision", "false_positive", _only_predicted, labels,
                  predictions_idx, k, class_id, weights, metrics_collections,
                  updates_collections, name)


def recall_at_top_k(labels, predictions_idx, k=None, class_id=None,
                    weights=None, metrics_collections=None,
                    updates_collections=None, name=None):
    """The share of the labels that are among the predicted classes."""
    return _share("recall", "false_negative", _only_labels, labels,
                  predictions_idx, k, class_id, weights, metrics_collections,
                  updates_collections, name)


def precision_at_k(labels, predictions, k, class_id=None, weights=None,
                   metrics_collections=None, updates_collections=None,
                   name=None):
    """precision_at_top_k of the k highest of `predictions` [..., classes]."""
    with name_scope(name, _name("precision", k, class_id),
                    [predictions, labels, weights]) as scope:
        return precision_at_top_k(
            labels, top_k(predictions, k)[1], k, class_id, weights,
            metrics_collections, updates_collections, name=scope)


def sparse_precision_at_k(labels, predictions, k, class_id=None, weights=None,
                          metrics_collections=None, updates_collections=None,
                          name=None):
    """precision_at_k, by its old name."""
    return precision_at_k(labels, predictions, k, class_id, weights,
                          metrics_collections, updates_collections, name)


def recall_at_k(labels, predictions, k, class_id=None, weights=None,
                metrics_collections=None, updates_collections=None, name=None):
    """recall_at_top_k of the k highest of `predictions` [..., classes]."""
    with name_scope(name, _name("recall", k, class_id),
                    [predictions, labels, weights]) as scope:
        return recall_at_top_k(
            labels, top_k(predictions, k)[1], k, class_id, weights,
            metrics_collections, updates_collections, name=scope)


def average_precision_at_k(labels, predictions, k, weights=None,
                           metrics_collections=None, updates_collections=None,
                           name=None):
    """The mean over examples of the average precision: the sum of the
    precisions at the ranks up to k where a label is found, divided by the
    number of labels, at most k. Dense labels that are no class are left
    out."""
    if k < 1:
        raise ValueError("Invalid k=%s." % k)
    with name_scope(name, _name("average_precision", k),
                    [predictions, labels, weights]) as scope:
        predictions = convert_to_tensor(predictions)
        best = _math.cast(top_k(predictions, k)[1], dtypes.int64)
        labels = _sparse_cast(as_sets(labels, best))
        average = _average_precision(
            _of_classes(labels, _math.cast(_array.shape(predictions)[-1],
                                           dtypes.int64)), best, k)
        return _streamed_average(average, weights, metrics_collections,
                                 updates_collections, scope)


def average_precision_at_top_k(
        labels, predictions_idx, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """average_precision_at_k of classes that are sorted already, the best
    first: `predictions_idx` [..., k], k known. Dense labels that are negative
    are left out."""
    with name_scope(name, "average_precision_at_top_k",
                    [predictions_idx, labels, weights]) as scope:
        best = _math.cast(predictions_idx, dtypes.int64, name="predictions_idx")
        if not best.get_shape().ndims:
            raise ValueError("Rank of predictions_idx must be known and not 0, "
                             "its shape is %s." % (best.get_shape(),))
        k = best.get_shape().as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be "
                             "known, its shape is %s." % (best.get_shape(),))
        average = _average_precision(_sparse_cast(as_sets(labels, best)), best,
                                     k)
        return _streamed_average(average, weights, metrics_collections,
                                 updates_collections, scope)


def _streamed_average(average, weights, metrics_collections,
                      updates_collections, scope):
    """(value, update): the mean of float64 numbers over all runs."""
    if weights is not None:
        weights = broadcast_weights(_math.cast(weights, dtypes.float64),
                                    average)
        average = _math.multiply(average, weights)
    with name_scope(None, "max", [average]) as inner:
        most = metric_variable([], dtypes.float64, name=inner)
        batch = (_math.cast(_array.size(average, name="batch_max"),
                            dtypes.float64) if weights is None
                 else _math.reduce_sum(weights, name="batch_max"))
        most_update = assign_add(most, batch, name="update")
    with name_scope(None, "total", [average]) as inner:
        total = metric_variable([], dtypes.float64, name=inner)
        total_update = assign_add(total, _math.reduce_sum(
            average, name="batch_total"), name="update")
    return collected(
        _math.div_no_nan(of_all_replicas(total), of_all_replicas(most),
                         name="mean"),
        _math.div_no_nan(total_update, most_update, name=scope),
        metrics_collections, updates_collections)


def sparse_average_precision_at_k(
        labels, predictions, k, weights=None, metrics_collections=None,
        updates_collections=None, name=None):
    """average_precision_at_k, by its old name."""
    return average_precision_at_k(labels, predictions, k, weights,
                                  metrics_collections, updates_collections,
                                  name)


def _of_classes(labels, classes):
    """The labels with -1 for those that are no class."""
    if isinstance(labels, SparseTensor):
        return SparseTensor(labels.indices, _of_classes(labels.values, classes),
                            labels.dense_shape)
    return _array.where(labels >= classes, -1 * _array.ones_like(labels),
                        labels)


def _average_precision(labels, best, k):
    """Of each example, as float64. Negative labels do not count where they are
    dense; sparse ones do, as TensorFlow counts them, each once."""
    if isinstance(labels, SparseTensor):
        number = _sets.set_size(labels)
        labels = _sparse.sparse_tensor_to_dense(
            labels, default_value=-1, validate_indices=False)
    else:
        number = _math.reduce_sum(_math.cast(labels >= 0, dtypes.int32), -1)
    # [..., k, labels]: which prediction is which label.
    same = _math.equal(_array.expand_dims(best, -1),
                       _array.expand_dims(labels, -2))
    found = _math.cast(_math.reduce_any(same, -1), dtypes.float64)
    precisions = _math.cumsum(found, axis=-1) / _math.cumsum(
        _array.ones_like(found), axis=-1)
    return _math.div(
        _math.reduce_sum(precisions * found, -1),
        _math.cast(_math.minimum(number, k), dtypes.float64))
