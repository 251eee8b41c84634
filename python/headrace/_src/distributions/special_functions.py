"""tensorflow.python.ops.distributions.special_math: the distribution function
of the normal distribution, its logarithm and inverse; that of Laplace."""
import math

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math

# Between these log(ndtr(x)) is precise.
_PRECISE = {dtypes.float64: (-20., 8.), dtypes.float32: (-10., 5.)}


def _floats(x, name="x"):
    x = convert_to_tensor(x, name=name)
    if x.dtype.base_dtype not in _PRECISE:
        raise TypeError("x.dtype=%s is not handled, see docstring for supported "
                        "types." % x.dtype.as_numpy_dtype)
    return x


def ndtr(x, name="ndtr"):
    """The share of the normal distribution below x, float32 or float64."""
    with name_scope(name, values=[x]):
        return _ndtr(_floats(x))


def _ndtr(x):
    half_root = 0.5 * math.sqrt(2.)
    w = x * half_root
    z = _math.abs(w)
    # Of the two, the one that does not lose digits.
    outer = _raw.SelectV2(w > 0., 2. - _raw.Erfc(z), _raw.Erfc(z))
    return 0.5 * _raw.SelectV2(z < half_root, 1. + _raw.Erf(w), outer)


def log_ndtr(x, series_order=3, name="log_ndtr"):
    """log(ndtr(x)), where ndtr(x) is close to 1 and far below 0 too: there by
    series_order terms of the asymptotic series. TypeError for an order that is
    no int, ValueError for one that is not in [0, 30]."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with name_scope(name, values=[x]):
        x = _floats(x)
        lower, upper = _PRECISE[x.dtype.base_dtype]
        # Each branch gets numbers for which its gradient is finite.
        above = -_ndtr(-_math.maximum(x, upper))
        between = _math.log(_ndtr(_math.minimum(_math.maximum(x, lower),
                                                upper)))
        far = _math.minimum(x, lower)
        square = _math.square(far)
        below = (-0.5 * square - _math.log(-far) - 0.5 * math.log(2. * math.pi)
                 + _math.log(_series(square, series_order)))
        return _raw.SelectV2(x > upper, above,
                             _raw.SelectV2(x > lower, between, below))


def _series(square, order):
    """1 - 1/x^2 + 3/x^4 - 15/x^6 ..."""
    total, term = 1., 1.
    for n in range(1, order + 1):
        term = term * -(2. * n - 1.) / square
        total = total + term
    return total if order else _raw.OnesLike(square)


def ndtri(p, name="ndtri"):
    """The inverse of ndtr."""
    with name_scope(name, values=[p]):
        return _raw.Ndtri(_floats(p, "p"))


def erfinv(x, name="erfinv"):
    """The inverse of erf."""
    with name_scope(name, values=[x]):
        return _raw.Erfinv(_floats(x))


def log_cdf_laplace(x, name="log_cdf_laplace"):
    """The logarithm of the share of the Laplace distribution below x."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        # Where x is positive the other branch would overflow.
        lower = -math.log(2.) - _math.abs(x)
        upper = _raw.Log1p(-0.5 * _math.exp(-_math.abs(x)))
        return _raw.SelectV2(x < 0., lower, upper)
