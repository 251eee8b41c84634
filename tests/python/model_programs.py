"""Models of tf.keras that TensorFlow 1.15 saved whole, in HDF5 files, after some
steps. model_values.json has the files, as text, their configs, what the models
predict, and what they are after one more step.

    PYTHON tests/python/model_programs.py

with an interpreter that has TensorFlow 1.15 and h5py writes the file again. With
a folder as argument it says whether TensorFlow reads the files there, which
test_keras_models.py writes, and goes on as from its own:

    PYTHON tests/python/model_programs.py FOLDER"""
import json
import os
import sys
import tempfile

import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "model_values.json")


def numbers(*shape):
    return np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)


def sequential(K):
    L = K.layers
    model = K.Sequential([
        L.Dense(3, "relu", input_shape=(4,), name="first"), L.Dropout(0.),
        L.BatchNormalization(),
        L.Dense(2, activation="softmax",
                kernel_regularizer=K.regularizers.l2(.01))])
    model.compile("adam", "categorical_crossentropy", ["accuracy"])
    return model, [numbers(4, 4)], [np.eye(2, dtype="f")[[0, 1, 0, 1]]]


def two_of_all(K):
    L = K.layers
    x, z = K.Input((4,), name="x"), K.Input((4,), name="z")
    shared = L.Dense(3)
    a = L.Dense(1, name="a")(L.Concatenate()([shared(x), shared(z)]))
    b = L.Dense(2, name="b")(L.Add()([shared(x), shared(z)]))
    model = K.Model([x, z], [a, b], name="two")
    model.compile(
        K.optimizers.SGD(.01, momentum=.9, nesterov=True, decay=.1),
        loss={"a": "mse", "b": K.losses.MeanAbsoluteError()},
        loss_weights={"a": 1., "b": .5},
        metrics={"a": ["mae", K.metrics.MeanSquaredError()]},
        weighted_metrics=["mae"])
    return (model, [numbers(4, 4), numbers(4, 4) + 1],
            [numbers(4, 1), numbers(4, 2)])


def sequence_to_sequence(K):
    L = K.layers
    x, y = K.Input((None, 3), name="from"), K.Input((None, 2), name="to")
    _, h, c = L.LSTM(4, return_state=True, name="encoder")(x)
    z, _, _ = L.LSTM(4, return_state=True, return_sequences=True,
                     name="decoder")(y, initial_state=[h, c])
    z = L.Bidirectional(L.GRU(2, return_sequences=True))(z)
    z = L.RNN([L.GRUCell(2), L.SimpleRNNCell(3)], return_sequences=True)(z)
    model = K.Model([x, y], L.TimeDistributed(L.Dense(2))(z))
    model.compile("rmsprop", "mse")
    return model, [numbers(2, 4, 3), numbers(2, 3, 2)], [numbers(2, 3, 2)]


def nested(K):
    L = K.layers
    x = K.Input((5, 4))
    inner = K.Sequential([L.SeparableConv1D(3, 2, input_shape=(5, 4)),
                          L.BatchNormalization(), L.LayerNormalization()],
                         name="inner")
    block = K.Model(x, L.ReLU(6.)(inner(x)), name="block")
    x = K.Input((5, 4))
    y = L.GlobalAveragePooling1D()(block(x))
    model = K.Model(x, L.LeakyReLU(.2)(L.Dense(1)(y)))
    model.compile(K.optimizers.SGD(.01, clipnorm=1.), K.losses.Huber(2.))
    return model, [numbers(2, 5, 4)], [numbers(2, 1)]


def custom_loss(y_true, y_pred):
    return (y_true - y_pred) ** 2 * 3


def custom(K):
    L = K.layers

    class Scale(L.Layer):
        def __init__(self, start, **kwargs):
            super(Scale, self).__init__(**kwargs)
            self.start = start

        def build(self, shape):
            self.scale = self.add_weight(
                "scale", [int(shape[-1])],
                initializer=K.initializers.Constant(self.start))
            super(Scale, self).build(shape)

        def call(self, inputs):
            return inputs * self.scale

        def get_config(self):
            return dict(super(Scale, self).get_config(), start=self.start)
    custom.objects = {"Scale": Scale, "custom_loss": custom_loss}
    model = K.Sequential([Scale(2., input_shape=(3,)), L.Dense(1)])
    model.compile(K.optimizers.Adagrad(.1), custom_loss, [custom_loss])
    return model, [numbers(4, 3)], [numbers(4, 1)]


MODELS = {"custom": custom, "nested": nested, "sequential": sequential,
          "sequence_to_sequence": sequence_to_sequence, "two": two_of_all}


def plain(x):
    return [plain(v) for v in x] if isinstance(x, list) else np.asarray(
        x).tolist()


def trained(K, name):
    """(model, inputs, targets) after two steps from known weights."""
    K.backend.clear_session()
    model, x, y = MODELS[name](K)
    model.set_weights([numbers(*w.shape) * .5 + .6
                       for w in model.get_weights()])
    for _ in range(2):
        model.train_on_batch(x, y)
    return model, x, y


def one_more(model, x, y):
    """What the model predicts, and what it is after another step."""
    return {"predictions": plain(model.predict_on_batch(x)),
            "losses": plain(model.train_on_batch(x, y)),
            "weights": plain(model.get_weights()),
            "state": plain(model.optimizer.get_weights())}


def restored(K, name, path):
    K.backend.clear_session()
    _, x, y = MODELS[name](K)
    K.backend.clear_session()
    return K.models.load_model(path, getattr(MODELS[name], "objects", None)), x, y


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    K, results = tf.keras, {}
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    for name in MODELS:
        path = os.path.join(folder, name + ".h5")
        if len(sys.argv) > 1:
            found = one_more(*restored(K, name, path))
            wanted = json.load(open(VALUES))[name]["after"]
            flat = [np.concatenate([np.ravel(x) for key in sorted(w)
                                    for x in _leaves(w[key])])
                    for w in (found, wanted)]
            print(name, len(flat[0]) == len(flat[1])
                  and bool(np.abs(flat[0] - flat[1]).max() < 1e-4))
            continue
        model, x, y = trained(K, name)
        model.save(path)
        results[name] = {
            "file": recorded.packed(path), "config": json.loads(model.to_json()),
            "yaml": model.to_yaml() if name != "custom" else None,
            "layers": [layer.name for layer in model.layers],
            "names": [w.name for w in model.optimizer.weights],
            "metrics": model.metrics_names, "after": one_more(model, x, y)}
    if results:
        recorded.write(VALUES, results)


def _leaves(x):
    return [v for part in x for v in _leaves(part)] if isinstance(
        x, list) else [x]


if __name__ == "__main__":
    main()
