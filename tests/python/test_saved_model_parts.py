"""tensorflow.python.saved_model by its inner modules: loading in parts, the
builder without collections, signatures of operations, and modes."""
import collections

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import saved_models as parts
from headrace._src.saved_model import signatures


@pytest.fixture(params=[False, True], ids=["collections", "signatures"])
def folder(request, tmp_path):
    """A model with x = 5 and y = 11, which is 7 after loading, and a file."""
    asset = tmp_path / "words.txt"
    asset.write_text("a")
    path = str(tmp_path / "model")
    with tf.Session(graph=tf.Graph()) as session:
        x, y = tf.Variable(5, name="x"), tf.Variable(11, name="y")
        file = tf.constant(str(asset), name="asset")
        session.run(tf.global_variables_initializer())
        after = tf.group(tf.assign(y, 7))
        if request.param:
            builder = parts.SavedModelBuilder(path)
            builder.add_meta_graph_and_variables(
                session, ["tag"], init_op=after, assets_list=[file],
                train_op=tf.assign_add(x, 1).op)
        else:
            builder = tf.saved_model.Builder(path)
            tf.add_to_collection("files", file)
            builder.add_meta_graph_and_variables(
                session, ["tag"], main_op=after, assets_collection="files")
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(session, ["tag"])
        builder.save()
    return path


def test_a_model_is_loaded_in_parts(folder):
    loader = parts.SavedModelLoader(folder)
    assert loader.export_dir == folder
    assert loader.variables_path.endswith("model/variables/variables")
    meta_graph = loader.get_meta_graph_def_from_tags(["tag"])
    assert parts.get_asset_tensors(folder, meta_graph, "s") == {
        "s/asset:0": (folder + "/assets/words.txt").encode()}
    with tf.Session(graph=tf.Graph()) as session:
        saver, elements = loader.load_graph(
            session.graph, ["tag"], import_scope="s", return_elements=["y:0"])
        names = ["s/x:0", "s/y:0"]
        assert elements[0] is session.graph.get_tensor_by_name(names[1])
        with pytest.raises(ValueError, match="a saver is required"):
            loader.restore_variables(session, None)
        loader.restore_variables(session, saver)
        assert session.run(names) == [5, 11]
        loader.run_init_ops(session, ["tag"], "s")
        assert session.run(names) == [5, 7]
    with tf.Session(graph=tf.Graph()) as session:
        assert loader.load(session, ["tag"]) == meta_graph
        assert session.run(["x:0", "y:0"]) == [5, 7]
        with session.graph.as_default():
            train_op = parts.get_train_op(meta_graph)
        if meta_graph.signature_def:
            assert train_op.name == "AssignAdd"
            assert [a.filename for a in meta_graph.asset_file_def] == [
                "words.txt"]
            assert "saved_model_main_op" not in meta_graph.collection_def
        else:
            assert train_op is None
    with pytest.raises(RuntimeError, match="could not be found"):
        loader.get_meta_graph_def_from_tags(["other"])


@pytest.mark.parametrize("make", [tf.saved_model.Builder,
                                  parts.SavedModelBuilder])
@pytest.mark.parametrize("key", ["__saved_model_init_op",
                                 "__saved_model_train_op"])
def test_reserved_signatures(make, key, tmp_path):
    with tf.Session(graph=tf.Graph()) as session:
        with pytest.raises(KeyError, match="is reserved for"):
            make(str(tmp_path)).add_meta_graph_and_variables(
                session, ["tag"], {key: signatures.build_signature_def()})


def test_a_graph_before_its_variables(tmp_path):
    with tf.Graph().as_default(), pytest.raises(AssertionError,
                                                match="has not been saved"):
        parts.SavedModelBuilder(str(tmp_path)).add_meta_graph(["tag"])


def test_signatures_of_operations():
    with tf.Graph().as_default():
        op = tf.no_op(name="op")
        signature = parts.op_signature_def(op, "key")
        assert signature.outputs["key"].dtype == 0
        assert parts.load_op_from_signature_def(signature, "key") is op
        with pytest.raises(tf.errors.NotFoundError, match="The key could not"):
            parts.load_op_from_signature_def(signature, "key", "scope")
        with pytest.raises(KeyError):
            parts.get_element_from_tensor_info(
                parts.build_tensor_info_from_op(op), import_scope="scope")


@pytest.mark.parametrize("make, method", [
    (parts.supervised_train_signature_def, "tensorflow/supervised/training"),
    (parts.supervised_eval_signature_def, "tensorflow/supervised/eval")])
def test_signatures_of_supervision(make, method):
    with tf.Graph().as_default():
        x = tf.constant(1.)
        signature = make({"x": x}, {"loss": x}, {"p": x}, {"m/value": x})
        assert signature.method_name == method
        assert sorted(signature.outputs) == ["loss", "m/value", "p"]
        for nothing in ({}, None):
            with pytest.raises(ValueError, match="cannot be None or empty"):
                make(nothing, {"loss": x})


def test_which_signatures_are_valid():
    with tf.Graph().as_default():
        x, text = tf.constant(1.), tf.constant("a")
        made = [tf.saved_model.predict_signature_def({"a": x}, {"b": x}),
                tf.saved_model.regression_signature_def(text, x),
                tf.saved_model.classification_signature_def(text, None, x)]
        tests = [parts.is_valid_predict_signature,
                 parts.is_valid_regression_signature,
                 parts.is_valid_classification_signature]
        np.testing.assert_array_equal(
            [[test(signature) for test in tests] for signature in made],
            np.eye(3, dtype=bool))


def test_modes():
    modes = parts.ModeKeyMap(train=1, predict=3, eval=4)
    assert [modes[k] for k in ("train", "infer", "test", "eval")] == [1, 3, 4, 4]
    assert list(modes) == ["train", "predict", "eval"] and len(modes) == 3
    with pytest.raises(ValueError, match="Invalid mode key"):
        modes["serve"]
    with pytest.raises(ValueError, match="Multiple"):
        parts.ModeKeyMap(predict=1, infer=2)


def test_folders_whose_names_are_bytes(folder, tmp_path):
    name = folder.encode()
    assert tf.saved_model.maybe_saved_model_directory(name)
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["tag"], name)
        assert session.run(["x:0", "y:0"]) == [5, 7]
    run = tf.contrib.predictor.from_saved_model(
        name, input_names={"x": "x:0"}, output_names={"y": "y:0"}, tags="tag")
    assert run({"x": 1}) == {"y": 7}
    nowhere = str(tmp_path / "none").encode()
    assert not tf.saved_model.contains_saved_model(nowhere)
    with pytest.raises(OSError, match="SavedModel file does not exist at: .*none"):
        tf.saved_model.load(tf.Session(), ["tag"], nowhere)


@pytest.mark.parametrize("value", [
    [1.0, 2.0], (1, "b"), {"a": None}, tf.TensorShape([1, 2]), tf.int64, True,
    collections.namedtuple("N", "x")(1), tf.TensorSpec([1], tf.int32, "h"),
    tf.SparseTensorSpec([1, None], tf.int32), tf.IndexedSlicesSpec([5, 3]),
    tf.RaggedTensorSpec([2, None], tf.int64),
    [tf.data.DatasetSpec(tf.TensorSpec([1], tf.int32))],
    tf.OptionalSpec((tf.TensorSpec([], tf.int32),))])
def test_structures_become_messages_and_come_back(value):
    coder = parts.StructureCoder()
    assert coder.can_encode(value)
    assert coder.decode_proto(coder.encode_structure(value)) == value


def test_what_no_message_holds():
    coder = parts.StructureCoder()
    for value in (object(), b"x", 1j, [1j]):
        assert not coder.can_encode(value)
        with pytest.raises(parts.NotEncodableError, match="No encoder for"):
            coder.encode_structure(value)
    with pytest.raises(parts.NotEncodableError):
        coder.decode_proto(type(coder.encode_structure(1))())
