"""GraphDefs with large constants: read in place, looked into when asked."""
import gc
import sys

import numpy as np
import pytest

import headrace as tf

# Above the size from which constants stay in the GraphDef's bytes.
K, N = 2048, 2056


@pytest.fixture(scope="module", params=range(4))
def model(request):
    """A GraphDef's bytes, and what it computes; a name before the constant moves
    it to other addresses."""
    w = np.random.RandomState(3).randn(K, N).astype(np.float32)
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, K], name="x")
        tf.no_op(name="n" * (1 + request.param))
        c = tf.constant(w, name="w")
        tf.matmul(x, c, name="y")
        tf.matmul(x, tf.reshape(c, [N, K]), transpose_b=True, name="z")
        tf.reduce_sum(c, name="sum")
    return graph.as_graph_def().SerializeToString(), w


def check(graph, w):
    with tf.Session(graph=graph) as session:
        for rows in (1, 5, 33):
            x = np.random.RandomState(rows).randn(rows, K).astype(np.float32)
            y, z = session.run(["y:0", "z:0"], {"x:0": x})
            np.testing.assert_allclose(y, x @ w, rtol=1e-3, atol=1e-2)
            np.testing.assert_allclose(z, x @ w.reshape(N, K).T, rtol=1e-3,
                                       atol=1e-2)
        total, got = session.run(["sum:0", "w:0"])
        np.testing.assert_allclose(total, w.sum(), rtol=1e-2)
        np.testing.assert_array_equal(got, w)


@pytest.mark.parametrize("how", ["bytes", "file", "FromString",
                                 "ParseFromString", "looked into"])
def test_import(model, how, tmp_path):
    data, w = model
    data = bytes(bytearray(data))  # one that only the graph will keep
    if how == "bytes":
        graph_def = data
    elif how == "file":
        graph_def = tmp_path / "graph.pb"
        graph_def.write_bytes(data)
    elif how == "ParseFromString":
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(data)
    else:
        graph_def = tf.GraphDef.FromString(data)
    if how == "looked into":
        assert len(graph_def.node) == 9
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
        tf.import_graph_def(graph_def, name="again")
    del data, graph_def
    gc.collect()
    check(graph, w)


def test_message(model):
    data, w = model
    graph_def = tf.GraphDef.FromString(data)
    assert graph_def.SerializeToString() == data
    assert [n.name for n in graph_def.node if n.op == "Const"][0] == "w"
    graph_def.node[0].name = "renamed"
    other = tf.GraphDef.FromString(graph_def.SerializeToString())
    assert other.node[0].name == "renamed"
    assert other != tf.GraphDef.FromString(data)
    graph_def.ParseFromString(data)
    assert graph_def == tf.GraphDef.FromString(data)
    copy = tf.GraphDef()
    copy.CopyFrom(tf.GraphDef.FromString(data))
    assert copy.node[0].name == "x"
    merged = tf.GraphDef.FromString(data)
    merged.MergeFromString(data)
    assert len(merged.node) == 2 * len(copy.node)


def test_damaged(model):
    data, _ = model
    for bad in (data[:-1], data[:1000000], b"\xff" + data):
        with pytest.raises(tf.errors.DataLossError):
            tf.GraphDef.FromString(bad)
        graph = tf.Graph()
        with graph.as_default(), pytest.raises(ValueError):
            tf.import_graph_def(bad)
        assert not graph.get_operations()


@pytest.mark.parametrize("words", [100, 4200])
def test_all_stay_in_the_bytes_or_none(words):
    """Weights of 1 to 2 MB, beside a table that is small or large."""
    random = np.random.RandomState(5)
    table = random.randn(words, 1024).astype(np.float32)
    w = random.randn(1024, 400).astype(np.float32)
    image_filter = random.randn(1, 1, 1024, 300).astype(np.float32)
    graph = tf.Graph()
    with graph.as_default():
        ids = tf.placeholder(tf.int32, [None], name="ids")
        rows = tf.gather(tf.constant(table), ids)
        tf.matmul(rows, tf.constant(w), name="product")
        tf.nn.conv2d(tf.reshape(rows, [-1, 1, 1, 1024]),
                     tf.constant(image_filter), [1, 1, 1, 1], "SAME",
                     name="convolution")
        tf.gather_nd(tf.constant(table), ids[:, None], name="again")
    data = graph.as_graph_def().SerializeToString()
    graph = tf.Graph()
    with graph.as_default():
        before = sys.getrefcount(data)
        tf.import_graph_def(tf.GraphDef.FromString(data), name="")
        gc.collect()
        assert (sys.getrefcount(data) > before) == (words == 4200)
    with tf.Session(graph=graph) as session:
        for n in (1, 20, 70):
            at = random.randint(words, size=n)
            product, convolution, again = session.run(
                ["product:0", "convolution:0", "again:0"], {"ids:0": at})
            np.testing.assert_allclose(product, table[at] @ w, rtol=1e-3,
                                       atol=1e-2)
            np.testing.assert_allclose(convolution[:, 0, 0],
                                       table[at] @ image_filter[0, 0],
                                       rtol=1e-3, atol=1e-2)
            np.testing.assert_array_equal(again, table[at])


def test_import_of_files(tmp_path):
    text = tmp_path / "graph.pbtxt"
    text.write_text('node { name: "n" op: "NoOp" }')
    cut = tmp_path / "cut.pb"
    cut.write_bytes(b"\x0a\x7f")
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(text, name="")
        assert [op.name for op in graph.get_operations()] == ["n"]
        with pytest.raises(tf.errors.NotFoundError, match="missing.pb"):
            tf.import_graph_def(tmp_path / "missing.pb")
        with pytest.raises(ValueError, match="cut.pb"):
            tf.import_graph_def(cut)
        with pytest.raises(TypeError):
            tf.import_graph_def(str(text))
