"""tf.contrib.distributions.bijectors: each agrees with its inverse, and its
Jacobian with differences."""
import numpy as np
import pytest

import headrace as tf

tfb = tf.contrib.distributions.bijectors
ANY = np.array([[-1.5, .25], [.5, 2.]])
POSITIVE = np.array([[.3, 1.25], [.5, 2.]])
UNIT = np.array([[.3, .25], [.5, .9]])


@pytest.mark.parametrize("make, x, wanted", [
    (lambda: tfb.Identity(), ANY, lambda x: x),
    (lambda: tfb.Exp(), ANY, np.exp),
    (lambda: tfb.PowerTransform(.5), POSITIVE, lambda x: (1 + .5 * x) ** 2),
    (lambda: tfb.Sigmoid(), ANY, lambda x: 1 / (1 + np.exp(-x))),
    (lambda: tfb.Softplus(), ANY, lambda x: np.log1p(np.exp(x))),
    (lambda: tfb.Softplus(np.float64(2.)), ANY,
     lambda x: 2 * np.log1p(np.exp(x / 2))),
    (lambda: tfb.Softsign(), ANY, lambda x: x / (1 + abs(x))),
    (lambda: tfb.Square(), POSITIVE, np.square),
    (lambda: tfb.AffineScalar(np.float64(1.), -3.), ANY,
     lambda x: 1 - 3 * x),
    (lambda: tfb.AffineScalar(), ANY, lambda x: x),
    (lambda: tfb.Weibull(np.float64(2.), np.float64(1.5)), POSITIVE,
     lambda x: 1 - np.exp(-(x / 2) ** 1.5)),
    (lambda: tfb.Gumbel(np.float64(.5), 2.), ANY,
     lambda x: np.exp(-np.exp(-(x - .5) / 2))),
    (lambda: tfb.Kumaraswamy(np.float64(2.), 1.5), UNIT,
     lambda x: (1 - (1 - x) ** (1 / 1.5)) ** .5),
    (lambda: tfb.SinhArcsinh(np.float64(.5), 1.25), ANY,
     lambda x: np.sinh((np.arcsinh(x) + .5) * 1.25)),
    (lambda: tfb.Invert(tfb.Exp()), POSITIVE, np.log),
    (lambda: tfb.Chain([tfb.Exp(), tfb.AffineScalar(scale=np.float64(2.))]),
     ANY, lambda x: np.exp(2 * x)),
    (lambda: tfb.Chain(), ANY, lambda x: x),
    (lambda: tfb.Inline(forward_fn=tf.exp, inverse_fn=tf.log,
                        inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
                        forward_min_event_ndims=0), ANY, np.exp)])
def test_numbers(make, x, wanted):
    step = 1e-6
    slope = np.log(abs(wanted(x + step) - wanted(x - step)) / (2 * step))
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = make()
        y = tf.constant(wanted(x))
        forward, inverse, up, down, summed = session.run([
            bijector.forward(tf.constant(x)), bijector.inverse(y),
            bijector.forward_log_det_jacobian(tf.constant(x), 0)
            + tf.zeros_like(y),
            bijector.inverse_log_det_jacobian(y, 0) + tf.zeros_like(y),
            bijector.forward_log_det_jacobian(tf.constant(x), 1)])
    np.testing.assert_allclose(forward, wanted(x), rtol=1e-10)
    np.testing.assert_allclose(inverse, x, rtol=1e-8)
    np.testing.assert_allclose(up, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(down, -slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(summed, slope.sum(-1), rtol=1e-6, atol=1e-7)


def test_tensors_are_remembered():
    with tf.Graph().as_default():
        bijector = tfb.Exp()
        x = tf.constant([1., 2.])
        y = bijector.forward(x)
        assert bijector.inverse(y) is x and bijector.forward(x) is y


def test_absolute_value():
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = tfb.AbsoluteValue()
        assert session.run(bijector.forward([-2., 3.])).tolist() == [2., 3.]
        low, high = session.run(bijector.inverse([2., 3.]))
        assert low.tolist() == [-2., -3.] and high.tolist() == [2., 3.]


@pytest.mark.parametrize("make, error, words", [
    (lambda: tfb.Bijector(), ValueError, "at least one of"),
    (lambda: tfb.Bijector(forward_min_event_ndims=-1), ValueError,
     "non-negative integer"),
    (lambda: tfb.Bijector(forward_min_event_ndims=0).forward(1.),
     NotImplementedError, "forward not implemented: Bijector"),
    (lambda: tfb.Inline(forward_min_event_ndims=0).inverse(1.),
     NotImplementedError, "inverse not implemented: Inline"),
    (lambda: tfb.Invert(tfb.AbsoluteValue()), NotImplementedError,
     "non-injective"),
    (lambda: tfb.PowerTransform(-1.), ValueError, "non-negative"),
    (lambda: tfb.Exp().forward_log_det_jacobian([1.], -1), ValueError,
     "event_ndims")])
def test_refusals(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()
