"""ConfigProto.headrace.precision: products of layers in bfloat16."""
import numpy as np
import pytest

import headrace as tf


def rounded(x):
    """To the nearest bfloat16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def config(precision, threads=0):
    made = tf.ConfigProto(intra_op_parallelism_threads=threads)
    made.headrace.precision = precision
    return made


def run(build, feed, precision, threads=0):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None] + list(feed.shape[1:]))
        y = build(x)
        with tf.Session(config=config(precision, threads)) as s:
            return [s.run(y, {x: feed}) for _ in range(2)][-1]


RANDOM = np.random.RandomState(0)
W_CONV = RANDOM.randn(1, 1, 128, 96).astype(np.float32)
W_MATMUL = RANDOM.randn(50, 33).astype(np.float32)
BIAS = RANDOM.randn(33).astype(np.float32)

LAYERS = {
    "conv": (lambda x: tf.nn.conv2d(x, tf.constant(W_CONV), [1, 1, 1, 1], "VALID"),
             RANDOM.randn(1, 28, 28, 128),
             lambda x: x @ rounded(W_CONV[0, 0])),
    "conv_relu": (lambda x: tf.nn.relu(tf.nn.conv2d(x, tf.constant(W_CONV), [1, 2, 2, 1], "VALID")),
                  RANDOM.randn(1, 28, 28, 128),
                  lambda x: np.maximum(x[:, ::2, ::2] @ rounded(W_CONV[0, 0]), 0)),
    "matmul": (lambda x: tf.matmul(x, tf.constant(W_MATMUL)), RANDOM.randn(17, 50),
               lambda x: x @ rounded(W_MATMUL)),
    "matmul_bias": (lambda x: tf.nn.bias_add(tf.matmul(x, tf.constant(W_MATMUL)), BIAS),
                    RANDOM.randn(17, 50), lambda x: x @ rounded(W_MATMUL) + BIAS),
    "dense_3d": (lambda x: tf.raw_ops.BatchMatMulV2(x=x, y=tf.constant(W_MATMUL)), RANDOM.randn(3, 17, 50),
                 lambda x: x @ rounded(W_MATMUL)),
    "dense_3d_relu": (lambda x: tf.nn.relu(tf.nn.bias_add(tf.raw_ops.BatchMatMulV2(x=x, y=tf.constant(W_MATMUL)), BIAS)),
                      RANDOM.randn(3, 17, 50), lambda x: np.maximum(x @ rounded(W_MATMUL) + BIAS, 0)),
    "matmul_variable": (lambda x: tf.matmul(x, tf.identity(x), transpose_b=True),
                        RANDOM.randn(17, 50), lambda x: x @ x.T),
}


@pytest.mark.parametrize("name", LAYERS)
def test_factors_are_rounded_and_sums_are_not(name):
    build, feed, reference = LAYERS[name]
    feed = feed.astype(np.float32)
    got = run(build, feed, "bfloat16")
    want = reference(rounded(feed).astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=3e-5)
    exact = run(build, feed, "float32")
    assert np.abs(got - exact).max() > 1e-4
    np.testing.assert_array_equal(exact, run(build, feed, ""))


@pytest.mark.parametrize("name", LAYERS)
def test_results_do_not_depend_on_threads(name):
    build, feed, _ = LAYERS[name]
    feed = feed.astype(np.float32)
    first = run(build, feed, "bfloat16", 1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(first, run(build, feed, "bfloat16", threads))


def test_doubles_and_integers_stay():
    with tf.Graph().as_default(), tf.Session(config=config("bfloat16")) as s:
        x = tf.constant([[1 + 2.0 ** -40]], tf.float64)
        assert s.run(tf.matmul(x, x))[0, 0] == (1 + 2.0 ** -40) ** 2
        n = tf.constant([[257]])
        assert s.run(tf.matmul(n, n))[0, 0] == 257 * 257


def test_functions_have_the_precision_of_their_session():
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensors(np.float32([[1.00390625]]))
        one = tf.constant([[1.0]])
        element = data.map(lambda x: tf.matmul(x, one)).make_one_shot_iterator().get_next()
        with tf.Session(config=config("bfloat16")) as s:
            assert s.run(element)[0, 0] == 1.0
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensors(np.float32([[1.00390625]]))
        one = tf.constant([[1.0]])
        element = data.map(lambda x: tf.matmul(x, one)).make_one_shot_iterator().get_next()
        with tf.Session() as s:
            assert s.run(element)[0, 0] == np.float32(1.00390625)


def test_an_unknown_precision_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="precision is 'half', wanted float32 or bfloat16"):
        tf.Session(graph=tf.Graph(), config=config("half"))
