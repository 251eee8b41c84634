"""tf.contrib.distributions.Independent."""
from headrace._src.distributions.distribution import (
    Distribution, RegisterKL, kl_divergence)
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class Independent(Distribution):
    """A distribution whose last `reinterpreted_batch_ndims` batch dimensions
    are part of the event: log_prob and entropy add over them. By default all
    but the first. ValueError for more dimensions than the batch has, or if its
    rank is needed and not known."""

    def __init__(self, distribution, reinterpreted_batch_ndims=None,
                 validate_args=False, name=None):
        parameters = dict(distribution=distribution,
                          reinterpreted_batch_ndims=reinterpreted_batch_ndims,
                          validate_args=validate_args, name=name)
        rank = distribution.batch_shape.ndims
        count = reinterpreted_batch_ndims
        if count is None:
            if rank is None:
                raise ValueError("Independent: reinterpreted_batch_ndims must "
                                 "be given, since the rank of the batch of %s "
                                 "is not known" % distribution.name)
            count = max(0, rank - 1)
        if count < 0 or (rank is not None and count > rank):
            raise ValueError("reinterpreted_batch_ndims(%d) cannot exceed "
                             "distribution.batch_ndims(%s)" % (count, rank))
        with name_scope(name or "Independent" + distribution.name) as name:
            pass
        self._distribution = distribution
        self._count = int(count)
        super().__init__(distribution.dtype,
                         distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, name=name)

    distribution = property(lambda self: self._distribution)
    reinterpreted_batch_ndims = property(lambda self: self._count)

    def _batch_shape(self):
        shape = self._distribution.batch_shape
        return shape if shape.ndims is None else (
            shape[:shape.ndims - self._count])

    def _event_shape(self):
        shape = self._distribution.batch_shape
        if shape.ndims is None:
            return TensorShape(None)
        return shape[shape.ndims - self._count:].concatenate(
            self._distribution.event_shape)

    def _event_shape_tensor(self):
        whole = self._distribution.batch_shape_tensor()
        inner = self._distribution.event_shape_tensor()
        return _array.concat([whole[-self._count:], inner], 0) if (
            self._count) else inner

    def _batch_shape_tensor(self):
        whole = self._distribution.batch_shape_tensor()
        return whole[:-self._count] if self._count else whole

    def _sample_n(self, n, seed=None):
        return self._distribution._sample_n(n, seed)

    def _added(self, each):
        """The sum over what became part of the event: the last dimensions, as
        `each` has one number for each of the distribution's events."""
        if not self._count:
            return each
        return _math.reduce_sum(each, axis=list(range(-self._count, 0)))

    def _log_prob(self, value):
        return self._added(self._distribution.log_prob(value))

    def _entropy(self):
        return self._added(self._distribution.entropy())

    def _mean(self):
        return self._distribution.mean()

    def _variance(self):
        return self._distribution.variance()

    def _stddev(self):
        return self._distribution.stddev()

    def _mode(self):
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _independent_independent(a, b, name=None):
    if a.event_shape != b.event_shape or (
            a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims):
        raise NotImplementedError(
            "KL between Independents with different event shapes not "
            "supported: %s and %s" % (a.event_shape, b.event_shape))
    with name_scope(name, "kl_independent"):
        return a._added(kl_divergence(a.distribution, b.distribution))
