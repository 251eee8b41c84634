"""tensorflow.python.ops.distributions.bijector_test_util: assertions about
arrays and about what bijectors do."""
import numpy as np

from headrace._src.framework.default_session import get_default_session
from headrace._src.ops import math_ops as _math


def assert_finite(array):
    """AssertionError if a number is infinite or NaN."""
    if not np.isfinite(array).all():
        raise AssertionError("array was not all finite. %s" % array[:15])


def assert_strictly_increasing(array):
    np.testing.assert_array_less(0., np.diff(array))


def assert_strictly_decreasing(array):
    np.testing.assert_array_less(np.diff(array), 0.)


def assert_strictly_monotonic(array):
    """AssertionError unless all of a vector rises, or all of it falls."""
    if array[0] < array[-1]:
        assert_strictly_increasing(array)
    else:
        assert_strictly_decreasing(array)


def _run(sess, tensors):
    return (sess or get_default_session()).run(tensors)


def assert_scalar_congruency(bijector, lower_x, upper_x, n=10000, rtol=0.01,
                             sess=None):
    """AssertionError unless a bijector of numbers and its inverse are monotonic
    from lower_x to upper_x, undo each other, and have the derivatives that they
    say.

    Args:
      n: how many points.
      rtol: relative tolerance of the lengths that the derivatives add up to.
      sess: a session; the default one if None.
    """
    ends = _run(sess, bijector.forward([lower_x, upper_x]))
    low, high = sorted(float(end) for end in ends)
    xs = np.linspace(lower_x, upper_x, n).astype(np.float32)
    ys = np.linspace(low, high, n).astype(np.float32)
    forward, inverse, slope_x, slope_y = _run(sess, [
        bijector.forward(xs), bijector.inverse(ys),
        _math.exp(bijector.forward_log_det_jacobian(xs, event_ndims=0)),
        _math.exp(bijector.inverse_log_det_jacobian(ys, event_ndims=0))])
    # Of arrays: a bijector remembers the tensors that it made.
    there, back = _run(sess, [bijector.inverse(forward),
                              bijector.forward(inverse)])
    assert_strictly_monotonic(forward)
    assert_strictly_monotonic(inverse)
    np.testing.assert_allclose(there, xs, atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(back, ys, atol=1e-5, rtol=1e-3)
    # The integral of a slope is the length of the other side.
    np.testing.assert_allclose(np.mean(slope_x) * (upper_x - lower_x),
                               high - low, rtol=rtol)
    np.testing.assert_allclose(np.mean(slope_y) * (high - low),
                               upper_x - lower_x, rtol=rtol)


def assert_bijective_and_finite(bijector, x, y, event_ndims, atol=0, rtol=1e-5,
                                sess=None):
    """AssertionError unless forward of x and inverse of y are finite, undo each
    other, and have log determinants that are finite and opposite."""
    forward, inverse, log_x, log_y = _run(sess, [
        bijector.forward(x), bijector.inverse(y),
        bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
        bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims)])
    # Of arrays: a bijector remembers the tensors that it made.
    there, back, log_back, log_there = _run(sess, [
        bijector.inverse(forward), bijector.forward(inverse),
        bijector.inverse_log_det_jacobian(forward, event_ndims=event_ndims),
        bijector.forward_log_det_jacobian(inverse, event_ndims=event_ndims)])
    for array in (there, back, forward, inverse, log_x, log_y):
        assert_finite(np.asarray(array))
    for found, wanted in ((there, x), (back, y), (-log_back, log_x),
                          (-log_there, log_y)):
        np.testing.assert_allclose(found, wanted, atol=atol, rtol=rtol)
