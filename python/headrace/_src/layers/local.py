"""tf.keras.layers: convolutions whose kernel is another one at each place."""
import itertools

import numpy as np

from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import windows
from headrace._src.layers.core import data_format_of
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.kernel_layer import KernelLayer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse import sparse_ops as _sparse


def _connections(sizes, window, strides, padding):
    """Bools [inputs..., outputs...]: whether an output depends on an input."""
    each = []
    for size, wide, stride in zip(sizes, window, strides):
        count = windows.output_length(size, wide, padding, stride)
        before = wide // 2
        first = np.arange(count) * stride - (
            0 if padding == "valid" else before)
        places = np.arange(size)[:, np.newaxis]
        each.append((places >= first) & (places < first + wide))
    mask = np.ones((), bool)
    for one in each:
        mask = mask[..., np.newaxis, np.newaxis] & one
    rank = len(each)
    return mask.transpose([2 * i for i in range(rank)]
                          + [2 * i + 1 for i in range(rank)])


class _Local(KernelLayer):
    """`implementation` 1 has the kernels of all places beside each other, 2 a
    dense matrix of which most is masked, 3 the numbers of a sparse matrix."""

    rank: int

    def __init__(self, filters, kernel_size, strides, padding, data_format,
                 activation, use_bias, options, activity_regularizer,
                 implementation, **kwargs):
        super().__init__(activation, use_bias, options, activity_regularizer,
                         **kwargs)
        self.filters = filters
        self.kernel_size = windows.numbers(kernel_size, self.rank,
                                           "kernel_size")
        self.strides = windows.numbers(strides, self.rank, "strides")
        self.padding = windows.padding_of(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                "Invalid border mode for %s (only \"valid\" is supported if "
                "implementation is 1): %s" % (type(self).__name__, padding))
        self.data_format = data_format_of(data_format)
        self.implementation = implementation
        self.kernel = None
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _is_first(self):
        return self.data_format == "channels_first"

    def build(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        sizes, _ = windows.spatial(shape, self.data_format)
        channels = shape[1 if self._is_first() else -1]
        if None in sizes or channels is None:
            raise ValueError(
                "The spatial dimensions and the channels of the inputs to a %s "
                "layer should be fully-defined, but layer received the inputs "
                "shape %s" % (type(self).__name__, tuple(shape)))
        self._mask = _connections(sizes, self.kernel_size, self.strides,
                                  self.padding)
        self._sizes, self._channels = list(sizes), channels
        self._out = list(self._mask.shape[self.rank:])
        make = {1: self._build_kernels, 2: self._build_matrix,
                3: self._build_sparse}.get(self.implementation)
        if make is None:
            raise ValueError("Unrecognized implementation mode: %s."
                             % self.implementation)
        self.kernel_shape, stored = make()
        self.kernel = self._add("kernel", stored)
        if self.use_bias:
            self.bias = self._add("bias", tuple(self._out + [self.filters]))
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={
            1 if self._is_first() else -1: channels})
        self.built = True

    def _with_channels(self, sizes, channels):
        return ([channels] + sizes if self._is_first()
                else sizes + [channels])

    def _build_kernels(self):
        places = int(np.prod(self._out))
        shape = (places, int(np.prod(self.kernel_size)) * self._channels,
                 self.filters)
        numbers = np.arange(np.prod(self._sizes) * self._channels).reshape(
            self._with_channels(self._sizes, self._channels))
        mask = self._mask.reshape(self._sizes + [places])
        # The inputs that each place takes, in the order of its kernel.
        self._taken = np.stack([
            (numbers[:, mask[..., p]] if self._is_first()
             else numbers[mask[..., p]]).ravel() for p in range(places)])
        return shape, shape

    def _build_matrix(self):
        shape = tuple(self._with_channels(self._sizes, self._channels)
                      + self._with_channels(self._out, self.filters))
        mask = self._mask
        if self._is_first():
            mask = np.expand_dims(mask[np.newaxis], self.rank + 1)
        else:
            mask = np.expand_dims(mask, self.rank)[..., np.newaxis]
        self.kernel_mask = mask
        return shape, shape

    def _build_sparse(self):
        ins = self._with_channels(self._sizes, self._channels)
        outs = self._with_channels(self._out, self.filters)
        pairs = np.argwhere(self._mask)
        self.kernel_idxs = sorted(
            (int(np.ravel_multi_index(self._with_channels(
                list(pair[self.rank:]), f), outs)),
             int(np.ravel_multi_index(self._with_channels(
                 list(pair[:self.rank]), c), ins)))
            for pair, c, f in itertools.product(
                pairs, range(self._channels), range(self.filters)))
        return ((int(np.prod(outs)), int(np.prod(ins))),
                (len(self.kernel_idxs),))

    def compute_output_shape(self, input_shape):
        """[batch, sizes..., filters], in the data format."""
        shape = TensorShape(input_shape).as_list()
        sizes, back = windows.spatial(shape, self.data_format)
        return TensorShape(back([
            windows.output_length(n, k, self.padding, s)
            for n, k, s in zip(sizes, self.kernel_size, self.strides)],
            self.filters))

    def call(self, inputs):
        batch = _array.shape(inputs)[0]
        flat = _array.reshape(inputs, _array.stack([batch, -1]))
        outs = self._with_channels(self._out, self.filters)
        if self.implementation == 1:
            taken = _array.gather(flat, self._taken, axis=1)
            outputs = _array.transpose(_math.matmul(
                _array.transpose(taken, [1, 0, 2]), self.kernel), [1, 0, 2])
            outputs = _array.reshape(outputs, _array.stack(
                [batch] + self._out + [self.filters]))
            if self._is_first():
                outputs = _array.transpose(
                    outputs, [0, self.rank + 1] + list(
                        range(1, self.rank + 1)))
        elif self.implementation == 2:
            kernel = self.kernel * self.kernel_mask.astype(
                self.kernel.dtype.as_numpy_dtype)
            kernel = _array.reshape(kernel, [-1, int(np.prod(outs))])
            outputs = _array.reshape(_math.matmul(flat, kernel),
                                     _array.stack([batch] + outs))
        else:
            kernel = SparseTensor(np.array(self.kernel_idxs, np.int64),
                                  self.kernel, self.kernel_shape)
            outputs = _array.reshape(
                _array.transpose(_sparse.sparse_tensor_dense_matmul(
                    kernel, flat, adjoint_b=True)),
                _array.stack([batch] + outs))
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        if self.use_bias:
            outputs += _array.reshape(self.bias, [1] + outs)
        return self._activate(outputs)

    def get_config(self):
        return {**super().get_config(), **{key: getattr(self, key) for key in (
            "filters", "kernel_size", "strides", "padding", "data_format",
            "implementation")}}


class LocallyConnected1D(_Local):
    """Conv1D with other weights at each place. Weights: `kernel`, whose shape
    depends on `implementation`, and `bias` [places, filters].

    The result is [batch, places, filters], or [batch, filters, places] for
    "channels_first", of the inputs' dtype. ValueError for inputs of unknown
    length, and for "same" with implementation 1."""

    rank = 1

    def __init__(self, filters, kernel_size, strides=1, padding="valid",
                 data_format=None, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, implementation=1, **kwargs):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, activation,
            use_bias, {
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint},
            activity_regularizer, implementation, **kwargs)


class LocallyConnected2D(_Local):
    """Conv2D with other weights at each place. Weights: `kernel`, whose shape
    depends on `implementation`, and `bias` [rows, columns, filters].

    The result is [batch, rows, columns, filters], or [batch, filters, rows,
    columns] for "channels_first", of the inputs' dtype. ValueError for inputs
    of unknown sizes, and for "same" with implementation 1."""

    rank = 2

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 data_format=None, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, implementation=1, **kwargs):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, activation,
            use_bias, {
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint},
            activity_regularizer, implementation, **kwargs)
