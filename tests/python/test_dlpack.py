"""DLPack: objects with __dlpack__ alone as values, and results as DLPack."""
import numpy as np
import pytest

import headrace as tf


class Exporter:
    """Has DLPack's methods and no others."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.device


class Bad(Exporter):
    def __dlpack__(self, **kwargs):
        return "no capsule"


class Used(Exporter):
    """Gives a capsule that somebody has taken."""

    def __dlpack__(self, **kwargs):
        capsule = self.array.__dlpack__()
        holder = Exporter(self.array)
        holder.__class__ = type("Once", (Exporter,), {
            "__dlpack__": lambda self, **kwargs: capsule})
        np.from_dlpack(holder)
        return capsule


VALUES = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
    np.arange(12, dtype=np.float32)[1::2].reshape(2, 3),
    np.arange(6, dtype=np.int64).reshape(2, 3),
    np.array(3., np.float32), np.zeros([0, 2], np.float32)]


@pytest.mark.parametrize("value", VALUES)
def test_values(value):
    x = tf.placeholder(tf.as_dtype(value.dtype), name="x")
    with tf.Session() as session:
        got, constant, converted = session.run(
            [x + 0, tf.constant(Exporter(value)),
             tf.convert_to_tensor(Exporter(value))], {x: Exporter(value)})
    for found in got, constant, converted:
        np.testing.assert_array_equal(found, value)
        assert found.dtype == value.dtype
    assert tf.convert_to_tensor(Exporter(value)).shape == value.shape


def test_types_are_converted_as_those_of_arrays():
    value = Exporter(np.array([1, 2], np.int64))
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(x * .5, {x: value}), [.5, 1])
    assert tf.constant(value, tf.float64).dtype == tf.float64
    assert (tf.ones([2], tf.int64) + value).dtype == tf.int64


def test_large_feeds_are_not_copied():
    memory = np.ones([1000], np.float32)
    x = tf.placeholder(tf.float32, [1000])

    def write(y):
        memory[:] = 7  # the feed shows it, for it has this memory
        return y
    with tf.Session() as session:
        with tf.control_dependencies([tf.py_func(write, [0.], tf.float32)]):
            y = tf.reduce_max(x)
        assert session.run(y, {x: Exporter(memory)}) == 7


@pytest.mark.parametrize("value, message", [
    (Exporter(np.ones([2], np.float32), device=(2, 1)), r"device \(2, 1\)"),
    (Bad(np.ones([2], np.float32)), "Bad"),
    (Used(np.ones([2], np.float32)), "Used")])
def test_refusals(value, message):
    x = tf.placeholder(tf.float32)
    with tf.Session() as session, pytest.raises(TypeError, match=message):
        session.run(x, {x: value})
    with pytest.raises(TypeError, match=message):
        tf.constant(value)


def test_read_only_memory_is_taken():
    memory = np.ones([100], np.float32)
    shown = np.from_dlpack(Exporter(memory))
    shown.flags.writeable = False

    class ReadOnly(Exporter):
        def __dlpack__(self, **kwargs):
            return memory.__dlpack__()
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        assert session.run(tf.reduce_sum(x), {x: ReadOnly(shown)}) == 100
    assert (memory == 1).all()


def test_results_give_dlpack():
    with tf.Session() as session:
        result = session.run(tf.ones([100]) * 2)
    taken = np.from_dlpack(result)
    assert np.shares_memory(taken, result) and (taken == 2).all()
