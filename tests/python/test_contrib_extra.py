"""tf.contrib.sparsemax, resampler and reversible layers beside TensorFlow 1.15.5
(contrib_extra_programs.py), and what they refuse."""
import json

import contrib_extra_programs as programs
import numpy as np
import pytest

import headrace as tf

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()


def check(got, wanted, where):
    if isinstance(wanted, list):
        assert len(got) == len(wanted), where
        for i, (a, b) in enumerate(zip(got, wanted)):
            check(a, b, "%s/%d" % (where, i))
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, rel=1e-4, abs=5e-5), where
    else:
        assert got == wanted, where


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_programs(name):
    check(programs.run(tf, name), VALUES[name], name)


@pytest.mark.parametrize("call, error, message", [
    (lambda c, x: c.resampler.resampler(x, tf.zeros([2, 3, 2])), ValueError,
     "data must be \\[batch"),
    (lambda c, x: c.resampler.resampler(tf.zeros([2, 3, 4, 1]),
                                        tf.zeros([2, 3])), ValueError,
     "warp must be \\[batch, ..., 2\\]"),
    (lambda c, x: c.resampler.resampler(tf.zeros([2, 3, 4, 1]),
                                        tf.zeros([3, 3, 2])), ValueError,
     "the same batch size"),
    (lambda c, x: c.resampler.resampler(tf.zeros([2, 3, 4, 1], tf.int32),
                                        tf.zeros([2, 3, 2], tf.int32)),
     TypeError, "of floats, got int32"),
    (lambda c, x: c.layers.rev_block(x, x, [tf.sin], tf.sin, 2), ValueError,
     "f has 1 functions for 2 layers"),
    (lambda c, x: c.layers.recompute_grad(lambda y: x * y)(x), ValueError,
     "closes over Tensor"),
    (lambda c, x: c.layers.recompute_grad(lambda y: y)(3), ValueError,
     "must be Tensors, got 3")])
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(tf.contrib, tf.ones([2, 3]))


def test_other_variables_when_a_function_is_called_again():
    @tf.contrib.layers.recompute_grad
    def function(x, is_recomputing=False):
        return x * tf.get_variable("b" if is_recomputing else "a", [],
                                   use_resource=True)
    x = tf.ones([2])
    tf.get_variable("b", [], use_resource=True)
    y = function(x)
    with pytest.raises(ValueError, match="variables used on recompute were"):
        tf.gradients(y, x)


def test_recompute_grad_of_the_root():
    v = tf.Variable(3., use_resource=True)
    calls = []

    @tf.recompute_grad
    def function(x):
        calls.append(0)
        return x * x * v
    x = tf.constant(2.)
    gradients = tf.gradients(function(x), [x, v])
    assert len(calls) == 2
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(gradients) == [12, 4]


def test_resampled_places_far_from_the_image_are_zero():
    warp = tf.constant([[[np.nan, 0.], [1e30, 1.], [-1e30, np.inf], [1, 1]]])
    found = tf.contrib.resampler.resampler(tf.ones([1, 3, 3, 1]), warp)
    with tf.Session() as session:
        assert session.run(found).ravel().tolist() == [0, 0, 0, 1]
