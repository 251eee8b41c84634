"""tf.contrib.rnn: LSTM cells with fewer gates, a clock, or groups; and the
intersection of a recurrent and a deep network. The variables have TensorFlow's
names, so that checkpoints fit."""
import math

from headrace._src.contrib.cells import normalized
from headrace._src.contrib.linear import Linear
from headrace._src.framework import dtypes
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.rnn.cells import LSTMStateTuple, RNNCell
from headrace._src.variables.initializers import Constant, RandomUniform, Zeros
from headrace._src.variables.scopes import (
    get_variable, get_variable_scope, variable_scope)


def _input_size(inputs):
    size = inputs.get_shape().with_rank(2)[1].value
    if size is None:
        raise ValueError("Could not infer input size from "
                         "inputs.get_shape()[-1]")
    return size


def of_parts(name, shape, dtype, parts):
    """A matrix whose rows lie in `parts` variables, name_0, name_1..."""
    if not 1 <= parts <= shape[0]:
        raise ValueError("Too many shards: shape=%s, num_shards=%d"
                         % (shape, parts))
    rows, more = divmod(shape[0], parts)
    found = [get_variable("%s_%d" % (name, i),
                          [rows + (i < more)] + shape[1:], dtype=dtype)
             for i in range(parts)]
    return found[0] if parts == 1 else _array.concat(found, 0)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM whose input gate is 1 - the forget gate (Greff and others, 2015):
    c' = f c + (1 - f) activation(j), h' = sigmoid(o) activation(c').

    num_proj: h is projected to this size, and clipped to +-proj_clip.
    num_unit_shards, num_proj_shards: in how many variables the weights lie.
    layer_norm: gates and c are normalized, with gain and shift that begin as
      norm_gain and norm_shift.
    initializer: not used, as in TensorFlow; variables begin as the scope says.
    """

    def __init__(self, num_units, use_peepholes=False, initializer=None,
                 num_proj=None, proj_clip=None, num_unit_shards=1,
                 num_proj_shards=1, forget_bias=1.0, state_is_tuple=True,
                 activation=_math.tanh, reuse=None, layer_norm=False,
                 norm_gain=1.0, norm_shift=0.0):
        super().__init__(_reuse=reuse)
        del initializer
        self._num_units = num_units
        self._peepholes = use_peepholes
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm = norm_gain, norm_shift

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        if self._is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    def _normalized(self, x, scope):
        return normalized(x, scope, *self._norm) if self._layer_norm else x

    def call(self, inputs, state):
        n, size, kind = self._num_units, _input_size(inputs), inputs.dtype
        c, h = state if self._is_tuple else _array.split(
            state, [n, self.output_size], 1)
        weights = of_parts("W", [size + self.output_size, 3 * n], kind,
                            self._shards[0])
        bias = get_variable("B", [3 * n], kind, Zeros())
        gates = _math.matmul(_array.concat([inputs, h], 1), weights)
        if not self._layer_norm:
            gates = _nn.bias_add(gates, bias)
        new, forget, output = (
            self._normalized(gate, scope) for gate, scope in zip(
                _array.split(value=gates, num_or_size_splits=3, axis=1),
                ("transform", "forget", "output")))
        forget = forget + self._forget_bias
        if self._peepholes:
            forget_peephole = get_variable("W_F_diag", [n], dtype=kind)
            output_peephole = get_variable("W_O_diag", [n], dtype=kind)
            forget = forget + forget_peephole * c
        forget = _math.sigmoid(forget)
        c = forget * c + (1 - forget) * self._activation(new)
        c = self._normalized(c, "state")
        if self._peepholes:
            output = output + output_peephole * c
        h = _math.sigmoid(output) * self._activation(c)
        if self._num_proj is not None:
            h = _math.matmul(h, of_parts("W_P", [n, self._num_proj], kind,
                                          self._shards[1]))
            if self._proj_clip is not None:
                h = _clipping.clip_by_value(h, -self._proj_clip,
                                            self._proj_clip)
        return h, (LSTMStateTuple(c, h) if self._is_tuple
                   else _array.concat([c, h], 1))


class _Linears:
    """The Linears of a cell by their scopes."""

    def __init__(self):
        self._made = {}

    def __call__(self, scope, args, size, bias=True):
        with variable_scope(scope):
            if scope not in self._made:
                self._made[scope] = Linear(args, size, bias)
            return self._made[scope](args)


class PhasedLSTMCell(RNNCell):
    """An LSTM of which each unit has a clock (Neil and others, 2016): it
    changes while it is open, the share ratio_on of its period, and for `leak`
    of the change otherwise. The inputs are (time [batch, 1], x [batch, size]);
    the periods begin between period_init_min and period_init_max, evenly by
    their logarithm."""

    def __init__(self, num_units, use_peepholes=False, leak=0.001,
                 ratio_on=0.1, trainable_ratio_on=True, period_init_min=1.0,
                 period_init_max=1000.0, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trains_ratio = trainable_ratio_on
        self._periods = period_init_min, period_init_max
        self._linear = _Linears()

    output_size = property(lambda self: self._num_units)
    state_size = property(
        lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def _period(self, shape, dtype=None, partition_info=None):
        low, high = map(math.log, self._periods)
        return _math.exp(_random.random_uniform(shape, low, high, dtype=dtype))

    def _openness(self, time):
        """[batch, num_units], the share of the change that counts."""
        n = [self._num_units]
        period = get_variable("period", n, initializer=self._period)
        phase = get_variable(
            "phase", n, initializer=RandomUniform(0.0, period.initial_value))
        ratio_on = get_variable("ratio_on", n,
                                initializer=Constant(self._ratio_on),
                                trainable=self._trains_ratio)
        length = _math.cast(period, time.dtype)
        shifted = time - _math.cast(phase, time.dtype)
        # The remainder, whose derivative is 1.
        rest = _array.stop_gradient(
            _math.floormod(shifted, length) - shifted) + shifted
        at = _math.cast(rest / length, dtypes.float32)
        rising = 2 * at / ratio_on
        falling = 2 - rising
        k = _array.where(at < ratio_on, falling, self._leak * at)
        return _array.where(at < 0.5 * ratio_on, rising, k)

    def call(self, inputs, state):
        c, h = state
        time, x = inputs
        n = self._num_units
        gates = _math.sigmoid(self._linear(
            "mask_gates", [x, h] + [c] * self._peepholes, 2 * n))
        take, forget = _array.split(gates, 2, axis=1)
        new = _math.tanh(self._linear("new_input", [x, h], n))
        new_c = c * forget + take * new
        output = _math.sigmoid(self._linear(
            "output_gate", [x, h] + [new_c] * self._peepholes, n))
        new_h = _math.tanh(new_c) * output
        k = self._openness(time)
        c = k * new_c + (1 - k) * c
        h = k * new_h + (1 - k) * h
        return h, LSTMStateTuple(c, h)


class GLSTMCell(RNNCell):
    """An LSTM whose inputs, state and units lie in groups that have weights of
    their own (Kuchaiev and Ginsburg, 2017). The sizes are multiples of
    number_of_groups (else ValueError). num_proj: h is projected to this
    size."""

    def __init__(self, num_units, initializer=None, num_proj=None,
                 number_of_groups=1, forget_bias=1.0, activation=_math.tanh,
                 reuse=None):
        super().__init__(_reuse=reuse)
        for what, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size and size % number_of_groups:
                raise ValueError("%s must be divisible by number_of_groups, "
                                 "got %d and %d"
                                 % (what, size, number_of_groups))
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._groups = number_of_groups
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear = _Linears()

    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(
        lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def call(self, inputs, state):
        c, h = state
        size = inputs.get_shape().with_rank(2)[1].value
        if size is None:
            raise ValueError("input size must be statically known")
        if size % self._groups:
            raise ValueError("input size (%d) must be divisible by "
                             "number_of_groups (%d)" % (size, self._groups))
        n = self._num_units
        with variable_scope(get_variable_scope(),
                            initializer=self._initializer):
            parts = []
            for i, both in enumerate(zip(_array.split(inputs, self._groups, 1),
                                         _array.split(h, self._groups, 1))):
                product = self._linear("group%d" % i,
                                       [_array.concat(both, axis=1)],
                                       4 * n // self._groups, bias=False)
                parts.append(_array.split(product, 4, 1))
            take, new, forget, output = (
                _nn.bias_add(_array.concat(gate, axis=1), get_variable(
                    "bias_" + name, [n], inputs.dtype, Constant(0.0)))
                for name, gate in zip("ijfo", zip(*parts)))
        c = (_math.sigmoid(forget + self._forget_bias) * c
             + _math.sigmoid(take) * _math.tanh(new))
        h = _math.sigmoid(output) * self._activation(c)
        if self._num_proj is not None:
            h = self._linear("projection", [h], self._num_proj, bias=False)
        return h, LSTMStateTuple(c, h)


class IntersectionRNNCell(RNNCell):
    """A recurrent network and one from input to output, each with a gate
    (Collins and others, 2016): new state = g state + (1 - g) tanh(h), output =
    g' inputs + (1 - g') y_activation(y). The inputs are of the size num_units,
    or are projected to it if num_in_proj is set (else ValueError)."""

    def __init__(self, num_units, num_in_proj=None, initializer=None,
                 forget_bias=1.0, y_activation=_nn.relu, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._num_in_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = y_activation
        self._linear = _Linears()
        self._product = None

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        n = self._num_units
        with variable_scope(get_variable_scope(),
                            initializer=self._initializer):
            if _input_size(inputs) != n:
                if not self._num_in_proj:
                    raise ValueError("Must have input size == output size for "
                                     "Intersection RNN. To fix, num_in_proj "
                                     "should be set to num_units at cell init."
                                     )
                inputs = self._linear("in_projection", [inputs], n)
            both = _array.concat([inputs, state], 1)
            if self._product is None:
                self._product = Linear(both, 4 * n, True)
            keep, h, keep_y, y = _array.split(self._product(both), 4, 1)
        keep = _math.sigmoid(keep + self._forget_bias)
        keep_y = _math.sigmoid(keep_y + self._forget_bias)
        state = keep * state + (1.0 - keep) * _math.tanh(h)
        return keep_y * inputs + (1.0 - keep_y) * self._activation(y), state
