"""tf.keras.estimator.model_to_estimator gives what TensorFlow 1.15's gives."""
import numpy as np
import pytest

import headrace as tf
from headrace import _packages

keras = tf.keras
layers = keras.layers

X = np.linspace(0, 1, 16).reshape(8, 2).astype(np.float32)
Y = X.sum(1, keepdims=True)


def model(optimizer=None):
    made = keras.Sequential([
        layers.Dense(3, input_shape=(2,), activation="tanh", name="a",
                     kernel_initializer="ones"),
        layers.Dense(1, kernel_initializer="ones", name="b")])
    made.compile(optimizer or keras.optimizers.SGD(.1), "mse",
                 metrics=["mae"])
    return made


def data(repeat=5, by_name=True):
    features = {"a_input": X} if by_name else X
    return tf.data.Dataset.from_tensor_slices((features, Y)).batch(4).repeat(
        repeat)


@pytest.fixture
def folder(tmp_path):
    if not _packages.is_installed():
        pytest.skip("needs pip install tensorflow-estimator==1.15.2")
    keras.backend.clear_session()
    yield str(tmp_path)
    keras.backend.clear_session()


def test_numbers_are_tensorflows(folder):
    estimator = keras.estimator.model_to_estimator(model(), model_dir=folder)
    estimator.train(data, steps=6)
    found = estimator.evaluate(data, steps=2)
    assert {k: round(float(v), 4) for k, v in found.items()} == {
        "global_step": 6, "loss": 0.0476, "mean_absolute_error": 0.1702}
    predictions = list(estimator.predict(lambda: data(1)))
    assert len(predictions) == 8
    np.testing.assert_allclose(predictions[0]["b"], [-0.4123], atol=1e-4)
    assert sorted(estimator.get_variable_names()) == [
        "a/bias", "a/kernel", "b/bias", "b/kernel", "global_step",
        "training/SGD/decay", "training/SGD/learning_rate",
        "training/SGD/momentum"]


@pytest.mark.parametrize("optimizer", [
    lambda: keras.optimizers.Adam(.01),
    lambda: tf.train.GradientDescentOptimizer(.1)], ids=["keras", "train"])
def test_it_begins_with_the_weights_of_the_model(folder, optimizer):
    made = model(optimizer())
    made.fit(X, Y, epochs=3, verbose=0)
    wanted = made.evaluate(X, Y, verbose=0)[0]
    estimator = keras.estimator.model_to_estimator(made, model_dir=folder)
    estimator.train(lambda: data(by_name=False), steps=1)
    found = estimator.evaluate(lambda: data(1, by_name=False))
    assert found["global_step"] == 1
    assert found["loss"] <= wanted * 1.05


@pytest.mark.parametrize("options, error, message", [
    ({}, ValueError, "got neither"),
    ({"keras_model": 1, "keras_model_path": "a"}, ValueError, "got both"),
    ({"keras_model": 1, "checkpoint_format": "checkpoint"},
     NotImplementedError, "checkpoint_format='checkpoint' is not supported"),
    ({"keras_model": keras.Sequential()}, ValueError,
     "has not been compiled yet")])
def test_refusals(folder, options, error, message):
    with pytest.raises(error, match=message):
        keras.estimator.model_to_estimator(model_dir=folder, **options)


def test_features_have_the_names_of_inputs(folder):
    estimator = keras.estimator.model_to_estimator(model(), model_dir=folder)
    with pytest.raises(KeyError, match="expected .'a_input'., got .'x'."):
        estimator.train(lambda: tf.data.Dataset.from_tensor_slices(
            ({"x": X}, Y)).batch(4), steps=1)
