"""Meta graphs: graphs with their collections, in files and under scopes."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import test_util
from headrace._src.training import meta_graph


def build():
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [4, 2], initializer=tf.ones_initializer(),
                            partitioner=tf.fixed_size_partitioner(2))
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.matmul(x, w, name="y")
    v = tf.get_variable("v", [2], use_resource=True,
                        initializer=tf.zeros_initializer(), trainable=False)
    with tf.device("/cpu:0"):
        z = tf.add(y, v, name="z")
    tf.summary.scalar("loss", tf.reduce_sum(z))
    tf.train.string_input_producer(["a", "b"])
    for key, value in [("tensor", z), ("op", z.op), ("int", 3), ("float", 0.5),
                       ("string", "abc"), ("bool", True), (("a", "key"), 1)]:
        tf.add_to_collection(key, value)
    return w, v, z


def names(collection):
    return [getattr(item, "name", item)
            for item in tf.get_collection(collection)]


def test_what_is_exported(tmp_path):
    build()
    m = tf.train.export_meta_graph()
    assert sorted(m.collection_def) == [
        "bool", "float", "int", "op", "queue_runners", "string", "summaries",
        "tensor", "trainable_variables", "variables"]
    kinds = {key: value.WhichOneof("kind")
             for key, value in m.collection_def.items()}
    assert kinds["tensor"] == kinds["op"] == kinds["summaries"] == "node_list"
    assert kinds["variables"] == kinds["string"] == "bytes_list"
    assert kinds["int"] == kinds["bool"] == "int64_list"
    assert kinds["float"] == "float_list"
    assert m.collection_def["op"].node_list.value == ["z"]
    assert len(m.collection_def["variables"].bytes_list.value) == 3
    ops = [op.name for op in m.meta_info_def.stripped_op_list.op]
    assert ops == sorted({node.op for node in m.graph_def.node})
    assert all("_output_shapes" in node.attr for node in m.graph_def.node
               if node.name == "z")
    assert not m.HasField("saver_def")
    only = tf.train.export_meta_graph(collection_list=["int"])
    assert sorted(only.collection_def) == ["int"]


def test_a_collection_of_something_else_is_left_out():
    tf.add_to_collection("objects", object())
    tf.add_to_collection("mixed", tf.no_op())
    tf.add_to_collection("mixed", 3)
    tf.add_to_collection("list", 3)
    assert sorted(tf.train.export_meta_graph().collection_def) == ["list"]


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("scope", [None, "in/side"])
def test_there_and_back(tmp_path, as_text, scope):
    build()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    saver = tf.get_collection(tf.GraphKeys.SAVERS)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
    m = saver.export_meta_graph(str(tmp_path / "g"), as_text=as_text)
    prefix = scope + "/" if scope else ""
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(str(tmp_path / "g"),
                                           import_scope=scope)
        assert saver.saver_def.restore_op_name == prefix + "save/restore_all"
        assert names("variables") == [
            prefix + n for n in ("net/w/part_0:0", "net/w/part_1:0", "v:0")]
        assert names("trainable_variables") == names("variables")[:2]
        # One variable in two collections is one object.
        assert (tf.global_variables()[0] is tf.trainable_variables()[0])
        assert names("tensor") == [prefix + "z:0"]
        assert names("op") == [prefix + "z"]
        assert names("summaries") == [
            prefix + n for n in ("loss:0",
                                 "input_producer/fraction_of_32_full:0")]
        assert names("int") + names("float") + names("string") == [
            3, 0.5, b"abc"]
        assert names("queue_runners") == [prefix + "input_producer"]
        info = tf.global_variables()[1]._get_save_slice_info()
        assert (info.full_name, info.var_offset) == (prefix + "net/w", [2, 0])
        with tf.Session() as sess:
            saver.restore(sess, path)
            assert sess.run(prefix + "z:0", {
                prefix + "net/x:0": np.ones([1, 4])}).tolist() == [[4, 4]]
            loaded = tf.get_collection(tf.GraphKeys.SAVERS)[0]
            loaded.save(sess, str(tmp_path / "again"))
        if not scope:
            again = saver.export_meta_graph()
            assert dict(again.collection_def) == dict(m.collection_def)
            assert again.saver_def == m.saver_def
            assert {n.name: n for n in again.graph_def.node} == {
                n.name: n for n in m.graph_def.node}


def test_queue_runners_run_after_an_import():
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(
        queue, [queue.enqueue(7, name="put")] * 2))
    queue.dequeue(name="get")
    m = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(m, import_scope="i") is None
        runner, = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert [op.name for op in runner.enqueue_ops] == ["i/put"] * 2
        assert runner.queue_closed_exception_types == (
            tf.errors.OutOfRangeError,)
        assert runner.to_proto("i") == tf.train.QueueRunner.to_proto(runner,
                                                                     "i/")
        assert runner.to_proto("other") is None
        with tf.Session() as sess:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coordinator)
            assert sess.run("i/get:0") == 7
            coordinator.request_stop()
            coordinator.join(threads)
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.train.QueueRunner(
            queue=queue, queue_runner_def=tf.headrace.messages.QueueRunnerDef())


def test_export_scope():
    with tf.variable_scope("outer"):
        c = tf.constant(2., name="c")
    build()
    tf.multiply(c, c, name="net/square")
    m = tf.train.export_meta_graph(export_scope="net")
    nodes = {node.name: node for node in m.graph_def.node}
    assert {"w/part_0", "w/part_0/Assign", "x", "y", "square"} <= set(nodes)
    assert not any(name.startswith(("net", "outer", "z")) for name in nodes)
    assert nodes["square"].input == ["$unbound_inputs_outer/c"] * 2
    assert m.collection_def["unbound_inputs"].bytes_list.value == [
        b"$unbound_inputs_outer/c"]
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Graph contains unbound inputs: "
                           r"\$unbound_inputs_outer/c. Must provide"):
            tf.train.import_meta_graph(m)
        three = tf.constant(3.)
        tf.train.import_meta_graph(m, import_scope="n", input_map={
            "$unbound_inputs_outer/c": three})
        assert names("variables") == ["n/w/part_0:0", "n/w/part_1:0"]
        with tf.Session() as sess:
            assert sess.run("n/square:0") == 9


def test_input_map():
    build()
    m = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(m, input_map={
            "net/x:0": tf.ones([5, 4], name="five")})
        y = tf.get_default_graph().get_operation_by_name("net/y")
        assert y.inputs[0].name == "five:0"


def test_clear_devices():
    build()
    m = tf.train.export_meta_graph()
    with_devices = [n.name for n in m.graph_def.node if n.device]
    assert with_devices == ["z"]
    cleared = tf.train.export_meta_graph(clear_devices=True)
    assert not any(n.device for n in cleared.graph_def.node)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(m, clear_devices=True)
        assert graph.get_operation_by_name("z").device == ""
    assert [n.name for n in m.graph_def.node if n.device] == with_devices


def test_clear_extraneous_savers():
    build()
    savers = [tf.train.Saver(), tf.train.Saver()]
    for saver in savers:
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    m = savers[1].export_meta_graph(clear_extraneous_savers=True)
    scopes = {n.name.partition("/")[0] for n in m.graph_def.node}
    assert "save_1" in scopes and "save" not in scopes
    assert "savers" not in m.collection_def
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(m)
        assert saver.saver_def.restore_op_name == "save_1/restore_all"


def test_default_attrs():
    build()
    m = tf.train.export_meta_graph(strip_default_attrs=True)
    plain = tf.train.export_meta_graph()
    assert m.meta_info_def.stripped_default_attrs
    assert not plain.meta_info_def.stripped_default_attrs
    attrs = [{n.name: sorted(n.attr) for n in g.graph_def.node}["net/y"]
             for g in (m, plain)]
    assert attrs == [["T", "_output_shapes"],
                     ["T", "_output_shapes", "transpose_a", "transpose_b"]]
    with tf.Graph().as_default():
        tf.train.import_meta_graph(m)
        again = {n.name: n for n
                 in tf.train.export_meta_graph().graph_def.node}
        assert all(again[n.name] == n for n in plain.graph_def.node)


@pytest.mark.parametrize("content, error", [
    (None, "File .* does not exist"), (b"rubbish {", "Cannot parse file"),
    (b"\xff\xff\xff", "Cannot parse file .*its 3 bytes are no MetaGraphDef")])
def test_damaged_files(tmp_path, content, error):
    if content is not None:
        (tmp_path / "m.meta").write_bytes(content)
    with pytest.raises(OSError, match=error):
        tf.train.import_meta_graph(str(tmp_path / "m.meta"))


def test_what_is_refused():
    with pytest.raises(TypeError, match="MetaGraphDef or the name of a file"):
        tf.train.import_meta_graph(3)
    with pytest.raises(TypeError, match="saver_def must be of type SaverDef"):
        tf.train.export_meta_graph(saver_def=3)
    with pytest.raises(TypeError, match="graph must be of type Graph"):
        tf.train.export_meta_graph(graph=3)
    with pytest.raises(NotImplementedError, match="save_debug_info"):
        tf.train.export_meta_graph(save_debug_info=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'fo'"):
        tf.train.export_meta_graph(fo=1)
    graph = tf.get_default_graph()
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.train.import_meta_graph(tf.MetaGraphDef())


def test_a_graph_without_variables_has_no_saver():
    assert tf.train.import_meta_graph(tf.MetaGraphDef()) is None
    tf.get_variable("v", [2])
    assert tf.train.import_meta_graph(tf.MetaGraphDef()) is not None


def test_a_loop_is_imported_into_a_loop_of_the_same_name():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [1], name="x")
        tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x * 2.0), [0, x])
        part = tf.train.export_meta_graph()

    def body(i, x):
        tf.train.import_meta_graph(part, import_scope="part",
                                   input_map={"x:0": x})
        graph = tf.get_default_graph()
        y = graph.get_tensor_by_name("while/part/while/Exit_1:0")
        enter = graph.get_operation_by_name("while/part/while/Enter")
        assert enter.get_attr("frame_name") == (
            b"while/part/while/while_context")
        return i + 1, tf.reshape(y, [1])

    with tf.Graph().as_default(), tf.Session() as session:
        out = tf.while_loop(lambda i, x: i < 3, body, [0, tf.ones([1])])[1]
        assert session.run(out).tolist() == [64]


def test_messages_of_the_package_protobuf_are_collected():
    any_pb2 = pytest.importorskip("google.protobuf.any_pb2")
    message = any_pb2.Any(type_url="a/b", value=b"c")
    tf.add_to_collection("any", message)
    found = tf.train.export_meta_graph().collection_def["any"].any_list.value
    assert [(m.type_url, m.value) for m in found] == [("a/b", b"c")]


def test_default_attrs_are_stripped_later_too():
    tf.matmul([[1.]], [[1.]], name="m")
    m = tf.train.export_meta_graph()
    meta_graph.strip_graph_default_valued_attrs(m)
    node, = [n for n in m.graph_def.node if n.name == "m"]
    assert sorted(node.attr) == ["T", "_output_shapes"]
    assert m.meta_info_def.stripped_default_attrs


def test_meta_graphs_with_loops_are_compared():
    class Case(tf.test.TestCase):
        def runTest(self):
            pass
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    m = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(m)
        test_util.assert_meta_graph_protos_equal(
            Case(), m, tf.train.export_meta_graph())
