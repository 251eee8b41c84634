"""Layers and helpers of tf.keras, each a function of the module tf that returns
numbers, names and texts. keras_layer_values.json has what TensorFlow 1.15.5
returns.

    PYTHON tests/python/keras_layer_programs.py [NAME...]

with an interpreter that has TensorFlow 1.15 and h5py writes the file again, or
the values of the programs that are named."""
import json
import os
import sys
import tempfile

import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "keras_layer_values.json")


def numbers(*shape):
    return np.cos(1.7 * np.arange(np.prod(shape))).reshape(shape).astype(
        np.float32)


def start(model):
    model.set_weights([np.sin(np.arange(w.size) + i).reshape(w.shape) * .5
                       for i, w in enumerate(model.get_weights())])


def trained(model, x, steps=2):
    """What a model gives before and after a few steps of training."""
    start(model)
    out = model.predict(x)
    model.compile(getattr(model, "optimizer", None) or "sgd", "mse")
    losses = [model.train_on_batch(x, np.zeros_like(out))
              for _ in range(steps)]
    return {"out": out, "losses": losses,
            "names": [w.name for w in model.weights],
            "shapes": [list(w.get_shape().as_list()) for w in model.weights],
            "output": list(model.output_shape)}


def one(make, *shape):
    """A layer by itself."""
    def program(tf):
        layer = make(tf.keras)
        x = tf.keras.Input(shape[1:], batch_size=shape[0])
        model = tf.keras.Model(x, layer(x))
        found = trained(model, numbers(*shape))
        config = layer.get_config()
        again = tf.keras.layers.deserialize(tf.keras.layers.serialize(layer))
        found["same"] = int(again.get_config() == config)
        found["config"] = json.loads(json.dumps(config, sort_keys=True))
        found["shape"] = list(layer.compute_output_shape(
            tf.TensorShape(shape)).as_list())
        return found
    return program


def attention(kind, **options):
    def program(tf):
        L = tf.keras.layers
        query = tf.keras.Input((3, 4), name="query")
        value = tf.keras.Input((5, 4), name="value")
        key = tf.keras.Input((5, 4), name="key")
        layer = getattr(L, kind)(**options)
        data = [numbers(2, 3, 4), numbers(2, 5, 4) * 2, numbers(2, 5, 4) - 1]
        found = {
            "two": trained(tf.keras.Model([query, value],
                                          layer([query, value])), data[:2]),
            "three": trained(tf.keras.Model(
                [query, value, key], layer([query, value, key])), data)}
        words = tf.keras.Input((4,))
        embedded = L.Embedding(6, 3, mask_zero=True)(words)
        masked = tf.keras.Model(words, L.GlobalAveragePooling1D()(
            getattr(L, kind)(**options)([embedded, embedded])))
        found["masked"] = trained(masked, np.array([[1, 2, 0, 0], [3, 0, 4, 5]]))
        found["config"] = layer.get_config()
        return found
    return program


def masked_images(tf):
    """Steps of zeros do not count."""
    L = tf.keras.layers

    class There(L.Layer):
        def compute_mask(self, inputs, mask=None):
            return tf.reduce_any(tf.not_equal(inputs, 0), [2, 3, 4])

    data = numbers(2, 4, 5, 5, 2)
    data[0, 2:] = 0
    data[1, 0] = 0
    found = []
    for sequences in False, True:
        model = tf.keras.Sequential([
            There(input_shape=(4, 5, 5, 2)),
            L.ConvLSTM2D(2, 3, return_sequences=sequences)])
        start(model)
        found.append(model.predict(data))
    return found


def states_of_images(tf):
    """Given, returned and kept states."""
    L = tf.keras.layers
    x = tf.keras.Input((3, 4, 4, 1), batch_size=2)
    layer = L.ConvLSTM2D(2, 2, return_state=True)
    model = tf.keras.Model(x, layer(x, initial_state=[
        tf.constant(numbers(2, 3, 3, 2)), tf.constant(numbers(2, 3, 3, 2) / 2)]))
    start(model)
    found = [model.predict(numbers(2, 3, 4, 4, 1))]
    kept = tf.keras.Sequential([L.ConvLSTM2D(
        2, 2, stateful=True, batch_input_shape=(2, 3, 4, 4, 1))])
    start(kept)
    for _ in range(2):
        found.append(kept.predict(numbers(2, 3, 4, 4, 1)))
    kept.reset_states()
    found.append(kept.predict(numbers(2, 3, 4, 4, 1)))
    return found


def cells(tf):
    K = tf.keras

    class Sum(K.layers.AbstractRNNCell):
        def __init__(self, units, **kwargs):
            self.units = units
            super(Sum, self).__init__(**kwargs)

        state_size = property(lambda self: self.units)
        output_size = property(lambda self: self.units)

        def build(self, input_shape):
            self.kernel = self.add_weight(
                shape=(input_shape[-1], self.units), name="kernel",
                initializer="uniform")
            self.built = True

        def call(self, inputs, states):
            output = K.backend.dot(inputs, self.kernel) + states[0]
            return output, [output]

    peephole = K.experimental.PeepholeLSTMCell
    found = [trained(K.Sequential([K.layers.RNN(
        make(), return_sequences=True, input_shape=(4, 3))]),
        numbers(2, 4, 3)) for make in (
            lambda: Sum(2), lambda: peephole(3),
            lambda: [peephole(2), Sum(3)])]
    layer = K.layers.RNN(peephole(2))
    again = K.layers.deserialize(K.layers.serialize(layer),
                                 {"PeepholeLSTMCell": peephole})
    return found + [int(again.get_config() == layer.get_config())]


def of_cudnn(tf):
    """Weights of cuDNN's layers in HDF5 files go into the others."""
    import h5py
    L, found = tf.keras.layers, {}
    for kind, gates, options in (("LSTM", 4, {}),
                                 ("GRU", 3, {"reset_after": True})):
        for wrap in (lambda x: x, L.Bidirectional, L.TimeDistributed):
            inner = getattr(L, kind)(2, **options)
            shape = (6, 4, 3) if wrap is L.TimeDistributed else (4, 3)
            layer = wrap(inner)
            model = tf.keras.Sequential([L.InputLayer(shape), layer])
            path = os.path.join(tempfile.mkdtemp(), "weights.h5")
            model.save_weights(path)
            with h5py.File(path, "r+") as file:
                group = file[layer.name]
                names = [n if isinstance(n, str) else n.decode()
                         for n in group.attrs["weight_names"]]
                for i, name in enumerate(names):
                    size = (2 * gates * 2,) if "bias" in name else (
                        group[name].shape)
                    del group[name]
                    group[name] = numbers(*size) + i
            model.load_weights(path)
            found["%s %d" % (kind, len(found))] = model.get_weights()
    return found


def further_metrics(tf):
    M = tf.keras.metrics
    yes = np.array([0, 1, 1, 0, 1, 0], np.float32)
    guess = np.array([.1, .4, .8, .6, .9, .2], np.float32)
    found = []
    for make, batches in (
            (lambda: M.MeanRelativeError([1., 2., 0., 4., 1., 2.]),
             [(yes, guess), (guess, yes)]),
            (lambda: M.SensitivityAtSpecificity(.5), [(yes, guess)]),
            (lambda: M.SensitivityAtSpecificity(.8, num_thresholds=1),
             [(yes, guess)]),
            (lambda: M.SpecificityAtSensitivity(.4, 5),
             [(yes, guess, [1., 2., 0., 1., 1., 3.]), (1 - yes, guess)]),
            (lambda: M.MeanTensor(), [(guess,), (yes, .5), (guess * 2,)])):
        metric = make()
        updates = [metric.update_state(*batch) for batch in batches]
        result = metric.result()
        session = tf.keras.backend.get_session()
        for update in updates:
            session.run(update)
        found.append([metric.name, session.run(result)])
        metric.reset_states()
        found.append(session.run(result))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, "sigmoid",
                                                       input_shape=(3,))])
    start(model)
    model.compile("sgd", "mse", [M.SensitivityAtSpecificity(.5)])
    found.append(model.evaluate(numbers(6, 3), yes, verbose=0))
    config = M.SpecificityAtSensitivity(.3, 7, name="s").get_config()
    return found + [M.deserialize({
        "class_name": "SpecificityAtSensitivity", "config": config}
        ).get_config() == config]


def schedules(tf):
    """Rates by steps, and what optimizers do with them."""
    S, E = tf.keras.optimizers.schedules, tf.keras.experimental
    made = [S.ExponentialDecay(.1, 4, .5), S.ExponentialDecay(.1, 4, .5, True),
            S.InverseTimeDecay(.1, 4, .5), S.InverseTimeDecay(.1, 4, .5, True),
            S.PiecewiseConstantDecay([2, 5], [1., .5, .1]),
            S.PolynomialDecay(.1, 4, .01, 2.),
            S.PolynomialDecay(.1, 4, cycle=True), E.CosineDecay(.1, 6, .2),
            E.CosineDecayRestarts(.1, 3, 1.5, .9, .1),
            E.LinearCosineDecay(.1, 6, .7, .1, .01)]
    session = tf.keras.backend.get_session()
    found = [session.run([schedule(tf.constant(i, tf.float32))
                          for i in (0, 1, 2, 3, 5, 6, 9)])
             for schedule in made]
    for schedule in made:
        config = S.serialize(schedule)
        found.append([config["class_name"], config["config"],
                      S.deserialize(config).get_config()
                      == schedule.get_config()])
    for make in (lambda rate: tf.keras.optimizers.SGD(rate, decay=.1),
                 lambda rate: tf.keras.optimizers.Adam(rate)):
        for rate in made[1], made[4]:
            model = tf.keras.Sequential([tf.keras.layers.Dense(
                1, input_shape=(3,))])
            start(model)
            model.compile(make(rate), "mse")
            found.append([model.train_on_batch(numbers(4, 3), numbers(4, 1))
                          for _ in range(6)])
            config = model.optimizer.get_config()
            found.append(config["learning_rate"])
            again = type(model.optimizer).from_config(config)
            found.append(again.learning_rate.get_config())
    return found


def radial(tf):
    C = tf.keras.constraints
    found = [C.get("radial_constraint")(tf.constant(numbers(n, n, 2, 3)))
             for n in (2, 3, 4, 5)]
    return tf.keras.backend.get_session().run(found)


PROGRAMS = {
    "further_metrics": further_metrics, "radial": radial,
    "schedules": schedules,
    "local1d": one(lambda k: k.layers.LocallyConnected1D(
        3, 2, strides=2, activation="tanh"), 2, 7, 2),
    "local1d_first": one(lambda k: k.layers.LocallyConnected1D(
        3, 2, data_format="channels_first"), 2, 3, 6),
    "local1d_masked": one(lambda k: k.layers.LocallyConnected1D(
        3, 3, padding="same", implementation=2), 2, 5, 2),
    "local1d_sparse": one(lambda k: k.layers.LocallyConnected1D(
        3, 3, padding="same", strides=2, implementation=3), 2, 6, 2),
    "local2d": one(lambda k: k.layers.LocallyConnected2D(
        2, (3, 2), strides=(1, 2), kernel_regularizer="l2"), 2, 5, 6, 2),
    "local2d_masked": one(lambda k: k.layers.LocallyConnected2D(
        2, (3, 2), padding="same", implementation=2), 1, 4, 3, 2),
    "local2d_masked_first": one(lambda k: k.layers.LocallyConnected2D(
        2, 2, data_format="channels_first", implementation=2,
        use_bias=False), 1, 2, 3, 4),
    "local2d_sparse": one(lambda k: k.layers.LocallyConnected2D(
        2, (3, 2), strides=2, implementation=3), 1, 5, 4, 2),
    "local2d_sparse_first": one(lambda k: k.layers.LocallyConnected2D(
        2, 2, data_format="channels_first", implementation=3,
        padding="same"), 1, 2, 3, 4),
    "conv_lstm": one(lambda k: k.layers.ConvLSTM2D(3, 2), 2, 3, 5, 4, 2),
    "conv_lstm_sequences": one(lambda k: k.layers.ConvLSTM2D(
        2, (3, 2), padding="same", return_sequences=True, go_backwards=True,
        use_bias=False, kernel_regularizer="l1"), 2, 3, 4, 5, 2),
    "conv_lstm_dilated": one(lambda k: k.layers.ConvLSTM2D(
        2, 2, dilation_rate=2, activation="relu", unit_forget_bias=False),
        2, 3, 5, 5, 1),
    "attention": attention("Attention"),
    "attention_scaled": attention("Attention", use_scale=True, causal=True),
    "additive": attention("AdditiveAttention"),
    "additive_causal": attention("AdditiveAttention", use_scale=False,
                                 causal=True),
    "masked_images": masked_images, "states_of_images": states_of_images,
    "cells": cells, "of_cudnn": of_cudnn,
}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return np.asarray(value, np.float64).round(6).tolist()


def run(tf, name):
    tf.keras.backend.clear_session()
    np.random.seed(1)
    return plain(PROGRAMS[name](tf))


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    results = {}
    if sys.argv[1:] and os.path.exists(VALUES):
        with open(VALUES) as file:
            results = json.load(file)
    for name in sys.argv[1:] or PROGRAMS:
        results[name] = run(tf, name)
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
