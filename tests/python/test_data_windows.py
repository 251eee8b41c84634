"""Sliding windows, unique elements, sleep, single elements by index, and
elements in the order in which they are ready. Values are TensorFlow's."""
import time

import numpy as np
import pytest

import headrace as tf
from dataset_values import values

Dataset = tf.data.Dataset
raw = tf.raw_ops


def error_of(make):
    """The error of making and iterating a dataset."""
    with pytest.raises(tf.errors.OpError) as caught:
        iterator = tf.data.make_initializable_iterator(make())
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            sess.run(iterator.get_next())
    return caught.value


@pytest.mark.parametrize("size, shift, stride, drop, want", [
    (3, 2, 1, True, [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8]]),
    (3, 2, 1, False, [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8], [8, 9]]),
    (3, 4, 1, True, [[0, 1, 2], [4, 5, 6]]),
    (3, 4, 1, False, [[0, 1, 2], [4, 5, 6], [8, 9]]),
    (5, 2, 2, True, [[0, 2, 4, 6, 8]]),
    (2, 5, 3, True, [[0, 3], [5, 8]]),
    (2, 5, 3, False, [[0, 3], [5, 8]]),
    (11, 1, 1, True, []),
    (3, 12, 1, False, [[0, 1, 2]]),
    (5, 3, 1, False, [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7], [6, 7, 8, 9], [9]]),
    (2**61, 9, 3, False, [[0, 3, 6, 9], [9]]),
])
def test_sliding_windows(size, shift, stride, drop, want):
    d = Dataset.range(10)
    d = d._unary(
        raw.SlidingWindowDataset, spec=d._spec.batched(None), window_size=size, window_shift=shift,
        window_stride=stride, drop_remainder=drop)
    assert values(d) == want
    with tf.Session() as sess:
        n = tf.data.experimental.cardinality(d)
        assert sess.run(n) == len(want)


@pytest.mark.parametrize("size, shift, stride", [
    (0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1), (2**62, 1, 2)])
def test_windows_refused(size, shift, stride):
    error = error_of(lambda: Dataset.range(10)._unary(
        raw.ExperimentalSlidingWindowDataset, window_size=size,
        window_shift=shift, window_stride=stride))
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert "Window " in str(error)


@pytest.mark.parametrize("elements, want", [
    (np.array([1, 2, 1, 3, 2], np.int32), [1, 2, 3]),
    (np.array([1, 1, 2], np.int64), [1, 2]),
    (np.array([[1, 2], [1, 2], [2, 1]], np.int32), [[1, 2], [2, 1]]),
    (["a", "b", "a", "", ""], [b"a", b"b", b""]),
])
def test_unique(elements, want):
    for op in (raw.UniqueDataset, raw.ExperimentalUniqueDataset):
        assert values(Dataset.from_tensor_slices(elements)._unary(op)) == want


def test_unique_tells_shapes_apart():
    d = Dataset.from_tensor_slices([1, 2, 1]).map(lambda n: tf.zeros(
        [n], tf.int32))
    assert values(d._unary(raw.UniqueDataset)) == [[0], [0, 0]]


def test_unique_refuses_other_types():
    for elements in ([1., 2.], [True], ([1], [2])):
        error = error_of(lambda: Dataset.from_tensor_slices(
            elements)._unary(raw.UniqueDataset))
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert "UniqueDataset only supports" in str(error)


def test_sleep():
    for op in (raw.SleepDataset, raw.ExperimentalSleepDataset):
        start = time.monotonic()
        assert values(Dataset.range(3)._unary(
            op, sleep_microseconds=20000)) == [0, 1, 2]
        assert time.monotonic() - start >= 0.06
    error = error_of(lambda: Dataset.range(3)._unary(
        raw.SleepDataset, sleep_microseconds=-1))
    assert "sleep_microseconds must be >= 0" in str(error)


def test_a_sleep_ends_with_its_step():
    d = Dataset.range(3)._unary(raw.SleepDataset,
                                sleep_microseconds=2**63 - 1)
    iterator = tf.data.make_initializable_iterator(d)
    get_next = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(get_next, options=tf.RunOptions(timeout_in_ms=100))


def test_element_at_index():
    def at(d, index):
        return raw.GetElementAtIndex(
            d._variant_tensor, tf.constant(index, tf.int64),
            output_types=[tf.int64], output_shapes=[None])[0]
    r = Dataset.range(10)
    with tf.Session() as sess:
        for d, index, want in [
                (r, 3, 3), (r.skip(3), 2, 5), (r.take(3), 2, 2),
                (Dataset.range(3).repeat(2), 4, 1),
                (Dataset.range(6).shard(2, 1), 1, 3), (r.prefetch(2), 1, 1)]:
            assert sess.run(at(d, index)) == want
        assert sess.run(at(r.batch(3), 3)).tolist() == [9]
        for index in (10, -1):
            with pytest.raises(tf.errors.OutOfRangeError,
                               match=r"out of range \[0, 10\)"):
                sess.run(at(r, index))
        for d, word in [(r.repeat(), "infinite"),
                        (r.filter(lambda x: x > 3), "unknown")]:
            with pytest.raises(tf.errors.FailedPreconditionError, match=word):
                sess.run(at(d, 1))


def slow_then_quick(x):
    """Datasets of x, x, of which the first takes its time."""
    d = Dataset.from_tensors(x).repeat(2)
    return d._unary(raw.SleepDataset,
                    sleep_microseconds=tf.where(tf.equal(x, 0),
                                                tf.constant(600000, tf.int64),
                                                tf.constant(0, tf.int64)))


def test_sloppy_interleave_lets_what_is_ready_pass():
    d = Dataset.range(4).apply(tf.data.experimental.parallel_interleave(
        slow_then_quick, cycle_length=4, sloppy=True))
    got = values(d)
    assert sorted(got) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert got[0] != 0
    d = Dataset.range(4).apply(tf.data.experimental.parallel_interleave(
        slow_then_quick, cycle_length=4))
    assert values(d) == [0, 1, 2, 3, 0, 1, 2, 3]


def test_sloppy_interleave_hands_on_failures_and_ends():
    d = Dataset.range(4).apply(tf.data.experimental.parallel_interleave(
        lambda x: Dataset.from_tensors(tf.check_numerics(
            1. / tf.cast(x - 1, tf.float32), "bad")), cycle_length=2,
        sloppy=True))
    got = values(d)
    assert sorted(x for x in got if isinstance(x, float)) == [-1.0, 0.5, 1.0]
    assert len(got) == 4


def test_sloppy_map_gives_what_is_done():
    def slow(x):
        def wait(v):
            time.sleep(0.5 if v == 0 else 0.)
            return v
        return tf.py_func(wait, [x], tf.int64)
    for sloppy in (False, True):
        d = Dataset.range(6)
        f = tf_map(d, slow)
        out = raw.ParallelMapDataset(
            d._variant_tensor, [], 2, f=f.attr, sloppy=sloppy,
            output_types=[tf.int64], output_shapes=[None])
        got = values(type(d)(out, d._spec))
        assert sorted(got) == [0, 1, 2, 3, 4, 5]
        assert (got[0] == 0) != sloppy


def tf_map(dataset, f):
    from headrace._src.data.elements import ElementFunction
    return ElementFunction(f, dataset._spec)
