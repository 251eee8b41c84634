"""tf.keras.layers: convolutions with other weights at each place."""
import itertools

import numpy as np

from headrace._src.framework.tensor import constant
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.keras import backend_networks as _networks
from headrace._src.layers import windows
from headrace._src.layers.core import data_format_of
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.kernel_layer import KernelLayer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse import sparse_ops as _sparse


class _LocallyConnected(KernelLayer):
    """Over `rank` dimensions. There are three forms of the kernel, which
    `implementation` names: 1, [places, inputs of a window, filters]; 2, of all
    inputs by all outputs, where a mask sets what is not connected to 0; 3, the
    connected ones alone, as the values of a SparseTensor."""

    rank: int

    def __init__(self, filters, kernel_size, strides, padding, data_format,
                 activation, use_bias, options, activity_regularizer,
                 implementation, **kwargs):
        super().__init__(activation, use_bias, options, activity_regularizer,
                         **kwargs)
        kind = type(self).__name__
        self.filters = filters
        self.kernel_size = windows.numbers(kernel_size, self.rank,
                                           "kernel_size")
        self.strides = windows.numbers(strides, self.rank, "strides")
        self.padding = windows.padding_of(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                "Invalid border mode for %s (only \"valid\" is supported if "
                "implementation is 1): %s" % (kind, padding))
        self.data_format = data_format_of(data_format)
        self.implementation = implementation
        self.kernel = None
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axis(self):
        return 1 if self.data_format == "channels_first" else -1

    def _side(self, sizes, channels):
        """Sizes and channels in the order of the data format."""
        return ((channels,) + tuple(sizes)
                if self.data_format == "channels_first"
                else tuple(sizes) + (channels,))

    def build(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        channels = shape[self._axis()]
        sizes, _ = windows.spatial(shape, self.data_format)
        if None in sizes or channels is None:
            raise ValueError(
                "The spatial dimensions and the channels of the inputs to a %s "
                "layer should be fully-defined, but layer received the inputs "
                "shape %s" % (type(self).__name__, tuple(shape)))
        self._in_sizes = tuple(sizes)
        self._out_sizes = tuple(
            windows.output_length(n, k, self.padding, s)
            for n, k, s in zip(sizes, self.kernel_size, self.strides))
        inputs = self._side(self._in_sizes, channels)
        outputs = self._side(self._out_sizes, self.filters)
        if self.implementation == 1:
            self.kernel_shape = (
                int(np.prod(self._out_sizes)),
                int(np.prod(self.kernel_size)) * channels, self.filters)
            weights = self.kernel_shape
        elif self.implementation == 2:
            self.kernel_shape = weights = inputs + outputs
            self.kernel_mask = self._mask()
        elif self.implementation == 3:
            self.kernel_shape = (int(np.prod(outputs)), int(np.prod(inputs)))
            self.kernel_idxs = self._indices(inputs, outputs, channels)
            weights = (len(self.kernel_idxs),)
        else:
            raise ValueError("Unrecognized implementation mode: %s."
                             % (self.implementation,))
        self.kernel = self._add("kernel", weights)
        if self.use_bias:
            self.bias = self._add("bias", self._out_sizes + (self.filters,))
        self.input_spec = InputSpec(ndim=self.rank + 2,
                                    axes={self._axis(): channels})
        self.built = True

    def _connected(self):
        """(place of an output, place of an input) of all that are connected."""
        for place in itertools.product(*map(range, self._out_sizes)):
            ranges = []
            for p, size, k, s in zip(place, self._in_sizes, self.kernel_size,
                                     self.strides):
                left = k // 2
                center = p * s + (left if self.padding == "valid" else 0)
                ranges.append(range(max(0, center - left),
                                    min(size, center + k - left)))
            for other in itertools.product(*ranges):
                yield place, other

    def _mask(self):
        """1 where inputs and outputs are connected, of as many dimensions as
        the kernel."""
        mask = np.zeros(self._side(self._in_sizes, 1)
                        + self._side(self._out_sizes, 1), np.float32)
        for place, other in self._connected():
            mask[self._side(other, 0) + self._side(place, 0)] = 1
        return mask

    def _indices(self, inputs, outputs, channels):
        """Sorted [(number of an output, number of an input)]."""
        return sorted(
            (int(np.ravel_multi_index(self._side(place, o), outputs)),
             int(np.ravel_multi_index(self._side(other, i), inputs)))
            for place, other in self._connected()
            for i in range(channels) for o in range(self.filters))

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        sizes, put = windows.spatial(shape, self.data_format)
        return TensorShape(put([
            windows.output_length(n, k, self.padding, s)
            for n, k, s in zip(sizes, self.kernel_size, self.strides)],
            self.filters))

    def call(self, inputs):
        if self.implementation == 1:
            local = (_networks.local_conv1d if self.rank == 1
                     else _networks.local_conv2d)
            sizes = () if self.rank == 1 else (self._out_sizes,)
            output = local(inputs, self.kernel, self.kernel_size, self.strides,
                           *sizes, data_format=self.data_format)
        else:
            flat = _array.reshape(inputs, (_array.shape(inputs)[0], -1))
            output = (self._by_masked(flat) if self.implementation == 2
                      else self._by_sparse(flat))
            output = _array.reshape(
                output, [_array.shape(output)[0]] + self.compute_output_shape(
                    inputs.get_shape()).as_list()[1:])
        if self.use_bias:
            output = _networks.bias_add(output, self.bias, self.data_format)
        return self._activate(output)

    def _by_masked(self, flat):
        kernel = self.kernel_mask * self.kernel
        half = len(self.kernel_shape) // 2
        kernel = _array.reshape(kernel, (
            int(np.prod(self.kernel_shape[:half])),
            int(np.prod(self.kernel_shape[half:]))))
        return _math.matmul(flat, kernel, b_is_sparse=True)

    def _by_sparse(self, flat):
        kernel = SparseTensor(
            constant(np.array(self.kernel_idxs, np.int64)), self.kernel,
            self.kernel_shape)
        return _array.transpose(_sparse.sparse_tensor_dense_matmul(
            kernel, flat, adjoint_b=True))

    def get_config(self):
        return {**super().get_config(), **{key: getattr(self, key) for key in (
            "filters", "kernel_size", "strides", "padding", "data_format",
            "implementation")}}


def _options(kernel_initializer, bias_initializer, kernel_regularizer,
             bias_regularizer, kernel_constraint, bias_constraint):
    return {"kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint}


class LocallyConnected1D(_LocallyConnected):
    """Conv1D with other weights at each step.

    `inputs`: floats [batch, steps, channels], or with "channels_first" [batch,
    channels, steps]; the result is [batch, new steps, filters] in that order.
    `padding`: "valid", or with `implementation` 2 or 3 "same". `implementation`
    says how the weights are kept, which only changes speed and memory: 1, one
    small kernel a place; 2, a masked dense kernel; 3, a sparse one. ValueError
    for another rank, unknown sizes, "same" with 1, and other values of
    these."""

    rank = 1

    def __init__(self, filters, kernel_size, strides=1, padding="valid",
                 data_format=None, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, implementation=1, **kwargs):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, activation,
            use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, implementation, **kwargs)


class LocallyConnected2D(_LocallyConnected):
    """Conv2D with other weights at each place.

    `inputs`: floats [batch, rows, columns, channels], or with "channels_first"
    [batch, channels, rows, columns]; the result has `filters` channels in that
    order. The other arguments and the errors are those of
    LocallyConnected1D."""

    rank = 2

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 data_format=None, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, implementation=1, **kwargs):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, activation,
            use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, implementation, **kwargs)
