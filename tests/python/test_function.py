"""Defun: functions of the graph."""
import re

import numpy as np
import pytest

import headrace as tf


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_one_result():
    @tf.headrace.Defun(tf.float32, tf.float32)
    def f(a, b):
        return tf.exp(a) * b + 1.
    x = tf.placeholder(tf.float32, [3])
    np.testing.assert_allclose(
        run(f(x, [1., 2., 3.]), {x: [0, 1, 2]}),
        np.exp([0, 1, 2]) * [1, 2, 3] + 1, rtol=1e-6)


def test_several_results_and_calls():
    @tf.headrace.Defun(tf.int32, func_name="DivMod")
    def f(a):
        low, high = tf.split(a, 2)
        return low // 3, high % 3
    a, b = f(tf.constant([10, 11]))
    c, d = f(tf.constant([6, 5]))
    assert [v.tolist() for v in run([a, b, c, d])] == [[3], [2], [2], [2]]
    names = [g.signature.name for g in
             tf.get_default_graph().as_graph_def().library.function]
    assert names == ["DivMod"]


def test_a_function_that_calls_another():
    @tf.headrace.Defun(tf.float32)
    def square(x):
        return x * x

    @tf.headrace.Defun(tf.float32)
    def fourth(x):
        return square(square(x))
    assert run(fourth(tf.constant(3.))) == 81


def test_what_the_body_takes_from_outside_is_captured():
    c = tf.placeholder(tf.float32, [])

    @tf.headrace.Defun(tf.float32)
    def f(x):
        return x * c
    y = f(tf.constant(3.)) + f(tf.constant(4.))
    assert f.captured_inputs == [c]
    assert run(y, {c: 2}) == 14


def test_variables_of_the_body_are_those_of_the_graph():
    @tf.headrace.Defun(tf.float32)
    def f(x):
        return x * tf.get_variable("w", [],
                                   initializer=tf.constant_initializer(3.))
    y = f(2.)
    assert [v.name for v in tf.global_variables()] == ["w:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 6


def test_capture_by_value_computes_in_the_body():
    c = tf.constant(2.) * 3

    @tf.headrace.Defun(tf.float32, capture_by_value=True)
    def f(x):
        return x + c
    assert run(f(1.)) == 7
    assert not f.captured_inputs
    fed = tf.placeholder(tf.float32, [])

    @tf.headrace.Defun(tf.float32, capture_by_value=True)
    def g(x):
        return x + fed
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        g(1.)


def test_types_are_those_of_the_call_when_none_are_declared():
    @tf.headrace.Defun()
    def twice(x):
        return x * 2
    assert run([twice(tf.constant(2.5)), twice(tf.constant(3))]) == [5, 6]


def test_functions_of_any_types_have_gradient_functions():
    @tf.headrace.Defun()
    def gradient(x, y, dy):
        return 10 * x * dy, tf.cast(y, y.dtype) * dy + tf.zeros_like(x)

    @tf.headrace.Defun(grad_func=gradient, noinline=True)
    def product(x, y):
        return x * y
    for dtype in (tf.float32, tf.float64):
        x, y = tf.constant(3., dtype), tf.constant(5., dtype)
        z = product(x, y)
        assert run([z] + tf.gradients(z, [x, y])) == [15, 30, 5]
    named = product.instantiate([tf.float32, tf.float32])
    assert named is product.instantiate(["float32", tf.float32])
    assert named.name in [f.signature.name for f in
                          tf.get_default_graph().as_graph_def().library.function]


def test_results_are_a_tensor_a_tuple_or_the_operation():
    @tf.headrace.Defun(tf.float32)
    def two(x):
        return x, tf.reshape(x, [1])

    @tf.headrace.Defun(tf.float32)
    def one(x):
        return [x]

    @tf.headrace.Defun(tf.float32)
    def none(x):
        tf.Print(x, [x])
    assert [t.shape.ndims for t in two(1.)] == [None, 1]
    assert isinstance(two(1.), tuple)
    assert isinstance(one(1.), tf.Tensor)
    assert isinstance(none(1.), tf.Operation)


def test_names_and_shapes_that_are_given():
    @tf.headrace.Defun(tf.float32, func_name="F", out_names=["a", "b"], noinline=True,
              shape_func=lambda op: [op.inputs[0].shape, [7]])
    def f(x):
        return x, x
    a, b = f(tf.zeros([3]))
    assert [o.name for o in f.definition.signature.output_arg] == ["a", "b"]
    assert f.definition.attr["_noinline"].b
    assert f.declared_input_types == (tf.float32,)
    assert (a.shape.as_list(), b.shape.as_list()) == ([3], [7])


def test_refusals():
    @tf.headrace.Defun(tf.float32)
    def f(a):
        return a
    outer = tf.constant(1.)
    with pytest.raises(ValueError, match="number of arguments"):
        f(outer, outer)
    with pytest.raises(ValueError, match="Unknown keyword"):
        f(outer, device="x")
    with pytest.raises(ValueError, match="Unknown keyword"):
        tf.headrace.Defun(tf.float32, nonsense=1)
    with pytest.raises(ValueError, match="float32"):
        f(tf.constant(1))


def library_of(change=None):
    """A GraphDef with the function f(x) = x * x."""
    graph_def = tf.GraphDef()
    f = graph_def.library.function.add()
    f.signature.name = "f"
    x = f.signature.input_arg.add()
    x.name, x.type = "x", 1
    y = f.signature.output_arg.add()
    y.name, y.type = "y", 1
    for name, op, inputs in [("m", "MatMul", ["x", "x"]),
                             ("i", "Identity", ["m:product:0"])]:
        node = f.node_def.add()
        node.name, node.op = name, op
        node.input.extend(inputs)
        node.attr["T"].type = 1
    f.node_def[0].attr["transpose_a"].b = False
    f.ret["y"] = "i:output:0"
    if change is not None:
        change(f)
    return graph_def


def turned_round(f):
    nodes = [tf.NodeDef.FromString(n.SerializeToString()) for n in f.node_def]
    del f.node_def[:]
    f.node_def.extend(reversed(nodes))


@pytest.mark.parametrize("change", [
    lambda f: f.attr["x"],  # without a value
    lambda f: f.node_def[0].attr["_class"].list.s.append(b"loc:@q"),
    turned_round], ids=["unset_attr", "remark", "order"])
def test_a_function_written_differently_is_the_same_function(change):
    for first, second in [(None, change), (change, None)]:
        with tf.Graph().as_default():
            tf.import_graph_def(library_of(first), name="")
            tf.import_graph_def(library_of(second), name="")


@pytest.mark.parametrize("change", [
    lambda f: f.attr["x"].__setattr__("b", True),
    lambda f: f.node_def[0].attr["transpose_a"].__setattr__("b", True),
    lambda f: f.node_def[0].attr.__delitem__("transpose_a"),
    lambda f: f.node_def[1].__setattr__("device", "/cpu:0")],
    ids=["attr", "node_attr", "node_attr_gone", "device"])
def test_a_function_that_differs_is_refused(change):
    with tf.Graph().as_default():
        tf.import_graph_def(library_of(), name="")
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError),
                           match="a different function with the same name"):
            tf.import_graph_def(library_of(change), name="")


def test_a_call_waits_for_what_its_nodes_wait_for():
    v = tf.Variable(2., use_resource=True)

    @tf.function
    def initialize():
        tf.variables_initializer([v])

    @tf.function
    def one():
        with tf.control_dependencies([v.initializer]):
            tf.no_op()
        return tf.constant(1)

    with tf.Session() as session:
        for made in [initialize(), one()]:
            session.run(made)
            assert session.run(v) == 2
            session.run(tf.raw_ops.DestroyResourceOp(resource=v.handle))


def test_a_defun_as_attr_comes_into_the_graph():
    @tf.headrace.Defun(tf.float32)
    def double(x):
        return x * 2

    @tf.headrace.Defun(tf.float32)
    def twice(x):
        return double(double(x))
    out = tf.raw_ops.PartitionedCall(args=[tf.constant(3.)],
                                     Tout=[tf.float32], f=twice)
    with tf.Session() as session:
        assert session.run(out) == [12.]


@pytest.mark.parametrize("name, group, text", [
    ("A:1", None, "Node 'B': Connecting to invalid output 1 of source node A "
                  "which has 1 outputs."),
    ("A:-1", None, "Node 'B': Unknown input node 'A:-1'"),
    ("A:B", None, "Node 'B': Unknown input node 'A:B'"),
    ("A", b"loc:@Z",
     "Node 'B' expects to be colocated with unknown node 'Z'"),
])
def test_errors_of_a_graph_def_have_its_names(name, group, text):
    graph_def = tf.GraphDef()
    graph_def.node.add(name="A", op="Placeholder").attr["dtype"].type = 1
    node = graph_def.node.add(name="B", op="Identity", input=[name])
    node.attr["T"].type = 1
    if group:
        node.attr["_class"].list.s.append(group)
    with pytest.raises(ValueError, match=re.escape(text)):
        tf.import_graph_def(graph_def, name="scope")
