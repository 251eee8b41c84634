"""tf.train.*_decay: the rates of TensorFlow 1.15."""
import numpy as np
import pytest

import headrace as tf

STEPS = [0, 1, 5, 9, 10, 11, 25, 100]
RATES = {
    "exponential": (
        lambda s: tf.train.exponential_decay(.1, s, 10, .96),
        [0.1, 0.099593, 0.09798, 0.096393, 0.096, 0.095609, 0.090298,
         0.066483]),
    "exponential_staircase": (
        lambda s: tf.train.exponential_decay(.1, s, 10, .96, True),
        [0.1, 0.1, 0.1, 0.1, 0.096, 0.096, 0.09216, 0.066483]),
    "natural_exp": (
        lambda s: tf.train.natural_exp_decay(.1, s, 10, .5),
        [0.1, 0.095123, 0.07788, 0.063763, 0.060653, 0.057695, 0.02865,
         0.00067379]),
    "natural_exp_staircase": (
        lambda s: tf.train.natural_exp_decay(
            .1, s, 10, .5, staircase=True),
        [0.1, 0.1, 0.1, 0.1, 0.060653, 0.060653, 0.036788, 0.00067379]),
    "inverse_time": (
        lambda s: tf.train.inverse_time_decay(.1, s, 10, .5),
        [0.1, 0.095238, 0.08, 0.068966, 0.066667, 0.064516, 0.044444,
         0.016667]),
    "inverse_time_staircase": (
        lambda s: tf.train.inverse_time_decay(.1, s, 10, .5, True),
        [0.1, 0.1, 0.1, 0.1, 0.066667, 0.066667, 0.05, 0.016667]),
    "polynomial": (
        lambda s: tf.train.polynomial_decay(.1, s, 10, .01, 2.),
        [0.1, 0.0829, 0.0325, 0.0109, 0.01, 0.01, 0.01, 0.01]),
    "polynomial_cycle": (
        lambda s: tf.train.polynomial_decay(.1, s, 10, .01, .5, True),
        [0.1, 0.095381, 0.07364, 0.038461, 0.01, 0.070374, 0.046742, 0.01]),
    "piecewise": (
        lambda s: tf.train.piecewise_constant(s, [5, 10], [1., .5, .1]),
        [1.0, 1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.1]),
    "piecewise_decay": (
        lambda s: tf.train.piecewise_constant_decay(
            s, [tf.constant(5), 10, 20], [1., .5, .1, 2.]),
        [1.0, 1.0, 1.0, 0.5, 0.5, 0.1, 2.0, 2.0]),
    "cosine": (
        lambda s: tf.train.cosine_decay(.1, s, 10, .1),
        [0.1, 0.097798, 0.055, 0.012202, 0.01, 0.01, 0.01, 0.01]),
    "cosine_restarts": (
        lambda s: tf.train.cosine_decay_restarts(.1, s, 10),
        [0.1, 0.097553, 0.05, 0.0024472, 0.1, 0.099384, 0.014645, 0.069134]),
    "cosine_restarts_even": (
        lambda s: tf.train.cosine_decay_restarts(.1, s, 10, 1.0, .5, .1),
        [0.1, 0.097798, 0.055, 0.012202, 0.055, 0.053899, 0.02125, 0.010088]),
    "cosine_restarts_longer": (
        lambda s: tf.train.cosine_decay_restarts(
            .1, s, 7, t_mul=1.5, m_mul=.9),
        [0.1, 0.095048, 0.018826, 0.082181, 0.073057, 0.06144, 0.043527,
         0.056054]),
    "linear_cosine": (
        lambda s: tf.train.linear_cosine_decay(.1, s, 10),
        [0.1001, 0.087898, 0.0251, 0.00034472, 0.0001, 0.0001, 0.0001, 0.0001]),
    "linear_cosine_periods": (
        lambda s: tf.train.linear_cosine_decay(
            .1, s, 10, 2., .1, .01),
        [0.111, 0.066451, 0.061, 0.01409, 0.011, 0.011, 0.011, 0.011]),
    "noisy_without_noise": (
        lambda s: tf.train.noisy_linear_cosine_decay(.1, s, 10, 0.),
        [0.1001, 0.087898, 0.0251, 0.00034472, 0.0001, 0.0001, 0.0001, 0.0001]),
}


@pytest.mark.parametrize("case", RATES)
def test_rates(case):
    build, wanted = RATES[case]
    step = tf.placeholder(tf.int32, [])
    rate = build(step)
    with tf.Session() as session:
        np.testing.assert_allclose(
            [session.run(rate, {step: s}) for s in STEPS], wanted, 1e-4, 1e-6)


def test_variable_as_global_step():
    step = tf.Variable(np.int64(10), trainable=False)
    rates = [tf.train.exponential_decay(.1, step, 10, .96),
             tf.train.polynomial_decay(.1, step, 20),
             tf.train.piecewise_constant(step, [5, 20], [1., 2., 3.])]
    with tf.Session() as session:
        session.run(step.initializer)
        np.testing.assert_allclose(session.run(rates), [.096, .05005, 2.],
                                   1e-5)


def test_float64():
    with tf.Session() as session:
        rate = tf.train.cosine_decay(tf.constant(.1, tf.float64), 3, 10)
        assert session.run(rate) == pytest.approx(
            .05 * (1 + np.cos(.3 * np.pi)), 1e-14)


def test_noise_has_its_variance():
    tf.set_random_seed(1)
    rate = tf.train.noisy_linear_cosine_decay(
        tf.ones([]), tf.fill([], 3), 10, initial_variance=.25,
        num_periods=0., beta=0.)
    with tf.Session() as session:
        rates = [session.run(rate) for _ in range(400)]
    assert np.mean(rates) == pytest.approx(.7, abs=.1)
    assert np.var(rates) == pytest.approx(.25 / 4 ** .55, rel=.25)


@pytest.mark.parametrize("build, message", [
    (lambda: tf.train.exponential_decay(.1, None, 10, .9), "global_step"),
    (lambda: tf.train.natural_exp_decay(.1, None, 10, .9), "global_step"),
    (lambda: tf.train.inverse_time_decay(.1, None, 10, .9), "global_step"),
    (lambda: tf.train.polynomial_decay(.1, None, 10), "global_step"),
    (lambda: tf.train.cosine_decay(.1, None, 10), "global_step"),
    (lambda: tf.train.cosine_decay_restarts(.1, None, 10), "global_step"),
    (lambda: tf.train.linear_cosine_decay(.1, None, 10), "global_step"),
    (lambda: tf.train.noisy_linear_cosine_decay(.1, None, 10), "global_step"),
    (lambda: tf.train.piecewise_constant(1, [1, 2], [1., 2.]),
     "length of boundaries"),
    (lambda: tf.train.piecewise_constant(1, [1.], [1., 2.]), "same dtype as x"),
    (lambda: tf.train.piecewise_constant(
        1, [1], [1., tf.constant(2., tf.float64)]), "all with the same dtype"),
])
def test_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_natural_exp_decay_is_named_as_in_tensorflow():
    assert tf.train.natural_exp_decay(1., 1, 10, .5).op.name == (
        "ExponentialDecay")
    assert tf.train.natural_exp_decay(1., 1, 10, .5, name="rate").op.name == (
        "rate")
