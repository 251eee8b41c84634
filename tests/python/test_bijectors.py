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


def test_names_of_chains():
    with tf.Graph().as_default():
        assert tfb.Chain([tfb.Exp(), tfb.Softplus()]).name == (
            "chain_of_exp_of_softplus")


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
    (lambda: tfb.Affine(scale_perturb_diag=[1.]), ValueError,
     "without scale_perturb_factor"),
    (lambda: tfb.Exp().forward_log_det_jacobian([1.], -1), ValueError,
     "event_ndims")])
def test_refusals(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()


TRIL = np.array([[2., 0.], [-1., .5]])
FACTOR = np.array([[1.], [3.]])
LINE = np.array([[.5, -1., 2.], [1., .3, -.7]])


@pytest.mark.parametrize("make, x, wanted", [
    (lambda: tfb.Affine(np.array([1., 2.]), scale_tril=TRIL), ANY,
     lambda x: x @ TRIL.T + [1, 2]),
    (lambda: tfb.Affine(scale_diag=np.array([3., -2.])), ANY,
     lambda x: x * [3, -2]),
    (lambda: tfb.Affine(scale_identity_multiplier=np.float64(3.)), ANY,
     lambda x: x * 3),
    (lambda: tfb.Affine(np.array([1., 2.])), ANY, lambda x: x + [1, 2]),
    (lambda: tfb.Affine(np.array([1., 2.]), scale_tril=TRIL,
                        scale_perturb_factor=FACTOR), ANY,
     lambda x: x @ (TRIL + FACTOR @ FACTOR.T).T + [1, 2]),
    (lambda: tfb.Affine(scale_diag=np.array([3., -2.]),
                        scale_perturb_factor=FACTOR,
                        scale_perturb_diag=np.array([.5])), ANY,
     lambda x: x @ (np.diag([3., -2.]) + .5 * FACTOR @ FACTOR.T).T),
    (lambda: tfb.Affine(scale_perturb_factor=FACTOR), ANY,
     lambda x: x @ (np.eye(2) + FACTOR @ FACTOR.T).T),
    (lambda: tfb.AffineLinearOperator(
        np.array([1., 2.]), tf.linalg.LinearOperatorDiag(
            np.array([3., -2.]))), ANY, lambda x: x * [3, -2] + [1, 2]),
    (lambda: tfb.Permute([2, 0, 1]), LINE, lambda x: x[..., [2, 0, 1]]),
    (lambda: tfb.Ordered(), np.sort(LINE), lambda x: np.concatenate(
        [x[..., :1], np.log(np.diff(x))], -1)),
    (lambda: tfb.RealNVP(1, lambda first, n: (
        tf.tile(first, [1, n]), tf.tile(first * 2., [1, n]))), LINE,
     lambda x: np.concatenate(
         [x[:, :1], x[:, 1:] * np.exp(2 * x[:, :1]) + x[:, :1]], 1))])
def test_vectors(make, x, wanted):
    step, n = 1e-6, x.shape[-1]
    columns = [(wanted(x + step * e) - wanted(x - step * e)) / (2 * step)
               for e in np.eye(n)]
    slope = np.linalg.slogdet(np.stack(columns, -1))[1]
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = make()
        y = tf.constant(wanted(x))
        forward, inverse, up, down = session.run([
            bijector.forward(tf.constant(x)), bijector.inverse(y),
            bijector.forward_log_det_jacobian(tf.constant(x), 1) + np.zeros(2),
            bijector.inverse_log_det_jacobian(y, 1) + np.zeros(2)])
    np.testing.assert_allclose(forward, wanted(x), rtol=1e-10)
    np.testing.assert_allclose(inverse, x, rtol=1e-8)
    np.testing.assert_allclose(up, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(down, -slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("make, x, count, wanted, jacobian", [
    (lambda: tfb.FillTriangular(), [1., 2., 3., 4., 5., 6.], 1,
     [[4., 0., 0.], [6., 5., 0.], [3., 2., 1.]], 0.),
    (lambda: tfb.FillTriangular(upper=True), [1., 2., 3., 4., 5., 6.], 1,
     [[1., 2., 3.], [0., 5., 6.], [0., 0., 4.]], 0.),
    (lambda: tfb.Reshape([3, 2]), [1., 2., 3., 4., 5., 6.], 1,
     [[1., 2.], [3., 4.], [5., 6.]], 0.),
    (lambda: tfb.SoftmaxCentered(), [0., np.log(2.)], 1, [.25, .5, .25],
     np.log(.25 * .5 * .25)),
    (lambda: tfb.CholeskyOuterProduct(), [[2., 0.], [1., 3.]], 2,
     [[4., 2.], [2., 10.]], 2 * np.log(2.) + 2 * np.log(2.) + np.log(3.)),
    (lambda: tfb.MatrixInverseTriL(), [[2., 0.], [1., 4.]], 2,
     [[.5, 0.], [-.125, .25]], -4 * np.log(8.)),
    (lambda: tfb.TransformDiagonal(tfb.Exp()), [[1., 5.], [6., 2.]], 2,
     [[np.e, 5.], [6., np.e ** 2]], 3.),
    (lambda: tfb.ScaleTriL(diag_bijector=tfb.Exp(), diag_shift=None),
     [1., 2., 3.], 1, [[np.exp(3.), 0.], [2., np.e]], 4.)])
def test_shapes_that_change(make, x, count, wanted, jacobian):
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = make()
        x = np.array(x)
        y = tf.constant(np.array(wanted))
        assert bijector.forward_event_shape(x.shape).as_list() == y.shape
        assert bijector.inverse_event_shape(y.shape).as_list() == list(x.shape)
        forward, inverse, up, down = session.run([
            bijector.forward(tf.constant(x)), bijector.inverse(y),
            bijector.forward_log_det_jacobian(tf.constant(x), count),
            bijector.inverse_log_det_jacobian(y, y.shape.ndims)])
    np.testing.assert_allclose(forward, wanted, rtol=1e-10)
    np.testing.assert_allclose(inverse, x, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose([up, -down], [jacobian] * 2, rtol=1e-9)


def test_transformed_distributions():
    tfd = tf.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as session:
        normal = tfd.Normal(np.float64(1.), np.float64(.5))
        log_normal = tfd.TransformedDistribution(normal, tfb.Exp())
        vectors = tfd.TransformedDistribution(
            normal, tfb.Affine(scale_tril=TRIL), event_shape=[2])
        batch = tfd.TransformedDistribution(
            normal, tfb.AffineScalar(scale=np.float64(2.)), batch_shape=[3])
        assert vectors.event_shape.as_list() == [2]
        assert batch.sample(5).shape.as_list() == [5, 3]
        whole = tfd.MultivariateNormalTriL(
            TRIL @ np.ones(2), TRIL * .5)
        x = np.array([[.5, 1.], [2., -3.]])
        got = session.run([
            log_normal.log_prob(x), log_normal.cdf(x[:1]),
            vectors.log_prob(x), vectors.mean(), batch.entropy(),
            tf.shape(vectors.sample([4, 5])), batch.mean()])
        wanted = session.run([
            normal.log_prob(tf.log(tf.constant(np.abs(x)))), whole.log_prob(x),
            normal.entropy()])
    np.testing.assert_allclose(got[0][0], wanted[0][0] - np.log(x[0]))
    np.testing.assert_allclose(got[2], wanted[1])
    np.testing.assert_allclose(got[3], TRIL @ np.ones(2))
    np.testing.assert_allclose(got[4], [wanted[2] + np.log(2.)] * 3)
    assert got[5].tolist() == [4, 5, 2] and got[6].tolist() == [2.] * 3


@pytest.mark.parametrize("make, x, y", [
    (lambda: tfb.SoftmaxCentered(), [3], [4]),
    (lambda: tfb.Invert(tfb.SoftmaxCentered()), [4], [3]),
    (lambda: tfb.Chain([tfb.SoftmaxCentered(), tfb.SoftmaxCentered()]), [3], [5]),
    (lambda: tfb.FillTriangular(), [2, 6], [2, 3, 3]),
    (lambda: tfb.Reshape([2, -1], [6]), [5, 6], [5, 2, 3]),
    (lambda: tfb.Reshape([6], [-1, 3]), [4, 2, 3], [4, 6]),
    (lambda: tfb.Reshape([], [1]), [4, 1], [4]),
    (lambda: tfb.CholeskyOuterProduct(), [3, 3], [3, 3])])
def test_shapes_of_events_as_tensors(make, x, y):
    bijector, shape = make(), tf.placeholder(tf.int32, [None])
    with tf.Session() as session:
        assert session.run(bijector.forward_event_shape_tensor(shape),
                           {shape: x}).tolist() == y
        assert session.run(bijector.inverse_event_shape_tensor(shape),
                           {shape: y}).tolist() == x
        assert session.run(bijector.forward_event_shape_tensor(x)).tolist() == y


def test_assertions_about_bijectors():
    from headrace._src.compat import bijector_checks as checks
    x = np.linspace(-2., 1.5, 20).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        exp = tfb.Exp()
        checks.assert_scalar_congruency(exp, -2., 1.5)
        checks.assert_bijective_and_finite(exp, x, np.exp(x), event_ndims=0,
                                           rtol=1e-4, atol=1e-5, sess=sess)

        class Wrong(tfb.Exp):
            def _inverse(self, y):
                return tf.log(y) + 0.1
        with pytest.raises(AssertionError):
            checks.assert_bijective_and_finite(Wrong(), x, np.exp(x), 0)
        with pytest.raises(AssertionError):
            checks.assert_scalar_congruency(Wrong(), -2., 1.5)
    checks.assert_strictly_monotonic(np.array([3., 2., 1.]))
    for wrong in ([1., 1.], [1., 3., 2.]):
        with pytest.raises(AssertionError):
            checks.assert_strictly_monotonic(np.array(wrong))
    with pytest.raises(AssertionError):
        checks.assert_finite(np.array([1., np.inf]))
