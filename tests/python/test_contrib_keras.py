"""tf.contrib.keras: names of tf.keras in their older place."""
import numpy as np
import pytest

import headrace as tf
from tensorflow_modules import tensorflow

# By namespace, the number of names that are here; TensorFlow 1.15 has one more
# in utils, plot_model.
COUNTS = {
    "": 16, "activations": 13, "applications": 12, "backend": 138,
    "callbacks": 13, "constraints": 12, "datasets": 6, "datasets.imdb": 2,
    "initializers": 19, "layers": 92, "losses": 17, "metrics": 19, "models": 7,
    "optimizers": 11, "preprocessing": 3, "preprocessing.image": 12,
    "regularizers": 8, "utils": 14, "wrappers.scikit_learn": 2}


@pytest.mark.parametrize("space, count", COUNTS.items())
def test_names_are_those_of_tf_keras(space, count):
    old, new = tf.contrib.keras, tf.keras
    for part in filter(None, space.split(".")):
        old, new = getattr(old, part), getattr(new, part)
    names = [n for n in dir(old) if not n.startswith("_")]
    assert len(names) == count
    for name in names:
        if name != "cosine_similarity" and not isinstance(
                getattr(old, name), type(tf)):
            assert getattr(old, name) is getattr(new, name)


def test_cosine_similarity_is_a_metric_here():
    assert (tf.contrib.keras.metrics.cosine_similarity
            is tf.keras.metrics.cosine_proximity)


@pytest.mark.parametrize("name, message", [
    ("utils.plot_model", "not supported yet"),
    ("layers.ReLU", "did you mean tf.keras.layers.ReLU"),
    ("Sequential", "did you mean tf.keras.Sequential")])
def test_names_that_are_not_here(name, message):
    space, _, last = ("contrib.keras." + name).rpartition(".")
    found = tf
    for part in space.split("."):
        found = getattr(found, part)
    with pytest.raises(AttributeError, match=message):
        getattr(found, last)


def test_a_model_of_contrib_keras():
    keras = tf.contrib.keras
    model = keras.models.Sequential([
        keras.layers.Dense(2, kernel_initializer="ones", input_shape=(3,)),
        keras.layers.Activation("relu")])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    assert model.predict(np.array([[1., 2., 3.]])).tolist() == [[6., 6.]]


def test_modules_below_api():
    with tensorflow():
        from tensorflow.contrib.keras.api.keras.layers import Dense
        from tensorflow.contrib.keras.api.keras.preprocessing import sequence
        from tensorflow.contrib.keras import backend
    assert Dense is tf.keras.layers.Dense
    assert backend.relu is tf.keras.backend.relu
    assert sequence.pad_sequences is tf.keras.preprocessing.sequence.pad_sequences
