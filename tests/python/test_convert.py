"""headrace convert: what it makes of SavedModels and checkpoints computes the same; what it refuses."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import headrace as tf
from program import PROGRAM, headrace, needs_program

pytestmark = needs_program
MODELS = pathlib.Path(__file__).resolve().parent.parent / "conformance" / "models"


def convert(*arguments):
    done = headrace("convert", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def value_for(info):
    shape = [d.size if d.size > 0 else 2 for d in info.tensor_shape.dim]
    dtype = tf.as_dtype(info.dtype).as_numpy_dtype
    return np.asarray(np.random.RandomState(1).random_sample(shape)).astype(dtype)


def run_frozen(path, feeds, fetches):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(tf.GraphDef.FromString(path.read_bytes()), name="")
        ops = {op.type for op in graph.get_operations()}
        assert not ops & {"VariableV2", "VarHandleOp", "ReadVariableOp", "StatefulPartitionedCall"}
        return session.run(fetches, feeds)


@pytest.mark.parametrize("name", [
    "basic_pitch_savedmodel", "mlctiny_kws_savedmodel", "mlnet_cifar_savedmodel", "mlnet_mnist_lr",
    "serving_half_plus_two_tf2", "tfjs_int64_multiply", "tfjs_multi_signature", "mlnet_shape_test"])
def test_a_frozen_saved_model_computes_the_same(name, tmp_path):
    folder, out = MODELS / name / "saved_model", tmp_path / "frozen.pb"
    if not folder.is_dir():
        pytest.skip("the model is not here")
    convert(folder, "--out", out)
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.load(session, [tf.saved_model.SERVING], str(folder))
        keys = [k for k in model.signature_def if not k.startswith("__saved_model")]
        signature = model.signature_def[keys[0] if len(keys) == 1 else "serving_default"]
        feeds = {info.name: value_for(info) for info in signature.inputs.values()}
        fetches = [info.name for info in signature.outputs.values()]
        wanted = session.run(fetches, feeds)
    for w, g in zip(wanted, run_frozen(out, feeds, fetches)):
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)


@pytest.fixture
def trained(tmp_path):
    """A folder with checkpoints of a graph with both kinds of variables and a gather."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        rows = tf.placeholder(tf.int32, [None], name="rows")
        w = tf.get_variable("w", [2, 3], initializer=tf.random_normal_initializer(seed=1))
        r = tf.get_variable("r", [3], initializer=tf.ones_initializer(), use_resource=True)
        table = tf.get_variable("table", [4, 3], use_resource=True)
        y = tf.add(tf.matmul(x, w) * r, tf.gather(table, rows), name="y")
        loss = tf.reduce_sum(tf.check_numerics(y, "y") ** 2, name="loss")
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        tf.assign_add(w, tf.ones([2, 3]), name="change")
        session.run(tf.global_variables_initializer())
        feeds = {"x:0": np.ones([2, 2], np.float32), "rows:0": [3, 0]}
        session.run(train, feeds)
        saver = tf.train.Saver()
        saver.save(session, str(tmp_path / "net"), 7)
        for node in saver.export_meta_graph().graph_def.node:
            assert node.op != "MatMul" or "grad_a" not in node.attr
        (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
        (tmp_path / "graph.pbtxt").write_text(str(graph.as_graph_def()))
        yield tmp_path, feeds, session.run(["y:0", "loss:0"], feeds)


@pytest.mark.parametrize("arguments", [
    ["net-7"], [""], ["net-7.meta"], ["net-7.meta", "--checkpoint", "net-7"], ["graph.pb", "--checkpoint", "net-7"],
    ["graph.pbtxt", "--checkpoint", "net-7"]])
def test_a_frozen_checkpoint_computes_the_same(arguments, trained):
    folder, feeds, wanted = trained
    out = folder / "frozen.pb"
    paths = [a if a.startswith("--") else folder / a for a in arguments]
    said = convert(*paths, "--output", "y", "--output=loss:0", "--out", out)
    assert "3 variables became constants" in said
    assert "  x:0  float [?,2]" in said and "  y:0  float [?,3]" in said
    for w, g in zip(wanted, run_frozen(out, feeds, ["y:0", "loss:0"])):
        np.testing.assert_allclose(g, w, rtol=1e-6)
    frozen = tf.GraphDef.FromString(out.read_bytes())
    # What TensorFlow 1.15 does not know is not there.
    if not arguments[0].startswith("graph"):
        assert not any("grad_a" in n.attr for n in frozen.node if n.op == "MatMul")
    first = out.read_bytes()
    convert(*paths, "--output", "y,loss", "--out", out)
    assert out.read_bytes() == first
    assert headrace("inspect", out).returncode == 0


@pytest.mark.parametrize("arguments, says", [
    (["net-7"], "the model has no signature: name its outputs by --output"),
    (["net-7", "--signature", "serve"], "the model has no signature 'serve'"),
    (["net-7", "--output", "z"], "the model has no node 'z'"),
    (["net-7", "--output", "losss"], "did you mean 'loss'"),
    (["net-7", "--output", "y:3"], "has 1 outputs, y:3 is none of them"),
    (["net-7", "--output", "change"], "'change' (AssignAdd) uses the variable 'w' itself"),
    (["graph.pb", "--output", "y"], "the outputs need 3 variables"),
    (["graph.pb", "--output", "y", "--checkpoint", "none"], "none"),
    (["none", "--output", "y"], "none"),
    (["empty", "--output", "y"], "without saved_model.pb and without checkpoints"),
    (["alone", "--output", "y"], "there is no graph beside the checkpoint"),
    (["short", "--output", "y"], "short"),
])
def test_what_cannot_be_frozen_is_named(arguments, says, trained):
    folder, _, _ = trained
    (folder / "empty").mkdir()
    for suffix in (".index", ".data-00000-of-00001"):
        bytes_ = (folder / ("net-7" + suffix)).read_bytes()
        (folder / ("alone" + suffix)).write_bytes(bytes_)
        (folder / ("short" + suffix)).write_bytes(bytes_[:len(bytes_) // 2])
    (folder / "short.meta").write_bytes((folder / "net-7.meta").read_bytes())
    out = folder / "frozen.pb"
    paths = [folder / a if i == 0 or arguments[i - 1] == "--checkpoint" else a for i, a in enumerate(arguments)]
    run = headrace("convert", *paths, "--out", out)
    assert run.returncode == 1 and says in run.stderr, run.stderr
    assert not out.exists()


def test_variables_that_a_checkpoint_lacks_are_listed(trained):
    folder, _, _ = trained
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", [2, 3])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(folder / "part"), write_meta_graph=False)
    run = headrace("convert", folder / "graph.pb", "--checkpoint", folder / "part", "--output", "y",
                   "--out", folder / "frozen.pb")
    assert run.returncode == 1 and "has no values of these variables:\n  " in run.stderr
    assert "\n  r" in run.stderr and "\n  table" in run.stderr and "\n  w" not in run.stderr


@pytest.mark.parametrize("arguments, says", [
    ([], "which model?"), (["a"], "where to? Give --out FILE"), (["a", "b"], "one model, please"),
    (["a", "--outt", "b"], "did you mean '--out'")])
def test_wrong_arguments(arguments, says):
    run = headrace("convert", *arguments)
    assert run.returncode == 2 and says in run.stderr


def test_an_output_that_cannot_be_written(trained):
    folder, _, _ = trained
    run = headrace("convert", folder / "net-7", "--output", "y", "--out", folder / "none" / "frozen.pb")
    assert run.returncode == 1 and "none/frozen.pb" in run.stderr


def test_a_link_stays_one(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1., name="y")
    (tmp_path / "model.pb").write_bytes(graph.as_graph_def()
                                        .SerializeToString())
    # As /dev/stdout is, where it leads to a file.
    os.symlink("file.pb", tmp_path / "link.pb")
    (tmp_path / "file.pb").touch()
    run = headrace("convert", tmp_path / "model.pb", "--output", "y", "--out",
                   tmp_path / "link.pb")
    assert run.returncode == 0, run.stderr
    tf.train.write_graph(graph, str(tmp_path), "link.pb", as_text=False)
    assert os.path.islink(tmp_path / "link.pb")
    data = (tmp_path / "file.pb").read_bytes()
    assert [n.name for n in tf.GraphDef.FromString(data).node] == ["y"]


def test_a_model_comes_and_goes_by_pipes(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.add(x, 1., name="y")
    done = subprocess.run(
        [PROGRAM, "convert", "-", "--output", "y", "--out", "/dev/stdout"],
        input=graph.as_graph_def().SerializeToString(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"outputs:\n  y:0" in done.stderr
    names = [n.name for n in tf.GraphDef.FromString(done.stdout).node]
    assert {"x", "y"} <= set(names)
    out = tmp_path / "pipe"
    os.mkfifo(out)
    model = tmp_path / "model.pb"
    model.write_bytes(graph.as_graph_def().SerializeToString())
    with subprocess.Popen(["cat", str(out)], stdout=subprocess.PIPE) as reader:
        convert(str(model), "--output", "y", "--out", str(out))
        frozen = reader.communicate(timeout=60)[0]
    assert out.is_fifo()
    again = tf.GraphDef.FromString(frozen)
    assert [n.name for n in again.node if n.op == "Placeholder"] == ["x"]


@pytest.mark.parametrize("base_type, function, message", [
    (1, lambda *args: args, "must be a type or a tuple of types"),
    ((), lambda *args: args, "must be a type or a tuple of types"),
    (float, lambda *args: args, "Python numeric types"),
    ((np.ndarray,), lambda *args: args, "Python numeric types"),
    (type("T", (), {}), 1, "must be callable")])
def test_conversions_that_cannot_be_registered(base_type, function, message):
    with pytest.raises(TypeError, match=message):
        tf.register_tensor_conversion_function(base_type, function)
