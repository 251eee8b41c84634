"""cond, case and while_loop against NumPy: nested, with captured tensors,
structures, control dependencies and errors."""
import collections

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import parallel_gradients
from headrace._src.control import parallel_for


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


class TestCond:
    def test_takes_the_branch_that_pred_says(self):
        x = tf.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
        with tf.Session() as session:
            assert session.run(y, {x: 3}) == 6
            assert session.run(y, {x: -3}) == -4

    def test_runs_only_one_branch(self):
        pred = tf.placeholder(tf.bool, [])
        counts = [tf.Variable(0), tf.Variable(0)]

        def count(i):
            return lambda: tf.identity(counts[i].assign_add(1))
        out = tf.cond(pred, count(0), count(1))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for p in (True, True, False):
                session.run(out, {pred: p})
            assert session.run(counts) == [2, 1]

    def test_constants_and_outer_tensors_as_results(self):
        pred, x = tf.placeholder(tf.bool, []), tf.constant([1., 2.])
        out = tf.cond(pred, lambda: x, lambda: tf.constant([5., 6.]))
        assert run(out, {pred: True}).tolist() == [1, 2]
        assert run(out, {pred: False}).tolist() == [5, 6]

    def test_structures(self):
        pair = collections.namedtuple("Pair", "a b")
        pred = tf.placeholder(tf.bool, [])

        def branch(k):
            return lambda: {"p": pair(tf.constant(k), tf.constant(k + 1)),
                            "l": [tf.constant(k + 2)]}
        out = tf.cond(pred, branch(0), branch(10))
        assert run(out, {pred: False}) == {"p": pair(10, 11), "l": [12]}

    def test_single_element_lists(self):
        pred = tf.constant(True)
        f = lambda: [tf.constant(1)]  # noqa: E731
        assert isinstance(tf.cond(pred, f, f), tf.Tensor)
        assert isinstance(tf.cond(pred, f, f, strict=True), list)

    def test_single_element_lists_of_lists(self):
        pred = tf.constant(True)
        f = lambda: [[tf.constant(1)]]  # noqa: E731
        assert isinstance(tf.cond(pred, f, f), tf.Tensor)
        assert run(tf.cond(pred, f, f, strict=True)) == [[1]]

    def test_references_as_results(self):
        a, b = tf.Variable(3), tf.Variable(4)
        pred = tf.placeholder(tf.bool, [])
        out = tf.cond(pred, lambda: a.assign_add(10), lambda: b.assign_add(10))
        assert out.dtype._is_ref_dtype
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(out, {pred: True}) == 13
            assert session.run([a, b]) == [13, 4]

    def test_no_nodes_but_the_users_in_a_branch(self):
        x = tf.placeholder(tf.float32, [])
        tf.cond(x > 0, lambda: tf.identity(x), lambda: x)
        names = {o.name for o in tf.get_default_graph().get_operations()
                 if o.type == "Identity"}
        assert names == {"cond/switch_t", "cond/switch_f", "cond/pred_id",
                         "cond/Identity"}

    def test_sparse_tensors(self):
        pred = tf.placeholder(tf.bool, [])

        def branch(k):
            return lambda: tf.SparseTensor([[k]], [10 * k], [5])
        out = tf.cond(pred, branch(1), branch(2))
        assert isinstance(out, tf.SparseTensor)
        assert run(tf.sparse_tensor_to_dense(out), {pred: False}).tolist() == [
            0, 0, 20, 0, 0]

    def test_operations_as_results(self):
        v = tf.Variable(1)
        out = tf.cond(tf.constant(True), lambda: v.assign(7).op,
                      lambda: tf.no_op())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(out)
            assert session.run(v) == 7

    def test_nested(self):
        x = tf.placeholder(tf.int32, [])
        k = tf.constant(100)
        y = tf.cond(x > 0, lambda: tf.cond(x > 10, lambda: x + k,
                                           lambda: x * 2),
                    lambda: tf.cond(x < -10, lambda: -k, lambda: k * x))
        with tf.Session() as session:
            got = [session.run(y, {x: v}) for v in (20, 3, -20, -3)]
        assert got == [120, 6, -100, -300]

    def test_names_are_those_of_tensorflow(self):
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.cond(x > 0, lambda: tf.add(x, 1), lambda: x)
        assert y.op.name == "cond/Merge"
        names = {o.name for o in tf.get_default_graph().get_operations()}
        assert {"cond/Switch", "cond/switch_t", "cond/switch_f",
                "cond/pred_id", "cond/Add/Switch"} <= names

    def test_control_dependencies_outside(self):
        v = tf.Variable(1)
        with tf.control_dependencies([v.assign(5)]):
            y = tf.cond(tf.constant(True), lambda: v.read_value(),
                        lambda: tf.constant(0))
        assert run(y) == 5

    @pytest.mark.parametrize("functions, error, text", [
        ((None, lambda: 1), TypeError, "true_fn must be callable"),
        ((lambda: None, lambda: 1), ValueError, "must have a return value"),
        ((lambda: tf.constant(1), lambda: tf.constant(1.)), ValueError,
         "must have the same type"),
        ((lambda: [tf.constant(1)] * 2, lambda: tf.constant(1)), ValueError,
         "Incompatible return types"),
    ])
    def test_refusals(self, functions, error, text):
        with pytest.raises(error, match=text):
            tf.cond(tf.constant(True), *functions)
        assert tf.get_default_graph()._flow_context is None

    def test_python_bool(self):
        with pytest.raises(TypeError, match="Python bool"):
            tf.cond(True, lambda: 1, lambda: 2)


class TestCase:
    def test_first_that_holds(self):
        x = tf.placeholder(tf.int32, [])
        y = tf.case([(x < 0, lambda: tf.constant(-1)),
                     (x < 10, lambda: tf.constant(0))],
                    default=lambda: tf.constant(1))
        with tf.Session() as session:
            assert [session.run(y, {x: v}) for v in (-5, 5, 15)] == [-1, 0, 1]

    def test_exclusive(self):
        x = tf.placeholder(tf.int32, [])
        y = tf.case([(x < 0, lambda: tf.constant(-1)),
                     (x < 10, lambda: tf.constant(0))],
                    default=lambda: tf.constant(1), exclusive=True)
        with tf.Session() as session:
            assert session.run(y, {x: 5}) == 0
            with pytest.raises(tf.errors.InvalidArgumentError,
                               match="more than 1 conditions"):
                session.run(y, {x: -5})

    def test_predicates_are_tensors(self):
        with pytest.raises(TypeError, match="pred must be a Tensor"):
            tf.case([(True, lambda: tf.constant(1))])

    def test_none_holds(self):
        x = tf.placeholder(tf.int32, [])
        y = tf.case([(x < 0, lambda: tf.constant(-1)),
                     (x < 10, lambda: tf.constant(0))])
        with tf.Session() as session:
            assert session.run(y, {x: 5}) == 0
            with pytest.raises(tf.errors.InvalidArgumentError,
                               match="None of conditions"):
                session.run(y, {x: 50})


class TestWhile:
    def test_counts(self):
        assert run(tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])) == 10
        assert run(tf.while_loop(lambda i: i < 0, lambda i: i + 1, [3])) == 3

    def test_captures(self):
        x = tf.placeholder(tf.float32, [3])
        _, s = tf.while_loop(lambda i, s: i < 5,
                             lambda i, s: (i + 1, s + x * tf.constant(2.)),
                             (0, tf.zeros([3])))
        assert run(s, {x: [1, 2, 3]}).tolist() == [10, 20, 30]

    def test_structures(self):
        state = collections.namedtuple("State", "n d")

        def body(s):
            return [state(s.n + 1, {"a": s.d["a"] * 2, "b": [s.d["b"][0] + 3]})]
        out = tf.while_loop(lambda s: s.n < 4, body,
                            [state(tf.constant(0), {"a": tf.constant(1),
                                                    "b": [tf.constant(0)]})])
        assert run(out[0] if isinstance(out, list) else out) == state(
            4, {"a": 16, "b": [12]})

    def test_nested_loops(self):
        def outer(i, total):
            _, total = tf.while_loop(lambda j, t: j < i,
                                     lambda j, t: (j + 1, t + i * j),
                                     (0, total))
            return i + 1, total
        _, total = tf.while_loop(lambda i, t: i < 8, outer, (0, 0))
        assert run(total) == sum(i * j for i in range(8) for j in range(i))

    def test_three_levels_with_outer_tensor(self):
        k = tf.placeholder(tf.int32, [])

        def loop(n, body):
            return lambda t: tf.while_loop(
                lambda i, t: i < n, lambda i, t: (i + 1, body(t)), (0, t))[1]
        out = loop(2, loop(3, loop(4, lambda t: t + k)))(tf.constant(0))
        assert run(out, {k: 5}) == 120

    def test_cond_in_while(self):
        k = tf.placeholder(tf.int32, [])

        def body(n, steps):
            n = tf.cond(tf.equal(n % 2, 0), lambda: n // 2,
                        lambda: k * n + 1)
            return n, steps + 1
        _, steps = tf.while_loop(lambda n, s: n > 1, body, (27, 0))
        assert run(steps, {k: 3}) == 111

    def test_while_in_cond(self):
        pred, n = tf.placeholder(tf.bool, []), tf.placeholder(tf.int32, [])

        def count():
            return tf.while_loop(lambda i, s: i < n,
                                 lambda i, s: (i + 1, s + n), (0, 0))[1]
        out = tf.cond(pred, count, lambda: n)
        with tf.Session() as session:
            assert session.run(out, {pred: True, n: 6}) == 36
            assert session.run(out, {pred: False, n: 6}) == 6

    def test_while_in_cond_in_while(self):
        def inner(i):
            return tf.while_loop(lambda j: j < i, lambda j: j + 1, [0])

        def body(i, s):
            return i + 1, s + tf.cond(i > 3, lambda: inner(i), lambda: 0 * i)
        _, s = tf.while_loop(lambda i, s: i < 8, body, (0, 0))
        assert run(s) == 4 + 5 + 6 + 7

    def test_maximum_iterations(self):
        out = tf.while_loop(lambda i, s: i < 100, lambda i, s: (i + 1, s + i),
                            (0, 0), maximum_iterations=5)
        assert run(out) == (5, 10)
        one = tf.while_loop(lambda i: True, lambda i: i * 2, [1],
                            maximum_iterations=10)
        assert run(one) == 1024

    def test_shape_invariants(self):
        x = tf.constant([[1.]])
        _, out = tf.while_loop(
            lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, v], 0)),
            (0, x), shape_invariants=(tf.TensorShape([]),
                                      tf.TensorShape([None, 1])))
        assert out.shape.as_list() == [None, 1]
        assert run(out).shape == (8, 1)

    def test_sparse_tensors(self):
        x = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])
        _, out = tf.while_loop(
            lambda i, s: i < 3,
            lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2,
                                                 s.dense_shape)), (0, x))
        assert isinstance(out, tf.SparseTensor)
        assert run(out).values.tolist() == [8, 16]

    def test_sparse_tensors_that_grow(self):
        x = tf.SparseTensor([[0]], [1], [4])

        def body(i, s):
            return i + 1, tf.SparseTensor(
                tf.concat([s.indices, [[i]]], 0),
                tf.concat([s.values, [5]], 0), s.dense_shape)
        _, out = tf.while_loop(
            lambda i, s: i < tf.constant(3, tf.int64), body,
            (tf.constant(1, tf.int64), x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([1])))
        assert run(out).values.tolist() == [1, 5, 5]
        with pytest.raises(ValueError, match="rank 1"):
            tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s), (0, x),
                          shape_invariants=(tf.TensorShape([]),
                                            tf.TensorShape([None, None])))

    def test_static_shape_is_kept(self):
        x = tf.while_loop(lambda v: tf.reduce_sum(v) < 10, lambda v: v + 1,
                          [tf.zeros([2, 3])])
        assert x.shape.as_list() == [2, 3]

    def test_names_are_those_of_tensorflow(self):
        k = tf.constant(3, name="k")
        out = tf.while_loop(lambda i: i < 10, lambda i: tf.add(i, k), [0])
        assert out.op.name == "while/Exit"
        graph = tf.get_default_graph()
        names = {o.name for o in graph.get_operations()}
        assert {"while/Enter", "while/Merge", "while/LoopCond", "while/Switch",
                "while/Identity", "while/Add/Enter",
                "while/NextIteration"} <= names
        enter = graph.get_operation_by_name("while/Add/Enter")
        assert enter.get_attr("is_constant")
        assert enter.get_attr("frame_name") == b"while/while_context"
        less = graph.get_operation_by_name("while/Less/y")
        assert [o.name for o in less.control_inputs] == ["while/Merge"]

    def test_variables_are_assigned_in_each_iteration(self):
        v = tf.Variable(0)

        def body(i):
            with tf.control_dependencies([v.assign_add(i)]):
                return i + 1
        loop = tf.while_loop(lambda i: i < 5, body, [0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(loop)
            assert session.run(v) == 10

    def test_control_dependencies_around_the_loop(self):
        v = tf.Variable(1)
        with tf.control_dependencies([v.assign(10)]):
            out = tf.while_loop(lambda i: i < 3,
                                lambda i: i + tf.ones_like(i), [0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(out) == 3
            assert session.run(v) == 10

    def test_parallel_iterations_do_not_change_results(self):
        rng = np.random.RandomState(0)
        m = rng.randn(4, 4).astype(np.float32) / 4
        want = np.linalg.matrix_power(m.astype(np.float64), 20)
        for n in (1, 3, 32):
            _, out = tf.while_loop(lambda i, x: i < 20,
                                   lambda i, x: (i + 1, tf.matmul(x, m)),
                                   (0, np.eye(4, dtype=np.float32)),
                                   parallel_iterations=n)
            np.testing.assert_allclose(run(out), want, atol=1e-6)

    @pytest.mark.parametrize("arguments, error, text", [
        ((lambda: 1, lambda: 1, []), ValueError, "No loop variables"),
        ((1, lambda i: i, [0]), TypeError, "cond must be callable"),
        ((lambda i: i < 3, 1, [0]), TypeError, "body must be callable"),
        ((lambda i: i < 3, lambda i: (i, i), [0]), ValueError,
         "same nested structure"),
        ((lambda i: i[0] < 3, lambda i: tf.concat([i, i], 0),
          [np.zeros([1], np.int32)]), ValueError,
         "shape_invariants"),
        ((lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [0]), ValueError,
         "float"),
    ])
    def test_refusals(self, arguments, error, text):
        with pytest.raises(error, match=text):
            tf.while_loop(*arguments)
        assert tf.get_default_graph()._flow_context is None

    def test_an_error_names_the_node_in_the_loop(self):
        out = tf.while_loop(lambda i: i >= 0, lambda i: 1 // (i - 3) + i + 1,
                            [5])
        body = tf.while_loop(
            lambda i: i < 5,
            lambda i: tf.reduce_sum(tf.gather(tf.constant([1, 2]), i)) + i,
            [0], name="bad")
        del out
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad/"):
            run(body)


def test_print_and_assert_in_a_loop(capfd):
    def body(i):
        check = tf.Assert(i < 3, [i])
        with tf.control_dependencies([check]):
            return tf.Print(i, [i], "at ") + 1
    out = tf.while_loop(lambda i: i < 3, body, [0])
    assert run(out) == 3
    assert capfd.readouterr().err.count("at ") == 3


def test_what_is_inside_cannot_be_fetched():
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    pred = tf.constant(True)
    tf.cond(pred, lambda: tf.constant(1), lambda: tf.constant(2))
    graph = tf.get_default_graph()
    with tf.Session() as session:
        for name in ("while/add:0", "cond/Const:0"):
            tensor = graph.get_tensor_by_name(name)
            assert not graph.is_fetchable(tensor)
            for fetch in (tensor, name, tensor.op):
                with pytest.raises(ValueError, match="not fetchable"):
                    session.run(fetch)
        assert session.run("while/Exit:0") == 3


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.leaky_relu, tf.sigmoid, tf.tanh])
def test_layers_without_a_bias_are_fused_inside_of_loops(activation):
    image, row = np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 4, 4, 4), np.linspace(-1, 1, 4, dtype=np.float32).reshape(1, 4)
    filters, matrix = np.linspace(-1, 1, 144, dtype=np.float32).reshape(3, 3, 4, 4), np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)

    def layers(i, x, y):
        return (i + 1, activation(tf.nn.conv2d(x, tf.constant(filters), strides=[1, 1, 1, 1], padding="SAME")),
                activation(tf.matmul(y, tf.constant(matrix))))

    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [None, 4, 4, 4]), tf.placeholder(tf.float32, [None, 4])
        got = session.run(tf.while_loop(lambda i, x, y: i < 2, layers, [0, x, y])[1:], {x: image, y: row})
        want = session.run(layers(0, *layers(0, x, y)[1:])[1:], {x: image, y: row})
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)


def test_programs_bring_tensors_into_the_context_of_a_graph():
    graph = tf.get_default_graph()
    assert graph._get_control_flow_context() is None
    x = tf.constant(3.0)
    seen = []

    def branch():
        context = graph._get_control_flow_context()
        seen.append(context)
        assert context.IsCondContext() and not context.IsWhileContext()
        inner = context.AddValue(x)
        assert inner.op.type == "Switch" and context.AddValue(x) is inner
        # A node of no context, then the branch again.
        graph._set_control_flow_context(None)
        outside = x + 1.0
        graph._set_control_flow_context(context)
        return inner + outside

    def body(i):
        context = graph._get_control_flow_context()
        seen.append(context)
        assert context.IsWhileContext() and context.GetWhileContext() is context
        return i + context.AddValue(x)

    assert run([tf.cond(tf.placeholder_with_default(True, []), branch,
                        lambda: x),
                tf.while_loop(lambda i: i < 5.0, body, [0.0])]) == [7.0, 6.0]
    assert graph._get_control_flow_context() is None and len(seen) == 2


@pytest.mark.parametrize("kind", ["while", "cond"])
def test_nodes_imported_into_a_branch_or_a_loop_belong_to_it(kind):
    with tf.Graph().as_default() as part:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.multiply(x, 2.0, name="double")
        tf.add(x, tf.constant([1.0]), name="more")
        tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [0.0],
                      name="inner")
    outer = tf.constant([10.0, 20.0])

    def body(i, x):
        double, more, three = tf.import_graph_def(
            part.as_graph_def(), {"x:0": x},
            ["double:0", "more:0", "inner/Exit:0"], name="part")
        (again,) = tf.import_graph_def(part.as_graph_def(), {"x": outer},
                                       ["double:0"], name="again")
        assert again.op.inputs[0].op.type == (
            "Enter" if kind == "while" else "Switch")
        (constant,) = [c for c in double.op.inputs if c.op.type == "Const"]
        assert [c.type for c in constant.op.control_inputs] == [
            "Identity"]  # the pivot
        out = double + more + three + again
        out.set_shape([2])
        return i + 1, out

    start = tf.constant([1.0, 2.0])
    if kind == "while":
        out = tf.while_loop(lambda i, x: i < 2, body, [0, start])[1]
    else:
        out = tf.cond(tf.placeholder_with_default(True, []),
                      lambda: body(0, start)[1], lambda: start)

    def step(x):
        return 2 * x + (x + 1) + 3 + 2 * np.float32([10, 20])
    wanted = step(np.float32([1, 2]))
    np.testing.assert_array_equal(
        run(out), step(wanted) if kind == "while" else wanted)


def test_branches_that_are_known_now():
    framework = tf.contrib.framework
    values = [(True, True), (0, False), (np.bool_(True), True)]
    for pred, wanted in values:
        assert framework.smart_constant_value(pred) is wanted
    with pytest.raises(TypeError, match="must be a Tensor, or a Python bool"):
        framework.smart_constant_value("a")

    def branch(n):
        return lambda: tf.constant(n)
    with tf.Graph().as_default(), tf.Session() as sess:
        p = tf.placeholder(tf.bool, [])
        assert framework.smart_constant_value(p) is None
        assert framework.smart_constant_value(tf.constant(True))
        known = framework.smart_case([(False, branch(1)), (True, branch(2))],
                                     default=branch(3))
        assert known.op.type == "Const" and sess.run(known) == 2
        asked = framework.smart_case([(False, branch(1)), (p, branch(2))],
                                     default=branch(3))
        assert [sess.run(asked, {p: v}) for v in (True, False)] == [2, 3]
        with pytest.raises(TypeError):
            framework.smart_case(3)


def test_the_name_of_a_critical_section():
    with tf.Graph().as_default():
        assert tf.CriticalSection(name="s").name == "s"
        assert tf.CriticalSection().name == "CriticalSection"


def _by_pfor(fn, n):
    return parallel_for.pfor(fn, n)


def _by_for_loop(fn, n):
    return parallel_for.for_loop(fn, tf.float32, n)


@pytest.mark.parametrize("loop", [_by_pfor, _by_for_loop])
@pytest.mark.parametrize("fn, want", [
    (lambda x, i: tf.gather(x, i) + 1., [[1., 2.], [3., 4.], [5., 6.]]),
    (lambda x, i: tf.cast(i, tf.float32) * x[0, 1], [0., 1., 2.]),
    (lambda x, i: tf.convert_to_tensor(
        tf.gradients(tf.gather(x, i), x)[0])[:, 0],
     [[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]])])
def test_loops_of_independent_iterations(loop, fn, want):
    x, n = tf.reshape(tf.range(6.), [3, 2]), tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        assert session.run(loop(lambda i: fn(x, i), 3)).tolist() == want
        assert session.run(loop(lambda i: fn(x, i), n),
                           {n: 3}).tolist() == want


def test_structures_and_operations_of_parallel_loops():
    v = tf.Variable(0)
    loop = parallel_for.pfor(lambda i: {"a": (i, i * 2), "b": None}, 3)
    add = parallel_for.pfor(lambda i: tf.assign_add(v, 1).op, 3)
    x = tf.ones([3, 2])
    assert parallel_for.pfor(lambda i: tf.gather(x, i), 3).shape == (3, 2)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(loop["a"])[1].tolist() == [0, 2, 4]
        assert loop["b"] is None and isinstance(add, tf.Operation)
        session.run(add)
        assert session.run(v) == 3
        assert session.run(parallel_for.pfor(
            lambda i: tf.zeros([2]), 0)).shape == (0, 2)


def test_vectorized_map():
    x = tf.constant([[1., 2.], [3., 4.]])
    sums, ints = tf.vectorized_map(
        lambda a: (tf.reduce_sum(a["x"]), tf.cast(a["y"], tf.int32)),
        {"x": x, "y": x})
    with tf.Session() as session:
        assert session.run(sums).tolist() == [3., 7.]
        assert session.run(ints).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("call, kind, message", [
    (lambda: parallel_for.pfor(abs, 3, 0), ValueError, "a positive integer"),
    (lambda: parallel_for.pfor(abs, 3, 1), ValueError, "Use for_loop instead"),
    (lambda: parallel_for.pfor(lambda i, pfor_config: i, 3),
     NotImplementedError, "pfor_config"),
    (lambda: parallel_for.pfor(lambda i: tf.SparseTensor(
        [[0]], [1.], [1]), 3), NotImplementedError, "SparseTensor"),
    (lambda: parallel_for.for_loop(lambda i: [i, i], tf.int32, 3), ValueError,
     "Number of expected outputs, 1")])
def test_what_parallel_loops_refuse(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("use_pfor", [True, False])
def test_jacobians_by_loops(use_pfor):
    x = tf.constant([1., 2., 3.])
    y = tf.stack([x[0] * x[1], x[2] ** 2])
    found, none = parallel_gradients.jacobian(y, [x, tf.ones([2])], use_pfor)
    assert none is None and found.shape == (2, 3)
    b, p = tf.constant([[1., 2.], [3., 4.]]), tf.placeholder(
        tf.float32, [None, 2])
    with tf.Session() as session:
        assert session.run(found).tolist() == [[2., 1., 0.], [0., 0., 6.]]
        for at, feed in ((b, {}), (p, {p: [[1., 2.], [3., 4.]]})):
            assert session.run(parallel_gradients.batch_jacobian(
                at * at, at, use_pfor), feed).tolist() == [
                    [[2., 0.], [0., 4.]], [[6., 0.], [0., 8.]]]
    assert parallel_gradients.batch_jacobian(b, tf.ones([2, 2])) is None
    with pytest.raises(ValueError, match="Need first dimension of output"):
        parallel_gradients.batch_jacobian(b, tf.ones([3, 2]))
