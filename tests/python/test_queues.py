"""Queues, queue runners and batches."""
import threading
import time

import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def session():
    with tf.Session() as s:
        yield s


def test_fifo(session):
    q = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
    put = q.enqueue_many([[1, 2, 3], [[1., 2.], [3., 4.], [5., 6.]]])
    one, many, size = q.dequeue(), q.dequeue_many(2), q.size()
    assert many[1].shape.as_list() == [2, 2]
    session.run(put)
    assert session.run(size) == 3
    a, b = session.run(one)
    assert a == 1 and b.tolist() == [1, 2]
    a, b = session.run(many)
    assert a.tolist() == [2, 3] and b.tolist() == [[3, 4], [5, 6]]


def test_close(session):
    q = tf.FIFOQueue(10, tf.int32, shapes=[])
    x = tf.placeholder(tf.int32, [])
    put, take, closed = q.enqueue(x), q.dequeue(), q.is_closed()
    rest, many = q.dequeue_up_to(5), q.dequeue_many(5)
    for i in range(3):
        session.run(put, {x: i})
    assert not session.run(closed)
    session.run(q.close())
    assert session.run(closed)
    with pytest.raises(tf.errors.CancelledError):
        session.run(put, {x: 1})
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(many)
    assert session.run(take) == 0
    assert session.run(rest).tolist() == [1, 2]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(take)


def test_dequeue_waits_for_enqueue(session):
    q = tf.FIFOQueue(1, tf.int32, shapes=[])
    x = tf.placeholder(tf.int32, [])
    put, take = q.enqueue(x), q.dequeue()
    got = []
    t = threading.Thread(target=lambda: got.extend(
        session.run(take) for _ in range(20)))
    t.start()
    for i in range(20):
        session.run(put, {x: i})
    t.join(20)
    assert got == list(range(20))


def test_random_shuffle(session):
    q = tf.RandomShuffleQueue(200, 0, tf.int32, shapes=[], seed=3)
    session.run(q.enqueue_many([np.arange(100, dtype=np.int32)]))
    got = session.run(q.dequeue_many(100)).tolist()
    assert got != sorted(got) and sorted(got) == list(range(100))


def test_padding(session):
    q = tf.PaddingFIFOQueue(10, tf.int32, [[None]])
    x = tf.placeholder(tf.int32, [None])
    put = q.enqueue(x)
    session.run(put, {x: [1]})
    session.run(put, {x: [2, 3, 4]})
    assert session.run(q.dequeue_many(2)).tolist() == [[1, 0, 0], [2, 3, 4]]


def test_priority(session):
    q = tf.PriorityQueue(10, [tf.string], shapes=[[]])
    session.run(q.enqueue_many([np.array([3, 1, 2], np.int64),
                                ["c", "a", "b"]]))
    assert session.run(q.dequeue_many(3)[1]).tolist() == [b"a", b"b", b"c"]


def test_names(session):
    q = tf.FIFOQueue(4, [tf.int32, tf.int32], names=["a", "b"],
                     shapes=[[], []])
    session.run(q.enqueue({"a": 1, "b": 2}))
    assert session.run(q.dequeue()) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="dictionary"):
        q.enqueue([1, 2])


def test_refusals():
    q = tf.FIFOQueue(4, [tf.int32], shapes=[[2]])
    with pytest.raises(ValueError):
        q.enqueue([[1, 2, 3]])
    with pytest.raises((TypeError, ValueError)):
        q.enqueue([[1., 2.]])
    with pytest.raises(ValueError, match="components"):
        q.enqueue([[1, 2], [3, 4]])


def test_queue_runner_and_coordinator(session):
    q = tf.FIFOQueue(4, tf.int32, shapes=[])
    v = tf.Variable(0)
    tf.train.add_queue_runner(tf.train.QueueRunner(
        q, [q.enqueue(v.assign_add(1) + 0)]))
    take = q.dequeue()
    session.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord)
    got = [session.run(take) for _ in range(30)]
    assert got == list(range(1, 31))
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)
    assert not any(t.is_alive() for t in threads)


def test_coordinator_raises_what_a_thread_reported():
    coord = tf.train.Coordinator()

    def fail():
        with coord.stop_on_exception():
            raise ValueError("this one")
    t = threading.Thread(target=fail)
    t.start()
    with pytest.raises(ValueError, match="this one"):
        coord.join([t])
    assert coord.should_stop()


def test_batch(session):
    row = tf.train.range_input_producer(7, num_epochs=1,
                                        shuffle=False).dequeue()
    out = tf.train.batch([row, tf.cast(row, tf.float32) * 2], 3,
                         allow_smaller_final_batch=True)
    session.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord)
    got = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            a, b = session.run(out)
            np.testing.assert_array_equal(b, a * 2)
            got.append(a.tolist())
    assert got == [[0, 1, 2], [3, 4, 5], [6]]
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)


def _all_of(session, fetch):
    """What `fetch` gives until the end of its input."""
    session.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord)
    got = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            got.append(session.run(fetch))
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)
    return got


def test_batch_join(session):
    sources = []
    for k in range(3):
        row = tf.train.range_input_producer(4, num_epochs=1,
                                            shuffle=False).dequeue()
        sources.append({"row": row + 10 * k, "k": tf.constant(k)})
    out = tf.train.batch_join(sources, 3)
    assert out["row"].shape.as_list() == [3]
    rows = np.concatenate([b["row"] for b in _all_of(session, out)])
    assert sorted(rows) == [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]
    with pytest.raises(ValueError, match="same number"):
        tf.train.batch_join([[1, 2], [1]], 2)
    with pytest.raises(TypeError, match="consistent"):
        tf.train.batch_join([[1], [1.]], 2)


def test_maybe_batch(session):
    row = tf.train.range_input_producer(10, num_epochs=1,
                                        shuffle=False).dequeue()
    out = tf.train.maybe_batch(row, tf.equal(row % 2, 0), 2,
                               allow_smaller_final_batch=True)
    assert [b.tolist() for b in _all_of(session, out)] == [
        [0, 2], [4, 6], [8]]


def test_maybe_batch_of_rows(session):
    rows = tf.train.range_input_producer(8, num_epochs=1,
                                         shuffle=False).dequeue_many(4)
    out = tf.train.maybe_batch(rows, tf.greater(rows, 2), 2,
                               enqueue_many=True,
                               allow_smaller_final_batch=True)
    assert np.concatenate(_all_of(session, out)).tolist() == [3, 4, 5, 6, 7]


def test_shuffle_batch_join(session):
    rows = [tf.train.range_input_producer(50, num_epochs=1,
                                          seed=i).dequeue()
            for i in range(2)]
    out = tf.train.shuffle_batch_join([[r] for r in rows], 10, 60, 20)
    got = np.concatenate(_all_of(session, out))
    assert sorted(got) == sorted(list(range(50)) * 2)


def test_dynamic_pad(session):
    n = tf.train.range_input_producer(4, num_epochs=1,
                                      shuffle=False).dequeue()
    out = tf.train.batch(tf.fill([n], n), 2, dynamic_pad=True)
    assert [b.tolist() for b in _all_of(session, out)] == [
        [[0], [1]], [[2, 2, 0], [3, 3, 3]]]


def test_slice_and_string_producers(session):
    s, i = tf.train.slice_input_producer([["a", "b", "c"], [1, 2, 3]],
                                         num_epochs=2, shuffle=False)
    got = _all_of(session, [s, i])
    assert [g[0] for g in got] == [b"a", b"b", b"c"] * 2
    with pytest.raises(ValueError, match="non-null"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="> 0"):
        tf.train.limit_epochs(tf.constant(1), num_epochs=0)


def test_what_runners_and_coordinators_refuse(session):
    queue = tf.FIFOQueue(1, tf.float32)
    with pytest.raises(TypeError, match="tuple of tf.error types"):
        tf.train.QueueRunner(queue, [queue.enqueue(1.)],
                             queue_closed_exception_types=(ValueError,))
    with pytest.raises(TypeError, match="sess must be"):
        tf.train.start_queue_runners("a session")
    with pytest.raises(TypeError, match="an exception"):
        tf.train.Coordinator().request_stop("because")


def test_a_queue_runner_whose_operation_is_of_another_graph(session):
    with tf.Graph().as_default():
        other = tf.FIFOQueue(1, tf.float32)
        bad = other.enqueue(1.0)
    queue = tf.FIFOQueue(1, tf.float32, shapes=[])
    runner = tf.train.QueueRunner(queue, [bad])
    coord = tf.train.Coordinator()
    threads = runner.create_threads(session, coord=coord, start=True)
    with pytest.raises(ValueError, match="not an element of this graph"):
        coord.join(threads, stop_grace_period_secs=20)

    runner = tf.train.QueueRunner(queue, [bad])
    old, threading.excepthook = threading.excepthook, lambda args: None
    try:
        for t in runner.create_threads(session, start=True):
            t.join(20)
    finally:
        threading.excepthook = old
    error, = runner.exceptions_raised
    assert "not an element of this graph" in str(error)
    # And it can be started again.
    assert len(runner.create_threads(session)) == 1


def in_a_thread(function):
    """(thread, results); an error is a result, too."""
    got = []

    def call():
        try:
            got.append(function())
        except tf.errors.OpError as error:
            got.append(error)
    thread = threading.Thread(target=call)
    thread.start()
    return thread, got


@pytest.mark.parametrize("capacity", [10, 2])
def test_a_priority_queue_gives_those_who_wait_for_many_the_order(
        session, capacity):
    """Also who wants more than fits into the queue."""
    q = tf.PriorityQueue(capacity, tf.int64, shapes=[()])
    x, take = tf.placeholder(tf.int64, []), q.dequeue_many(4)
    put = q.enqueue((x, x))
    thread, got = in_a_thread(lambda: session.run(take)[0].tolist())
    for v in (5, 3, 4, 1):
        session.run(put, {x: v}, options=tf.RunOptions(timeout_in_ms=20000))
    thread.join(20)
    assert got == [[1, 3, 4, 5]]


def test_a_priority_queue_keeps_what_nobody_can_have_yet(session):
    """As in TensorFlow: elements stay until the dequeue has all of them, and
    the smallest of all are taken."""
    q = tf.PriorityQueue(10, tf.int64, shapes=[()])
    take, size = q.dequeue_many(3), q.size()
    put = q.enqueue_many(([5, 3], [5, 3]))
    thread, got = in_a_thread(lambda: session.run(take)[0].tolist())
    session.run(put)
    assert session.run(size) == 2
    session.run(q.enqueue_many(([2, 4, 1], [2, 4, 1])))
    thread.join(20)
    assert got == [[1, 2, 3]]
    assert session.run(size) == 2
    # Fewer, when it is closed: in order, too.
    up_to = q.dequeue_up_to(5)
    thread, got = in_a_thread(lambda: session.run(up_to)[0].tolist())
    session.run(q.close())
    thread.join(20)
    assert got == [[4, 5]]


def test_a_join_asks_no_other_thread_to_stop():
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=time.sleep, args=(0.01,))
    thread.start()
    coord.join([thread])
    assert coord.joined and not coord.should_stop()


@pytest.mark.parametrize("types, shapes, wanted", [
    (tf.int32, [], ["()"]), (tf.int32, [[]], ["()"]),
    (tf.int32, [2, 3], ["(2, 3)"]), (tf.int32, ((2, 3),), ["(2, 3)"]),
    (tf.int32, tf.TensorShape([2]), ["(2,)"]), ([tf.int32], [3], ["(3,)"]),
    ([tf.int32, tf.int32], [[], [3]], ["()", "(3,)"])])
def test_shapes_of_components(types, shapes, wanted):
    for kind in (tf.FIFOQueue, tf.PaddingFIFOQueue):
        queue = kind(10, types, shapes=shapes)
        assert [str(shape) for shape in queue.shapes] == wanted


def test_shapes_that_are_not_the_components():
    with pytest.raises(ValueError, match="same length as dtypes"):
        tf.FIFOQueue(10, [tf.int32], shapes=[(), ()])
    with pytest.raises(ValueError, match="a list of shapes must be provided"):
        tf.PaddingFIFOQueue(10, [tf.int32], None)
