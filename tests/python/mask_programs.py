"""Models of tf.keras with masks, run here and in TensorFlow 1.15.
mask_values.json has what TensorFlow gives: outputs, their masks, losses and
metrics of steps, and weights.

    PYTHON tests/python/mask_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import os

import numpy as np

import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "mask_values.json")

# By name: what makes a model of tf.keras.
PROGRAMS = {}
WORDS = np.array([[1, 2, 3, 0, 0], [4, 0, 0, 0, 0], [2, 2, 0, 1, 3],
                  [0, 0, 4, 1, 0]], np.float32)


def points():
    """Two numbers for each step, all zeros where WORDS has a 0."""
    there = (WORDS != 0)[..., np.newaxis]
    return (np.sin(np.arange(40)).reshape(4, 5, 2) * there).astype(np.float32)


def program(name):
    def add(make):
        PROGRAMS[name] = make
        return make
    return add


def words(*layers, **options):
    """A Sequential that begins with an Embedding of words."""
    def make(K):
        return K.Sequential([K.layers.Embedding(
            5, 3, mask_zero=True, input_length=5, **options)] + [
                layer(K.layers) for layer in layers])
    return make


def of_points(*layers, **options):
    """A Sequential that begins with a Masking of points."""
    def make(K):
        return K.Sequential([K.layers.Masking(
            input_shape=(5, 2), **options)] + [
                layer(K.layers) for layer in layers])
    return make


for kind in ("SimpleRNN", "GRU", "LSTM"):
    PROGRAMS["last of " + kind] = words(
        lambda L, kind=kind: getattr(L, kind)(4), lambda L: L.Dense(2))
    PROGRAMS["all of " + kind] = of_points(
        lambda L, kind=kind: getattr(L, kind)(3, return_sequences=True),
        lambda L: L.Dense(2))
    PROGRAMS["backwards " + kind] = words(
        lambda L, kind=kind: getattr(L, kind)(4, go_backwards=True),
        lambda L: L.Dense(2))
PROGRAMS.update({
    "masking": of_points(lambda L: L.Dense(2)),
    "masking another value": of_points(
        lambda L: L.Dense(2), mask_value=np.float32(np.sin(1))),
    "zeros for masked steps": of_points(
        lambda L: L.LSTM(3, return_sequences=True, zero_output_for_mask=True),
        lambda L: L.Dense(2)),
    "two layers": words(lambda L: L.LSTM(4, return_sequences=True),
                        lambda L: L.GRU(3), lambda L: L.Dense(2)),
    "stacked cells": of_points(
        lambda L: L.RNN([L.LSTMCell(2), L.GRUCell(3)], return_sequences=True),
        lambda L: L.Dense(2)),
    "layers between": words(
        lambda L: L.Dropout(.5), lambda L: L.Activation("tanh"),
        lambda L: L.BatchNormalization(), lambda L: L.LeakyReLU(),
        lambda L: L.LSTM(4, return_sequences=True), lambda L: L.ELU(),
        lambda L: L.Dense(2), lambda L: L.Softmax()),
    "mean of steps": words(lambda L: L.Dense(4),
                           lambda L: L.GlobalAveragePooling1D(),
                           lambda L: L.Dense(2)),
    "a mask ends": words(lambda L: L.LSTM(4, return_sequences=True),
                         lambda L: L.Flatten(), lambda L: L.Dense(2)),
    "steps one by one": of_points(
        lambda L: L.TimeDistributed(L.Dense(3)),
        lambda L: L.LSTM(2, return_sequences=True)),
    "a lambda without a mask": words(
        lambda L: L.Lambda(lambda x: x * 2.), lambda L: L.LSTM(2)),
    "a lambda with a mask": words(
        lambda L: L.Lambda(lambda x: x * 2., mask=lambda x, mask: mask),
        lambda L: L.LSTM(2)),
})
for mode in ("concat", "sum", "mul", "ave"):
    PROGRAMS["both ways, " + mode] = words(
        lambda L, mode=mode: L.Bidirectional(
            L.LSTM(2, return_sequences=mode != "mul"), merge_mode=mode),
        lambda L: L.Dense(2))


@program("sum of two")
def sum_of_two(K):
    L = K.layers
    x = K.Input((5,))
    a = L.Embedding(5, 3, mask_zero=True)(x)
    b = L.Embedding(5, 3)(x)
    return K.Model(x, L.Dense(2)(L.Add()([a, L.Multiply()([b, a])])))


@program("side by side")
def side_by_side(K):
    L = K.layers
    x = K.Input((5,))
    a = L.Embedding(5, 3, mask_zero=True)(x)
    return K.Model(x, L.GRU(2, return_sequences=True)(
        L.Concatenate()([a, L.Embedding(5, 2)(x)])))


@program("a model in a model")
def inner_model(K):
    L = K.layers
    inner = K.Sequential([L.Embedding(5, 3, mask_zero=True, input_length=5),
                          L.LSTM(3, return_sequences=True)])
    return K.Sequential([inner, L.Dense(2)])


@program("sentences")
def sentences(K):
    """A layer with a mask, for each part of an example."""
    L = K.layers
    x = K.Input((5, 1))
    one = K.Sequential([L.Embedding(5, 2, mask_zero=True, input_length=1),
                        L.LSTM(2)])
    return K.Model(x, L.TimeDistributed(one)(x))


@program("states")
def states(K):
    L = K.layers
    x = K.Input((5,))
    e = L.Embedding(5, 3, mask_zero=True)(x)
    every, h, c = L.LSTM(2, return_sequences=True, return_state=True)(e)
    return K.Model(x, L.Dense(2)(L.LSTM(2, return_sequences=True)(
        every, initial_state=[h, c])))


@program("a layer of one's own")
def own_layer(K):
    class Count(K.layers.Layer):
        def call(self, inputs, mask=None):
            return inputs * K.backend.expand_dims(
                K.backend.cast(mask, "float32"))

        def compute_mask(self, inputs, mask=None):
            return K.backend.equal(mask, False)

    return K.Sequential([
        K.layers.Embedding(5, 3, mask_zero=True, input_length=5), Count(),
        K.layers.LSTM(2, return_sequences=True)])


def numbers(value):
    return np.round(np.asarray(value, np.float64), 6).tolist()


def run(tf, name):
    K = tf.keras
    K.backend.clear_session()
    model = PROGRAMS[name](K)
    shapes = [w.shape for w in model.get_weights()]
    model.set_weights([np.abs(np.sin(1.3 * np.arange(np.prod(s)) + i)).reshape(
        s).astype(np.float32) for i, s in enumerate(shapes)])
    x = WORDS if len(model.input_shape) == 2 else (
        points() if model.input_shape[-1] == 2 else WORDS[..., np.newaxis])
    mask = getattr(model.outputs[0], "_keras_mask", None)
    found = {"output": numbers(model.predict(x)), "mask": None}
    if mask is not None:
        found["mask"] = K.backend.get_session().run(
            mask, {model.inputs[0]: x}).tolist()
    y = np.cos(np.arange(np.size(found["output"]))).reshape(
        np.shape(found["output"]))
    model.compile(K.optimizers.SGD(.1), "mse", metrics=["mae"],
                  weighted_metrics=["mse"])
    weights = np.array([1., 2., 0., .5])
    # No dropout: its numbers differ.
    dropout = any("dropout" in layer.name for layer in model.layers)
    found["test"] = numbers(model.test_on_batch(x, y, weights))
    found["unweighted"] = numbers(model.evaluate(x, y, 3, 0))
    if not dropout:
        found["steps"] = [numbers(model.train_on_batch(x, y, weights))
                          for _ in range(3)]
        found["weights"] = [numbers(np.sum(w)) for w in model.get_weights()]
    return found


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    results = {}
    for name in sorted(PROGRAMS):
        try:
            results[name] = run(tf, name)
        except Exception as error:
            print("FAILED", name, type(error), str(error)[:500])
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
