"""Layers, models, losses and metrics of Keras where ops are executed eagerly.
Numbers of training are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.eager import context

keras = tf.keras
ONE = keras.initializers.Constant(.1)
X = np.linspace(-1, 1, 40).reshape(8, 5).astype(np.float32)
Y = X.sum(1, keepdims=True)


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        keras.backend.clear_session()
        yield


class Net(keras.Model):
    def __init__(self):
        super().__init__(name="m")
        self.a = keras.layers.Dense(3, activation="tanh",
                                    kernel_initializer=ONE)
        self.b = keras.layers.Dense(1, kernel_initializer=ONE)
        self.norm = keras.layers.BatchNormalization()

    def call(self, inputs, training=False):
        return self.b(self.norm(self.a(inputs), training=training))


def sequential():
    return keras.Sequential([
        keras.layers.Dense(3, activation="tanh", kernel_initializer=ONE),
        keras.layers.Dense(1, kernel_initializer=ONE)])


def functional():
    inputs = keras.Input((5,))
    hidden = keras.layers.Dense(
        3, activation="tanh", kernel_initializer=ONE,
        kernel_regularizer=keras.regularizers.l2(.1))(inputs)
    return keras.Model(inputs, keras.layers.Dense(
        1, kernel_initializer=ONE)(hidden))


# (model, losses of three epochs, [loss, mean absolute error] afterwards)
FITS = [(Net, [8.938, 8.935, 8.928], [6.609, 2.221]),
        (sequential, [8.987, 4.891, 1.073], [0.393, 0.488]),
        (functional, [9.019, 5.077, 1.335], [0.62, 0.48])]


@pytest.mark.parametrize("case", range(len(FITS)))
def test_fit(case):
    make, losses, after = FITS[case]
    model = make()
    model.compile(keras.optimizers.SGD(.1), "mse", metrics=["mae"])
    history = model.fit(X, Y, epochs=3, batch_size=4, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], losses, atol=1e-3)
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), after,
                               atol=2e-3)
    np.testing.assert_allclose(model.predict(X), model(X).numpy(), rtol=1e-5)


def test_other_data_and_optimizers():
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    for optimizer in (tf.train.AdamOptimizer(.1), "adam"):
        model = functional()
        model.compile(optimizer, "mse")
        first = model.fit(data, epochs=2, verbose=0).history["loss"]
        again = functional()
        again.compile(optimizer if isinstance(optimizer, str)
                      else tf.train.AdamOptimizer(.1), "mse")
        second = again.fit(tf.constant(X), tf.constant(Y), batch_size=4,
                           shuffle=False, epochs=2, verbose=0).history["loss"]
        np.testing.assert_allclose(first, second, rtol=1e-6)
        assert model.predict(data).shape == (8, 1)
    model = Net()
    model.compile("sgd", "mse", metrics=["mae"])
    np.testing.assert_allclose(model.train_on_batch(X, Y), [6.967, 2.301],
                               atol=1e-3)
    np.testing.assert_allclose(model.test_on_batch(X, Y), [7.886, 2.450],
                               atol=1e-3)
    assert isinstance(model.predict_on_batch(X), tf.Tensor)


def test_callbacks_run_eagerly():
    seen = []

    class Look(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append((tf.executing_eagerly(), float(tf.constant(1.) + 1)))
    model = functional()
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[
        Look(), keras.callbacks.LearningRateScheduler(lambda epoch: .25)])
    assert seen == [(True, 2.)] * 2
    assert float(model.optimizer.lr.numpy()) == .25


LAYERS = [
    (lambda: keras.layers.Dense(2, kernel_initializer=ONE)(
        tf.constant([[1., 2.]])),
     [[.3, .3]]),
    (lambda: keras.layers.Embedding(4, 1, embeddings_initializer=ONE)(
        tf.constant([[1, 2]])), [[[.1], [.1]]]),
    (lambda: keras.layers.Conv2D(1, 2, kernel_initializer=ONE)(
        tf.ones([1, 3, 3, 1]))[0, 0], [[.4], [.4]]),
    (lambda: keras.layers.LSTM(1, kernel_initializer=ONE,
                               recurrent_initializer=ONE)(
        tf.ones([1, 2, 1])), [[0.047]]),
    (lambda: keras.layers.BatchNormalization()(
        tf.constant([[1.], [3.]]), training=True), [[-1], [1]]),
    (lambda: keras.layers.Dropout(.5)(tf.ones([3])), [1, 1, 1]),
    (lambda: keras.layers.Lambda(lambda x: x * 2)(tf.constant(1.)), 2),
    (lambda: tf.layers.dense(tf.constant([[1.]]), 2, kernel_initializer=(
        tf.constant_initializer(.1))), [[.1, .1]]),
    (lambda: tf.layers.batch_normalization(
        tf.constant([[1.], [3.]]), training=True), [[-1], [1]]),
]


@pytest.mark.parametrize("case", range(len(LAYERS)))
def test_layers(case):
    call, wanted = LAYERS[case]
    np.testing.assert_allclose(call().numpy(), wanted, atol=2e-3)


def test_weights_losses_and_updates():
    layer = keras.layers.Dense(
        2, kernel_initializer=ONE, kernel_regularizer=keras.regularizers.l2(.1),
        activity_regularizer=keras.regularizers.l1(.1))
    layer(tf.ones([1, 3]))
    first = [float(x) for x in layer.losses]
    layer(tf.ones([2, 3]))
    np.testing.assert_allclose(first, [float(x) for x in layer.losses])
    np.testing.assert_allclose(sorted(first), [.006, .06], rtol=1e-5)
    layer.set_weights([np.ones((3, 2)), np.zeros(2)])
    assert layer(tf.ones([1, 3])).numpy().tolist() == [[3, 3]]
    assert [v.name for v in layer.weights] == ["dense/kernel:0", "dense/bias:0"]
    norm = keras.layers.BatchNormalization()
    norm(tf.constant([[1.], [3.]]), training=True)
    np.testing.assert_allclose(norm.moving_mean.numpy(), [.02], rtol=1e-5)

    class Scaled(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(2.)
            self.inner = keras.layers.Dense(1, kernel_initializer=ONE)

        def call(self, inputs):
            return self.inner(inputs) * self.scale
    scaled = Scaled()
    assert scaled(tf.ones([1, 1])).numpy() == pytest.approx(.2)
    assert len(scaled.trainable_variables) == 3
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(scaled(tf.ones([1, 1])))
    assert len([g for g in tape.gradient(loss, scaled.variables)
                if g is not None]) == 3


def test_metrics_and_losses():
    for metric, args, wanted in (
            (keras.metrics.Mean(), ([1., 2.],), 1.5),
            (keras.metrics.Accuracy(), ([1, 2], [1, 3]), .5),
            (keras.metrics.AUC(), ([0, 1], [.2, .8]), 1.)):
        metric.update_state(*args)
        assert float(metric.result()) == pytest.approx(wanted)
        assert float(metric(*args)) == pytest.approx(wanted)
        metric.reset_states()
        assert float(metric.result()) == 0
    assert float(keras.losses.MeanSquaredError()([[1.]], [[3.]])) == 4
    assert float(keras.losses.SparseCategoricalCrossentropy()(
        [1], [[.1, .9]])) == pytest.approx(-np.log(.9))
    assert float(tf.losses.mean_squared_error([1.], [3.])) == 4
    assert tf.losses.get_losses() == []
    from headrace._src.eager import metrics
    mean = metrics.Mean("m")
    mean(3.), mean(5.)
    assert float(mean.result()) == 4
    mean.init_variables()
    mean(1.)
    assert float(mean.result()) == 1


def test_saved_models(tmp_path):
    model = functional()
    model.compile("adam", "mse")
    model.fit(X, Y, verbose=0)
    model.save_weights(str(tmp_path / "w"))
    other = functional()
    other.load_weights(str(tmp_path / "w"))
    np.testing.assert_array_equal(model(X).numpy(), other(X).numpy())
    copied = keras.models.model_from_json(model.to_json())
    copied.set_weights(model.get_weights())
    np.testing.assert_allclose(copied.predict(X), model.predict(X))
    pytest.importorskip("h5py")
    model.save(str(tmp_path / "m.h5"))
    read = keras.models.load_model(str(tmp_path / "m.h5"))
    np.testing.assert_allclose(read.predict(X), model.predict(X))


def test_the_backend():
    inputs = keras.Input((2,))
    function = keras.backend.function([inputs], [inputs * 2 + 1])
    assert function([np.ones((1, 2))])[0].tolist() == [[3, 3]]
    assert keras.backend.learning_phase() == 0
    assert float(keras.backend.eval(tf.constant(2.))) == 2
    v = keras.backend.variable(1.)
    keras.backend.set_value(v, 4.)
    assert keras.backend.get_value(v) == 4


def test_recurrent_cells():
    cell = tf.nn.rnn_cell.GRUCell(3)
    state = cell.zero_state(2, tf.float32)
    output, _ = cell(tf.ones([2, 4]), state)
    assert output.shape.as_list() == [2, 3]
    outputs, last = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 4]),
                                      dtype=tf.float32)
    np.testing.assert_allclose(outputs[:, -1].numpy(), last.numpy())
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.dynamic_rnn(
            cell, tf.ones([2, 5, 4]), dtype=tf.float32)[1])
    assert all(g is not None for g in tape.gradient(y, cell.variables))


def test_models_that_run_eagerly():
    """Of TensorFlow 1.15.5: three epochs of a model, and of one whose layer
    looks at values."""
    seen = []

    class Looks(Net):
        def call(self, inputs, training=False):
            seen.append(float(inputs.numpy().max()))
            return super().call(inputs, training=training)
    model = Looks()
    model.compile(keras.optimizers.SGD(.1), "mse", metrics=["mae"],
                  run_eagerly=True)
    history = model.fit(X, Y, epochs=3, batch_size=4, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], FITS[0][1], atol=1e-3)
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), FITS[0][2],
                               atol=2e-3)
    assert model.predict(X).shape == (8, 1) and len(seen) == 9

    class Dynamic(keras.layers.Layer):
        def __init__(self):
            super().__init__(dynamic=True)

        def call(self, inputs):
            return inputs * float(inputs.numpy().max() > -5)
    model = keras.Sequential([Dynamic(), keras.layers.Dense(
        1, kernel_initializer=ONE)])
    model.compile("sgd", "mse")
    assert model.run_eagerly
    np.testing.assert_allclose(
        model.fit(X, Y, epochs=2, batch_size=4, shuffle=False,
                  verbose=0).history["loss"], [6.859, 5.953], atol=1e-3)


def test_networks_of_before_models(tmp_path):
    tfe = tf.contrib.eager

    class Old(tfe.Network):
        def __init__(self):
            super().__init__()
            self.one = self.track_layer(tf.layers.Dense(3))

        def call(self, inputs):
            return self.one(inputs)
    network = Old()
    network(tf.ones([1, 2]))
    assert [v.name for v in network.trainable_variables] == [
        "old/dense/kernel:0", "old/dense/bias:0"]
    path = tfe.save_network_checkpoint(network, str(tmp_path))
    assert tf.train.list_variables(path) == [
        ("dense/bias", [3]), ("dense/kernel", [2, 3])]
    kernel = network.one.kernel.numpy()
    network.one.kernel.assign(kernel * 0)
    tfe.restore_network_checkpoint(network, path)
    np.testing.assert_array_equal(network.one.kernel.numpy(), kernel)
    chain = tfe.Sequential([tf.layers.Dense(3), tf.nn.relu])
    assert chain(tf.ones([1, 2])).shape.as_list() == [1, 3]
    assert len(chain.trainable_variables) == 2
    with pytest.raises(TypeError):
        network.track_layer(3)
