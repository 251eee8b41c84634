"""tf.distributions: Normal, Laplace, Uniform, Exponential, Bernoulli,
Categorical; and tf.contrib.distributions.MultivariateNormalDiag."""
import math

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.check_ops import assert_less, assert_positive
from headrace._src.distributions import special_functions as _special
from headrace._src.distributions.distribution import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL)
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.math.linear_operators import LinearOperatorDiag
from headrace._src.nn import activations as _nn
from headrace._src.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


def _joined(*tensors):
    """What is known of the shape that tensors broadcast to."""
    shape = TensorShape([])
    for t in tensors:
        try:
            shape = _array.broadcast_static_shape(shape, t.get_shape())
        except ValueError:
            raise ValueError("parameters of shapes %s do not go together"
                             % [str(t.get_shape()) for t in tensors]) from None
    return shape


def _same_type(*tensors):
    if any(t.dtype.base_dtype != tensors[0].dtype.base_dtype
           for t in tensors):
        raise TypeError("parameters must have one type, got %s"
                        % [t.dtype.base_dtype.name for t in tensors])


def _positive(validate, x):
    check = assert_positive(x) if validate else None
    with control_dependencies([] if check is None else [check]):
        return _array.identity(x)


class _LocScale(Distribution):
    """Of a location and a scale, which broadcast."""

    def __init__(self, loc, scale, validate_args, allow_nan_stats, name):
        parameters = dict(loc=loc, scale=scale, validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        with name_scope(name, values=[loc, scale]) as name:
            loc = convert_to_tensor(loc, name="loc")
            scale = convert_to_tensor(scale, name="scale")
            _same_type(loc, scale)
            self._loc = _array.identity(loc, name="loc")
            self._scale = _array.identity(_positive(validate_args, scale),
                                          name="scale")
        self._shape = _joined(self._loc, self._scale)
        super().__init__(self._loc.dtype.base_dtype, FULLY_REPARAMETERIZED,
                         validate_args, allow_nan_stats, parameters, name=name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"loc": sample_shape, "scale": sample_shape}

    def _batch_shape(self):
        return self._shape

    def _batch_shape_tensor(self):
        return _array.broadcast_dynamic_shape(_array.shape(self._loc),
                                              _array.shape(self._scale))

    def _samples(self, n):
        return _array.concat([[n], self.batch_shape_tensor()], 0)

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _wide(self, x):
        """x of the batch's shape."""
        return x * _array.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self):
        return self._wide(self._loc)

    def _mode(self):
        return self._mean()


class Normal(_LocScale):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True,
                 name="Normal"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return _random.random_normal(
            self._samples(n), mean=0., stddev=1., dtype=self.dtype,
            seed=seed) * self._scale + self._loc

    def _log_prob(self, x):
        return -0.5 * _math.square(self._z(x)) - (
            0.5 * math.log(2. * math.pi) + _math.log(self._scale))

    def _cdf(self, x):
        return _special.ndtr(self._z(x))

    def _log_cdf(self, x):
        return _special.log_ndtr(self._z(x))

    def _survival_function(self, x):
        return _special.ndtr(-self._z(x))

    def _log_survival_function(self, x):
        return _special.log_ndtr(-self._z(x))

    def _quantile(self, p):
        return self._loc + self._scale * _raw.Ndtri(p)

    def _entropy(self):
        return 0.5 + 0.5 * math.log(2. * math.pi) + _math.log(
            self._wide(self._scale))

    def _stddev(self):
        return self._wide(self._scale)


class Laplace(_LocScale):
    """The Laplace distribution: exp(-|x - loc| / scale) / (2 scale)."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True,
                 name="Laplace"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        kind = self.dtype.as_numpy_dtype
        uniform = _random.random_uniform(
            self._samples(n), minval=np.nextafter(kind(-1.), kind(0.)),
            maxval=1., dtype=self.dtype, seed=seed)
        return self._loc - self._scale * _math.sign(uniform) * _raw.Log1p(
            -_math.abs(uniform))

    def _log_prob(self, x):
        return -_math.abs(self._z(x)) - math.log(2.) - _math.log(self._scale)

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * _math.sign(z) * (1. - _math.exp(-_math.abs(z)))

    def _log_cdf(self, x):
        return _special.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x):
        return _special.log_cdf_laplace(-self._z(x))

    def _entropy(self):
        return math.log(2.) + 1 + _math.log(self._wide(self._scale))

    def _stddev(self):
        return math.sqrt(2.) * self._wide(self._scale)


class Uniform(Distribution):
    """The same density from `low` to `high`."""

    def __init__(self, low=0., high=1., validate_args=False,
                 allow_nan_stats=True, name="Uniform"):
        parameters = dict(low=low, high=high, validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        with name_scope(name, values=[low, high]) as name:
            low = convert_to_tensor(low, name="low")
            high = convert_to_tensor(high, name="high")
            _same_type(low, high)
            check = assert_less(
                low, high, message="uniform not defined when low >= high."
            ) if validate_args else None
            with control_dependencies([] if check is None else [check]):
                self._low = _array.identity(low, name="low")
                self._high = _array.identity(high, name="high")
        self._shape = _joined(self._low, self._high)
        super().__init__(self._low.dtype.base_dtype, FULLY_REPARAMETERIZED,
                         validate_args, allow_nan_stats, parameters, name=name)

    low = property(lambda self: self._low)
    high = property(lambda self: self._high)

    def range(self, name="range"):
        """high - low."""
        with self._scope(name):
            return self._high - self._low

    @staticmethod
    def _param_shapes(sample_shape):
        return {"low": sample_shape, "high": sample_shape}

    def _batch_shape(self):
        return self._shape

    def _batch_shape_tensor(self):
        return _array.broadcast_dynamic_shape(_array.shape(self._low),
                                              _array.shape(self._high))

    def _sample_n(self, n, seed=None):
        uniform = _random.random_uniform(
            _array.concat([[n], self.batch_shape_tensor()], 0),
            dtype=self.dtype, seed=seed)
        return self._low + self.range() * uniform

    def _prob(self, x):
        wide = x * _array.ones_like(self._low + self._high)
        outside = _math.logical_or(wide < self._low, wide >= self._high)
        density = _array.ones_like(wide) / self.range()
        return _array.where(outside, _array.zeros_like(wide), density)

    def _cdf(self, x):
        share = (x - self._low) / self.range()
        return _math.minimum(_math.maximum(share, 0.), 1.)

    def _entropy(self):
        return _math.log(self.range())

    def _mean(self):
        return (self._low + self._high) / 2.

    def _stddev(self):
        return self.range() / math.sqrt(12.)


class Exponential(Distribution):
    """The density rate * exp(-rate * x) of x above 0."""

    def __init__(self, rate, validate_args=False, allow_nan_stats=True,
                 name="Exponential"):
        parameters = dict(rate=rate, validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        with name_scope(name, values=[rate]) as name:
            self._rate = _array.identity(_positive(
                validate_args, convert_to_tensor(rate, name="rate")),
                name="rate")
        super().__init__(self._rate.dtype.base_dtype, FULLY_REPARAMETERIZED,
                         validate_args, allow_nan_stats, parameters, name=name)

    rate = property(lambda self: self._rate)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"rate": sample_shape}

    def _batch_shape(self):
        return self._rate.get_shape()

    def _batch_shape_tensor(self):
        return _array.shape(self._rate)

    def _sample_n(self, n, seed=None):
        # 0 has no logarithm.
        uniform = _random.random_uniform(
            _array.concat([[n], _array.shape(self._rate)], 0),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.,
            seed=seed, dtype=self.dtype)
        return -_math.log(uniform) / self._rate

    def _log_prob(self, x):
        return _math.log(self._rate) - self._rate * x

    def _cdf(self, x):
        return 1. - _math.exp(-self._rate * x)

    def _entropy(self):
        return 1. - _math.log(self._rate)

    def _mean(self):
        return 1. / self._rate

    def _stddev(self):
        return 1. / self._rate

    def _mode(self):
        # TensorFlow takes it as a Gamma of concentration 1, which has none.
        return _array.fill(_array.shape(self._rate),
                           self.dtype.as_numpy_dtype(np.nan))


def _logits_and_probs(logits, probs, name, many):
    """Both of one, which is given. ValueError for both or none."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    with name_scope(name, values=[logits, probs]):
        if many and convert_to_tensor(
                logits if probs is None else probs).get_shape().ndims == 0:
            raise ValueError("Categorical: logits or probs must have at least "
                             "1 dimension, got a scalar")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            return logits, (_nn.softmax(logits, name="probs") if many
                            else _math.sigmoid(logits, name="probs"))
        probs = convert_to_tensor(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        logits = _math.log(probs)
        return (logits if many else logits - _raw.Log1p(-1. * probs)), probs


class _Discrete(Distribution):
    def __init__(self, logits, probs, dtype, validate_args, allow_nan_stats,
                 name, many):
        parameters = dict(logits=logits, probs=probs, dtype=dtype,
                          validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        with name_scope(name) as name:
            self._logits, self._probs = _logits_and_probs(logits, probs, name,
                                                          many)
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED,
                         validate_args, allow_nan_stats, parameters, name=name)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _of_numbers(self):
        return self._logits.dtype.base_dtype


class Bernoulli(_Discrete):
    """1 with probability `probs`, that is sigmoid(logits), otherwise 0."""

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32,
                 validate_args=False, allow_nan_stats=True, name="Bernoulli"):
        super().__init__(logits, probs, dtype, validate_args, allow_nan_stats,
                         name, False)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"logits": sample_shape}

    def _batch_shape(self):
        return self._logits.get_shape()

    def _batch_shape_tensor(self):
        return _array.shape(self._logits)

    def _sample_n(self, n, seed=None):
        uniform = _random.random_uniform(
            _array.concat([[n], self.batch_shape_tensor()], 0), seed=seed,
            dtype=self._of_numbers())
        return _math.cast(_math.less(uniform, self._probs), self.dtype)

    def _log_prob(self, event):
        event = _math.cast(event, self._of_numbers())
        logits = self._logits + _array.zeros_like(event)
        return -sigmoid_cross_entropy_with_logits(
            labels=event + _array.zeros_like(logits), logits=logits)

    def _entropy(self):
        return (-self._logits * (_math.sigmoid(self._logits) - 1)
                + _raw.Softplus(-self._logits))

    def _mean(self):
        return _array.identity(self._probs)

    def _variance(self):
        return self._mean() * (1. - self._probs)

    def _mode(self):
        return _math.cast(self._probs > 0.5, self.dtype)


class Categorical(_Discrete):
    """A number below n with the probabilities `probs` [batch, n], that is
    softmax(logits)."""

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32,
                 validate_args=False, allow_nan_stats=True,
                 name="Categorical"):
        super().__init__(logits, probs, dtype, validate_args, allow_nan_stats,
                         name, True)

    @property
    def event_size(self):
        """int32: n."""
        return _array.shape(self._logits)[-1]

    def _batch_shape(self):
        shape = self._logits.get_shape()
        return shape if shape.ndims is None else shape[:-1]

    def _batch_shape_tensor(self):
        return _array.shape(self._logits)[:-1]

    def _sample_n(self, n, seed=None):
        logits = self._logits
        if logits.get_shape().ndims != 2:
            logits = _array.reshape(logits, [-1, self.event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = _random.multinomial(logits, n, seed=seed, output_dtype=kind)
        return _math.cast(_array.reshape(
            _array.transpose(drawn),
            _array.concat([[n], self.batch_shape_tensor()], 0)), self.dtype)

    def _log_prob(self, k):
        k = _math.cast(k, self.dtype)
        shape = _array.broadcast_dynamic_shape(
            _array.shape(k), self.batch_shape_tensor())
        k = _array.broadcast_to(k, shape)
        logits = _array.broadcast_to(self._logits, _array.concat(
            [shape, [self.event_size]], 0))
        return -sparse_softmax_cross_entropy_with_logits(
            labels=k if k.dtype in (dtypes.int32, dtypes.int64)
            else _math.cast(k, dtypes.int64), logits=logits)

    def _entropy(self):
        return -_math.reduce_sum(
            _nn.log_softmax(self._logits) * self._probs, axis=-1)

    def _mode(self):
        return _math.cast(_math.argmax(self._logits, axis=-1), self.dtype)


class NormalVectors(Distribution):
    """What normal vectors loc + scale z have in common: `loc`, None for 0, and
    the linear operator `scale`."""


class MultivariateNormalDiag(NormalVectors):
    """Vectors of independent normal numbers, of means `loc` and standard
    deviations scale_diag, or scale_identity_multiplier for all; 0 and 1 by
    default. The event is the last dimension."""

    def __init__(self, loc=None, scale_diag=None,
                 scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="MultivariateNormalDiag"):
        parameters = dict(
            loc=loc, scale_diag=scale_diag,
            scale_identity_multiplier=scale_identity_multiplier,
            validate_args=validate_args, allow_nan_stats=allow_nan_stats,
            name=name)
        if loc is None and scale_diag is None:
            raise ValueError("MultivariateNormalDiag: one of loc and scale_diag "
                             "must be given")
        with name_scope(name, values=[loc, scale_diag]) as name:
            given = convert_to_tensor(scale_diag if loc is None else loc)
            kind = given.dtype.base_dtype
            scale = _array.ones_like(given) if scale_diag is None else (
                convert_to_tensor(scale_diag, dtype=kind, name="scale_diag"))
            if scale_identity_multiplier is not None:
                factor = _array.expand_dims(convert_to_tensor(
                    scale_identity_multiplier, dtype=kind), -1)
                scale = scale * factor if scale_diag is None else (
                    scale + factor)
            self._each = Normal(
                _array.zeros_like(scale) if loc is None
                else convert_to_tensor(loc, dtype=kind, name="loc"),
                _positive(validate_args, scale))
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters, name=name)

    loc = property(lambda self: self._each.loc)

    @property
    def scale(self):
        """The diagonal linear operator of the standard deviations."""
        return LinearOperatorDiag(self._each.scale, is_non_singular=True)

    def _covariance(self):
        return _raw.MatrixDiag(_math.square(self._each.scale))

    def _batch_shape(self):
        shape = self._each.batch_shape
        return shape if shape.ndims is None else shape[:-1]

    def _event_shape(self):
        shape = self._each.batch_shape
        return [None] if shape.ndims is None else shape[-1:]

    def _event_shape_tensor(self):
        return self._each.batch_shape_tensor()[-1:]

    def _batch_shape_tensor(self):
        return self._each.batch_shape_tensor()[:-1]

    def _sample_n(self, n, seed=None):
        return self._each._sample_n(n, seed)

    def _log_prob(self, x):
        return _math.reduce_sum(self._each._log_prob(x), axis=-1)

    def _entropy(self):
        return _math.reduce_sum(self._each._entropy(), axis=-1)

    def _mean(self):
        return self._each._mean()

    _mode = _mean

    def _stddev(self):
        return _math.abs(self._each.scale)


@RegisterKL(Normal, Normal)
def _normal_normal(a, b, name=None):
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        ratio = _math.square(a.scale) / _math.square(b.scale)
        return (_math.square(a.loc - b.loc) / (2. * _math.square(b.scale))
                + 0.5 * (ratio - 1. - _math.log(ratio)))


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _diag_diag(a, b, name=None):
    return _math.reduce_sum(_normal_normal(a._each, b._each), axis=-1)


@RegisterKL(NormalVectors, NormalVectors)
def _vectors_vectors(p, q, name=None):
    """Of any two kinds, by their scales."""
    with name_scope(name, "kl_mvn"):
        ratio = q.scale.solve(p.scale.to_dense())
        found = (q.scale.log_abs_determinant() - p.scale.log_abs_determinant()
                 + 0.5 * (_math.reduce_sum(_math.square(ratio), [-2, -1])
                          - _math.cast(q.scale.domain_dimension_tensor(),
                                       p.dtype)))
        if p.loc is None and q.loc is None:
            return found
        shift = (q.loc if p.loc is None else -p.loc if q.loc is None
                 else q.loc - p.loc)
        return found + 0.5 * _math.reduce_sum(
            _math.square(q.scale.solvevec(shift)), -1)


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(a, b, name=None):
    with name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        zero = _raw.Softplus(b.logits) - _raw.Softplus(a.logits)
        one = _raw.Softplus(-b.logits) - _raw.Softplus(-a.logits)
        return _math.sigmoid(a.logits) * one + _math.sigmoid(-a.logits) * zero


@RegisterKL(Categorical, Categorical)
def _categorical_categorical(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        return _math.reduce_sum(
            _nn.softmax(a.logits) * (_nn.log_softmax(a.logits)
                                     - _nn.log_softmax(b.logits)), axis=-1)
