"""tf.contrib.rnn: cells that run over all steps in one call, made of other
cells."""
from headrace import raw_ops as _raw
from headrace._src.contrib.block_cells import FusedRNNCell
from headrace._src.ops import array_ops as _array
from headrace._src.rnn.loops import dynamic_rnn, static_rnn


class FusedRNNCellAdaptor(FusedRNNCell):
    """An ordinary cell as a fused one: for [time, batch, size] of the cell's
    dtype, or a list of one such tensor for each step."""

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None,
                 sequence_length=None, scope=None):
        """(outputs, as the inputs are: a tensor or a list; the last state)"""
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(
                self._cell, _array.stack(inputs) if is_list else inputs,
                sequence_length=sequence_length, initial_state=initial_state,
                dtype=dtype, time_major=True, scope=scope)
            return _array.unstack(outputs) if is_list else outputs, state
        outputs, state = static_rnn(
            self._cell, inputs if is_list else _array.unstack(inputs),
            initial_state=initial_state, dtype=dtype,
            sequence_length=sequence_length, scope=scope)
        return outputs if is_list else _array.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that goes from the last step to the first: for [time, batch,
    size] of its dtype, or a list."""

    def __init__(self, cell):
        self._cell = cell

    @staticmethod
    def _reversed(steps, lengths):
        if isinstance(steps, list):
            return list(reversed(steps))
        if lengths is None:
            return _raw.ReverseV2(steps, [0])
        return _array.reverse_sequence(steps, lengths, seq_axis=0,
                                       batch_axis=1)

    def __call__(self, inputs, initial_state=None, dtype=None,
                 sequence_length=None, scope=None):
        """(outputs in the order of the inputs, the last state)"""
        outputs, state = self._cell(
            self._reversed(inputs, sequence_length),
            initial_state=initial_state, dtype=dtype,
            sequence_length=sequence_length, scope=scope)
        return self._reversed(outputs, sequence_length), state
