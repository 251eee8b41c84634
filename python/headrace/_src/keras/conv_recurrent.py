"""tf.keras.layers.ConvLSTM2D: an LSTM over images, whose products are
convolutions."""
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.keras import backend_networks as _networks
from headrace._src.layers import regularizers, windows
from headrace._src.layers.core import data_format_of
from headrace._src.layers.engine import Layer
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.recurrent import RNN, LSTMCell, OfOneCell
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

_OF_WINDOWS = ("filters", "kernel_size", "strides", "padding", "data_format",
               "dilation_rate")
_NOT_OF_CELLS = ("name", "trainable", "dtype", "batch_input_shape")


class ConvLSTM2DCell(LSTMCell):
    """A step of ConvLSTM2D; the states are the images [h, c]."""

    def __init__(self, filters, kernel_size, strides, padding, data_format,
                 dilation_rate, **kwargs):
        super().__init__(filters, **kwargs)
        self.filters = filters
        self.kernel_size = windows.numbers(kernel_size, 2, "kernel_size")
        self.strides = windows.numbers(strides, 2, "strides")
        self.padding = windows.padding_of(padding)
        self.data_format = data_format_of(data_format)
        self.dilation_rate = windows.numbers(dilation_rate, 2,
                                             "dilation_rate")

    def build(self, input_shape):
        axis = 1 if self.data_format == "channels_first" else -1
        channels = TensorShape(input_shape)[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be "
                             "defined. Found `None`.")
        width = 4 * self.filters
        self.kernel_shape = self.kernel_size + (channels, width)
        self.kernel = self._weight("kernel", self.kernel_shape, "kernel")
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", self.kernel_size + (self.filters, width),
            "recurrent")
        if self.use_bias:
            self.bias = self._weight("bias", (width,), "bias",
                                     self._bias_initializer())
        self.built = True

    def input_conv(self, x, kernel, bias=None):
        out = _networks.conv2d(
            x, kernel, self.strides, self.padding, self.data_format,
            self.dilation_rate)
        return out if bias is None else _networks.bias_add(
            out, bias, self.data_format)

    def call(self, inputs, states, training=None):
        h, c = states
        self._make_masks(inputs, h, training)
        xs = [self._masked(inputs, 0, gate) for gate in range(4)]
        hs = [self._masked(h, 1, gate) for gate in range(4)]
        kernels = _array.split(self.kernel, 4, axis=3)
        recurrent = _array.split(self.recurrent_kernel, 4, axis=3)
        biases = _array.split(self.bias, 4, axis=0) if self.use_bias else (
            [None] * 4)
        of_inputs = [self.input_conv(x, kernel, bias) for x, kernel, bias
                     in zip(xs, kernels, biases)]
        of_states = [_networks.conv2d(x, kernel, (1, 1), "same",
                                      self.data_format)
                     for x, kernel in zip(hs, recurrent)]
        whole = [a + b for a, b in zip(of_inputs, of_states)]
        gate = self.recurrent_activation
        i, f = gate(whole[0]), gate(whole[1])
        c = f * c + i * self.activation(whole[2])
        h = gate(whole[3]) * self.activation(c)
        return h, [h, c]

    def output_shape_of(self, sizes):
        """The sizes of an output after the batch, for inputs of the sizes
        [batch, ...]."""
        between, put = windows.spatial(list(sizes), self.data_format)
        return put([windows.output_length(n, k, self.padding, s, d)
                    for n, k, s, d in zip(between, self.kernel_size,
                                          self.strides, self.dilation_rate)],
                   self.filters)[1:]

    def get_config(self):
        config = {**super().get_config(),
                  **{key: getattr(self, key) for key in _OF_WINDOWS}}
        del config["units"], config["implementation"]
        return config


class ConvLSTM2D(OfOneCell, RNN):
    """An LSTM over images, whose products of matrices are convolutions: those
    of the inputs with `kernel` have the strides, padding and dilations given,
    those of the state with `recurrent_kernel` keep the size.

    `inputs`: floats [batch, time, rows, columns, channels], or with
    "channels_first" [batch, time, channels, rows, columns]. The result is
    [batch, new rows, new columns, filters] in that order, with
    `return_sequences` [batch, time, ...], with `return_state` a list of that
    and the last states h and c. Weights: `kernel` [height, width, channels, 4 *
    filters], `recurrent_kernel` [height, width, filters, 4 * filters] and `bias`
    [4 * filters]. TypeError for `unroll`; ValueError for another rank, unknown
    channels, and a stateful layer whose batch, rows or columns are not
    known."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 data_format=None, dilation_rate=(1, 1), activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None,
                 return_sequences=False, go_backwards=False, stateful=False,
                 dropout=0., recurrent_dropout=0., **kwargs):
        if kwargs.get("unroll"):
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        cell = ConvLSTM2DCell(
            filters, kernel_size, strides, padding, data_format, dilation_rate,
            activation=activation, recurrent_activation=recurrent_activation,
            use_bias=use_bias, kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint, dropout=dropout,
            recurrent_dropout=recurrent_dropout, dtype=kwargs.get("dtype"))
        super().__init__(
            cell, return_sequences=return_sequences, go_backwards=go_backwards,
            stateful=stateful,
            activity_regularizer=regularizers.get(activity_regularizer),
            **kwargs)
        self.input_spec = InputSpec(ndim=5)

    def get_initial_state(self, inputs):
        """The states before the first step: two of zeros."""
        zeros = _math.reduce_sum(_array.zeros_like(inputs), axis=1)
        shape = list(self.cell.kernel_shape)
        shape[-1] = self.cell.filters
        return [self.cell.input_conv(
            zeros, _array.zeros(shape, zeros.dtype))] * 2

    def _step_shape(self, static):
        return self.cell.output_shape_of([static[0]] + static[2:])

    def _state_shapes(self, sizes):
        sizes = self._step_shape(sizes)
        if None in sizes:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size, and a "
                "convolutional one the number of rows and columns. Specify "
                "them by `batch_input_shape` of the first layer of a "
                "Sequential model, or by `batch_shape` of Input")
        return [sizes] * 2

    @staticmethod
    def _masked_step(there, before, states, output, new):
        def like(x):
            known = _array.reshape(there, [-1] + [1] * (
                x.get_shape().ndims - 1))
            return _math.logical_and(known, _array.ones_like(
                x, dtype=known.dtype))
        every = [like(s) for s in states]
        return _array.where(like(output), output, before), [
            _array.where(m, a, b) for m, a, b in zip(every, new, states)]

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        state = [shape[0]] + self._step_shape(shape)
        output = shape[:2] + state[1:] if self.return_sequences else state
        if not self.return_state:
            return TensorShape(output)
        return [TensorShape(s) for s in (output, state, state)]

    def get_config(self):
        cell = self.cell.get_config()
        config = {**Layer.get_config(self),
                  **{k: cell[k] for k in cell if k not in _NOT_OF_CELLS},
                  **self._options(),
                  "activity_regularizer": regularizers.serialize(
                      self.activity_regularizer)}
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)
