"""tf.get_static_value: what the graph tells of a tensor without a run."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import graphs


def P(shape, dtype=tf.int32):
    return tf.placeholder(dtype, shape)


KNOWN = {
    "size": (lambda: tf.raw_ops.Size(P([2, 3])), np.int32(6)),
    "empty size": (lambda: tf.raw_ops.Size(P([0, None])), np.int32(0)),
    "range": (lambda: tf.range(1, 5, 2), np.int32([1, 3])),
    "range_float": (lambda: tf.range(1., 2., .25),
                    np.float32([1, 1.25, 1.5, 1.75])),
    "cast": (lambda: tf.cast([1.5, -2.5], tf.int32), np.int32([1, -2])),
    "cast_bool": (lambda: tf.cast([1, 0], tf.bool), np.array([True, False])),
    "concat": (lambda: tf.concat([[[1]], [[2]]], 1), np.int32([[1, 2]])),
    "concat_strings": (lambda: tf.concat([["a"], ["b"]], 0), [b"a", b"b"]),
    "pack": (lambda: tf.stack([1, tf.constant(2)]), np.int32([1, 2])),
    "fill": (lambda: tf.fill([2], 7), np.int32([7, 7])),
    "equal": (lambda: tf.equal([1, 2], [1, 3]), np.array([True, False])),
    "not_equal": (lambda: tf.not_equal([1, 2], [1, 3]),
                  np.array([False, True])),
    "of_each_other": (lambda: tf.cast(tf.concat([[1], tf.range(2)], 0),
                                      tf.int64), np.int64([1, 0, 1])),
}


@pytest.mark.parametrize("case", KNOWN)
def test_known(case):
    build, value = KNOWN[case]
    got = tf.get_static_value(build())
    np.testing.assert_array_equal(got, value)
    if isinstance(value, (np.ndarray, np.generic)):
        assert got.dtype == value.dtype


@pytest.mark.parametrize("build", [
    lambda: tf.concat([P([1]), [2]], 0),
    lambda: tf.stack([1, P([])]),
    lambda: tf.stack([[1], [2]], axis=1),
    lambda: tf.fill(P([1]), 7),
    lambda: tf.equal(1, P([])),
    lambda: tf.raw_ops.Size(P([None])),
    lambda: tf.identity(tf.constant(1)),
    lambda: tf.fill([10 ** 5, 10 ** 5], 1),  # too large to be worth it
    lambda: tf.range(10 ** 9),
    lambda: tf.cast(tf.Variable(1.), tf.int32),
])
def test_unknown(build):
    assert tf.get_static_value(build()) is None


def test_some_elements_known():
    value = tf.get_static_value(tf.stack([1, P([]), 3]), partial=True)
    assert [None if v is None else int(v) for v in value] == [1, None, 3]


def test_a_long_chain_ends():
    x = tf.constant(1.)
    for _ in range(2000):
        x = tf.cast(x, tf.int32 if x.dtype == tf.float32 else tf.float32)
    assert tf.get_static_value(x) is None


def _of(dims):
    return tf.shape(tf.placeholder(tf.float32, dims))


@pytest.mark.parametrize("make,expected", [
    (lambda: tf.constant([1, -1, -2]), [1, None, None]),
    (lambda: tf.constant([], tf.int32), []),
    (lambda: tf.constant(-1), None),
    (lambda: tf.placeholder(tf.int32, [3]), [None, None, None]),
    (lambda: tf.placeholder(tf.int32), None),
    (lambda: _of([1, None]), [1, None]),
    (lambda: tf.stack([16, tf.placeholder(tf.int32, []), 37]), [16, None, 37]),
    (lambda: tf.concat([[16, 37], tf.placeholder(tf.int32, [2])], 0),
     [16, 37, None, None]),
    (lambda: _of([1, None, 3])[1:], [None, 3]),
    (lambda: _of([1, None, 3])[:-1], [1, None]),
    (lambda: _of([1, None, 3])[::2], [1, 3]),
    (lambda: _of([1, None, 3])[:5], [1, None, 3]),
    (lambda: _of(None)[1:], None)])
def test_shapes_that_vectors_stand_for(make, expected):
    # Values of TensorFlow 1.15.5.
    with tf.Graph().as_default():
        shape = graphs.constant_value_as_shape(make())
    assert shape.ndims == (None if expected is None else len(expected))
    if expected is not None:
        assert shape.as_list() == expected


@pytest.mark.parametrize("make,text", [
    (lambda: tf.constant(3), "a scalar value '3' as shape; require"),
    (lambda: tf.placeholder(tf.int32, []), "with unknown value as shape"),
    (lambda: tf.constant([[1]]), "must have rank 1")])
def test_what_stands_for_no_shape(make, text):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        graphs.constant_value_as_shape(make())


def test_values_that_are_no_tensors_are_their_own():
    assert tf.get_static_value(3) == 3
    with tf.Graph().as_default():
        assert tf.get_static_value(tf.Variable(3)) is None


def test_shapes_of_tensor_protos():
    proto = tf.make_tensor_proto([[1, 2]])
    assert graphs.shape_equals(proto, [1, 2])
    assert not graphs.shape_equals(proto, tf.TensorShape([2]).as_proto())
    with pytest.raises(TypeError):
        graphs.shape_equals([1], [1])
