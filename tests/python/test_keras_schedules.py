"""tf.keras.optimizers.schedules: learning rates by the number of steps. Values
are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.keras import schedules

S = tf.keras.optimizers.schedules
OPTIMIZERS = tf.keras.optimizers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name, arguments, step, value", [
    ("ExponentialDecay", (.05, 10, .96), 5, .05 * .96 ** .5),
    ("ExponentialDecay", (.05, 10, .96, True), 15, .05 * .96),
    ("InverseTimeDecay", (.1, 5, .3), 5, .1 / 1.3),
    ("PolynomialDecay", (.05, 10, .01), 5, .03),
    ("PolynomialDecay", (.05, 10, .01, 1., True), 15, .02),
    ("CosineDecay", (1., 1000, .1), 500, .55),
    ("CosineDecayRestarts", (1., 100), 150, .853553),
    ("LinearCosineDecay", (1., 1000), 500, .251),
    ("PiecewiseConstantDecay", ([2, 5], [1., .5, .1]), 5, .5),
    ("PiecewiseConstantDecay", ([2, 5], [1., .5, .1]), 6, .1)])
def test_rates(name, arguments, step, value):
    schedule = getattr(schedules, name)(*arguments)
    config = S.serialize(schedule)
    assert config["class_name"] == name
    again = S.deserialize(config)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([
            schedule(step), again(tf.constant(step, tf.int64))]), [value] * 2,
            rtol=1e-5)


def test_an_optimizer_with_a_schedule():
    v = tf.Variable(3., use_resource=True)
    optimizer = OPTIMIZERS.SGD(S.ExponentialDecay(1., 1, .5))
    step = optimizer.apply_gradients([(tf.constant(1.), v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(3):
            session.run(step)
            seen.append(session.run(v))
        assert seen == [2., 1.5, 1.25]
        again = OPTIMIZERS.deserialize(OPTIMIZERS.serialize(optimizer))
    assert isinstance(again.learning_rate, S.ExponentialDecay)
    assert again.learning_rate.decay_rate == .5


def nadam():
    OPTIMIZERS.Nadam(S.ExponentialDecay(1., 1, .5)).apply_gradients(
        [(tf.constant(1.), tf.Variable(1., use_resource=True))])


@pytest.mark.parametrize("make, error, message", [
    (lambda: S.PiecewiseConstantDecay([1], [1.]), ValueError, "1 less"),
    (lambda: S.deserialize({"class_name": "Q", "config": {}}), ValueError,
     "Unknown decay: Q"),
    (lambda: S.LearningRateSchedule()(1), NotImplementedError,
     "must override __call__"),
    (nadam, ValueError, "Nadam optimizer does not support")])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
