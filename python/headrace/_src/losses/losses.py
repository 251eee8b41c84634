"""tf.losses: losses of predictions, weighted, reduced and collected."""
from headrace import raw_ops as _raw
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, control_dependencies, get_collection,
    get_default_graph, name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.losses.weights import (
    as_float, assert_broadcastable, broadcast_weights, squeezed, weights_like)
from headrace._src.nn import losses as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_ops import _renamed


class Reduction:
    """How weighted losses become one: not at all, their sum, or their sum
    divided by the number of elements, by that of weights that are not 0, or by
    the sum of the weights."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE,
                cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % (key,))


_BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS
_LOSSES = GraphKeys.LOSSES


def add_loss(loss, loss_collection=_LOSSES):
    """Adds a loss to the collection, if there is one."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_LOSSES):
    """The losses of the collection, with `scope` those whose names begin with
    it."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The losses of weights."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the losses of weights; 0 if there are none."""
    losses = get_regularization_losses(scope)
    if losses:
        return _math.add_n(losses, name=name)
    return constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss",
                   scope=None):
    """The sum of all losses. ValueError if there are none."""
    losses = list(get_losses(scope=scope))
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return _math.add_n(losses, name=name)


def _mean(total, count):
    return _math.div_no_nan(_math.reduce_sum(total), count, name="value")


def _number(losses):
    with name_scope(None, "num_elements", [losses]) as scope:
        return _math.cast(_array.size(losses, name=scope), losses.dtype)


def _present(losses, weights, per_example=False):
    """How many losses have a weight that is not 0."""
    if isinstance(weights, float) and weights != 0.0:
        return _number(losses)
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = as_float(weights)
        present = _array.where(
            _math.equal(weights, 0.0), _array.zeros_like(weights),
            _array.ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_example:
            return _math.reduce_sum(
                present, _math.range(1, _array.rank(present)), keepdims=True,
                name=scope)
        return _math.reduce_sum(present, name=scope)


def compute_weighted_loss(losses, weights=1.0, scope=None,
                          loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """`losses` times `weights`, reduced, of the type of the losses. ValueError
    if the weights do not fit, or for an unknown reduction."""
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        get_default_graph()._last_loss_reduction = reduction
        with control_dependencies([assert_broadcastable(weights, losses)]):
            losses = convert_to_tensor(losses)
            kind = losses.dtype.base_dtype
            losses = as_float(losses)
            weights = as_float(weights)
            loss = _math.multiply(losses, weights)
            if reduction != Reduction.NONE:
                loss = _math.reduce_sum(loss)
            if reduction == Reduction.MEAN:
                loss = _mean(loss, _math.reduce_sum(
                    _array.ones_like(losses) * weights))
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                loss = _mean(loss, _present(losses, weights))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = _mean(loss, _number(losses))
            loss = _math.cast(loss, kind)
            add_loss(loss, loss_collection)
            return loss


def _both(**arguments):
    for name, value in arguments.items():
        if value is None:
            raise ValueError("%s must not be None." % name)


def _pair(labels, predictions):
    """Both as float32, of compatible shapes."""
    predictions = as_float(predictions)
    labels = as_float(labels)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, predictions


def absolute_difference(labels, predictions, weights=1.0, scope=None,
                        loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """|predictions - labels|."""
    _both(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference",
                    [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = _math.abs(_math.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None,
                    loss_collection=_LOSSES, reduction=_BY_WEIGHTS, dim=None):
    """1 - the sum of labels * predictions along `axis`; both are expected to
    have length 1 there."""
    axis = _renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _both(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss",
                    [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = 1 - _math.reduce_sum(_math.multiply(predictions, labels),
                                      axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None,
               loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """max(0, 1 - sign * logits), where the sign is 1 for labels of 1 and -1
    for labels of 0."""
    _both(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        labels, logits = _pair(labels, logits)
        ones = _array.ones_like(labels)
        signs = _math.subtract(2 * labels, ones)
        losses = _raw.Relu(_math.subtract(ones, _math.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None,
               loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """Half the square of the error up to `delta`, and linear beyond."""
    _both(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss",
                    [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        error = _math.abs(_math.subtract(predictions, labels))
        # The minimum's gradient is 0 or 1 where the two meet, never both
        # parts' together.
        quadratic = _math.minimum(error, delta)
        linear = _math.subtract(error, quadratic)
        losses = _math.add(
            _math.multiply(constant(0.5, quadratic.dtype.base_dtype),
                           _math.multiply(quadratic, quadratic)),
            _math.multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None,
             loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """The cross entropy of probabilities, which are kept from 0 by
    `epsilon`."""
    _both(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss",
                    [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = -_math.multiply(
            labels, _math.log(predictions + epsilon)) - _math.multiply(
                1 - labels, _math.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None,
                                loss_collection=_LOSSES):
    """The mean over pairs of elements of an example of (difference of the
    predictions - difference of the labels)^2, summed over examples."""
    _both(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error",
                    [predictions, labels, weights]) as scope:
        weights = as_float(weights)
        labels = as_float(labels)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions = as_float(predictions)
            predictions.get_shape().assert_is_compatible_with(
                labels.get_shape())
            diffs = _math.subtract(predictions, labels)
            axes = _math.range(1, _array.rank(diffs))
            squares = _math.reduce_sum(_math.square(diffs), axes,
                                       keepdims=True)
            n = _present(diffs, weights, per_example=True)
            first = 2.0 * _math.div_no_nan(
                squares, _math.maximum(n - 1, 0), name="value")
            total = _math.reduce_sum(diffs, axes, keepdims=True)
            second = 2.0 * _math.div_no_nan(
                _math.square(total),
                _math.maximum(_math.multiply(n, n - 1), 0), name="value")
            loss = _math.reduce_sum(_math.multiply(first - second, weights))
            mean = _array.where(_math.reduce_sum(n) > 0, loss,
                                _array.zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean


def mean_squared_error(labels, predictions, weights=1.0, scope=None,
                       loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """(predictions - labels)^2, the mean over what has a weight by default.

    `labels` and `predictions`: numbers of one shape, as float32. `weights`: a
    scalar, or what broadcasts to the losses. Returns a scalar float32, or with
    Reduction.NONE the losses, and adds it to `loss_collection`. ValueError for
    None, or shapes or weights that do not fit."""
    _both(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error",
                    [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = _math.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0,
                          label_smoothing=0, scope=None,
                          loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """The cross entropy of independent classes. `label_smoothing` moves labels
    that much of the way to 1/2."""
    _both(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss",
                    [logits, multi_class_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = _math.cast(multi_class_labels, logits.dtype.base_dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = _nn.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0,
                          label_smoothing=0, scope=None,
                          loss_collection=_LOSSES, reduction=_BY_WEIGHTS):
    """The cross entropy of one class among many, without a gradient to the
    labels. `label_smoothing` moves them that much of the way to 1/classes."""
    _both(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss",
                    [logits, onehot_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = _math.cast(onehot_labels, logits.dtype.base_dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            classes = _math.cast(_array.shape(labels)[-1],
                                 logits.dtype.base_dtype)
            labels = labels * (1.0 - label_smoothing) + (
                label_smoothing / classes)
        labels = _array.stop_gradient(labels, name="labels_stop_gradient")
        losses = _nn.softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None,
                                 loss_collection=_LOSSES,
                                 reduction=_BY_WEIGHTS):
    """softmax_cross_entropy, where labels are the numbers of the classes.

    `labels`: int32 or int64 [batch, ...]; `logits`: float16, bfloat16, float32
    or float64 [batch, ..., classes]. `weights` are a scalar, or broadcast to
    the labels. Returns a scalar, or with Reduction.NONE the losses, and adds it
    to `loss_collection`. ValueError for None or shapes that do not fit."""
    _both(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss",
                    [logits, labels, weights]) as scope:
        labels, logits = squeezed(labels, logits, difference=1)
        if weights is not None:
            weights = weights_like(weights, labels)
        losses = _nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection,
                                     reduction)
