"""Savers and meta graphs beside tf.train: what reads resource variables, parts of
graphs copied between scopes, and the tables that tests save. Names of nodes are
those of TensorFlow 1.15.5."""
import pytest

import headrace as tf
from headrace._src.compat import saver_tools


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def _inputs(graph):
    op = next(o for o in graph.get_operations() if o.type == "SaveV2")
    return [(t.name, t.device) for t in op.inputs][3:]


def test_resource_variables_of_a_dict_are_read_on_the_cpu(graph):
    with tf.device("/job:ps/device:GPU:0"):
        v = tf.get_variable("v", [4], use_resource=True,
                            partitioner=tf.fixed_size_partitioner(2))
    tf.train.Saver({"v": v})
    assert _inputs(graph) == [("save/Identity_1:0", "/job:ps/device:CPU:0"),
                              ("save/Identity_3:0", "/job:ps/device:CPU:0")]


def test_resource_variables_are_restored_on_their_device(graph):
    with tf.device("/job:ps/device:GPU:0"):
        tf.get_variable("v", [4], use_resource=True)
    tf.get_variable("w", [4], use_resource=True)
    tf.train.Saver()
    op = next(o for o in graph.get_operations() if o.type == "SaveV2")
    assert op.inputs[3].name == "v/Read/ReadVariableOp:0"
    named = graph.get_operation_by_name
    assert named("save/AssignVariableOp").device == "/job:ps/device:GPU:0"
    assert [o.name for o in named("save/restore_all").control_inputs] == [
        "save/restore_all/NoOp", "save/restore_all/NoOp_1"]


def test_tables_of_tests_are_saved(tmp_path):
    table = saver_tools.CheckpointedOp("table")
    insert = table.insert("k", 30.)
    saver = tf.train.Saver({"table": table.saveable})
    with tf.Session() as session:
        session.run(insert)
        path = saver.save(session, str(tmp_path / "table"))
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run([table.keys(), table.values()]) == [[b"k"], [30.]]
        assert session.run(table.lookup("k", 1.)) == 30.


def test_scopes_are_copied_with_their_variables(graph):
    with tf.name_scope("a"):
        x = tf.placeholder(tf.float32, [1, 2], "x")
        v = tf.Variable([[1.], [2.]], name="v")
        tf.matmul(x, v, name="y")
    meta_graph, variables = saver_tools.export_scoped_meta_graph(
        export_scope="a")
    assert variables == {"v:0": v}
    assert [n.name for n in meta_graph.graph_def.node] == [
        "x", "v/initial_value", "v", "v/Assign", "v/read", "y"]
    copy = tf.Graph()
    copied = saver_tools.copy_scoped_meta_graph("a", "b", to_graph=copy)
    assert [v.name for v in copied.values()] == ["b/v:0"]
    assert copied.keys() == {"v:0"} and copied["v:0"].graph is copy
    with pytest.raises(ValueError, match="need to be different"):
        saver_tools.copy_scoped_meta_graph("a", "a")


def test_inputs_from_outside_are_named(graph):
    x = tf.constant(1., name="x")
    with tf.name_scope("a"):
        tf.identity(x, name="y")
    meta_graph, _ = saver_tools.export_scoped_meta_graph(
        export_scope="a", unbound_inputs_col_name="outside")
    assert list(meta_graph.collection_def["outside"].bytes_list.value) == [
        b"$unbound_inputs_x"]
    _, (y,) = saver_tools.import_scoped_meta_graph_with_return_elements(
        meta_graph, import_scope="b", unbound_inputs_col_name="outside",
        input_map={"$unbound_inputs_x": x}, return_elements=["y:0"])
    assert y.op.inputs[0] is x and y.name == "b/y:0"


def test_ops_of_a_graph(graph):
    tf.constant(1)
    graph_def = graph.as_graph_def()
    assert saver_tools.ops_used_by_graph_def(graph_def) == {"Const"}
    assert [o.name for o in saver_tools.stripped_op_list_for_graph(
        graph_def).op] == ["Const"]
    graph_def.node.add(name="x", op="NoSuchOp")
    with pytest.raises(ValueError, match="Op NoSuchOp is used by the graph"):
        saver_tools.stripped_op_list_for_graph(graph_def)
    with pytest.raises(TypeError, match="graph_def must be of type GraphDef"):
        tf.train.export_meta_graph(graph_def=3)


def test_a_checkpoint_does_not_take_the_name_of_its_state(tmp_path):
    with pytest.raises(RuntimeError, match="conflicts with path used for"):
        saver_tools.update_checkpoint_state_internal(
            str(tmp_path), str(tmp_path / "same"), latest_filename="same")


def test_why_a_checkpoint_is_not_restored(tmp_path):
    v = tf.Variable(1., name="v")
    with tf.Session() as session:
        session.run(v.initializer)
        path = tf.train.Saver([v]).save(session, str(tmp_path / "x"))
        with pytest.raises(tf.errors.NotFoundError, match=(
                "Variable name or other graph key that is missing from the "
                r"checkpoint(.|\n)*Key w not found in checkpoint")):
            tf.train.Saver({"w": v}).restore(session, path)
        w = tf.Variable([1., 2.])
        with pytest.raises(tf.errors.InvalidArgumentError, match=(
                "a mismatch between the current graph and the graph from the "
                "checkpoint")):
            tf.train.Saver({"v": w}).restore(session, path)


def test_the_global_step_is_read_and_added_to(graph):
    assert saver_tools.get_global_step_read() is None
    assert saver_tools.get_or_create_global_step_read() is None
    with pytest.raises(ValueError, match="should be created by"):
        saver_tools.increment_global_step(1)
    tf.train.create_global_step()
    read = saver_tools.get_or_create_global_step_read()
    assert saver_tools.get_global_step_read() is read
    add = saver_tools.increment_global_step(5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(add) == 5 and session.run(read) == 5
