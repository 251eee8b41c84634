"""NumPy in and out: without copies where that is possible, and safe."""
import gc
import sys

import numpy as np
import pytest

import headrace as tf
from headrace import _headrace


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize("dtype", [
    np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, np.complex64,
    np.complex128])
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0, 3), (2, 1, 5)])
def test_round_trip(dtype, shape):
    value = (np.arange(int(np.prod(shape))).reshape(shape) % 5).astype(dtype)
    back = _headrace.round_trip(value, None)
    assert back.dtype == value.dtype
    assert np.shape(back) == shape
    np.testing.assert_array_equal(back, value)


def test_scalars_are_numpy_scalars(graph):
    with tf.Session() as sess:
        assert type(sess.run(tf.constant(1.5))) is np.float32
        assert type(sess.run(tf.constant(1))) is np.int32
        assert type(sess.run(tf.constant("a"))) is bytes


def test_strings(graph):
    x = tf.placeholder(tf.string)
    with tf.Session() as sess:
        out = sess.run(tf.identity(x), {x: [["a", b"\xff"], ["", "\u00fc" * 30]]})
    assert out.dtype == object
    assert out.tolist() == [[b"a", b"\xff"], [b"", ("\u00fc" * 30).encode()]]


def test_fixed_width_strings(graph):
    x = tf.placeholder(tf.string)
    with tf.Session() as sess:
        assert sess.run(tf.identity(x), {x: np.array(["ab", "c"])}).tolist() == [
            b"ab", b"c"]


def test_feed_is_not_copied(graph):
    x = tf.placeholder(tf.float32, [None])
    value = np.arange(1000, dtype=np.float32)
    count = sys.getrefcount(value)
    with tf.Session() as sess:
        out = sess.run(tf.identity(x) * 1.0, {x: value})
        np.testing.assert_array_equal(out, value)
        for _ in range(10):
            sess.run(tf.size(x), {x: value})
    assert sys.getrefcount(value) == count


def test_fed_and_fetched_is_independent(graph):
    x = tf.placeholder(tf.float32, [None])
    value = np.arange(100, dtype=np.float32)
    with tf.Session() as sess:
        direct, through = sess.run([x, tf.identity(x)], {x: value})
    direct[0] = through[0] = 7
    assert value[0] == 0


@pytest.mark.parametrize("dtype,value", [
    (tf.float32, 3.), (tf.int64, 3), (tf.string, b"ab\0"), (tf.bool, True)])
def test_fed_and_fetched_scalar_is_an_array(graph, dtype, value):
    x = tf.placeholder(dtype)
    with tf.Session() as sess:
        fetches = [x, tf.identity(x)]
        for direct, through in (sess.run(fetches, {x: value}),
                                sess.make_callable(fetches, [x])(value)):
            assert type(direct) is np.ndarray and direct.shape == ()
            assert direct[()] == value == through
            assert type(through) is not np.ndarray


def test_fetch_owns_its_memory(graph):
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        out = sess.run(x + 1.0, {x: np.zeros(1000, np.float32)})
        assert out.base is not None  # over the tensor's own buffer
        again = sess.run(x + 2.0, {x: np.zeros(1000, np.float32)})
    del sess
    gc.collect()
    assert (out == 1).all() and (again == 2).all()
    out[:] = 5  # and writable
    assert (again == 2).all()


def test_variable_does_not_follow_the_array(graph):
    v = tf.Variable(tf.zeros([100]))
    x = tf.placeholder(tf.float32, [100])
    assign = tf.assign(v, x)
    value = np.ones(100, np.float32)
    with tf.Session() as sess:
        sess.run(assign.op, {x: value})
        value[:] = 9
        assert (sess.run(v) == 1).all()


@pytest.mark.parametrize("resource", [False, True])
def test_fetched_variable_does_not_follow_later_writes(graph, resource):
    v = tf.Variable(tf.zeros([100]), use_resource=resource)
    more = v.assign_add(tf.ones([100]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        before = sess.run(v)
        sess.run(more)
        assert (before == 0).all()
        before[:] = 77
        assert (sess.run(v) == 1).all()


def test_constant_cannot_be_changed_through_a_fetch(graph):
    c = tf.constant(np.ones(100, np.float32))
    with tf.Session() as sess:
        sess.run(c)[:] = 5
        assert (sess.run(c) == 1).all()


def test_constant_copies_its_value(graph):
    value = np.ones(100, np.float32)
    c = tf.constant(value)
    value[:] = 3
    with tf.Session() as sess:
        assert (sess.run(c) == 1).all()


@pytest.mark.parametrize("make", [
    lambda a: a[::2], lambda a: a[::-1], lambda a: np.asfortranarray(a),
    lambda a: a.T, lambda a: a.astype(">f4"), lambda a: a.astype(np.float64)])
def test_awkward_layouts(graph, make):
    x = tf.placeholder(tf.float32)
    value = make(np.arange(12, dtype=np.float32).reshape(4, 3))
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.identity(x), {x: value}),
                                      value.astype(np.float32))


def test_misaligned_array(graph):
    raw = np.zeros(4 * 100 + 1, np.uint8)[1:].view(np.float32)
    assert not raw.flags.aligned
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert (sess.run(x + 1.0, {x: raw}) == 1).all()


def test_read_only_array(graph):
    value = np.ones(100, np.float32)
    value.flags.writeable = False
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert (sess.run(x * 2.0, {x: value}) == 2).all()
    assert (value == 1).all()


def test_feeds_are_never_written(graph):
    x = tf.placeholder(tf.float32, [None])
    value = np.ones(1000, np.float32)
    with tf.Session() as sess:
        sess.run(tf.nn.relu(tf.exp(-x) + 1.0), {x: value})
    assert (value == 1).all()


def test_bfloat16(graph):
    c = tf.cast(tf.constant([1.0, -2.5]), tf.bfloat16)
    with tf.Session() as sess:
        out = sess.run(c)
    try:
        import ml_dtypes
        assert out.dtype == np.dtype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(out.astype(np.float32), [1, -2.5])
    except ImportError:
        assert out.dtype == np.float32 == tf.bfloat16.as_numpy_dtype
        np.testing.assert_array_equal(out, [1, -2.5])
    assert tf.bfloat16.size == 2


def test_numbers_become_bfloat16_by_value(graph):
    x = tf.placeholder(tf.bfloat16, name="x")
    x_float = tf.cast(x, tf.float32)
    v = tf.get_variable("v", [2], tf.bfloat16,
                        initializer=tf.constant_initializer(1.5))
    with tf.Session() as sess:
        sess.run(v.initializer)
        for value, want in [(1.5, 1.5), (2, 2), ([1, -2], [1, -2]),
                            ([[1.5], [0.5]], [[1.5], [0.5]]),
                            (True, 1), (np.float64(1.5), 1.5), (np.int32(3), 3),
                            (np.array([1 + 2**-8, 1 + 3 * 2**-8]),
                             [1, 1 + 2**-6]),
                            ([float("inf")], [np.inf]), ([], [])]:
            c = tf.constant(value, tf.bfloat16)
            assert c.dtype == tf.bfloat16
            kept = sess.run(c)
            for got in (sess.run(tf.cast(c, tf.float32)),
                        sess.run(x_float, {x: value}),
                        sess.run(x_float, {x: kept})):
                assert got.shape == np.shape(want)
                np.testing.assert_array_equal(got, want)
        filled = tf.constant(1.5, tf.bfloat16, [3])
        sum_ = tf.constant([1.0], tf.bfloat16) + 1.5
        got = sess.run([tf.cast(t, tf.float32) for t in (filled, sum_, v)])
        assert [g.tolist() for g in got] == [[1.5] * 3, [2.5], [1.5] * 2]
    for bad in ("a", None, 1j):
        with pytest.raises((TypeError, ValueError)):
            tf.constant(bad, tf.bfloat16)


def test_int_widths(graph):
    assert tf.constant(2 ** 31 - 1).dtype == tf.int32
    assert tf.constant(2 ** 31).dtype == tf.int64
    assert tf.constant([1, 2.0]).dtype == tf.float32
    assert tf.constant(np.float64(1)).dtype == tf.float64
    assert tf.constant([np.float64(1)]).dtype == tf.float32
    assert tf.constant(True).dtype == tf.bool
    assert tf.constant([]).dtype == tf.float32
    assert tf.constant(1, tf.float64).dtype == tf.float64


def test_values_that_do_not_fit(graph):
    with pytest.raises(TypeError, match="Expected int32"):
        tf.constant(1.5, tf.int32)
    with pytest.raises(TypeError):
        tf.constant("a", tf.float32)
    with pytest.raises(TypeError):
        tf.constant(1, tf.string)
    with pytest.raises(ValueError):
        tf.constant(None)
    with pytest.raises(ValueError):
        tf.constant([[1, 2], [3]])
    for bad in ([1, [2]], [tf.constant(1)]):
        with pytest.raises(TypeError):
            tf.constant(bad)
    with pytest.raises(TypeError, match="Expected bool, got 1"):
        tf.constant([[1, 2], [3]], tf.bool)


@pytest.mark.parametrize("value, dtype, want", [
    (300, tf.uint8, 44), (-1, tf.uint8, 255), ([300, 1], tf.int8, [44, 1]),
    (2**31, tf.int32, -2**31), ([2**32 - 1], tf.int32, [-1]),
    (2**40, tf.int32, 0), (-1, tf.uint64, 2**64 - 1),
    (2**64 - 1, tf.uint64, 2**64 - 1)])
def test_ints_lose_the_bits_that_a_type_does_not_hold(graph, value, dtype,
                                                      want):
    with tf.Session() as sess:
        assert sess.run(tf.constant(value, dtype)).tolist() == want


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**70])
def test_ints_beyond_64_bits_overflow(graph, value):
    for dtype in tf.int8, tf.int32, tf.int64:
        with pytest.raises(OverflowError):
            tf.constant(value, dtype)


def test_sizes_keep_their_bits_where_the_type_is_free(graph):
    assert tf.fill([2**31 + 6], 1.0).shape.as_list() == [2**31 + 6]


@pytest.mark.parametrize("dtype", [
    tf.int8, tf.uint8, tf.int32, tf.int64, tf.uint64, tf.float16, tf.float32,
    tf.float64, tf.complex64, tf.bfloat16])
def test_a_python_bool_is_a_number(graph, dtype):
    with tf.Session() as sess:
        for made in (tf.constant([True, False], dtype),
                     tf.constant([0, -1], dtype) + True if not (
                         dtype.is_unsigned) else tf.constant([1, 0], dtype)):
            want = [1, 0]
            got = sess.run(tf.cast(made, tf.float32))
            assert made.dtype == dtype and got.tolist() == want
        x = tf.constant([3, 2], dtype)
        if dtype != tf.uint64:
            got = sess.run(tf.cast(True * x * [False, True], tf.float32))
            assert got.tolist() == [0, 2]


def test_a_python_bool_is_an_axis_a_size_and_a_limit(graph):
    with tf.Session() as sess:
        got = sess.run([
            tf.reduce_sum([[1.0, 2.0]], True), tf.expand_dims([1, 2], True),
            tf.concat([[1], [2]], False), tf.maximum([0], True),
            tf.equal(tf.constant(1), True), tf.zeros(True),
            tf.reshape([1], [True]), tf.tile([1], [True])])
    assert [g.tolist() for g in got] == [
        [3.0], [[1], [2]], [1, 2], [1], True, [0.0], [1], [1]]
    assert tf.convert_to_tensor(True, preferred_dtype=tf.int32).dtype == (
        tf.int32)
    with pytest.raises(TypeError, match="Expected bool"):
        tf.constant(1, tf.bool)


def test_no_elements_of_a_value(graph):
    assert tf.constant("a", shape=[0]).dtype == tf.float32
    assert tf.constant(1, tf.int64, [2, 0]).shape.as_list() == [2, 0]
    with tf.Session() as sess:
        assert sess.run(tf.constant(1, tf.int8, [0])).dtype == np.int8
