"""Python functions as nodes."""
import threading

import numpy as np
import pytest

import headrace as tf


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_one_result():
    x = tf.placeholder(tf.float32, [2])
    y = tf.py_func(lambda a: np.sinh(a), [x], tf.float32)
    np.testing.assert_allclose(run(y, {x: [1, 2]}), np.sinh([1, 2]), rtol=1e-6)


def test_several_results_and_strings():
    def f(a, s):
        assert isinstance(s, bytes)
        return a + 1, np.array([s + b"!", b""], object)
    a, s = tf.py_func(f, [tf.constant([1, 2]), "hi"], [tf.int32, tf.string])
    a, s = run([a, s])
    assert a.tolist() == [2, 3] and s.tolist() == [b"hi!", b""]


def test_no_result_and_no_argument():
    calls = []
    op = tf.py_func(lambda: calls.append(1), [], [])
    run(op)
    assert calls == [1]


def test_in_a_loop():
    out = tf.while_loop(
        lambda i: i < 5,
        lambda i: tf.reshape(tf.py_func(lambda v: np.int32(v + 1), [i],
                                        tf.int32), []), [0])
    assert run(out) == 5


def test_from_threads():
    x = tf.placeholder(tf.int64, [])
    y = tf.py_func(lambda v: v * 2, [x], tf.int64)
    got = {}
    with tf.Session() as session:
        def work(i):
            got[i] = [int(session.run(y, {x: k})) for k in range(i, i + 20)]
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
    assert got == {i: [2 * k for k in range(i, i + 20)] for i in range(8)}


@pytest.mark.parametrize("raised, error", [
    (ValueError("no"), tf.errors.InvalidArgumentError),
    (TypeError("no"), tf.errors.InvalidArgumentError),
    (StopIteration("no"), tf.errors.OutOfRangeError),
    (MemoryError("no"), tf.errors.ResourceExhaustedError),
    (NotImplementedError("no"), tf.errors.UnimplementedError),
    (KeyError("no"), tf.errors.UnknownError),
])
def test_exceptions(raised, error):
    def f():
        raise raised
    y = tf.py_func(f, [], tf.int32)
    with pytest.raises(error, match=type(raised).__name__):
        run(y)


@pytest.mark.parametrize("result, text", [
    (np.zeros(2, np.float64), "float64, but expects float32"),
    ((np.float32(1), np.float32(2)), "returns 2 values"),
])
def test_results_of_the_wrong_kind(result, text):
    y = tf.py_func(lambda: result, [], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
        run(y)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("result, text", [
    ({1}, "Unsupported object type set"),
    ([np.array([b"a", 3], object)], "Unsupported object type int"),
    (np.zeros(2, [("a", np.float32)]), "Unsupported numpy data type"),
    (np.datetime64("2020-01-01"), "Unsupported numpy type: NPY_DATETIME"),
])
def test_results_that_no_tensor_holds(result, text):
    for dtype in tf.float32, tf.string:
        with pytest.raises(tf.errors.InternalError, match=text):
            run(tf.py_func(lambda: result, [], dtype))


def test_a_function_that_is_none():
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [], tf.int32)


def test_a_function_of_another_process():
    y = tf.raw_ops.PyFunc([], token="elsewhere", Tout=[tf.int32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not found"):
        run(y[0])


def test_a_deadline_does_not_wait_for_a_function():
    release, ended = threading.Event(), threading.Event()

    def wait():
        release.wait(60)
        ended.set()
        return np.float32(1)
    y = tf.py_func(wait, [], tf.float32, name="slow")
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError,
                           match=r"left running: node 'slow' \(PyFunc\)"):
            session.run(y, options=tf.RunOptions(timeout_in_ms=30))
        assert not ended.is_set()
        assert session.run(tf.constant(2)) == 2
        release.set()
    del session
    assert ended.wait(30)


@pytest.mark.parametrize("returned, shape", [
    ([np.array([1, 2])], (2,)), ([[1, 2]], (2,)), (([1, 2],), (2,)),
    (np.array([[1, 2]]), (1, 2)), ([1], ()), (1, ())])
def test_a_list_that_is_returned_holds_the_results(returned, shape):
    assert run(tf.py_func(lambda: returned, [], tf.int64)).shape == shape
    got, = run(tf.py_func(lambda: returned, [], [tf.int64]))
    assert got.shape == shape


@pytest.mark.parametrize("returned", [[1, 2], (1, 2), [], None])
def test_another_number_of_results_than_types(returned):
    n = len(returned or [])
    for types in tf.int64, [tf.int64]:
        with pytest.raises(
                tf.errors.InvalidArgumentError,
                match="returns %d values, but expects to see 1" % n):
            run(tf.py_func(lambda: returned, [], types))


def test_no_results_of_a_stateless_function():
    assert tf.py_func(lambda: None, [], [], stateful=False) == []
    assert isinstance(tf.py_func(lambda: None, [], []), tf.Operation)


def test_strings_that_end_in_nuls():
    for value in (b"a\0", [b"a\0"], np.array([b"a\0"], object)):
        got = np.array(run(tf.py_func(lambda: value, [], tf.string)), object)
        assert got.ravel().tolist() == [b"a\0"]
    assert run(tf.py_func(lambda s: s, [b"b\0\0"], tf.string)) == b"b\0\0"


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_function_that_runs_itself_without_end(in_thread):
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.py_func(lambda: session.run(y), [], tf.double)
        caught = []

        def go():
            for options in None, tf.RunOptions(timeout_in_ms=60000):
                try:
                    session.run(y, options=options)
                except tf.errors.UnknownError as error:
                    caught.append(str(error))
        if in_thread:
            thread = threading.Thread(target=go)
            thread.start()
            thread.join(120)
        else:
            go()
        assert len(caught) == 2
        for text in caught:
            assert "RecursionError" in text and len(text) < 100000
        assert session.run(tf.py_func(lambda: 1.0, [], tf.double)) == 1
