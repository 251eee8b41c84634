"""Parts of tf.keras models that tests and programs look at: metrics of layers,
histories of tensors, names, and what is refused."""
import numpy as np
import pytest

import headrace as tf

L = tf.keras.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


class Measured(L.Layer):

    def call(self, x):
        self.add_metric(tf.reduce_sum(x), name="sum", aggregation="mean")
        return x


def test_metrics_of_layers():
    x = L.Input((3,))
    layer = Measured()
    y = layer(x)
    model = tf.keras.Model(x, L.Dense(1)(y))
    model.add_metric(tf.reduce_mean(y), name="mean", aggregation="mean")
    model.compile("sgd", "mse", metrics=["mae"],
                  experimental_run_tf_function=False)
    assert model.metrics_names == ["loss", "mean_absolute_error", "sum", "mean"]
    history = model.fit(np.ones((4, 3)), np.ones((4, 1)), epochs=2,
                        verbose=0).history
    assert history["sum"] == [12., 12.] and history["mean"] == [1., 1.]
    assert [m.name for m in layer.metrics] == ["sum"]
    assert [m.name for m in model.metrics] == ["mean_absolute_error", "sum",
                                               "mean"]


def of_a_metric(model, value):
    model.add_metric(tf.keras.metrics.Mean("m")(value))


@pytest.mark.parametrize("add, message", [
    (lambda m, x: m.add_metric(x, name="a", aggregation="sum"),
     "support only `mean`"),
    (lambda m, x: m.add_metric(x, aggregation="mean"), "provide a name"),
    (lambda m, x: m.add_metric(x, name="a"), "not the output of a"),
    (of_a_metric, "on a Functional Model is not supported")])
def test_metrics_that_are_refused(add, message):
    x = L.Input((3,))
    y = L.Dense(1)(x)
    with pytest.raises(ValueError, match=message):
        add(tf.keras.Model(x, y), y)


def test_the_result_of_a_metric_inside_a_layer():
    class Counted(L.Layer):

        def build(self, shape):
            self.total = tf.keras.metrics.Sum("total")

        def call(self, x):
            self.add_metric(self.total(x))
            return x
    model = tf.keras.Sequential([Counted(input_shape=(2,)), L.Dense(1)])
    model.compile("sgd", "mse")
    found = model.evaluate(np.ones((4, 2)), np.ones((4, 1)), batch_size=2,
                           verbose=0)
    assert model.metrics_names == ["loss", "total"] and found[1] == 8.


def test_histories_of_tensors():
    x = L.Input((3,), name="x")
    dense = L.Dense(2)
    y, z = dense(x), dense(x)
    assert y._keras_history == (dense, 0, 0)
    assert z._keras_history.node_index == 1
    assert x._keras_history.layer.name == "x"
    assert not hasattr(tf.zeros([1]), "_keras_history")
    assert dense.input is x and dense.output is y
    model = tf.keras.Model(x, y)
    assert [layer.name for layer in model._input_layers] == ["x"]
    assert model._output_layers == [dense]


def test_a_sequential_model_and_its_input():
    model = tf.keras.Sequential([L.Input((3,)), L.Dense(2), L.Dense(1)])
    assert len(model.layers) == 2
    model.pop()
    assert model.output_shape == (None, 2)
    model.pop()
    assert model.inputs is None and model.outputs is None
    late = tf.keras.Sequential([L.Dense(2)])
    with pytest.raises(ValueError, match="have not yet been created"):
        late.weights
    with pytest.raises(ValueError, match="must provide an `input_shape`"):
        late.build()
    late.build((None, 3))
    assert [w.shape.as_list() for w in late.weights] == [[3, 2], [2]]
    assert late(tf.ones([5, 3])).shape == (5, 2)


def test_updates_of_calls():
    class Updated(L.Layer):

        def call(self, x):
            v = self.add_weight("v", (), initializer="zeros", trainable=False)
            self.add_update(v.assign(tf.reduce_sum(x)), inputs=True)
            self.add_update(v.assign_add(1.))
            return x
    x = L.Input((3,))
    layer = Updated()
    layer(x)
    assert len(layer.get_updates_for(x)) == 1
    assert len(layer.get_updates_for(None)) == 1


def two_outputs(**arguments):
    x = L.Input((3,))
    model = tf.keras.Model(x, [L.Dense(1, name="a")(x), L.Dense(1)(x)])
    model.compile("sgd", "mse", **arguments)


def same_names():
    x = L.Input((3,))
    return tf.keras.Model(x, L.Dense(2, name="z")(L.Dense(2, name="z")(x)))


def weighted(weights):
    model = tf.keras.Sequential([L.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 1)),
                         sample_weight=np.ones(weights))


@pytest.mark.parametrize("make, error, message", [
    (same_names, ValueError, "The name \"z\" is used 2 times"),
    (lambda: tf.keras.Sequential([
        L.Input((3,)), L.Dense(2, name="z"), L.Dense(2, name="z")]), ValueError,
     "used 2 times"),
    (L.Input, ValueError, "either a `shape` or a `tensor`"),
    (lambda: L.Input((3,), batch_shape=(2, 3)), ValueError, "not both"),
    (lambda: two_outputs(loss_weights=3), TypeError, "Could not interpret"),
    (lambda: weighted((2, 2)), ValueError, "sample_weight_mode=\"temporal\""),
    (lambda: weighted((3,)), ValueError, "cannot be broadcast"),
    (lambda: tf.keras.losses.get("foo"), ValueError,
     "Unknown loss function:foo")])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()


def counting(layers):
    """A layer with an update of each kind, and losses of both kinds."""
    class Counting(layers.Layer):

        def build(self, shape):
            self.count = self.add_weight("count", (1, 1), trainable=False,
                                         initializer="zeros")
            self.add_update(self.count.assign_add([[1.]]))
            self.add_loss(lambda: tf.reduce_sum(self.count))

        def call(self, x):
            self.add_update(self.count.assign_add(tf.reduce_sum(
                x, keepdims=True)))
            self.add_loss(tf.reduce_sum(x), inputs=True)
            return x + 1.
    return Counting()


def test_updates_and_losses_for_inputs_are_those_of_inner_layers_too():
    x, y = L.Input((1,)), L.Input((1,))
    layer = counting(L)
    layer(x)
    model = tf.keras.Model(y, layer(y))
    for one in layer, model:
        for get in one.get_updates_for, one.get_losses_for:
            assert [len(get(i)) for i in (x, y, None)] == [1, 1, 1]
    norm = L.BatchNormalization()
    norm(x)
    assert [len(norm.get_updates_for(i)) for i in (x, None)] == [2, 0]


def test_a_network_is_what_models_are():
    from headrace._src.keras.models import Network
    x = L.Input((3,))
    network = Network(x, L.Dense(2, name="d")(x))
    assert network.name.startswith("network") and not hasattr(network, "fit")
    assert isinstance(tf.keras.Model(x, x), Network)
    assert network(tf.zeros([4, 3])).shape == (4, 2)
    assert network.layers[1]._inbound_nodes[0].get_config() == {
        "outbound_layer": "d", "inbound_layers": network.layers[0].name,
        "node_indices": 0, "tensor_indices": 0}


@pytest.mark.parametrize("make, kind, message", [
    (lambda x: tf.keras.Model([x, x], L.Dense(1)(x)), ValueError, "redundant"),
    (lambda x: tf.keras.Model(np.ones(3), x), ValueError, "must come from"),
    (lambda x: tf.keras.Model([L.Input((1,), 2), L.Input((1,), 3)], x),
     ValueError, "specified batch sizes of the Input Layers"),
    (lambda x: tf.keras.Model(x, L.Dense(1)(x)).get_layer(), ValueError,
     "Provide either a layer name or layer index"),
    (lambda x: tf.keras.Model(x, L.Dense(1)(x)).compute_output_shape(
        [(1, 3), (1, 3)]), ValueError, "model has 1 tensor inputs"),
    (lambda x: tf.keras.Sequential([L.Input((3,)), L.Lambda(
        lambda x: [x, x + 1])]), TypeError, "a single output tensor"),
    (lambda x: tf.keras.Sequential([L.Dense(1)]).trainable_weights, ValueError,
     "have not yet been created"),
    (lambda x: L.Dense(1).output, AttributeError, "has no inbound nodes"),
    (lambda x: L.Dense(1).input_shape, AttributeError, "never been called")])
def test_what_networks_refuse(make, kind, message):
    with pytest.raises(kind, match=message):
        make(L.Input((3,)))


def steps_model(**options):
    model = tf.keras.Sequential([L.TimeDistributed(
        L.Dense(2, kernel_initializer="ones"), input_shape=(3, 1))])
    model.compile("sgd", "mse", weighted_metrics=["mae"], **options)
    return model


STEPS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]])


@pytest.mark.parametrize("mode", [
    "temporal", ["temporal"], {"time_distributed": "temporal"}])
def test_weights_of_steps(mode):
    model = steps_model(sample_weight_mode=mode)
    x, y = np.ones((4, 3, 1)), np.zeros((4, 3, 2))
    assert model.test_on_batch(x, y, STEPS) == [.5, 1.]
    assert model.test_on_batch(x, y) == [1., 1.]
    for weights, message in ((STEPS[:, 0], "pass a 2D sample_weight"),
                             (STEPS[:, :2], "cannot be broadcast")):
        with pytest.raises(ValueError, match=message):
            model.test_on_batch(x, y, weights)
    with pytest.raises(ValueError, match="3\\+ dimensional"):
        model.train_on_batch(x, y, class_weight={0: 1})
    with pytest.raises(ValueError, match="specify sample_weight_mode"):
        steps_model().test_on_batch(x, y, STEPS)


def one_dense(**options):
    x = L.Input((3,), name="x")
    model = tf.keras.Model(x, L.Dense(4, name="d")(x))
    model.compile("sgd", "mse", **options)
    return model


@pytest.mark.parametrize("wrap", [
    lambda x: x, lambda x: [x], lambda x: {"d": x}])
def test_tensors_as_targets(wrap):
    model = one_dense(target_tensors=wrap(tf.ones((10, 4))), metrics=["mae"])
    assert len(model.train_on_batch(np.ones((10, 3)))) == 2
    with pytest.raises(ValueError, match="expected no data"):
        model.train_on_batch(np.ones((10, 3)), np.ones((10, 4)))


@pytest.mark.parametrize("target, kind, message", [
    ([1, 2], ValueError, "one entry per model output"),
    ({"q": 1}, ValueError, "Unknown entry in `target_tensors`"),
    (set(), TypeError, "Expected `target_tensors`")])
def test_targets_that_are_refused(target, kind, message):
    with pytest.raises(kind, match=message):
        one_dense(target_tensors=target)


def test_tensors_as_data():
    model, x, y = one_dense(), tf.ones((2, 3)), tf.ones((2, 4))
    assert "val_loss" in model.fit(
        x, y, steps_per_epoch=2, validation_data=(x, y), validation_steps=1,
        verbose=0).history
    assert model.predict(x, steps=3).shape == (6, 4)
    assert model.evaluate(x, y, steps=2, verbose=0) >= 0.
    with pytest.raises(ValueError, match="When using data tensors as input"):
        model.fit(x, y)


def data():
    return tf.data.Dataset.from_tensors((np.ones((2, 3)), np.ones((2, 4))))


@pytest.mark.parametrize("fit, message", [
    (lambda m: m.fit(data(), np.ones(2)), "should not specify a target"),
    (lambda m: m.fit(data(), batch_size=2), "must not be specified"),
    (lambda m: m.fit(data(), validation_split=.5), "`validation_split`"),
    (lambda m: m.fit(data(), sample_weight=np.ones(2)), "`sample_weight`"),
    (lambda m: m.fit(data().repeat()), "infinitely repeating dataset"),
    (lambda m: m.fit(np.ones((2, 3)), np.ones((2, 4)), validation_steps=3),
     "if `validation_data` is None"),
    (lambda m: m.fit(np.ones((2, 3)), np.ones((2, 4)),
                     sample_weight=np.ones((2, 2))), "sample-wise weights")])
def test_data_that_is_refused(fit, message):
    with pytest.raises(ValueError, match=message):
        fit(one_dense())


def test_the_size_of_batches_of_an_input():
    x = L.Input(batch_size=2, shape=(3,))
    model = tf.keras.Model(x, L.Dense(1)(x))
    model.compile("sgd", "mse")
    assert model.predict(np.ones((4, 3))).shape == (4, 1)
    for call in (lambda: model.fit(np.ones((4, 3)), np.ones(4), batch_size=4),
                 lambda: model.predict(np.ones((4, 3)), batch_size=4)):
        with pytest.raises(ValueError, match="incompatible with the specified"):
            call()


def test_validation_calls_the_callbacks_of_tests():
    class Seen(tf.keras.callbacks.Callback):
        calls = 0

        def on_test_begin(self, logs=None):
            self.calls += 1
    seen, x, y = Seen(), np.ones((4, 3)), np.ones((4, 4))
    one_dense().fit(x, y, epochs=4, validation_data=(x, y), callbacks=[seen],
                    validation_freq=2, verbose=0)
    assert seen.calls == 2


def test_metrics_of_an_output_without_a_loss_are_left_out():
    x = L.Input((3,))
    y = L.Dense(2, name="a")(x)
    model = tf.keras.Model(x, [y, L.Dense(1, name="b")(y)])
    model.compile("sgd", {"b": "mse"}, metrics={"a": "mae", "b": "mae"})
    assert model.metrics_names == ["loss", "b_loss", "b_mean_absolute_error"]


def test_networks_are_models_that_are_not_trained():
    from headrace._src.keras.models import Network

    class Own(Network):
        def __init__(self):
            super().__init__(name="own")
            # TensorFlow keeps other things under such names.
            self._input_layers = [tf.keras.layers.Dense(3)]
            self._output_layers = []

        def call(self, inputs):
            return self._input_layers[0](inputs)

    network = Own()
    assert network(tf.zeros([2, 4])).shape.as_list() == [2, 3]
    assert len(network.weights) == 2
    assert not hasattr(network, "fit")
    assert issubclass(tf.keras.Model, Network)
