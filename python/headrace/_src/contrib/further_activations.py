"""tf.contrib.nn: dropout that keeps mean and variance, and a softplus whose
slope is trained."""
import numbers

from headrace import raw_ops as _raw
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.nn import losses as _losses
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random

_DROPPED = -1.7580993408473766  # what selu tends to


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout for selu: what is dropped gets its negative limit, and all is
    scaled so that mean and variance stay.

    Args:
      x: floats of any shape; the result is like it.
      keep_prob: the share that is kept, a number or a scalar.
      noise_shape: the shape of the random choice, by default that of x.
      seed: of the random numbers.
      name: of the scope.

    Raises:
      ValueError: keep_prob is not in (0, 1], or no scalar.
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.:
            raise ValueError("keep_prob must be a scalar tensor or a float in "
                             "the range (0, 1], got %g" % keep_prob)
        keep = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.get_shape().assert_has_rank(0)
        if constant_value(keep) == 1:
            return x
        shape = _array.shape(x) if noise_shape is None else noise_shape
        kept = _math.cast(
            _raw.GreaterEqual(_random.random_uniform(
                shape, seed=seed, dtype=x.dtype), 1 - keep), x.dtype)
        x = x * kept + _DROPPED * (1 - kept)
        a = (keep + keep * (1 - keep) * _DROPPED ** 2) ** -0.5
        return a * x - a * _DROPPED * (1 - keep)


def scaled_softplus(x, alpha, clip=None, name=None):
    """alpha log(1 + exp(x / alpha)), and not more than `clip`. All have
    gradients.

    Args:
      x: floats of any shape; the result is like it.
      alpha: floats that broadcast to x.
      clip: floats that broadcast to x, or None for no limit.
      name: of the scope.
    """
    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * _raw.Softplus(x / alpha)
        if clip is None:
            return y
        return _math.minimum(y, convert_to_tensor(clip, dtype=x.dtype,
                                                  name="clip"))


# As before TensorFlow 1.0, with the logits first.

def deprecated_flipped_softmax_cross_entropy_with_logits(
        logits, labels, dim=-1, name=None):
    """tf.nn.softmax_cross_entropy_with_logits: one loss of the logits' float
    dtype for each row."""
    return _losses.softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
        logits, labels, name=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits: one loss of the logits'
    float dtype for each row."""
    return _losses.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
        logits, targets, name=None):
    """tf.nn.sigmoid_cross_entropy_with_logits: a loss of the logits' shape and
    float dtype."""
    return _losses.sigmoid_cross_entropy_with_logits(
        labels=targets, logits=logits, name=name)
