"""Initial values of variables: objects called with (shape, dtype)."""
import math

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import constant as _constant
from headrace._src.framework.tensor_shape import as_list_or_none
from headrace._src.ops import array_ops as _array
from headrace._src.ops import random_ops as _random


class Initializer:
    """Called with the variable's shape, and its dtype if that differs from the
    initializer's own."""

    _random = _random  # where random numbers are from

    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        """The arguments that from_config makes an equal one of."""
        return {k: getattr(v, "name", v) if k == "dtype" else v
                for k, v in vars(self).items()}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Zeros(Initializer):
    """Zeros of any shape: an initializer for get_variable.

    `dtype`: numbers, bool (False) or string (""); float32 by default. TypeError
    for what is no dtype."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return _array.zeros(shape, dtype or self.dtype)


class Ones(Initializer):
    """Ones of any shape: an initializer for get_variable.

    `dtype`: numbers or bool (True); float32 by default. TypeError for what is
    no dtype, and in the call for strings."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return _array.ones(shape, dtype or self.dtype)


class Constant(Initializer):
    """A number everywhere, or the values of a list or array in order.

    `dtype`: numbers, bool or string. It fills any shape; the last value is
    repeated, or with `verify_shape` the shapes must be equal. TypeError for a
    value that is no number, list or array, or differs in shape under
    verify_shape; ValueError for more values than the shape has."""

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value)
                or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                "Invalid type for initial value: %s (expected Python scalar, "
                "list or tuple of values, or numpy.ndarray)." % type(value))
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self.verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None,
                 verify_shape=None):
        return _constant(self.value, dtype=dtype or self.dtype, shape=shape,
                         verify_shape=verify_shape or self.verify_shape)

    def get_config(self):
        return {"value": self.value, "dtype": self.dtype.name}


class RandomUniform(Initializer):
    """Uniform values in [minval, maxval); integers too.

    Of any shape; `dtype`: float16, bfloat16, float32, float64, int32 or int64.
    `maxval` is 1 for floats. ValueError for integers without maxval and for
    other types."""

    def __init__(self, minval=0, maxval=None, seed=None, dtype=dtypes.float32):
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._random.random_uniform(shape, self.minval, self.maxval,
                                      dtype or self.dtype, seed=self.seed)


def floating(dtype):
    """The DType; ValueError unless it is floating."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got %s." % dtype)
    return dtype


class RandomNormal(Initializer):
    """Normal values of this mean and deviation.

    Of any shape; `dtype`: float16, bfloat16, float32 or float64, ValueError for
    others. `seed`: an int, as of random_normal."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._random.random_normal(shape, self.mean, self.stddev,
                                     dtype or self.dtype, seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Normal values, drawn again beyond two deviations.

    Of any shape; `dtype`: float16, bfloat16, float32 or float64, ValueError for
    others. `seed`: an int, as of random_normal."""
    def __call__(self, shape, dtype=None, partition_info=None):
        return self._random.truncated_normal(shape, self.mean, self.stddev,
                                        dtype or self.dtype, seed=self.seed)


class VarianceScaling(Initializer):
    """Random values whose variance is scale / n, n being the number of inputs
    of a unit ("fan_in"), of its outputs ("fan_out"), or their mean
    ("fan_avg"). `distribution`: "normal" (truncated), "untruncated_normal" or
    "uniform".

    For any shape; `dtype`: float16, bfloat16, float32 or float64. ValueError
    for a scale that is not positive, another mode, distribution or dtype."""

    def __init__(self, scale=1.0, mode="fan_in",
                 distribution="truncated_normal", seed=None,
                 dtype=dtypes.float32):
        if scale <= 0.:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument: %s" % mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal",
                                "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument: %s"
                             % distribution)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        fan_in, fan_out = _fans(_whole(shape, partition_info))
        n = {"fan_in": fan_in, "fan_out": fan_out,
             "fan_avg": (fan_in + fan_out) / 2.}[self.mode]
        scale = self.scale / max(1., n)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return self._random.random_uniform(shape, -limit, limit, dtype,
                                          seed=self.seed)
        if self.distribution == "untruncated_normal":
            return self._random.random_normal(shape, 0.0, math.sqrt(scale), dtype,
                                         seed=self.seed)
        # The standard deviation of a normal distribution cut off at 2.
        stddev = math.sqrt(scale) / .87962566103423978
        return self._random.truncated_normal(shape, 0.0, stddev, dtype,
                                        seed=self.seed)


def _whole(shape, partition_info):
    """The shape of the variable of which one of `shape` is a slice."""
    return as_list_or_none(shape if partition_info is None
                           else partition_info.full_shape)


def _fans(shape):
    """(inputs, outputs) of a unit; the leading dimensions of a convolution's
    filter multiply both."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    window = int(np.prod(shape[:-2], dtype=np.int64))
    return shape[-2] * window, shape[-1] * window


class UniformUnitScaling(Initializer):
    """Uniform values within factor * sqrt(3 / inputs) of 0."""

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self.factor, self.seed = factor, seed
        self.dtype = floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        n = max(1.0, float(np.prod(_whole(shape, partition_info)[:-1])))
        limit = math.sqrt(3 / n) * self.factor
        return self._random.random_uniform(shape, -limit, limit,
                                      dtype or self.dtype, seed=self.seed)


class Identity(Initializer):
    """The identity matrix times `gain`."""

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        whole = as_list_or_none(shape if partition_info is None
                                else partition_info.full_shape)
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for "
                             "2D matrices.")
        out = _array.eye(whole[0], whole[1], dtype=dtype or self.dtype)
        if partition_info is not None:
            out = _array.slice(out, partition_info.var_offset, shape)
        return self.gain * out


def orthonormal(random):
    """Orthonormal columns from a matrix [rows, columns] of normal numbers, with
    at least as many rows. All are equally likely."""
    q, r = _raw.Qr(random, full_matrices=False)
    return q * _raw.Sign(_raw.DiagPart(r))  # the signs make them so


class Orthogonal(Initializer):
    """A matrix with orthonormal columns, or rows if there are more columns,
    times `gain`. A tensor of more dimensions is that matrix with its last
    dimension as columns."""

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain, self.seed = gain, seed
        self.dtype = floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        sizes = as_list_or_none(shape)
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least "
                             "two-dimensional")
        columns = sizes[-1]
        rows = int(np.prod(sizes[:-1], dtype=np.int64))
        long, short = max(rows, columns), min(rows, columns)
        random = self._random.random_normal([long, short], dtype=dtype,
                                            seed=self.seed)
        q = orthonormal(random)
        if rows < columns:
            q = _array.matrix_transpose(q)
        return self.gain * _array.reshape(q, sizes)


class GlorotUniform(VarianceScaling):
    """Uniform values within sqrt(6 / (inputs + outputs)) of 0."""

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self):
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """Normal values, cut at two deviations, of variance 2 / (inputs +
    outputs)."""

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self):
        return {"seed": self.seed, "dtype": self.dtype.name}


def he_normal(seed=None):
    return VarianceScaling(2., "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    """Uniform values within sqrt(6 / inputs) of 0."""
    return VarianceScaling(2., "fan_in", "uniform", seed)


def lecun_normal(seed=None):
    return VarianceScaling(1., "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return VarianceScaling(1., "fan_in", "uniform", seed)


# Operations that initialize, which tf.initializers has too.

zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones
constant_initializer = Constant
random_uniform = random_uniform_initializer = RandomUniform
random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
variance_scaling = variance_scaling_initializer = VarianceScaling
uniform_unit_scaling_initializer = UniformUnitScaling
uniform_unit_scaling = UniformUnitScaling
identity = Identity
orthogonal = orthogonal_initializer = Orthogonal
constant = Constant
glorot_uniform = glorot_uniform_initializer = GlorotUniform
glorot_normal = glorot_normal_initializer = GlorotNormal
