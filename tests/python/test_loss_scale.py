"""tf.train.experimental's loss scales, with the numbers of TensorFlow
1.15.5."""
import numpy as np
import pytest

import headrace as tf

experimental = tf.train.experimental
INF, NAN = float("inf"), float("nan")
STEPS = [1., 2., INF, 1., 1., 1., NAN, 1.]


def optimizer(scale, inner=tf.train.GradientDescentOptimizer):
    return experimental.MixedPrecisionLossScaleOptimizer(inner(.1), scale)


@pytest.fixture(autouse=True)
def no_graph_rewrite():
    yield
    experimental.disable_mixed_precision_graph_rewrite()


@pytest.mark.parametrize("make, steps, found", [
    (lambda: optimizer(experimental.DynamicLossScale(4., 2, 2.)), STEPS,
     [(.9, 1, 4), (.7, 2, 8), (.7, 2, 4), (.6, 3, 4), (.5, 4, 8), (.4, 5, 8),
      (.4, 5, 4), (.3, 6, 4)]),
    # A scale that would become infinite stays.
    (lambda: optimizer(experimental.DynamicLossScale(1e38, 1, 4.)),
     STEPS[1:4], [(1, 1, 1e38), (1, 1, 2.5e37), (.9, 2, 1e38)]),
    (lambda: optimizer(8, tf.train.AdamOptimizer), [1., 2.],
     [(.9, 1, 8), (.80348217, 2, 8)]),
    (lambda: experimental.enable_mixed_precision_graph_rewrite(
        tf.train.AdamOptimizer(.1)), [1., 2.],
     [(.9, 1, 32768), (.80348217, 2, 32768)])])
def test_steps(make, steps, found):
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [])
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        count = tf.train.get_or_create_global_step()
        made = make()
        train = made.minimize(w * x, global_step=count)
        scale = made._loss_scale()
        s.run(tf.global_variables_initializer())
        for value, expected in zip(steps, found):
            s.run(train, {x: value})
            np.testing.assert_allclose(s.run([w, count, scale]), expected,
                                       rtol=1e-6)


def test_replicas_scale_together():
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        x = tf.placeholder(tf.float32, [2])
        with strategy.scope():
            w = tf.get_variable("w", [], initializer=tf.ones_initializer())
            made = optimizer(experimental.DynamicLossScale(4., 2, 2.))

            def step():
                context = tf.distribute.get_replica_context()
                return made.minimize(
                    w * x[context.replica_id_in_sync_group])
            train = strategy.group(strategy.experimental_run_v2(step))
            scale = made._loss_scale._current_loss_scale
        config = tf.ConfigProto(device_count={"CPU": 2})
        with tf.Session(config=config) as s:
            s.run(tf.global_variables_initializer())
            for value, expected in (([1., 1.], (.8, .8, 4)),
                                    ([1., INF], (.8, .8, 2)),
                                    ([2., 1.], (.5, .5, 2))):
                s.run(train, {x: value})
                np.testing.assert_allclose(s.run([*w.values, scale]), expected,
                                           rtol=1e-6)


@pytest.mark.parametrize("inner", [
    lambda: tf.keras.optimizers.SGD(.1), lambda: tf.keras.optimizers.Adam(.1)])
def test_keras_optimizers(inner):
    x, y = np.float32([[1, 2], [3, 4]]), np.float32([[1], [2]])
    results = []
    scaled = tf.keras.mixed_precision.experimental.LossScaleOptimizer
    for wrap in (lambda o: o, lambda o: scaled(o, "dynamic"),
                 experimental.enable_mixed_precision_graph_rewrite):
        with tf.Graph().as_default():
            model = tf.keras.Sequential([tf.keras.layers.Dense(
                1, input_shape=(2,), kernel_initializer="ones")])
            model.compile(wrap(inner()), "mse")
            losses = [model.train_on_batch(x, y) for _ in range(3)]
            weights = model.get_weights()
            results.append((losses, weights))
            if isinstance(model.optimizer, scaled):
                assert model.optimizer.lr is model.optimizer.learning_rate
                model.train_on_batch(x * INF, y)
                np.testing.assert_array_equal(weights[0],
                                              model.get_weights()[0])
                scale = model.optimizer.loss_scale()
                assert tf.keras.backend.get_value(scale) == 2 ** 14
    for other in results[1:]:
        for a, b in zip(tf.nest.flatten(results[0]), tf.nest.flatten(other)):
            np.testing.assert_allclose(a, b, rtol=1e-4)


@pytest.mark.parametrize("scale, text, config", [
    (lambda: experimental.FixedLossScale(8), "FixedLossScale(8.0)",
     {"loss_scale_value": 8.}),
    (lambda: experimental.DynamicLossScale(4., 2, 3),
     "DynamicLossScale(initial_loss_scale=4.0, increment_period=2, "
     "multiplier=3.0)",
     {"initial_loss_scale": 4., "increment_period": 2, "multiplier": 3.})])
def test_configs(scale, text, config):
    with tf.Graph().as_default():
        made = scale()
    assert (repr(made), made.get_config()) == (text, config)
    with tf.Graph().as_default():
        assert repr(type(made).from_config(config)) == text


@pytest.mark.parametrize("call, error, match", [
    (lambda: experimental.FixedLossScale(.5), ValueError, "at least 1, got"),
    (lambda: experimental.FixedLossScale("a"), ValueError, "int or float, got"),
    (lambda: optimizer("x"), ValueError, "interpret loss scale identifier: x"),
    (lambda: experimental.MixedPrecisionLossScaleOptimizer(3, 2), ValueError,
     '"opt" must be an instance of Optimizer, but got'),
    (lambda: experimental.enable_mixed_precision_graph_rewrite(optimizer(2)),
     ValueError, "must not already be an instance"),
    (lambda: experimental.enable_mixed_precision_graph_rewrite(4), ValueError,
     "a tf.train.Optimizer or a tf.keras"),
    (lambda: tf.keras.mixed_precision.experimental.LossScaleOptimizer(
        tf.keras.optimizers.SGD(.1, clipnorm=1.), 2), ValueError,
     "does not support wrapping optimizers with a clipnorm"),
    (lambda: experimental.LossScale(), TypeError, "abstract")])
def test_refusals(call, error, match):
    with tf.Graph().as_default(), pytest.raises(error, match=match):
        call()
