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


@pytest.mark.parametrize("shape, error, message", [
    ([None, 4], tf.errors.InvalidArgumentError, r"Tensor 'x:0' is \[\?,4\], not known entirely; wanted integers"),
    ([-1, 4], tf.errors.InvalidArgumentError, "not known entirely"),
    (None, tf.errors.InvalidArgumentError, "Tensor 'x:0' is .*not known entirely"),
    (tf.TensorShape(None), tf.errors.InvalidArgumentError, "not known entirely"),
    (tf.TensorShape([None, 4]), tf.errors.InvalidArgumentError, "not known entirely"),
    (3, tf.errors.InvalidArgumentError, "x"),
    ([1.5, 4], TypeError, r"Tensor 'x:0' is \[1.5, 4\]; wanted integers"),
    ([2**70, 4], TypeError, "Tensor 'x:0'"),
    ([2**40, 2**40], TypeError, "Tensor 'x:0'"),
    ([[1], [2]], TypeError, "Tensor 'x:0' is .*wanted integers"),
    ("abc", TypeError, "Tensor 'x:0' is 'abc'; wanted integers"),
    (np.zeros([2, 4]), TypeError, "Tensor 'x:0' is array")])
def test_plan_names_the_feed_whose_shape_is_none(shape, error, message):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = x * 2.
    with tf.Session() as session:
        with pytest.raises(error, match=message):
            session.plan(y, {x: shape})
        for whole in ([2, 4], np.array([2, 4]), tf.TensorShape([2, 4]), (np.int64(2), tf.Dimension(4))):
            assert session.plan(y, {x: whole}).total_bytes >= 32


def test_plan_wants_a_dictionary_of_shapes():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.Session() as session:
        for shapes in ([2, 4], [], "x", 3):
            with pytest.raises(TypeError, match="feed_shapes must be a dictionary"):
                session.plan(x * 2., shapes)


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


def budget(size):
    config = tf.ConfigProto()
    config.headrace.memory_budget_bytes = size
    return config


REFUSED = r"shape\[.*bytes wanted.*memory budget is 1048576 bytes[^$]*\[\[.*"


def test_loops_keep_to_the_budget_tensor_by_tensor():
    x = tf.placeholder(tf.float32, [None, 1000])
    _, y = tf.while_loop(lambda i, v: i < 30,
                         lambda i, v: (i + 1, tf.tanh(tf.concat([v, v], 0, name="twice"))[:tf.shape(v)[0]]), [0, x],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 1000])])
    rows = tf.map_fn(lambda r: r * 2., x)
    with tf.Session(config=budget(1 << 20)) as session:
        for _ in range(2):  # a run has the budget for itself
            assert session.run(y, {x: np.ones([20, 1000], np.float32)}).shape == (20, 1000)
            with pytest.raises(tf.errors.ResourceExhaustedError, match=REFUSED + "twice"):
                session.run(y, {x: np.ones([150, 1000], np.float32)})
        assert np.array_equal(session.run(rows, {x: np.ones([1, 1000], np.float32)}), np.full([1, 1000], 2))
        with pytest.raises(tf.errors.ResourceExhaustedError, match=REFUSED):
            session.run(rows, {x: np.ones([300, 1000], np.float32)})
        options = tf.RunOptions()
        options.headrace.memory_budget_bytes = 1 << 30
        assert session.run(rows, {x: np.ones([300, 1000], np.float32)}, options=options).shape == (300, 1000)


def test_tensors_whose_size_depends_on_values_keep_to_the_budget():
    x = tf.placeholder(tf.float32, [None])
    where = tf.where(x > 0., name="where")
    with tf.Session(config=budget(1 << 20)) as session:
        assert len(session.run(where, {x: np.zeros([200000], np.float32)})) == 0
        with pytest.raises(tf.errors.ResourceExhaustedError, match=REFUSED + "where"):
            session.run(where, {x: np.ones([200000], np.float32)})


def test_partial_runs_keep_to_the_budget():
    x, z = tf.placeholder(tf.float32, [None, 1000]), tf.placeholder(tf.float32, [])
    y = tf.tanh(x) * 2.
    w = tf.reduce_sum(y) + z
    with tf.Session(config=budget(1 << 20)) as session:
        handle = session.partial_run_setup([y, w], [x, z])
        ones = np.ones([100, 1000], np.float32)
        np.testing.assert_allclose(session.partial_run(handle, y, {x: ones}), np.tanh(ones) * 2, rtol=1e-5)
        session.partial_run(handle, w, {z: 1.})
        handle = session.partial_run_setup([y, w], [x, z])
        with pytest.raises(tf.errors.ResourceExhaustedError, match=REFUSED):
            session.partial_run(handle, y, {x: np.ones([2000, 1000], np.float32)})
