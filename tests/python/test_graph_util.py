"""tf.graph_util and tf.switch_case."""
import numpy as np
import pytest

import headrace as tf


def run_def(graph_def, fetch, feeds=()):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph) as session:
            return session.run(fetch, dict(feeds))


def graph_def():
    return tf.get_default_graph().as_graph_def()


def test_extract_sub_graph():
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([b]):
        tf.negative(a, name="c")
    tf.constant(3, name="d")
    part = tf.graph_util.extract_sub_graph(graph_def(), ["c:0".split(":")[0]])
    assert [n.name for n in part.node] == ["a", "b", "c"]
    assert part.versions == graph_def().versions
    with pytest.raises(AssertionError, match="zz is not in graph"):
        tf.graph_util.extract_sub_graph(graph_def(), ["zz"])
    with pytest.raises(TypeError, match="must be a list"):
        tf.graph_util.extract_sub_graph(graph_def(), "c")
    with pytest.raises(TypeError, match="GraphDef"):
        tf.graph_util.extract_sub_graph(5, ["c"])


@pytest.mark.parametrize("use_resource", [False, True])
def test_convert_variables_to_constants(use_resource):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]),
                        use_resource=use_resource)
    rows = tf.get_variable("rows", initializer=np.float32([[1], [5], [9]]),
                           use_resource=use_resource)
    y = tf.add(tf.matmul(x, w), tf.gather(rows, [2, 0]), name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(w.assign(w * 2.))
        feed = [[1., 1.], [0., 1.]]
        wanted = session.run(y, {x: feed})
        frozen = tf.graph_util.convert_variables_to_constants(
            session, session.graph_def, ["y"])
        some = tf.graph_util.convert_variables_to_constants(
            session, session.graph_def, ["y"],
            variable_names_blacklist=["rows"])
        only = tf.graph_util.convert_variables_to_constants(
            session, session.graph_def, ["y"], variable_names_whitelist=["w"])
    assert not any("Var" in node.op for node in frozen.node)
    np.testing.assert_array_equal(
        run_def(frozen, "y:0", {"x:0": feed}.items()), wanted)
    for part in (some, only):
        assert [n.name for n in part.node if n.op.startswith("Var")] == ["rows"]


def test_remove_training_nodes():
    x = tf.constant([3.], name="x")
    checked = tf.identity(tf.check_numerics(x, "m", name="check"), name="i")
    with tf.control_dependencies([checked]):
        tf.negative(x, name="last")
    tf.negative(tf.identity(x, name="plain"), name="y")
    left = tf.graph_util.remove_training_nodes(graph_def(), ["last"])
    ops = {n.name: list(n.input) for n in left.node}
    assert "check" not in ops and "plain" not in ops
    assert ops["y"] == ["x"] and ops["i"] == ["x"]
    assert ops["last"] == ["x", "^i"]  # which is why i is there
    assert run_def(left, ["y:0", "last:0"]) == [[-3.], [-3.]]
    bare = tf.GraphDef()
    bare.node.add(name="x", op="NoOp")
    assert tf.graph_util.remove_training_nodes(bare) == bare


def test_must_run_on_cpu():
    must = tf.graph_util.must_run_on_cpu
    assert must(tf.constant("a").op) and must(tf.constant(1).op.node_def)
    assert not must(tf.constant(1.).op)
    assert must(tf.Variable(1.).op, True) and not must(tf.Variable(1.).op)
    assert must(tf.cast(tf.constant(1), tf.float32).op)


def test_tensor_shape_from_node_def_name():
    tf.split(tf.ones([4, 2]), 2, name="s")
    for name in ("s", "s:1"):
        assert tf.graph_util.tensor_shape_from_node_def_name(
            tf.get_default_graph(), name).as_list() == [2, 2]


@pytest.mark.parametrize("index, value", [(0, 5), (1, 6), (2, 7), (3, 7),
                                          (-1, 7)])
def test_switch_case(index, value):
    runs = []

    def branch(n):
        def body():
            return tf.py_func(lambda: runs.append(n) or np.int32(n), [],
                              tf.int32)
        return body
    number = tf.placeholder(tf.int32, [])
    results = [
        tf.switch_case(number, [branch(5), branch(6), branch(7)]),
        tf.switch_case(number, {1: branch(6), 0: branch(5)},
                       default=branch(7)),
        tf.switch_case(number, [(1, branch(6)), (0, branch(5)),
                                (2, branch(7))], name="s")]
    with tf.Session() as session:
        assert session.run(results, {number: index}) == [value] * 3
    assert runs == [value] * 3  # the others did not run


def test_switch_case_of_structures():
    pair = tf.switch_case(tf.constant(1), [
        lambda: (tf.constant(1), tf.constant(2.)),
        lambda: (tf.constant(3), tf.constant(4.))])
    with tf.Session() as session:
        assert session.run(pair) == (3, 4.)


@pytest.mark.parametrize("arguments, error, message", [
    ((1, [lambda: 1]), TypeError, "must a Tensor"),
    ((tf.float32, [lambda: 1]), TypeError, "must an integer Tensor"),
    ((tf.int32, []), ValueError, "at least one item"),
    ((tf.int32, [5]), TypeError, "2-tuple"),
    ((tf.int32, 5), TypeError, "list, tuple, or dict"),
    ((tf.int32, {"a": lambda: 1}), TypeError, "Python `int`"),
    ((tf.int32, {0: 5}), TypeError, "callable"),
    ((tf.int32, {0: lambda: 1, 3: lambda: 1}), ValueError, "contiguous"),
    ((tf.int32, [lambda: 1], 5), TypeError, "default must be callable"),
])
def test_switch_case_refused(arguments, error, message):
    index, *others = arguments
    if isinstance(index, tf.DType):
        index = tf.constant(0, index)
    with pytest.raises(error, match=message):
        tf.switch_case(index, *others)


def test_function_is_not_a_module():
    assert callable(tf.function) and not hasattr(tf.function, "Defun")
    from headrace.headrace import Defun
    assert tf.headrace.Defun is Defun
