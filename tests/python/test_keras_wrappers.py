"""tf.keras.layers.Wrapper and _track_trackable, as programs use them. Values are
those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf

layers = tf.keras.layers


class Normalized(layers.Wrapper):
    """A layer whose kernel is divided by its norm, with a weight beside it."""

    def build(self, input_shape):
        super().build(input_shape)
        self.w = self.layer.kernel
        self.u = self.add_weight(name="u", shape=(1, int(self.w.shape[-1])),
                                 initializer="ones", trainable=False)

    def call(self, x):
        self.add_update(self.u.assign(self.u * .5))
        self.layer.kernel = self.w / tf.norm(self.w)
        return self.layer(x)

    @property
    def updates(self):
        return self.layer.updates + self._updates


class Doubled(layers.Wrapper):
    def call(self, x):
        return self.layer.call(x) * 2.


def model_of_wrappers():
    return tf.keras.Sequential([
        Normalized(layers.Dense(3, kernel_initializer="ones"),
                   input_shape=(4,)),
        Doubled(layers.Dense(2, kernel_initializer="ones",
                             kernel_regularizer="l2"))])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_a_wrapper_of_a_program_builds_its_layer():
    model = model_of_wrappers()
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    assert [w.name for w in model.weights] == [
        "normalized/kernel:0", "normalized/bias:0", "normalized/u:0",
        "doubled/kernel:0", "doubled/bias:0"]
    assert len(model.losses) == len(model.updates) == 1
    values = [w.ravel()[0] for w in model.get_weights()]
    np.testing.assert_allclose(values, [1., -.2371, .5, .8629, -.1186],
                               atol=1e-4)
    copy = tf.keras.Sequential.from_config(model.get_config(), {
        "Normalized": Normalized, "Doubled": Doubled})
    assert [w.shape for w in copy.weights] == [w.shape for w in model.weights]


@pytest.mark.parametrize("make", [
    lambda: tf.keras.Sequential([layers.Dense(2, input_shape=(3,))]),
    lambda: layers.Dense(2),
    lambda: tf.Module(),
    lambda: tf.keras.optimizers.SGD(),
], ids=["model", "layer", "module", "optimizer"])
def test_what_was_told_is_in_checkpoints(make, tmp_path):
    thing, extra = make(), layers.Dense(1)
    extra.build((None, 2))
    weights = len(getattr(thing, "weights", ()))
    assert thing._track_trackable(extra, "extra") is extra
    with pytest.raises(ValueError, match="name='extra'"):
        thing._track_trackable(layers.Dense(1), "extra")
    with pytest.raises(TypeError, match="not a Trackable"):
        thing._track_trackable(3, "three")
    assert len(getattr(thing, "weights", ())) == weights
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(thing=thing).save(str(tmp_path / "c"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "thing/extra/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names
