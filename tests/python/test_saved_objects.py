"""tf.saved_model.save and load_v2: objects with functions. SavedModels that
TensorFlow 1.15 and 2.21 wrote (saved_object_programs.py), our own, and what is
refused."""
import json
import os

import numpy as np
import pytest
import saved_object_programs as programs

import headrace as tf

K = tf.keras
X = programs.X

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)
THEIRS = sorted(VALUES)


@pytest.fixture(autouse=True)
def fresh():
    K.backend.clear_session()
    tf.reset_default_graph()
    tf.enable_resource_variables()
    yield
    tf.disable_resource_variables()
    K.backend.clear_session()


def unpacked(name, folder):
    programs.unpack_folder(VALUES[name]["folder"], str(folder))
    return str(folder)


def check_module(saved):
    """Like saved_object_programs.check_all, in a graph."""
    x = tf.constant(X)
    scaled = saved.scale(x)
    found = [scaled, saved.powers(x), saved.powers(x, train=True), saved(x),
             saved.signatures["scale"](x)]
    gradient, = tf.gradients(scaled["y"], [x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(found)
        for got, wanted in zip(values, (
                {"y": X * 3, "z": X + .5}, X * -8, X * 3, X + [1, 1, 2],
                {"y": X * 3, "z": X + .5})):
            if isinstance(wanted, dict):
                assert sorted(got) == sorted(wanted)
                got, wanted = got["y"] + got["z"], wanted["y"] + wanted["z"]
            np.testing.assert_allclose(got, wanted)
        np.testing.assert_allclose(session.run(gradient), [3, 3, 3])
        assert session.run(saved.count(2, [3., 4.])) == 7
        assert session.run(saved.signatures["count"](
            by=tf.constant(1), w=tf.constant([5., 6.])))["output_0"] == 8
        assert session.run(saved.parts[0]).tolist() == [5, 6]
        session.run(saved.bump())
        assert session.run(saved.v) == 4
    assert not saved.parts[1].b.trainable and saved.v.trainable
    assert [v.name for v in tf.trainable_variables()].count("v:0") == 1
    assert set(saved.signatures) == {"scale", "count"}
    with pytest.raises(ValueError, match="Could not find matching function"):
        saved.powers(tf.constant([1]))
    with pytest.raises(TypeError, match="Expected argument names"):
        saved.signatures["scale"](y=x)
    with pytest.raises(TypeError, match="at most"):
        saved.signatures["count"](1, [1., 2.])


@pytest.mark.parametrize("name", [n for n in THEIRS if "module" in n])
def test_modules_of_tensorflow(tmp_path, name):
    check_module(tf.saved_model.load_v2(unpacked(name, tmp_path)))


@pytest.mark.parametrize("name", [n for n in THEIRS if "table" in n])
def test_tables_of_tensorflow(tmp_path, name):
    saved = tf.saved_model.load_v2(unpacked(name, tmp_path))
    found = saved.find(tf.constant(["b", "c", "a"]))
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(found).tolist() == [1, -1, 0]


def test_our_modules(tmp_path):
    made, options = programs.module(tf, str(tmp_path))
    path = str(tmp_path / "saved")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(made, path, **options)
    with tf.Graph().as_default():
        check_module(tf.saved_model.load_v2(path, "serve"))
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], path).signature_def[
            "scale"]
        assert signature.inputs["x"].name == "scale_x:0"
        found = session.run(signature.outputs["y"].name,
                            {signature.inputs["x"].name: X})
        np.testing.assert_allclose(found, X * 3)


@pytest.mark.parametrize("name", [n for n in THEIRS if "keras" in n
                                  or "sequential" in n])
def test_models_of_tensorflow(tmp_path, name):
    path = unpacked(name, tmp_path)
    model = K.models.load_model(path)
    wanted = VALUES[name]["predictions"]
    for got, value in zip(programs.predictions(model), wanted):
        np.testing.assert_allclose(got, value, atol=1e-5)
    assert model.optimizer is not None
    assert K.models.load_model(path, compile=False).optimizer is None


@pytest.mark.parametrize("name", ["keras", "sequential"])
@pytest.mark.parametrize("write", [
    lambda model, path: tf.saved_model.save(model, path),
    lambda model, path: model.save(path, save_format="tf"),
    lambda model, path: K.experimental.export_saved_model(model, path)])
def test_our_models(tmp_path, name, write):
    model, _ = getattr(programs, name)(tf, str(tmp_path))
    wanted = programs.predictions(model)
    calls = [len(layer._calls) for layer in model.layers]
    path = str(tmp_path / "saved")
    write(model, path)
    assert [len(layer._calls) for layer in model.layers] == calls
    names = model.output_names
    K.backend.clear_session()
    read = K.models.load_model(path)
    for got, value in zip(programs.predictions(read), wanted):
        np.testing.assert_allclose(got, value, atol=1e-5)
    read.train_on_batch([programs.IMAGES, programs.IMAGES[:, 0, :4]]
                        if name == "keras" else np.ones((2, 4)),
                        [np.ones((2, 1)), np.ones((2, 2))]
                        if name == "keras" else np.ones((2, 1)))
    K.backend.clear_session()
    saved = tf.saved_model.load_v2(path)
    inputs = {"a": programs.IMAGES, "b": programs.IMAGES[:, 0, :4]} if (
        name == "keras") else {"d1_input": np.ones((2, 4), np.float32)}
    found = saved.signatures["serving_default"](**inputs)
    training = saved(list(inputs.values()) if name == "keras"
                     else inputs["d1_input"], training=True)
    assert list(found) == sorted(names)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(found)
        session.run(training)
    for key, value in zip(names, wanted):
        np.testing.assert_allclose(found[key], value, atol=1e-5)


def test_losses_of_regularizers_are_functions(tmp_path):
    model, _ = programs.keras(tf, str(tmp_path))
    loss, = model.losses
    wanted = K.backend.get_session().run(loss)
    tf.saved_model.save(model, str(tmp_path / "saved"))
    K.backend.clear_session()
    saved = tf.saved_model.load_v2(str(tmp_path / "saved"))
    layers = saved.keras_api.layers
    losses = [layer.regularization_losses[0]() for layer in layers
              if layer.regularization_losses]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(losses) == pytest.approx([wanted])


def test_load_from_saved_model(tmp_path):
    model, _ = programs.sequential(tf, str(tmp_path))
    wanted = programs.predictions(model)
    K.experimental.export_saved_model(
        model, str(tmp_path / "a"), serving_only=True,
        input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    K.backend.clear_session()
    read = K.experimental.load_from_saved_model(str(tmp_path / "a"))
    np.testing.assert_allclose(programs.predictions(read), wanted, rtol=1e-5)
    assert read.optimizer is None
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], str(
            tmp_path / "a")).signature_def["serving_default"]
        assert list(signature.inputs) == ["x"]
        assert list(signature.outputs) == ["d2"]
    with pytest.raises(NotImplementedError, match="as_text"):
        K.experimental.export_saved_model(model, "x", as_text=True)


class Scale(tf.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def scale(self, x):
        return x * self.factor

    @tf.function
    def twice(self, x):
        return [x, x]


class Hidden(tf.Module):
    """Tuples are not followed."""

    def __init__(self):
        super().__init__()
        self.factors = (tf.Variable(2.),)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def scale(self, x):
        return x * self.factors[0]


def refused(make, error, message, tmp_path, **options):
    made = make()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(error, match=message):
            tf.saved_model.save(made, str(tmp_path / "saved"), **options)
    assert not os.path.exists(str(tmp_path / "saved"))


@pytest.mark.parametrize("make, error, message", [
    (lambda: 3, ValueError, "Expected a Trackable object for export, got 3"),
    (lambda: Scale(tf.constant(1.) + tf.placeholder_with_default(1., [])),
     ValueError, "references a symbolic Tensor"),
    (lambda: Scale(tf.Variable(1., use_resource=False)), ValueError,
     "not a simple constant.*enable_resource_variables"),
    (lambda: Hidden(), AssertionError, "untracked object")])
def test_what_is_not_saved(tmp_path, make, error, message):
    refused(make, error, message, tmp_path)


@pytest.mark.parametrize("signatures, message", [
    ({"a": lambda x: x}, "Only `tf.functions` with an input signature"),
    ({3: Scale(2.).scale}, "must be a str"),
    (tf.function(lambda x: x), "has no input_signature"),
    (tf.function(lambda x: {"a": [x]}, [tf.TensorSpec([], tf.float32)]),
     "must be a single Tensor"),
    (tf.function(lambda x: x[0] + x[1], [[tf.TensorSpec(
        [], tf.float32, name="x")] * 2]), None)])
def test_signatures(tmp_path, signatures, message):
    if message is None:  # names are made unique
        tf.saved_model.save(Scale(2.), str(tmp_path / "saved"), signatures)
        saved = tf.saved_model.load_v2(str(tmp_path / "saved"))
        found = saved.signatures["serving_default"](x=tf.constant(1.),
                                                    x_1=tf.constant(2.))
        with tf.Session() as session:
            assert session.run(found) == {"output_0": 3}
        return
    refused(lambda: Scale(2.), ValueError, message, tmp_path,
            signatures=signatures)


def test_concrete_functions_and_checkpoints(tmp_path):
    """The known calls of a function without an input_signature, and a function
    of get_concrete_function."""
    made = Scale(tf.Variable(2.))
    made.twice(tf.constant([1]))
    made.plain = made.twice.get_concrete_function(
        tf.TensorSpec([None], tf.float32))
    checkpoint = tf.train.Checkpoint(scale=made)
    checkpoint.many = [made]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(checkpoint, str(tmp_path / "a"),
                            {"plain": made.plain})
    with tf.Graph().as_default(), tf.Session() as session:
        saved = tf.saved_model.load_v2(str(tmp_path / "a"))
        assert saved.many[0] is saved.scale
        found = [saved.scale.twice(tf.constant([3])),
                 saved.scale.plain(tf.constant([1.5, 2.])),
                 saved.signatures["plain"](tf.constant([4.]))["output_1"]]
        assert [[y.tolist() for y in x] if isinstance(x, list) else x.tolist()
                for x in session.run(found)] == [
            [[3], [3]], [[1.5, 2.], [1.5, 2.]], [4.]]


def test_what_is_not_loaded(tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load_v2(str(tmp_path))
    path = unpacked(THEIRS[0], tmp_path / "a")
    with pytest.raises(ValueError, match="incompatible argument tags"):
        tf.saved_model.load_v2(path, ["gpu"])
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        tf.saved_model.simple_save(session, str(tmp_path / "b"), {"x": x},
                                   {"y": x + 1})
    with pytest.raises(NotImplementedError, match="written from a session"):
        tf.saved_model.load_v2(str(tmp_path / "b"))
    with pytest.raises(ValueError, match="has no Keras model"):
        K.models.load_model(str(tmp_path / "b"))


def test_a_model_with_a_call_of_its_own_has_no_config(tmp_path):
    class Own(K.Model):
        def __init__(self):
            super().__init__()
            self.dense = K.layers.Dense(2)

        def call(self, inputs):
            return self.dense(inputs)
    model = Own()
    path = str(tmp_path / "saved")
    with pytest.raises(ValueError, match="input shapes have not been set"):
        model.save(path, save_format="tf")
    wanted = model.predict(np.ones((3, 4)))
    model.save(path, save_format="tf")
    with pytest.raises(NotImplementedError, match="no config"):
        K.models.load_model(path)
    with pytest.raises(ValueError, match="exists already"):
        model.save(path, overwrite=False, save_format="tf")
    K.backend.clear_session()
    saved = tf.saved_model.load_v2(path)
    found = saved(tf.ones([3, 4]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(found), wanted, rtol=1e-5)


@pytest.mark.parametrize("name", THEIRS)
def test_a_signature_has_its_nodes(name, tmp_path):
    saved = tf.saved_model.load_v2(unpacked(name, tmp_path))
    for signature in saved.signatures.values():
        arguments = tf.nest.flatten(signature.structured_input_signature)
        results = tf.nest.flatten(signature.structured_outputs)
        graph = signature.graph
        assert graph is signature.graph is not tf.get_default_graph()
        assert graph.inputs == signature.inputs
        assert [(t.op.type, t.dtype, t.shape.as_list())
                for t in signature.inputs[:len(arguments)]] == [
                    ("Placeholder", s.dtype, s.shape.as_list())
                    for s in arguments]
        assert all(t.op.type == "Placeholder" for t in signature.inputs)
        assert [(t.graph, t.dtype, str(t.shape)) for t in signature.outputs] == [
            (graph, s.dtype, str(s.shape)) for s in results]


def test_nodes_of_a_signature_of_our_own(tmp_path):
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x"),
                                      tf.TensorSpec([], tf.int32, "k")])
        def split(self, x, k):
            a, b = tf.split(x, 2, axis=1)
            return {"b": b, "k": k + 1, "a": a}

    with tf.Session():
        tf.saved_model.save(Module(), str(tmp_path / "m"))
    signature = tf.saved_model.load_v2(
        str(tmp_path / "m")).signatures["serving_default"]
    assert [t.name for t in signature.inputs] == ["k:0", "x:0"]
    assert signature.inputs[0].shape == []
    assert [t.shape.as_list() for t in signature.outputs] == [
        [None, 1], [None, 1], []]
    with tf.Session(graph=signature.graph) as session:
        got = session.run(signature.outputs, dict(zip(
            signature.inputs, [4, [[1., 2.]]])))
    assert [v.tolist() for v in got] == [[[1.]], [[2.]], 5]
