"""Metrics of tf.keras in the scopes of strategies: each replica adds, and what
is read is of all together."""
import numpy as np
import pytest

import headrace as tf

STRATEGIES = [
    lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
    lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    lambda: tf.distribute.experimental.CentralStorageStrategy(["/cpu:0"]),
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
    tf.distribute.experimental.ParameterServerStrategy]


@pytest.fixture(params=STRATEGIES)
def strategy(request, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with tf.Graph().as_default():
        yield request.param()


@pytest.fixture
def session(strategy):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as s:
        yield s


class Shown(tf.keras.layers.Layer):
    """Shows the mean of its input."""

    def call(self, x):
        self.add_metric(x, aggregation="mean", name="shown")
        return x


@pytest.mark.parametrize("in_scope", [True, False])
def test_compiled_models(strategy, session, in_scope):
    x = np.float32([[1], [2], [3], [6]])
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(1, use_bias=False,
                                  kernel_initializer="ones",
                                  **({"input_shape": (1,)} if in_scope
                                     else {}))])
        # Without an input_shape, fit makes the metrics, outside of the scope.
        model.compile(tf.keras.optimizers.SGD(0.), "mse",
                      metrics=["mae", tf.keras.metrics.MeanSquaredError(
                          name="own")])
    history = model.fit(x, 0 * x, batch_size=4, epochs=2, verbose=0)
    assert history.history["own"] == [12.5, 12.5]
    assert model.evaluate(x, 0 * x, batch_size=2, verbose=0) == [12.5, 3, 12.5]


def test_layers_that_add_metrics(strategy, session):
    x = np.float32([[1], [2], [3], [6]])
    with strategy.scope():
        inputs = tf.keras.layers.Input([1])
        model = tf.keras.Model(inputs, Shown()(
            tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs)))
        model.compile(tf.keras.optimizers.SGD(0.), "mse")
    found = model.evaluate(x, x, batch_size=4, verbose=0)
    assert found[1] == 3


def test_replicas_add_in_loops_of_ones_own(strategy, session):
    with strategy.scope():
        metric = tf.keras.metrics.Mean()
        batches = strategy.make_dataset_iterator(
            tf.data.Dataset.from_tensor_slices([1., 2., 3., 6.]).batch(4))
        update = strategy.group(strategy.experimental_run_v2(
            lambda x: metric.update_state(x), (batches.get_next(),)))
        result = metric.result()
        if strategy.num_replicas_in_sync == 1:
            again = metric(tf.constant([6.]))
    session.run(batches.initialize())
    session.run(tf.global_variables_initializer())
    session.run(update)
    assert session.run(result) == 3
    if strategy.num_replicas_in_sync == 1:
        assert session.run(again) == pytest.approx(3.6)
    tf.keras.backend.set_session(session)
    metric.reset_states()
    assert np.isfinite(session.run(result)) and session.run(result) == 0
