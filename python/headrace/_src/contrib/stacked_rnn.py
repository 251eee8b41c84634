"""tf.contrib.rnn: bidirectional networks one above another."""
from headrace._src.ops import array_ops as _array
from headrace._src.rnn.loops import (
    bidirectional_dynamic_rnn, static_bidirectional_rnn)
from headrace._src.variables.scopes import variable_scope


def _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw):
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not cells:
            raise ValueError("Must specify at least one fw cell for "
                             "BidirectionalRNN." if name == "cells_fw" else
                             "Must specify at least one bw cell for "
                             "BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError("%s must be a list of RNNCells (one per layer)."
                             % name)
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for name, states, cells in (
            ("initial_states_fw", initial_states_fw, cells_fw),
            ("initial_states_bw", initial_states_bw, cells_bw)):
        if states is not None and (not isinstance(states, list)
                                   or len(states) != len(cells)):
            raise ValueError("%s must be a list of state tensors (one per "
                             "layer)." % name)


def _layers(cells_fw, cells_bw, states_fw, states_bw):
    """For each layer: the cells and their first states."""
    count = len(cells_fw)
    return zip(cells_fw, cells_bw, states_fw or [None] * count,
               states_bw or [None] * count)


def stack_bidirectional_rnn(
        cells_fw, cells_bw, inputs, initial_states_fw=None,
        initial_states_bw=None, dtype=None, sequence_length=None, scope=None):
    """(outputs, final states forward, final states backward) of layers of
    static_bidirectional_rnn, each over the outputs of the one below. The
    states are tuples with one for each layer. ValueError for lists that do not
    fit."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    forward, backward = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw, first_fw, first_bw) in enumerate(_layers(
                cells_fw, cells_bw, initial_states_fw, initial_states_bw)):
            with variable_scope("cell_%d" % i) as cell_scope:
                inputs, last_fw, last_bw = static_bidirectional_rnn(
                    fw, bw, inputs, initial_state_fw=first_fw,
                    initial_state_bw=first_bw, sequence_length=sequence_length,
                    dtype=dtype, scope=cell_scope)
                forward.append(last_fw)
                backward.append(last_bw)
    return inputs, tuple(forward), tuple(backward)


def stack_bidirectional_dynamic_rnn(
        cells_fw, cells_bw, inputs, initial_states_fw=None,
        initial_states_bw=None, dtype=None, sequence_length=None,
        parallel_iterations=None, time_major=False, scope=None,
        swap_memory=False):
    """stack_bidirectional_rnn with bidirectional_dynamic_rnn: inputs and
    outputs are [batch, time, size]."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    forward, backward = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw, first_fw, first_bw) in enumerate(_layers(
                cells_fw, cells_bw, initial_states_fw, initial_states_bw)):
            with variable_scope("cell_%d" % i):
                outputs, (last_fw, last_bw) = bidirectional_dynamic_rnn(
                    fw, bw, inputs, initial_state_fw=first_fw,
                    initial_state_bw=first_bw, sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations, dtype=dtype,
                    swap_memory=swap_memory, time_major=time_major)
                inputs = _array.concat(outputs, 2)
                forward.append(last_fw)
                backward.append(last_bw)
    return inputs, tuple(forward), tuple(backward)
