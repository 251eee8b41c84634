"""tensorflow.python.framework.op_def_library: nodes from keyword arguments, with
the errors of TensorFlow 1.15.5; devices of imported nodes."""
import re

import pytest

import headrace as tf
from headrace._src.compat import node_tools, op_library, op_registry

apply_op = op_library.all_ops.apply_op


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_nodes_are_made_of_keywords():
    y = apply_op("Add", name="n", x=[1, 2], y=3)
    assert (y.name, y.dtype) == ("n:0", tf.int32)
    assert [t.name for t in y.op.inputs] == ["n/x:0", "n/y:0"]
    assert apply_op("NoOp").type == "NoOp"
    parts = apply_op("Split", split_dim=0, value=[1., 2.], num_split=2)
    assert [p.name for p in parts] == ["Split:0", "Split:1"]
    found = apply_op("Unique", x=[1, 1], out_idx=None)
    assert isinstance(found, tuple) and found[1].dtype is tf.int32
    packed = apply_op("Pack", values=[1, tf.constant(2)], axis=0)
    assert packed.op.get_attr("N") == 2
    with tf.Session() as session:
        assert session.run([y, packed])[0].tolist() == [4, 5]


REFUSED = {
    "type": (TypeError, lambda: apply_op("MatMul", a=[[1.]], b=[["x"]],
                                         transpose_a=None, transpose_b=None),
             "Expected float32 passed to parameter 'b' of op 'MatMul', got "
             "[['x']] of type 'list' instead"),
    "tensor": (TypeError, lambda: apply_op("Add", x=tf.constant(1),
                                           y=tf.constant(1.)),
               "Input 'y' of 'Add' Op has type float32 that does not match type "
               "int32 of argument 'x'."),
    "allowed": (TypeError, lambda: apply_op("Floor", x=1),
                "Value passed to parameter 'x' has DataType int32 not in list "
                "of allowed values: bfloat16, float16, float32, float64"),
    "input": (TypeError, lambda: apply_op("Add", x=1), "No argument for input y"),
    "attr": (TypeError, lambda: apply_op("Cast", x=1), "No argument for attr"),
    "inferred": (TypeError, lambda: apply_op("Neg", x=1, T=tf.int32),
                 "Should not specify value for inferred attr 'T'."),
    "keyword": (TypeError, lambda: apply_op("Neg", x=1, other=2),
                "apply_op() got unexpected keyword arguments: other"),
    "unknown": (RuntimeError, lambda: apply_op("NoSuchOp"),
                "Unrecognized Op name NoSuchOp"),
    "list": (TypeError, lambda: apply_op("AddN", inputs=1),
             "Expected list for 'inputs' argument to 'AddN' Op, not 1."),
    "minimum": (ValueError, lambda: apply_op("AddN", inputs=[]),
                "List argument 'inputs' to 'AddN' Op with length 0 shorter than "
                "minimum length 1."),
    "mixed": (TypeError, lambda: apply_op("AddN", inputs=[
        tf.constant(1), tf.constant(2.)]),
        "Tensors in list passed to 'inputs' of 'AddN' Op have types [int32, "
        "float32] that don't all match."),
    "int": (TypeError, lambda: apply_op("Pack", values=[1], axis="x"),
            "Expected int for argument 'axis' not 'x'."),
    "bool": (TypeError, lambda: apply_op(
        "Sum", input=[1], reduction_indices=[0], keep_dims=0),
        "Expected bool for argument 'keep_dims' not 0."),
    "enum": (ValueError, lambda: apply_op(
        "AvgPool", value=tf.zeros([1, 1, 1, 1]), ksize=[1] * 4,
        strides=[1] * 4, padding="MAYBE", data_format=None),
        "Attr 'padding' of 'AvgPool' Op passed string 'MAYBE' not in: "
        '"SAME", "VALID".'),
    "short": (ValueError, lambda: apply_op(
        "MaxPool", input=tf.zeros([1, 1, 1, 1]), ksize=[1], strides=[1] * 4,
        padding="SAME", data_format=None),
        "Attr 'ksize' of 'MaxPool' Op passed list of length 1 less than "
        "minimum 4."),
    "ref": (TypeError, lambda: apply_op(
        "Assign", ref=1, value=1, validate_shape=None, use_locking=None),
        "'Assign' Op requires that input 'ref' be a mutable tensor (e.g.: a "
        "tf.Variable)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_an_op(name):
    kind, call, text = REFUSED[name]
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_libraries_know_what_was_added():
    library = op_library.OpDefLibrary()
    neg = op_registry.get_registered_ops()["Neg"]
    with pytest.raises(RuntimeError, match="Unrecognized Op name Neg"):
        library.apply_op("Neg", x=1)
    library.add_op(neg)
    assert library.apply_op("Neg", x=1).op.type == "Neg"
    with pytest.raises(RuntimeError, match="Op name Neg registered twice"):
        library.add_op(neg)
    with pytest.raises(TypeError, match="not an op_def_pb2.OpDef"):
        library.add_op("Neg")
    assert "Neg" in op_registry.get_registered_ops()
    assert "NoSuchOp" not in op_registry.get_registered_ops()


# Imported nodes.

def _graph_def(*nodes):
    graph_def = tf.GraphDef()
    for name, device, beside in nodes:
        node = graph_def.node.add(name=name, op="NoOp", device=device)
        if beside:
            node.attr["_class"].list.s.append(b"loc:@" + beside)
    return graph_def


@pytest.mark.parametrize("device,expected", [
    ("/job:worker", ["/job:worker", "/job:worker/device:CPU:1"]),
    (node_tools.merge_device("/device:GPU:0"), ["/device:GPU:0",
                                               "/device:CPU:1"]),
    (lambda op: "/device:GPU:3", ["/device:GPU:3", "/device:GPU:3"]),
    (None, ["", "/device:CPU:1"])])
def test_imported_nodes_are_placed_by_the_blocks_around(device, expected):
    with tf.device("/job:ps") if device is None else tf.device(device):
        with tf.device(None) if device is None else tf.device(""):
            found = tf.import_graph_def(
                _graph_def(("a", "", None), ("b", "/device:CPU:1", None)),
                return_elements=["a", b"b"], name="")
    assert [op.device for op in found] == expected


def test_imported_nodes_stand_beside_their_partners():
    with tf.device(lambda op: "/device:CPU:1" if op.name == "a" else ""):
        found = tf.import_graph_def(
            _graph_def(("a", "", b"a"), ("b", "", b"a")),
            return_elements=["a", "b"], name="")
    assert [op.device for op in found] == ["/device:CPU:1"] * 2


@pytest.mark.parametrize("arguments,text", [
    ({"input_map": [1]}, "input_map must be a dictionary"),
    ({"return_elements": "a"}, "return_elements must be a list of strings"),
    ({"return_elements": [7]}, "return_elements must be a list of strings")])
def test_what_imports_refuse(arguments, text):
    with pytest.raises(TypeError, match=text):
        tf.import_graph_def(_graph_def(("a", "", None)), **arguments)
