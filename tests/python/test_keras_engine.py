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
