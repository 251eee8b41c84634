"""tf.contrib.rnn: LSTM cells that also run along the frequencies of their input.
The variables have TensorFlow's names, so that checkpoints fit."""
import collections

from headrace._src.contrib.lstm_variants import of_parts
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _logging
from headrace._src.rnn.cells import RNNCell
from headrace._src.variables.initializers import Zeros
from headrace._src.variables.scopes import get_variable, variable_scope

# The directions in which BidirectionalGridLSTMCell runs along the frequencies.
_DIRECTIONS = ("fwd", "bwd")


def _input_size(inputs):
    size = inputs.get_shape().with_rank(2)[1].value
    if size is None:
        raise ValueError(
            "Cannot infer input_size from static shape inference.")
    return size


def _windows(inputs, start, count, skip, size):
    """`count` slices [batch, size] of the columns, `skip` apart."""
    return [_array.slice(inputs, [0, start + i * skip], [-1, size])
            for i in range(count)]


def _number_of_windows(columns, size, skip):
    return int((columns - size) / skip) + 1


def _zeros(inputs, units):
    """[batch, units] of the type of `inputs`."""
    batch = inputs.get_shape()[0].value
    if batch is None:
        batch = _array.shape(inputs)[0]
    return _array.zeros([batch, units], inputs.dtype)


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that reads windows of its input one after another (Sainath and
    Li, 2016). A window's gates see the window, its output of the step before,
    and the output of the window before.

    The input is [batch, size]; feature_size is a window's width, frequency_skip
    the distance of two. The output has num_units columns for each window, the
    state 2 num_units: c and h. As in TensorFlow, state_size and output_size
    count a single window, and `initializer` is not used.
    cell_clip: c is clipped to +-cell_clip.
    num_unit_shards: in how many variables the weights lie.
    ValueError where the input's size is not known.
    """

    def __init__(self, num_units, use_peepholes=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0,
                 feature_size=None, frequency_skip=1, reuse=None):
        super().__init__(_reuse=reuse)
        del initializer
        self._num_units = num_units
        self._peepholes = use_peepholes
        self._clip = cell_clip
        self._shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._skip = frequency_skip

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: 2 * self._num_units)

    def call(self, inputs, state):
        n, kind = self._num_units, inputs.dtype
        windows = _windows(
            inputs, 0, _number_of_windows(
                _input_size(inputs), self._feature_size, self._skip),
            self._skip, self._feature_size)
        weights = of_parts("W", [self._feature_size + 2 * n, 4 * n], kind,
                            self._shards)
        bias = get_variable("B", [4 * n], kind, Zeros())
        peephole = {gate: get_variable("W_%s_diag" % gate, [n], kind)
                    for gate in ("FIO" if self._peepholes else "")}

        def opened(gate, x, c):
            return _math.sigmoid(
                x + peephole[gate] * c if self._peepholes else x)

        before = _zeros(inputs, n)
        outputs, states = [], []
        for i, window in enumerate(windows):
            c, h = (_array.slice(state, [0, (2 * i + k) * n], [-1, n])
                    for k in range(2))
            gates = _nn.bias_add(_math.matmul(
                _array.concat([window, h, before], 1), weights), bias)
            write, new, forget, output = _array.split(
                value=gates, num_or_size_splits=4, axis=1)
            c = (opened("F", forget + self._forget_bias, c) * c
                 + opened("I", write, c) * _math.tanh(new))
            if self._clip is not None:
                c = _clipping.clip_by_value(c, -self._clip, self._clip)
            before = opened("O", output, c) * _math.tanh(c)
            outputs.append(before)
            states += [c, before]
        return _array.concat(outputs, 1), _array.concat(states, 1)


class _Gates:
    """The gates of a block along one direction, "f" for frequencies or "t" for
    time: weights, bias, and the peepholes from the c of both directions."""

    def __init__(self, cell, direction, block, size, kind):
        n = cell._num_units
        self._cell = cell
        self._names = "ijo" if cell._coupled else "ijfo"
        self._weights = of_parts(
            "W_%s_%d" % (direction, block),
            [size + 2 * n, len(self._names) * n], kind, cell._shards)
        self._bias = get_variable(
            "B_%s_%d" % (direction, block), [len(self._names) * n], kind,
            Zeros())
        self._peepholes = {}

    def make_peepholes(self, direction, block, kind):
        for gate in ("IO" if self._cell._coupled else "FIO"):
            self._peepholes[gate.lower()] = [
                get_variable("W_%s_diag_%s%s_%d" % (gate, direction, source,
                                                    block),
                             [self._cell._num_units], kind)
                for source in "ft"]

    def read(self, inputs):
        """{gate: [batch, num_units]} before sigmoids, of [batch, columns]."""
        gates = _nn.bias_add(_math.matmul(inputs, self._weights), self._bias)
        return dict(zip(self._names, _array.split(
            value=gates, num_or_size_splits=len(self._names), axis=1)))

    def opened(self, gate, x, c_freq, c_time):
        """The gate's sigmoid, with what peepholes see of both c."""
        if self._peepholes:
            from_freq, from_time = self._peepholes[gate]
            x = x + from_freq * c_freq + from_time * c_time
        return _math.sigmoid(x)

    def next_c(self, gates, own, c_freq, c_time):
        """c after the step; `own` is c_freq or c_time."""
        cell = self._cell
        write = self.opened("i", gates["i"], c_freq, c_time)
        forget = (1.0 - write if cell._coupled else self.opened(
            "f", gates["f"] + cell._forget_bias, c_freq, c_time))
        c = forget * own + write * _math.tanh(gates["j"])
        if cell._clip is not None:
            c = _clipping.clip_by_value(c, -cell._clip, cell._clip)
        return c


class GridLSTMCell(RNNCell):
    """An LSTM along time and another along the frequencies of its input
    (Kalchbrenner and others, 2016; peepholes: Sainath and Li, 2016).

    The input [batch, size] is cut into windows of feature_size columns,
    frequency_skip apart. num_frequency_blocks says how many there are: one
    number for the whole input, or one for each of the blocks of columns that
    start_freqindex_list and end_freqindex_list bound. Each block has its own
    weights. The output is [batch, 2 num_units windows]: h along time and h along
    frequency of each window. The state is a tuple (state_tuple_type) of c and h
    along time, each [batch, num_units]; with state_is_tuple=False a matrix.

    share_time_frequency_weights: both LSTMs have the same weights.
    cell_clip: c is clipped to +-cell_clip.
    num_unit_shards: in how many variables the weights lie.
    couple_input_forget_gates: the forget gate is 1 - the input gate.
    initializer: not used, as in TensorFlow; variables begin as the scope says.

    ValueError without num_frequency_blocks, or where it is not what the input's
    size and the windows give.
    """

    def __init__(self, num_units, use_peepholes=False,
                 share_time_frequency_weights=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0,
                 feature_size=None, frequency_skip=None,
                 num_frequency_blocks=None, start_freqindex_list=None,
                 end_freqindex_list=None, couple_input_forget_gates=False,
                 state_is_tuple=True, reuse=None):
        super().__init__(_reuse=reuse)
        del initializer
        if not state_is_tuple:
            _logging.warn(
                "%s: Using a concatenated state is slower and will soon be "
                "deprecated.  Use state_is_tuple=True.", self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._shared = share_time_frequency_weights
        self._clip = cell_clip
        self._shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._skip = frequency_skip
        self._blocks = [int(n) for n in num_frequency_blocks]
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        self._coupled = couple_input_forget_gates
        self._is_tuple = state_is_tuple
        columns = 2 * num_units * sum(self._blocks)
        self._output_size = self._state_size = columns
        self._state_tuple_type = None
        if state_is_tuple:
            self._set_state_type("GridLSTMStateTuple", ["state"])

    def _set_state_type(self, name, prefixes):
        self._state_tuple_type = collections.namedtuple(name, [
            "%s_f%02d_b%02d_%s" % (prefix, window, block, part)
            for prefix in prefixes for block, count in enumerate(self._blocks)
            for window in range(count) for part in "cm"])
        self._state_size = self._state_tuple_type(
            *[self._num_units] * len(self._state_tuple_type._fields))

    output_size = property(lambda self: self._output_size)
    state_size = property(lambda self: self._state_size)

    @property
    def state_tuple_type(self):
        """The named tuple of the states, or None with state_is_tuple=False."""
        return self._state_tuple_type

    def call(self, inputs, state):
        outputs, states = self._run(self._cut(inputs), state, "state")
        return _array.concat(outputs, 1), (
            self._state_tuple_type(*states) if self._is_tuple
            else _array.concat(states, 1))

    def _cut(self, inputs, offset=0):
        """The windows of each block. `offset` moves them; columns before and
        after the input are 0."""
        columns = _input_size(inputs)
        if offset:
            inputs = _array.pad(inputs, [[0, 0], [max(-offset, 0),
                                                  max(offset, 0)]])
        if self._starts:
            for name, other in (("end_freqindex_list", self._ends),
                                ("num_frequency_blocks", self._blocks)):
                if len(other or ()) != len(self._starts):
                    raise ValueError(
                        "GridLSTMCell: start_freqindex_list has %d elements, "
                        "%s has %d" % (len(self._starts), name,
                                       len(other or ())))
            bounds = list(zip(self._starts, self._ends))
        elif len(self._blocks) != 1:
            raise ValueError("Length of num_frequency_blocks is not 1, but "
                             "instead is %d" % len(self._blocks))
        else:
            bounds = [(0, columns)]
        for wanted, (start, end) in zip(self._blocks, bounds):
            got = _number_of_windows(end - start, self._feature_size,
                                     self._skip)
            if got != wanted:
                raise ValueError(
                    "Invalid num_frequency_blocks, requires %d but gets %d, "
                    "please check the input size and filter config are "
                    "correct." % (wanted, got))
        return [_windows(inputs, start + max(offset, 0), count, self._skip,
                         self._feature_size)
                for count, (start, _) in zip(self._blocks, bounds)]

    def _run(self, blocks, state, prefix):
        """(outputs, states) of all windows."""
        outputs, states = [], []
        for block, windows in enumerate(blocks):
            more_outputs, more_states = self._run_block(windows, block, state,
                                                        prefix)
            outputs += more_outputs
            states += more_states
        return outputs, states

    def _state_of(self, state, prefix, window, block):
        """c and h along time, of the step before."""
        n = self._num_units
        if self._is_tuple:
            name = "%s_f%02d_b%02d" % (prefix, window, block)
            return getattr(state, name + "_c"), getattr(state, name + "_m")
        # As in TensorFlow, every block reads the first columns.
        return [_array.slice(state, [0, (2 * window + k) * n], [-1, n])
                for k in range(2)]

    def _run_block(self, windows, block, state, prefix):
        kind = windows[0].dtype
        freq = time = _Gates(self, "f", block, self._feature_size, kind)
        if not self._shared:
            time = _Gates(self, "t", block, self._feature_size, kind)
        if self._use_peepholes:
            freq.make_peepholes("freq", block, kind)
            if not self._shared:
                time.make_peepholes("time", block, kind)
        h_freq = _zeros(windows[0], self._num_units)
        c_freq = _zeros(windows[0], self._num_units)
        outputs, states = [], []
        for i, window in enumerate(windows):
            c_time, h_time = self._state_of(state, prefix, i, block)
            seen = _array.concat([window, h_time, h_freq], 1)
            f = freq.read(seen)
            t = f if self._shared else time.read(seen)
            c_freq, c_time = (freq.next_c(f, c_freq, c_freq, c_time),
                              time.next_c(t, c_time, c_freq, c_time))
            h_freq = freq.opened("o", f["o"], c_freq, c_time) * _math.tanh(
                c_freq)
            h_time = time.opened("o", t["o"], c_freq, c_time) * _math.tanh(
                c_time)
            outputs += [h_time, h_freq]
            states += [c_time, h_time]
        return outputs, states


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A GridLSTMCell that runs along the frequencies in both directions, with
    weights for each. The output is [batch, 4 num_units windows], forwards then
    backwards; the state is a tuple.

    backward_slice_offset: by how many columns the windows of the way back lie
      further to the right; the columns outside of the input are 0.
    The other arguments and the errors are those of GridLSTMCell.
    """

    def __init__(self, num_units, use_peepholes=False,
                 share_time_frequency_weights=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0,
                 feature_size=None, frequency_skip=None,
                 num_frequency_blocks=None, start_freqindex_list=None,
                 end_freqindex_list=None, couple_input_forget_gates=False,
                 backward_slice_offset=0, reuse=None):
        super().__init__(
            num_units, use_peepholes, share_time_frequency_weights, cell_clip,
            initializer, num_unit_shards, forget_bias, feature_size,
            frequency_skip, num_frequency_blocks, start_freqindex_list,
            end_freqindex_list, couple_input_forget_gates, True, reuse)
        self._offset = int(backward_slice_offset)
        self._output_size *= 2
        self._set_state_type("BidirectionalGridLSTMStateTuple",
                             ["%s_state" % d for d in _DIRECTIONS])

    def call(self, inputs, state):
        forward = self._cut(inputs)
        back = self._cut(inputs, self._offset) if self._offset else forward
        outputs, states = [], []
        for direction, blocks in zip(_DIRECTIONS, (
                forward, [windows[::-1] for windows in back])):
            with variable_scope(direction):
                more_outputs, more_states = self._run(
                    blocks, state, direction + "_state")
            outputs += more_outputs
            states += more_states
        return _array.concat(outputs, 1), self._state_tuple_type(*states)
