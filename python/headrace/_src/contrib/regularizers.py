"""tf.contrib.layers: regularizers and initializers of weights."""
import math
import numbers

from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, get_collection, name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.nn.losses import l2_loss
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


def _check_scale(scale, name="scale"):
    """True if there is something to regularize."""
    if isinstance(scale, numbers.Integral):
        raise ValueError("%s cannot be an integer: %s" % (name, scale))
    if isinstance(scale, numbers.Real):
        if scale < 0.:
            raise ValueError("Setting a scale less than 0 on a regularizer: "
                             "%g" % scale)
        return scale != 0.
    return True


def _nothing(_):
    return None


def _scaled(default, scale, scope, measure):
    if not _check_scale(scale):
        return _nothing

    def regularizer(weights, name=None):
        with name_scope(scope, default, [weights]) as name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype,
                                       name="scale")
            return _math.multiply(factor, measure(weights), name=name)
    return regularizer


def l1_regularizer(scale, scope=None):
    """A function from weights to scale * sum(|weights|)."""
    return _scaled("l1_regularizer", scale, scope,
                   lambda w: _math.reduce_sum(_math.abs(w)))


def l2_regularizer(scale, scope=None):
    """A function from weights to scale * sum(weights^2) / 2, a scalar.

    `scale`: a number that is not negative; with 0 the function gives None.
    Weights: float16, bfloat16, float32 or float64 of any shape, whose type the
    scalar has. ValueError for an integer and for a negative scale."""
    return _scaled("l2_regularizer", scale, scope, l2_loss)


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    """The sum of l1_regularizer and l2_regularizer."""
    _check_scale(scale_l1, "scale_l1")
    _check_scale(scale_l2, "scale_l2")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1),
                            l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list, scope=None):
    """The sum of what regularizers give; None for none of them."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def total(weights):
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [r(weights) for r in regularizers]
            losses = [x for x in losses if x is not None]
            return _math.add_n(losses, name=name) if losses else None
    return total


def apply_regularization(regularizer, weights_list=None):
    """The sum of the losses of the weights, by default those of the
    collection WEIGHTS; it joins REGULARIZATION_LOSSES. ValueError if there are
    none, or for a loss that is no scalar."""
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty",
                    values=weights_list) as scope:
        losses = [regularizer(w) for w in weights_list]
        losses = [constant(0.0) if x is None else x for x in losses]
        for x in losses:
            if x.get_shape().ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor "
                                 "instead of a Tensor with rank %s."
                                 % x.get_shape().ndims)
        total = _math.add_n(losses, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False,
                                 seed=None, dtype=dtypes.float32):
    """An initializer of random values with variance factor / n, where n is the
    number of inputs, of outputs, or their mean ("FAN_AVG").

    For any shape; `dtype`: float16, float32 or float64. TypeError for other
    types and another mode."""
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point "
                        "type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]" % mode)

    def _initializer(shape, dtype=dtype, partition_info=None):
        if not dtype.is_floating:
            raise TypeError("Cannot create initializer for non-floating point "
                            "type.")
        shape = [int(n) for n in shape]
        window = float(math.prod(shape[:-2]))
        fan_in = float(shape[-2 if len(shape) > 1 else -1]) if shape else 1.0
        fan_out = float(shape[-1]) if shape else 1.0
        n = {"FAN_IN": fan_in * window, "FAN_OUT": fan_out * window,
             "FAN_AVG": (fan_in + fan_out) * window / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return _random.random_uniform(shape, -limit, limit, dtype,
                                          seed=seed)
        # 1.3 makes up for what is cut off.
        return _random.truncated_normal(
            shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)
    return _initializer


def xavier_initializer(uniform=True, seed=None, dtype=dtypes.float32):
    """variance_scaling_initializer for outputs as large as inputs: variance 2 /
    (inputs + outputs), uniform or normal.

    For any shape; `dtype`: float16, float32 or float64, TypeError for others.
    """
    return variance_scaling_initializer(
        factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer
