"""tf.contrib.distributions.TransformedDistribution."""
from headrace._src.distributions.bijectors import Chain
from headrace._src.distributions.distribution import Distribution
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class TransformedDistribution(Distribution):
    """The distribution of bijector.forward(x), x of `distribution`; by default
    the bijector is the identity. batch_shape makes a batch of a distribution
    without one; event_shape makes vectors of independent numbers. ValueError
    for a batch_shape of a distribution that has a batch, for an event_shape of
    one that has no scalar events, and for shapes that are not known."""

    def __init__(self, distribution, bijector=None, batch_shape=None,
                 event_shape=None, validate_args=False, name=None):
        parameters = dict(distribution=distribution, bijector=bijector,
                          batch_shape=batch_shape, event_shape=event_shape,
                          validate_args=validate_args, name=name)
        self._distribution = distribution
        self._bijector = Chain() if bijector is None else bijector
        self._batch = self._override(
            "batch", batch_shape, distribution.batch_shape)
        self._event = self._override(
            "event", event_shape, distribution.event_shape)
        if not self._bijector._is_injective:
            raise NotImplementedError(
                "TransformedDistribution: the bijector %s has several inverses"
                % self._bijector.name)
        name = name or self._bijector.name + distribution.name.rstrip("/")
        with name_scope(name) as name:
            pass
        super().__init__(distribution.dtype,
                         distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, name=name)

    distribution = property(lambda self: self._distribution)
    bijector = property(lambda self: self._bijector)

    @staticmethod
    def _override(what, shape, base):
        if shape is None:
            return []
        shape = TensorShape(shape)
        if not shape.is_fully_defined():
            raise ValueError("TransformedDistribution: %s_shape must be known, "
                             "got %s" % (what, shape))
        if shape.ndims and base.ndims != 0:
            raise ValueError("TransformedDistribution: %s_shape is given, so "
                             "the base distribution must be scalar, got %s"
                             % (what, base))
        return shape.as_list()

    def _batch_shape(self):
        return self._batch or self._distribution.batch_shape

    def _base_event_shape(self):
        return TensorShape(self._event or self._distribution.event_shape)

    def _event_shape(self):
        return self._bijector.forward_event_shape(self._base_event_shape())

    def _event_shape_tensor(self):
        return self._bijector.forward_event_shape_tensor(
            convert_to_tensor(self._event, dtype=dtypes.int32) if self._event
            else self._distribution.event_shape_tensor())

    def _batch_shape_tensor(self):
        return self._distribution.batch_shape_tensor()

    def _rank(self):
        rank = self.event_shape.ndims
        if rank is None:
            raise ValueError("%s: the rank of the event is not known"
                             % self.name)
        return rank

    def _sample_n(self, n, seed=None):
        n = _array.reshape(n, [1])
        sizes = self._batch + self._event
        base = self._distribution.batch_shape.ndims
        if self._event and base != 0:
            x = self._distribution.sample(
                _array.concat([self._event, n], 0), seed=seed)
            rank, count = _array.rank(x), len(self._event)
            x = _array.transpose(x, _array.concat(
                [_math.range(count, rank), _math.range(count)], 0))
        else:
            x = self._distribution.sample(
                _array.concat([n, sizes], 0) if sizes else n, seed=seed)
        known = TensorShape([None]).concatenate(self.batch_shape)
        x.set_shape(known.concatenate(self._base_event_shape()))
        return self._bijector.forward(x)

    def _base_log_prob(self, x):
        found = self._distribution.log_prob(x)
        if not self._event:
            return found
        return _math.reduce_sum(found,
                                axis=list(range(-len(self._event), 0)))

    def _log_prob(self, value):
        if self._event and self._distribution.batch_shape.ndims != 0:
            raise NotImplementedError(
                "%s: log_prob with an event_shape needs a distribution "
                "without a batch" % self.name)
        x = self._bijector.inverse(value)
        return self._base_log_prob(x) + (
            self._bijector.inverse_log_det_jacobian(value, self._rank()))

    def _scalar(self, what):
        if self._rank():
            raise NotImplementedError(what + " is not implemented for "
                                      "multivariate TransformedDistribution")

    def _cdf(self, value):
        self._scalar("cdf")
        return self._distribution.cdf(self._bijector.inverse(value))

    def _quantile(self, value):
        self._scalar("quantile")
        return self._bijector.forward(self._distribution.quantile(value))

    def _constant(self, what):
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError(what + " is only implemented for "
                                      "bijectors with a constant Jacobian")

    def _mean(self):
        self._constant("mean")
        x = self._distribution.mean()
        if self._batch or self._event:
            base = self._distribution.batch_shape.ndims
            if self._event and base != 0:
                self._missing("mean")
            x = _array.fill(self._batch + self._event, x) if (
                self._distribution.event_shape.ndims == 0) else _array.tile(
                    _array.reshape(x, _array.concat(
                        [[1] * len(self._batch), _array.shape(x)], 0)),
                    self._batch + [1] * self._distribution.event_shape.ndims)
        return self._bijector.forward(x)

    def _entropy(self):
        self._constant("entropy")
        found = self._distribution.entropy()
        for size in self._event:
            found *= float(size)
        if self._batch:
            found += _array.zeros(self._batch, dtype=found.dtype.base_dtype)
        at = _array.zeros(_array.concat(
            [self.batch_shape_tensor(), self.event_shape_tensor()], 0),
            dtype=self.dtype)
        return found - self._bijector.inverse_log_det_jacobian(
            at, self._rank())
