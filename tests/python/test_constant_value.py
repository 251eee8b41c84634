"""tf.get_static_value: what the graph tells of a tensor without a run."""
import numpy as np
import pytest

import headrace as tf


def P(shape, dtype=tf.int32):
    return tf.placeholder(dtype, shape)


KNOWN = {
    "size": (lambda: tf.raw_ops.Size(P([2, 3])), np.int32(6)),
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
