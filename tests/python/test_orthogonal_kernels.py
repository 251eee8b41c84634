"""Kernels of convolutions that keep the length of their input."""
import numpy as np
import pytest

import headrace as tf

framework = tf.contrib.framework
DELTA = framework.convolutional_delta_orthogonal
KINDS = {1: framework.convolutional_orthogonal_1d,
         2: framework.convolutional_orthogonal_2d,
         3: framework.convolutional_orthogonal_3d}


def lengths(kernel, axes):
    """How long an input is and what a convolution, which wraps around, makes
    of it."""
    x = np.random.RandomState(0).randn(2, *[5] * axes, kernel.shape[-2])
    around = [[0, 0]] + [[0, k - 1] for k in kernel.shape[:axes]] + [[0, 0]]
    x = x.astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        y = sess.run(tf.nn.convolution(np.pad(x, around, mode="wrap"), kernel,
                                       "VALID"))
    return np.linalg.norm(x), np.linalg.norm(y)


@pytest.mark.parametrize("kind, shape", [
    (DELTA, [3, 4, 6]), (DELTA, [2, 3, 4, 6]), (DELTA, [3, 3, 3, 2, 2]),
    (KINDS[1], [1, 2, 2]), (KINDS[1], [3, 4, 6]), (KINDS[2], [3, 3, 4, 6]),
    (KINDS[2], [2, 2, 3, 3]), (KINDS[3], [3, 3, 3, 2, 4])])
def test_the_length_is_kept(kind, shape):
    with tf.Graph().as_default(), tf.Session() as sess:
        kernel, twice, again = sess.run([
            kind(seed=1)(shape), kind(gain=2.0, seed=1)(shape),
            kind(seed=1)(shape)])
    assert kernel.shape == tuple(shape)
    np.testing.assert_array_equal(kernel, again)
    np.testing.assert_allclose(2 * kernel, twice, rtol=1e-5, atol=1e-6)
    before, after = lengths(kernel, len(shape) - 2)
    np.testing.assert_allclose(before, after, rtol=1e-4)


@pytest.mark.parametrize("kind, shape, message", [
    (DELTA, [3, 3], "at least three-dimensional and at most five"),
    (DELTA, [1] * 6, "at least three-dimensional and at most five"),
    (DELTA, [3, 4, 2], "In_filters cannot be greater than out_filters"),
    (KINDS[1], [3, 3, 2, 2], "must be three-dimensional"),
    (KINDS[2], [3, 2, 2], "must be four-dimensional"),
    (KINDS[3], [3, 2, 2], "must be five-dimensional"),
    (KINDS[2], [3, 2, 2, 2], "Kernel sizes must be equal"),
    (KINDS[2], [3, 3, 4, 2], "In_filters cannot be greater than out_filters")])
def test_wrong_shapes(kind, shape, message):
    with pytest.raises(ValueError, match=message):
        kind()(shape)


@pytest.mark.parametrize("kind", [DELTA, *KINDS.values()])
def test_configs(kind):
    config = kind(gain=3.0, seed=4).get_config()
    assert config == {"gain": 3.0, "seed": 4, "dtype": "float32"}
    assert kind.from_config(config).get_config() == config
    with pytest.raises(ValueError, match="floating point"):
        kind(dtype=tf.string)
