"""What TensorFlow's distributions share, by its inner module."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import distribution_tools as tools


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("shift", [0, 1, -1, 2, 4, -5])
@pytest.mark.parametrize("is_known", [True, False])
def test_rotate_transpose(session, shift, is_known):
    x = np.arange(24.).reshape(2, 3, 4)
    wanted = np.transpose(x, np.roll(np.arange(3), shift))
    if is_known:
        found = session.run(tools.rotate_transpose(x, shift))
    else:
        p, s = tf.placeholder(tf.float64), tf.placeholder(tf.int32)
        found = session.run(tools.rotate_transpose(p, s), {p: x, s: shift})
    np.testing.assert_array_equal(found, wanted)


def test_pick_vector(session):
    p = tf.placeholder(tf.bool, [])
    picked = tools.pick_vector(p, [1, 2], [3, 4, 5])
    assert session.run(picked, {p: True}).tolist() == [1, 2]
    assert session.run(picked, {p: False}).tolist() == [3, 4, 5]
    assert tools.pick_vector(False, [1], [2]) == [2]


def test_known_values(session):
    unknown = tf.placeholder(tf.int32, [2])
    assert tools.prefer_static_rank(tf.ones([2])) == 1
    assert tools.prefer_static_shape(tf.ones([2])).tolist() == [2]
    assert tools.prefer_static_value(unknown) is unknown
    assert tools.prefer_static_broadcast_shape([2, 1], [3]).as_list() == [2, 3]
    shape = tools.prefer_static_broadcast_shape(unknown, [3])
    assert session.run(shape, {unknown: [2, 1]}).tolist() == [2, 3]
    assert tools.maybe_get_static_value(tf.constant(3), np.float32) == 3.
    assert tools.maybe_get_static_value(unknown) is None
    assert tools.maybe_get_static_value(7) == 7
    assert tools.dimension_size(tf.ones([2, 3]), -1) == 3


@pytest.mark.parametrize("a, b, wanted", [
    ([2], [2], True), ([2], [3], False), ([2], [2, 2], False)])
def test_same_dynamic_shape(session, a, b, wanted):
    same = tools.same_dynamic_shape(tf.ones(a), tf.ones(b))
    assert session.run(same) == wanted


def test_logits_and_probs(session):
    def pair(**arguments):
        return session.run(tools.get_logits_and_probs(**arguments))
    for given in ([.2, .8], [.5, .5]):
        for many in (False, True):
            logits, _ = pair(probs=given, multidimensional=many,
                             validate_args=True)
            _, probs = pair(logits=logits, multidimensional=many)
            np.testing.assert_allclose(probs, given, rtol=1e-6)
    np.testing.assert_allclose(
        session.run(tools.log_combinations(5., [2., 3.])), np.log(10.),
        rtol=1e-6)


def test_checks_in_the_run(session):
    x = tf.placeholder(tf.float32)
    cases = [
        (tools.assert_symmetric(x), [[1., 2.], [2., 1.]], [[1., 2.], [3., 1.]]),
        (tools.assert_integer_form(x), [1., 2.], [1., 2.5]),
        (tools.get_logits_and_probs(probs=x, validate_args=True), [.5], [1.5]),
        (tools.get_logits_and_probs(probs=x, validate_args=True,
                                    multidimensional=True), [.5, .5], [.5, .4])]
    for checked, good, wrong in cases:
        session.run(checked, {x: good})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked, {x: wrong})


@pytest.mark.parametrize("make, error, message", [
    (lambda: tools.get_logits_and_probs(), ValueError, "probs or logits"),
    (lambda: tools.get_logits_and_probs([1.], [.5]), ValueError,
     "probs or logits"),
    (lambda: tools.get_logits_and_probs(tf.constant([1])), TypeError,
     "must having floating type"),
    (lambda: tools.pick_vector(1, [1], [2]), TypeError, "which is not"),
    (lambda: tools.pick_vector(tf.placeholder(tf.bool, []), [1], [2.]),
     TypeError, "does not match"),
    (lambda: tools.assert_integer_form(tf.constant("a")), TypeError,
     "Unrecognized type"),
    (lambda: tools.rotate_transpose([1.], 1.5), TypeError, "integer")])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
