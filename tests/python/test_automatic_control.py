"""AutomaticControlDependencies: effects of a block in order, before its results."""
import pytest

import headrace as tf
from headrace._src.compat.automatic_control import (
    AutomaticControlDependencies, automatic_control_dependencies,
    op_is_stateful)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def variable(session, value=1.):
    v = tf.Variable(value, use_resource=True)
    session.run(v.initializer)
    return v


def assigning(v, function):
    def branch():
        v.assign(function(v))
        return 1.
    return branch


def test_assignments_run_in_order(session):
    v = variable(session)

    @automatic_control_dependencies
    def f():
        v.assign(v + 1)
        v.assign(2 * v)
        return [v.read_value()]
    result, = f()
    assert f.__name__ == "f"
    assert [session.run(result) for _ in range(2)] == [4, 10]


# What comes before a cond, its branches, what comes after, and v after runs with
# False and True; it is 1 at first.
@pytest.mark.parametrize("before,true,false,after,expected", [
    (None, lambda v: v + 1, lambda v: v + 4, None, [5, 6]),
    (None, lambda v: v * 3, lambda v: v + 4, lambda v: v * 2, [10, 60]),
    (lambda v: v * 2, lambda v: v * 3, lambda v: v + 4, None, [6, 36]),
    (lambda v: v * 2, None, lambda v: v + 4, None, [6, 12]),
    (None, lambda v: v + 4, None, lambda v: v * 2, [2, 12])])
def test_branches_take_part(session, before, true, false, after, expected):
    v = variable(session)
    pred = tf.placeholder(tf.bool, [])
    with AutomaticControlDependencies() as block:
        if before is not None:
            v.assign(before(v))
        tf.cond(pred, *[(lambda: 1.) if f is None else assigning(v, f)
                        for f in (true, false)])
        if after is not None:
            v.assign(after(v))
        result = block.mark_as_return(v.read_value())
    assert [session.run(result, {pred: p}) for p in (False, True)] == expected


def test_branches_in_branches_take_part(session):
    v = variable(session)
    first, second = (tf.placeholder(tf.bool, []) for _ in range(2))
    with AutomaticControlDependencies() as block:
        def inner():
            tf.cond(second, assigning(v, lambda v: v * 2),
                    assigning(v, lambda v: v * 3))
            return 1.
        tf.cond(first, assigning(v, lambda v: v + 1), inner)
        result = block.mark_as_return(v.read_value())
    assert [session.run(result, {first: p, second: q}) for p, q in (
        (False, False), (False, True), (True, True), (True, False))] == [
            3, 6, 7, 8]


def test_effects_without_a_resource_run_too(session):
    with AutomaticControlDependencies() as block:
        random = tf.random_uniform([])
        check = tf.Assert(True, [1])
        echo = tf.print("printed")
        result = block.mark_as_return(tf.constant(3))
    assert not op_is_stateful(random.op.inputs[0].op)
    assert set(result.op.control_inputs) == {check, echo}
    assert echo.control_inputs == [check]


def test_results_of_all_kinds_are_returned(session):
    values = tf.constant([1.])
    for value in (tf.IndexedSlices(values, tf.constant([0])),
                  tf.SparseTensor([[0]], values, [1]),
                  tf.TensorArray(tf.float32, 1)):
        with AutomaticControlDependencies() as block:
            assert type(block.mark_as_return(value)) is type(value)


def test_the_graph_stays_the_same():
    block = AutomaticControlDependencies()
    block.__enter__()
    with tf.Graph().as_default(), pytest.raises(
            RuntimeError, match="Graph changed while"):
        block.__exit__(None, None, None)
