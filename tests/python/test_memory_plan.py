"""Session.plan and memory budgets."""
import numpy as np
import pytest

import headrace as tf


def network():
    x = tf.placeholder(tf.float32, [None, 64, 64, 4], name="x")
    y = x
    for i in range(4):
        w = tf.constant(np.ones([3, 3, 4, 4], np.float32))
        y = tf.nn.relu(tf.nn.conv2d(y, w, strides=[1, 1, 1, 1], padding="SAME"))
    return x, y


def test_plan_grows_with_the_batch():
    x, y = network()
    with tf.Session() as session:
        one = session.plan(y, {x: [1, 64, 64, 4]})
        eight = session.plan([y], {"x:0": (8, 64, 64, 4)})
        assert 2 * 64 * 64 * 16 <= one.peak_bytes <= one.total_bytes
        assert 4 * one.peak_bytes < eight.peak_bytes < 16 * one.peak_bytes
        assert one.unknown == []
        largest = one.blocks[0]
        assert largest.bytes >= 64 * 64 * 16 and largest.offset + largest.bytes <= one.peak_bytes
        with pytest.raises(tf.errors.InvalidArgumentError, match="which has shape"):
            session.plan(y, {x: [1, 64, 64, 5]})
        with pytest.raises(TypeError, match="no tensor"):
            session.plan(y, {3: [1]})


def test_budget_refuses_and_names_the_largest():
    x, y = network()
    config = tf.ConfigProto()
    config.headrace.memory_budget_bytes = 1 << 20
    with tf.Session(config=config) as session:
        session.run(y, {x: np.zeros([1, 64, 64, 4], np.float32)})
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"memory budget is 1048576.*float \[32,64,64,4\]"):
            session.run(y, {x: np.zeros([32, 64, 64, 4], np.float32)})
        options = tf.RunOptions()
        options.headrace.memory_budget_bytes = 1 << 30
        session.run(y, {x: np.zeros([32, 64, 64, 4], np.float32)}, options=options)
    config.headrace.memory_budget_bytes = -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="memory_budget_bytes"):
        tf.Session(config=config)
