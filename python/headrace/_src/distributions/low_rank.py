"""tf.contrib.distributions: normal vectors whose scale is a diagonal matrix and
one of low rank."""
import math

from headrace._src.distributions.distribution import FULLY_REPARAMETERIZED
from headrace._src.distributions.distributions import NormalVectors
from headrace._src.distributions.parametric import column, without_last
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.math.linear_operators import (
    LinearOperatorDiag, LinearOperatorLowRankUpdate)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


class MultivariateNormalDiagPlusLowRank(NormalVectors):
    """Vectors loc + scale z, of standard normal z. scale is a diagonal matrix,
    scale_diag + scale_identity_multiplier (1 if neither is given), plus
    scale_perturb_factor [..., k, r] times the diagonal matrix of
    scale_perturb_diag [..., r] (by default ones) times its transpose. loc is 0
    by default. ValueError if no argument tells k."""

    def __init__(self, loc=None, scale_diag=None,
                 scale_identity_multiplier=None, scale_perturb_factor=None,
                 scale_perturb_diag=None, validate_args=False,
                 allow_nan_stats=True,
                 name="MultivariateNormalDiagPlusLowRank"):
        parameters = dict(
            loc=loc, scale_diag=scale_diag,
            scale_identity_multiplier=scale_identity_multiplier,
            scale_perturb_factor=scale_perturb_factor,
            scale_perturb_diag=scale_perturb_diag, validate_args=validate_args,
            allow_nan_stats=allow_nan_stats, name=name)
        vectors = [x for x in (loc, scale_diag) if x is not None]
        if not vectors and scale_perturb_factor is None:
            raise ValueError("MultivariateNormalDiagPlusLowRank: one of loc, "
                             "scale_diag and scale_perturb_factor must be given")
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("MultivariateNormalDiagPlusLowRank: "
                             "scale_perturb_diag is of scale_perturb_factor, "
                             "which is not given")
        with name_scope(name, values=[
                loc, scale_diag, scale_identity_multiplier,
                scale_perturb_factor, scale_perturb_diag]) as name:
            given = convert_to_tensor(
                vectors[0] if vectors else scale_perturb_factor)
            kind = given.dtype.base_dtype
            like = given if vectors else given[..., 0]
            diagonal = (None if scale_diag is None else convert_to_tensor(
                scale_diag, dtype=kind, name="scale_diag"))
            if scale_identity_multiplier is not None:
                factor = column(convert_to_tensor(
                    scale_identity_multiplier, dtype=kind,
                    name="scale_identity_multiplier"))
                diagonal = factor + (_array.zeros(
                    _array.shape(like)[-1:], kind) if diagonal is None
                    else diagonal)
            elif diagonal is None:
                diagonal = _array.ones(_array.shape(like)[-1:], kind)
            self._scale = LinearOperatorDiag(diagonal, is_non_singular=True)
            if scale_perturb_factor is not None:
                self._scale = LinearOperatorLowRankUpdate(
                    self._scale, convert_to_tensor(
                        scale_perturb_factor, dtype=kind,
                        name="scale_perturb_factor"),
                    None if scale_perturb_diag is None else convert_to_tensor(
                        scale_perturb_diag, dtype=kind,
                        name="scale_perturb_diag"),
                    is_non_singular=True, is_self_adjoint=True, is_square=True)
            self._loc = None if loc is None else convert_to_tensor(
                loc, dtype=kind, name="loc")
        self._shape = without_last(self._scale.shape)
        if self._loc is not None:
            self._shape = _array.broadcast_static_shape(
                self._shape, self._loc.get_shape())
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters, name=name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _whole_shape(self):
        shape = self._scale.shape_tensor()[:-1]
        return shape if self._loc is None else _array.broadcast_dynamic_shape(
            _array.shape(self._loc), shape)

    def _batch_shape(self):
        return without_last(self._shape)

    def _event_shape(self):
        return [None] if self._shape.ndims is None else self._shape[-1:]

    def _event_shape_tensor(self):
        return self._scale.shape_tensor()[-1:]

    def _batch_shape_tensor(self):
        return self._whole_shape()[:-1]

    def _moved(self, x):
        return x if self._loc is None else x + self._loc

    def _sample_n(self, n, seed=None):
        z = _random.random_normal(
            _array.concat([[n], self._whole_shape()], 0), dtype=self.dtype,
            seed=seed)
        return self._moved(self._scale.matvec(z))

    def _log_prob(self, x):
        z = self._scale.solvevec(x if self._loc is None else x - self._loc)
        return (-0.5 * _math.reduce_sum(_math.square(z), -1)
                - self._log_volume())

    def _log_volume(self):
        """log of (2 pi)^(k/2) and the determinant."""
        k = _math.cast(self._scale.domain_dimension_tensor(), self.dtype)
        return (self._scale.log_abs_determinant()
                + 0.5 * math.log(2. * math.pi) * k)

    def _entropy(self):
        k = _math.cast(self._scale.domain_dimension_tensor(), self.dtype)
        return _array.broadcast_to(0.5 * k + self._log_volume(),
                                   self._batch_shape_tensor())

    def _mean(self):
        return self._moved(_array.zeros(self._whole_shape(), self.dtype))

    _mode = _mean

    def _covariance(self):
        dense = self._scale.to_dense()
        return _math.matmul(dense, dense, adjoint_b=True)

    def _variance(self):
        return _math.reduce_sum(_math.square(self._scale.to_dense()), -1)
