"""tensorflow.python.ops.init_ops_v2: the initializers of TensorFlow 2, whose
type is that of the call, float32 by default."""
from headrace._src.compat.second_forms import constant
from headrace._src.framework import dtypes
from headrace._src.ops import random_ops as _random
from headrace._src.variables import initializers as _first


def _of_seed(stateful, stateless):
    """A random function; with a seed, its numbers depend on that alone."""
    def drawn(shape, *args, seed=None, **kwargs):
        if seed is None:
            return stateful(shape, *args, **kwargs)
        return stateless(shape, [seed, 0], *args, **kwargs)
    return staticmethod(drawn)


class _Numbers:
    random_uniform = _of_seed(_random.random_uniform,
                              _random.stateless_random_uniform)
    random_normal = _of_seed(_random.random_normal,
                             _random.stateless_random_normal)
    truncated_normal = _of_seed(_random.truncated_normal,
                                _random.stateless_truncated_normal)


class Initializer:
    """Called with a shape and a type."""

    def __call__(self, shape, dtype=None):
        raise NotImplementedError

    def get_config(self):
        """The arguments that from_config makes an equal one of."""
        return {}

    @classmethod
    def from_config(cls, config):
        """The initializer that get_config tells of; its `dtype` is dropped."""
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


class _Random(Initializer):
    """One that an initializer of 1.x does, `_first`, for the types that
    `_check` passes."""

    def __init__(self, **arguments):
        self._arguments = arguments
        vars(self).update(arguments)

    def get_config(self):
        return dict(self._arguments)

    def __call__(self, shape, dtype=dtypes.float32):
        dtype = dtypes.as_dtype(dtype)
        self._check(dtype)
        first = self._first(dtype=dtype, **self._arguments)
        first._random = _Numbers
        return first(shape, dtype)

    def _check(self, dtype):
        if not dtype.is_floating:
            raise ValueError("Expected floating point type, got %s." % dtype)


def _numeric(dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_numpy_compatible or dtype == dtypes.string:
        raise ValueError("Expected numeric or boolean dtype, got %s." % dtype)
    return dtype


class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape, dtype=dtypes.float32):
        return _first.Zeros()(shape, _numeric(dtype))


class Ones(Initializer):
    """Ones."""

    def __call__(self, shape, dtype=dtypes.float32):
        return _first.Ones()(shape, _numeric(dtype))


class Constant(Initializer):
    """A number everywhere, or the values of a list or array, as many as the
    shape has; TypeError for others."""

    def __init__(self, value=0):
        _first.Constant(value)  # checks its type
        self.value = value

    def __call__(self, shape, dtype=None):
        return constant(self.value, dtype and dtypes.as_dtype(dtype), shape)

    def get_config(self):
        return {"value": self.value}


class RandomUniform(_Random):
    """Uniform values in [minval, maxval)."""
    _first = _first.RandomUniform

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(minval=minval, maxval=maxval, seed=seed)

    def _check(self, dtype):
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError("Expected float or integer dtype, got %s." % dtype)


class RandomNormal(_Random):
    """Normal values of this mean and deviation."""
    _first = _first.RandomNormal

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(mean=mean, stddev=stddev, seed=seed)


class TruncatedNormal(_Random):
    """Normal values, drawn again beyond two deviations."""
    _first = _first.TruncatedNormal

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(mean=mean, stddev=stddev, seed=seed)


class VarianceScaling(_Random):
    """As tf.variance_scaling_initializer."""
    _first = _first.VarianceScaling

    def __init__(self, scale=1.0, mode="fan_in",
                 distribution="truncated_normal", seed=None):
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        _first.VarianceScaling(scale, mode, distribution)  # checks them
        super().__init__(scale=scale, mode=mode, distribution=distribution,
                         seed=seed)


class Orthogonal(_Random):
    """A random orthogonal matrix times `gain`."""
    _first = _first.Orthogonal

    def __init__(self, gain=1.0, seed=None):
        super().__init__(gain=gain, seed=seed)


class Identity(_Random):
    """The identity matrix times `gain`."""
    _first = _first.Identity

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)


class _Fixed(VarianceScaling):
    """VarianceScaling of which only the seed is free."""

    def get_config(self):
        return {"seed": self.seed}


class GlorotUniform(_Fixed):
    """Uniform values of the variance 1 / fan_avg."""

    def __init__(self, seed=None):
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(_Fixed):
    """Truncated normal values of the variance 1 / fan_avg."""

    def __init__(self, seed=None):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


def lecun_normal(seed=None):
    return VarianceScaling(1., "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return VarianceScaling(1., "fan_in", "uniform", seed)


def he_normal(seed=None):
    return VarianceScaling(2., "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    return VarianceScaling(2., "fan_in", "uniform", seed)
