"""tf.contrib.losses: those of tf.losses, with the predictions first."""
from headrace._src.framework.graph import GraphKeys
from headrace._src.losses import losses as _losses


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """tf.losses.compute_weighted_loss."""
    return _losses.compute_weighted_loss(losses, weights, scope)


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
    return _losses.absolute_difference(labels, predictions, weights, scope)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0,
                    scope=None, dim=None):
    """tf.losses.cosine_distance. ValueError without `axis` (or `dim`, its old
    name)."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _losses.cosine_distance(labels, predictions, axis, weights, scope)


def hinge_loss(logits, labels=None, scope=None):
    """The hinge loss of each logit: nothing is summed, and no collection
    joined."""
    return _losses.hinge_loss(labels, logits, scope=scope,
                              loss_collection=None, reduction="none")


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """tf.losses.log_loss."""
    return _losses.log_loss(labels, predictions, weights, epsilon, scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0,
                                scope=None):
    """tf.losses.mean_pairwise_squared_error."""
    return _losses.mean_pairwise_squared_error(labels, predictions, weights,
                                               scope)


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """tf.losses.mean_squared_error."""
    return _losses.mean_squared_error(labels, predictions, weights, scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0,
                          label_smoothing=0, scope=None):
    """tf.losses.sigmoid_cross_entropy."""
    return _losses.sigmoid_cross_entropy(multi_class_labels, logits, weights,
                                         label_smoothing, scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0,
                          label_smoothing=0, scope=None):
    """tf.losses.softmax_cross_entropy."""
    return _losses.softmax_cross_entropy(onehot_labels, logits, weights,
                                         label_smoothing, scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """tf.losses.sparse_softmax_cross_entropy."""
    return _losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)
