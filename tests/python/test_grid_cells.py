"""GridLSTMCell, BidirectionalGridLSTMCell and TimeFreqLSTMCell of
tf.contrib.rnn beside TensorFlow 1.15.5 (grid_cell_programs.py), and what they
refuse."""
import json

import grid_cell_programs as programs
import pytest
from test_contrib_extra import check

import headrace as tf

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_programs(name):
    check(programs.run(tf, name), VALUES[name], name)


def test_a_batch_whose_size_is_not_known():
    with tf.Graph().as_default():
        cell = tf.contrib.rnn.GridLSTMCell(3, **programs.WINDOWS)
        x = tf.placeholder(tf.float32, [None, 6])
        y, _ = cell(x, cell.zero_state(tf.shape(x)[0], tf.float32))
        assert y.get_shape().as_list() == [None, 18]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for n in 1, 4:
                assert session.run(y, {x: [[1.] * 6] * n}).shape == (n, 18)


@pytest.mark.parametrize("arguments, columns, message", [
    ({}, 6, "Must specify num_frequency_blocks"),
    (dict(programs.WINDOWS, num_frequency_blocks=[4]), 6,
     "Invalid num_frequency_blocks, requires 4 but gets 3"),
    (dict(programs.WINDOWS, num_frequency_blocks=[1, 2]), 6,
     "Length of num_frequency_blocks is not 1, but instead is 2"),
    (programs.WINDOWS, None, "Cannot infer input_size"),
    (dict(programs.BLOCKS, end_freqindex_list=[4]), 6,
     "start_freqindex_list has 2 elements, end_freqindex_list has 1"),
    (dict(programs.BLOCKS, num_frequency_blocks=[3]), 6,
     "start_freqindex_list has 2 elements, num_frequency_blocks has 1"),
    (dict(programs.BLOCKS, num_frequency_blocks=[3, 3]), 6,
     "requires 3 but gets 2")])
def test_windows_that_do_not_fit(arguments, columns, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        cell = tf.contrib.rnn.GridLSTMCell(3, **arguments)
        cell(tf.placeholder(tf.float32, [2, columns]),
             cell.zero_state(2, tf.float32))
