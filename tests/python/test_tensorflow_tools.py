"""The programs of tensorflow.python.tools: what they print is what TensorFlow
1.15.5's print of the same model."""
import os
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import commands


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A SavedModel with two graphs, a checkpoint and its graph as text."""
    monkeypatch.chdir(tmp_path)
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    s = tf.placeholder(tf.string, name="s")
    y = tf.identity(x * 2 + tf.Variable(1., name="v"), name="y")
    z = tf.string_join([s, "!"], name="z")
    info = tf.saved_model.build_tensor_info
    signatures = {
        "serving_default": tf.saved_model.predict_signature_def(
            {"a": x}, {"b": y}),
        "other": tf.saved_model.build_signature_def(
            {"s": info(s)}, {"z": info(z)}, "my/method")}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder("m")
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.add_meta_graph(["serve", "gpu"], signatures)
        builder.save()
        tf.train.Saver().save(session, "ck")
        tf.train.write_graph(session.graph_def, ".", "g.pbtxt")
    return tmp_path


def printed(capsys, program, *arguments):
    commands.main(program, list(arguments))
    return capsys.readouterr().out


SIGNATURE = """\
The given SavedModel SignatureDef contains the following input(s):
  inputs['a'] tensor_info:
      dtype: DT_FLOAT
      shape: (-1, 3)
      name: x:0
The given SavedModel SignatureDef contains the following output(s):
  outputs['b'] tensor_info:
      dtype: DT_FLOAT
      shape: (-1, 3)
      name: y:0
Method name is: tensorflow/serving/predict
"""
OTHER = """\
  The given SavedModel SignatureDef contains the following input(s):
    inputs['s'] tensor_info:
        dtype: DT_STRING
        shape: unknown_rank
        name: s:0
  The given SavedModel SignatureDef contains the following output(s):
    outputs['z'] tensor_info:
        dtype: DT_STRING
        shape: unknown_rank
        name: z:0
  Method name is: my/method
"""


def test_what_a_saved_model_has(model, capsys):
    def show(*arguments):
        return printed(capsys, "saved_model_cli", "show", "--dir", "m",
                       *arguments)

    assert show() == ("The given SavedModel contains the following tag-sets:\n"
                      "serve\ngpu, serve\n")
    assert show("--tag_set", "serve") == (
        "The given SavedModel MetaGraphDef contains SignatureDefs with the "
        "following keys:\nSignatureDef key: \"other\"\nSignatureDef key: "
        "\"serving_default\"\n")
    assert show("--tag_set", "gpu,serve", "--signature_def",
                "serving_default") == SIGNATURE
    every = show("--all")
    first, second = every.split("\nMetaGraphDef with tag-set: ")[1:]
    contents = " contains the following SignatureDefs:\n\nsignature_def['other']:\n"
    assert first.startswith("'serve'" + contents + OTHER)
    assert second.startswith("'serve, gpu'" + contents + OTHER)
    assert second.endswith("\nsignature_def['serving_default']:\n" + "".join(
        "  %s\n" % line for line in SIGNATURE.splitlines()))
    assert printed(capsys, "saved_model_cli", "scan", "--dir", "m") == (
        "MetaGraph with tag set ['serve'] does not contain blacklisted ops.\n"
        "MetaGraph with tag set ['serve', 'gpu'] does not contain blacklisted "
        "ops.\n")


def test_a_signature_is_run(model, capsys):
    def run(*arguments, key="serving_default"):
        return printed(capsys, "saved_model_cli", "run", "--dir", "m",
                       "--tag_set", "serve", "--signature_def", key, *arguments)

    arguments = ["--input_exprs", "a=np.ones([2,3])", "--outdir", "out"]
    assert run(*arguments) == (
        "Result for output key b:\n[[3. 3. 3.]\n [3. 3. 3.]]\n"
        "Output b is saved to out/b.npy\n")
    assert np.load("out/b.npy").tolist() == [[3] * 3] * 2
    with pytest.raises(RuntimeError, match="out/b.npy already exists. Add "
                                           "\"--overwrite\""):
        run(*arguments)
    run(*arguments, "--overwrite")
    np.savez("in.npz", p=np.zeros([1, 3]), q=np.ones([1, 3]))
    np.save("in.npy", np.ones([1, 3]))
    assert "[[3. 3. 3.]]" in run("--inputs", "a=in.npz[q]")
    assert "[[3. 3. 3.]]" in run("--inputs", "a=in.npy")
    assert "[b'x!' b'y!']" in run("--input_exprs", "s=['x', 'y']", key="other")
    run("--input_examples", "s=[{'id': [26], 'w': [.5, 1.]}]", "--outdir",
        "out", key="other")
    text, = np.load("out/z.npy", allow_pickle=True)
    feature = tf.train.Example.FromString(text[:-1]).features.feature
    assert list(feature["id"].int64_list.value) == [26]
    assert list(feature["w"].float_list.value) == [.5, 1.]
    for wrong, kind, words in [
            (["--inputs", "a=in.npz"], RuntimeError, "more than one"),
            (["--inputs", "a=in.npz[r]"], RuntimeError, "\"r\""),
            (["--inputs", "a"], RuntimeError, "format is incorrect"),
            (["--input_exprs", "q=1"], ValueError,
             "\"q\" is not a valid input key. Please choose from \"a\""),
            ([], AttributeError, "At least one of --inputs")]:
        with pytest.raises(kind, match=words):
            run(*wrong)
    with pytest.raises(RuntimeError, match="tag-set nope could not be found"):
        commands.main("saved_model_cli", [
            "show", "--dir", "m", "--tag_set", "nope"])


def run_frozen(path, dtype=tf.float32):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with open(path, "rb") as f:
            tf.import_graph_def(tf.GraphDef.FromString(f.read()), name="")
        assert not {"VariableV2"} & {op.type for op in graph.get_operations()}
        return session.run("y:0", {"x:0": [[1., 2., 3.]]}).tolist()


def test_graphs_are_frozen_and_stripped(model, capsys):
    freeze = ["--output_graph", "f.pb", "--output_node_names", "y"]
    for source in (["--input_graph", "g.pbtxt", "--input_checkpoint", "ck"],
                   ["--input_meta_graph", "ck.meta", "--input_checkpoint", "ck",
                    "--input_binary"],
                   ["--input_saved_model_dir=m", "--saved_model_tags=serve,gpu"]):
        if os.path.exists("f.pb"):
            os.remove("f.pb")
        commands.main("freeze_graph", source + freeze)
        assert run_frozen("f.pb") == [[3, 5, 7]]
    with pytest.raises(ValueError, match="'nothing' doesn't exist"):
        commands.main("freeze_graph", ["--input_checkpoint", "nothing"] + freeze)
    commands.main("optimize_for_inference", [
        "--input", "f.pb", "--output", "o.pb", "--input_names", "x",
        "--output_names", "y"])
    assert run_frozen("o.pb") == [[3, 5, 7]]
    assert printed(capsys, "strip_unused", "--input_graph", "f.pb",
                   "--input_binary", "--output_graph", "s.pb",
                   "--input_node_names", "x", "--output_node_names", "y"
                   ).endswith(" ops in the final graph.\n")
    assert run_frozen("s.pb") == [[3, 5, 7]]
    with pytest.raises(SystemExit) as exit:
        commands.main("strip_unused", ["--input_graph", "nothing"])
    assert exit.value.code == 2
    printed(capsys, "import_pb_to_tensorboard", "--model_dir", "f.pb",
            "--log_dir", "log")
    assert os.listdir("log")


def test_what_a_checkpoint_has(model, capsys):
    assert printed(capsys, "inspect_checkpoint", "--file_name=ck") == (
        "v (DT_FLOAT) []\n\n# Total number of params: 1\n")
    assert printed(capsys, "inspect_checkpoint", "--file_name=ck",
                   "--all_tensors") == (
        "tensor_name:  v\n1.0\n# Total number of params: 1\n")
    assert printed(capsys, "inspect_checkpoint", "--file_name=ck",
                   "--count_exclude_pattern", "v").endswith(": 0\n")


def test_they_are_run_as_modules(model):
    done = subprocess.run(
        [sys.executable, "-m", "headrace.compat", "-m",
         "tensorflow.python.tools.inspect_checkpoint", "--file_name", "ck"],
        stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("v (DT_FLOAT) []\n")


def test_graphs_of_messages_and_files(tmp_path):
    import argparse
    from headrace._src.compat import checkpoints
    graph_file, out_file = str(tmp_path / "in.pbtxt"), str(tmp_path / "out.pb")
    with tf.Session(graph=tf.Graph()) as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        v = tf.Variable([2., 3.], name="v")
        tf.multiply(x * 1., v, name="y")
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        prefix = saver.save(session, str(tmp_path / "model"))
        graph_def = session.graph.as_graph_def()
    frozen = checkpoints.freeze_graph_with_def_protos(
        graph_def, saver.as_saver_def(), prefix, "y", "", "", "", False, "")
    assert {n.op for n in frozen.node} <= {
        "Const", "Placeholder", "Mul", "Identity"}
    (tmp_path / "in.pbtxt").write_text(str(frozen))
    assert checkpoints.strip_unused_from_files(
        graph_file, False, out_file, True, "x", "y", 1) is None
    stripped = tf.GraphDef.FromString((tmp_path / "out.pb").read_bytes())
    assert "y" in [n.name for n in stripped.node]
    for given, outputs in (("nowhere", "y"), (graph_file, "")):
        assert checkpoints.strip_unused_from_files(
            given, False, out_file, True, "x", outputs, 1) == -1
    for text, message in (("a", "not in the form"), ("a=1", "not a valid"),
                          ("nanstr=x", None)):
        before = np.get_printoptions()["nanstr"]
        if message is None:
            checkpoints.parse_numpy_printoption(text)
            assert np.get_printoptions()["nanstr"] == "x"
            np.set_printoptions(nanstr=before)
            continue
        with pytest.raises(argparse.ArgumentTypeError, match=message):
            checkpoints.parse_numpy_printoption(text)


def test_the_message_of_a_saved_model(tmp_path):
    from headrace._src.compat import checkpoints
    with pytest.raises(OSError, match="does not exist at"):
        checkpoints.read_saved_model(str(tmp_path))
    with tf.Session(graph=tf.Graph()) as session:
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        tf.constant(1., name="c")
        builder.add_meta_graph_and_variables(session, ["a", "b"])
        builder.save()
    path = str(tmp_path / "m")
    assert checkpoints.get_saved_model_tag_sets(path) == [["a", "b"]]
    found = checkpoints.get_meta_graph_def(path, "b,a")
    assert found.graph_def.node[0].name == "c"
    with pytest.raises(RuntimeError, match="tag-set a could not be found"):
        checkpoints.get_meta_graph_def(path, "a")
