"""Session.partial_run: what is declared, given and taken piece by piece."""
import pytest

import headrace as tf


def graph():
    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.placeholder(tf.float32, [], name="b")
    c = tf.placeholder(tf.float32, [], name="c")
    return a, b, c, tf.add(a, b), (a + b) * c


def test_in_steps():
    a, b, c, r1, r2 = graph()
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        value = session.partial_run(handle, r1, {a: 1, b: 2})
        assert value == 3
        assert session.partial_run(handle, [r2], {c: value}) == [9]


def test_two_at_once_and_a_plain_run_between():
    a, b, c, r1, r2 = graph()
    with tf.Session() as session:
        one = session.partial_run_setup([r1, r2], [a, b, c])
        two = session.partial_run_setup([r1, r2], [a, b, c])
        assert session.partial_run(one, r1, {a: 1, b: 2}) == 3
        assert session.partial_run(two, r1, {a: 10, b: 20}) == 30
        assert session.run(r2, {a: 1, b: 1, c: 1}) == 2
        assert session.partial_run(two, r2, {c: 2}) == 60
        assert session.partial_run(one, r2, {c: 2}) == 6


def test_targets_and_early_end():
    a, b, c, r1, r2 = graph()
    v = tf.Variable(0.)
    done = v.assign(r1).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        handle = session.partial_run_setup([r1, done], [a, b])
        assert session.partial_run(handle, r1, {a: 1, b: 2}) == 3
        other = session.partial_run_setup([r1, r2], [a, b, c])
        session.partial_run_close(other)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.partial_run(other, r1, {a: 1, b: 2})


def test_refusals():
    a, b, c, r1, r2 = graph()
    with tf.Session() as session:
        handle = session.partial_run_setup([r1], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="partial_run_setup"):
            session.partial_run(handle, r2, {a: 1, b: 2})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.partial_run(handle, r1, {c: 1})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.partial_run("no such handle", r1, {a: 1, b: 2})
        session.partial_run_close(handle)
    with pytest.raises(RuntimeError, match="closed"):
        session.partial_run_setup([r1], [a, b])


def test_make_callable():
    a, b, c, r1, r2 = graph()
    with tf.Session() as session:
        f = session.make_callable({"x": r1, "y": [r2]}, [a, b, c])
        assert f(1, 2, 3) == {"x": 3, "y": [9]}
        with pytest.raises(TypeError):
            f(1, 2)


def test_list_devices():
    with tf.Session() as session:
        devices = session.list_devices()
    assert devices[0].device_type == "CPU"
    assert devices[0].name.endswith("CPU:0")
