"""tensorflow.contrib.distributions.python.ops.test_util: what samples of a
distribution say of its probabilities and moments. For classes that are test
cases as well."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.check_ops import assert_same_float_dtype
from headrace._src.math import linalg_ops as _linalg
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _outer(x):
    return _math.matmul(x[..., None], x[..., None], transpose_b=True)


class DiscreteScalarDistributionTestHelpers:
    """Assertions about distributions of integers."""

    def run_test_sample_consistent_log_prob(
            self, sess_run_fn, dist, num_samples=int(1e5), num_threshold=1000,
            seed=42, batch_size=None, rtol=1e-2, atol=0.):
        """The shares of the samples are near the probabilities, for numbers
        that are drawn num_threshold times or more.

        Args:
          sess_run_fn: Session.run, or the like.
          batch_size: how many distributions dist has; by default it is asked.
        """
        if not dist.batch_shape.is_fully_defined() and batch_size is None:
            batch_size = sess_run_fn(_math.reduce_prod(
                dist.batch_shape_tensor()))
        batch_size = batch_size or int(np.prod(dist.batch_shape.as_list(),
                                               dtype=np.int64))
        samples = sess_run_fn(dist.sample(num_samples, seed=seed))
        samples = np.reshape(samples, [num_samples, batch_size])
        tested = 0
        for i in range(batch_size):
            values, counts = np.unique(samples[:, i], return_counts=True)
            often = counts >= num_threshold
            tested += int(often.any())
            if not often.any():
                continue
            wide = np.repeat(values[often, None], batch_size, 1).reshape(
                [-1] + dist.batch_shape.as_list())
            probability = np.reshape(
                sess_run_fn(dist.prob(wide.astype(samples.dtype))),
                [-1, batch_size])[:, i]
            self.assertAllClose(counts[often] / float(num_samples), probability,
                                rtol=rtol, atol=atol)
        self.assertGreater(tested, 0)

    def run_test_sample_consistent_mean_variance(
            self, sess_run_fn, dist, num_samples=int(1e5), seed=24, rtol=1e-2,
            atol=0.):
        """The moments of the samples are near mean(), variance() and
        stddev()."""
        samples = _math.cast(dist.sample(num_samples, seed=seed), "float32")
        mean = _math.reduce_mean(samples, 0)
        variance = _math.reduce_mean(_math.square(samples - mean), 0)
        found = sess_run_fn([mean, variance, _math.sqrt(variance),
                             dist.mean(), dist.variance(), dist.stddev()])
        for sampled, exact in zip(found[:3], found[3:]):
            self.assertAllClose(sampled, exact, rtol=rtol, atol=atol)


class VectorDistributionTestHelpers:
    """Assertions about distributions of vectors."""

    def run_test_sample_consistent_log_prob(
            self, sess_run_fn, dist, num_samples=int(1e5), radius=1., center=0.,
            seed=42, rtol=1e-2, atol=0.):
        """The mean of 1 / prob over the samples within `radius` of `center` is
        near the volume of that ball."""
        samples = dist.sample(num_samples, seed=seed)
        assert_same_float_dtype([samples])
        size = dist.event_shape_tensor()[-1]
        near = _math.reduce_sum(_math.square(samples - center), -1) < radius**2
        inverse = _math.exp(-dist.log_prob(samples))
        mean = _math.reduce_mean(
            _array.where(near, inverse, _array.zeros_like(inverse)), 0)
        half = _math.cast(size, mean.dtype.base_dtype) / 2.
        volume = _math.exp(half * np.log(np.pi * radius**2)
                           - _raw.Lgamma(x=1. + half))
        found, wanted = sess_run_fn([mean, volume])
        self.assertAllClose(found, np.broadcast_to(wanted, np.shape(found)),
                            rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_covariance(
            self, sess_run_fn, dist, num_samples=int(1e5), seed=24, rtol=1e-2,
            atol=0.1, cov_rtol=None, cov_atol=None):
        """The moments of the samples are near mean(), covariance(), variance()
        and stddev()."""
        samples = dist.sample(num_samples, seed=seed)
        mean = _math.reduce_mean(samples, 0)
        covariance = _math.reduce_mean(_outer(samples - mean), 0)
        variance = _linalg.matrix_diag_part(covariance)
        found = sess_run_fn([
            mean, covariance, variance, _math.sqrt(variance), dist.mean(),
            dist.covariance(), dist.variance(), dist.stddev()])
        self.assertAllClose(found[0], found[4], rtol=rtol, atol=atol)
        for sampled, exact in zip(found[1:4], found[5:]):
            self.assertAllClose(sampled, exact, rtol=cov_rtol or rtol,
                                atol=cov_atol or atol)
