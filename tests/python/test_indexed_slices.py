"""IndexedSlices: as values, in runs, loops and branches."""
import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def slices():
    with tf.Graph().as_default():
        values = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        yield tf.IndexedSlices(values, tf.constant([3, 0, 3]),
                               tf.constant([4, 2]))


DENSE = [[3, 4], [0, 0], [0, 0], [6, 8]]  # what `slices` stand for


def test_properties(slices):
    assert slices.dtype == tf.float32
    assert slices.name == slices.values.name
    assert slices.op is slices.values.op
    assert slices.shape.as_list() == [4, 2]
    assert tf.IndexedSlices(slices.values, slices.indices).shape.as_list() == [
        None, 2]
    assert "dense_shape" in repr(slices)


def test_as_a_tensor(slices):
    with tf.Session() as s:
        assert s.run(tf.convert_to_tensor(slices)).tolist() == DENSE
        assert s.run(tf.add_n([slices, slices]))[3].tolist() == [12, 16]
        assert s.run(-slices).values[0].tolist() == [-1, -2]
        scaled = tf.scalar_mul(10.0, slices)
        assert isinstance(scaled, tf.IndexedSlices)
        assert s.run(tf.convert_to_tensor(scaled))[0].tolist() == [30, 40]
    bare = tf.IndexedSlices(slices.values, slices.indices)
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(bare)
    with pytest.raises(ValueError, match="requested dtype"):
        tf.convert_to_tensor(slices, tf.int32)
    same = tf.convert_to_tensor_or_indexed_slices
    assert same(slices) is slices
    made = same(tf.headrace.IndexedSlicesValue(np.ones((1, 2)), np.zeros(1, np.int32),
                                      None))
    assert isinstance(made, tf.IndexedSlices) and made.dense_shape is None
    assert isinstance(same([1.0]), tf.Tensor)


def test_runs(slices):
    with tf.Session() as s:
        got = s.run({"a": slices})["a"]
        assert isinstance(got, tf.headrace.IndexedSlicesValue)
        assert got.indices.tolist() == [3, 0, 3]
        bare = tf.IndexedSlices(slices.values, slices.indices)
        assert s.run(bare).dense_shape is None
        dense = tf.convert_to_tensor(slices)
        fed = s.run(dense, {slices: tf.headrace.IndexedSlicesValue(
            np.full((3, 2), 7.0), [1, 1, 0], [2, 2])})
        assert fed.tolist() == [[7, 7], [14, 14]]
        assert s.run(-bare, {bare: (np.ones((3, 2)), [0, 1, 2])}
                     ).values.tolist() == [[-1, -1]] * 3
        with pytest.raises(TypeError, match="values and indices, got"):
            s.run(bare.values, {bare: [1.0]})


def test_in_a_loop_and_a_branch(slices):
    def body(i, x):
        return i + 1, tf.IndexedSlices(x.values * 2.0, x.indices, x.dense_shape)

    _, looped = tf.while_loop(lambda i, _: i < 3, body, [0, slices])
    assert isinstance(looped, tf.IndexedSlices)
    grown = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, x: (i + 1, tf.IndexedSlices(
            tf.concat([x.values, x.values], 0),
            tf.concat([x.indices, x.indices], 0), x.dense_shape)),
        [0, slices],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])[1]
    either = tf.cond(tf.constant(True), lambda: slices, lambda: looped)
    with tf.Session() as s:
        assert s.run(looped).values[0].tolist() == [8, 16]
        assert s.run(grown).values.shape == (24, 2)
        assert s.run(either).values[0].tolist() == [1, 2]


def test_accumulators(slices):
    sums = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2],
                                           reduction_type="SUM")
    applied = sums.apply_indexed_slices_grad(slices)
    taken = sums.take_indexed_slices_grad(1)
    with tf.Session() as s:
        s.run(applied)
        got = s.run(taken)
        assert sorted(got.indices.tolist()) == [0, 3]
