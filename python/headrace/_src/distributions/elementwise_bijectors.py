"""tf.contrib.distributions.bijectors: the functions of single numbers."""
import math

from headrace import raw_ops as _raw
from headrace._src.distributions.bijectors import Bijector, parameter
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class _Elementwise(Bijector):
    def __init__(self, validate_args, name, graph_parents=(), **kwargs):
        super().__init__(graph_parents=[p for p in graph_parents
                                        if p is not None],
                         forward_min_event_ndims=0,
                         validate_args=validate_args, name=name, **kwargs)


class AffineScalar(_Elementwise):
    """y = scale x + shift; each is left away by default."""

    def __init__(self, shift=None, scale=None, validate_args=False,
                 name="affine_scalar"):
        self._shift = parameter(shift, "shift")
        self._scale = parameter(scale, "scale", self._shift)
        super().__init__(validate_args, name, [self._shift, self._scale],
                         is_constant_jacobian=True)

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        y = x if self._scale is None else x * self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x):
        if self._scale is None:
            return convert_to_tensor(0., dtype=x.dtype.base_dtype)
        return _math.log(_math.abs(self._scale))


class PowerTransform(_Elementwise):
    """y = (1 + power x)^(1 / power), or exp(x) for power 0. ValueError for a
    negative one."""

    def __init__(self, power=0., validate_args=False, name="power_transform"):
        if power is None or power < 0:
            raise ValueError("`power` must be a non-negative TF 'float' "
                             "constant, got %r" % (power,))
        self._power = float(power)
        super().__init__(validate_args, name)

    power = property(lambda self: self._power)

    def _forward(self, x):
        if not self._power:
            return _math.exp(x)
        return _math.exp(_raw.Log1p(x * self._power) / self._power)

    def _inverse(self, y):
        if not self._power:
            return _math.log(y)
        return _raw.Expm1(_math.log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y):
        return (self._power - 1.) * _math.log(y)

    def _forward_log_det_jacobian(self, x):
        if not self._power:
            return x
        return (1. / self._power - 1.) * _raw.Log1p(x * self._power)


class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)


class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return _math.sigmoid(x)

    def _inverse(self, y):
        return _math.log(y) - _raw.Log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -_raw.Log1p(-y) - _math.log(y)

    def _forward_log_det_jacobian(self, x):
        return -_raw.Softplus(-x) - _raw.Softplus(x)


class Softplus(_Elementwise):
    """y = hinge_softness log(1 + exp(x / hinge_softness)), by default with
    1."""

    def __init__(self, hinge_softness=None, validate_args=False,
                 name="softplus"):
        self._softness = parameter(hinge_softness, "hinge_softness")
        super().__init__(validate_args, name, [self._softness])

    hinge_softness = property(lambda self: self._softness)

    def _softened(self, x):
        return x if self._softness is None else x / self._softness

    def _forward(self, x):
        y = _raw.Softplus(self._softened(x))
        return y if self._softness is None else y * self._softness

    def _inverse(self, y):
        y = self._softened(y)
        x = y + _math.log(-_raw.Expm1(-y))
        return x if self._softness is None else x * self._softness

    def _inverse_log_det_jacobian(self, y):
        return -_math.log(-_raw.Expm1(-self._softened(y)))

    def _forward_log_det_jacobian(self, x):
        return -_raw.Softplus(-self._softened(x))


class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return x / (1. + _math.abs(x))

    def _inverse(self, y):
        return y / (1. - _math.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2. * _raw.Log1p(_math.abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2. * _raw.Log1p(-_math.abs(y))


class Square(_Elementwise):
    """y = x^2, of positive x."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return _math.square(x)

    def _inverse(self, y):
        return _math.sqrt(y)

    def _forward_log_det_jacobian(self, x):
        return math.log(2.) + _math.log(x)


class AbsoluteValue(_Elementwise):
    """y = |x|; the inverse is the two (-y, y). Events are single numbers."""

    _is_injective = False

    def __init__(self, validate_args=False, name="absolute_value"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    def _event_ndims(self, event_ndims, least):
        if event_ndims != 0:
            raise ValueError("absolute_value: event_ndims must be 0, got %s"
                             % (event_ndims,))
        return 0

    def _forward(self, x):
        return _math.abs(x)

    def _inverse(self, y):
        return -y, y

    def inverse_log_det_jacobian(self, y, event_ndims,
                                 name="inverse_log_det_jacobian"):
        """Zero for each of the two."""
        with self._scope(name, [y]):
            zero = _array.zeros([], dtype=self._argument(y, "y").dtype)
            self._event_ndims(event_ndims, 0)
            return zero, zero


class Gumbel(_Elementwise):
    """y = exp(-exp(-(x - loc) / scale))."""

    def __init__(self, loc=0., scale=1., validate_args=False, name="gumbel"):
        self._loc = parameter(loc, "loc")
        self._scale = parameter(scale, "scale", self._loc)
        super().__init__(validate_args, name, [self._loc, self._scale])

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        return _math.exp(-_math.exp(-(x - self._loc) / self._scale))

    def _inverse(self, y):
        return self._loc - self._scale * _math.log(-_math.log(y))

    def _inverse_log_det_jacobian(self, y):
        return _math.log(self._scale / (-_math.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self._loc) / self._scale
        return -z - _math.exp(-z) - _math.log(self._scale)


class Kumaraswamy(_Elementwise):
    """y = (1 - (1 - x)^(1 / concentration0))^(1 / concentration1)."""

    def __init__(self, concentration1=None, concentration0=None,
                 validate_args=False, name="kumaraswamy"):
        self._a = parameter(1. if concentration1 is None else concentration1,
                            "concentration1")
        self._b = parameter(1. if concentration0 is None else concentration0,
                            "concentration0", self._a)
        super().__init__(validate_args, name, [self._a, self._b])

    concentration1 = property(lambda self: self._a)
    concentration0 = property(lambda self: self._b)

    def _forward(self, x):
        return _math.exp(
            _raw.Log1p(-_math.exp(_raw.Log1p(-x) / self._b)) / self._a)

    def _inverse(self, y):
        return _math.exp(_raw.Log1p(
            -(1. - y ** self._a) ** self._b))

    def _inverse_log_det_jacobian(self, y):
        return (_math.log(self._a) + _math.log(self._b)
                + (self._a - 1.) * _math.log(y)
                + (self._b - 1.) * _raw.Log1p(-y ** self._a))


class SinhArcsinh(_Elementwise):
    """y = sinh((arcsinh(x) + skewness) tailweight); 0 and 1 by default."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False,
                 name="SinhArcsinh"):
        self._skewness = parameter(0. if skewness is None else skewness,
                                   "skewness")
        self._tailweight = parameter(1. if tailweight is None else tailweight,
                                     "tailweight", self._skewness)
        super().__init__(validate_args, name,
                         [self._skewness, self._tailweight])

    skewness = property(lambda self: self._skewness)
    tailweight = property(lambda self: self._tailweight)

    def _forward(self, x):
        return _raw.Sinh((_raw.Asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y):
        return _raw.Sinh(_raw.Asinh(y) / self._tailweight - self._skewness)

    def _forward_log_det_jacobian(self, x):
        inner = (_raw.Asinh(x) + self._skewness) * self._tailweight
        return (_math.log(_raw.Cosh(inner) / _math.sqrt(x * x + 1.))
                + _math.log(self._tailweight))

    def _inverse_log_det_jacobian(self, y):
        inner = _raw.Asinh(y) / self._tailweight - self._skewness
        return (_math.log(_raw.Cosh(inner) / _math.sqrt(y * y + 1.))
                - _math.log(self._tailweight))
