"""Models of tf.keras whose weights TensorFlow 1.15 saved in HDF5 files.
hdf5_values.json has the files, as text, and what the models predict.

    PYTHON tests/python/hdf5_programs.py

with an interpreter that has TensorFlow 1.15 and h5py writes the file again. With
a folder as argument it says whether TensorFlow reads the files there, which
test_keras_hdf5.py writes, and gives the same predictions:

    PYTHON tests/python/hdf5_programs.py FOLDER"""
import json
import os
import sys
import tempfile

import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "hdf5_values.json")
X = np.cos(np.arange(40)).reshape(2, 5, 4).astype(np.float32)


def dense(K):
    L = K.layers
    return K.Sequential([
        L.Flatten(input_shape=(5, 4)), L.Dense(3, "relu", name="first"),
        L.BatchNormalization(), L.Dense(2, use_bias=False)])


def recurrent(K):
    L = K.layers
    x = K.Input((5, 4), name="x")
    y = L.Bidirectional(L.LSTM(3, return_sequences=True))(x)
    y = L.TimeDistributed(L.Dense(3))(y)
    return K.Model(x, L.RNN([L.GRUCell(2), L.SimpleRNNCell(3)])(y))


def nested(K):
    L = K.layers
    inner = K.Sequential([L.Conv1D(3, 2, input_shape=(5, 4)),
                          L.BatchNormalization()], name="inner")
    return K.Sequential([inner, L.GlobalAveragePooling1D(), L.Dense(2)])


def frozen(K):
    model = dense(K)
    model.layers[1].trainable = False
    return model


MODELS = {"dense": dense, "frozen": frozen, "nested": nested,
          "recurrent": recurrent}


def fresh(K, name):
    """A model with weights of its own."""
    K.backend.clear_session()
    model = MODELS[name](K)
    model.set_weights([np.abs(np.sin(np.arange(w.size) + i)).reshape(
        w.shape).astype(np.float32)
        for i, w in enumerate(model.get_weights())])
    return model


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    K, results = tf.keras, {}
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    for name in MODELS:
        path = os.path.join(folder, name + ".h5")
        if len(sys.argv) > 1:
            K.backend.clear_session()
            model = MODELS[name](K)
            model.load_weights(path)
            found = model.predict(X)
            wanted = np.array(json.load(open(VALUES))[name]["predictions"])
            print(name, np.abs(found - wanted).max() < 1e-5)
            continue
        model = fresh(K, name)
        model.save_weights(path)
        results[name] = {
            "file": recorded.packed(path), "predictions": model.predict(X).tolist(),
            "names": [[layer.name, [w.name for w in layer.weights]]
                      for layer in model.layers]}
    if results:
        recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
