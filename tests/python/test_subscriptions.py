"""tensorflow.python.framework.subscribe: functions that see the values of
tensors of a graph."""
import collections

import pytest

import headrace as tf
from headrace._src.compat.subscriptions import (
    is_subscribed_identity, subscribe)

Pair = collections.namedtuple("Pair", ["first", "second"])


def seer(seen, key=None):
    """A side effect that keeps the values, or counts under a key."""
    def see(tensor):
        def keep(x):
            seen.append(x if key is None else key)
            return x
        return tf.py_func(keep, [tensor], [tensor.dtype])
    return see


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def test_readers_and_those_that_wait_read_the_subscribed_tensor(session):
    one = tf.constant(1)
    with tf.device("cpu:0"):
        total = tf.add(one, one, name="total")
    with tf.control_dependencies([total]):
        after = tf.constant(42)
    negative = -total
    seen = []
    new = subscribe(total, seer(seen))
    assert new.name == "total/subscription/Identity:0"
    assert new.device == total.device
    assert after.op.control_inputs == [new.op]
    assert list(negative.op.inputs) == [new]
    assert session.run([new]) == [2]
    assert session.run(negative) == -2 and session.run(after) == 42
    assert seen == [2, 2, 2]


def test_further_effects_join_those_of_the_first_call(session):
    total = tf.add(1, 1, name="total")
    seen = []
    first = subscribe(total, [seer(seen, "a"), seer(seen, "b")])
    assert subscribe(total, seer(seen, "c")) is first
    assert subscribe(first, seer(seen, "d")) is first
    session.run(first)
    assert sorted(seen) == ["a", "b", "c", "d"]
    names = [op.name for op in session.graph.get_operations()
             if op.type == "Identity"]
    assert names == ["total/subscription/Identity"]


@pytest.mark.parametrize("make", [
    lambda a, b: (a, b), lambda a, b: [a, b], Pair,
    lambda a, b: {"x": a, "y": b}])
def test_structures_stay(session, make):
    made = make(tf.constant(1), tf.constant(2))
    found = subscribe(made, [])
    assert type(found) is type(made)
    assert all(is_subscribed_identity(t) for t in (
        found.values() if isinstance(found, dict) else found))
    other = tf.identity(tf.constant(3))
    assert not is_subscribed_identity(other)


def test_variables_are_seen_where_they_are_read(session):
    v = tf.Variable(0.0, name="v")
    total = v + 1.0
    assign = v.assign(3.0)
    seen = []
    assert subscribe(v, seer(seen)).name == "v/read/subscription/Identity:0"
    session.run(v.initializer)
    session.run(total)
    session.run(assign)
    assert session.run(total) == 4.0 and seen == [0.0, 3.0]


def test_an_op_with_several_outputs_is_seen_at_each(session):
    values, at = tf.unique([5, 6], name="u")
    with tf.control_dependencies([values, at]):
        after = tf.constant(1)
    seen = []
    found = subscribe([values, at], seer(seen))
    assert [t.op.name for t in found] == [
        "u/subscription/Identity", "u/subscription/Identity_1"]
    session.run(after)
    assert len(seen) == 2


def test_a_tensor_of_a_branch_is_seen_there(session):
    x = tf.constant(1.0)
    out = tf.cond(x < 2.0, lambda: tf.add(x, x, name="then"),
                  lambda: tf.negative(x, name="else"))
    seen = []
    tensors = [session.graph.get_tensor_by_name("cond/%s:0" % name)
               for name in ("then", "else")]
    for old, new in zip(tensors, subscribe(tensors, seer(seen))):
        assert (old.op._get_control_flow_context()
                is new.op._get_control_flow_context())
    assert session.run(out) == 2.0 and seen == [2.0]


def test_resources_stay_and_other_values_are_refused(session):
    handle = tf.TensorArray(tf.float32, size=3).handle
    assert subscribe(handle, seer([])) is handle
    for value in ("c", {"a": [3]}):
        with pytest.raises(TypeError, match="has invalid type"):
            subscribe(value, [])
