"""Whole models of tf.keras in files, configs and JSON: those that TensorFlow 1.15
wrote (model_programs.py), our own, and what is refused. What needs h5py is
skipped without it."""
import json
import os
import subprocess

import model_programs
import numpy as np
import pytest
import recorded

import headrace as tf

K = tf.keras
L = K.layers

with open(model_programs.VALUES) as file:
    WANTED = json.load(file)
NAMES = pytest.mark.parametrize("name", sorted(model_programs.MODELS))


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


def check(found, wanted):
    """Two results of model_programs.one_more."""
    assert sorted(found) == sorted(wanted)
    for key in wanted:
        a, b = found[key], wanted[key]
        if not isinstance(a, list):
            a, b = [a], [b]
        assert len(a) == len(b), key
        for x, y in zip(a, b):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=1e-5, err_msg=key)


def saved(name, folder):
    """The path of a file that TensorFlow wrote."""
    path = os.path.join(str(folder), name + ".tf.h5")
    recorded.unpack(WANTED[name]["file"], path)
    return path


def plain(config):
    return json.loads(json.dumps(config))


@NAMES
def test_configs_names_and_numbers(name):
    model, x, y = model_programs.trained(K, name)
    wanted = WANTED[name]
    assert [layer.name for layer in model.layers] == wanted["layers"]
    assert json.loads(model.to_json()) == wanted["config"]
    assert [w.name for w in model.optimizer.weights] == wanted["names"]
    assert model.metrics_names == wanted["metrics"]
    check(model_programs.one_more(model, x, y), wanted["after"])


@NAMES
def test_files_of_tensorflow(h5py, tmp_path, name):
    check(model_programs.one_more(*model_programs.restored(
        K, name, saved(name, tmp_path))), WANTED[name]["after"])


@NAMES
def test_files_are_as_those_of_tensorflow(h5py, tmp_path, name):
    model, _, _ = model_programs.trained(K, name)
    path = str(tmp_path / (name + ".h5"))
    model.save(path)
    assert os.listdir(str(tmp_path)) == [name + ".h5"]

    def contents(path):
        found = {}
        with h5py.File(path, "r") as file:
            def add(key, thing):
                attributes = {}
                for k, v in thing.attrs.items():
                    v = np.asarray(v).tolist()
                    v = v.decode() if isinstance(v, bytes) else v
                    attributes[k] = json.loads(v) if k.endswith(
                        "_config") else v
                found[key] = attributes, getattr(thing, "shape", None), str(
                    getattr(thing, "dtype", None))
            add("", file)
            file.visititems(add)
        return found
    ours, theirs = contents(path), contents(saved(name, tmp_path))
    assert sorted(ours) == sorted(theirs)
    for key in theirs:
        assert ours[key] == theirs[key], key
    check(model_programs.one_more(*model_programs.restored(K, name, path)),
          WANTED[name]["after"])


ORACLE = os.environ.get("HEADRACE_ORACLE_1_15")


@pytest.mark.skipif(not ORACLE, reason="HEADRACE_ORACLE_1_15 names no Python "
                    "with TensorFlow 1.15")
def test_tensorflow_reads_our_files(h5py, tmp_path):
    for name in model_programs.MODELS:
        model, _, _ = model_programs.trained(K, name)
        model.save(str(tmp_path / (name + ".h5")))
    done = subprocess.run([ORACLE, model_programs.__file__, str(tmp_path)],
                          capture_output=True, text=True)
    assert done.stdout.split() == [
        word for name in model_programs.MODELS for word in (name, "True")], \
        done.stderr


def _clone(model, objects):
    with K.utils.custom_object_scope(objects or {}):
        return K.models.clone_model(model)


@NAMES
def test_models_of_json_and_configs(name):
    model, _, _ = model_programs.trained(K, name)
    objects = getattr(model_programs.MODELS[name], "objects", None)
    for again in (K.models.model_from_json(model.to_json(), objects),
                  K.models.model_from_config(
                      {"class_name": type(model).__name__,
                       "config": model.get_config()}, objects),
                  type(model).from_config(model.get_config(), objects),
                  _clone(model, objects)):
        assert plain(again.get_config()) == plain(model.get_config())
        assert [w.get_shape() for w in again.weights] == [
            w.get_shape() for w in model.weights]
        assert not set(map(id, again.weights)) & set(map(id, model.weights))
        again.set_weights(model.get_weights())


@pytest.mark.parametrize("name", [n for n in WANTED if WANTED[n]["yaml"]])
def test_models_of_yaml(name):
    pytest.importorskip("yaml")
    model, _, _ = model_programs.trained(K, name)
    for text in (model.to_yaml(), WANTED[name]["yaml"]):
        if "numpy" in text:
            with pytest.raises(ValueError, match="objects of Python"):
                K.models.model_from_yaml(text)
            continue
        again = K.models.model_from_yaml(text)
        assert plain(again.get_config()) == plain(model.get_config())


def test_lambda_expressions_keep_their_code():
    n = 3.
    model = K.Sequential([L.Lambda(lambda x, k=2.: x * k + n,
                                   input_shape=(2,))])
    again = K.models.model_from_json(model.to_json(), {})
    x = np.ones((1, 2), np.float32)
    np.testing.assert_array_equal(again.predict(x), x * 5)
    config = model.get_config()
    config["layers"][0]["config"]["function"] = ("AAAA", None, None)
    with pytest.raises(ValueError, match="another version of Python"):
        K.Sequential.from_config(config)


def test_clones_on_other_inputs_and_with_other_layers():
    x = K.Input((3,))
    model = K.Model(x, L.Dense(2, name="d")(x))
    y = tf.ones([4, 3])
    clone = K.models.clone_model(model, y)
    assert clone.inputs[0].get_shape() == [4, 3]
    assert K.models.clone_model(
        model, clone_function=lambda layer: L.Dense(2, name="other")
    ).layers[1].name == "other"
    with pytest.raises(ValueError, match="2 input tensors for a model of 1"):
        K.models.clone_model(model, [y, y])


class Own(K.Model):
    def __init__(self):
        super().__init__()
        self.dense = L.Dense(1)

    def call(self, inputs):
        return self.dense(inputs)


def test_what_has_no_config():
    model = Own()
    model(tf.ones([1, 2]))
    for use in (model.get_config, model.to_json,
                lambda: K.models.clone_model(model)):
        with pytest.raises(NotImplementedError, match="a `call` of its own"):
            use()
    x = K.Input((2,))
    model = K.Model(x, L.SimpleRNN(2)(L.Reshape((1, 2))(x), mask=tf.ones(
        [1, 1], tf.bool)))
    with pytest.raises(TypeError, match="simple_rnn.*arguments that cannot be "
                       r"saved: \['mask'\]"):
        model.get_config()


@pytest.mark.parametrize("change, message", [
    (lambda c: c["layers"][1].update(class_name="Dance"), "Unknown layer: Dance"),
    (lambda c: c["layers"][1].update(inbound_nodes=[[["x", 3, 0, {}]]]),
     "calls layer d on what no layer makes"),
    (lambda c: c.update(output_layers=[["d", 0, 7]]),
     "no output 7 of call 0 of layer d")])
def test_damaged_configs(change, message):
    x = K.Input((3,), name="x")
    config = plain(K.Model(x, L.Dense(2, name="d")(x)).get_config())
    change(config)
    with pytest.raises(ValueError, match=message):
        K.Model.from_config(config)


def test_files_without_all(h5py, tmp_path, caplog):
    path = str(tmp_path / "m.h5")
    model, _, _ = model_programs.trained(K, "sequential")
    model.save(path, include_optimizer=False)
    assert K.models.load_model(path).optimizer is None
    model.save(path)
    assert K.models.load_model(path, compile=False).optimizer is None
    with h5py.File(path, "a") as file:
        del file["optimizer_weights"]["training/Adam/iter:0"]
        names = file["optimizer_weights"].attrs["weight_names"]
        file["optimizer_weights"].attrs["weight_names"] = names[1:]
    again = K.models.load_model(path)
    assert any(np.any(w) for w in again.get_weights())
    assert not any(np.any(w) for w in again.optimizer.get_weights())
    with pytest.raises(ValueError, match="overwrite is False"):
        model.save(path, overwrite=False)
    model.save(path, save_format="tf")  # the name says HDF5
    assert h5py.is_hdf5(path)
    with pytest.raises(ValueError, match="unknown save_format 'zip'"):
        model.save(path, save_format="zip")
    model.save_weights(path)
    with pytest.raises(ValueError, match="No model found in config file"):
        K.models.load_model(path)
    (tmp_path / "text.h5").write_text("text")
    for name in str(tmp_path), str(tmp_path / "none.h5"), str(
            tmp_path / "text.h5"):
        with pytest.raises(OSError, match="SavedModel file does not exist"):
            K.models.load_model(name)
    K.backend.clear_session()
    with pytest.raises(ValueError, match="has no weights yet"):
        K.Sequential([L.Dense(1)]).save(path)
    model = K.Sequential([L.Dense(1, input_shape=(2,))])
    model.compile(tf.train.AdamOptimizer(), "mse")
    model.save(path)
    assert K.models.load_model(path).optimizer is None


def test_checkpoints_of_whole_models(h5py, tmp_path):
    path = str(tmp_path / "m{epoch}.h5")
    model, x, y = model_programs.trained(K, "sequential")
    model.fit(x[0], y[0], epochs=2, verbose=0,
              callbacks=[K.callbacks.ModelCheckpoint(path)])
    assert sorted(os.listdir(str(tmp_path))) == ["m1.h5", "m2.h5"]
    predicted = model.predict(x[0])
    np.testing.assert_allclose(K.models.load_model(
        path.format(epoch=2)).predict(x[0]), predicted, rtol=1e-5)


def test_models_inside_of_models_train_by_their_own_inputs_alone():
    # The inner model was called on its own inputs first, which get no values.
    inner = K.Sequential([L.Dense(2, input_shape=(3,), activity_regularizer="l2"),
                          L.BatchNormalization()])
    x = K.Input((3,))
    model = K.Model(x, inner(x))
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    assert np.any(inner.layers[1].get_weights()[2])


def test_states_that_layers_give_each_other_belong_to_a_model():
    x, y = K.Input((None, 2)), K.Input((None, 2))
    _, *states = L.LSTM(3, return_state=True, name="first")(x)
    model = K.Model([x, y], L.LSTM(3)(y, initial_state=states))
    assert "first" in [layer.name for layer in model.layers]
    a, b = tf.ones([1, 2, 2]), tf.ones([1, 4, 2])
    one, other = model([a, b]), model([a * 0., b])
    session = K.backend.get_session()
    values = session.run([one, other])
    assert np.abs(values[0] - values[1]).max() > 1e-3


def summary(model, **options):
    lines = []
    model.summary(print_fn=lines.append, **options)
    return "\n".join(line.rstrip() for line in lines)


def test_summaries_are_tensorflows():
    K.backend.clear_session()
    model = K.Sequential([L.Dense(3, input_shape=(4,)), L.BatchNormalization(),
                          L.Dense(1)], name="s")
    model.layers[0].trainable = False
    assert summary(model, line_length=50) == '''Model: "s"
__________________________________________________
Layer (type)          Output Shape        Param #
==================================================
dense (Dense)         (None, 3)           15
__________________________________________________
batch_normalization ( (None, 3)           12
__________________________________________________
dense_1 (Dense)       (None, 1)           4
==================================================
Total params: 31
Trainable params: 10
Non-trainable params: 21
__________________________________________________'''
    a, b, dense = K.Input((4,), name="a"), K.Input((4,)), L.Dense(2)
    x = L.Concatenate(name="together")([dense(a), dense(b)])
    y = K.Sequential([L.Dense(3, input_shape=(4,))], name="inner")(x)
    assert summary(K.Model([a, b], [x, y], name="m"), line_length=80) == '''\
Model: "m"
________________________________________________________________________________
Layer (type)              Output Shape      Param #  Connected to
================================================================================
a (InputLayer)            [(None, 4)]       0
________________________________________________________________________________
input_1 (InputLayer)      [(None, 4)]       0
________________________________________________________________________________
dense_2 (Dense)           (None, 2)         10       a[0][0]
                                                     input_1[0][0]
________________________________________________________________________________
together (Concatenate)    (None, 4)         0        dense_2[0][0]
                                                     dense_2[1][0]
________________________________________________________________________________
inner (Sequential)        (None, 3)         15       together[0][0]
================================================================================
Total params: 25
Trainable params: 25
Non-trainable params: 0
________________________________________________________________________________'''
    assert "Connected" not in summary(K.Model(a, dense(a)))
    with pytest.raises(ValueError, match="not yet been built"):
        K.Sequential([L.Dense(1)]).summary()


def test_classes_of_predictions():
    ones = K.initializers.Ones()
    x = np.array([[-1., -2.], [3., 1.]], np.float32)
    many = K.Sequential([L.Lambda(lambda v: v, input_shape=(2,))])
    assert many.predict_classes(x).tolist() == [0, 0]
    one = K.Sequential([L.Dense(1, "sigmoid", kernel_initializer=ones,
                                input_shape=(2,))])
    assert one.predict_classes(x).tolist() == [[0], [1]]
    np.testing.assert_array_equal(one.predict_proba(x), one.predict(x))
