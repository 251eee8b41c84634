"""tf.headrace.explain: what `headrace explain` prints."""
import concurrent.futures
import re

import numpy as np
import pytest

import headrace as tf
from program import headrace, needs_program


def network():
    x = tf.placeholder(tf.float32, [2, 20, 20, 4], name="x")
    w = tf.constant(np.ones([3, 3, 4, 8], np.float32))
    return x, tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), name="y")


def test_a_step_that_ran_before():
    x, y = network()
    feed = {x: np.ones([2, 20, 20, 4])}
    with tf.Session() as session:
        before = session.run(y, feed)
        text = tf.headrace.explain(session, y, feed)
        assert "\n1 convolutions\n" in text
        assert len(re.findall("   chosen$", text, re.M)) == 1
        assert re.search(r"^  fuse_conv +1$", text, re.M)
        assert "memory: the tensors of a run take" in text
        # The notes of one call are no part of the next.
        assert "\n1 convolutions\n" in tf.headrace.explain(
            session, {"a": [y, x]}, feed)
        assert "\n0 convolutions\n" in tf.headrace.explain(session, x + 1, feed)
        np.testing.assert_array_equal(session.run(y, feed), before)


def test_several_threads_at_once():
    x, y = network()
    feed = {x: np.ones([2, 20, 20, 4])}
    with tf.Session() as session, concurrent.futures.ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(tf.headrace.explain, session, y, feed) for _ in range(64)]
        for call in calls:
            assert "\n1 convolutions\n" in call.result()


@needs_program
def test_it_is_what_the_command_prints(tmp_path):
    x, y = network()
    path = tmp_path / "model.pb"
    path.write_bytes(tf.get_default_graph().as_graph_def().SerializeToString())
    printed = headrace("explain", path).stdout
    with tf.Session() as session:
        text = tf.headrace.explain(session, y, {x: np.zeros([2, 20, 20, 4])})
    assert printed[printed.index("machine:"):] == text


def test_variables_and_operations():
    v = tf.get_variable("v", initializer=1.)
    with tf.Session() as session:
        session.run(v.initializer)
        assert "0 convolutions" in tf.headrace.explain(
            session, [v.assign_add(1.).op, v])
        assert session.run(v) == 3  # run twice


def test_errors():
    x, y = network()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
            tf.headrace.explain(session, y)
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            tf.headrace.explain(session, y, {x: np.zeros([1, 2])})
        with pytest.raises(TypeError):
            tf.headrace.explain(session, None)
    with pytest.raises(RuntimeError, match="closed"):
        tf.headrace.explain(session, y)
