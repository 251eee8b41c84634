"""tf.random's functions without state, and generators made of raw ops."""
import numpy as np
import pytest

import headrace as tf


def run(x):
    with tf.Session() as sess:
        return sess.run(x)


def test_stateless():
    np.testing.assert_allclose(
        run(tf.random.stateless_uniform([4], [1, 2])),
        [.844060421, .192045331, .996223211, .160387397], rtol=1e-6)
    np.testing.assert_allclose(
        run(tf.random.stateless_uniform([4], [1, 2], 2., 4.)),
        [3.68812084, 2.38409066, 3.99244642, 2.32077479], rtol=1e-6)
    normal = run(tf.random.stateless_normal([3], [1, 2], mean=1., stddev=2.))
    np.testing.assert_allclose(
        normal, 1 + 2 * np.array([.5441101, .20738031, .07356432]), rtol=1e-5)
    x = run(tf.random.stateless_truncated_normal([1000], [5, 6]))
    assert abs(x).max() < 2 and x.std() > .7
    x = run(tf.random.stateless_uniform([100], [1, 2], 5, 8, tf.int32))
    assert set(x) == {5, 6, 7}
    x = run(tf.random.stateless_uniform([9], [1, 2], None, None, tf.int64))
    assert abs(x).max() > 2 ** 32
    x = run(tf.random.stateless_categorical([[0., -np.inf]], 5, [1, 2]))
    assert (x == 0).all()
    with pytest.raises(ValueError, match="both None"):
        tf.random.stateless_uniform([9], [1, 2], 3, None, tf.int64)


def test_poisson():
    tf.set_random_seed(1)
    got = run(tf.random_poisson([.5, 3., 50.], [3], seed=2))
    assert got.dtype == np.float32
    np.testing.assert_array_equal(
        got, [[0, 3, 57], [1, 1, 41], [0, 2, 52]])


# Every run takes the generator on; what skips the same way comes to the same.
def test_a_generator_in_a_variable():
    handle = tf.raw_ops.VarHandleOp(dtype=tf.int64, shape=[3])
    init = tf.raw_ops.AssignVariableOp(handle, np.array([1, 2, 3], np.int64))
    draw = tf.raw_ops.StatefulUniform(handle, 1, [5])
    skip = tf.raw_ops.RngReadAndSkip(handle, 1, 5)
    state = tf.raw_ops.ReadVariableOp(handle, dtype=tf.int64)
    with tf.Session() as sess:
        sess.run(init)
        np.testing.assert_allclose(
            sess.run(draw),
            [.45901167, .53342485, .9627732, .7121686, .08489156], rtol=1e-6)
        second = sess.run(draw)
        sess.run(init)
        assert list(sess.run(skip)) == [1, 2, 3]
        assert list(sess.run(state)) == [1281, 2, 3]
        assert (sess.run(draw) == second).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative|>="):
            sess.run(tf.raw_ops.StatefulUniform(
                handle, 1, tf.placeholder_with_default(
                    np.array([-1], np.int64), [1])))
        assert list(sess.run(state)) == [2561, 2, 3]


def test_uninitialised_generator():
    handle = tf.raw_ops.VarHandleOp(dtype=tf.int64, shape=[3])
    with pytest.raises(tf.errors.OpError, match="uninit|not found|NotFound"):
        run(tf.raw_ops.StatefulUniform(handle, 1, [5]))


@pytest.mark.parametrize("build", [
    lambda shape: tf.raw_ops.StatelessRandomGammaV2(shape=shape, seed=[1, 2], alpha=[1.0, 2.0]),
    lambda shape: tf.raw_ops.StatelessRandomPoisson(shape=shape, seed=[1, 2], lam=[1.0, 2.0], dtype=tf.float32)])
def test_a_shape_that_does_not_end_as_the_parameters_do_fails_in_the_run(build):
    with tf.Graph().as_default(), tf.Session() as s:
        assert s.run(build([3, 2])).shape == (3, 2)
        y = build([3, 5])
        assert y.shape == (3, 5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must end with"):
            s.run(y)


def test_stateless_numbers_by_their_names_in_contrib():
    stateless = tf.contrib.stateless
    pairs = [
        (stateless.stateless_random_uniform, tf.random.stateless_uniform),
        (stateless.stateless_random_normal, tf.random.stateless_normal),
        (stateless.stateless_truncated_normal,
         tf.random.stateless_truncated_normal)]
    with tf.Session() as session:
        for old, new in pairs:
            a, b = session.run([old([3], seed=[1, 2]), new([3], seed=[1, 2])])
            assert a.tolist() == b.tolist()
        uniform = stateless.stateless_random_uniform([2], seed=[1, 2])
        # TensorFlow 1.15's numbers.
        np.testing.assert_allclose(session.run(uniform),
                                   [0.8440604, 0.19204533], rtol=1e-6)
    assert stateless.stateless_multinomial is tf.random.stateless_multinomial
