"""tf.contrib.learn: losses of heads. Each gives two scalars: the mean that is
trained, and the average by weights that is reported."""
from headrace._src.control.control_flow import Assert
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.losses import losses as _losses
from headrace._src.losses.weights import broadcast_weights
from headrace._src.nn import losses as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def weighted(losses, weights):
    """(mean of losses times weights, their sum over that of the weights)."""
    with name_scope("loss", values=(losses, weights)) as scope:
        if weights is None:
            loss = _math.reduce_mean(losses, name=scope)
            return loss, loss
        weights = broadcast_weights(weights, losses)
        with name_scope(None, "weighted_loss", (losses, weights)) as name:
            products = _math.multiply(losses, weights, name=name)
        mean = _math.reduce_mean(products, name=scope)
        return mean, _math.div(
            _math.reduce_sum(products),
            _math.cast(_math.reduce_sum(weights), dtypes.float32),
            name="weighted_average_loss")


def _as_columns(t):
    return _array.expand_dims(t, axis=1) if len(t.get_shape()) == 1 else t


def mean_squared(labels, logits, weights=None):
    """Squared differences of float logits and numeric labels, [batch] or [batch,
    n]. ValueError for shapes that do not fit."""
    with name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        labels = _as_columns(labels)
        logits = _as_columns(logits)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        return weighted(_math.squared_difference(
            logits, _math.cast(labels, dtypes.float32), name=name), weights)


def poisson(labels, logits, weights=None):
    """nn.log_poisson_loss of the same shapes."""
    with name_scope(None, "_poisson_loss", (logits, labels)) as name:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        labels = _as_columns(labels)
        logits = _as_columns(logits)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        return weighted(_nn.log_poisson_loss(
            labels, logits, compute_full_loss=True, name=name), weights)


def two_classes(labels, logits, weights=None):
    """The cross entropy of logits [batch, 1] and labels 0 and 1, [batch] or
    [batch, 1]."""
    with name_scope(None, "log_loss_with_two_classes",
                    (logits, labels)) as name:
        logits = convert_to_tensor(logits)
        labels = _as_columns(_math.cast(labels, dtypes.float32))
        return weighted(_nn.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name), weights)


def softmax(labels, logits, weights=None):
    """The cross entropy of logits [batch, classes] and integer labels, [batch]
    or [batch, 1]. ValueError for labels of another dtype."""
    with name_scope(None, "softmax_cross_entropy_loss",
                    (logits, labels)) as name:
        labels = convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError("Labels dtype should be integer Instead got %s."
                             % labels.dtype)
        squeezed = len(labels.get_shape()) == 2
        if squeezed:
            labels = _array.squeeze(labels, axis=(1,))
        losses = _nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name)
        if squeezed:
            losses = _array.expand_dims(losses, axis=(1,))
        return weighted(losses, weights)


def hinge(labels, logits, weights=None):
    """The hinge loss of logits [batch, 1] and labels 0 and 1. A run fails for
    labels that are no vector or column."""
    with name_scope(None, "hinge_loss", (logits, labels)) as name:
        fits = Assert(
            _math.less_equal(_array.rank(labels), 2),
            ("labels shape should be either [batch_size, 1] or [batch_size]",))
        with control_dependencies((fits,)):
            labels = _array.reshape(labels, shape=(-1, 1))
        return weighted(_losses.hinge_loss(
            labels=labels, logits=logits, scope=name,
            reduction=_losses.Reduction.NONE), weights)


def sigmoid(labels, logits, weights=None):
    """The cross entropy of logits and labels 0 and 1, both [batch, classes]."""
    with name_scope(None, "sigmoid_cross_entropy_loss",
                    (logits, labels)) as name:
        return weighted(_nn.sigmoid_cross_entropy_with_logits(
            labels=_math.cast(labels, dtypes.float32), logits=logits,
            name=name), weights)
