"""tf.contrib.distributions: normal vectors of any covariance, certain values,
and mixtures."""
import math

from headrace import raw_ops as _raw
from headrace._src.distributions.distribution import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL)
from headrace._src.distributions.distributions import (
    MultivariateNormalDiag, NormalVectors)
from headrace._src.distributions.parametric import (
    Parametric, column, new_seed, without_last)
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.math.linear_operators import (
    LinearOperatorLowerTriangular)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


class MultivariateNormalTriL(NormalVectors):
    """Vectors loc + scale_tril z, of standard normal z; the covariance is
    scale_tril times its transpose. loc is 0 by default, scale_tril 1."""

    def __init__(self, loc=None, scale_tril=None, validate_args=False,
                 allow_nan_stats=True, name="MultivariateNormalTriL"):
        parameters = dict(loc=loc, scale_tril=scale_tril,
                          validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale`.")
        with name_scope(name, values=[loc, scale_tril]) as name:
            if scale_tril is None:
                loc = convert_to_tensor(loc, name="loc")
                self._tril = _array.eye(_array.shape(loc)[-1], dtype=loc.dtype)
            else:
                self._tril = _raw.MatrixBandPart(
                    convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
            kind = self._tril.dtype.base_dtype
            self._loc = (_array.zeros_like(self._tril[..., 0]) if loc is None
                         else convert_to_tensor(loc, dtype=kind, name="loc"))
        self._shape = _array.broadcast_static_shape(
            self._loc.get_shape(), without_last(self._tril.get_shape()))
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters, name=name)

    loc = property(lambda self: self._loc)

    @property
    def scale(self):
        """The linear operator of the lower triangular matrix."""
        return LinearOperatorLowerTriangular(self._tril, is_non_singular=True)

    def _whole_shape(self):
        return _array.broadcast_dynamic_shape(_array.shape(self._loc),
                                              _array.shape(self._tril)[:-1])

    def _batch_shape(self):
        return without_last(self._shape)

    def _event_shape(self):
        return [None] if self._shape.ndims is None else self._shape[-1:]

    def _batch_shape_tensor(self):
        return self._whole_shape()[:-1]

    def _event_shape_tensor(self):
        return _array.shape(self._tril)[-1:]

    def _sample_n(self, n, seed=None):
        z = _random.random_normal(
            _array.concat([[n], self._whole_shape()], 0), dtype=self.dtype,
            seed=seed)
        return _array.squeeze(_math.matmul(self._tril, column(z)), [-1]) + self._loc

    def _log_prob(self, x):
        shift = x - self._loc
        shape = _array.broadcast_dynamic_shape(_array.shape(shift),
                                               _array.shape(self._tril)[:-1])
        size = _array.shape(self._tril)[-1:]
        z = _raw.MatrixTriangularSolve(
            _array.broadcast_to(self._tril, _array.concat([shape, size], 0)),
            column(_array.broadcast_to(shift, shape)))
        return (-0.5 * _math.reduce_sum(_math.square(z), [-2, -1])
                - self._log_volume())

    def _log_volume(self):
        """log of (2 pi)^(k/2) and the determinant."""
        diagonal = _math.log(_math.abs(_raw.MatrixDiagPart(self._tril)))
        return _math.reduce_sum(diagonal + 0.5 * math.log(2. * math.pi), -1)

    def _entropy(self):
        k = _math.cast(_array.shape(self._tril)[-1], self.dtype)
        return 0.5 * k + self._log_volume() + _math.reduce_sum(
            0. * self._loc, -1)

    def _mean(self):
        return _array.broadcast_to(self._loc, self._whole_shape())

    _mode = _mean

    def _covariance(self):
        return _math.matmul(self._tril, self._tril, adjoint_b=True)

    def _variance(self):
        return _math.reduce_sum(_math.square(self._tril), -1)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """Normal vectors of mean loc, 0 by default, and a covariance matrix."""

    def __init__(self, loc=None, covariance_matrix=None, validate_args=False,
                 allow_nan_stats=True, name="MultivariateNormalFullCovariance"):
        parameters = dict(loc=loc, covariance_matrix=covariance_matrix,
                          validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        with name_scope(name, values=[loc, covariance_matrix]) as name:
            tril = covariance_matrix if covariance_matrix is None else (
                _raw.Cholesky(convert_to_tensor(covariance_matrix,
                                                name="covariance_matrix")))
            super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag of softplus(scale_diag)."""

    def __init__(self, loc, scale_diag, validate_args=False,
                 allow_nan_stats=True,
                 name="MultivariateNormalDiagWithSoftplusScale"):
        parameters = dict(loc=loc, scale_diag=scale_diag,
                          validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        with name_scope(name, values=[loc, scale_diag]) as name:
            super().__init__(loc, _raw.Softplus(convert_to_tensor(scale_diag)),
                             validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class Deterministic(Parametric):
    """`loc` for certain; what differs by atol + rtol * |loc| at most is `loc`."""

    def __init__(self, loc, atol=None, rtol=None, validate_args=False,
                 allow_nan_stats=True, name="Deterministic"):
        super().__init__(dict(loc=loc), set(), validate_args, allow_nan_stats,
                         name, NOT_REPARAMETERIZED, dict(atol=atol, rtol=rtol))
        self._atol = atol or 0.
        self._rtol = rtol or 0.

    loc = property(lambda self: self._loc)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"loc": sample_shape}

    def _slack(self):
        return self._atol + self._rtol * _math.abs(self._loc)

    def _sample_n(self, n, seed=None):
        return _array.broadcast_to(self._loc, self._samples(n))

    def _prob(self, x):
        return _math.cast(_math.abs(x - self._loc) <= self._slack(), self.dtype)

    def _cdf(self, x):
        return _math.cast(x >= self._loc - self._slack(), self.dtype)

    def _entropy(self):
        return 0. * self._loc

    def _mean(self):
        return _array.identity(self._loc)

    _mode = _mean

    def _variance(self):
        return 0. * self._loc


class MixtureSameFamily(Distribution):
    """One of the distributions in the last batch dimension of
    components_distribution, which mixture_distribution, a Categorical, chooses."""

    def __init__(self, mixture_distribution, components_distribution,
                 validate_args=False, allow_nan_stats=True,
                 name="MixtureSameFamily"):
        parameters = dict(mixture_distribution=mixture_distribution,
                          components_distribution=components_distribution,
                          validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name)
        self._choice = mixture_distribution
        self._components = components_distribution
        shape = components_distribution.batch_shape
        if not mixture_distribution.dtype.is_integer:
            raise ValueError("`mixture_distribution.dtype` must be an integer, "
                             "got %s" % mixture_distribution.dtype.name)
        if shape.ndims == 0:
            raise ValueError("`components_distribution` must have at least one "
                             "batch dimension")
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED,
                         validate_args, allow_nan_stats, parameters, name=name)

    mixture_distribution = property(lambda self: self._choice)
    components_distribution = property(lambda self: self._components)

    def _batch_shape(self):
        return without_last(self._components.batch_shape)

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _event_shape(self):
        return self._components.event_shape

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _axis(self):
        """The dimension of the components, from the end."""
        return -1 - self._components.event_shape.ndims

    def _weights(self):
        """The probabilities, with dimensions for the event."""
        weights = self._choice.probs
        for _ in range(self._components.event_shape.ndims):
            weights = column(weights)
        return weights

    def _sample_n(self, n, seed=None):
        x = self._components.sample(n, seed=seed)
        chosen = _array.one_hot(
            self._choice.sample(_array.concat(
                [[n], self.batch_shape_tensor()], 0)
                if self._choice.batch_shape.ndims == 0 else n,
                seed=new_seed(seed, "mixture")),
            _array.shape(self._choice.logits)[-1], dtype=self.dtype)
        for _ in range(self._components.event_shape.ndims):
            chosen = column(chosen)
        return _math.reduce_sum(x * chosen, axis=self._axis())

    def _log_prob(self, x):
        x = _array.expand_dims(x, self._axis())
        return _math.reduce_logsumexp(
            self._components.log_prob(x) + _math.log(self._choice.probs), axis=-1)

    def _cdf(self, x):
        x = _array.expand_dims(x, self._axis())
        return _math.reduce_sum(self._components.cdf(x) * self._choice.probs, -1)

    def _mean(self):
        return _math.reduce_sum(self._weights() * self._components.mean(),
                                axis=self._axis())

    def _variance(self):
        mean = _array.expand_dims(self._mean(), self._axis())
        around = self._components.variance() + _math.square(
            self._components.mean() - mean)
        return _math.reduce_sum(self._weights() * around, axis=self._axis())


class Mixture(Distribution):
    """One of the distributions of the list `components`, of one type and one
    shape, which `cat`, a Categorical, chooses."""

    def __init__(self, cat, components, validate_args=False,
                 allow_nan_stats=True, use_static_graph=False, name="Mixture"):
        parameters = dict(cat=cat, components=components,
                          validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats,
                          use_static_graph=use_static_graph, name=name)
        if not hasattr(cat, "logits"):
            raise TypeError("cat must be a Categorical distribution, but saw: %s"
                            % cat)
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if any(c.dtype != components[0].dtype for c in components):
            raise TypeError("All components must have the same dtype, got %s"
                            % [c.dtype.name for c in components])
        if cat.logits.get_shape()[-1:].as_list() not in ([len(components)], [None]):
            raise ValueError(
                "cat.num_classes != len(components): %s vs. %d"
                % (cat.logits.get_shape()[-1:], len(components)))
        self._cat = cat
        self._components = list(components)
        super().__init__(components[0].dtype, NOT_REPARAMETERIZED,
                         validate_args, allow_nan_stats, parameters, name=name)

    cat = property(lambda self: self._cat)
    components = property(lambda self: self._components)
    num_components = property(lambda self: len(self._components))

    def _batch_shape(self):
        return self._cat.batch_shape

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _event_shape(self):
        return self._components[0].event_shape

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _sum(self, weights, values):
        """Of the values of each component, times its weight [..., component]."""
        total = None
        for i, value in enumerate(values):
            weight = weights[..., i]
            for _ in range(self.event_shape.ndims):
                weight = column(weight)
            total = weight * value if total is None else total + weight * value
        return total

    def _sample_n(self, n, seed=None):
        chosen = _array.one_hot(self._cat.sample(n, seed=seed),
                                len(self._components), dtype=self.dtype)
        return self._sum(chosen, [
            c.sample(n, seed=new_seed(seed, "mixture%d" % i))
            for i, c in enumerate(self._components)])

    def _log_prob(self, x):
        logs = _array.stack([c.log_prob(x) for c in self._components], axis=-1)
        return _math.reduce_logsumexp(logs + _math.log(self._cat.probs), axis=-1)

    def _cdf(self, x):
        each = _array.stack([c.cdf(x) for c in self._components], axis=-1)
        return _math.reduce_sum(each * self._cat.probs, axis=-1)

    def _mean(self):
        return self._sum(self._cat.probs, [c.mean() for c in self._components])

    def _variance(self):
        mean = self._mean()
        return self._sum(self._cat.probs, [
            c.variance() + _math.square(c.mean() - mean)
            for c in self._components])


@RegisterKL(MultivariateNormalTriL, MultivariateNormalTriL)
def _tril_tril(p, q, name=None):
    with name_scope(name, "kl_mvn"):
        size = _array.shape(p._tril)[-1]
        k = _math.cast(size, p.dtype)
        batch = _array.broadcast_dynamic_shape(p._whole_shape(), q._whole_shape())
        square = _array.concat([batch, [size]], 0)
        tril = _array.broadcast_to(q._tril, square)
        ratio = _raw.MatrixTriangularSolve(tril, _array.broadcast_to(p._tril, square))
        shift = _raw.MatrixTriangularSolve(tril, column(_array.broadcast_to(
            q.loc - p.loc, batch)))
        return (q._log_volume() - p._log_volume() + 0.5 * (
            _math.reduce_sum(_math.square(ratio), [-2, -1])
            + _math.reduce_sum(_math.square(shift), [-2, -1]) - k))
