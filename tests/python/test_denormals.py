"""Kernels compute with denormal numbers as zero, as TensorFlow's threads do.
What only passes on, takes apart or compares bits leaves them alone."""
import numpy as np
import pytest

import headrace as tf

SMALL = {np.float32: 1e-40, np.float64: 1e-310}


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as s:
        yield s


@pytest.mark.parametrize("n", [4, 100000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arithmetic_takes_denormals_for_zero(session, dtype, n):
    p = tf.placeholder(dtype, [None])
    x = np.full([n], SMALL[dtype], dtype)
    big = dtype(1e30)
    for name, y in {"mul": p * big, "add": p + 0, "sqrt": tf.sqrt(p),
                    "sum": tf.reduce_sum(p) * big, "div": p / (1 / big),
                    "greater": tf.cast(p > 0, dtype),
                    "matmul": tf.matmul(p[None], tf.fill([n, 1], big))}.items():
        assert not np.any(session.run(y, {p: x})), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_that_would_be_denormal_are_zero(session, dtype):
    p = tf.placeholder(dtype, [None])
    x = np.full([1000], np.finfo(dtype).tiny, dtype)
    assert not np.any(session.run(p * dtype(0.5), {p: x}))
    assert not np.any(session.run(tf.constant(x) * dtype(0.5)))  # folded


def test_moved_denormals_stay(session):
    p = tf.placeholder(np.float32, [None])
    x = np.full([1000], 1e-40, np.float32)
    for y in (tf.identity(p), tf.concat([p, p], 0)[:1000], tf.gather(
            p, tf.range(1000)), tf.reverse(p, [0])):
        assert (session.run(y, {p: x}) == x).all()


def test_datasets_and_python_functions_see_the_same(session):
    tiny = np.finfo(np.float32).tiny
    for parallel in (None, 2):
        data = tf.data.Dataset.from_tensors(tiny).map(
            lambda v: v * 0.5, num_parallel_calls=parallel)
        assert session.run(data.make_one_shot_iterator().get_next()) == 0
    half = tf.py_func(lambda v: v * np.float32(0.5), [tiny], tf.float32)
    assert session.run(half) == 0


def test_the_caller_s_thread_is_left_as_it_was(session):
    tiny = np.full([1], np.finfo(np.float32).tiny)
    for _ in range(3):
        session.run(tf.constant(1.) + 1)
        assert np.all(tiny * np.float32(0.5) > 0)


def test_half_denormals_are_numbers(session):
    p = tf.placeholder(np.float16, [None])
    x = np.full([100], 6e-8, np.float16)
    assert (session.run(tf.cast(p, tf.float32), {p: x}) ==
            x.astype(np.float32)).all()
    wide = tf.placeholder(np.float32, [None])
    assert (session.run(tf.cast(wide, tf.float16),
                        {wide: x.astype(np.float32)}) == x).all()
