"""Distributions of tf.distributions and tf.contrib.distributions, with what
TensorFlow 1.15.5 finds: log_prob, mean, variance, entropy, mode, and samples
where their seed fixes them. None: TensorFlow has none either."""
import numpy as np
import pytest

import headrace as tf

d, c = tf.distributions, tf.contrib.distributions
NAN = float("nan")
CASES = {
    "Gamma": (lambda: d.Gamma([2., 3.], [1., 2.]), [.5, 1.], [-1.1931472, -.61370564],
              [2., 1.5], [2., .75], [1.5772158, 1.1544316], [1., 1.],
              [[.39816907, 1.0479645], [3.9328837, .326331]]),
    "Beta": (lambda: d.Beta([2., 3.], [1., 2.]), [.2, .3], [-.91629076, -.27971387],
             [.6666667, .6], [.05555555, .04], [-.19314718, -.2349062],
             [NAN, .6666667], [[.24021713, .32494006], [.8958699, .3307419]]),
    "StudentT": (lambda: d.StudentT(3., [0., 1.], 2.), .3, [-1.7089801, -1.7740793],
                 [0., 1.], [12., 12.], [2.4666245, 2.4666245], [0., 1.],
                 [[3.1132314, 1.8746086], [-2.165474, -1.1696889]]),
    "Dirichlet": (lambda: d.Dirichlet([1., 2., 3.]), [.2, .3, .5], 1.5040774,
                  [.16666667, .33333334, .5], [.01984127, .03174603, .03571429],
                  -1.2443442, [NAN] * 3,
                  [[.20376787, .27957034, .51666176], [.00351127, .08216971, .91431904]]),
    "Multinomial": (lambda: d.Multinomial(5., probs=[.2, .3, .5]), [1., 2., 2.],
                    -2.0024805, [1., 1.5, 2.5], [.8, 1.05, 1.25], None, None,
                    [[2., 2., 1.], [1., 2., 2.]]),
    "DirichletMultinomial": (
        lambda: d.DirichletMultinomial(5., [1., 2., 3.]), [1., 2., 2.], -2.6390576,
        [.8333334, 1.6666667, 2.5], [1.0912699, 1.7460318, 1.9642857], None, None,
        [[0., 3., 2.], [0., 0., 5.]]),
    "MultivariateNormalTriL": (
        lambda: c.MultivariateNormalTriL([0., 1.], [[1., 0.], [.5, 2.]]), [.1, .2],
        -2.6263366, [0., 1.], [1., 4.25], 3.5310242, [0., 1.],
        [[1.5369208, 2.6697528], [-.8072416, -1.3536754]]),
    "MultivariateNormalFullCovariance": (
        lambda: c.MultivariateNormalFullCovariance([0., 1.], [[2., .5], [.5, 1.]]),
        [.1, .2], -2.5091133, [0., 1.], [2., 1.], None, None, None),
    "RelaxedOneHotCategorical": (
        lambda: c.RelaxedOneHotCategorical(.5, logits=[1., 2., 3.]), [.2, .3, .5],
        -1.0452886, None, None, None, None,
        [[.00686044, .03312478, .96001476], [.19787702, .18959656, .6125265]]),
    "MixtureSameFamily": (
        lambda: c.MixtureSameFamily(c.Categorical(probs=[.3, .7]),
                                    c.Normal([-1., 1.], [.1, .5])), .2,
        -1.8624663, .4, 1.018, None, None, None),
    "Mixture": (
        lambda: c.Mixture(c.Categorical(probs=[.3, .7]),
                          [c.Normal(-1., .1), c.Normal(1., .5)]), .2,
        -1.8624663, .4, 1.018, None, None, None),
    "Poisson": (lambda: c.Poisson([1., 3.]), [1., 2.], [-1., -1.4959226], [1., 3.],
                [1., 3.], None, [1., 3.], [[1., 5.], [0., 2.]]),
    "OneHotCategorical": (
        lambda: c.OneHotCategorical(logits=[1., 2.]), [0, 1], -.31326166, None,
        [.19661194, .19661193], .5822031, [0, 1], [[1, 0], [0, 1]]),
    "RelaxedBernoulli": (lambda: c.RelaxedBernoulli(.5, probs=[.3]), [.4], [-.7544415],
                         None, None, None, None, [[.02633313], [.01200802]]),
    "Logistic": (lambda: c.Logistic(0., 1.), .3, -1.4087105, 0., 3.2898686, 2., 0.,
                 [-.95782286, -1.3577518]),
    "Geometric": (lambda: c.Geometric(probs=.3), 2., -1.9173228, 2.3333333, 7.777777,
                  2.0362144, 0., [3., 4.]),
    "Deterministic": (lambda: c.Deterministic([1., 2.]), [1., 3.], [0., -np.inf],
                      [1., 2.], [0., 0.], [0., 0.], [1., 2.], [[1., 2.], [1., 2.]]),
}
METHODS = ["mean", "variance", "entropy", "mode"]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        tf.set_random_seed(0)
        yield made


@pytest.mark.parametrize("name", CASES)
def test_values_of_tensorflow(name):
    make, value, log_prob, *moments, samples = CASES[name]
    made = make()
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(made.log_prob(value)), log_prob,
                                   rtol=1e-5)
        np.testing.assert_allclose(session.run(made.prob(value)), np.exp(log_prob),
                                   rtol=1e-5)
        for method, wanted in zip(METHODS, moments):
            if wanted is not None:
                np.testing.assert_allclose(session.run(getattr(made, method)()),
                                           wanted, rtol=2e-6, atol=1e-6)
        if samples is not None:
            np.testing.assert_allclose(session.run(made.sample(2, seed=4)), samples,
                                       rtol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_shapes_of_samples(name):
    made = CASES[name][0]()
    sample = made.sample([2, 3])
    whole = [2, 3] + made.batch_shape.as_list() + made.event_shape.as_list()
    assert sample.shape.as_list() == whole
    with tf.Session() as session:
        assert list(session.run(sample).shape) == whole
        assert list(session.run(made.batch_shape_tensor())) == (
            made.batch_shape.as_list())
        assert list(session.run(made.event_shape_tensor())) == (
            made.event_shape.as_list())


@pytest.mark.parametrize("make", [
    lambda: c.Cauchy(1., 2.), lambda: c.HalfNormal(2.), lambda: c.Logistic(1., 2.),
    lambda: d.Gamma(2., 3.), lambda: d.StudentT(4., 1., 2.), lambda: d.Beta(2., 3.),
    lambda: c.Chi2(3.)])
def test_cdf_is_the_integral_of_prob(make):
    made = make()
    x = np.linspace(.2, .6, 801, dtype=np.float32)
    with tf.Session() as session:
        density, ends = session.run([made.prob(x), made.cdf([.2, .6])])
    area = np.sum((density[1:] + density[:-1]) / 2 * np.diff(x))
    np.testing.assert_allclose(area, ends[1] - ends[0], rtol=1e-3)


@pytest.mark.parametrize("make", [
    lambda: (d.Gamma(2., 3.), d.Gamma(3., 1.)),
    lambda: (d.Beta(2., 3.), d.Beta(1., 2.)),
    lambda: (d.Exponential(2.), d.Exponential(3.)),
    lambda: (d.Dirichlet([1., 2.]), d.Dirichlet([2., 2.])),
    lambda: (c.OneHotCategorical(logits=[1., 2.]), c.OneHotCategorical(logits=[2., 0.])),
    lambda: (c.MultivariateNormalTriL([0., 1.], [[1., 0.], [.5, 2.]]),
             c.MultivariateNormalTriL([1., 1.], [[2., 0.], [.1, 1.]])),
    lambda: (c.MultivariateNormalDiag([0., 1.], [1., 2.]),
             c.MultivariateNormalTriL([1., 1.], [[2., 0.], [.1, 1.]])),
    lambda: (c.MultivariateNormalTriL(scale_tril=[[1., 0.], [.1, 1.]]),
             c.MultivariateNormalDiagPlusLowRank(
                 scale_perturb_factor=[[.5], [.2]])),
    lambda: (c.MultivariateNormalDiagPlusLowRank(
        [1., 0.], [1., 2.], scale_perturb_factor=[[.5], [.2]],
        scale_perturb_diag=[2.]), c.MultivariateNormalDiag([0., 1.], [2., 2.]))])
def test_divergence_is_the_mean_of_the_difference_of_log_probs(make):
    p, q = make()
    x = p.sample(40000, seed=3)
    with tf.Session() as session:
        found, mean, itself = session.run([
            tf.distributions.kl_divergence(p, q),
            tf.reduce_mean(p.log_prob(x) - q.log_prob(x), 0),
            tf.distributions.kl_divergence(p, p)])
    np.testing.assert_allclose(found, mean, rtol=.05)
    np.testing.assert_allclose(itself, 0., atol=1e-5)


@pytest.mark.parametrize("make, error, words", [
    (lambda: d.Multinomial(5., logits=[1.], probs=[1.]), ValueError, "logits"),
    (lambda: d.Dirichlet(1.), ValueError, "at least 1 dimension"),
    (lambda: d.Gamma(1, 2), TypeError, "floating"),
    (lambda: d.Gamma([1., 2.], [1., 2., 3.]), ValueError, "shape|broadcast"),
    (lambda: c.Poisson(), ValueError, "exactly one"),
    (lambda: c.MultivariateNormalTriL(), ValueError, "one or both"),
    (lambda: c.Mixture(c.Categorical(probs=[.3, .7]), [c.Normal(0., 1.)]), ValueError,
     "num_classes"),
    (lambda: c.MixtureSameFamily(c.Categorical(probs=[1.]), c.Normal(0., 1.)),
     ValueError, "batch dimension"),
    (lambda: d.DirichletMultinomial([1., 2.], [[1., 2.]] * 2).sample(),
     NotImplementedError, "scalar"),
    (lambda: c.RelaxedBernoulli(.5, probs=.3).mean(), NotImplementedError, "mean")])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("make", [
    lambda: d.Gamma(-1., 1., validate_args=True).mean(),
    lambda: d.Gamma(.5, 1., allow_nan_stats=False).mode(),
    lambda: d.StudentT(.5, 0., 1., allow_nan_stats=False).mean()])
def test_what_the_run_refuses(make):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(make())


def test_gradients_go_through_relaxed_samples():
    logits = tf.constant([1., 2., 3.])
    x = c.RelaxedOneHotCategorical(.5, logits=logits).sample(seed=1)
    slope, = tf.gradients(x[0], [logits])
    with tf.Session() as session:
        assert np.abs(session.run(slope)).sum() > 0


def test_quantiles_of_normal():
    p = np.array([.025, .5, .9])
    with tf.Graph().as_default(), tf.Session() as session:
        normal = tf.distributions.Normal(np.float64(1.), np.float64(2.))
        got, back = session.run([normal.quantile(p),
                                 normal.cdf(normal.quantile(p))])
    np.testing.assert_allclose(
        got, 1 + 2 * np.array([-1.959963984540054, 0., 1.2815515655446004]),
        rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(back, p, rtol=1e-9)


# Of arguments, the matrix that TensorFlow 1.15.5 makes scale of.
FACTOR = np.float32([[1., 2.], [0., 1.], [-1., .5]])
LOW_RANK = [
    (dict(scale_diag=[1., 2., 3.], scale_perturb_factor=FACTOR,
          scale_perturb_diag=[.5, 2.]),
     np.diag([1., 2., 3.]) + FACTOR @ np.diag([.5, 2.]) @ FACTOR.T),
    (dict(scale_diag=[1., 2., 3.], scale_identity_multiplier=.5,
          scale_perturb_factor=FACTOR),
     np.diag([1.5, 2.5, 3.5]) + FACTOR @ FACTOR.T),
    (dict(scale_identity_multiplier=2., scale_perturb_factor=FACTOR),
     2 * np.eye(3) + FACTOR @ FACTOR.T),
    (dict(scale_perturb_factor=FACTOR), np.eye(3) + FACTOR @ FACTOR.T),
    (dict(scale_diag=[1., 2., 3.]), np.diag([1., 2., 3.]))]


@pytest.mark.parametrize("arguments, scale", LOW_RANK)
@pytest.mark.parametrize("loc", [None, [1., 0., 2.], np.float32(
    [[1., 0., 2.], [0., 1., 1.]])])
def test_a_diagonal_and_a_low_rank(loc, arguments, scale):
    made = c.MultivariateNormalDiagPlusLowRank(loc, **arguments)
    mean = np.zeros(3) if loc is None else np.float64(loc)
    covariance = scale @ scale.T
    x = np.float32([.5, -1., 2.])
    shift = x - mean
    log_prob = -.5 * (np.log(np.linalg.det(2 * np.pi * covariance))
                      + (shift @ np.linalg.inv(covariance) * shift).sum(-1))
    entropy = np.broadcast_to(
        .5 * np.log(np.linalg.det(2 * np.pi * np.e * covariance)),
        mean.shape[:-1])
    wanted = [mean, mean, covariance, np.diag(covariance),
              np.sqrt(np.diag(covariance)), scale, log_prob, entropy]
    samples = made.sample(20000, seed=1)
    with tf.Session() as session:
        found = session.run([
            made.mean(), made.mode(), made.covariance(), made.variance(),
            made.stddev(), made.scale.to_dense(), made.log_prob(x),
            made.entropy()])
        many = session.run(samples)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)
        assert np.shape(a) == np.shape(b)
    assert samples.shape.as_list() == [20000, *mean.shape]
    np.testing.assert_allclose(many.mean(0), mean, atol=.2)
    np.testing.assert_allclose(
        np.cov(many.reshape(20000, -1)[:, :3].T), covariance, atol=3, rtol=.1)


@pytest.mark.parametrize("arguments, words", [
    ({}, "one of loc, scale_diag"), ({"scale_identity_multiplier": 2.}, "one of"),
    ({"loc": [1.], "scale_perturb_diag": [1.]}, "scale_perturb_diag is of")])
def test_what_a_diagonal_and_a_low_rank_refuse(arguments, words):
    with pytest.raises(ValueError, match=words):
        c.MultivariateNormalDiagPlusLowRank(**arguments)


def test_spreads_have_the_batch_of_the_scale_alone():
    loc = np.zeros((2, 2), np.float32)
    with tf.Session() as session:
        for made in (c.MultivariateNormalDiag(loc, [1., 2.]),
                     c.MultivariateNormalTriL(loc, [[1., 0.], [0., 2.]])):
            assert session.run(made.covariance()).tolist() == [[1, 0], [0, 4]]
            np.testing.assert_allclose(
                session.run(made.scale.to_dense()), [[1, 0], [0, 2]])
        assert session.run(made.variance()).tolist() == [1, 4]


# Events whose size only the run knows, and that size.
def diagonal(x):
    return c.MultivariateNormalDiag(x, tf.ones_like(x))


UNKNOWN_EVENTS = {
    "MultivariateNormalDiag": (diagonal, [3], [2]),
    "Independent": (lambda x: c.Independent(d.Normal(x, 1.), 1), [3], [2]),
    "Independent, no dimension": (
        lambda x: c.Independent(diagonal(x), 0), [3], [2]),
    "TransformedDistribution": (lambda x: c.TransformedDistribution(
        diagonal(x), c.bijectors.SoftmaxCentered()), [4], [2]),
    "MixtureSameFamily": (lambda x: c.MixtureSameFamily(
        d.Categorical(probs=[.3, .7]), diagonal(x)), [3], []),
    "Mixture": (lambda x: c.Mixture(
        d.Categorical(probs=[[.3, .7]] * 2), [diagonal(x)] * 2), [3], [2]),
    "Dirichlet": (lambda x: d.Dirichlet(x), [3], [2]),
    "MultivariateNormalTriL": (lambda x: c.MultivariateNormalTriL(x), [3], [2]),
    "MultivariateNormalDiagPlusLowRank": (
        lambda x: c.MultivariateNormalDiagPlusLowRank(x), [3], [2]),
    "Normal": (lambda x: d.Normal(x, 1.), [], [2, 3])}


@pytest.mark.parametrize("name", UNKNOWN_EVENTS)
@pytest.mark.parametrize("shape", [[None, None], [2, None], None])
def test_events_whose_shape_the_run_knows(name, shape):
    make, event, batch = UNKNOWN_EVENTS[name]
    x = tf.placeholder(tf.float32, shape)
    made = make(x)
    sample = made.sample()
    with tf.Session() as session:
        found = session.run(
            [made.event_shape_tensor(), made.batch_shape_tensor(),
             tf.shape(sample), tf.shape(made.log_prob(sample)),
             made.is_scalar_event(), made.is_scalar_batch()],
            {x: np.ones((2, 3))})
    assert [list(a) for a in found[:4]] == [event, batch, batch + event, batch]
    assert found[4:] == [not event, not batch]


def test_assertions_about_samples():
    import unittest
    from headrace._src.compat import distribution_checks as checks

    class Numbers(unittest.TestCase, checks.DiscreteScalarDistributionTestHelpers):
        assertAllClose = staticmethod(np.testing.assert_allclose)

    class Vectors(unittest.TestCase, checks.VectorDistributionTestHelpers):
        assertAllClose = staticmethod(np.testing.assert_allclose)

    class Wrong(c.Poisson):
        def _log_prob(self, x):
            return super()._log_prob(x) - .5

        def _mean(self):
            return super()._mean() + 1.

    with tf.Graph().as_default(), tf.Session() as sess:
        numbers, vectors = Numbers(), Vectors()
        good, wrong = c.Poisson([2., 5.]), Wrong([2., 5.])
        numbers.run_test_sample_consistent_log_prob(sess.run, good, rtol=.15)
        numbers.run_test_sample_consistent_mean_variance(sess.run, good, rtol=.05)
        for test in (numbers.run_test_sample_consistent_log_prob,
                     numbers.run_test_sample_consistent_mean_variance):
            with pytest.raises(AssertionError):
                test(sess.run, wrong, rtol=.15)
        normal = c.MultivariateNormalDiag([1., -1.], [1., 2.])
        vectors.run_test_sample_consistent_log_prob(
            sess.run, normal, radius=2., center=np.array([1., -1.], "f"), rtol=.05)
        vectors.run_test_sample_consistent_mean_covariance(sess.run, normal)
        with pytest.raises(AssertionError):
            vectors.run_test_sample_consistent_log_prob(
                sess.run, normal, radius=-4., rtol=.05)
