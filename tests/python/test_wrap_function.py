"""tf.wrap_function: functions that are traced once, their calls and parts."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.functions.wrapped import (
    WrappedGraph, function_from_graph_def)

FLOAT = tf.TensorSpec([], tf.float32)


def _run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(x) for x in fetches]


def test_variables_are_shared_by_the_calls():
    def f(x, adds):
        v = tf.Variable(5.)
        op = v.assign_add(x) if adds else v.assign_sub(x)
        with tf.control_dependencies([op]):
            return v.read_value()
    add = tf.wrap_function(f, [FLOAT, True])
    sub = tf.wrap_function(f, [FLOAT, False])
    assert [v.name for v in add.variables] == ["Variable:0"]
    assert [v.name for v in sub.variables] == ["Variable_1:0"]
    assert tf.global_variables() == add.variables + sub.variables
    assert _run(add(1.), add(tf.constant(1.)), sub(2.)) == [6, 7, 3]


def _loop(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x),
                         [0, x])[1]


_CASES = [
    (lambda x: x + 1, [3.], 4.),
    (lambda x: {"a": x, "b": [x * 2, None]}, [3.], {"a": 3., "b": [6., None]}),
    (_loop, [2.], 16.),
    (lambda x: tf.cond(x > 2, lambda: x, lambda: -x), [1.], -1.),
    (lambda x: tf.py_func(lambda y: y + np.float32(1), [x], tf.float32),
     [1.], 2.),
    (lambda x: tf.Variable(7.), [1.], 7.),
]


@pytest.mark.parametrize("case", range(len(_CASES)))
def test_what_a_call_gives(case):
    f, args, expected = _CASES[case]
    out = tf.wrap_function(f, [FLOAT])(*args)
    flat = [x for x in tf.nest.flatten(out) if x is not None]
    values = iter(_run(*flat))
    assert tf.nest.map_structure(
        lambda x: None if x is None else next(values), out) == expected


def test_gradients_of_arguments_captured_tensors_and_variables():
    c = tf.constant(4.)

    def f(x):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        return x * c * w
    wrapped = tf.wrap_function(f, [FLOAT])
    x = tf.constant(3.)
    y = wrapped(x)
    assert [v.name for v in wrapped.trainable_variables] == ["s/w:0"]
    assert _run(y, *tf.gradients(y, [x, c] + wrapped.variables)) == [
        12, 4, 3, 12]


def test_parts():
    def f(x):
        v = tf.Variable(0., name="v")
        y = tf.add(x, 1., name="y")
        op = v.assign_add(y, name="assign")
        return tf.identity(op, name="out") * 2
    wrapped = tf.wrap_function(f, [tf.TensorSpec([], tf.float32, name="x")])
    graph = wrapped.graph
    assert [t.name for t in wrapped.inputs] == ["x:0"]
    part = wrapped.prune("x:0", "y:0")
    rest = wrapped.prune([graph.get_tensor_by_name("y:0")],
                         {"z": wrapped.outputs[0]})
    both = wrapped.prune(wrapped.inputs, [graph.get_operation_by_name("out"),
                                          "y:0"])
    info = wrapped.prune("x:0", tf.saved_model.build_tensor_info(
        graph.get_tensor_by_name("y:0")))
    called = both(1.)
    assert called[0] is None
    assert _run(part(1.), rest(5.)["z"], called[1], info(2.)) == [2, 10, 2, 3]
    none = wrapped.prune("x:0", graph.get_operation_by_name("out"))(1.)
    assert isinstance(none, tf.Operation)
    part(1.)
    assert not tf.get_default_graph().get_operations()[-1].name.endswith("out")
    with pytest.raises(ValueError, match="is not an element of this graph"):
        wrapped.prune(tf.constant(1.), "y:0")
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        wrapped.prune([graph.get_operation_by_name("y")], "y:0")


def test_what_is_refused():
    wrapped = tf.wrap_function(lambda x: x, [FLOAT])
    with pytest.raises(ValueError, match="got: 0, expected: 1"):
        wrapped()
    with pytest.raises(NotImplementedError, match="Keyword arguments"):
        wrapped(x=1.)
    with pytest.raises(ValueError, match="dtype float32 .* dtype int32"):
        wrapped(tf.constant(1))
    with pytest.raises(TypeError, match="must return Tensors"):
        tf.wrap_function(lambda x: object(), [FLOAT])


def test_functions_of_one_graph():
    graph = WrappedGraph()

    def get():
        with tf.variable_scope("vars", reuse=tf.AUTO_REUSE):
            return tf.get_variable("v", [], initializer=tf.zeros_initializer())
    add = graph.wrap_function(lambda x: get() + x, [FLOAT], name="add")
    increment = graph.wrap_function(lambda x: get().assign_add(x), [FLOAT],
                                    name="increment")
    assert list(graph.variables) == ["vars/v"]
    assert graph.functions == {"add": add, "increment": increment}
    assert _run(increment(5.), add(1.)) == [5, 6]


def test_a_function_from_a_graph_def():
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [], name="a"), 1., name="b")
    f = function_from_graph_def(graph.as_graph_def(), "a:0", {"b": "b:0"})
    assert _run(f(2.)["b"]) == [3]
