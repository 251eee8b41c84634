"""tf.keras.initializers: initializers by name."""
import inspect

from headrace._src.layers import named
from headrace._src.variables import initializers as _init

_NAMES = """
    constant glorot_normal glorot_uniform he_normal he_uniform identity
    lecun_normal lecun_uniform ones orthogonal random_normal random_uniform
    truncated_normal variance_scaling zeros Constant GlorotNormal GlorotUniform
    Identity Ones Orthogonal RandomNormal RandomUniform TruncatedNormal
    VarianceScaling Zeros"""


class TruncatedNormal(_init.TruncatedNormal):
    """Of standard deviation 0.05 by default."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype="float32"):
        super().__init__(mean, stddev, seed, dtype)


class RandomNormal(_init.RandomNormal):
    """Of standard deviation 0.05 by default."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype="float32"):
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(_init.RandomUniform):
    """Between -0.05 and 0.05 by default."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None, dtype="float32"):
        super().__init__(minval, maxval, seed, dtype)


random_normal = normal = RandomNormal
random_uniform = uniform = RandomUniform
truncated_normal = TruncatedNormal
_KNOWN = {name: getattr(_init, name) for name in _NAMES.split()}
_KNOWN.update({f: globals()[f] for f in (
    "TruncatedNormal", "RandomNormal", "RandomUniform", "random_normal",
    "random_uniform", "truncated_normal", "normal", "uniform")},
    one=_init.Ones, zero=_init.Zeros)


def get(identifier):
    """The initializer that a name or a config stands for; None is none."""
    found = named.find(identifier, "initializer", _KNOWN)
    if isinstance(identifier, str) and inspect.isfunction(found):
        return found()  # he_normal and the like are functions
    return found


def serialize(initializer):
    return named.describe(initializer)


def deserialize(config, custom_objects=None):
    return named.find(config, "initializer",
                      {**_KNOWN, **(custom_objects or {})})
