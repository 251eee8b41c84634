"""tf.contrib.rnn: UGRNNCell, HighwayWrapper, convolutional LSTMs."""
from headrace._src.contrib.linear import Linear
from headrace._src.contrib.projections import CellAround
from headrace._src.framework import nest
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import LSTMStateTuple, RNNCell
from headrace._src.variables.initializers import Constant
from headrace._src.variables.scopes import (
    get_variable, get_variable_scope, variable_scope)


class UGRNNCell(RNNCell):
    """A recurrent network with one gate (Collins and others, 2016):
    g = sigmoid(W [inputs, state] + forget_bias), c = activation(V [inputs,
    state]), and the new state is g * state + (1 - g) * c."""

    def __init__(self, num_units, initializer=None, forget_bias=1.0,
                 activation=_math.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear = None

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        if inputs.get_shape().with_rank(2)[1].value is None:
            raise ValueError("Could not infer input size from "
                             "inputs.get_shape()[-1]")
        both = _array.concat([inputs, state], 1)
        with variable_scope(get_variable_scope(),
                            initializer=self._initializer):
            if self._linear is None:
                self._linear = Linear(both, 2 * self._num_units, True)
            gate, candidate = _array.split(
                value=self._linear(both), num_or_size_splits=2, axis=1)
            g = _math.sigmoid(gate + self._forget_bias)
            state = g * state + (1.0 - g) * self._activation(candidate)
        return state, state


class HighwayWrapper(CellAround):
    """Mixes a cell's inputs with its outputs: inputs * carry + outputs *
    transform, with gates of the inputs; transform is 1 - carry with
    couple_carry_transform_gates."""

    def __init__(self, cell, couple_carry_transform_gates=True,
                 carry_bias_init=1.0):
        super().__init__(cell, None)
        self._couples = couple_carry_transform_gates
        self._bias = carry_bias_init

    def _gate(self, name, x, bias):
        size = x.get_shape().with_rank(2)[1].value
        weights = get_variable("%s_w" % name, [size, size])
        biases = get_variable("%s_b" % name, [size],
                              initializer=Constant(bias))
        return _math.sigmoid(_nn.bias_add(_math.matmul(x, weights), biases))

    def _mixed(self, x, output):
        x.get_shape().assert_is_compatible_with(output.get_shape())
        carry = self._gate("carry", x, self._bias)
        transform = (1 - carry if self._couples
                     else self._gate("transform", x, -self._bias))
        return x * carry + output * transform

    def __call__(self, inputs, state, scope=None):
        outputs, state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        return nest.map_structure(self._mixed, inputs, outputs), state


class ConvLSTMCell(RNNCell):
    """An LSTM over images: its matrix products are convolutions with SAME
    padding of inputs [batch] + input_shape, the last dimension the channels.
    skip_connection: the outputs have the inputs beside them. ValueError for an
    input_shape that is not of conv_ndims + 1 dimensions."""

    def __init__(self, conv_ndims, input_shape, output_channels, kernel_shape,
                 use_bias=True, skip_connection=False, forget_bias=1.0,
                 initializers=None, name="conv_lstm_cell"):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError("Invalid input_shape %s for conv_ndims=%d."
                             % (input_shape, conv_ndims))
        self._ndims = conv_ndims
        self._channels = output_channels
        self._kernel = list(kernel_shape)
        self._use_bias = use_bias
        self._skips = skip_connection
        self._forget_bias = forget_bias
        total = output_channels + (input_shape[-1] if skip_connection else 0)
        places = list(input_shape[:-1])
        self._output_size = TensorShape(places + [total])
        memory = TensorShape(places + [output_channels])
        self._state_size = LSTMStateTuple(memory, memory)

    output_size = property(lambda self: self._output_size)
    state_size = property(lambda self: self._state_size)

    def call(self, inputs, state, scope=None):
        cell, hidden = state
        both = _array.concat([inputs, hidden], axis=self._ndims + 1)
        kind, count = both.dtype.base_dtype, 4 * self._channels
        depth = both.get_shape()[-1].value
        if depth is None:
            raise ValueError("ConvLSTMCell: the number of channels must be "
                             "known, got inputs of shape %s"
                             % inputs.get_shape())
        kernel = get_variable("kernel", self._kernel + [depth, count],
                              dtype=kind)
        gates = _conv.convolution(both, kernel, padding="SAME")
        if self._use_bias:
            gates = gates + get_variable("biases", [count], dtype=kind,
                                         initializer=Constant(0.0))
        i, new, f, o = _array.split(value=gates, num_or_size_splits=4,
                                    axis=self._ndims + 1)
        cell = _math.sigmoid(f + self._forget_bias) * cell
        cell += _math.sigmoid(i) * _math.tanh(new)
        output = _math.tanh(cell) * _math.sigmoid(o)
        if self._skips:
            output = _array.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(cell, output)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over sequences."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over images."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over volumes."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
