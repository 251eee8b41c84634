"""SavedModels with objects that TensorFlow wrote. saved_object_values.json has
the files, as text, and what they give.

    PYTHON tests/python/saved_object_programs.py

with an interpreter that has TensorFlow 1.15 or 2.x writes those of this version.
With a folder as argument it says whether TensorFlow reads the files there, which

    .venv/bin/python tests/python/saved_object_programs.py FOLDER

writes where there is no TensorFlow, and whether they give the same."""
import base64
import io
import json
import os
import sys
import tarfile
import tempfile
import zlib

import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "saved_object_values.json")
X = np.array([1, -2, 3], np.float32)
IMAGES = np.cos(np.arange(60)).reshape(2, 6, 5).astype(np.float32)


def module(tf, folder):
    """Variables in lists and dicts, a table, and functions of several kinds."""
    spec = tf.TensorSpec

    class Inner(tf.Module):
        def __init__(self):
            super(Inner, self).__init__()
            self.b = tf.Variable([1., 1., 2.], name="b", trainable=False)

    class Outer(tf.Module):
        def __init__(self):
            super(Outer, self).__init__()
            self.v = tf.Variable(3., name="v")
            self.parts = [tf.Variable([1., 2.], name="w"), Inner()]
            self.named = {"k": tf.Variable(5, name="k")}
            self.offset = tf.constant([.5, .5, .5])

        @tf.function(input_signature=[spec([None], tf.float32)])
        def scale(self, x):
            return {"y": x * self.v, "z": x + self.offset}

        @tf.function
        def powers(self, x, train=False, base=2.):
            if train:
                return x * self.v
            i = tf.constant(0)
            while i < 3:
                x = x * base
                i += 1
            if tf.reduce_sum(x) > 0:
                x = -x
            return x

        @tf.function(input_signature=[spec([], tf.int32, name="by"),
                                      spec([2], tf.float32, name="w")])
        def count(self, by, w):
            self.named["k"].assign_add(by)
            self.parts[0].assign(w)
            return self.named["k"].read_value()

        @tf.function(input_signature=[])
        def bump(self):
            self.v.assign_add(1.)

        @tf.function
        def __call__(self, x):
            return x + self.parts[1].b

    made = Outer()
    x = tf.constant(X)
    made.powers(x)
    made.powers(x, train=True)
    made(x)
    return made, {"signatures": {"scale": made.scale, "count": made.count}}


def table(tf, folder):
    """A table of words from a file."""
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("a\nb\n")
    lookup = tf.lookup

    class Words(tf.Module):
        def __init__(self):
            super(Words, self).__init__()
            self.table = lookup.StaticHashTable(lookup.TextFileInitializer(
                path, tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                lookup.TextFileIndex.LINE_NUMBER), -1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, words):
            return self.table.lookup(words)
    return Words(), {}


def keras(tf, folder):
    """A model of two inputs."""
    K = tf.keras
    L = K.layers
    a, b = K.Input((6, 5), name="a"), K.Input((4,), name="b")
    inner = K.Sequential([L.Dense(4, "relu", input_shape=(3,)), L.Dropout(.5)],
                         name="inner")
    x = inner(L.LSTM(3)(L.Conv1D(2, 2, kernel_regularizer="l2")(a)))
    x = L.BatchNormalization()(L.concatenate([x, L.Dense(2)(b)]))
    model = K.Model([a, b], [L.Dense(1, name="one")(x),
                             L.Dense(2, name="two")(x)])
    model.compile("adam", "mse")
    model.set_weights([np.sin(np.arange(w.size) + i).reshape(w.shape) ** 2
                       for i, w in enumerate(model.get_weights())])
    return model, {}


def sequential(tf, folder):
    K = tf.keras
    model = K.Sequential([
        K.layers.Dense(3, "relu", input_shape=(4,), name="d1"),
        K.layers.Dense(1, name="d2")])
    model.compile("adam", "mse", ["mae"])
    model.fit(np.ones((8, 4)), np.ones((8, 1)), verbose=0)
    return model, {}


def packed_folder(path):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(path, ".")
    return base64.b64encode(zlib.compress(data.getvalue(), 9)).decode()


def unpack_folder(text, path):
    data = io.BytesIO(zlib.decompress(base64.b64decode(text)))
    os.makedirs(path, exist_ok=True)
    with tarfile.open(fileobj=data) as archive:
        for member in archive.getmembers():  # of files that are our own
            if member.isfile():
                target = os.path.join(path, member.name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(archive.extractfile(member).read())


def predictions(model):
    if len(model.inputs) == 1:
        return [model.predict(np.ones((2, 4))).tolist()]
    return [y.tolist() for y in model.predict(
        [IMAGES, IMAGES[:, 0, :4]])]


def write_all(tf, folder, keys):
    for name in keys:
        path = os.path.join(folder, name)
        os.makedirs(path)
        made, options = globals()[name](tf, path)
        tf.saved_model.save(made, os.path.join(path, "saved"), **options)
        if hasattr(made, "predict"):
            with open(os.path.join(path, "predictions.json"), "w") as file:
                json.dump(predictions(made), file)


def check_all(tf, folder):
    """Reads what write_all wrote elsewhere; of eager TensorFlow."""
    def same(got, wanted, what):
        ok = np.allclose(np.asarray(got), np.asarray(wanted), atol=1e-4)
        print(what, ok if ok else (got, wanted))
    for name in sorted(os.listdir(folder)):
        if name == "sequential" and not tf.__version__.startswith("1."):
            continue  # 2.x reads no optimizers of 1.x
        path = os.path.join(folder, name)
        saved = tf.compat.v2.saved_model.load(os.path.join(path, "saved"))
        if name == "module":
            x = tf.constant(X)
            same(saved.scale(x)["y"], X * 3, "scale")
            same(saved.scale(x)["z"], X + .5, "scale z")
            same(saved.powers(x), X * -8, "powers")
            same(saved.powers(x, train=True), X * 3, "powers train")
            same(saved(x), X + [1, 1, 2], "call")
            same(saved.count(2, [3., 4.]), 7, "count")
            same(tf.convert_to_tensor(saved.parts[0]), [3, 4], "assigned")
            saved.bump()
            same(tf.convert_to_tensor(saved.v), 4, "bump")
            same(saved.signatures["scale"](x)["y"], X * 4, "signature")
        elif name == "table":
            same(saved.find(tf.constant(["b", "c"])), [1, -1], "table")
        else:
            with open(os.path.join(path, "predictions.json")) as file:
                wanted = json.load(file)
            inputs = {"a": IMAGES, "b": IMAGES[:, 0, :4]} if (
                name == "keras") else {"d1_input": np.ones((2, 4), np.float32)}
            got = saved.signatures["serving_default"](
                **{k: tf.constant(v) for k, v in inputs.items()})
            for key, value in zip(sorted(got), wanted):
                same(got[key], value, name + " " + key)
            if tf.__version__.startswith("1."):
                model = tf.keras.models.load_model(os.path.join(path, "saved"))
                for got, value in zip(predictions(model), wanted):
                    same(got, value, name + " load_model")


def main():
    try:
        import tensorflow as tf
    except ImportError:
        import headrace as tf
        tf.enable_resource_variables()
        for name in ("module", "keras", "sequential"):
            with tf.Graph().as_default(), tf.Session() as session:
                tf.keras.backend.set_session(session)
                path = os.path.join(sys.argv[1], name)
                os.makedirs(path)
                made, options = globals()[name](tf, path)
                if name == "module":
                    session.run(tf.global_variables_initializer())
                tf.saved_model.save(made, os.path.join(path, "saved"),
                                    **options)
                if hasattr(made, "predict"):
                    with open(os.path.join(path, "predictions.json"),
                              "w") as file:
                        json.dump(predictions(made), file)
        return
    old = tf.__version__.startswith("1.")
    if old:
        tf.compat.v1.enable_v2_behavior()
    if len(sys.argv) > 1:
        check_all(tf, sys.argv[1])
        return
    results = {}
    if os.path.exists(VALUES):
        with open(VALUES) as file:
            results = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        write_all(tf, folder, ["module", "table"] + (
            ["keras", "sequential"] if old else []))
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            key = "%s %s" % (name, ".".join(tf.__version__.split(".")[:2]))
            results[key] = {"folder": packed_folder(
                os.path.join(path, "saved"))}
            if os.path.exists(os.path.join(path, "predictions.json")):
                with open(os.path.join(path, "predictions.json")) as file:
                    results[key]["predictions"] = json.load(file)
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
