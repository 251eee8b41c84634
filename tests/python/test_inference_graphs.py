"""tensorflow.python.tools.optimize_for_inference_lib, and the texts that
saved_model_cli takes."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import inference_graphs, saved_model_cli


def run(graph_def, name):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.import_graph_def(
            graph_def, name="", return_elements=[name])[0])


def ops_of(graph_def):
    return {node.op for node in graph_def.node}


@pytest.mark.parametrize("depthwise", [False, True])
def test_batch_norms_go_into_convolutions(depthwise):
    conv = tf.nn.depthwise_conv2d_native if depthwise else tf.nn.conv2d
    x = tf.constant(np.arange(24.).reshape(1, 3, 4, 2), tf.float32)
    w = tf.constant(np.arange(16.).reshape(1, 2, 2, 4) / 10, tf.float32)
    y = conv(x, w, [1, 1, 1, 1], "SAME")
    channels = 8 if depthwise else 4
    scale, offset, mean, variance = (
        tf.constant(np.arange(channels) + n + 1., tf.float32) for n in range(4))
    out = tf.raw_ops.FusedBatchNorm(
        x=y, scale=scale, offset=offset, mean=mean, variance=variance,
        is_training=False, epsilon=1e-3, name="out")[0]
    with tf.Session() as session:
        wanted = session.run(out)
    graph_def = tf.get_default_graph().as_graph_def()
    folded = inference_graphs.fold_batch_norms(graph_def)
    assert "FusedBatchNorm" not in ops_of(folded)
    assert "BiasAdd" in ops_of(folded)
    np.testing.assert_allclose(run(folded, "out:0"), wanted, rtol=1e-4)


def test_batch_norms_of_other_values_stay(monkeypatch):
    words = []
    monkeypatch.setattr(inference_graphs.tf_logging, "warning", words.append)
    x = tf.ones([1, 2, 2, 1])
    given = tf.placeholder(tf.float32, [1])
    for before, mean in ((x, tf.ones([1])),
                         (tf.nn.conv2d(x, tf.ones([1] * 4), [1] * 4, "SAME"), given)):
        tf.raw_ops.FusedBatchNorm(
            x=before, scale=tf.ones([1]), offset=tf.ones([1]), mean=mean,
            variance=tf.ones([1]), is_training=False)
    graph_def = tf.get_default_graph().as_graph_def()
    assert inference_graphs.fold_batch_norms(graph_def).node == graph_def.node
    assert "Didn't find expected Conv2D" in words[0]
    assert "Didn't find expected mean Constant" in words[1]


def test_resizes_and_pads_go_into_convolutions():
    x = tf.constant(np.arange(24.).reshape(1, 3, 4, 2), tf.float32)
    w = tf.constant(np.arange(8.).reshape(1, 1, 2, 4), tf.float32)
    large = tf.image.resize_bilinear(x, [6, 8])
    sides = [[0, 0], [1, 1], [1, 1], [0, 0]]
    names = ["both", "resized", "padded"]
    for name, value in zip(names, (
            tf.pad(large, sides, "REFLECT"), large, tf.pad(x, sides,
                                                           "SYMMETRIC"))):
        tf.nn.conv2d(value, w, [1, 1, 1, 1], "VALID", name=name)
    with tf.Session() as session:
        wanted = session.run([n + ":0" for n in names])
    fused = inference_graphs.fuse_resize_and_conv(
        tf.get_default_graph().as_graph_def(), names)
    assert ops_of(fused) == {"Const", "FusedResizeAndPadConv2D",
                             "FusedPadConv2D"}
    for name, value in zip(names, wanted):
        np.testing.assert_allclose(run(fused, name + ":0"), value, rtol=1e-5)


def test_graphs_are_checked():
    graph_def = tf.GraphDef()
    graph_def.node.add(name="a", op="NoOp", input=["b:1"])
    with pytest.raises(ValueError, match="Input for a not found: b:1"):
        inference_graphs.ensure_graph_is_valid(graph_def)
    graph_def.node.add(name="b", op="NoOp")
    inference_graphs.ensure_graph_is_valid(graph_def)
    nodes = {"b": graph_def.node[1]}
    assert inference_graphs.node_from_map(nodes, "^b").name == "b"
    for call, text in (
            (lambda: inference_graphs.node_from_map(nodes, "c"), "No node named"),
            (lambda: inference_graphs.values_from_const(nodes["b"]),
             "should be a Const")):
        with pytest.raises(ValueError, match=text):
            call()


FILES = saved_model_cli.preprocess_inputs_arg_string
EXPRESSIONS = saved_model_cli.preprocess_input_exprs_arg_string
EXAMPLES = saved_model_cli.preprocess_input_examples_arg_string


@pytest.mark.parametrize("parse,text,expected", [
    (FILES, "a=/p/f.txt[x];b=g;", {"a": ("/p/f.txt", "x"), "b": ("g", None)}),
    (FILES, "a:0=c:\\d.npz[v:0]", {"a:0": ("c:\\d.npz", "v:0")}),
    (EXPRESSIONS, "a=[1, 'x'];b=np.int32(3)", {"a": [1, "x"], "b": 3}),
    (EXAMPLES, "a=[]", {"a": []})])
def test_inputs_are_parsed(parse, text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize("parse,text,kind,words", [
    (FILES, "a", RuntimeError, "--inputs \"a\" format is incorrect"),
    (FILES, "a=b[]", RuntimeError, "format is incorrect"),
    (EXPRESSIONS, "a:1", RuntimeError, "--input_exprs \"a:1\" format"),
    (EXPRESSIONS, "a=b", NameError, "b"),
    (EXAMPLES, "a={'x': 1}", ValueError, "must be a list of dictionaries"),
    (EXAMPLES, "a=[{'x': 1}]", ValueError, "feature value must be a list"),
    (EXAMPLES, "a=[{'x': [[1]]}]", ValueError, "is not supported for tf.train")])
def test_inputs_that_are_refused(parse, text, kind, words):
    with pytest.raises(kind, match=words):
        parse(text)


def test_the_last_of_several_values_holds(tmp_path):
    path = str(tmp_path / "x.npy")
    np.save(path, [1])
    with pytest.warns(UserWarning, match="specified in multiple options"):
        found = saved_model_cli.load_inputs_from_input_arg_string(
            "a=%s" % path, "a=[2]", "")
    assert found == {"a": [2]}
    with pytest.warns(UserWarning, match="Name key \"q\" ignored"):
        saved_model_cli.load_inputs_from_input_arg_string(
            "a=%s[q]" % path, "", "")
