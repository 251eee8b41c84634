"""tf.distributions: Gamma, Beta, StudentT; and of tf.contrib.distributions the
further ones with a density on the line."""
import math

from headrace import raw_ops as _raw
from headrace._src.distributions.distribution import RegisterKL
from headrace._src.distributions.distributions import Exponential
from headrace._src.distributions.parametric import Parametric, new_seed
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random

_LOG_PI = math.log(math.pi)


class _ConcentrationAndRate(Parametric):
    def __init__(self, concentration, rate, validate_args, allow_nan_stats, name):
        super().__init__(dict(concentration=concentration, rate=rate),
                         {"concentration", "rate"}, validate_args,
                         allow_nan_stats, name)

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)


class Gamma(_ConcentrationAndRate):
    """The density x^(concentration-1) exp(-rate x) of x above 0, up to a factor."""

    def __init__(self, concentration, rate, validate_args=False,
                 allow_nan_stats=True, name="Gamma"):
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"concentration": sample_shape, "rate": sample_shape}

    def _sample_n(self, n, seed=None):
        return _random.random_gamma([n], self._concentration, self._rate,
                                    self.dtype, seed)

    def _log_prob(self, x):
        a, b = self._concentration, self._rate
        return _raw.Xlogy(a - 1., x) - b * x - (_raw.Lgamma(a) - a * _math.log(b))

    def _cdf(self, x):
        a = self._concentration + _math.multiply(0., x * self._rate)
        return _raw.Igamma(a, self._rate * x + 0. * a)

    def _entropy(self):
        a = self._concentration
        return (a - _math.log(self._rate) + _raw.Lgamma(a)
                + (1. - a) * _raw.Digamma(a))

    def _mean(self):
        return self._concentration / self._rate

    def _variance(self):
        return self._concentration / _math.square(self._rate)

    def _stddev(self):
        return _math.sqrt(self._concentration) / self._rate

    def _mode(self):
        return self._where_defined(self._wide(self._concentration) > 1.,
                                   (self._concentration - 1.) / self._rate, "mode")


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    def __init__(self, df, validate_args=False, allow_nan_stats=True,
                 name="Chi2"):
        with name_scope(name, values=[df]) as name:
            df = convert_to_tensor(df, name="df", preferred_dtype=dtypes.float32)
            super().__init__(0.5 * df, convert_to_tensor(0.5, dtype=df.dtype),
                             validate_args, allow_nan_stats, name)
        self._df = df
        self._parameters = dict(df=df, validate_args=validate_args,
                                allow_nan_stats=allow_nan_stats, name=name)

    df = property(lambda self: self._df)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"df": sample_shape}


class InverseGamma(_ConcentrationAndRate):
    """1 / x of x that is Gamma(concentration, rate)."""

    def __init__(self, concentration, rate, validate_args=False,
                 allow_nan_stats=True, name="InverseGamma"):
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return 1. / _random.random_gamma([n], self._concentration, self._rate,
                                         self.dtype, seed)

    def _log_prob(self, x):
        a, b = self._concentration, self._rate
        return a * _math.log(b) - _raw.Lgamma(a) - (a + 1.) * _math.log(x) - b / x

    def _entropy(self):
        a = self._concentration
        return a + _math.log(self._rate) + _raw.Lgamma(a) - (1. + a) * (
            _raw.Digamma(a))

    def _mean(self):
        a = self._concentration
        return self._where_defined(self._wide(a) > 1., self._rate / (a - 1.), "mean")

    def _variance(self):
        a = self._concentration
        return self._where_defined(
            self._wide(a) > 2.,
            _math.square(self._rate / (a - 1.)) / (a - 2.), "variance")

    def _mode(self):
        return self._rate / (1. + self._concentration)


class Beta(Parametric):
    """The density x^(concentration1-1) (1-x)^(concentration0-1) of x between 0
    and 1, up to a factor."""

    def __init__(self, concentration1=None, concentration0=None,
                 validate_args=False, allow_nan_stats=True, name="Beta"):
        super().__init__(dict(concentration1=concentration1,
                              concentration0=concentration0),
                         {"concentration1", "concentration0"}, validate_args,
                         allow_nan_stats, name)
        with name_scope(self.name):
            self._total = self._concentration1 + self._concentration0

    concentration1 = property(lambda self: self._concentration1)
    concentration0 = property(lambda self: self._concentration0)
    total_concentration = property(lambda self: self._total)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"concentration1": sample_shape, "concentration0": sample_shape}

    def _sample_n(self, n, seed=None):
        one = _random.random_gamma([n], self._wide(self._concentration1),
                                   dtype=self.dtype, seed=seed)
        zero = _random.random_gamma([n], self._wide(self._concentration0),
                                    dtype=self.dtype, seed=new_seed(seed, "beta"))
        return one / (one + zero)

    def _log_prob(self, x):
        return (_raw.Xlogy(self._concentration1 - 1., x)
                + (self._concentration0 - 1.) * _raw.Log1p(-x)
                - self._log_normalization())

    def _log_normalization(self):
        return (_raw.Lgamma(self._concentration1)
                + _raw.Lgamma(self._concentration0) - _raw.Lgamma(self._total))

    def _cdf(self, x):
        zeros = 0. * (x + self._total)
        return _raw.Betainc(self._concentration1 + zeros,
                            self._concentration0 + zeros, x + zeros)

    def _entropy(self):
        one, zero, both = self._concentration1, self._concentration0, self._total
        return (self._log_normalization() - (one - 1.) * _raw.Digamma(one)
                - (zero - 1.) * _raw.Digamma(zero)
                + (both - 2.) * _raw.Digamma(both))

    def _mean(self):
        return self._concentration1 / self._total

    def _variance(self):
        mean = self._mean()
        return mean * (1. - mean) / (1. + self._total)

    def _mode(self):
        defined = _math.logical_and(self._wide(self._concentration1) > 1.,
                                    self._wide(self._concentration0) > 1.)
        return self._where_defined(
            defined, (self._concentration1 - 1.) / (self._total - 2.), "mode")


class StudentT(Parametric):
    """Student's distribution of `df` degrees of freedom, times scale, plus loc."""

    def __init__(self, df, loc, scale, validate_args=False,
                 allow_nan_stats=True, name="StudentT"):
        super().__init__(dict(df=df, loc=loc, scale=scale), {"df"},
                         validate_args, allow_nan_stats, name)

    df = property(lambda self: self._df)
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"df": sample_shape, "loc": sample_shape, "scale": sample_shape}

    def _sample_n(self, n, seed=None):
        normal = _random.random_normal(self._samples(n), dtype=self.dtype,
                                       seed=seed)
        df = self._wide(self._df)
        squares = _random.random_gamma([n], 0.5 * df, 0.5, self.dtype,
                                       new_seed(seed, "student_t"))
        return normal * _math.rsqrt(squares / df) * self._scale + self._loc

    def _log_prob(self, x):
        df = self._df
        z = (x - self._loc) / self._scale
        return -0.5 * (df + 1.) * _raw.Log1p(_math.square(z) / df) - (
            _math.log(_math.abs(self._scale)) + 0.5 * _math.log(df) + 0.5 * _LOG_PI
            + _raw.Lgamma(0.5 * df) - _raw.Lgamma(0.5 * (df + 1.)))

    def _cdf(self, x):
        z = (x - self._loc) / _math.abs(self._scale) + 0. * self._df
        df = self._df + 0. * z
        tail = 0.5 * _raw.Betainc(0.5 * df, 0.5 + 0. * z,
                                  df / (_math.square(z) + df))
        return _raw.SelectV2(z < 0., tail, 1. - tail)

    def _entropy(self):
        df = self._wide(self._df)
        half, more = 0.5 * df, 0.5 * (df + 1.)
        beta = _raw.Lgamma(half) + 0.5 * _LOG_PI - _raw.Lgamma(more)
        return (_math.log(_math.abs(self._scale)) + 0.5 * _math.log(df) + beta
                + more * (_raw.Digamma(more) - _raw.Digamma(half)))

    def _mean(self):
        return self._where_defined(self._wide(self._df) > 1.,
                                   self._wide(self._loc), "mean")

    def _variance(self):
        df = self._wide(self._df)
        infinite = convert_to_tensor(math.inf, dtype=self.dtype)
        finite = _math.square(self._scale) * df / (df - 2.)
        return self._where_defined(
            df > 1., _raw.SelectV2(df > 2., finite, infinite), "variance")

    def _mode(self):
        return _math.add(self._loc, 0.)


class _LocationScale(Parametric):
    def __init__(self, loc, scale, validate_args, allow_nan_stats, name):
        super().__init__(dict(loc=loc, scale=scale), {"scale"}, validate_args,
                         allow_nan_stats, name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"loc": sample_shape, "scale": sample_shape}

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _mode(self):
        return self._wide(self._loc)


class Logistic(_LocationScale):
    """The distribution whose cdf is sigmoid((x - loc) / scale)."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True,
                 name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        u = self._uniform(self._samples(n), seed)
        return (_math.log(u) - _raw.Log1p(-u)) * self._scale + self._loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2. * _raw.Softplus(-z) - _math.log(self._scale)

    def _cdf(self, x):
        return _math.sigmoid(self._z(x))

    def _quantile(self, p):
        return self._loc + self._scale * (_math.log(p) - _raw.Log1p(-p))

    def _entropy(self):
        return 2. + _math.log(self._wide(self._scale))

    def _mean(self):
        return self._wide(self._loc)

    def _stddev(self):
        return self._wide(self._scale) * math.pi / math.sqrt(3.)


class Cauchy(_LocationScale):
    """The distribution 1 / (pi scale (1 + z^2)), z = (x - loc) / scale. It has
    neither mean nor variance."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True,
                 name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return self._quantile(_random.random_uniform(
            self._samples(n), minval=0., maxval=1., dtype=self.dtype, seed=seed))

    def _log_prob(self, x):
        return -_raw.Log1p(_math.square(self._z(x))) - (
            _LOG_PI + _math.log(self._scale))

    def _cdf(self, x):
        return _raw.Atan(self._z(x)) / math.pi + 0.5

    def _quantile(self, p):
        return self._loc + self._scale * _raw.Tan(math.pi * (p - 0.5))

    def _entropy(self):
        return math.log(4. * math.pi) + _math.log(self._wide(self._scale))

    def _mean(self):
        return self._where_defined(self._wide(self._loc) < -math.inf,
                                   self._wide(self._loc), "mean")

    _stddev = _mean


class HalfNormal(Parametric):
    """The size of a normal number of mean 0 and standard deviation `scale`."""

    def __init__(self, scale, validate_args=False, allow_nan_stats=True,
                 name="HalfNormal"):
        super().__init__(dict(scale=scale), {"scale"}, validate_args,
                         allow_nan_stats, name)

    scale = property(lambda self: self._scale)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"scale": sample_shape}

    def _sample_n(self, n, seed=None):
        return _math.abs(self._scale * _random.random_normal(
            self._samples(n), dtype=self.dtype, seed=seed))

    def _prob(self, x):
        density = math.sqrt(2. / math.pi) / self._scale * _math.exp(
            -0.5 * _math.square(x / self._scale))
        return _raw.SelectV2(x + 0. * density < 0., 0. * density, density)

    def _cdf(self, x):
        return _raw.Erf(_raw.Relu(x) / self._scale / math.sqrt(2.))

    def _quantile(self, p):
        return math.sqrt(2.) * self._scale * _raw.Erfinv(p)

    def _entropy(self):
        return 0.5 * _math.log(0.5 * math.pi * _math.square(self._scale)) + 0.5

    def _mean(self):
        return self._scale * math.sqrt(2. / math.pi)

    def _mode(self):
        return 0. * self._scale

    def _variance(self):
        return _math.square(self._scale) * (1. - 2. / math.pi)


@RegisterKL(Gamma, Gamma)
def _gamma_gamma(p, q, name=None):
    with name_scope(name, "kl_gamma_gamma"):
        a, b = p.concentration, q.concentration
        return ((a - b) * _raw.Digamma(a) + _raw.Lgamma(b) - _raw.Lgamma(a)
                + b * (_math.log(p.rate) - _math.log(q.rate))
                + a * (q.rate / p.rate - 1.))


@RegisterKL(Exponential, Exponential)
def _exponential_exponential(p, q, name=None):
    with name_scope(name, "kl_gamma_gamma"):
        return _math.log(p.rate) - _math.log(q.rate) + q.rate / p.rate - 1.


@RegisterKL(Beta, Beta)
def _beta_beta(p, q, name=None):
    with name_scope(name, "kl_beta_beta"):
        def term(a, b):
            return (b - a) * _raw.Digamma(a)

        return (q._log_normalization() - p._log_normalization()
                - term(p.concentration1, q.concentration1)
                - term(p.concentration0, q.concentration0)
                + term(p.total_concentration, q.total_concentration))
