"""The cells of tf.contrib.rnn that run along frequencies, each a function of the
module tf that returns numbers. grid_cell_values.json has what TensorFlow 1.15.5
returns.

    PYTHON tests/python/grid_cell_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import os

from contrib_extra_programs import plain, run_all
from keras_layer_programs import numbers
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "grid_cell_values.json")

WINDOWS = dict(feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
BLOCKS = dict(feature_size=2, frequency_skip=1, num_frequency_blocks=[3, 2],
              start_freqindex_list=[0, 3], end_freqindex_list=[4, 6])
# Name: class, arguments.
CELLS = {
    "windows": ("GridLSTMCell", WINDOWS),
    "matrix": ("GridLSTMCell", dict(WINDOWS, state_is_tuple=False)),
    "blocks": ("GridLSTMCell", dict(BLOCKS, num_unit_shards=3)),
    "peepholes": ("GridLSTMCell", dict(BLOCKS, use_peepholes=True,
                                       forget_bias=.5)),
    "shared": ("GridLSTMCell", dict(BLOCKS, use_peepholes=True, cell_clip=.3,
                                    share_time_frequency_weights=True)),
    "coupled": ("GridLSTMCell", dict(WINDOWS, use_peepholes=True,
                                     couple_input_forget_gates=True)),
    "both_ways": ("BidirectionalGridLSTMCell", WINDOWS),
    "moved_right": ("BidirectionalGridLSTMCell", dict(
        BLOCKS, use_peepholes=True, backward_slice_offset=1)),
    "moved_left": ("BidirectionalGridLSTMCell", dict(
        WINDOWS, couple_input_forget_gates=True, backward_slice_offset=-1)),
}


def leaves(state):
    return list(state) if isinstance(state, tuple) else [state]


def grid(tf, name):
    """Two steps, the names and shapes of the variables, and gradients."""
    kind, arguments = CELLS[name]
    cell = getattr(tf.contrib.rnn, kind)(3, **arguments)
    inputs = [tf.constant(numbers(2, 6)), tf.constant(numbers(2, 6) * 2 - 1)]
    outputs, state = tf.nn.static_rnn(cell, inputs, dtype=tf.float32)
    return finished(tf, cell, inputs, outputs, state)


def finished(tf, cell, inputs, outputs, state):
    variables = tf.trainable_variables()
    loss = tf.add_n([tf.reduce_sum(y * y) for y in outputs + leaves(state)])
    return run_all(tf, outputs + leaves(state) + tf.gradients(
        loss, [inputs[0]] + [v for v in variables])) + [
            [(v.name, v.get_shape().as_list()) for v in variables],
            cell.output_size, leaves(cell.state_size),
            list(getattr(state, "_fields", []))]


def time_and_frequency(tf, **arguments):
    """state_size counts one window, so that the state is made by hand."""
    cell = tf.contrib.rnn.TimeFreqLSTMCell(
        3, feature_size=2, frequency_skip=2, **arguments)
    inputs = [tf.constant(numbers(2, 6)), tf.constant(numbers(2, 6) * 2 - 1)]
    outputs, state = [], tf.constant(numbers(2, 18))
    for x in inputs:
        y, state = cell(x, state)
        outputs.append(y)
    return finished(tf, cell, inputs, outputs, state)


PROGRAMS = {name: (lambda tf, name=name: grid(tf, name)) for name in CELLS}
PROGRAMS["time_and_frequency"] = time_and_frequency
PROGRAMS["time_and_frequency_peepholes"] = lambda tf: time_and_frequency(
    tf, use_peepholes=True, cell_clip=.4, num_unit_shards=2)


def run(tf, name):
    with tf.Graph().as_default():
        return plain(PROGRAMS[name](tf))


if __name__ == "__main__":
    import tensorflow
    recorded.write(VALUES, {name: run(tensorflow, name) for name in PROGRAMS})
