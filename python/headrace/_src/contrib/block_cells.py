"""tf.contrib.rnn: cells whose step, or whose whole sequence, is one op."""
import abc

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.legacy import Layer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import LayerRNNCell, LSTMStateTuple
from headrace._src.training.gradients import RegisterGradient
from headrace._src.variables.initializers import Constant


def _lstm_weights(layer, depth, units, peephole):
    """The variables of an LSTM, as the ops take them."""
    layer._kernel = layer.add_variable("kernel", [depth + units, 4 * units])
    layer._bias = layer.add_variable("bias", [4 * units],
                                     initializer=Constant(0.0))
    layer._diagonals = [layer.add_variable("w_%s_diag" % gate, [units])
                        for gate in "ifo"] if peephole else None


def _diagonals(layer, units, dtype):
    if layer._diagonals is not None:
        return layer._diagonals
    return [_array.zeros([units], dtype=dtype)] * 3


class LSTMBlockCell(LayerRNNCell):
    """LSTMCell in one op. cell_clip: the largest number in the memory;
    use_peephole: the gates see the memory."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None,
                 use_peephole=False, dtype=None, reuse=None, name="lstm_cell"):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=2)

    _CONFIG = "num_units forget_bias cell_clip use_peephole reuse"
    state_size = property(lambda self: LSTMStateTuple(self._num_units,
                                                      self._num_units))
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        _lstm_weights(self, self._input_depth(inputs_shape), self._num_units,
                      self._use_peephole)
        self.built = True

    def call(self, inputs, state):
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        wci, wcf, wco = _diagonals(self, self._num_units,
                                   inputs.dtype.base_dtype)
        found = _raw.LSTMBlockCell(
            inputs, state[0], state[1], self._kernel, wci, wcf, wco,
            self._bias, forget_bias=self._forget_bias,
            cell_clip=self._cell_clip, use_peephole=self._use_peephole)
        c, h = found[1], found[6]
        return h, LSTMStateTuple(c, h)


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """LSTMBlockCell with nothing added to the forget gate and no peepholes, as
    cuDNN's cells are: it runs on CPUs with their weights.

    Inputs [batch, size], states [batch, num_units], of float32, float64 or
    float16. ValueError for inputs of another rank or of unknown size."""

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0., reuse=reuse,
                         name="cudnn_compatible_lstm_cell")

    _CONFIG = "num_units reuse"


@RegisterGradient("LSTMBlockCell")
def _lstm_block_cell_gradient(op, *grads):
    """From the gradients of the memory and of the output; those of the gates
    count for nothing, as in TensorFlow."""
    x, c_before, h_before, kernel, wci, wcf, wco, bias = op.inputs
    i, c, f, o, new, squashed, _ = op.outputs
    by_c, gates, by_wci, by_wcf, by_wco = _raw.LSTMBlockCellGrad(
        x=x, cs_prev=c_before, h_prev=h_before, w=kernel, wci=wci, wcf=wcf,
        wco=wco, b=bias, i=i, cs=c, f=f, o=o, ci=new, co=squashed,
        cs_grad=grads[1], h_grad=grads[6],
        use_peephole=op.get_attr("use_peephole"))
    both = _math.matmul(gates, kernel, transpose_b=True)
    depth = _array.shape(x)[1]
    by_x, by_h = both[:, :depth], both[:, depth:]
    by_x.set_shape(x.get_shape())
    by_h.set_shape(h_before.get_shape())
    by_kernel = _math.matmul(_array.concat([x, h_before], 1), gates,
                             transpose_a=True)
    return (by_x, by_c, by_h, by_kernel, by_wci, by_wcf, by_wco,
            _math.reduce_sum(gates, 0))


@RegisterGradient("GRUBlockCell")
def _gru_block_cell_gradient(op, *grads):
    """From the gradient of the new state; those of the gates count for
    nothing, as in TensorFlow."""
    x, before, gate_kernel, kernel, gate_bias, bias = op.inputs
    r, u, c, _ = op.outputs
    by_x, by_before, by_new, by_gates = _raw.GRUBlockCellGrad(
        x=x, h_prev=before, w_ru=gate_kernel, w_c=kernel, b_ru=gate_bias,
        b_c=bias, r=r, u=u, c=c, d_h=grads[3])
    by_gate_kernel = _math.matmul(_array.concat([x, before], 1), by_gates,
                                  transpose_a=True)
    by_kernel = _math.matmul(_array.concat([x, before * r], 1), by_new,
                             transpose_a=True)
    return (by_x, by_before, by_gate_kernel, by_kernel,
            _math.reduce_sum(by_gates, 0), _math.reduce_sum(by_new, 0))


class _GruBlock(LayerRNNCell):
    """GRUCell in one op."""

    def __init__(self, num_units=None, cell_size=None, reuse=None,
                 name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be "
                             "provided.")
        self._cell_size = num_units if cell_size is None else cell_size
        self.input_spec = InputSpec(ndim=2)

    _CONFIG = "cell_size reuse"
    state_size = property(lambda self: self._cell_size)
    output_size = property(lambda self: self._cell_size)

    def build(self, inputs_shape):
        depth, n = self._input_depth(inputs_shape), self._cell_size
        names, one, zero = self._NAMES, Constant(1.0), Constant(0.0)
        self._gate_kernel = self.add_variable(names[0], [depth + n, 2 * n])
        self._gate_bias = self.add_variable(names[1], [2 * n], initializer=one)
        self._candidate_kernel = self.add_variable(names[2], [depth + n, n])
        self._candidate_bias = self.add_variable(names[3], [n],
                                                 initializer=zero)
        self.built = True

    def call(self, inputs, state):
        h = _raw.GRUBlockCell(
            x=inputs, h_prev=state, w_ru=self._gate_kernel,
            w_c=self._candidate_kernel, b_ru=self._gate_bias,
            b_c=self._candidate_bias)[3]
        return h, h


class GRUBlockCell(_GruBlock):
    """GRUCell in one op, with variables of its own names."""
    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")


class GRUBlockCellV2(_GruBlock):
    """GRUCell in one op, with GRUCell's names of variables."""
    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel",
              "candidate/bias")


class FusedRNNCell(abc.ABC):
    """A cell that runs over a whole sequence."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None,
                 sequence_length=None, scope=None):
        """(outputs, final state) of inputs [time, batch, size]."""


class LSTMBlockWrapper(Layer):
    """The loop around a cell of a whole sequence: a list of inputs, lengths,
    the final state."""

    @property
    def num_units(self):
        raise NotImplementedError

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype,
                   sequence_length):
        """(memories, outputs), [time, batch, num_units]."""
        raise NotImplementedError

    def call(self, inputs, initial_state=None, dtype=None,
             sequence_length=None):
        """(outputs [time, batch, num_units], final LSTMStateTuple) of inputs
        [time, batch, size], or of a list of steps, which gives a list. Outputs
        after the end of an example are 0. ValueError without initial_state and
        dtype, and for inputs of unknown size."""
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = _array.stack(inputs)
        shape = inputs.get_shape().with_rank(3)
        if shape[2].value is None:
            raise ValueError("Expecting inputs_shape[2] to be set: %s" % shape)
        steps = shape[0].value or _array.shape(inputs)[0]
        batch = shape[1].value or _array.shape(inputs)[1]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be "
                                 "specified")
            zero = _array.zeros(_array.stack([batch, self.num_units]),
                                dtype=dtype)
            initial_state = zero, zero
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with "
                             "length 2 or None")
        c, h = initial_state
        dtype = dtype or c.dtype.base_dtype
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        memories, outputs = self._call_cell(inputs, c, h, dtype,
                                            sequence_length)
        if sequence_length is None:
            last = memories[-1], outputs[-1]
        else:
            mask = _array.transpose(_special.sequence_mask(
                sequence_length, steps, dtype=dtype), [1, 0])
            outputs *= _array.expand_dims(mask, [-1])
            rows = _math.range(batch)
            at = _array.stack([_math.cast(sequence_length, dtypes.int32),
                               rows], axis=1)
            # At 0 is the first state, for an example without steps.
            last = [_array.gather_nd(_array.concat(
                [_array.expand_dims(first, [0]), x], 0), at)
                for first, x in ((c, memories), (h, outputs))]
        if is_list:
            outputs = _array.unstack(outputs)
        return outputs, LSTMStateTuple(*last)


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over a whole sequence in one op; its variables are those of
    LSTMCell."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None,
                 use_peephole=False, reuse=None, dtype=None,
                 name="lstm_fused_cell"):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    num_units = property(lambda self: self._num_units)

    def build(self, input_shape):
        _lstm_weights(self, TensorShape(input_shape)[2].value,
                      self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype,
                   sequence_length):
        shape = inputs.get_shape()
        steps = (shape[0].value or _array.shape(inputs)[0]
                 if sequence_length is None
                 else _math.reduce_max(sequence_length))
        wci, wcf, wco = _diagonals(self, self._num_units, dtype)
        found = _raw.BlockLSTM(
            _math.cast(steps, dtypes.int64), inputs, initial_cell_state,
            initial_output, self._kernel, wci, wcf, wco, self._bias,
            forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole)
        return found[1], found[6]
