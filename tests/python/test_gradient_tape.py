"""tf.GradientTape in a graph. Values and errors of TensorFlow 1.15.5, except of
conditions, loops and variables without a resource, which it refuses."""
import numpy as np
import pytest

import headrace as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def values(structure):
    """Of a structure of tensors and None: floats, lists, None."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [g if g is None else session.run(
            tf.convert_to_tensor(g)).tolist() for g in tf.nest.flatten(structure)]


def three(persistent=False):
    return tf.constant(3.), tf.GradientTape(persistent)


def test_what_the_target_depends_on():
    x, tape = three(persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
        z = y * x
        w = tf.constant(2.) * 2.
    found = tape.gradient(z, {"a": x, "b": [y, w]})
    assert values(found) == [27, 3, None] and list(found) == ["a", "b"]
    assert values([tape.gradient(*pair) for pair in [
        (z, y), (w, x), (x, x), (z, z), ([y, z], x)]]) == [3, None, 1, 1, 33]
    assert values(tape.gradient(z, x, output_gradients=tf.constant(2.))) == [54]
    assert values(tape.gradient([y, x], x, [tf.constant(2.), None])) == [13]
    assert values(tape.gradient(w, [x, y], unconnected_gradients="zero")) == [
        0, 0]


def test_what_is_not_watched_is_constant():
    x, tape = three()
    with tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_what_was_before_is_constant():
    x, tape = three()
    before = x * x
    with tape:
        early = x * x
        tape.watch(x)
        y = before * early * x
    assert values(tape.gradient(y, [x, early])) == [81, None]


def test_what_comes_after_is_not_recorded():
    x, tape = three()
    with tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y * 2., x) is None


def test_pauses():
    x, tape = three()
    with tape:
        tape.watch(x)
        with tape.stop_recording():
            y = x * x
        z = y * x
    assert values(tape.gradient(z, x)) == [9]


def test_a_tape_that_goes_on():
    x, tape = three()
    with tape:
        tape.watch(x)
        y = x * x
    w = y * 5.
    with tape:
        z = y * x * w
    assert values(tape.gradient(z, x)) == [27 * 45]


def test_reset():
    x, tape = three()
    with tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = y * x
    assert values(tape.gradient(z, [x, y])) == [9, None]


def test_gradients_of_gradients():
    x, tape = three(persistent=True)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tape:
            tape.watch(x)
            y = x * x * x
            inner = tape.gradient(y, x)
    assert values([inner, outer.gradient(inner, x),
                   tape.gradient(inner, x)]) == [27, 18, 18]


@pytest.mark.parametrize("use_resource", [True, False])
def test_variables(use_resource):
    with tf.variable_scope("", use_resource=use_resource):
        v = tf.get_variable("v", initializer=2.)
        w = tf.get_variable("w", initializer=2., trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v * w
    assert tape.watched_variables() == (v,)
    assert values(tape.gradient(y, [w, v])) == [None, 8]
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        y = v * v * w
    assert tape.watched_variables() == () and tape.gradient(y, v) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([w, v])
        y = v * v * w
    assert tape.watched_variables() == (v, w)
    assert values(tape.gradient(y, [v, w])) == [8, 4]


def test_rows_of_a_variable():
    v = tf.get_variable("v", initializer=tf.ones([4, 2]), use_resource=True)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(v, [1, 1, 3]) * 2.)
    found = tape.gradient(y, v)
    assert isinstance(found, tf.IndexedSlices)
    assert values([found.values, found.indices]) == [[[2, 2]] * 3, [1, 1, 3]]


def test_layers():
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(tf.ones([1, 3])) ** 2)
    assert values(tape.gradient(y, layer.trainable_variables)) == [
        [[6, 6]] * 3, [6, 6]]


def test_conditions_and_loops():
    x, tape = three()
    with tape:
        tape.watch(x)
        y = tf.cond(x > 2., lambda: x * x, lambda: x)
        z = tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a * x), [0, y])
    assert values(tape.gradient(z[1], x)) == [108]


@pytest.mark.parametrize("use_pfor", [True, False])
def test_jacobians(use_pfor):
    x, z, other = tf.constant([1., 2.]), tf.constant(2.), tf.constant(1.)
    v = tf.get_variable("v", initializer=3., use_resource=True)
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        y = tf.stack([x * x * z, x[::-1] * v])
    found = tape.jacobian(y, [x, z, other, v], experimental_use_pfor=use_pfor)
    assert found[0].shape.as_list() == [2, 2, 2]
    assert values(found) == [
        [[[4, 0], [0, 8]], [[0, 3], [3, 0]]], [[1, 4], [0, 0]], None,
        [[0, 0], [2, 1]]]


def test_jacobians_of_rows():
    x = tf.constant([[1., 2.], [3., 4.]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, far = x * x[:, ::-1], tf.ones([2, 3])
        short = x[:1]
    found = tape.batch_jacobian(y, x)
    assert values(found) == [[[[2, 1], [2, 1]], [[4, 3], [4, 3]]]]
    assert values(tape.batch_jacobian(far, x)) == [np.zeros((2, 3, 2)).tolist()]
    with pytest.raises(ValueError, match="first dimension of target shape"):
        tape.batch_jacobian(short, x)


def test_numbers_without_gradients(caplog):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None


ONCE = "can only be called once on non-persistent tapes"


def test_when_a_tape_gives_gradients():
    x, tape = three()
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(x, x)
    with tape:
        tape.watch(x)
        y = x * x
        assert values(tape.gradient(y, x)) == [6]
        with pytest.raises(RuntimeError, match=ONCE):
            tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=ONCE):
        tape.jacobian(y, x)


def test_refusals(graph):
    x, tape = three(persistent=True)
    with pytest.raises(ValueError, match="watch is called inside"):
        tape.watch(x)
    with pytest.raises(ValueError, match="nothing was recorded yet"):
        tape.watched_variables()
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.reset()
    with pytest.raises(RuntimeError, match="a tape which is not recording"):
        with tape.stop_recording():
            pass
    with tape:
        with pytest.raises(ValueError, match="already recording"):
            tape.__enter__()
        for wrong in (None, 3.):
            with pytest.raises(ValueError, match="not tf.Tensor"):
                tape.watch(wrong)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="in another graph"):
            tape.gradient(tf.constant(1.), x)
        with pytest.raises(ValueError, match="recorded in another graph"):
            tape.__enter__()
