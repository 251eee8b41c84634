"""The names that programs use most: docs/python-api.md says what there is, and a
table of small cases covers names that no other test is about."""
import logging
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
X = np.array([[-1.5, 0.5], [2.0, -3.0]], np.float32)
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)


@pytest.mark.skipif(not (ROOT / "tools" / "python_api.py").exists(),
                    reason="no tree beside the tests")
def test_the_page_of_names_is_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "python_api.py", "--check"],
        stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("make, wanted", [
    (lambda: tf.logical_and([True, True, False], [True, False, False]),
     [True, False, False]),
    (lambda: tf.logical_or([True, True, False], [True, False, False]),
     [True, True, False]),
    (lambda: tf.logical_not([True, False]), [False, True]),
    (lambda: tf.floor(X), np.floor(X)),
    (lambda: tf.ceil(X), np.ceil(X)),
    (lambda: tf.mod([7, -7, 7], [3, 3, -3]), [1, 2, -2]),
    (lambda: tf.greater_equal(X, [[0.5], [2.0]]), [[0, 1], [1, 0]]),
    (lambda: tf.less_equal(X, 0.5), [[1, 1], [0, 1]]),
    (lambda: tf.cumprod([2., 3., 4.]), [2, 6, 24]),
    (lambda: tf.cumprod([2., 3., 4.], exclusive=True, reverse=True),
     [12, 4, 1]),
    (lambda: tf.nn.lrn(IMAGE[:, :1], depth_radius=1, bias=2., alpha=.5,
                       beta=1.),
     IMAGE[:, :1] / (2 + .5 * np.stack([
         [[[1, 5, 14, 13], [41, 77, 110, 85]]]]).reshape(1, 1, 2, 4))),
    (lambda: tf.depth_to_space(IMAGE, 2),
     [[[[0], [1], [4], [5]], [[2], [3], [6], [7]],
       [[8], [9], [12], [13]], [[10], [11], [14], [15]]]]),
    (lambda: tf.image.resize_nearest_neighbor(IMAGE, [1, 4]),
     IMAGE[:, :1][:, :, [0, 0, 1, 1]]),
    (lambda: tf.image.draw_bounding_boxes(
        np.zeros([1, 3, 3, 3], np.float32), [[[0., 0., 1., 1.]]])[0, 1, 1],
     [0, 0, 0]),
    (lambda: tf.layers.average_pooling2d(IMAGE, 2, 2),
     IMAGE.mean((1, 2), keepdims=True)),
    (lambda: tf.contrib.slim.avg_pool2d(IMAGE, 2),
     IMAGE.mean((1, 2), keepdims=True)),
    (lambda: tf.nn.conv3d(np.ones([1, 2, 2, 2, 1], np.float32),
                          np.ones([2, 2, 2, 1, 1], np.float32),
                          [1, 1, 1, 1, 1], "VALID"), [[[[[8]]]]]),
    (lambda: tf.nn.max_pool3d(np.arange(8, dtype=np.float32).reshape(
        1, 2, 2, 2, 1), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"),
     [[[[[7]]]]]),
    (lambda: tf.nn.avg_pool3d(np.arange(8, dtype=np.float32).reshape(
        1, 2, 2, 2, 1), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"),
     [[[[[3.5]]]]]),
    (lambda: tf.nn.atrous_conv2d(np.arange(9, dtype=np.float32).reshape(
        1, 3, 3, 1), np.ones([2, 2, 1, 1], np.float32), 2, "VALID"),
     [[[[16]]]]),
    (lambda: tf.nn.atrous_conv2d(np.arange(9, dtype=np.float32).reshape(
        1, 3, 3, 1), np.ones([2, 2, 1, 1], np.float32), (2, 1), "VALID"),
     [[[[14], [18]]]]),
    (lambda: tf.nn.atrous_conv2d_transpose(
        np.ones([1, 1, 1, 1], np.float32), np.ones([2, 2, 1, 1], np.float32),
        [1, 3, 3, 1], 2, "VALID"),
     np.array([1, 0, 1, 0, 0, 0, 1, 0, 1]).reshape(1, 3, 3, 1)),
    (lambda: tf.contrib.framework.nest.map_structure(
        lambda a: a + 1, {"a": tf.constant(1), "b": [tf.constant(2)]})["b"][0],
     3),
])
def test_values(make, wanted):
    with tf.Session() as session:
        got = session.run(make())
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("make, error, text", [
    (lambda: tf.logical_and([1], [True]), (TypeError, ValueError), "bool"),
    (lambda: tf.depth_to_space(IMAGE, 3), ValueError, "9"),
    (lambda: tf.nn.avg_pool3d(X, [1] * 5, [1] * 5, "VALID"), ValueError,
     "rank"),
    (lambda: tf.train.BytesList(value=["text", 5]), TypeError, "value"),
    (lambda: tf.GPUOptions(no_such_field=1), ValueError, "no_such_field"),
])
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_random_contrast_is_between_its_bounds():
    with tf.Session() as session:
        out = session.run(tf.image.random_contrast(IMAGE[0], 0.5, 0.9, seed=1))
    mean = IMAGE[0].mean((0, 1))
    factor = (out - mean) / (IMAGE[0] - mean)
    assert 0.5 <= factor.min() and factor.max() < 0.9
    assert factor.max() - factor.min() < 1e-5


def test_initializers_and_collections():
    with tf.variable_scope("s", initializer=tf.uniform_unit_scaling_initializer(
            factor=2.0, seed=1)):
        v = tf.get_variable("v", [3, 100])
    assert tf.all_variables() == [v]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value = session.run(v)
    assert 1.8 < np.abs(value).max() <= 2.0  # factor * sqrt(3 / 3)


def test_static_rnn():
    steps = [tf.ones([2, 3]) for _ in range(4)]
    outputs, state = tf.contrib.rnn.static_rnn(
        tf.contrib.rnn.BasicRNNCell(5), steps, dtype=tf.float32)
    assert len(outputs) == 4 and state.shape.as_list() == [2, 5]


def test_small_things(caplog):
    assert not tf.executing_eagerly() and not tf.test.is_gpu_available()
    assert tf.image.ResizeMethod.AREA == 3
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(
        per_process_gpu_memory_fraction=0.5, allow_growth=True))
    config.graph_options.optimizer_options.global_jit_level = (
        tf.OptimizerOptions.ON_1)
    assert config.gpu_options.allow_growth
    assert "global_jit_level: ON_1" in str(config)
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a"]))
    assert feature.bytes_list.value[0] == b"a"
    assert tf.keras.layers.Input([3]).shape.as_list() == [None, 3]
    logger = tf.get_logger()
    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(
        (record.levelname, record.getMessage()))
    logger.addHandler(handler)
    try:
        tf.logging.warning("a %d", 1)
        tf.logging.error("b %s", "c")
    finally:
        logger.removeHandler(handler)
    assert seen == [("WARNING", "a 1"), ("ERROR", "b c")]


def test_model_analyzer(capsys):
    v = tf.get_variable("v", [2, 3])
    total, size = tf.contrib.slim.model_analyzer.analyze_vars([v])
    assert (total, size) == (6, 24)


@pytest.mark.parametrize("function, text", [
    (tf.maximum, "The larger of x and y, elementwise"),
    (tf.raw_ops.MatMul, "The op MatMul.\n\na:T, b:T -> product:T\n"),
    (tf.Tensor, "An output of an operation"),
    (tf.GraphDef, "The message GraphDef. Fields: .*node")])
def test_docstrings(function, text):
    import re
    assert re.match(text, function.__doc__)
