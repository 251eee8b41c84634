"""Gradients through functions: calls, functional If, Case and While, the op
SymbolicGradient, and gradient functions that a library names."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.functions.defun import Defun

raw = tf.raw_ops


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def named(*types):
    """A decorator: the function as a FunctionDef of the graph, its name."""
    def define(f):
        made = Defun(*types)(f)
        made.add_to_graph(tf.get_default_graph())
        return made.name
    return define


def check(build, *values):
    """The gradients of build(*tensors) equal differences."""
    xs = [tf.placeholder(tf.float64, np.shape(v)) for v in values]
    y = build(*xs)
    feed = dict(zip(xs, values))
    with tf.Session() as session:
        shape = session.run(tf.shape(y), feed)
        for x, v in zip(xs, values):
            v = np.asarray(v, np.float64)
            assert tf.test.compute_gradient_error(
                x, v.shape, y, shape, v, delta=1e-6,
                extra_feed_dict=feed) < 1e-6


d, b, i = tf.float64, tf.bool, tf.int32


def test_calls():
    @Defun(d, d)
    def inner(x, w):
        return tf.tanh(x * w), x + 1

    @Defun(d, d)
    def outer(x, w):
        y, z = inner(x, w)
        return y * z * w

    check(lambda x, w: outer(x * 2, w) + inner(w, x)[1], [0.5, 0.3], [1.5, 2])


def test_calls_by_name_and_stateless_calls():
    f = named(d, d)(lambda x, w: (tf.sin(x) * w, tf.cast(x, tf.int32)))
    check(lambda x, w: raw.PartitionedCall(
        [x, w], f=f, Tout=[d, i])[0] * w, [0.5, 0.3], [1.5, 2])


def test_loops_in_functions():
    @Defun(d, d)
    def power(x, w):
        return tf.while_loop(lambda n, a: n < 3,
                             lambda n, a: (n + 1, tf.sin(a) * w), [0, x])[1]
    check(power, 0.5, 1.5)


def test_second_derivatives_of_calls():
    @Defun(d)
    def cube(x):
        return x * x * x
    x = tf.placeholder(d, [])
    first = tf.gradients(cube(x), x)[0]
    second = tf.gradients(first, x)[0]
    with tf.Session() as session:
        assert session.run([first, second], {x: 2.}) == [12, 12]


@pytest.mark.parametrize("op", [raw.If, raw.StatelessIf])
@pytest.mark.parametrize("taken", [True, False])
def test_branches(op, taken):
    yes = named(d, d)(lambda x, w: (tf.sin(x) * w, w * w))
    no = named(d, d)(lambda x, w: (x * 3, tf.exp(x)))

    def build(x, w):
        u, v = op(tf.constant(taken), [x, w], then_branch=yes, else_branch=no,
                  Tout=[d, d])
        return u * 2 + v * x
    check(build, 0.5, 1.5)


def test_a_branch_that_ignores_what_the_other_uses():
    w = tf.get_variable("w", initializer=np.float64(3), use_resource=True)
    x = tf.placeholder(d, [])

    @named(d, tf.resource)
    def yes(x, v):
        return x * raw.ReadVariableOp(v, dtype=d)

    no = named(d, tf.resource)(lambda x, v: x * x)
    y = raw.If(x > 0, [x, w.handle], then_branch=yes, else_branch=no, Tout=[d])
    y = y[0] if isinstance(y, (list, tuple)) else y
    found = tf.gradients(y, [x, w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found, {x: 2.}) == [3, 2]
        assert session.run(found, {x: -2.}) == [-4, 0]


@pytest.mark.parametrize("branch", [0, 1, 2, 7])
def test_cases(branch):
    branches = [named(d)(f) for f in (tf.sin, tf.exp, lambda x: x * 1.)]

    def build(x):
        out = raw.Case(tf.constant(branch), [x], branches=branches, Tout=[d])
        return out[0] if isinstance(out, (list, tuple)) else out
    check(build, [0.5, 0.2])


@pytest.mark.parametrize("op", [raw.While, raw.StatelessWhile])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_functional_loops(op, n):
    cond = named(i, i, d, d, d)(lambda k, n, a, s, w: k < n)
    body = named(i, i, d, d, d)(lambda k, n, a, s, w: (
        k + 1, n, tf.sin(a) * w + s, s + a * a, w))

    def build(x, w):
        out = op([0, n, x, x * w, w], cond=cond, body=body)
        return out[2] * 2 + out[3]
    check(build, [0.5, 0.2], [1.5, -0.3])


def test_functional_loops_that_read_variables_and_lists():
    w = tf.get_variable("w", initializer=np.float64(1.5), use_resource=True)
    x = tf.placeholder(d, [])
    cond = named(i, d, tf.resource, tf.variant)(lambda k, a, v, rows: k < 3)

    @named(i, d, tf.resource, tf.variant)
    def body(k, a, v, rows):
        a = a * raw.ReadVariableOp(v, dtype=d)
        return k + 1, a, v, raw.TensorListPushBack(rows, a * a)

    rows = raw.EmptyTensorList(tf.zeros([0], tf.int32), -1, element_dtype=d)
    out = raw.While([0, x, w.handle, rows], cond=cond, body=body)
    squares = raw.TensorListStack(out[3], tf.zeros([0], tf.int32),
                                  element_dtype=d)
    y = tf.reduce_sum(squares * [1., 10., 100.]) + out[1]
    found = tf.gradients(y, [x, w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, v = 2., 1.5
        np.testing.assert_allclose(session.run(found, {x: a}), [
            sum(10 ** k * 2 * a * v ** (2 * k + 2) for k in range(3)) + v ** 3,
            sum(10 ** k * a * a * (2 * k + 2) * v ** (2 * k + 1)
                for k in range(3)) + 3 * a * v * v])


def test_a_functional_loop_in_a_functional_loop():
    inner_cond = named(i, d, d)(lambda k, a, w: k < 2)
    inner = named(i, d, d)(lambda k, a, w: (k + 1, tf.sin(a) * w, w))
    cond = named(i, d, d)(lambda k, a, w: k < 3)
    body = named(i, d, d)(lambda k, a, w: (
        k + 1, raw.While([0, a * w, w], cond=inner_cond, body=inner)[1] + a,
        w))
    check(lambda x, w: raw.While([0, x, w], cond=cond, body=body)[1],
          0.5, 1.5)


def test_symbolic_gradient_runs():
    f = named(d, d)(lambda x, w: (tf.sin(x) * w, x * x))

    def build(x, w):
        dx, dw = raw.SymbolicGradient([x, w, x * 2, w], Tout=[d, d], f=f)
        return dx * 2 + dw
    x, w = tf.placeholder(d, []), tf.placeholder(d, [])
    with tf.Session() as session:
        got = session.run(raw.SymbolicGradient(
            [x, w, tf.constant(1., d), tf.constant(10., d)], Tout=[d, d],
            f=f), {x: 0.5, w: 3.})
        np.testing.assert_allclose(
            got, [np.cos(.5) * 3 + 10 * 2 * .5, np.sin(.5)])
    check(build, 0.5, 1.5)


def test_what_cannot_run_twice_is_refused():
    @Defun(d)
    def noisy(x):
        return x * tf.random_uniform([], dtype=d)
    x = tf.constant(1., d)
    with pytest.raises(NotImplementedError, match="noisy.*RandomUniform"):
        tf.gradients(noisy(x), x)

    @Defun(d)
    def harmless(x):  # the noise is not in the way
        tf.random_uniform([])
        return x * x
    with tf.Session() as session:
        assert session.run(tf.gradients(harmless(x), x)) == [2]


def test_functions_without_a_gradient_name_the_op_inside():
    @Defun(tf.float32)
    def f(x):
        return raw.Lu(input=x)[0]
    x = tf.constant([[1.]])
    with pytest.raises(LookupError, match="op type: Lu.*function 'f"):
        tf.gradients(f(x), x)


# Gradient functions in Python, for nodes in the bodies of functions.

@tf.RegisterGradient("SevenInFunctions")
def _seven(op, dy):
    assert op.type == "Square" and op.inputs[0].dtype == dy.dtype
    return dy * 7. + 0. * op.inputs[0]


def square_times_seven(x):
    """x^2 whose gradient is 7."""
    with tf.get_default_graph().gradient_override_map(
            {"Square": "SevenInFunctions"}):
        return tf.square(x)


def gradient_at_two(function):
    x = tf.constant(2., d)
    with tf.Session() as session:
        return session.run(tf.gradients(function(x), x))[0]


def test_overridden_gradient_in_a_function():
    @Defun(d)
    def inner(x):
        return square_times_seven(x)

    @Defun(d)
    def outer(x):
        return inner(x * 3) * square_times_seven(x) + tf.square(x)

    assert gradient_at_two(inner) == 7
    # Both are called again for the product: 21 * 4 + 36 * 7 + 4.
    assert gradient_at_two(outer) == 340


def test_custom_gradient_in_a_function():
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1., 1.)

    @Defun(d)
    def f(x):
        return clipped(x * 3) * 100

    assert gradient_at_two(f) == 3


def test_overridden_gradient_in_branches_and_loops():
    yes = named(d)(square_times_seven)
    no = named(d)(lambda x: x * 5)
    assert gradient_at_two(lambda x: raw.If(
        cond=True, input=[x], then_branch=yes, else_branch=no, Tout=[d])[0]) == 7
    assert gradient_at_two(lambda x: raw.If(
        cond=False, input=[x], then_branch=yes, else_branch=no, Tout=[d])[0]) == 5
    cond = named(i, d)(lambda k, x: k < 3)
    body = named(i, d)(lambda k, x: (k + 1, square_times_seven(x)))
    assert gradient_at_two(lambda x: raw.While(
        input=[tf.constant(0), x], cond=cond, body=body)[1]) == 343


def test_gradient_function_with_py_func_in_a_function():
    @tf.custom_gradient
    def f(x):
        return tf.square(x), lambda dy: tf.py_func(lambda a: a * 9, [dy], d)

    assert gradient_at_two(Defun(d)(lambda x: f(x))) == 9


def test_operations_of_a_gradient_function_outlive_it():
    seen = []

    @tf.custom_gradient
    def f(x):
        y = tf.square(x)

        def backward(dy):
            seen.extend([dy, dy * 2., tf.get_default_graph()])
            return dy
        return y, backward

    assert gradient_at_two(Defun(d)(lambda x: f(x))) == 1
    dy, twice, graph = seen
    assert twice.op.inputs[0] is dy and twice.graph is graph
    assert graph is not tf.get_default_graph()


def refused_gradient(kind):
    outside = tf.constant(3., d)

    @tf.custom_gradient
    def f(x):
        def backward(dy):
            if kind == "raises":
                raise KeyError("from the gradient function")
            return [dy, dy] if kind == "count" else dy * outside
        return tf.square(x), backward

    @Defun(d)
    def called(x):
        if kind == "loop":
            return tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, f(y)),
                                 [0, x])[1]
        return f(x)
    return called


@pytest.mark.parametrize("kind,error,words", [
    ("raises", KeyError, "from the gradient function"),
    ("count", ValueError, "gradients? "),
    ("outside", ValueError, "same graph"),
    ("loop", NotImplementedError, "in a while_loop in the body of a function"),
])
def test_refused_gradient_functions_in_a_function(kind, error, words):
    x = tf.constant(2., d)
    y = refused_gradient(kind)(x)
    with pytest.raises(error, match=words):
        tf.gradients(y, x)
    with tf.Session() as session:  # the graph is as good as before
        session.run(y)


# Tensor lists.

NONE = np.zeros([0], np.int32)


def rows_of(x):
    return raw.TensorListFromTensor(x, NONE)


def stacked(rows, n=-1):
    return raw.TensorListStack(rows, NONE, element_dtype=d, num_elements=n)


def popped(x):
    rows, last = raw.TensorListPopBack(rows_of(x * x), NONE, element_dtype=d)
    return stacked(rows) * last


def concatenated(op):
    def build(x):
        rows = raw.TensorListSplit(x * x, ints(-1), tf.constant([1, 2], "int64"))
        rest = () if op is raw.TensorListConcat else (
            ints(-1), tf.constant([], tf.int64))
        return op(rows, *rest, element_dtype=d)[0] * [1., 10, 100]
    return build


def ints(*values):
    return np.array(values, np.int32)


LISTS = {
    "stack": lambda x: stacked(rows_of(x * x)) * [1., 10, 100],
    "push": lambda x: stacked(raw.TensorListPushBack(
        rows_of(x * x), x[0] * x[1])) * [1., 10, 100, 1000],
    "pop": popped,
    "get": lambda x: raw.TensorListGetItem(
        rows_of(x * x), 1, NONE, element_dtype=d) * x[0],
    "set": lambda x: stacked(raw.TensorListSetItem(
        rows_of(x * x), 1, x[0] * 7)) * [1., 10, 100],
    "resize": lambda x: stacked(raw.TensorListResize(
        rows_of(x * x), 2)) * [1., 10],
    "gather": lambda x: raw.TensorListGather(
        rows_of(x * x), ints(2, 0), NONE, element_dtype=d) * [1., 10],
    "scatter": lambda x: stacked(raw.TensorListScatter(
        x * x, ints(2, 0, 1), NONE)) * [1., 10, 100],
    "scatter v2": lambda x: stacked(raw.TensorListScatterV2(
        x * x, ints(2, 0, 1), NONE, 3)) * [1., 10, 100],
    "scatter into": lambda x: stacked(raw.TensorListScatterIntoExistingList(
        rows_of(x * x), x[:2] * 3, ints(2, 0))) * [1., 10, 100],
    "concat": concatenated(raw.TensorListConcat),
    "concat v2": concatenated(raw.TensorListConcatV2),
    "used twice": lambda x: (
        lambda rows: stacked(rows) * raw.TensorListGetItem(
            rows, 2, NONE, element_dtype=d))(rows_of(x * x)),
    "optional": lambda x: raw.OptionalGetValue(
        raw.OptionalFromValue([x * x, x[0]]), output_types=[d, d],
        output_shapes=[[3], []])[0] * [1., 10, 100],
}


def test_lists_that_are_variables_of_a_loop():
    def build(x, w):
        rows = raw.EmptyTensorList(ints(), -1, element_dtype=d)
        rows = tf.while_loop(
            lambda i, a, rows: i < 3, lambda i, a, rows: (
                i + 1, tf.sin(a) * w, raw.TensorListPushBack(rows, a * a)),
            [0, x, rows])[2]
        return stacked(rows) * [1., 10, 100]
    check(build, 0.5, 1.5)


def test_lists_that_are_constant_in_a_loop():
    def build(x):
        rows = rows_of(x * x)
        return tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (
                i + 1, a * raw.TensorListGetItem(
                    rows, i, NONE, element_dtype=d)),
            [0, tf.constant(1., d)])[1]
    check(build, [0.5, 0.2, -0.7])


@pytest.mark.parametrize("name", LISTS)
def test_lists(name):
    check(LISTS[name], [0.5, 0.2, -0.7])


# Gradients that the program gives.

def test_a_function_with_a_gradient_function():
    @Defun(d, d, d)
    def backwards(x, w, dy):
        return dy * 10, dy * w

    @Defun(d, d, grad_func=backwards)
    def forwards(x, w):
        return x * w * tf.random_uniform([], 1, 1, dtype=d)

    x, w = tf.constant(2., d), tf.constant(3., d)
    y = forwards(x, w) * 2
    found = tf.gradients(y, [x, w])
    library = tf.get_default_graph().as_graph_def().library
    assert [(g.function_name, g.gradient_func) for g in library.gradient] == [
        (forwards.name, backwards.name)]
    by_name = raw.SymbolicGradient([x, w, x], Tout=[d, d], f=forwards.name)
    with tf.Session() as session:
        assert session.run(found) == [20, 6]
        assert session.run(by_name) == [20, 6]


def test_a_gradient_function_with_too_few_results():
    @Defun(d, d, d)
    def backwards(x, w, dy):
        return dy

    @Defun(d, d, grad_func=backwards)
    def forwards(x, w):
        return x * w
    x = tf.constant(2., d)
    with pytest.raises(ValueError, match="has 1 results, wanted 2"):
        tf.gradients(forwards(x, x), x)


def test_a_function_with_a_gradient_in_python():
    def backwards(op, dy):
        assert op.type == "PartitionedCall"
        return dy * op.inputs[1] * 100, None

    @Defun(d, d, python_grad_func=backwards)
    def forwards(x, w):
        return x * w

    x, w = tf.constant(2., d), tf.constant(3., d)
    found = tf.gradients(forwards(x, w), [x, w])
    assert found[1] is None
    y = tf.while_loop(lambda n, a: n < 2,
                      lambda n, a: (n + 1, tf.reshape(forwards(a, w), [])),
                      [0, x])[1]
    in_loop = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run(found[0]) == 300
        assert session.run(in_loop) == [90000]
    with pytest.raises(ValueError, match="Gradient defined twice"):
        Defun(d, grad_func=forwards, python_grad_func=backwards)(lambda x: x)


def library_of(calls):
    """A GraphDef with the functions f0, f1...; each calls these, in turn."""
    graph = tf.GraphDef()
    for i, callees in enumerate(calls):
        f = graph.library.function.add()
        f.signature.name = "f%d" % i
        f.signature.input_arg.add(name="x", type=int(tf.float64))
        f.signature.output_arg.add(name="y", type=int(tf.float64))
        last = "x"
        for k, callee in enumerate(callees):
            n = f.node_def.add(name="n%d" % k, op="PartitionedCall",
                               input=[last])
            n.attr["f"].func.name = "f%d" % callee
            for key in ("Tin", "Tout"):
                n.attr[key].list.type.append(int(tf.float64))
            last = "n%d:output:0" % k
        f.node_def.add(name="sin", op="Sin", input=[last]
                       ).attr["T"].type = int(tf.float64)
        f.ret["y"] = "sin:y:0"
    return graph


@pytest.mark.parametrize("calls, error, words", [
    ([[0]], NotImplementedError, "'f0', which calls itself"),
    ([[1], [0]], NotImplementedError, "calls itself"),
    ([[i + 1, i + 1] for i in range(40)] + [[]],
     tf.errors.ResourceExhaustedError, "10000 in all"),
    ([[i + 1] for i in range(300)] + [[]],
     tf.errors.ResourceExhaustedError, "at most 100 calls")])
def test_functions_without_end_are_refused(calls, error, words):
    tf.import_graph_def(library_of(calls), name="")
    x = tf.constant(1., d)
    y = raw.PartitionedCall([x], Tout=[d], f="f0")
    with pytest.raises(error, match=words):
        tf.gradients(y, x)
