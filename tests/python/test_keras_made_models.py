"""Models that are made of models: for several GPUs, linear and wide-and-deep
ones, and pictures of models. The numbers are TensorFlow 1.15's."""
import sys
import types

import numpy as np
import pytest

import headrace as tf
from headrace._src.keras import multi_gpu

keras = tf.keras
layers = keras.layers


def network():
    return keras.Sequential([
        layers.Dense(3, input_shape=(4,), kernel_initializer="ones"),
        layers.Dense(2, kernel_initializer="ones")])


@pytest.mark.parametrize("gpus, message", [
    (1, "with `gpus >= 2`. Received: `gpus=1`"),
    ([0], "`len.gpus. >= 2`"),
    (20, "we expect the following devices to be available:")])
def test_too_few_gpus(gpus, message):
    with pytest.raises(ValueError, match=message):
        keras.utils.multi_gpu_model(network(), gpus)


@pytest.mark.parametrize("options", [{}, {"cpu_merge": False}])
def test_devices_share_a_batch(monkeypatch, options):
    monkeypatch.setattr(multi_gpu, "_available", lambda: [
        "/cpu:0", "/gpu:0", "/gpu:1", "/gpu:2"])
    keras.backend.clear_session()
    keras.backend.set_session(tf.Session(config=tf.ConfigProto(
        allow_soft_placement=True)))
    model = network()
    parallel = keras.utils.multi_gpu_model(model, 3, **options)
    parallel.compile("sgd", "mse")
    losses = parallel.fit(
        np.arange(28.).reshape(7, 4) / 9, np.ones((7, 2)), epochs=1,
        verbose=0, shuffle=False, batch_size=7).history["loss"]
    alone = network()
    alone.compile("sgd", "mse")
    wanted = alone.fit(
        np.arange(28.).reshape(7, 4) / 9, np.ones((7, 2)), epochs=1,
        verbose=0, shuffle=False, batch_size=7).history["loss"]
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for a, b in zip(model.get_weights(), alone.get_weights()):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    assert parallel.predict(np.ones((5, 4))).shape == (5, 2)
    assert parallel.output_names == model.output_names
    keras.backend.clear_session()


def data():
    np.random.seed(0)
    x = np.random.rand(20, 2)
    return x, np.random.rand(20, 3)


def history(model, x, y):
    found = model.fit(x, y, epochs=3, verbose=0, shuffle=False, batch_size=10)
    return [round(float(v), 5) for v in found.history["loss"]]


def test_linear_model():
    x, _ = data()
    model = keras.experimental.LinearModel(kernel_initializer="zeros")
    model.compile("sgd", "mse")
    assert history(model, x, x @ [[1.], [2.]]) == [3.43135, 2.99866, 2.62189]
    assert [w.name for w in model.weights] == [
        "linear_model/dense/kernel:0", "linear_model/bias:0"]
    again = keras.experimental.LinearModel.from_config(model.get_config())
    assert again.units == 1
    two = keras.experimental.LinearModel(
        units=2, kernel_initializer="ones", activation="relu")
    two.compile("sgd", "mse")
    assert history(two, [x, x[:, :1]], np.ones((20, 2))) == [
        0.80182, 0.75976, 0.72083]
    with pytest.raises(ValueError, match="Expected 2 inputs, but got 1"):
        two(tf.ones([3, 2]))


@pytest.mark.parametrize("optimizers", [["sgd", "adam"], "sgd"])
def test_wide_and_deep_model(optimizers):
    x, z = data()
    model = keras.experimental.WideDeepModel(
        keras.experimental.LinearModel(kernel_initializer="zeros"),
        keras.Sequential([layers.Dense(1, kernel_initializer="zeros")]))
    model.compile(optimizers, "mse", ["mse"])
    losses = history(model, [x, z], x @ [[1.], [2.]] + 1)
    assert losses == sorted(losses, reverse=True)
    assert len(model.trainable_weights) == 4


class OwnWeight(keras.Model):
    def build(self, input_shape):
        self.dense = layers.Dense(2)
        self.own = self.add_weight("own", shape=[2], initializer="ones")
        self.built = True

    def call(self, x):
        return self.dense(x) + self.own


def test_weights_of_the_model_itself_are_among_its_weights():
    model = OwnWeight()
    model(tf.ones([1, 3]))
    names = [w.op.name.rpartition("/")[2] for w in model.weights]
    assert names == ["kernel", "bias", "own"]
    assert len(model.get_weights()) == 3
    assert [w is v for w, v in zip(model.trainable_weights,
                                   model.weights)] == [True] * 3


class Drawn:
    """What a graph or node of pydot is given."""

    def __init__(self, *args, **kwargs):
        self.args, self.options = args, kwargs
        self.nodes, self.edges, self.clusters, self.set_to = [], [], [], {}

    def create(self):
        return b""

    def set(self, name, value):
        self.set_to[name] = value

    def set_node_defaults(self, **defaults):
        self.set_to.update(defaults)

    def add_node(self, node):
        self.nodes.append(node)

    def add_edge(self, edge):
        self.edges.append(edge)

    def add_subgraph(self, cluster):
        self.clusters.append(cluster)

    def get_name(self):
        return self.args[0]

    def write(self, path, format):
        with open(path, "w") as f:
            f.write(format)


def test_picture_of_a_model(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pydot", types.SimpleNamespace(
        Dot=Drawn, Node=Drawn, Edge=Drawn, Cluster=Drawn))
    x = layers.Input((4,), name="x")
    inner = network()
    y = layers.Add(name="sum")([inner(x), layers.Dense(2, name="d")(x)])
    model = keras.Model(x, y)
    dot = keras.utils.model_to_dot(model, show_shapes=True)
    labels = [n.options["label"] for n in dot.nodes]
    assert ("d: Dense\n|{input:|output:}|{{(?, 4)}|{(?, 2)}}"
            in [label.replace("[", "").replace("]", "") for label in labels])
    assert len(dot.edges) == 4 and dot.set_to["rankdir"] == "TB"
    nested = keras.utils.model_to_dot(model, expand_nested=True, rankdir="LR",
                                      show_layer_names=False)
    assert len(nested.clusters) == 1 and len(nested.nodes) == 3
    assert {n.options["label"] for n in nested.nodes} == {
        "InputLayer", "Dense", "Add"}
    keras.utils.plot_model(model, str(tmp_path / "model.svg"))
    assert (tmp_path / "model.svg").read_text() == "svg"


def test_picture_needs_pydot(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(ImportError, match="You must install pydot"):
        keras.utils.plot_model(network())


@pytest.mark.parametrize("make", [layers.SeparableConv1D,
                                  layers.SeparableConv2D])
def test_separable_convolutions_keep_the_options_that_they_do_not_use(make):
    config = make(3, 3, kernel_initializer="ones", kernel_regularizer="l2",
                  kernel_constraint="nonneg").get_config()
    assert [config["kernel_" + kind]["class_name"] for kind in (
        "initializer", "regularizer", "constraint")] == [
            "Ones", "L1L2", "NonNeg"]
    again = make.from_config(config).get_config()
    assert {**again, "name": ""} == {**config, "name": ""}
