"""tf.keras.layers: layers without weights: sums and the like of several inputs,
noise, cropping, repetition; and the functions that call them."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework.tensor import constant
from headrace._src.layers import backend
from headrace._src.layers.core import (
    Add, Concatenate, Dropout, Multiply, data_format_of, merged_mask)
from headrace._src.layers.engine import Layer
from headrace._src.layers.input_spec import InputSpec
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


class _Merge(Layer):
    _masks_pass = True

    def compute_mask(self, inputs, mask=None):
        return merged_mask(mask)

    def _reduce(self, inputs):
        raise NotImplementedError

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            raise ValueError("A merge layer should be called on a list of at "
                             "least 2 inputs. Got %s" % (inputs,))
        return self._reduce(inputs)


def _fold(function, inputs):
    out = inputs[0]
    for x in inputs[1:]:
        out = function(out, x)
    return out


class Subtract(_Merge):
    """The first input less the second. ValueError for more."""

    def _reduce(self, inputs):
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 "
                             "inputs")
        return inputs[0] - inputs[1]


class Average(_Merge):
    """The mean of the inputs."""

    def _reduce(self, inputs):
        return _fold(_math.add, inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs."""

    def _reduce(self, inputs):
        return _fold(_math.maximum, inputs)


class Minimum(_Merge):
    """The smallest of the inputs."""

    def _reduce(self, inputs):
        return _fold(_math.minimum, inputs)


def add(inputs, **kwargs):
    """Add(**kwargs)(inputs)."""
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """Subtract(**kwargs)(inputs)."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """Multiply(**kwargs)(inputs)."""
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """Average(**kwargs)(inputs)."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """Maximum(**kwargs)(inputs)."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """Minimum(**kwargs)(inputs)."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """Concatenate(axis, **kwargs)(inputs)."""
    return Concatenate(axis=axis, **kwargs)(inputs)


class GaussianNoise(Layer):
    """Adds normal noise of standard deviation `stddev` while training."""

    _masks_pass = True

    def __init__(self, stddev, **kwargs):
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs, training=None):
        if training is None:
            training = backend.learning_phase()
        return backend.choose(
            training,
            lambda: inputs + _random.random_normal(
                _array.shape(inputs), stddev=self.stddev, dtype=inputs.dtype),
            lambda: inputs)

    def get_config(self):
        return {**super().get_config(), "stddev": self.stddev}


class SpatialDropout1D(Dropout):
    """Dropout of whole channels of [batch, steps, channels]."""

    def __init__(self, rate, **kwargs):
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs):
        sizes = _array.shape(inputs)
        return _array.stack([sizes[0], 1, sizes[2]])


class SpatialDropout2D(Dropout):
    """Dropout of whole channels of images."""

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=4)

    def _get_noise_shape(self, inputs):
        sizes = _array.shape(inputs)
        if self.data_format == "channels_first":
            return _array.stack([sizes[0], sizes[1], 1, 1])
        return _array.stack([sizes[0], 1, 1, sizes[3]])


class ELU(Layer):
    """x, or alpha * (exp(x) - 1) below 0."""

    _masks_pass = True

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs):
        y = _raw.Elu(inputs)
        return y if self.alpha == 1 else _array.where(
            inputs > 0, inputs, self.alpha * y)

    def get_config(self):
        return {**super().get_config(), "alpha": float(self.alpha)}


class ThresholdedReLU(Layer):
    """x above theta, 0 elsewhere."""

    _masks_pass = True

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        self.theta = theta

    def call(self, inputs):
        return inputs * _math.cast(inputs > self.theta, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "theta": float(self.theta)}


class _Global1D(Layer):
    reduce: object

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs):
        axis = 2 if self.data_format == "channels_first" else 1
        return type(self).reduce(inputs, axis)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class GlobalAveragePooling1D(_Global1D):
    """The mean of each channel over the steps, or over those that a mask has."""
    reduce = staticmethod(_math.reduce_mean)
    _masks_pass = True

    def compute_mask(self, inputs, mask=None):
        """None: the steps are gone."""
        return None

    def call(self, inputs, mask=None):
        if mask is None:
            return super().call(inputs)
        axis = 2 if self.data_format == "channels_first" else 1
        there = _array.expand_dims(_math.cast(mask, inputs.dtype), 3 - axis)
        return _math.reduce_sum(inputs * there, axis) / _math.reduce_sum(
            there, axis)


class GlobalMaxPooling1D(_Global1D):
    """The largest of each channel over the steps."""
    reduce = staticmethod(_math.reduce_max)


def _pairs(value, n, what):
    """n pairs: of one number, of n numbers, or of n pairs."""
    if isinstance(value, int):
        return [(value, value)] * n
    if len(value) != n:
        raise ValueError("%s should have %d elements, got %s"
                         % (what, n, value))
    return [(v, v) if isinstance(v, int) else tuple(v) for v in value]


class Cropping1D(Layer):
    """Without `cropping` steps (first, last) of [batch, steps, channels]."""

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(**kwargs)
        self.cropping = (cropping, cropping) if isinstance(cropping, int) \
            else tuple(cropping)
        if len(self.cropping) != 2:
            raise ValueError("cropping should have 2 elements, got %s"
                             % (cropping,))
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs):
        first, last = self.cropping
        return inputs[:, first:-last] if last else inputs[:, first:]

    def get_config(self):
        return {**super().get_config(), "cropping": self.cropping}


class Cropping2D(Layer):
    """Images without rows and columns at the edges: ((top, bottom), (left,
    right)), or one number for each pair, or one for all."""

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.cropping = tuple(_pairs(cropping, 2, "cropping"))
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs):
        rows, columns = (slice(a, -b if b else None) for a, b in self.cropping)
        if self.data_format == "channels_first":
            return inputs[:, :, rows, columns]
        return inputs[:, rows, columns]

    def get_config(self):
        return {**super().get_config(), "cropping": self.cropping,
                "data_format": self.data_format}


class UpSampling1D(Layer):
    """Each step `size` times."""

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs):
        return _repeated(inputs, self.size, 1)

    def get_config(self):
        return {**super().get_config(), "size": self.size}


def _repeated(x, times, axis):
    """Each slice along `axis` several times."""
    static = x.get_shape().as_list()
    if static[axis] is not None:
        slices = _array.split(x, static[axis], axis=axis)
        return _array.concat([part for part in slices for _ in range(times)],
                             axis)
    spread = _array.expand_dims(x, axis + 1)
    spread = _array.tile(spread, [times if i == axis + 1 else 1
                                  for i in range(len(static) + 1)])
    sizes = [_array.shape(x)[i] if n is None else n
             for i, n in enumerate(static)]
    sizes[axis] = sizes[axis] * times
    return _array.reshape(spread, sizes)


class UpSampling2D(Layer):
    """Images with rows and columns repeated `size` times, or resized
    ("bilinear")."""

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest",
                 **kwargs):
        super().__init__(**kwargs)
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.data_format = data_format_of(data_format)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError("`interpolation` argument should be one of "
                             "`\"nearest\"` or `\"bilinear\"`.")
        self.interpolation = interpolation
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs):
        first = self.data_format == "channels_first"
        sizes = _array.shape(inputs)[2:] if first else _array.shape(inputs)[1:3]
        new = sizes * constant(np.array(self.size, np.int32))
        x = _array.transpose(inputs, [0, 2, 3, 1]) if first else inputs
        static = x.get_shape().as_list()
        if self.interpolation == "nearest":
            x = _raw.ResizeNearestNeighbor(x, new, half_pixel_centers=True)
        else:
            x = _math.cast(_raw.ResizeBilinear(
                x, new, half_pixel_centers=True), inputs.dtype)
        x.set_shape([static[0]] + [None if n is None else n * k for n, k in zip(
            static[1:3], self.size)] + [static[3]])
        return _array.transpose(x, [0, 3, 1, 2]) if first else x

    def get_config(self):
        return {**super().get_config(), "size": self.size,
                "data_format": self.data_format,
                "interpolation": self.interpolation}
