"""tf.contrib.losses: those of tf.losses, with the predictions first, and with
weights of the first dimensions of the losses: a weight counts for all elements
that it stands before."""
from headrace._src.contrib.arg_scopes import add_arg_scope
from headrace._src.framework import dtypes
from headrace._src.framework.graph import GraphKeys, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.losses import losses as _losses
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _as_weights(weights):
    weights = _math.cast(convert_to_tensor(weights), dtypes.float32)
    if weights.get_shape().ndims is None:
        raise ValueError("weights.get_shape().ndims cannot be None")
    return weights


def _scaled(losses, weights):
    """The sum of the losses, each times its weight."""
    sums = _math.reduce_sum(losses, axis=list(range(
        weights.get_shape().ndims, losses.get_shape().ndims)))
    return _math.reduce_sum(_math.multiply(sums, weights))


def _present(losses, weights):
    """How many losses of each example have a weight that is not 0."""
    rank = weights.get_shape().ndims
    here = _math.cast(_math.not_equal(weights, 0.), dtypes.float32)
    if rank == 0:
        batch = _array.shape(losses)[0]
        each = _math.cast(_array.size(losses), dtypes.float32) / _math.cast(
            batch, dtypes.float32)
        return _array.ones(_array.expand_dims(batch, 0)) * (each * here)
    each = _math.reduce_prod(_array.shape(losses)[rank:])
    return _math.reduce_sum(here, axis=list(range(1, rank))) * _math.cast(
        each, dtypes.float32)


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The mean of the losses whose weight is not 0, each times its weight, in
    the collection of losses. `weights`: a number, or of the first dimensions of
    `losses`; a dimension of 1 at the end is dropped. ValueError for unknown
    ranks."""
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        kind = losses.dtype.base_dtype
        losses = _math.cast(losses, dtypes.float32)
        weights = _as_weights(weights)
        if losses.get_shape().ndims is None:
            raise ValueError("losses.get_shape().ndims cannot be None")
        shape = weights.get_shape()
        if shape.ndims > 1 and shape[-1].is_compatible_with(1):
            weights = _array.squeeze(weights, [-1])
        if weights.get_shape().ndims > losses.get_shape().ndims:
            raise ValueError("weights of shape %s have more dimensions than "
                             "losses of shape %s" % (shape, losses.get_shape()))
        total = _scaled(losses, weights)
        mean = _math.div_no_nan(total, _math.reduce_sum(
            _present(losses, weights)), name="value")
        mean = _math.cast(mean, kind)
        add_loss(mean)
        return mean


def _weighted(name, function, labels, predictions, weights, scope, *options):
    """A loss of tf.losses of each element, weighted."""
    with name_scope(scope, name, [predictions, labels, weights]) as scope:
        losses = function(labels, predictions, 1.0, *options,
                          loss_collection=None, reduction="none")
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Adds a loss to a collection."""
    _losses.add_loss(loss, loss_collection)


def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """The losses of a collection, whose names begin with `scope`."""
    return _losses.get_losses(scope, loss_collection)


def get_regularization_losses(scope=None):
    """tf.losses.get_regularization_losses."""
    return _losses.get_regularization_losses(scope)


def get_total_loss(add_regularization_losses=True, name="total_loss"):
    """The sum of the losses, and of the regularizers' by default."""
    return _losses.get_total_loss(add_regularization_losses, name)


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """tf.losses.absolute_difference."""
    return _weighted("absolute_difference", _losses.absolute_difference,
                     labels, predictions, weights, scope)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0,
                    scope=None, dim=None):
    """tf.losses.cosine_distance. ValueError without `axis` (or `dim`, its old
    name)."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss",
                    [predictions, labels, weights]) as scope:
        losses = _losses.cosine_distance(
            labels, predictions, axis, loss_collection=None, reduction="none")
        return compute_weighted_loss(losses, weights, scope=scope)


def hinge_loss(logits, labels=None, scope=None):
    """The hinge loss of each logit: nothing is summed, and no collection
    joined."""
    return _losses.hinge_loss(labels, logits, scope=scope,
                              loss_collection=None, reduction="none")


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """tf.losses.log_loss."""
    return _weighted("log_loss", _losses.log_loss, labels, predictions, weights,
                     scope, epsilon)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0,
                                scope=None):
    """The mean over all ordered pairs of elements of an example, those of an
    element with itself among them, of the squared difference of their errors;
    times the weights, and added over the examples."""
    with name_scope(scope, "mean_pairwise_squared_error",
                    [predictions, labels, weights]):
        predictions = _math.cast(convert_to_tensor(predictions), dtypes.float32)
        labels = _math.cast(convert_to_tensor(labels), dtypes.float32)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        weights = _as_weights(weights)
        errors = _math.subtract(predictions, labels)
        if errors.get_shape().ndims is None:
            raise ValueError("diffs.get_shape().ndims cannot be None")
        axes = list(range(1, errors.get_shape().ndims))
        number = _present(errors, weights)
        squares = _math.reduce_sum(_math.square(errors), axis=axes)
        sums = _math.reduce_sum(errors, axis=axes)
        pairs = 2. * _math.div_no_nan(squares, number) - 2. * _math.div_no_nan(
            _math.square(sums), _math.square(number))
        loss = _array.where(_math.reduce_sum(number) > 0.,
                            _scaled(pairs, weights), 0., name="value")
        add_loss(loss)
        return loss


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """tf.losses.mean_squared_error."""
    return _weighted("mean_squared_error", _losses.mean_squared_error, labels,
                     predictions, weights, scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0,
                          label_smoothing=0, scope=None):
    """tf.losses.sigmoid_cross_entropy."""
    return _weighted("sigmoid_cross_entropy_loss",
                     _losses.sigmoid_cross_entropy, multi_class_labels, logits,
                     weights, scope, label_smoothing)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0,
                          label_smoothing=0, scope=None):
    """tf.losses.softmax_cross_entropy."""
    return _weighted("softmax_cross_entropy_loss",
                     _losses.softmax_cross_entropy, onehot_labels, logits,
                     weights, scope, label_smoothing)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """tf.losses.sparse_softmax_cross_entropy."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss",
                    [logits, labels, weights]) as scope:
        labels = _array.reshape(labels, [_array.shape(labels)[0]])
        losses = _losses.sparse_softmax_cross_entropy(
            labels, logits, loss_collection=None, reduction="none")
        return compute_weighted_loss(losses, weights, scope=scope)
