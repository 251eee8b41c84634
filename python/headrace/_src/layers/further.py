"""tf.keras.layers: depthwise convolution, dot products, noise that multiplies or
keeps the moments, a loss of activities, and layers of volumes."""
import numpy as np

from headrace._loading import load as _load
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import backend, regularizers, windows
from headrace._src.layers.convolution import _Conv
from headrace._src.layers.core import Dropout, data_format_of
from headrace._src.layers.engine import Layer
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.simple import _pairs, _repeated
from headrace._src.nn import conv as _conv
from headrace._src.nn import normalization as _normalization
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


class DepthwiseConv2D(_Conv):
    """Each channel of images convolved with `depth_multiplier` filters of its
    own. Weights: `depthwise_kernel` [rows, columns, channels, multiplier] and
    `bias`. ValueError if the channels are not known."""

    def __init__(self, kernel_size, strides=(1, 1), padding="valid",
                 depth_multiplier=1, data_format=None, activation=None,
                 use_bias=True, depthwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, bias_constraint=None, **kwargs):
        dilation_rate = kwargs.pop("dilation_rate", (1, 1))
        super().__init__(
            2, None, kernel_size, strides, padding, data_format, dilation_rate,
            activation, use_bias, {
                "depthwise_initializer": depthwise_initializer,
                "bias_initializer": bias_initializer,
                "depthwise_regularizer": depthwise_regularizer,
                "bias_regularizer": bias_regularizer,
                "depthwise_constraint": depthwise_constraint,
                "bias_constraint": bias_constraint},
            activity_regularizer, **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_kernel = self.bias = None

    def build(self, input_shape):
        channels = self._input_channels(input_shape)
        self.depthwise_kernel = self._add(
            "depthwise_kernel",
            self.kernel_size + (channels, self.depth_multiplier), "depthwise")
        self._add_bias(channels * self.depth_multiplier)
        self.built = True

    def call(self, inputs):
        first = self.data_format == "channels_first"
        return self._finish(_conv.depthwise_conv2d(
            inputs, self.depthwise_kernel,
            (1, 1) + self.strides if first else (1,) + self.strides + (1,),
            self.padding.upper(), self.dilation_rate,
            data_format=windows.op_format(self.data_format, 4)))

    def compute_output_shape(self, input_shape):
        axis = 1 if self.data_format == "channels_first" else -1
        channels = TensorShape(input_shape)[axis].value
        self.filters = channels and channels * self.depth_multiplier
        return super().compute_output_shape(input_shape)

    def get_config(self):
        config = super().get_config()
        del config["filters"]
        return {**config, "depth_multiplier": self.depth_multiplier}


class Dot(Layer):
    """The sums of products of two inputs along `axes`, a dimension or one for
    each; `normalize`: of vectors of length 1. ValueError for other numbers of
    inputs and sizes that differ."""

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int) and (
                not isinstance(axes, (list, tuple)) or len(axes) != 2
                or not all(isinstance(a, int) for a in axes)):
            raise ValueError("Dot: `axes` must be an int or two of them, got %s"
                             % (axes,))
        self.axes = axes
        self.normalize = normalize
        self.supports_masking = True

    def _two_axes(self):
        return [self.axes] * 2 if isinstance(self.axes, int) else self.axes

    def build(self, input_shape):
        if not isinstance(input_shape, (list, tuple)) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 "
                             "inputs.")
        sizes = [shape[a].value
                 for shape, a in zip(input_shape, self._two_axes())]
        if None not in sizes and sizes[0] != sizes[1]:
            raise ValueError(
                "Dimension incompatibility %s != %s. Layer shapes: %s, %s"
                % (sizes[0], sizes[1], input_shape[0], input_shape[1]))
        self.built = True

    def call(self, inputs):
        axes = [a % x.get_shape().ndims
                for a, x in zip(self._two_axes(), inputs)]
        if self.normalize:
            inputs = [_normalization.l2_normalize(x, axis=a)
                      for x, a in zip(inputs, axes)]
        return _load("_src.keras.backend_arrays").batch_dot(*inputs, axes)

    def compute_mask(self, inputs, mask=None):
        """None: the dimension of steps may be gone."""
        return None

    def get_config(self):
        return {**super().get_config(), "axes": self.axes,
                "normalize": self.normalize}


def dot(inputs, axes, normalize=False, **kwargs):
    """Dot(axes, normalize, **kwargs)(inputs)."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)


class _Noise(Layer):
    """What changes its inputs in training alone."""

    _masks_pass = True

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs, training=None):
        if not 0 < self.rate < 1:
            return inputs
        if training is None:
            training = backend.learning_phase()
        return backend.choose(training, lambda: self._noised(inputs),
                              lambda: _array.identity(inputs))

    def _noised(self, inputs):
        raise NotImplementedError

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}


class GaussianDropout(_Noise):
    """In training, multiplies by normal numbers of mean 1 and the variance
    rate / (1 - rate)."""

    def _noised(self, inputs):
        return inputs * _random.random_normal(
            _array.shape(inputs), 1., np.sqrt(self.rate / (1 - self.rate)),
            dtype=inputs.dtype)


class AlphaDropout(_Noise):
    """In training, sets a share `rate` of the inputs to what SELU gives for large
    negative ones, and keeps mean and variance. `noise_shape`: of what is drawn,
    by default that of the inputs."""

    _LOWEST = -1.6732632423543772848170429916717 * (
        1.0507009873554804934193349852946)

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(rate, **kwargs)
        self.noise_shape = noise_shape
        self.seed = seed

    def _noised(self, inputs):
        lowest = self._LOWEST
        shape = self.noise_shape or _array.shape(inputs)
        kept = _math.cast(_random.random_uniform(shape, seed=self.seed)
                          >= self.rate, inputs.dtype)
        a = ((1 - self.rate) * (1 + self.rate * lowest ** 2)) ** -0.5
        b = -a * lowest * self.rate
        return a * (inputs * kept + lowest * (1 - kept)) + b


class ActivityRegularization(Layer):
    """The inputs; adds l1 * sum(|x|) + l2 * sum(x^2), for each example, to the
    losses."""

    _masks_pass = True

    def __init__(self, l1=0., l2=0., **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2),
                         **kwargs)
        self.l1 = l1
        self.l2 = l2

    def get_config(self):
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}


class SpatialDropout3D(Dropout):
    """Dropout of whole channels of volumes."""

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=5)

    def _get_noise_shape(self, inputs):
        sizes = _array.shape(inputs)
        if self.data_format == "channels_first":
            return _array.stack([sizes[0], sizes[1], 1, 1, 1])
        return _array.stack([sizes[0], 1, 1, 1, sizes[4]])


class _OfVolumes(Layer):
    def __init__(self, data_format, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=5)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class _Global3D(_OfVolumes):
    reduce: object

    def __init__(self, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)

    def call(self, inputs):
        first = self.data_format == "channels_first"
        return type(self).reduce(inputs, [2, 3, 4] if first else [1, 2, 3])


class GlobalAveragePooling3D(_Global3D):
    """The mean of each channel of a volume."""
    reduce = staticmethod(_math.reduce_mean)


class GlobalMaxPooling3D(_Global3D):
    """The largest of each channel of a volume."""
    reduce = staticmethod(_math.reduce_max)


class Cropping3D(_OfVolumes):
    """Volumes without slices at the ends of each dimension: three pairs, three
    numbers, or one for all."""

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None,
                 **kwargs):
        super().__init__(data_format, **kwargs)
        self.cropping = tuple(_pairs(cropping, 3, "cropping"))

    def call(self, inputs):
        kept = tuple(slice(a, -b if b else None) for a, b in self.cropping)
        if self.data_format == "channels_first":
            return inputs[(slice(None), slice(None)) + kept]
        return inputs[(slice(None),) + kept]

    def get_config(self):
        return {**super().get_config(), "cropping": self.cropping}


class UpSampling3D(_OfVolumes):
    """Volumes with slices repeated `size` times in each dimension."""

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.size = windows.numbers(size, 3, "size")

    def call(self, inputs):
        start = 2 if self.data_format == "channels_first" else 1
        for i, times in enumerate(self.size):
            inputs = _repeated(inputs, times, start + i)
        return inputs

    def get_config(self):
        return {**super().get_config(), "size": self.size}


GlobalAvgPool3D, GlobalMaxPool3D = GlobalAveragePooling3D, GlobalMaxPooling3D
