"""tf.keras.constraints: what weights are made to be after each update."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend, named
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math


class Constraint:
    """A function from weights to what they become."""

    def __call__(self, w):
        return w

    def get_config(self):
        return dict(vars(self))


def _norms(w, axis):
    return _math.sqrt(_math.reduce_sum(_raw.Square(w), axis, keepdims=True))


class MaxNorm(Constraint):
    """The L2 norm along `axis` is at most max_value."""

    def __init__(self, max_value=2, axis=0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        norms = _norms(w, self.axis)
        wanted = _clipping.clip_by_value(norms, 0, self.max_value)
        return w * (wanted / (backend.epsilon() + norms))


class NonNeg(Constraint):
    """No weight is below 0."""

    def __call__(self, w):
        w = convert_to_tensor(w)
        return w * _math.cast(w >= 0., w.dtype.base_dtype)


class UnitNorm(Constraint):
    """The L2 norm along `axis` is 1."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        return w / (backend.epsilon() + _norms(w, self.axis))


class MinMaxNorm(Constraint):
    """The L2 norm along `axis` moves into [min_value, max_value], by `rate` of
    the way."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        norms = _norms(w, self.axis)
        wanted = (self.rate * _clipping.clip_by_value(
            norms, self.min_value, self.max_value) + (1 - self.rate) * norms)
        return w * (wanted / (backend.epsilon() + norms))


class RadialConstraint(Constraint):
    """Windows of kernels [size, size, channels, filters] become rings of equal
    numbers around the middle: those on the diagonal. ValueError for kernels of
    another rank, of unknown sizes or of windows that are not square or of size
    1."""

    def __call__(self, w):
        w = convert_to_tensor(w)
        shape = w.get_shape()
        if shape.ndims != 4:
            raise ValueError("The weight tensor must be of rank 4, but is of "
                             "shape: %s" % shape)
        n, columns = shape.as_list()[:2]
        if n is None or n != columns or n < 2:
            raise ValueError("RadialConstraint: windows must be square and "
                             "larger than 1, got shape %s" % shape)
        places = np.abs(np.arange(n) - (n - 1) / 2)
        ring = np.maximum(places[:, None], places[None]).astype(int)
        # The middle has the number before the half, rings those from it on.
        at = np.where(ring == 0, n // 2 - 1, n // 2 + ring - n % 2)
        return _array.gather_nd(w, np.stack([at, at], -1).astype(np.int32))


max_norm = MaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
min_max_norm = MinMaxNorm
radial_constraint = RadialConstraint
_KNOWN = {"MaxNorm": MaxNorm, "NonNeg": NonNeg, "UnitNorm": UnitNorm,
          "MinMaxNorm": MinMaxNorm, "max_norm": MaxNorm, "non_neg": NonNeg,
          "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm,
          "RadialConstraint": RadialConstraint,
          "radial_constraint": RadialConstraint,
          # Names of older versions of Keras.
          "maxnorm": MaxNorm, "nonneg": NonNeg, "unitnorm": UnitNorm}


def get(identifier):
    """The constraint that a name or a config stands for; None is none."""
    return named.find(identifier, "constraint", _KNOWN)


def serialize(constraint):
    return named.describe(constraint)


def deserialize(config, custom_objects=None):
    return named.find(config, "constraint",
                      {**_KNOWN, **(custom_objects or {})})
