"""tf.keras.regularizers: losses of weights."""
from headrace import raw_ops as _raw
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend, named
from headrace._src.ops import math_ops as _math


class Regularizer:
    """A function from a tensor of weights to a scalar loss."""

    def __call__(self, x):
        return 0.

    def get_config(self):
        raise NotImplementedError("get_config of %s" % type(self).__name__)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class L1L2(Regularizer):
    """l1 * sum(|x|) + l2 * sum(x^2)."""

    def __init__(self, l1=0., l2=0.):
        self.l1 = backend.rounded(l1)
        self.l2 = backend.rounded(l2)

    def __call__(self, x):
        x = convert_to_tensor(x)
        if not self.l1 and not self.l2:
            return backend.constant(0., dtype=x.dtype.base_dtype)
        loss = 0.
        if self.l1:
            loss += _math.reduce_sum(self.l1 * _raw.Abs(x))
        if self.l2:
            loss += _math.reduce_sum(self.l2 * _raw.Square(x))
        return loss

    def get_config(self):
        return {"l1": self.l1, "l2": self.l2}


def l1(l=0.01):
    return L1L2(l1=l)


def l2(l=0.01):
    return L1L2(l2=l)


def l1_l2(l1=0.01, l2=0.01):
    return L1L2(l1=l1, l2=l2)


_KNOWN = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}


def get(identifier):
    """The regularizer that a name or a config stands for; None is none."""
    found = named.find(identifier, "regularizer", _KNOWN)
    return found() if found in (l1, l2, l1_l2) else found


def serialize(regularizer):
    return named.describe(regularizer)


def deserialize(config, custom_objects=None):
    return named.find(config, "regularizer",
                      {**_KNOWN, **(custom_objects or {})})
