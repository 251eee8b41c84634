"""tf.gradients and what belongs to it: arguments, names, slices, conditionals,
functions in Python, refusals; optimizers, and a network that is trained."""
import numpy as np
import pytest

import headrace as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


# Arguments.

def test_gradients_of_several_ys_add_up():
    x = tf.constant([1., 2.])
    assert run(tf.gradients([x * 3, x * x, x], x))[0].tolist() == [6, 8]


def test_a_y_that_is_an_x_has_the_gradient_one():
    x = tf.constant([1., 2.])
    y = x * 2
    got = tf.gradients(y, [x, y])
    assert [v.tolist() for v in run(got)] == [[2, 2], [1, 1]]


def test_what_does_not_depend_on_x():
    x, other = tf.constant(1.), tf.constant([2., 3.])
    y = x * 2
    assert tf.gradients(y, other) == [None]
    zero = tf.gradients(y, other, unconnected_gradients="zero")
    assert run(zero)[0].tolist() == [0, 0]
    assert tf.gradients(tf.cast(x, tf.int32), x) == [None]
    assert tf.gradients(tf.stop_gradient(x) * 2, x) == [None]
    assert tf.gradients(tf.cast(x > 0, tf.float32), x) == [None]


def test_initial_gradients():
    x = tf.constant([1., 2.])
    y = x * x
    got = tf.gradients([y, y], x, grad_ys=[[10., 100.], None])
    assert run(got)[0].tolist() == [22, 404]


@pytest.mark.parametrize("grad_y, error, words", [
    ([1., 2., 3.], ValueError, r"\[3\].*\[2\]"),
    (np.array([1, 2]), TypeError, r"grad_ys\[0\] has type int64"),
    (np.array([1j, 2]), TypeError, r"grad_ys\[0\] has type complex128"),
    (np.array([1., 2.]), TypeError, "has type float64, .* its type, float32"),
])
def test_initial_gradients_that_do_not_fit(grad_y, error, words):
    x = tf.constant([1., 2.])
    with pytest.raises(error, match=words):
        tf.gradients(x * 2, x, grad_ys=tf.constant(grad_y))
    with pytest.raises(ValueError, match="2 grad_ys for 1 ys"):
        tf.gradients(x * 2, x, grad_ys=[None, None])


def test_complex_ys_need_initial_gradients():
    x = tf.constant([1j])
    with pytest.raises(TypeError, match="must set grad_ys"):
        tf.gradients(x * x, x)


def test_stop_gradients_count_as_constants():
    a = tf.constant(0.)
    b = 2 * a
    assert run(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1, 1]
    assert run(tf.gradients(a + b, [a, b])) == [3, 1]


def test_names_are_those_of_tensorflow(graph):
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    w = tf.Variable(tf.ones([2, 4]), name="w")
    y = tf.tanh(tf.matmul(x, w))
    first = tf.gradients(y, [w, x], gate_gradients=True)
    again = tf.gradients(y, w)[0]
    with tf.name_scope("train"):
        inner = tf.gradients(y, w, name="g")[0]
    assert [t.name for t in first] == [
        "gradients/MatMul_grad/tuple/control_dependency_1:0",
        "gradients/MatMul_grad/tuple/control_dependency:0"]
    assert again.name == "gradients_1/MatMul_grad/MatMul:0"
    assert inner.name == "train/g/MatMul_grad/MatMul:0"
    names = [op.name for op in graph.get_operations()]
    for name in ("Shape", "grad_ys_0", "Fill", "Tanh_grad/TanhGrad",
                 "MatMul_grad/tuple/group_deps"):
        assert "gradients/" + name in names
    gate = graph.get_operation_by_name(
        "gradients/MatMul_grad/tuple/group_deps")
    assert {op.name for op in gate.control_inputs} == {
        "gradients/MatMul_grad/MatMul", "gradients/MatMul_grad/MatMul_1"}


def test_colocation():
    x = tf.constant([1.])
    with tf.device("/cpu:0"):
        y = tf.tanh(x, name="y")
    g = tf.gradients(y, x, colocate_gradients_with_ops=True)[0]
    assert g.op.colocation_groups() == [b"loc:@y"]
    assert g.device == y.device
    g = tf.gradients(y, x)[0]
    assert g.device == ""


def test_second_derivatives():
    x = tf.constant([1., 2.])
    first = tf.gradients(x ** 4, x)[0]
    assert run(tf.gradients(first, x))[0].tolist() == [12, 48]
    y = tf.reduce_sum(x ** 3) + x[0] * x[1]
    assert run(tf.hessians(y, x))[0].tolist() == [[6, 1], [1, 12]]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2",
                                "FusedBatchNormV3"])
def test_second_derivatives_of_batch_normalisation(op, data_format, training):
    if data_format == "NCHW" and training:
        pytest.skip("the kernel trains with NHWC")
    random = np.random.RandomState(4)
    shape = [3, 2, 2, 2]
    v = random.uniform(0.5, 1.5, shape).astype("f")
    s = random.uniform(0.5, 1.5, [2]).astype("f")
    x, scale = tf.placeholder("float", shape), tf.placeholder("float", [2])
    stats = [[], []] if training else [[0.3, 0.7], [1.5, 0.6]]
    y = getattr(tf.raw_ops, op)(
        x, scale, tf.constant([0.1, 0.2]),
        *[tf.constant(t, "float") for t in stats],
        is_training=training, data_format=data_format, epsilon=0.1)[0]
    weights = tf.constant(random.uniform(-1, 1, shape).astype("f"))
    first = tf.gradients(tf.tanh(y) * weights, [x, scale])
    feed = {x: v, scale: s}
    with tf.Session():
        for g, g_shape in zip(first, (shape, [2])):
            for t, value in ((x, v), (scale, s)):
                assert tf.test.compute_gradient_error(
                    t, value.shape, g, g_shape, value, delta=1e-2,
                    extra_feed_dict=feed) < 5e-3


# Slices.

@pytest.mark.parametrize("resource", [False, True])
def test_gradients_of_gathered_rows_stay_slices(resource):
    w = tf.get_variable("w", initializer=np.eye(4, 2, dtype="f"),
                        use_resource=resource)
    rows = tf.gather(w, [[1, 3], [1, 0]])
    got = tf.gradients(tf.reduce_sum(rows * 3), w)[0]
    assert isinstance(got, tf.IndexedSlices)
    value = run(got)
    assert value.indices.tolist() == [1, 3, 1, 0]
    assert value.values.tolist() == [[3, 3]] * 4
    assert value.dense_shape.tolist() == [4, 2]


def test_slices_add_up_and_become_dense_beside_dense_ones():
    w = tf.get_variable("w", initializer=np.zeros((3, 1), "f"))
    two = tf.gather(w, [0]) + tf.gather(w, [2])
    got = tf.gradients(two, w)[0]
    assert run(got.indices).tolist() == [0, 2]
    got = tf.gradients([tf.gather(w, [1, 1]), w * 5], w)[0]
    assert run(got).tolist() == [[5], [7], [5]]
    doubled = tf.gradients(tf.gather(w * 2, [1]), w)[0]
    assert run(doubled).tolist() == [[0], [2], [0]]


# Control flow.

@pytest.mark.parametrize("x, wanted", [
    (3., [2 * 3. * 4, 9.]), (1., [5., 0.]), (-1., [np.cos(-1.), 0.])])
def test_conditionals(x, wanted):
    p = tf.placeholder(tf.float64, [])
    w = tf.get_variable("w", initializer=np.float64(4), use_resource=True)
    y = tf.cond(p > 0,
                lambda: tf.cond(p > 2, lambda: p * p * w, lambda: p * 5),
                lambda: tf.sin(p))
    np.testing.assert_allclose(run(tf.gradients(y, [p, w]), {p: x}), wanted)


def test_tensor_arrays():
    x = tf.constant([1., 2., 3.])
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False)
    array = array.unstack(x * x)
    y = array.read(0) * array.read(2) + tf.reduce_sum(array.stack())
    assert run(tf.gradients(y, x))[0].tolist() == [20, 4, 12]
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    array = array.split(x * 2, [1, 2])
    assert run(tf.gradients(array.concat() * [1., 10, 100], x)
               )[0].tolist() == [2, 20, 200]
    array = tf.TensorArray(tf.float32, 2).write(0, x[0]).write(1, x[2])
    assert run(tf.gradients(array.gather([1]), x))[0].tolist() == [0, 0, 1]


def loop_all(n, body, *initial):
    """The variables after n iterations of body(i, *variables)."""
    return tf.while_loop(
        lambda i, *v: i < n, lambda i, *v: (i + 1, *body(i, *v)),
        [0, *initial])[1:]


def loop(n, body, *initial):
    return loop_all(n, body, *initial)[-1]


def through_arrays(x, w):
    rows = tf.TensorArray(tf.float64, 4).unstack(x)

    def body(i, h, out):
        h = tf.tanh(tf.matmul(rows.read(i), w) + h)
        return h, out.write(i, h * h)

    return loop(4, body, tf.zeros([2, 3], tf.float64),
                tf.TensorArray(tf.float64, 4)).stack()


def twice(x):
    first = loop(3, lambda i, a: [a * x], x)
    return loop(3, lambda i, a: [tf.sin(a) * x], first)


def with_branches(x, w):
    def body(i, a):
        return [tf.cond(
            tf.equal(i % 2, 0),
            lambda: tf.cond(i > 2, lambda: tf.exp(tf.sin(a)) * w,
                            lambda: a * a * x),
            lambda: a + tf.cos(x * a))]
    return loop(5, body, x)


def nested(x, w):
    def inner(i, a):
        return loop(i + 1, lambda j, b: [tf.sin(b) * w + x], a)
    return loop(3, lambda i, a: [inner(i, a) * a], x)


def nested_thrice(x, w):
    def middle(a, n):
        return loop(n, lambda j, b: [
            loop(2, lambda k, c: [tf.tanh(c * w) + b * a], b) + x], a)
    return loop(3, lambda i, a: [middle(a, i) + tf.cos(a)], x)


def loop_in_branches(x, w):
    def body(i, a):
        return [tf.cond(
            tf.equal(i % 2, 0),
            lambda: loop(2, lambda j, b: [tf.sin(b * w) + a], a * x),
            lambda: tf.cond(i > 2, lambda: a * w,
                            lambda: loop(i, lambda j, b: [b * b * x], a)))]
    return loop(5, body, x)


def loop_in_a_branch(x, w):
    def taken(yes):
        return tf.cond(x > 0 if yes else x < 0,
                       lambda: loop(3, lambda j, b: [tf.sin(b * w) + x], x),
                       lambda: x * 3)
    return taken(True) * taken(False)


def recurrent_inside(x, w):
    def step(i, h):
        rows = tf.TensorArray(tf.float64, 3).unstack(x)
        h, out = loop_all(3, lambda j, h, out: (
            tf.tanh(tf.matmul(rows.read(j), w) + h),
            out.write(j, h * h)), h, tf.TensorArray(tf.float64, 3))
        return [h + tf.reduce_sum(out.stack(), 0)]
    return loop(2, step, tf.zeros([2, 3], tf.float64))


def at_most(x):
    return tf.while_loop(
        lambda a: True,
        lambda a: tf.while_loop(lambda b: True, lambda b: b * x, [a],
                                maximum_iterations=3, parallel_iterations=1),
        [x], maximum_iterations=2)


LOOPS = {
    "nested": (nested, [], []),
    "nested thrice": (nested_thrice, [], []),
    "a loop in branches in a loop": (loop_in_branches, [], []),
    "a loop in a branch": (loop_in_a_branch, [], []),
    "an RNN in a loop": (recurrent_inside, [3, 2, 3], [3, 3]),
    "at most": (at_most, []),
    "power": (lambda x: loop(4, lambda i, a: [a * x], 1 + 0 * x), []),
    "recurrent": (lambda h, w, b: loop(
        5, lambda i, h: [tf.tanh(tf.matmul(h, w) + b)], h),
        [2, 3], [3, 3], [3]),
    "tensor arrays": (through_arrays, [4, 2, 3], [3, 3]),
    "no iteration": (lambda x: loop(0, lambda i, a: [a * x], x * 3), []),
    "one after the other": (twice, []),
    "as many as needed": (lambda x: tf.while_loop(
        lambda a, b: tf.reduce_sum(b) < 9, lambda a, b: (a * x, b + a),
        [x, x])[1], [2]),
    "gathered": (lambda x: loop(
        3, lambda i, a: [a + tf.gather(x, i) * a], x[0]), [3]),
    "map_fn": (lambda x: tf.map_fn(lambda v: v * v + tf.reduce_sum(x), x),
               [3]),
    "scan": (lambda x: tf.scan(lambda a, v: a * v, x), [3]),
    "branches": (with_branches, [], []),
    "unused variable": (lambda x: tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b * x, a + b),
        [0, x, x * x])[1], []),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", LOOPS)
def test_loops(name, known):
    build, *shapes = LOOPS[name]
    random = np.random.RandomState(5)
    values = [random.uniform(0.5, 1.5, s) for s in shapes]
    xs = [tf.placeholder(tf.float64, s if known else None) for s in shapes]
    if not known:
        for x, s in zip(xs, shapes):
            x.set_shape([None] * len(s))
    y = build(*xs)
    with tf.Session() as session:
        shape = session.run(tf.shape(y), dict(zip(xs, values)))
        for i, x in enumerate(xs):
            assert tf.test.compute_gradient_error(
                x, shapes[i], y, shape, values[i], delta=1e-6,
                extra_feed_dict=dict(zip(xs, values))) < 1e-6


def test_gradients_inside_a_loop():
    x = tf.constant([1., 2., 3.])
    y = x * x * x

    def row(i, rows):
        return i + 1, rows.write(i, tf.gradients(y[i], x)[0])

    rows = tf.while_loop(lambda i, rows: i < 3, row,
                         [0, tf.TensorArray(tf.float32, 3)])[1]
    assert run(rows.stack()).tolist() == np.diag([3., 12, 27]).tolist()
    descended = loop(3, lambda i, a: [
        a - 0.1 * tf.gradients(tf.sin(a) * x[0], a)[0]], tf.constant(1.))
    wanted = 1.
    for _ in range(3):
        wanted -= 0.1 * np.cos(wanted)
    np.testing.assert_allclose(run(descended), wanted, rtol=1e-6)


# Gradients that are taken in the body of a loop, over loops in that body: what
# the body does, and the same in NumPy, where a derivative is a difference.

def sines(x, w=1.3, n=3):
    return loop(n, lambda j, b: [tf.sin(b) * w], x)


def np_sines(x, w=1.3, n=3):
    for _ in range(n):
        x = np.sin(x) * w
    return x


def difference(f, x, delta=1e-6):
    return (f(x + delta) - f(x - delta)) / (2 * delta)


def gradient(y, x, **options):
    return tf.gradients(y, x, **options)[0]


def read_products(a):
    rows = tf.TensorArray(tf.float64, 3).unstack(a * np.array([1., 2, 3]))
    return loop(3, lambda j, s: [s * rows.read(j)], tf.constant(1., "double"))


def in_another_branch(a):
    return tf.cond(a > 100, lambda: a, lambda: sines(a))


BODIES = {
    "one loop": (lambda i, a, w: gradient(sines(a), a),
                 lambda i, a, w: difference(np_sines, a)),
    "by a captured tensor": (
        lambda i, a, w: gradient(sines(a, w), w),
        lambda i, a, w: difference(lambda v: np_sines(a, v), w)),
    "as many iterations": (
        lambda i, a, w: gradient(sines(a, a, i), a),
        lambda i, a, w: difference(lambda v: np_sines(v, v, i), a)),
    "one after the other": (
        lambda i, a, w: gradient(sines(sines(a)), a),
        lambda i, a, w: difference(lambda v: np_sines(np_sines(v)), a)),
    "nested": (
        lambda i, a, w: gradient(
            loop(2, lambda j, b: [sines(b) * a], a), a),
        lambda i, a, w: difference(
            lambda v: np_sines(np_sines(v) * v) * v, a)),
    "in a branch": (
        lambda i, a, w: tf.cond(tf.equal(i % 2, 0),
                                lambda: gradient(sines(a), a),
                                lambda: a * 2),
        lambda i, a, w: a * 2 if i % 2 else difference(np_sines, a)),
    "branches in the loop": (
        lambda i, a, w: gradient(loop(3, lambda j, b: [tf.cond(
            tf.equal(j % 2, 0), lambda: tf.sin(b) * a, lambda: b * b)], a), a),
        lambda i, a, w: difference(
            lambda v: np.sin((np.sin(v) * v) ** 2) * v, a)),
    "a loop in a branch": (
        lambda i, a, w: gradient(in_another_branch(a), a),
        lambda i, a, w: difference(np_sines, a)),
    "a branch": (
        lambda i, a, w: gradient(
            tf.cond(a > 1, lambda: tf.sin(a), lambda: a * a), a),
        lambda i, a, w: np.cos(a) if a > 1 else 2 * a),
    "two deep": (
        lambda i, a, w: loop(
            2, lambda j, b: [b + gradient(sines(b), b) * a], a),
        lambda i, a, w: np_two_deep(a)),
    "tensor arrays": (lambda i, a, w: gradient(read_products(a), a),
                      lambda i, a, w: 18 * a * a),
    "grad_ys": (
        lambda i, a, w: gradient(sines(a), a, grad_ys=a * 3),
        lambda i, a, w: difference(np_sines, a) * 3 * a),
    "at most": (
        lambda i, a, w: gradient(tf.while_loop(
            lambda c: True, lambda c: c * a, [a], maximum_iterations=3), a),
        lambda i, a, w: 4 * a ** 3),
}


def np_two_deep(a):
    b = a
    for _ in range(2):
        b = b + difference(np_sines, b) * a
    return b


@pytest.mark.parametrize("parallel", [1, 10])
@pytest.mark.parametrize("name", BODIES)
def test_gradients_inside_a_loop_over_a_loop(name, parallel):
    body, wanted = BODIES[name]
    x, w = tf.placeholder("double", []), tf.placeholder("double", [])
    y = tf.while_loop(lambda i, a: i < 3,
                      lambda i, a: (i + 1, 0.5 * a + body(i, a, w)), [0, x],
                      parallel_iterations=parallel)[1]
    value = 0.7
    for i in range(3):
        value = 0.5 * value + wanted(i, value, 1.4)
    np.testing.assert_allclose(run(y, {x: 0.7, w: 1.4}), value, rtol=1e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_gradients_by_a_variable_inside_a_loop_over_a_loop(resource):
    v = tf.get_variable("v", initializer=np.float64(1.2),
                        use_resource=resource)
    y = loop(2, lambda i, a: [a + gradient(sines(a, v), v)],
             tf.constant(0.7, "double"))
    value = 0.7
    for _ in range(2):
        value += difference(lambda w: np_sines(value, w), 1.2)
    np.testing.assert_allclose(run(y), value, rtol=1e-6)


@pytest.mark.parametrize("x", [0.7, -0.7])
@pytest.mark.parametrize("outside", [False, True])
def test_gradients_inside_a_branch_over_a_loop(outside, x):
    p = tf.placeholder("double", [])
    y = sines(p)
    dx = tf.cond(p > 0,
                 lambda: gradient(y if outside else sines(p), p), lambda: p)
    with tf.Session() as session:
        got = session.run([dx, y], {p: x})
    np.testing.assert_allclose(
        got, [difference(np_sines, x) if x > 0 else x, np_sines(x)])


def test_gradients_inside_a_loop_by_rows():
    x = tf.constant([[1., 2.], [3., 4.]])
    got = tf.map_fn(lambda row: gradient(
        tf.map_fn(lambda v: v * v * v, row), row), x)
    assert run(got).tolist() == [[3, 12], [27, 48]]


@pytest.mark.parametrize("build, words", [
    (lambda x: loop(2, lambda i, a, y=sines(x): [gradient(y, x)], x),
     "inside while loop 'while_1.*because they are in different while loops"),
    (lambda x: loop(2, lambda i, a, y=sines(x): [gradient(y * a, x)], x),
     "through while loop 'while/.*lies outside"),
    (lambda x: loop(2, lambda i, a: [gradient(a * a, x)], x),
     "initial value of a loop variable"),
])
def test_gradients_inside_a_loop_that_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build(tf.placeholder("double", []))


def test_variables_in_loops_and_training_through_them():
    for resource in (False, True):
        with tf.variable_scope("r" if resource else "v"):
            w = tf.get_variable("w", initializer=[[0.5]],
                                use_resource=resource)
            y = loop(3, lambda i, a: [tf.matmul(a, w)], tf.ones([1, 1]))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(
                tf.reduce_sum(y), var_list=[w])
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                np.testing.assert_allclose(session.run(w), [[0.425]],
                                           rtol=1e-6)


# Functions in Python.

def test_registered_functions_and_overrides(graph):
    @tf.RegisterGradient("TestTwice")
    def twice(op, grad):
        assert op.type == "Tanh"
        return 2 * grad

    tf.NotDifferentiable("TestNever")
    x = tf.constant([1., 2.])
    with graph.gradient_override_map({"Tanh": "TestTwice"}):
        y = tf.tanh(x)
        with graph.gradient_override_map({"Exp": "TestNever"}):
            z = tf.tanh(x) + tf.exp(x)
    after = tf.tanh(x)
    assert run(tf.gradients(y, x))[0].tolist() == [2, 2]
    assert run(tf.gradients(z, x))[0].tolist() == [2, 2]
    assert run(tf.gradients(after, x))[0][0] < 1
    for op in ("TestTwice", "TestNever", "Tanh", "Equal"):
        with pytest.raises(KeyError, match="Registering two"):
            tf.RegisterGradient(op)(twice)


def test_registered_functions_return_one_gradient_for_each_input(graph):
    tf.RegisterGradient("TestOneOfTwo")(lambda op, grad: grad)
    x = tf.constant(1.)
    with graph.gradient_override_map({"Mul": "TestOneOfTwo"}):
        y = x * x
    with pytest.raises(ValueError, match="Num gradients 1 .*num inputs 2"):
        tf.gradients(y, x)


def test_custom_gradient():
    @tf.custom_gradient
    def f(a, b):
        def grad(da, db):
            return da * 10, db * 100
        return [a * b, tf.exp(a)], grad

    a, b = tf.constant(1.), tf.constant(2.)
    assert run(tf.gradients(f(a, b), [a, b])) == [10, 100]
    with pytest.raises(ValueError, match="keyword"):
        f(a, b=b)


def test_custom_gradient_with_variables():
    w = tf.get_variable("w", initializer=2., use_resource=True)

    @tf.custom_gradient
    def f(a):
        def grad(da, variables):
            assert [v.name for v in variables] == ["w:0"]
            return da * 3, [da * 7]
        return a * w, grad

    a = tf.constant(5.)
    assert run(tf.gradients(f(a), [a, w])) == [3, 7]


@pytest.mark.parametrize("use_resource", [True, False])
def test_custom_gradient_is_asked_for_trainable_variables(use_resource):
    with tf.variable_scope("", use_resource=use_resource):
        v = tf.get_variable("v", initializer=2.)
        w = tf.get_variable("w", initializer=3., trainable=False)

    @tf.custom_gradient
    def f(a):
        def grad(da, variables):
            assert variables == [v]
            return da * 3, [da * 7]
        return a * v * w, grad

    a = tf.constant(5.)
    found = tf.gradients(f(a), [a, v, w])
    assert run(found[:2]) == [3, 7] and found[2] is None


def test_a_function_with_a_gradient_makes_variables_of_resources_only():
    @tf.custom_gradient
    def f(a):
        return a * tf.get_variable("v", initializer=2.), lambda da, variables: (
            da, [da])
    with tf.variable_scope("", use_resource=True):
        f(tf.constant(1.))
    with tf.variable_scope("other"), pytest.raises(
            TypeError, match="must be `ResourceVariable`s"):
        f(tf.constant(1.))


def test_a_function_with_a_gradient_gets_the_tensors_that_are_given():
    a, seen = tf.constant(1.), []

    @tf.custom_gradient
    def f(x):
        seen.append(x)
        return x, lambda dx: dx * 4
    assert run(tf.gradients(f(a), a)) == [4] and seen[0] is a


def test_grad_pass_through():
    x = tf.constant([0.4, 1.6])
    y = tf.grad_pass_through(tf.round)(x)
    assert run(y).tolist() == [0, 2]
    assert run(tf.gradients(y, x))[0].tolist() == [1, 1]


def test_the_checker():
    x = tf.placeholder(tf.float64, [2, 3])
    y = tf.matmul(x, tf.constant(np.arange(12.).reshape(3, 4)))
    with tf.Session():
        ours, numeric = tf.test.compute_gradient(x, [2, 3], y, [2, 4])
        assert ours.shape == numeric.shape == (6, 8)
        np.testing.assert_allclose(ours, numeric, atol=1e-8)
        assert tf.test.compute_gradient_error(x, [2, 3], y, [2, 4]) < 1e-8


# Refusals.

def test_ops_without_a_gradient_are_named():
    x = tf.constant([[1., 2], [3, 4]])
    y = tf.raw_ops.Lu(x, name="e")[0]
    with pytest.raises(LookupError, match="No gradient defined for operation "
                                          "'e'.*Lu.*made at "
                                          "test_gradients.py:"):
        tf.gradients(y, x)
    z = tf.raw_ops.PreventGradient(x, message="not here")
    with pytest.raises(LookupError, match="not here"):
        tf.gradients(z, x)


def test_registered_functions_in_loops(graph):
    @tf.RegisterGradient("TestLoopSquare")
    def square(op, grad):
        assert op.type == "Square"
        with tf.control_dependencies([grad]):
            return tf.where(grad > 0, 2 * grad * op.inputs[0],
                            grad * tf.constant(2., tf.float64) * op.inputs[0])

    @tf.custom_gradient
    def cube(a):
        return a * a * a, lambda g: 3 * a * a * g

    def build(x, w):
        def body(i, a):
            with graph.gradient_override_map({"Square": "TestLoopSquare"}):
                b = tf.square(a) * w
            b = loop(2, lambda j, c: [cube(c) * 0.1 + w], b)
            return [tf.cond(i > 0, lambda: cube(b), lambda: b)]
        return loop(2, body, x)

    x, w = (tf.placeholder(tf.float64, []) for _ in range(2))
    y = build(x, w)
    with tf.Session():
        for t in (x, w):
            assert tf.test.compute_gradient_error(
                t, [], y, [], np.float64(0.7), delta=1e-6,
                extra_feed_dict={x: 0.7, w: 0.7}) < 1e-6


def test_loops_without_back_prop_have_no_gradient():
    x = tf.constant(2.)

    def cubed(x, back_prop):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x),
                             [0, x], back_prop=back_prop)[1]
    assert tf.gradients(cubed(x, False), x) == [None]
    y = x * 5
    got = tf.gradients(cubed(y, False) + y + cubed(x, True), x)
    assert run(got) == [5 + 4 * 8]


def test_gradients_that_are_added_in_turn():
    x = tf.constant([1., 2.], name="x")
    y = x * x + x * 3
    for method in (1, 2):
        got = tf.gradients(y, x, aggregation_method=method, name="g%d" % method)
        assert got[0].op.name == "g%d/x_gradient_sum/AddN_1" % method
        assert len(got[0].op.inputs) == 2
        assert run(got)[0].tolist() == [5, 7]


def test_hessians_are_made_in_a_loop():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x ** 3) + x[0] * x[1]
    h = tf.hessians(y, x)[0]
    assert h.shape.as_list() == [None, None]
    assert run(h, {x: [1., 2, 3]}).tolist() == [
        [6, 1, 0], [1, 12, 0], [0, 0, 18]]
    m = tf.constant([[1., 2.], [3., 4.]])
    h = tf.hessians(tf.linalg.det(m), m)[0]
    assert h.shape.as_list() == [2, 2, 2, 2]
    np.testing.assert_allclose(run(h)[0, 0], [[0, 0], [0, 1]], atol=1e-5)
    with pytest.raises(ValueError, match="None values not supported"):
        tf.hessians(tf.constant(1.), x)


def test_second_derivatives_of_loops_are_refused():
    x = tf.constant([0.5, 0.2])
    first = tf.gradients(loop(3, lambda i, a: [tf.sin(a)], x), x)[0]
    with pytest.raises(TypeError, match="Second-order gradient for while loops "
                                        "not supported.*while loop 'while/"):
        tf.gradients(first, x)


def test_tensors_of_other_graphs():
    x = tf.constant(1.)
    with tf.Graph().as_default():
        y = tf.constant(2.)
    with pytest.raises(ValueError, match="graph"):
        tf.gradients(x * 2, [x, y])


# Optimizers: what TensorFlow 1.15 gives after three steps on the sum of w^3,
# dense, and for rows 0, 2, 2 gathered.

OPTIMIZERS = {
    ("gd", False): (
        [0.09151649, 0.231795, 0.3295619, 0.3974298, 0.4440267, 0.4751895],
        [],
        []),
    ("gd", True): (
        [0.09151649, 0.231795, 0.5, 0.7, 0.2530692, 0.2395885],
        [],
        []),
    ("mom", False): (
        [0.08399644, 0.1689794, 0.1661942, 0.09485494, -0.03317821, -0.2116908],
        ["momentum"],
        ["w/Momentum:0"]),
    ("mom", True): (
        [0.08399644, 0.1689794, 0.5, 0.7, -0.6220131, -1.106122],
        ["momentum"],
        ["w/Momentum:0"]),
    ("nest", False): (
        [0.07815877, 0.1359421, 0.1095936, 0.0276048, -0.101787, -0.2854575],
        ["momentum"],
        ["w/Momentum:0"]),
    ("nest", True): (
        [0.07815877, 0.1359421, 0.5, 0.7, -0.9711291, -2.566522],
        ["momentum"],
        ["w/Momentum:0"]),
    ("adam", False): (
        [-0.1404324, 0.0307486, 0.2132214, 0.4074478, 0.6049187, 0.8035767],
        ["m", "v"],
        ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]),
    ("adam", True): (
        [-0.1404324, 0.0307486, 0.5, 0.7, 0.6049187, 0.8035767],
        ["m", "v"],
        ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]),
    ("adagrad", False): (
        [0.0763865, 0.172615, 0.3186634, 0.5005113, 0.6925299, 0.8880848],
        ["accumulator"],
        ["w/Adagrad:0"]),
    ("adagrad", True): (
        [0.0763865, 0.172615, 0.5, 0.7, 0.6916406, 0.8876746],
        ["accumulator"],
        ["w/Adagrad:0"]),
    ("adadelta", False): (
        [0.09986439, 0.2998644, 0.4998643, 0.6998644, 0.8998644, 1.099864],
        ["accum", "accum_update"],
        ["w/Adadelta:0", "w/Adadelta_1:0"]),
    ("adadelta", True): (
        [0.09986439, 0.2998644, 0.5, 0.7, 0.8998644, 1.099864],
        ["accum", "accum_update"],
        ["w/Adadelta:0", "w/Adadelta_1:0"]),
    ("rms", False): (
        [0.08851835, 0.2090003, 0.2800863, 0.3344947, 0.4021268, 0.4991921],
        ["momentum", "rms"],
        ["w/RMSProp:0", "w/RMSProp_1:0"]),
    ("rms", True): (
        [0.08851835, 0.2090003, 0.5, 0.7, 0.300891, 0.4268462],
        ["momentum", "rms"],
        ["w/RMSProp:0", "w/RMSProp_1:0"]),
    ("crms", False): (
        [0.09062691, 0.2258641, 0.3206566, 0.4003474, 0.4882442, 0.5981848],
        ["mg", "momentum", "rms"],
        ["w/RMSProp:0", "w/RMSProp_1:0", "w/RMSProp_2:0"]),
    ("crms", True): (
        [0.09062691, 0.2258641, 0.5, 0.7, 0.4019852, 0.5345059],
        ["mg", "momentum", "rms"],
        ["w/RMSProp:0", "w/RMSProp_1:0", "w/RMSProp_2:0"]),
    ("ftrl", False): (
        [-0.005914284, 0.00448097, 0.1821424, 0.3858214, 0.5952315, 0.8046221],
        ["accum", "linear"],
        ["w/Ftrl:0", "w/Ftrl_1:0"]),
    ("ftrl", True): (
        [-0.005914284, 0.00448097, 0.5, 0.7, 0.642262, 0.8456057],
        ["accum", "linear"],
        ["w/Ftrl:0", "w/Ftrl_1:0"]),
    ("ftrl2", False): (
        [-0.009681225, 0.005376953, 0.1812295, 0.3846476, 0.5941169, 0.803614],
        ["accum", "linear"],
        ["w/Ftrl:0", "w/Ftrl_1:0"]),
    ("ftrl2", True): (
        [-0.009681225, 0.005376953, 0.5, 0.7, 0.6416886, 0.8450952],
        ["accum", "linear"],
        ["w/Ftrl:0", "w/Ftrl_1:0"]),
    ("pgd", False): (
        [0.08816247, 0.2279692, 0.3254885, 0.3932378, 0.4397865, 0.4709362],
        [],
        []),
    ("pgd", True): (
        [0.08816247, 0.2279692, 0.5, 0.7, 0.2499755, 0.2364569],
        [],
        []),
    ("pada", False): (
        [0.06712571, 0.1653072, 0.3140218, 0.4973896, 0.6902343, 0.8862861],
        ["accumulator"],
        ["w/ProximalAdagrad:0"]),
    ("pada", True): (
        [0.06712571, 0.1653072, 0.5, 0.7, 0.6904873, 0.8867731],
        ["accumulator"],
        ["w/ProximalAdagrad:0"]),
    ("da", False): (
        [-0.009614414, -0.07123327, -0.09851281, -0.1016133, -0.1015857, -0.1012635],
        ["gradient_accumulator", "gradient_squared_accumulator"],
        ["w/AdagradDA:0", "w/AdagradDA_1:0"]),
    ("da", True): (
        [-0.009614415, -0.07123327, 0.5, 0.7, -0.1022569, -0.1015601],
        ["gradient_accumulator", "gradient_squared_accumulator"],
        ["w/AdagradDA:0", "w/AdagradDA_1:0"]),
}
MAKE = {
    "gd": lambda step: tf.train.GradientDescentOptimizer(.1),
    "mom": lambda step: tf.train.MomentumOptimizer(.1, .9),
    "nest": lambda step: tf.train.MomentumOptimizer(.1, .9,
                                                    use_nesterov=True),
    "adam": lambda step: tf.train.AdamOptimizer(.1),
    "adagrad": lambda step: tf.train.AdagradOptimizer(.1),
    "adadelta": lambda step: tf.train.AdadeltaOptimizer(.1),
    "rms": lambda step: tf.train.RMSPropOptimizer(.1, momentum=.3),
    "crms": lambda step: tf.train.RMSPropOptimizer(.1, centered=True),
    "ftrl": lambda step: tf.train.FtrlOptimizer(
        .1, l1_regularization_strength=.01),
    "ftrl2": lambda step: tf.train.FtrlOptimizer(
        .1, l2_shrinkage_regularization_strength=.01),
    "pgd": lambda step: tf.train.ProximalGradientDescentOptimizer(
        .1, .01, .02),
    "pada": lambda step: tf.train.ProximalAdagradOptimizer(.1, .1, .01, .02),
    "da": lambda step: tf.train.AdagradDAOptimizer(.1, step),
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", MAKE)
def test_optimizers(name, resource, sparse):
    values, slots, variables = OPTIMIZERS[name, sparse]
    w = tf.get_variable(
        "w", use_resource=resource,
        initializer=np.arange(6, dtype=np.float32).reshape(3, 2) / 5 + .1)
    step = tf.Variable(0, name="step", trainable=False, dtype=tf.int64)
    x = tf.gather(w, [0, 2, 2]) if sparse else w
    optimizer = MAKE[name](step)
    train = optimizer.minimize(tf.reduce_sum(x * x * x), global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        np.testing.assert_allclose(session.run(w).ravel(), values, rtol=2e-5,
                                   atol=1e-6)
        assert session.run(step) == 3
    assert optimizer.get_slot_names() == slots
    assert [v.name for v in optimizer.variables()] == variables
    assert train.name == optimizer.get_name()
    assert tf.get_collection("train_op") == [train]


def test_optimizers_refuse():
    x = tf.constant(1.)
    optimizer = tf.train.GradientDescentOptimizer(.1)
    with pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(x)
    w = tf.get_variable("w", initializer=1.)
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.minimize(x)
    with pytest.raises(NotImplementedError, match="update a Tensor"):
        optimizer.minimize(w * x, var_list=[x])
    with pytest.raises(ValueError, match="gate_gradients"):
        optimizer.minimize(w * 2, gate_gradients=3)
    with pytest.raises(ValueError, match="Invalid type tf.int32"):
        optimizer.minimize(tf.constant(1))
    with pytest.raises(ValueError, match="positive"):
        tf.train.AdagradOptimizer(.1, initial_accumulator_value=0)


@pytest.mark.parametrize("gate", [0, 1, 2])
def test_constraints_and_gates(gate):
    w = tf.get_variable("w", initializer=[1., 2.], use_resource=True,
                        constraint=lambda v: tf.clip_by_value(v, 0., 1.5))
    optimizer = tf.train.GradientDescentOptimizer(.1)
    train = optimizer.minimize(tf.reduce_sum(w * w), gate_gradients=gate)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(w), [.8, 1.5], rtol=1e-6)


def test_a_convolutional_network_learns():
    """LeNet on pictures of bars: upright or lying."""
    random = np.random.RandomState(1)

    def pictures(n):
        x = random.rand(n, 12, 12, 1).astype("f") * 0.5
        y = random.randint(0, 2, n)
        for i in range(n):
            at = random.randint(2, 10)
            if y[i]:
                x[i, at, 1:11] += 1
            else:
                x[i, 1:11, at] += 1
        return x, y

    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [None, 12, 12, 1])
    y = tf.placeholder(tf.int32, [None])

    def conv(t, inputs, outputs, name):
        w = tf.get_variable(name + "/w", [3, 3, inputs, outputs])
        b = tf.get_variable(name + "/b", [outputs],
                            initializer=tf.zeros_initializer())
        t = tf.nn.relu(tf.nn.bias_add(
            tf.nn.conv2d(t, w, [1, 1, 1, 1], "SAME"), b))
        return tf.nn.max_pool(t, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")

    t = conv(conv(x, 1, 4, "c1"), 4, 8, "c2")
    t = tf.reshape(t, [-1, 3 * 3 * 8])
    t = tf.nn.relu(tf.matmul(t, tf.get_variable("d1", [72, 16])))
    logits = tf.matmul(t, tf.get_variable("d2", [16, 2]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=logits))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    right = tf.reduce_mean(tf.cast(tf.equal(
        tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            images, labels = pictures(32)
            session.run(train, {x: images, y: labels})
        images, labels = pictures(200)
        assert session.run(right, {x: images, y: labels}) > 0.95


def test_gradients_of_loops_under_control_dependencies_wait_outside_the_loop():
    x = tf.constant(2.)
    count = tf.get_variable("count", initializer=0.)
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x),
                      [0, tf.constant(1.)])[1]
    with tf.control_dependencies([tf.assign_add(count, 1.)]):
        dx, = tf.gradients(y, x)
    with tf.Session() as session:
        session.run(count.initializer)
        assert session.run(dx) == 12.
        assert session.run(count) == 1.


def test_grad_ys_of_as_many_elements_fit():
    x = tf.placeholder(tf.float32, [4])
    with tf.Session() as session:
        for y, given, wanted in [
                (tf.reshape(x, [2, 2]), np.ones([1, 2, 2]), [1, 1, 1, 1]),
                (tf.reduce_sum(x), np.ones([1]), [1, 1, 1, 1]),
                (x * x, [[1., 2.], [3., 4.]], [2, 8, 18, 32])]:
            gradient, = tf.gradients(
                y, x, grad_ys=tf.constant(given, tf.float32))
            assert session.run(gradient, {x: [1, 2, 3, 4]}).tolist() == wanted
    with pytest.raises(ValueError, match=r"grad_ys\[0\] has shape \[3\], but"):
        tf.gradients(x * 2, x, grad_ys=tf.ones([3]))
