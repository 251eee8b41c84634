"""tf.keras.constraints: what weights are made to be after each update."""
from headrace import raw_ops as _raw
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend, named
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


max_norm = MaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
min_max_norm = MinMaxNorm
_KNOWN = {"MaxNorm": MaxNorm, "NonNeg": NonNeg, "UnitNorm": UnitNorm,
          "MinMaxNorm": MinMaxNorm, "max_norm": MaxNorm, "non_neg": NonNeg,
          "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm}


def get(identifier):
    """The constraint that a name or a config stands for; None is none."""
    return named.find(identifier, "constraint", _KNOWN)


def serialize(constraint):
    return named.describe(constraint)


def deserialize(config, custom_objects=None):
    return named.find(config, "constraint",
                      {**_KNOWN, **(custom_objects or {})})
