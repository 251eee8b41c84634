"""What TensorFlow's distributions share, by its inner module."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import distribution_tools as tools
from headrace._src.compat.distribution_limits import cross_entropy
from headrace._src.distributions import distribution


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


FAILING = [
    (lambda: tools.embed_check_nonnegative_integer_form([1., -2.]),
     "must be non-negative"),
    (lambda: tools.embed_check_nonnegative_integer_form([1., 2.5]),
     "cannot contain fractional"),
    (lambda: tools.embed_check_integer_casting_closed([1., 2.5], tf.int32),
     "int32-equivalent"),
    (lambda: tools.embed_check_integer_casting_closed([1, 4097], tf.float16),
     "cannot exceed 2048"),
    (lambda: tools.embed_check_integer_casting_closed(
        [1, -1], tf.uint8, assert_nonnegative=False), "smaller than 0"),
]


@pytest.mark.parametrize("make, message", FAILING)
def test_checks_that_fail_in_the_run(make, message):
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises((tf.errors.InvalidArgumentError), match=message):
            session.run(make())


@pytest.mark.parametrize("make, error, message", [
    (lambda: tools.embed_check_categorical_event_shape(tf.zeros([3, 1])),
     ValueError, "at least 2 events"),
    (lambda: tools.embed_check_categorical_event_shape(tf.zeros([])),
     ValueError, "at least 1 dimension"),
    (lambda: tools.embed_check_categorical_event_shape(
        tf.zeros([2049], tf.float16)), ValueError, "exceeds `dtype` precision"),
    (lambda: tools.embed_check_categorical_event_shape([1, 2]), TypeError,
     "unrecognized dtype"),
    (lambda: tools.embed_check_integer_casting_closed([1.], tf.float16),
     TypeError, "must be integer-type"),
    (lambda: tools.pad([1.], 0), ValueError, "At least one"),
    (lambda: tools.pad([1.], 0, front=True, count=1.), TypeError, "int"),
    (lambda: tools.process_quadrature_grid_and_probs(
        [[1.], [2., 3.]], tf.float32, True), ValueError, "same-length"),
    (lambda: tools.AppendDocstring("", {"a b": ""}), ValueError, "whitespace")])
def test_checks_of_parameters(make, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()


def test_pad_and_quadrature(session):
    assert list(session.run(tools.pad([1, 2], 0, True, True, 7, 2))) == [
        7, 7, 1, 2, 7, 7]
    assert tools.pad(tf.placeholder(tf.float32, [2, 3]), -1,
                     front=True).shape == (2, 4)
    grid, probs = session.run(tools.process_quadrature_grid_and_probs(
        [[1., 2.], [3., 5.]], tf.float32, True))
    np.testing.assert_allclose(probs, [.375, .625])
    grid, probs = session.run(tools.process_quadrature_grid_and_probs(
        None, tf.float64, True))
    assert len(grid) == 8 and abs(sum(probs) - 1) < 1e-12


def test_arguments_of_the_calling_function():
    def function(a, b, *rest, c=1, **others):
        return tools.parent_frame_arguments()
    assert function(1, 2, 3, c=4, d=5) == {
        "a": 1, "b": 2, "c": 4, "d": 5}


def test_divergence_of_the_nearest_classes(session):
    class Nearer(tf.distributions.Normal):
        pass

    @tf.distributions.RegisterKL(Nearer, Nearer)
    def of_nearer(a, b, name=None):
        return tf.constant([float("nan")])
    near = Nearer(0., 1.)
    assert distribution.registered_divergence(Nearer, Nearer) is of_nearer
    assert distribution.registered_divergence(
        Nearer, tf.distributions.Normal) is not of_nearer
    kl = tf.distributions.kl_divergence
    assert np.isnan(session.run(kl(near, near)))
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="KL calculation between Normal.* returned NaN"):
        session.run(kl(near, near, allow_nan_stats=False))
    normal = tf.distributions.Normal(0., 1.)
    np.testing.assert_allclose(*session.run([
        cross_entropy(normal, normal), normal.entropy()]))
