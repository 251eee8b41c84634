"""tf.distributions: samples, gradients through them, and refusals."""
import numpy as np
import pytest

import headrace as tf

d = tf.distributions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize("make", [
    lambda: d.Normal(1., 2.), lambda: d.Laplace(1., 2.),
    lambda: d.Uniform(-1., 4.), lambda: d.Exponential(0.5),
    lambda: d.Bernoulli(probs=0.3)])
def test_samples_have_the_moments(make):
    made = make()
    with tf.Session() as session:
        x, mean, deviation = session.run(
            [made.sample(20000, seed=1), made.mean(), made.stddev()])
    assert abs(x.mean() - mean) < 0.05 * deviation
    np.testing.assert_allclose(x.std(), deviation, rtol=0.05)


def test_shares_of_categorical_samples():
    made = d.Categorical(probs=[0.2, 0.5, 0.3])
    with tf.Session() as session:
        x = session.run(made.sample(20000, seed=1))
    np.testing.assert_allclose(np.bincount(x) / x.size, [0.2, 0.5, 0.3],
                               atol=0.02)


def test_gradients_go_through_samples():
    loc, scale = tf.constant(1.), tf.constant([2., 3.])
    sample = d.Normal(loc, scale).sample(seed=3)
    slopes = tf.gradients(tf.reduce_sum(sample), [loc, scale])
    with tf.Session() as session:
        x, (to_loc, to_scale) = session.run([sample, slopes])
    assert to_loc == 2
    np.testing.assert_allclose(to_scale, (x - 1) / [2, 3], rtol=1e-5)
    assert d.Normal(loc, scale).reparameterization_type is (
        d.FULLY_REPARAMETERIZED)
    assert d.Bernoulli(0.).reparameterization_type is d.NOT_REPARAMETERIZED


def test_what_a_distribution_says_of_itself():
    made = d.Normal([1., 2.], 3., name="mine")
    assert made.name == "mine/" and made.dtype == tf.float32
    assert d.Normal(0., 1., name="mine").name == "mine_1/"
    assert sorted(made.parameters) == ["allow_nan_stats", "loc", "name",
                                       "scale", "validate_args"]
    assert made.copy(loc=0.).batch_shape.as_list() == []
    assert d.Normal.param_static_shapes([2])["loc"].as_list() == [2]
    assert made.sample([3, 1]).get_shape().as_list() == [3, 1, 2]
    assert "batch_shape=(2,)" in repr(made)


def test_a_divergence_of_ones_own():
    class Mine(d.Normal):
        pass

    @d.RegisterKL(Mine, d.Uniform)
    def mine(a, b, name=None):
        return tf.constant(4.)
    with tf.Session() as session:
        assert session.run(d.kl_divergence(Mine(0., 1.), d.Uniform())) == 4
    with pytest.raises(ValueError, match="has already been registered"):
        d.RegisterKL(Mine, d.Uniform)(mine)


@pytest.mark.parametrize("make, error, message", [
    (lambda: d.Bernoulli(), ValueError, "Must pass probs or logits"),
    (lambda: d.Bernoulli(1., 0.5), ValueError, "but not both"),
    (lambda: d.Categorical([1, 2]), TypeError, "logits must having floating"),
    (lambda: d.Categorical(1.), ValueError, "at least 1 dimension"),
    (lambda: d.Normal([1., 2.], [1., 2., 3.]), ValueError,
     "do not go together"),
    (lambda: d.Normal(1., tf.constant(1., tf.float64)), TypeError,
     "must have one type"),
    (lambda: d.Uniform().mode(), NotImplementedError,
     "mode is not implemented: Uniform"),
    (lambda: d.kl_divergence(d.Uniform(), d.Normal(0., 1.)),
     NotImplementedError, "No KL.* type Uniform and distribution_b type Normal"),
    (lambda: tf.contrib.distributions.MultivariateNormalDiag(), ValueError,
     "one of loc and scale_diag")])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_checked_parameters():
    scale = tf.placeholder(tf.float32, [])
    sample = d.Normal(0., scale, validate_args=True).sample()
    with tf.Session() as session:
        assert np.isfinite(session.run(sample, {scale: 1.}))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(sample, {scale: -1.})


def test_independent_adds_over_the_batch():
    logits = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
    each = d.Bernoulli(logits=logits)
    joined = tf.contrib.distributions.Independent(each, 2)
    assert joined.batch_shape == [2] and joined.event_shape == [3, 4]
    assert tf.contrib.distributions.Independent(each).event_shape == [3, 4]
    other = tf.contrib.distributions.Independent(
        d.Bernoulli(logits=np.zeros([2, 3, 4], np.float32)), 2)
    x = .25  # a number between the two events
    events = tf.fill([2, 3, 4], x)
    with tf.Session() as session:
        got, terms = session.run([
            [joined.log_prob(events), joined.entropy(),
             d.kl_divergence(joined, other)],
            [each.log_prob(events), each.entropy(),
             d.kl_divergence(each, other.distribution)]])
        sample = session.run(joined.sample(5, seed=1))
    for g, t in zip(got, terms):
        np.testing.assert_allclose(g, t.sum((1, 2)), rtol=1e-5)
    p = 1 / (1 + np.exp(-logits))
    np.testing.assert_allclose(
        got[0], (x * np.log(p) + (1 - x) * np.log(1 - p)).sum((1, 2)),
        rtol=1e-5)
    assert sample.shape == (5, 2, 3, 4)


def test_what_independent_refuses():
    each = d.Normal(tf.zeros([2]), 1.)
    with pytest.raises(ValueError, match=r"reinterpreted_batch_ndims\(2\)"):
        tf.contrib.distributions.Independent(each, 2)
    unknown = d.Normal(tf.placeholder(tf.float32), 1.)
    with pytest.raises(ValueError, match="must be given"):
        tf.contrib.distributions.Independent(unknown)


def test_a_distribution_of_the_program_may_keep_a_value():
    class Variable(tf.distributions.Normal):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._value = self.sample()

    x = Variable(1.0, 2.0)
    density, again = (d.log_prob(3.0)
                      for d in (x, tf.distributions.Normal(1.0, 2.0)))
    with tf.Session() as session:
        assert session.run(density) == session.run(again)
