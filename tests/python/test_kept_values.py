"""What outlives a step owns its bytes: an array that was fed may be written
again as soon as the run is over."""
import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as s:
        yield s


@pytest.fixture
def x():
    """Large enough not to lie inside the tensor object."""
    return np.arange(100, dtype=np.float32)


def fed():
    return tf.placeholder(tf.float32, [100])


@pytest.mark.parametrize("make", [
    lambda: tf.FIFOQueue(4, tf.float32, shapes=[[100]]),
    lambda: tf.PaddingFIFOQueue(4, tf.float32, shapes=[[None]]),
    lambda: tf.RandomShuffleQueue(4, 0, tf.float32, shapes=[[100]])],
    ids=["fifo", "padding", "shuffle"])
def test_a_queue_does_not_follow_the_fed_array(session, x, make):
    q, p = make(), fed()
    many = tf.placeholder(tf.float32, [1, 100])
    session.run(q.enqueue(p), {p: x})
    batch = x[None].copy()
    session.run(q.enqueue_many([many]), {many: batch})
    x[:], batch[:] = -1, -1
    for _ in range(2):
        assert session.run(q.dequeue()).tolist() == list(range(100))


def test_a_queue_does_not_follow_a_view_of_the_fed_array(session, x):
    q, p = tf.FIFOQueue(4, tf.float32), fed()
    session.run(q.enqueue(tf.reshape(tf.identity(p), [10, 10])[3:7]), {p: x})
    x[:] = -1
    assert session.run(q.dequeue()).ravel().tolist() == list(range(30, 70))


def test_a_resource_variable_does_not_follow_the_fed_array(session, x):
    v = tf.Variable(tf.zeros([100]), use_resource=True)
    p = fed()
    session.run(tf.assign(v, p), {p: x})
    x[:] = -1
    assert session.run(v).tolist() == list(range(100))


def test_staging_areas_do_not_follow_the_fed_array(session, x):
    p = fed()
    area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[100]])
    session.run(area.put([p]), {p: x})
    by_key = tf.headrace.MapStagingArea([tf.float32], shapes=[[100]])
    session.run(by_key.put(tf.constant(1, tf.int64), [p], [0]), {p: x})
    x[:] = -1
    assert session.run(area.get())[0].tolist() == list(range(100))
    got = session.run(by_key.get(tf.constant(1, tf.int64)))
    assert np.ravel(got).tolist() == list(range(100))


def test_barriers_do_not_follow_the_fed_array(session, x):
    b = tf.headrace.Barrier([tf.float32], shapes=[[50]])
    p = fed()
    session.run(b.insert_many(0, ["a", "b"], tf.reshape(p, [2, 50])), {p: x})
    x[:] = -1
    got = session.run(b.take_many(2))
    assert got.values[0].ravel().tolist() == list(range(100))


def test_accumulators_do_not_follow_the_fed_array(session, x):
    p = fed()
    dense = tf.ConditionalAccumulator(tf.float32, shape=[100])
    sparse = tf.SparseConditionalAccumulator(tf.float32, shape=[2, 50])
    session.run(dense.apply_grad(p), {p: x})
    session.run(sparse.apply_grad([0, 1], tf.reshape(p, [2, 50])), {p: x})
    x[:] = -1
    assert session.run(dense.take_grad(1)).tolist() == list(range(100))
    got = session.run(sparse.take_grad(1))
    assert got.values.ravel().tolist() == list(range(100))


def test_session_handles_do_not_follow_the_fed_array(session, x):
    p = fed()
    handle = session.run(tf.get_session_handle(p), {p: x})
    x[:] = -1
    holder, value = tf.get_session_tensor(handle.handle, tf.float32)
    assert session.run(value, {holder: handle.handle}).tolist() == \
        list(range(100))


@pytest.mark.parametrize("make", [
    tf.data.Dataset.from_tensors,
    lambda p: tf.data.Dataset.from_tensor_slices(tf.reshape(p, [2, 50])).batch(
        2),
    lambda p: tf.data.Dataset.range(1).map(lambda i: p + 0),
    lambda p: tf.data.Dataset.range(1).map(lambda i: tf.reshape(p, [100])),
    lambda p: tf.data.Dataset.range(1).apply(
        tf.data.experimental.scan(p, lambda s, i: (s, s)))],
    ids=["tensors", "slices", "captured", "captured_view", "scan"])
def test_datasets_do_not_follow_the_fed_array(session, x, make):
    p = fed()
    iterator = make(p).make_initializable_iterator()
    session.run(iterator.initializer, {p: x})
    x[:] = -1
    got = session.run(iterator.get_next())
    assert got.ravel().tolist() == list(range(100))


def test_tensor_lists_in_a_queue_do_not_follow_the_fed_array(session, x):
    from headrace import raw_ops
    p = fed()
    empty = raw_ops.EmptyTensorList(element_shape=[100], max_num_elements=3,
                                    element_dtype=tf.float32)
    pushed = raw_ops.TensorListPushBack(input_handle=empty, tensor=p)
    q = tf.FIFOQueue(1, tf.variant, shapes=[[]])
    session.run(q.enqueue(pushed), {p: x})
    x[:] = -1
    _, value = raw_ops.TensorListPopBack(
        input_handle=q.dequeue(), element_shape=[100],
        element_dtype=tf.float32)
    assert session.run(value).tolist() == list(range(100))


def test_a_partial_run_does_not_follow_the_fed_array(session, x):
    a, b = fed(), fed()
    double, total = a * 2, a + b
    handle = session.partial_run_setup([double, total], [a, b])
    assert session.partial_run(handle, double, {a: x})[1] == 2
    x[:] = -1
    got = session.partial_run(handle, total, {b: np.zeros(100, np.float32)})
    assert got.tolist() == list(range(100))
