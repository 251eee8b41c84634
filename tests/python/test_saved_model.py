"""tf.saved_model: models written, read, and exchanged with TensorFlow."""
import os
import random
import subprocess

import numpy as np
import pytest

import headrace as tf

sm = tf.saved_model


def build(asset=None):
    """y = x w + v, and the table of an asset's lines."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=np.float32([[1], [2]]))
    v = tf.get_variable("v", initializer=np.float32([10]), use_resource=True)
    y = tf.add(tf.matmul(x, w), v, name="y")
    if asset is not None:
        path = tf.constant(str(asset), name="path")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        tf.read_file(path, name="contents")
    return x, y


def save(folder, **options):
    x, y = build(options.pop("asset", None))
    builder = sm.Builder(str(folder))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(
            sess, options.pop("tags", ["serve"]),
            {"serving_default": sm.predict_signature_def({"in": x},
                                                         {"out": y})},
            **options)
    return builder


def run(folder, tags=("serve",), scope=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        model = sm.load(sess, list(tags), str(folder), import_scope=scope)
        signature = model.signature_def["serving_default"]
        prefix = scope + "/" if scope else ""
        return sess.run(prefix + signature.outputs["out"].name, {
            prefix + signature.inputs["in"].name: [[1, 1]]}).tolist()


@pytest.mark.parametrize("options", [
    {}, dict(clear_devices=True), dict(strip_default_attrs=True)])
@pytest.mark.parametrize("as_text", [False, True])
def test_there_and_back(tmp_path, options, as_text):
    path = save(tmp_path / "m", **options).save(as_text=as_text)
    assert os.path.basename(path) == (b"saved_model.pbtxt" if as_text
                                      else b"saved_model.pb")
    assert sm.maybe_saved_model_directory(str(tmp_path / "m"))
    assert not sm.contains_saved_model(str(tmp_path))
    assert run(tmp_path / "m") == run(tmp_path / "m", scope="a/b") == [[13]]
    assert sorted(os.listdir(tmp_path / "m" / "variables")) == [
        "variables.data-00000-of-00001", "variables.index"]


def test_simple_save(tmp_path):
    x, y = build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sm.simple_save(sess, str(tmp_path / "m"), {"in": x}, {"out": y})
    assert run(tmp_path / "m") == [[13]]


def test_graphs_are_chosen_by_tags(tmp_path):
    builder = save(tmp_path / "m", tags=["serve", "gpu"])
    with pytest.raises(AssertionError, match="already been saved"):
        builder.add_meta_graph_and_variables(None, [])
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", [2, 1])
        y = tf.matmul(x, w)
        builder.add_meta_graph(["train"], {
            "serving_default": sm.predict_signature_def({"in": x},
                                                        {"out": y})})
    builder.save()
    assert run(tmp_path / "m", ["gpu", "serve"]) == [[13]]
    assert run(tmp_path / "m", ["train"]) == [[3]]
    with pytest.raises(RuntimeError, match="could not be found.*'train'"):
        run(tmp_path / "m", ["serve"])


def test_main_op_and_assets(tmp_path):
    (tmp_path / "words").write_text("one")
    local = tf.get_variable("local", initializer=5., trainable=False,
                            collections=[tf.GraphKeys.LOCAL_VARIABLES])
    save(tmp_path / "m", asset=tmp_path / "words",
         assets_collection=tf.GraphKeys.ASSET_FILEPATHS,
         main_op=tf.group(local.initializer, tf.assign(local, 6.))).save()
    (tmp_path / "words").unlink()
    assert (tmp_path / "m" / "assets" / "words").read_text() == "one"
    with tf.Graph().as_default(), tf.Session() as sess:
        model = sm.loader.load(sess, ["serve"], str(tmp_path / "m"))
        assert sess.run("local:0") in (5, 6)
        asset = tf.headrace.messages.AssetFileDef.FromString(
            model.collection_def["saved_model_assets"].any_list.value[0].value)
        assert (asset.filename, asset.tensor_info.name) == ("words", "path:0")


def test_main_op_initialises(tmp_path):
    build()
    with tf.Session() as sess:
        sess.run(sm.main_op.main_op())
        assert sess.run("w:0").tolist() == [[1], [2]]
    assert sm.main_op_with_restore("w/Assign").type == "NoOp"


def test_without_variables(tmp_path):
    x = tf.placeholder(tf.float32, [1, 2])
    with tf.Session() as sess:
        sm.simple_save(sess, str(tmp_path / "m"), {"in": x},
                       {"out": x * 2.})
    assert run(tmp_path / "m") == [[2, 2]]


@pytest.mark.parametrize("error, message, call", [
    (AssertionError, "isn't empty", lambda d: sm.Builder(str(d))),
    (AssertionError, "has not been saved yet",
     lambda d: sm.Builder(str(d / "n")).add_meta_graph(["a"])),
    (OSError, "SavedModel file does not exist", lambda d: run(d / "none")),
    (OSError, "Cannot parse file", lambda d: run(d)),
    (TypeError, "main_op needs to be an Operation",
     lambda d: save(d / "n", main_op=3)),
    *((TypeError, "Asset path tensor must be " + words,
       lambda d, value=value: save(d / "n", assets_collection=[value()]))
      for words, value in (
          ("a Tensor", lambda: 3),
          ("of dtype string", lambda: tf.constant(1)),
          ("a constant", lambda: tf.identity("a")))),
    (KeyError, "reserved for initialization",
     lambda d: sm.Builder(str(d / "n")).add_meta_graph_and_variables(
         None, [], {"__saved_model_init_op": None})),
    (AssertionError, "must have the name field",
     lambda d: sm.Builder(str(d / "n")).add_meta_graph_and_variables(
         None, [], {"x": sm.build_signature_def({"i": tf.TensorInfo()})})),
    (ValueError, "inputs cannot be None or empty",
     lambda d: sm.predict_signature_def({}, {})),
    (ValueError, "Regression examples must be a string Tensor", lambda d:
     sm.regression_signature_def(tf.constant(1.), tf.constant(1.))),
    (ValueError, "Regression output must be a float Tensor", lambda d:
     sm.regression_signature_def(tf.constant("a"), tf.constant(1))),
    (ValueError, "Classification classes must be a string Tensor", lambda d:
     sm.classification_signature_def(tf.constant("a"), tf.constant(1), None)),
    (ValueError, "Classification scores must be a float Tensor", lambda d:
     sm.classification_signature_def(tf.constant("a"), None, tf.constant(1))),
    (ValueError, "classes and scores cannot both", lambda d:
     sm.classification_signature_def(tf.constant("a"), None, None))])
def test_what_is_refused(tmp_path, error, message, call):
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(error, match=message):
        call(tmp_path)


def test_damaged_graphs_are_refused_by_name(tmp_path):
    """A bit is flipped: the file is refused, or it is another model. No error
    is a bare KeyError."""
    folder = tmp_path / "m"
    save(folder).save()
    path = folder / "saved_model.pb"
    data = path.read_bytes()

    def load():
        with tf.Graph().as_default(), tf.Session() as sess:
            sm.load(sess, ["serve"], str(folder))
    chance = random.Random(0)
    named = 0
    for _ in range(150):
        flipped = bytearray(data)
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            load()
        except (ValueError, OSError, RuntimeError, tf.OpError) as error:
            named += str(folder) in str(error)
    assert named > 50
    # What names nodes that are not there.
    for old, words in ((b"save/restore_all", "save/restore_alx"),
                       (b"w/Assign", "w/Assigx")):
        at = data.rindex(old) + len(old) - 1
        path.write_bytes(data[:at] + b"x" + data[at + 1:])
        with pytest.raises(ValueError, match="%s.*%s" % (folder, words)):
            load()


def test_signatures():
    text = tf.placeholder(tf.string, [None])
    number = tf.placeholder(tf.float32, [None, 3])
    good = [sm.predict_signature_def({"a": text}, {"b": number}),
            sm.regression_signature_def(text, number),
            sm.classification_signature_def(text, text, number)]
    assert all(map(sm.is_valid_signature, good))
    for other in (None, sm.build_signature_def(),
                  sm.build_signature_def(good[1].inputs, good[0].outputs,
                                         sm.REGRESS_METHOD_NAME)):
        assert not sm.is_valid_signature(other)
    info = good[0].outputs["b"]
    assert (info.name, info.dtype) == (number.name, 1)
    assert [d.size for d in info.tensor_shape.dim] == [-1, 3]
    assert sm.get_tensor_from_tensor_info(info) is number
    sparse = tf.sparse_placeholder(tf.int32, [2, 2])
    found = sm.get_tensor_from_tensor_info(sm.build_tensor_info(sparse))
    assert found.values is sparse.values and found.indices is sparse.indices
    with pytest.raises(ValueError, match="Invalid TensorInfo.encoding"):
        sm.get_tensor_from_tensor_info(tf.TensorInfo())


ORACLE = os.environ.get("HEADRACE_ORACLE")
oracle = pytest.mark.skipif(not ORACLE, reason="no HEADRACE_ORACLE")
PROGRAM = """
import sys
import numpy as np
try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf
tf.disable_eager_execution()
"""


def tensorflow(program, *arguments):
    done = subprocess.run([ORACLE, "-c", PROGRAM + program, *arguments],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@oracle
def test_tensorflow_loads_ours(tmp_path):
    (tmp_path / "words").write_text("one")
    save(tmp_path / "m", asset=tmp_path / "words",
         assets_collection=tf.GraphKeys.ASSET_FILEPATHS,
         main_op=tf.no_op()).save()
    assert tensorflow("""
with tf.Session() as sess:
    m = tf.saved_model.loader.load(sess, ["serve"], sys.argv[1])
    s = m.signature_def["serving_default"]
    print(sess.run(s.outputs["out"].name, {s.inputs["in"].name: [[1, 1]]}))
""", str(tmp_path / "m")) == "[[13.]]\n"


@oracle
def test_we_load_tensorflows(tmp_path):
    (tmp_path / "words").write_text("one")
    tensorflow("""
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", initializer=np.float32([[1], [2]]))
v = tf.get_variable("v", initializer=np.float32([10]), use_resource=True)
path = tf.constant(sys.argv[2], name="path")
tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
tf.add_to_collection("contents", tf.read_file(path))
y = tf.nn.relu(tf.matmul(x, w) + v)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.saved_model.simple_save(sess, sys.argv[1], {"in": x}, {"out": y})
""", str(tmp_path / "m"), str(tmp_path / "words"))
    assert run(tmp_path / "m") == run(tmp_path / "m", scope="s") == [[13]]


def test_predictor_of_a_saved_model(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="in")
        y = tf.matmul(x, tf.get_variable("w", initializer=[[1.], [2.]]), name="out")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": y})
    predictor = tf.contrib.predictor
    wanted = [[5.]]
    for more in ({}, {"signature_def_key": "serving_default"}, {"tags": "serve"},
                 {"input_names": {"x": "in:0"}, "output_names": {"y": "out:0"}}):
        predict = predictor.from_saved_model(path, **more)
        assert predict({"x": [[1., 2.]]})["y"].tolist() == wanted
        assert sorted(predict.fetch_tensors) == ["y"]
    with pytest.raises(ValueError, match="unexpected keys in input_dict.*'z'"):
        predict({"z": 1.})
    for more, error, words in (
            ({"signature_def_key": "other"}, ValueError, "serving_default"),
            ({"signature_def_key": "a", "input_names": {}, "output_names": {}},
             ValueError, "at most one"),
            ({"input_names": {}}, ValueError, "both"),
            ({"tags": "train"}, RuntimeError, "train")):
        with pytest.raises(error, match=words):
            predictor.from_saved_model(path, **more)
    with pytest.raises(OSError):
        predictor.from_saved_model(str(tmp_path / "none"))
