"""Gradients of ops that are executed eagerly."""
import gc
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.eager import backward, context


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def gradient(function, *values, **options):
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = tape.gradient(y, xs, **options)
    return found[0] if len(found) == 1 else found


# (function, value, gradient of the sum of the results)
GRADIENTS = [
    (lambda x: x * x, 3., 6),
    (lambda x: x, 3., 1),
    (lambda x: tf.stop_gradient(x) * x, 3., 3),
    (lambda x: tf.cond(x > 1, lambda: x * x, lambda: x), 3., 6),
    (lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x),
                             [0, x])[1], 2., 32),
    (lambda x: sum(x * i for i in range(4)), 2., 6),
    (lambda x: tf.reduce_max(x), [1., 3., 2.], [0, 1, 0]),
    (lambda x: tf.concat([x, x[:1]], 0), [1., 2.], [2, 1]),
    (lambda x: tf.reshape(x, [2, 1]) * [[2.], [3.]], [1., 1.], [2, 3]),
    (lambda x: tf.transpose(tf.reshape(x, [1, 2]))[0], [1., 2.], [1, 0]),
    (lambda x: tf.stack(tf.unstack(x)[:1] + [x[1] * 2]), [1., 2.], [1, 2]),
    (lambda x: tf.map_fn(lambda a: a * a, x), [1., 2.], [2, 4]),
    (lambda x: tf.scan(lambda a, b: a * b, x)[-1], [2., 3.], [3, 2]),
    (lambda x: tf.TensorArray(tf.float32, 2).unstack(x).stack() * 3.,
     [1., 2.], [3, 3]),
    (lambda x: [x * 2, tf.sin(x) * 0], 1., 2),
    (lambda x: tf.py_function(lambda v: v * v * 3, [x], tf.float32), 2., 12),
    (lambda x: tf.contrib.eager.defun(lambda v: v * v)(x), 3., 6),
]


@pytest.mark.parametrize("case", range(len(GRADIENTS)))
def test_gradients(case):
    function, value, wanted = GRADIENTS[case]
    for _ in range(2):  # the second time the function of the gradients is kept
        np.testing.assert_allclose(
            tf.convert_to_tensor(gradient(function, value)).numpy(), wanted)


def test_what_is_watched():
    x, w = tf.constant(3.), tf.Variable(2.)
    fixed = tf.Variable(5., trainable=False)
    with tf.GradientTape() as tape:
        y = x * w * fixed
    assert [v.name for v in tape.watched_variables()] == ["Variable:0"]
    by_x, by_w, by_fixed = tape.gradient(y, [x, w, fixed])
    assert (by_x, float(by_w), by_fixed) == (None, 15., None)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = w * w
    assert tape.gradient(y, w) is None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
    assert tape.gradient(z, x) is None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        z = x * 3
    assert tape.gradient(z, x) is None
    assert gradient(lambda a, b: a * 2, 1., 2., unconnected_gradients="zero")[
        1].numpy() == 0


def test_one_call_or_several():
    x = tf.constant(3.)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be called once"):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be called once"):
        tf.GradientTape().gradient(y, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert [float(g) for g in tape.gradient(z, [x, y])] == [108, 18]
    assert float(tape.gradient(y, {"a": x})["a"]) == 6
    assert float(tape.gradient([y, z], x)) == 114
    assert float(tape.gradient(z, x, output_gradients=tf.constant(2.))) == 216
    with pytest.raises(ValueError, match="already recording"):
        with tape:
            with tape:
                pass


def test_higher_orders():
    x = tf.constant(2.)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = x ** 4
            one = first.gradient(y, x)
        two = second.gradient(one, x)
    three = third.gradient(two, x)
    assert [float(g) for g in (one, two, three)] == [32, 48, 48]


def test_rows_of_a_variable():
    table = tf.Variable(tf.ones([5, 2]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [0, 1, 0]))
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.numpy().tolist() == [0, 1, 0]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [0, 1, 0])) + tf.reduce_sum(table)
    dense = tf.convert_to_tensor(tape.gradient(y, table)).numpy()
    assert dense[:, 0].tolist() == [3, 2, 1, 1, 1]


def test_jacobians():
    x = tf.constant([[1., 2.], [3., 4.]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        row = x[0] * x[0]
    np.testing.assert_array_equal(
        tape.batch_jacobian(y, x).numpy(),
        [np.diag([2, 4]), np.diag([6, 8])])
    assert tape.jacobian(y, x).shape.as_list() == [2, 2, 2, 2]
    np.testing.assert_array_equal(
        tape.jacobian(row, x).numpy()[:, 0], np.diag([2, 4]))


def test_gradients_of_ones_own():
    w = tf.Variable(2.)

    @tf.custom_gradient
    def times(x):
        def grad(dy, variables=None):
            return dy * w * 10., [dy * x * 100. for _ in variables]
        return x * w, grad
    x = tf.constant(3.)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(times(x))
    assert [float(g) for g in tape.gradient(y, [x, w])] == [240, 3600]

    @tf.custom_gradient
    def without(x):
        return x * w, lambda dy: dy
    with pytest.raises(TypeError, match="keyword argument 'variables'"):
        without(x)
    again = tf.recompute_grad(lambda v: v * v * w)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = again(x)
    assert [float(g) for g in tape.gradient(y, [x, w])] == [12, 9]


def test_functions_of_gradients():
    tfe, w = tf.contrib.eager, tf.Variable(2.)
    ((by_w, variable),) = tfe.implicit_gradients(lambda x: w * w * x)(3.)
    assert float(by_w) == 12 and variable is w
    assert [float(g) for g in tfe.gradients_function(
        lambda a, b: a * a * b)(2., 5.)] == [20, 4]
    value, (by_b,) = tfe.value_and_gradients_function(
        lambda a, b: a * a * b, params=["b"])(2., 5., dy=2.)
    assert (float(value), float(by_b)) == (20, 8)
    for wrong, message in (
            (lambda: tfe.gradients_function(lambda x: None)(1.),
             "function that returns None"),
            (lambda: tfe.implicit_gradients(lambda: tf.constant(1.))(),
             "No trainable variables"),
            (lambda: tfe.gradients_function(lambda x: x, ["z"])(1.), "z"),
            (lambda: tfe.gradients_function(lambda x: x)(x=1.),
             "keyword arguments")):
        with pytest.raises(ValueError, match=message):
            wrong()


def test_a_loop_builds_its_gradients_once():
    w = tf.Variable([[1.], [2.]])
    before = len(backward._plans)
    for i in range(5):
        x = tf.constant(np.full([3, 2], i, np.float32))
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(tf.nn.relu(tf.matmul(x, w)))
        found = tape.gradient(y, w)
        np.testing.assert_allclose(found.numpy(), [[i], [i]])
    assert len(backward._plans) <= before + 2  # of i = 0 and of the others


def test_integers_that_change_are_no_mistake():
    for rows in ([0, 1], [1, 2], [2, 2]):
        x = tf.constant([1., 2., 3.])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gather(x, rows) * tf.cast(tf.constant(rows), tf.float32)
        wanted = np.zeros(3)
        for r in rows:
            wanted[r] += r
        np.testing.assert_array_equal(
            tf.convert_to_tensor(tape.gradient(y, x)).numpy(), wanted)


def test_integers_that_change_often_are_arguments():
    x = tf.constant(np.arange(40, dtype=np.float32))
    before = len(backward._plans)
    for i in range(30):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.reshape(x, [20, 2])[i % 20] * x[i])
        row, wanted = i % 20 * 2, np.zeros(40)
        wanted[row:row + 2] += i
        wanted[i] += row + row + 1
        np.testing.assert_array_equal(
            tf.convert_to_tensor(tape.gradient(y, x)).numpy(), wanted)
    assert len(backward._plans) <= before + 9


def test_a_tape_keeps_tensors_only_while_it_lives():
    x = tf.constant([1., 2.])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2
        kept = weakref.ref(y)
        y = y * 3
    gc.collect()
    assert kept() is not None
    tape.gradient(y, x)
    del tape
    gc.collect()
    assert kept() is None
