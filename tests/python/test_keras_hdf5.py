"""Weights of tf.keras models in HDF5 files: those that TensorFlow 1.15 wrote
(hdf5_programs.py), our own, and what is refused. Needs h5py, but for one test."""
import json
import os
import subprocess
import sys

import hdf5_programs
import numpy as np
import pytest
import recorded

import headrace as tf

K = tf.keras
X = hdf5_programs.X

with open(hdf5_programs.VALUES) as file:
    WANTED = json.load(file)
NAMES = pytest.mark.parametrize("name", sorted(hdf5_programs.MODELS))


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


def saved(name, folder):
    """The path of a file that TensorFlow wrote."""
    path = os.path.join(str(folder), name + ".tf.h5")
    recorded.unpack(WANTED[name]["file"], path)
    return path


def made(name):
    K.backend.clear_session()
    return hdf5_programs.MODELS[name](K)


def check(name, model):
    np.testing.assert_allclose(model.predict(X), WANTED[name]["predictions"],
                               rtol=1e-5, atol=1e-6)


@NAMES
def test_names_of_weights(name):
    assert [[layer.name, [w.name for w in layer.weights]]
            for layer in made(name).layers] == WANTED[name]["names"]


@NAMES
def test_files_of_tensorflow(h5py, tmp_path, name):
    model = made(name)
    model.load_weights(saved(name, tmp_path))
    check(name, model)


@NAMES
def test_a_file_of_another_name(h5py, tmp_path, name):
    os.rename(saved(name, tmp_path), str(tmp_path / "weights"))
    model = made(name)
    model.load_weights(str(tmp_path / "weights"))
    check(name, model)


@NAMES
def test_files_are_as_those_of_tensorflow(h5py, tmp_path, name):
    model = hdf5_programs.fresh(K, name)
    path = str(tmp_path / (name + ".h5"))
    model.save_weights(path)

    def contents(path):
        found = {}
        with h5py.File(path, "r") as file:
            def add(key, thing):
                found[key] = {k: np.asarray(v).tolist()
                              for k, v in thing.attrs.items()}
                if isinstance(thing, h5py.Dataset):
                    found[key]["value"] = np.round(thing[()], 5).tolist()
                    found[key]["dtype"] = str(thing.dtype)
            add("", file)
            file.visititems(add)
        return found
    assert contents(path) == contents(saved(name, tmp_path))
    again = made(name)
    again.load_weights(path)
    check(name, again)


ORACLE = os.environ.get("HEADRACE_ORACLE_1_15")


@pytest.mark.skipif(not ORACLE, reason="HEADRACE_ORACLE_1_15 names no Python "
                    "with TensorFlow 1.15")
def test_tensorflow_reads_our_files(h5py, tmp_path):
    for name in hdf5_programs.MODELS:
        hdf5_programs.fresh(K, name).save_weights(
            str(tmp_path / (name + ".h5")))
    done = subprocess.run([ORACLE, hdf5_programs.__file__, str(tmp_path)],
                          capture_output=True, text=True)
    assert done.stdout.split() == [
        word for name in hdf5_programs.MODELS for word in (name, "True")], \
        done.stderr


def test_by_name(h5py, tmp_path):
    K.backend.clear_session()
    model = K.Sequential([
        K.layers.Flatten(input_shape=(5, 4)),
        K.layers.Dense(3, "relu", name="first"),
        K.layers.Dense(7, name="other")])
    before = model.layers[-1].get_weights()
    path = saved("dense", tmp_path)
    model.load_weights(path, by_name=True)
    whole = made("dense")
    whole.load_weights(path)
    first = whole.layers[1].get_weights()
    K.backend.clear_session()
    model = K.Sequential([
        K.layers.Flatten(input_shape=(5, 4)),
        K.layers.Dense(3, "relu", name="first"),
        K.layers.Dense(7, name="other")])
    model.layers[-1].set_weights(before)
    model.load_weights(path, by_name=True)
    for a, b in zip(model.layers[1].get_weights() + model.layers[2].get_weights(),
                    first + before):
        np.testing.assert_array_equal(a, b)


def test_many_layers(h5py, tmp_path):
    """Their names take more than one attribute."""
    K.backend.clear_session()
    model = K.Sequential([K.layers.Dense(1, name="n" * 900 + str(i),
                                         input_shape=(1,)) for i in range(100)])
    model.save_weights(str(tmp_path / "w.h5"))
    with h5py.File(str(tmp_path / "w.h5"), "r") as file:
        assert "layer_names" not in file.attrs and "layer_names1" in file.attrs
    before = model.get_weights()
    model.set_weights([w * 0 for w in before])
    model.load_weights(str(tmp_path / "w.h5"))
    for a, b in zip(model.get_weights(), before):
        np.testing.assert_array_equal(a, b)


def test_what_is_refused(h5py, tmp_path):
    path = saved("dense", tmp_path)
    model = K.Sequential([K.layers.Dense(2, input_shape=(3,))])
    with pytest.raises(ValueError, match="containing 3 layers into a model with "
                       "1 layers"):
        model.load_weights(path)
    for layer, message in (
            (K.layers.Dense(4, name="first"), r"has shape \(3, 4\), but the saved "
             r"weight has shape \(20, 3\)"),
            (K.layers.Dense(4, name="first", use_bias=False), "layer first "
             r"expects 1 weight\(s\), but the saved weights have 2")):
        other = K.Sequential([K.layers.InputLayer(input_shape=(3,)), layer])
        with pytest.raises(ValueError, match=message):
            other.load_weights(path, by_name=True)
    with pytest.raises(ValueError, match="have not yet been created"):
        K.Sequential([K.layers.Dense(2)]).load_weights(path)
    with pytest.raises(ValueError, match="overwrite is False"):
        model.save_weights(path, overwrite=False)
    for key, text in ("backend", b"theano"), ("keras_version", b"1.2"):
        with h5py.File(path, "r+") as file:
            before, file.attrs[key] = file.attrs[key], text
        with pytest.raises(ValueError, match="laid out otherwise"):
            made("dense").load_weights(path)
        with h5py.File(path, "r+") as file:
            file.attrs[key] = before


def test_formats():
    model = K.Sequential([K.layers.Dense(2, input_shape=(3,))])
    with pytest.raises(ValueError, match="looks like an HDF5 file"):
        model.save_weights("w.h5", save_format="tf")
    with pytest.raises(ValueError, match="Unknown format \"zip\""):
        model.save_weights("w", save_format="zip")


def test_without_h5py(tmp_path):
    (tmp_path / "h5py.py").write_text("raise ImportError('no h5py here')\n")
    program = """if True:
        import sys
        sys.path.insert(0, %r)
        import headrace as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        for call in (lambda: model.save_weights("w.h5"),
                     lambda: model.save_weights("w", save_format="h5"),
                     lambda: model.load_weights("w.hdf5")):
            try:
                call()
            except ImportError as error:
                print(error)""" % str(tmp_path)
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all(
        "requires h5py for HDF5 files: pip install h5py" in line
        for line in lines), done.stderr
