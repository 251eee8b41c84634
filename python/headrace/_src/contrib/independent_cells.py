"""tf.contrib.rnn: cells whose units look at their own state alone, and the simple
recurrent unit."""
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import LayerRNNCell, LSTMStateTuple
from headrace._src.layers.input_spec import InputSpec
from headrace._src.variables.initializers import Constant, RandomUniform, Zeros


class _Cell(LayerRNNCell):
    """A cell of num_units, of inputs [batch, size]."""

    def __init__(self, num_units, activation, reuse, name, dtype, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or _math.tanh

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: self._num_units)

    def _weights(self, prefix, inputs_shape, gates, suffix="kernel_w",
                 initializer=None, bias_initializer=None):
        """The weights of inputs [size, gates * num_units], of states [1, gates
        * num_units], and the biases."""
        n = gates * self._num_units
        return (
            self.add_variable(prefix + suffix,
                              [self._input_depth(inputs_shape), n],
                              initializer=initializer),
            self.add_variable(prefix + "kernel_u", [1, n],
                              initializer=RandomUniform(-1.0, 1.0,
                                                        dtype=self.dtype)),
            self.add_variable(prefix + "bias", [n],
                              initializer=bias_initializer
                              or Zeros(dtype=self.dtype)))

    @staticmethod
    def _product(weights, inputs, state, gates):
        kernel, own, bias = weights
        state = _array.tile(state, [1, gates]) if gates > 1 else state
        return _nn.bias_add(_math.matmul(inputs, kernel) + state * own, bias)


class IndRNNCell(_Cell):
    """output = state = activation(W inputs + u * state + b), tanh by default
    (Li and others, 2018)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None,
                 dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape):
        self._weights_of_gates = self._weights("", inputs_shape, 1)
        self.built = True

    def call(self, inputs, state):
        output = self._activation(
            self._product(self._weights_of_gates, inputs, state, 1))
        return output, output


class IndyGRUCell(_Cell):
    """A GRU whose gates see u * state instead of the product of a matrix
    (Gonnet and Deselaers, 2019)."""

    def __init__(self, num_units, activation=None, reuse=None,
                 kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._initializers = kernel_initializer, bias_initializer

    def build(self, inputs_shape):
        kernel, bias = self._initializers
        self._gates = self._weights(
            "gates/", inputs_shape, 2, initializer=kernel,
            bias_initializer=bias or Constant(1.0, dtype=self.dtype))
        self._candidate = self._weights(
            "candidate/", inputs_shape, 1, "kernel", kernel, bias)
        self.built = True

    def call(self, inputs, state):
        gates = _math.sigmoid(self._product(self._gates, inputs, state, 2))
        r, u = _array.split(value=gates, num_or_size_splits=2, axis=1)
        new = self._activation(
            self._product(self._candidate, inputs, r * state, 1))
        state = u * state + (1 - u) * new
        return state, state


class IndyLSTMCell(_Cell):
    """An LSTM whose gates see u * h instead of the product of a matrix (Gonnet
    and Deselaers, 2019)."""

    def __init__(self, num_units, forget_bias=1.0, activation=None, reuse=None,
                 kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias = forget_bias
        self._initializers = kernel_initializer, bias_initializer

    state_size = property(
        lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def build(self, inputs_shape):
        kernel, bias = self._initializers
        self._weights_of_gates = self._weights(
            "", inputs_shape, 4, initializer=kernel, bias_initializer=bias)
        self.built = True

    def call(self, inputs, state):
        c, h = state
        i, new, forget, output = _array.split(
            value=self._product(self._weights_of_gates, inputs, h, 4),
            num_or_size_splits=4, axis=1)
        c = (c * _math.sigmoid(forget + self._forget_bias)
             + _math.sigmoid(i) * self._activation(new))
        h = self._activation(c) * _math.sigmoid(output)
        return h, LSTMStateTuple(c, h)


class SRUCell(_Cell):
    """The simple recurrent unit (Lei and others, 2017), whose products are of
    the inputs alone: c = f c + (1 - f) x', output = r activation(c) + (1 - r)
    x''."""

    def __init__(self, num_units, activation=None, reuse=None, name=None,
                 **kwargs):
        super().__init__(num_units, activation, reuse, name,
                         kwargs.pop("dtype", None), **kwargs)

    def build(self, inputs_shape):
        n = self._num_units
        self._kernel = self.add_variable(
            "kernel", [self._input_depth(inputs_shape), 4 * n])
        self._bias = self.add_variable("bias", [2 * n], initializer=Zeros())
        self.built = True

    def call(self, inputs, state):
        n = self._num_units
        new, gates, through = _array.split(
            _math.matmul(inputs, self._kernel), [n, 2 * n, n], axis=1)
        f, r = _array.split(_math.sigmoid(_nn.bias_add(gates, self._bias)), 2,
                            axis=1)
        c = f * state + (1.0 - f) * new
        return r * self._activation(c) + (1.0 - r) * through, c
