"""Defun: functions of the graph."""
import numpy as np
import pytest

import headrace as tf


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_one_result():
    @tf.Defun(tf.float32, tf.float32)
    def f(a, b):
        return tf.exp(a) * b + 1.
    x = tf.placeholder(tf.float32, [3])
    np.testing.assert_allclose(
        run(f(x, [1., 2., 3.]), {x: [0, 1, 2]}),
        np.exp([0, 1, 2]) * [1, 2, 3] + 1, rtol=1e-6)


def test_several_results_and_calls():
    @tf.Defun(tf.int32, func_name="DivMod")
    def f(a):
        low, high = tf.split(a, 2)
        return low // 3, high % 3
    a, b = f(tf.constant([10, 11]))
    c, d = f(tf.constant([6, 5]))
    assert [v.tolist() for v in run([a, b, c, d])] == [[3], [2], [2], [2]]
    names = [g.signature.name for g in
             tf.get_default_graph().as_graph_def().library.function]
    assert names == ["DivMod"]


def test_a_function_that_calls_another():
    @tf.Defun(tf.float32)
    def square(x):
        return x * x

    @tf.Defun(tf.float32)
    def fourth(x):
        return square(square(x))
    assert run(fourth(tf.constant(3.))) == 81


def test_refusals():
    outer = tf.constant(1.)

    @tf.Defun(tf.float32)
    def f(a):
        return a + outer
    with pytest.raises(ValueError):
        f(outer)
    with pytest.raises(ValueError, match="number of arguments"):
        f(outer, outer)
