"""tf.contrib.rnn: further cells."""
from headrace import raw_ops as _raw
from headrace._src.contrib.layers import layer_norm as _layer_norm
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import LayerRNNCell, LSTMStateTuple, RNNCell
from headrace._src.variables.initializers import Constant
from headrace._src.variables.scopes import get_variable, variable_scope


def normalized(x, scope, gain, shift):
    """x, normalized over the units, by variables of `scope` that begin as
    `gain` and `shift`."""
    with variable_scope(scope):
        for name, value in (("gamma", gain), ("beta", shift)):
            get_variable(name, shape=x.get_shape()[-1:],
                         initializer=Constant(value), dtype=x.dtype.base_dtype)
    return _layer_norm(x, reuse=True, scope=scope)


class LayerNormBasicLSTMCell(RNNCell):
    """BasicLSTMCell whose gates and memory are normalised over the units, and
    with dropout of what enters the memory."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None,
                 activation=_math.tanh, layer_norm=True, norm_gain=1.0,
                 norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None,
                 reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units,
                                                      self._num_units))

    def _norm(self, x, scope):
        if not self._layer_norm:
            return x
        return normalized(x, scope, self._norm_gain, self._norm_shift)

    def call(self, inputs, state):
        c, h = state
        x = _array.concat([inputs, h], 1)
        kind, n = x.dtype.base_dtype, 4 * self._num_units
        gates = _math.matmul(x, get_variable(
            "kernel", [x.get_shape()[-1], n], dtype=kind))
        if not self._layer_norm:
            gates = _nn.bias_add(gates, get_variable("bias", [n], dtype=kind))
        i, j, f, o = _array.split(value=gates, num_or_size_splits=4, axis=1)
        i, j = self._norm(i, "input"), self._norm(j, "transform")
        f, o = self._norm(f, "forget"), self._norm(o, "output")
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = _nn.dropout(new, self._keep_prob, seed=self._seed)
        c = self._norm(c * _math.sigmoid(f + self._forget_bias)
                       + _math.sigmoid(i) * new, "state")
        h = self._activation(c) * _math.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class NASCell(LayerRNNCell):
    """The cell that a search over architectures found (Zoph and Le, 2017).

    `inputs` [batch, size], c and m [batch, num_units] (m [batch, num_proj] with
    a projection), of float16, float32 or float64. ValueError if the size of the
    inputs is not known."""

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None,
                 **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    _CONFIG = "num_units num_proj use_bias reuse"
    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units,
                                                      self.output_size))

    def build(self, inputs_shape):
        depth = self._input_depth(TensorShape(inputs_shape).with_rank(2))
        n = 8 * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel",
                                                  [self.output_size, n])
        self.kernel = self.add_variable("kernel", [depth, n])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[n],
                                          initializer=self._zeros())
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        sigmoid, tanh, relu = _math.sigmoid, _math.tanh, _raw.Relu
        c, h = state
        hs = _math.matmul(h, self.recurrent_kernel)
        if self._use_bias:
            hs = _nn.bias_add(hs, self.bias)
        h = _array.split(value=hs, num_or_size_splits=8, axis=1)
        x = _array.split(value=_math.matmul(inputs, self.kernel),
                         num_or_size_splits=8, axis=1)
        first = tanh(sigmoid(x[0] + h[0]) * relu(x[1] + h[1]))
        second = tanh(sigmoid(x[2] + h[2]) + relu(x[3] * h[3]))
        third = tanh(tanh(x[4] + h[4]) * sigmoid(x[5] + h[5]))
        fourth = sigmoid(tanh(x[6] + h[6]) + sigmoid(x[7] + h[7]))
        c = tanh(first + c) * second
        h = tanh(c * tanh(third + fourth))
        if self._num_proj is not None:
            h = _math.matmul(h, self.projection_weights)
        return h, LSTMStateTuple(c, h)
