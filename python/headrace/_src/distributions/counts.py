"""tf.distributions: Multinomial, Dirichlet, DirichletMultinomial; and of
tf.contrib.distributions those of whole numbers and of one-hot vectors."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.functional_ops import map_fn
from headrace._src.distributions.distribution import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, RegisterKL)
from headrace._src.distributions.parametric import (
    Parametric, column, new_seed, without_last)
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.math.math_special import lbeta
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


def _one_of(cls, logits, probs):
    """{name: value} of what is given. ValueError for both or none."""
    if (logits is None) == (probs is None):
        raise ValueError("%s: must pass probs or logits, but not both." % cls)
    return dict(logits=logits) if probs is None else dict(probs=probs)


class _LogitsAndProbs:
    """Of a Parametric class that takes one of the two: both."""

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _make_other(self, of_vectors):
        """The probabilities are those of each vector's elements, with sum 1; or
        each tensor element is one by itself."""
        with name_scope(self.name):
            if hasattr(self, "_logits"):
                to_probs = _nn.softmax if of_vectors else _math.sigmoid
                self._probs = to_probs(self._logits, name="probs")
            elif of_vectors:
                self._logits = _math.log(self._probs, name="logits")
            else:
                self._logits = _math.log(self._probs) - _raw.Log1p(-self._probs)


def _log_combinations(n, counts):
    """log of n! over the product of the counts' factorials."""
    return _raw.Lgamma(n + 1.) - _math.reduce_sum(_raw.Lgamma(1. + counts), -1)


class _Vectors(Parametric):
    """The last dimension of `_weights`, a parameter, is the event."""

    def _set_weights(self, weights, *beside):
        """`beside` has the parameters that have no dimension for the event."""
        self._weights = weights
        self._beside = beside
        rank = weights.get_shape().ndims
        if rank is not None and rank < 1:
            raise ValueError("%s: parameters of vectors must have at least 1 "
                             "dimension, got a scalar" % type(self).__name__)
        self._shape = without_last(weights.get_shape())
        for other in beside:
            self._shape = _array.broadcast_static_shape(self._shape,
                                                        other.get_shape())

    def _event_shape(self):
        shape = self._weights.get_shape()
        return None if shape.ndims is None else shape[-1:]

    def _event_shape_tensor(self):
        return _array.shape(self._weights)[-1:]

    def _batch_shape_tensor(self):
        shape = _array.shape(self._weights)[:-1]
        for other in self._beside:
            shape = _array.broadcast_dynamic_shape(shape, _array.shape(other))
        return shape

    def _size(self):
        """The number of elements of an event, of the parameters' type."""
        return _math.cast(_array.shape(self._weights)[-1],
                          self._weights.dtype.base_dtype)


def _outer(x):
    return column(x) * _array.expand_dims(x, -2)


class Dirichlet(_Vectors):
    """Vectors of positive numbers whose sum is 1; their density is the product
    of x^(concentration - 1), up to a factor."""

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True,
                 name="Dirichlet"):
        super().__init__(dict(concentration=concentration), {"concentration"},
                         validate_args, allow_nan_stats, name)
        self._set_weights(self._concentration)
        with name_scope(self.name):
            self._total = _math.reduce_sum(self._concentration, -1)

    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total)

    def _sample_n(self, n, seed=None):
        x = _random.random_gamma([n], self._concentration, dtype=self.dtype,
                                 seed=seed)
        return x / _math.reduce_sum(x, -1, keepdims=True)

    def _log_prob(self, x):
        return _math.reduce_sum(_raw.Xlogy(self._concentration - 1., x), -1) - (
            lbeta(self._concentration))

    def _entropy(self):
        a, total = self._concentration, self._total
        return (lbeta(a) + (total - self._size()) * _raw.Digamma(total)
                - _math.reduce_sum((a - 1.) * _raw.Digamma(a), axis=-1))

    def _mean(self):
        return self._concentration / column(self._total)

    def _variance(self):
        mean = self._mean()
        return mean * (1. - mean) / (1. + column(self._total))

    def _covariance(self):
        mean = self._mean()
        return _raw.MatrixSetDiag(
            -_outer(mean) / column(column(1. + self._total)), self._variance())

    def _mode(self):
        defined = _math.reduce_all(self._concentration > 1., axis=-1,
                                   keepdims=True)
        return self._where_defined(
            defined, (self._concentration - 1.)
            / (column(self._total) - self._size()), "mode")


class Multinomial(_LogitsAndProbs, _Vectors):
    """How often each of n things comes in total_count draws, with the
    probabilities probs, that is softmax(logits), [batch, n]."""

    def __init__(self, total_count, logits=None, probs=None,
                 validate_args=False, allow_nan_stats=True, name="Multinomial"):
        super().__init__(dict(total_count=total_count,
                              **_one_of("Multinomial", logits, probs)),
                         {"total_count"}, validate_args, allow_nan_stats, name,
                         NOT_REPARAMETERIZED, dict(logits=logits, probs=probs))
        self._make_other(of_vectors=True)
        self._set_weights(self._logits, self._total_count)

    total_count = property(lambda self: self._total_count)

    def _sample_n(self, n, seed=None):
        size = _array.shape(self._logits)[-1]
        batch = self.batch_shape_tensor()
        counts = _array.broadcast_to(self._total_count, batch)
        logits = _array.broadcast_to(self._logits,
                                     _array.concat([batch, [size]], 0))

        def of_one(each):
            count, row = each
            count = _math.cast(count, dtypes.int32)
            drawn = _random.multinomial(_array.expand_dims(row, 0), n * count,
                                        seed=seed)
            drawn = _array.reshape(drawn, [n, count])
            return _math.reduce_sum(_array.one_hot(drawn, size, dtype=self.dtype),
                                    axis=-2)

        found = map_fn(of_one, [_array.reshape(counts, [-1]),
                                _array.reshape(logits, [-1, size])],
                       dtype=self.dtype)
        return _array.reshape(_array.transpose(found, [1, 0, 2]),
                              _array.concat([[n], batch, [size]], 0))

    def _log_prob(self, counts):
        return (_math.reduce_sum(counts * _nn.log_softmax(self._logits), -1)
                + _log_combinations(self._total_count, counts))

    def _mean(self):
        return self._probs * column(self._total_count)

    def _variance(self):
        return self._mean() * (1. - self._probs)

    def _covariance(self):
        p = self._probs * _array.ones_like(column(self._total_count))
        return _raw.MatrixSetDiag(
            -_outer(p) * column(column(self._total_count)), self._variance())


class DirichletMultinomial(_Vectors):
    """How often each thing comes in total_count draws, with probabilities that
    are Dirichlet(concentration)."""

    def __init__(self, total_count, concentration, validate_args=False,
                 allow_nan_stats=True, name="DirichletMultinomial"):
        super().__init__(dict(total_count=total_count,
                              concentration=concentration),
                         {"total_count", "concentration"}, validate_args,
                         allow_nan_stats, name, NOT_REPARAMETERIZED)
        self._set_weights(self._concentration, self._total_count)
        with name_scope(self.name):
            self._total = _math.reduce_sum(self._concentration, -1)

    total_count = property(lambda self: self._total_count)
    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total)

    def _sample_n(self, n, seed=None):
        if self._total_count.get_shape().ndims != 0:
            raise NotImplementedError(
                "DirichletMultinomial.sample: total_count must be a scalar, got "
                "shape %s" % self._total_count.get_shape())
        size = _array.shape(self._concentration)[-1]
        weights = _math.log(_random.random_gamma(
            [n], self._concentration, dtype=self.dtype, seed=seed))
        drawn = _random.multinomial(
            _array.reshape(weights, [-1, size]),
            _math.cast(self._total_count, dtypes.int32),
            seed=new_seed(seed, "dirichlet_multinomial"))
        counts = _math.reduce_sum(_array.one_hot(drawn, size, dtype=self.dtype), -2)
        return _array.reshape(counts, _array.concat(
            [[n], self.batch_shape_tensor(), [size]], 0))

    def _log_prob(self, counts):
        a = self._concentration
        return (lbeta(a + counts) - lbeta(a)
                + _log_combinations(self._total_count, counts))

    def _share(self):
        return self._concentration / column(self._total)

    def _mean(self):
        return self._share() * column(self._total_count)

    def _spread(self):
        return column(self._total_count * (self._total_count + self._total)
                      / (1. + self._total))

    def _variance(self):
        share = self._share()
        return share * (1. - share) * self._spread()

    def _covariance(self):
        return _raw.MatrixSetDiag(-_outer(self._share()) * column(self._spread()),
                                  self._variance())


class OneHotCategorical(_LogitsAndProbs, _Vectors):
    """Vectors with one 1, at a place with the probabilities probs [batch, n],
    that is softmax(logits)."""

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32,
                 validate_args=False, allow_nan_stats=True,
                 name="OneHotCategorical"):
        super().__init__(_one_of("OneHotCategorical", logits, probs), set(),
                         validate_args, allow_nan_stats, name,
                         NOT_REPARAMETERIZED,
                         dict(logits=logits, probs=probs, dtype=dtype))
        self._make_other(of_vectors=True)
        self._set_weights(self._logits)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def event_size(self):
        """int32: n."""
        return _array.shape(self._logits)[-1]

    def _sample_n(self, n, seed=None):
        drawn = _random.multinomial(
            _array.reshape(self._logits, [-1, self.event_size]), n, seed=seed)
        whole = _array.concat([[n], _array.shape(self._logits)], 0)
        return _array.reshape(_array.one_hot(
            _array.transpose(drawn), self.event_size, dtype=self.dtype), whole)

    def _log_prob(self, x):
        x = _math.cast(x, self._logits.dtype)
        return _math.reduce_sum(x * _nn.log_softmax(self._logits), -1)

    def _entropy(self):
        return -_math.reduce_sum(_nn.log_softmax(self._logits) * self._probs, -1)

    def _mode(self):
        return _array.one_hot(_math.argmax(self._logits, axis=-1),
                              self.event_size, dtype=self.dtype)

    def _variance(self):
        return self._probs * (1. - self._probs)

    def _covariance(self):
        return _raw.MatrixSetDiag(-_outer(self._probs), self._variance())


class ExpRelaxedOneHotCategorical(_LogitsAndProbs, _Vectors):
    """The logarithms of RelaxedOneHotCategorical."""

    def __init__(self, temperature, logits=None, probs=None,
                 validate_args=False, allow_nan_stats=True,
                 name="ExpRelaxedOneHotCategorical"):
        super().__init__(dict(temperature=temperature,
                              **_one_of(type(self).__name__, logits, probs)),
                         {"temperature"}, validate_args, allow_nan_stats, name,
                         FULLY_REPARAMETERIZED, dict(logits=logits, probs=probs))
        self._make_other(of_vectors=True)
        self._set_weights(self._logits, self._temperature)

    temperature = property(lambda self: self._temperature)

    def _sample_n(self, n, seed=None):
        size = _array.shape(self._logits)[-1:]
        u = self._uniform(_array.concat([self._samples(n), size], 0), seed)
        gumbel = -_math.log(-_math.log(u))
        return _nn.log_softmax(
            (gumbel + self._logits) / column(self._temperature))

    def _log_prob(self, x):
        k, t = self._size(), self._temperature
        scaled = _nn.log_softmax(self._logits - x * column(t))
        return (_math.reduce_sum(scaled, -1) + _raw.Lgamma(k)
                + (k - 1.) * _math.log(t))


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """softmax((logits + Gumbel noise) / temperature): OneHotCategorical as the
    temperature falls, with gradients to logits."""

    def __init__(self, temperature, logits=None, probs=None,
                 validate_args=False, allow_nan_stats=True,
                 name="RelaxedOneHotCategorical"):
        super().__init__(temperature, logits, probs, validate_args,
                         allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return _math.exp(super()._sample_n(n, seed))

    def _log_prob(self, x):
        logs = _math.log(x)
        return super()._log_prob(logs) - _math.reduce_sum(logs, -1)


class RelaxedBernoulli(_LogitsAndProbs, Parametric):
    """sigmoid((logits + logistic noise) / temperature): Bernoulli as the
    temperature falls, with gradients to logits."""

    def __init__(self, temperature, logits=None, probs=None,
                 validate_args=False, allow_nan_stats=True,
                 name="RelaxedBernoulli"):
        super().__init__(dict(temperature=temperature,
                              **_one_of("RelaxedBernoulli", logits, probs)),
                         {"temperature"}, validate_args, allow_nan_stats, name,
                         FULLY_REPARAMETERIZED, dict(logits=logits, probs=probs))
        self._make_other(of_vectors=False)

    temperature = property(lambda self: self._temperature)

    def _sample_n(self, n, seed=None):
        u = self._uniform(self._samples(n), seed)
        noise = _math.log(u) - _raw.Log1p(-u)
        return _math.sigmoid((noise + self._logits) / self._temperature)

    def _log_prob(self, x):
        y = _math.log(x) - _raw.Log1p(-x)
        z = y * self._temperature - self._logits
        return (_math.log(self._temperature) - z - 2. * _raw.Softplus(-z)
                - _math.log(x) - _raw.Log1p(-x))

    def _cdf(self, x):
        y = _math.log(x) - _raw.Log1p(-x)
        return _math.sigmoid(y * self._temperature - self._logits)


class Poisson(Parametric):
    """The number of events that come at `rate`, or exp(log_rate)."""

    def __init__(self, rate=None, log_rate=None, interpolate_nondiscrete=True,
                 validate_args=False, allow_nan_stats=True, name="Poisson"):
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        own = dict(rate=rate, log_rate=log_rate,
                   interpolate_nondiscrete=interpolate_nondiscrete)
        super().__init__(dict(log_rate=log_rate) if rate is None
                         else dict(rate=rate), {"rate"}, validate_args,
                         allow_nan_stats, name, NOT_REPARAMETERIZED, own)
        with name_scope(self.name):
            if rate is None:
                self._rate = _math.exp(self._log_rate, name="rate")
            else:
                self._log_rate = _math.log(self._rate, name="log_rate")
        self._interpolate = interpolate_nondiscrete

    rate = property(lambda self: self._rate)
    log_rate = property(lambda self: self._log_rate)
    interpolate_nondiscrete = property(lambda self: self._interpolate)

    def _sample_n(self, n, seed=None):
        return _random.random_poisson(self._rate, [n], self.dtype, seed)

    def _log_prob(self, x):
        found = x * self._log_rate - _raw.Lgamma(1. + x) - self._rate
        if self._interpolate:
            return found
        whole = _math.logical_and(_math.equal(x, _math.floor(x)), x >= 0.)
        return _raw.SelectV2(whole, found,
                             convert_to_tensor(-np.inf, dtype=self.dtype))

    def _cdf(self, x):
        x = x + 0. * self._rate
        if not self._interpolate:
            x = _math.floor(x)
        known = _raw.Igammac(1. + _raw.Relu(x), self._rate + 0. * x)
        return _raw.SelectV2(x < 0., 0. * known, known)

    def _mean(self):
        return _array.identity(self._rate)

    _variance = _mean

    def _mode(self):
        return _math.floor(self._rate)


class Geometric(_LogitsAndProbs, Parametric):
    """The number of failures before the first success, of probability probs,
    that is sigmoid(logits)."""

    def __init__(self, logits=None, probs=None, validate_args=False,
                 allow_nan_stats=True, name="Geometric"):
        super().__init__(_one_of("Geometric", logits, probs), {"probs"},
                         validate_args, allow_nan_stats, name,
                         NOT_REPARAMETERIZED, dict(logits=logits, probs=probs))
        self._make_other(of_vectors=False)

    def _sample_n(self, n, seed=None):
        u = self._uniform(self._samples(n), seed)
        return _math.floor(_math.log(u) / _raw.Log1p(-self._probs))

    def _log_prob(self, counts):
        return _raw.Xlogy(counts, 1. - self._probs) + _math.log(self._probs)

    def _cdf(self, x):
        below = x + 0. * self._probs < 0.
        known = -_raw.Expm1((1. + _math.floor(x)) * _raw.Log1p(-self._probs))
        return _raw.SelectV2(below, 0. * known, known)

    def _entropy(self):
        p = self._probs
        return -(_raw.Xlogy(1. - p, 1. - p) + _raw.Xlogy(p, p)) / p

    def _mean(self):
        return _math.exp(-self._logits)

    def _variance(self):
        return self._mean() / self._probs

    def _mode(self):
        return 0. * self._probs


class Binomial(_LogitsAndProbs, Parametric):
    """How often something of probability probs, that is sigmoid(logits), comes
    in total_count trials."""

    def __init__(self, total_count, logits=None, probs=None,
                 validate_args=False, allow_nan_stats=True, name="Binomial"):
        super().__init__(dict(total_count=total_count,
                              **_one_of("Binomial", logits, probs)), set(),
                         validate_args, allow_nan_stats, name,
                         NOT_REPARAMETERIZED, dict(logits=logits, probs=probs))
        self._make_other(of_vectors=False)

    total_count = property(lambda self: self._total_count)

    def _log_prob(self, counts):
        n, p = self._total_count, self._probs
        return (_raw.Xlogy(counts, p) + _raw.Xlogy(n - counts, 1. - p)
                + _raw.Lgamma(1. + n) - _raw.Lgamma(1. + counts)
                - _raw.Lgamma(1. + n - counts))

    def _mean(self):
        return self._total_count * self._probs

    def _variance(self):
        return self._mean() * (1. - self._probs)

    def _mode(self):
        return _math.floor((1. + self._total_count) * self._probs)


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p, q, name=None):
    with name_scope(name, "kl_dirichlet_dirichlet"):
        a, b = p.concentration, q.concentration
        weights = _raw.Digamma(a) - _raw.Digamma(column(p.total_concentration))
        return (_math.reduce_sum((a - b) * weights, -1) + lbeta(b) - lbeta(a))


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p, q, name=None):
    with name_scope(name, "kl_categorical_categorical"):
        return _math.reduce_sum(
            _nn.softmax(p.logits) * (_nn.log_softmax(p.logits)
                                     - _nn.log_softmax(q.logits)), axis=-1)
