"""Errors name the lines of a node and of its inputs, and end with what to do."""
import numpy as np
import pytest

import headrace as tf


def left():
    return tf.ones([2, 3], name="left")


def right():
    return tf.ones([4, 5], name="right")


def test_a_node_that_cannot_be_made():
    a, b = left(), right()
    with pytest.raises(ValueError) as caught:
        tf.matmul(a, b, name="bad")
    lines = str(caught.value).split("\n")
    assert "Node made at test_error_lines.py" in lines[0]
    assert lines[1].startswith("\t input 0: 'left:0' made at test_error_lines.py")
    assert lines[1].endswith("in left")
    assert lines[2].startswith("\t input 1: 'right:0' made at")
    assert lines[2].endswith("in right") and len(lines) == 3


def test_inputs_of_the_same_line_are_not_named():
    with pytest.raises(ValueError) as caught:
        tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))
    assert "input 0" not in str(caught.value)


def test_few_of_many_inputs_are_named():
    many = [left() for _ in range(9)] + [tf.ones([7])]
    with pytest.raises(ValueError) as caught:
        tf.concat(many, 0)
    assert str(caught.value).count("made at") == 1 + 4


def test_a_node_that_fails():
    def picture():
        return tf.placeholder(tf.float32, [None, 3], name="p")
    p = picture()
    q = tf.reshape(p, [7], name="q")
    with tf.Session() as session, pytest.raises(
            tf.errors.InvalidArgumentError) as caught:
        session.run(q, {p: np.ones([2, 3])})
    assert caught.value.op is q.op
    assert "{{node q}} made at test_error_lines.py" in str(caught.value)
    assert "input 0: 'p:0' made at test_error_lines.py" in str(caught.value)
    assert str(caught.value).endswith("in picture")


def of_variable(use_resource, **args):
    with tf.variable_scope("", use_resource=use_resource):
        return tf.get_variable("v", [2], **args)


def exhausted():
    return tf.data.Dataset.range(0).make_one_shot_iterator().get_next()


def closed_queue():
    queue = tf.FIFOQueue(3, tf.int32)
    with tf.control_dependencies([queue.close()]):
        return queue.dequeue()


@pytest.mark.parametrize("make, advice", [
    (lambda: of_variable(False), "tf.global_variables_initializer()"),
    (lambda: of_variable(True), "tf.global_variables_initializer()"),
    (lambda: of_variable(False, collections=["local_variables"]),
     "tf.local_variables_initializer()"),
    (lambda: tf.placeholder(tf.float32), "feed_dict"),
    (lambda: tf.contrib.lookup.index_table_from_tensor(["a"]).lookup(
        tf.constant(["a"])), "tf.tables_initializer()"),
    (exhausted, "repeat()"), (closed_queue, "tf.train.start_queue_runners()")])
def test_advice_comes_last(make, advice):
    fetch = make()
    with tf.Session() as session, pytest.raises(tf.errors.OpError) as caught:
        session.run(fetch)
    assert advice in str(caught.value).split("\n")[-1]


def test_other_graphs():
    a = left()
    with tf.Graph().as_default():
        b = right()
        session = tf.Session()
    for call in (lambda: session.run(a), lambda: session.run(b, {a: 1})):
        with pytest.raises((TypeError, ValueError), match="tf.Session.graph="):
            call()
    with pytest.raises(ValueError, match="as_default"):
        tf.add(a, b)


@pytest.mark.parametrize("call, error, message", [
    (lambda: tf.constant(1, name="_x"), ValueError,
     "'_x' is not a valid node name"),
    (lambda: tf.device("foo").__enter__(), ValueError,
     "Unknown attribute: 'foo' in 'foo'"),
    (lambda: tf.device("/cpu:0/gpu:0").__enter__(), ValueError,
     "Cannot specify multiple device types"),
    (lambda: tf.matmul(left(), np.ones([3, 2], int)), TypeError,
     "Input 'b' of 'MatMul' Op has type int64 that does not match type float32 "
     "of argument 'a'"),
    (lambda: left()[True], ValueError, "mask cannot be scalar"),
    (lambda: tf.train.BytesList(value=["abc"]), TypeError,
     "'abc' has type str, but expected one of: bytes"),
    (lambda: tf.train.BytesList().value.append("abc"), TypeError, "bytes"),
    (lambda: tf.AttrValue(s="abc"), TypeError, "bytes")])
def test_refused_as_in_tensorflow(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_names_in_scopes_may_begin_with_underscores():
    with tf.name_scope("a"):
        assert tf.constant(1, name="_x").name == "a/_x:0"
