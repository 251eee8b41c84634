"""Defun: functions of the graph."""
import re

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import calls, function_graphs
from headrace._src.functions import defun


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


@pytest.mark.parametrize("types,function,text", [
    ([], lambda a=1: tf.constant(a), "argument defaults .* are not supported"),
    ([], lambda **k: tf.constant(1), "keywords arguments are not supported"),
    ([], lambda *, k: tf.constant(1), "keywords arguments are not supported"),
    ([tf.float32], lambda a, b: a, "specified input types: 1"),
    ([tf.float32] * 2, lambda a: a, "specified input types: 2"),
    ([], lambda: (None, None), "can not return None")])
def test_functions_that_are_refused(types, function, text):
    with pytest.raises(ValueError, match=text):
        tf.headrace.Defun(*types)(function).definition


def test_results_have_as_many_names_as_there_are():
    f = tf.headrace.Defun(tf.float32, out_names=["a", "b"])(lambda x: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=(
            "output names size = 2 outputs size = 1")):
        f(1.)


def test_a_function_has_the_state_of_what_it_calls():
    @tf.headrace.Defun()
    def constant():
        """Forty-two."""
        return tf.constant(42)

    @tf.headrace.Defun()
    def random():
        return tf.random_uniform([100])

    functions = [constant, random, tf.headrace.Defun()(lambda: constant()),
                 tf.headrace.Defun()(lambda: random())]
    assert [f.definition.signature.is_stateful for f in functions] == [
        False, True, False, True]
    assert constant.definition.signature.description == "Forty-two."
    x, y = functions[3](), functions[3]()
    assert x.op.type == "StatefulPartitionedCall"
    assert functions[2]().op.type == "PartitionedCall"
    one, two = run([x, y])
    assert (one != two).any()


def test_state_is_captured_by_value_where_it_is_listed():
    t = tf.random_uniform([3], maxval=9, dtype=tf.int32)
    with pytest.raises(ValueError, match="Cannot capture a stateful node"):
        tf.headrace.Defun(capture_by_value=True)(lambda: t + 1)()
    f = tf.headrace.Defun(capture_by_value=True,
                          whitelisted_stateful_ops={t.op})(lambda: t + 1)
    assert f.captured_inputs == [] and run(f()).min() >= 1


@pytest.mark.parametrize("name,value,field", [
    ("experimental_x", "text", "s"), ("experimental_x", 3, "i"),
    ("experimental_x", 3., "f"), ("experimental_x", True, "b"),
    ("_implements", "lstm", "s"), ("_reference", "paper", "s")])
def test_options_become_attrs_of_the_function(name, value, field):
    f = tf.headrace.Defun(tf.int32, **{name: value})(lambda i: i)
    found = f.definition.attr[name]
    assert found.WhichOneof("value") == field
    assert getattr(found, field) == (
        value.encode() if field == "s" else value)
    with pytest.raises(ValueError, match="Unsupported attribute type for "):
        tf.headrace.Defun(tf.int32, experimental_x=[1])(lambda i: i)


def gradient_of_two():
    g = tf.headrace.Defun(tf.float32, tf.float32)(lambda x, dy: x * dy * 100)
    f = tf.headrace.Defun(tf.float32, grad_func=g)(lambda x: x * x)
    return f, g


def test_functions_are_made_of_their_definitions():
    c = tf.constant(10.)
    captures = tf.headrace.Defun(tf.float32)(lambda x: x + c)
    f, g = gradient_of_two()
    assert f.grad_func_name == g.name and g.grad_func_name is None
    for function, gradient, types in ((f, g, 1), (g, None, 2),
                                      (captures, None, 2)):
        made = defun._from_definition(function.definition, gradient)
        assert made.name == function.name
        assert made.definition == function.definition
        assert made.declared_input_types == (tf.float32,) * types
        assert made.captured_inputs == []
        assert made.grad_func_name == function.grad_func_name
    with tf.Graph().as_default():
        x = tf.constant(3.)
        made = defun._from_definition(f.definition, g)
        y = made(x)
        assert run([y, tf.gradients(y, x)[0]]) == [9, 300]


def test_functions_are_made_of_libraries():
    f, g = gradient_of_two()
    with tf.Graph().as_default() as graph:
        f(1.)
        library = graph.as_graph_def().library
    found = {made.name: made for made in defun.from_library(library)}
    assert sorted(found) == sorted([f.name, g.name])
    assert found[f.name].grad_func_name == g.name
    assert defun.from_library(type(library)()) == []
    for kept in (f, g):
        missing = type(library)()
        missing.gradient.extend(library.gradient)
        missing.function.extend([kept.definition])
        with pytest.raises(ValueError, match=(
                "FunctionDefLibrary missing '%s' FunctionDef"
                % (g if kept is f else f).name)):
            defun.from_library(missing)
    library.gradient.add(function_name=g.name, gradient_func=f.name)
    with pytest.raises(ValueError, match="cyclic gradient functions"):
        defun.from_library(library)


def test_captured_tensors_are_known_while_a_function_is_traced():
    c = tf.constant(10.)

    @tf.headrace.Defun(tf.float32)
    def f(x):
        y = x + c
        assert defun.get_extra_inputs() == [c]
        assert defun.get_extra_args()[0].consumers() == [y.op]
        return y
    assert run(f(1.)) == 11
    assert defun.get_extra_inputs() == defun.get_extra_args() == []


def test_graphs_and_functions_are_made_of_each_other():
    with tf.Graph().as_default() as graph:
        x, y = (tf.placeholder(tf.float32, name=n) for n in "xy")
        low, high = tf.split(tf.stack([x, y]), 2, name="parts")
        results = [x, tf.add_n([x, y], name="sum"), high, low]
    function = function_graphs.graph_to_function_def(
        graph, graph.get_operations(), [x, y], results)
    function.signature.name = "parts_of_two"
    graph_def, names = function_graphs.function_def_to_graph_def(
        function, [None, tf.TensorShape([5])])
    assert "shape" not in graph_def.node[0].attr
    assert graph_def.node[1].attr["shape"].shape.dim[0].size == 5
    assert names["x"] == "x:0" and names["^sum"] == "^sum"
    assert names["parts:output:1"] == "parts:1"
    assert list(graph_def.node[-1].input) == ["x:0", "y:0"]
    made = function_graphs.function_def_to_graph(function)
    assert made.name == "parts_of_two" and made.inputs[0].shape.ndims is None
    with tf.Session(graph=made) as session:
        found = session.run(made.outputs, {"x:0": 2, "y:0": 3})
    assert [v.tolist() for v in found] == [2, 5, [3], [2]]
    made = function_graphs.function_def_to_graph(
        function, [tf.TensorShape([5]), None])
    assert made.outputs[1].shape.as_list() == [5]
    with pytest.raises(ValueError, match="Length of input_shapes"):
        function_graphs.function_def_to_graph(function, [tf.TensorShape([5])])
    with pytest.raises(ValueError, match="1 names for 4 outputs"):
        function_graphs.graph_to_function_def(
            graph, graph.get_operations(), [x, y], results, ["a"])


def test_a_graph_of_a_function_has_what_it_calls():
    inner = tf.headrace.Defun(tf.float32)(lambda x: x + 1)
    outer = tf.headrace.Defun(tf.float32)(lambda x: inner(x) * 2)
    with tf.Graph().as_default():
        outer(1.)
        made = function_graphs.function_def_to_graph(outer.definition)
    with tf.Session(graph=made) as session:
        assert session.run(made.outputs, {made.inputs[0]: 3.}) == [8]


def test_gradients_of_a_function_by_its_name():
    f = tf.headrace.Defun(tf.float32, func_name="SquareOf")(lambda x: x * x)
    x = tf.constant(3.)
    f(x)
    for function in (f, "SquareOf"):
        dx, = calls.symbolic_gradient([x, 1.], [tf.float32], function)
        assert run(dx) == 6


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
