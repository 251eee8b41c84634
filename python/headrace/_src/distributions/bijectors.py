"""tf.contrib.distributions.bijectors: functions with an inverse, and the
logarithms of the sizes of their Jacobians' determinants."""
import contextlib

from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import Tensor, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class Bijector:
    """A function `forward`, its `inverse`, and the logarithm of the size of the
    determinant of the Jacobian of each.

    Classes that derive have `_forward(x)`, `_inverse(y)`, and one of
    `_forward_log_det_jacobian(x)` and `_inverse_log_det_jacobian(y)`: one
    number for an event of forward_min_event_ndims (inverse_min_event_ndims)
    dimensions. What forward or inverse gave is remembered by its tensor.
    ValueError if neither number of dimensions is given, or one is no count."""

    _is_injective = True

    def __init__(self, graph_parents=None, is_constant_jacobian=False,
                 validate_args=False, dtype=None, forward_min_event_ndims=None,
                 inverse_min_event_ndims=None, name=None):
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of "
                             "`forward_min_event_ndims` and "
                             "`inverse_min_event_ndims`.")
        if forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        if inverse_min_event_ndims is None:
            inverse_min_event_ndims = forward_min_event_ndims
        for count in (forward_min_event_ndims, inverse_min_event_ndims):
            if int(count) != count or count < 0:
                raise ValueError("min_event_ndims must be a non-negative "
                                 "integer, got %r" % (count,))
        self._graph_parents = list(graph_parents or [])
        if any(parent is None for parent in self._graph_parents):
            raise ValueError("Graph parents must be tensors, got None")
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._forward_min = int(forward_min_event_ndims)
        self._inverse_min = int(inverse_min_event_ndims)
        self._name = name or _snake(type(self).__name__)
        self._inverses: dict = {}  # by id: (y, x)
        self._forwards: dict = {}  # by id: (x, y)

    graph_parents = property(lambda self: self._graph_parents)
    forward_min_event_ndims = property(lambda self: self._forward_min)
    inverse_min_event_ndims = property(lambda self: self._inverse_min)
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian)
    validate_args = property(lambda self: self._validate_args)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)

    @contextlib.contextmanager
    def _scope(self, name, values=()):
        with name_scope(self.name), name_scope(name, values=list(values)):
            yield

    def _missing(self, what):
        raise NotImplementedError("%s not implemented: %s"
                                  % (what, type(self).__name__))

    def _has(self, method):
        return getattr(type(self), method) is not getattr(Bijector, method)

    def _argument(self, value, name):
        value = convert_to_tensor(value, name=name, preferred_dtype=self.dtype)
        if self.dtype is not None and value.dtype.base_dtype != self.dtype:
            raise TypeError("Input had dtype %s but expected %s."
                            % (value.dtype.name, self.dtype.name))
        return value

    # Shapes.

    def forward_event_shape(self, input_shape):
        """What is known of the shape of forward's event."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def _forward_event_shape(self, input_shape):
        return input_shape

    def forward_event_shape_tensor(self, input_shape,
                                   name="forward_event_shape_tensor"):
        """int32: the shape of forward's event."""
        with self._scope(name, [input_shape]):
            return self._forward_event_shape_tensor(
                convert_to_tensor(input_shape, dtype="int32"))

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape

    def inverse_event_shape(self, output_shape):
        """What is known of the shape of inverse's event."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def _inverse_event_shape(self, output_shape):
        return output_shape

    def inverse_event_shape_tensor(self, output_shape,
                                   name="inverse_event_shape_tensor"):
        """int32: the shape of inverse's event."""
        with self._scope(name, [output_shape]):
            return self._inverse_event_shape_tensor(
                convert_to_tensor(output_shape, dtype="int32"))

    def _inverse_event_shape_tensor(self, output_shape):
        return output_shape

    # The function and its inverse.

    def forward(self, x, name="forward"):
        """The function of x."""
        with self._scope(name, [x]):
            return self._call_forward(self._argument(x, "x"))

    def _call_forward(self, x, **kwargs):
        if not kwargs and id(x) in self._forwards:
            return self._forwards[id(x)][1]
        y = self._forward(x, **kwargs)
        if not kwargs and isinstance(y, Tensor):
            self._remember(x, y)
        return y

    def _forward(self, x):
        self._missing("forward")

    def inverse(self, y, name="inverse"):
        """What forward takes to y."""
        with self._scope(name, [y]):
            return self._call_inverse(self._argument(y, "y"))

    def _call_inverse(self, y, **kwargs):
        if not kwargs and id(y) in self._inverses:
            return self._inverses[id(y)][1]
        x = self._inverse(y, **kwargs)
        if not kwargs and isinstance(x, Tensor):
            self._remember(x, y)
        return x

    def _inverse(self, y):
        self._missing("inverse")

    def _remember(self, x, y):
        self._forwards[id(x)] = (x, y)
        self._inverses[id(y)] = (y, x)

    # Jacobians.

    def forward_log_det_jacobian(self, x, event_ndims,
                                 name="forward_log_det_jacobian"):
        """The logarithm of the size of the determinant of forward's Jacobian
        at x, whose last event_ndims dimensions are an event. ValueError for
        fewer than forward_min_event_ndims."""
        with self._scope(name, [x]):
            x = self._argument(x, "x")
            count = self._event_ndims(event_ndims, self._forward_min)
            if self._has("_forward_log_det_jacobian"):
                return self._reduced(self._forward_log_det_jacobian(x), x,
                                     self._forward_min, count)
            if self._has("_inverse_log_det_jacobian"):
                y = self._call_forward(x)
                return -self._reduced(
                    self._inverse_log_det_jacobian(y), y, self._inverse_min,
                    count + self._inverse_min - self._forward_min)
            self._missing("forward_log_det_jacobian")

    def _forward_log_det_jacobian(self, x):
        self._missing("forward_log_det_jacobian")

    def inverse_log_det_jacobian(self, y, event_ndims,
                                 name="inverse_log_det_jacobian"):
        """forward_log_det_jacobian of the inverse, at y. ValueError for fewer
        than inverse_min_event_ndims."""
        with self._scope(name, [y]):
            y = self._argument(y, "y")
            count = self._event_ndims(event_ndims, self._inverse_min)
            if self._has("_inverse_log_det_jacobian"):
                return self._reduced(self._inverse_log_det_jacobian(y), y,
                                     self._inverse_min, count)
            if self._has("_forward_log_det_jacobian"):
                x = self._call_inverse(y)
                return -self._reduced(
                    self._forward_log_det_jacobian(x), x, self._forward_min,
                    count + self._forward_min - self._inverse_min)
            self._missing("inverse_log_det_jacobian")

    def _inverse_log_det_jacobian(self, y):
        self._missing("inverse_log_det_jacobian")

    def _event_ndims(self, event_ndims, least):
        if isinstance(event_ndims, Tensor):
            raise NotImplementedError("%s: event_ndims must be a number, got %s"
                                      % (self.name, event_ndims))
        if int(event_ndims) != event_ndims:
            raise ValueError("Expected integer, got %r" % (event_ndims,))
        if event_ndims < least:
            raise ValueError("event_ndims (%s) must be larger than "
                             "min_event_ndims (%s)" % (event_ndims, least))
        return int(event_ndims)

    def _reduced(self, jacobian, at, least, count):
        """The sum of `jacobian` over the event's dimensions, except the
        `least` that it has no more; a constant one is repeated over them."""
        if count == least:
            return jacobian
        if self._is_constant_jacobian:
            shape = at.get_shape()
            if shape.ndims is not None and (
                    shape[shape.ndims - count:].is_fully_defined()):
                sizes = shape.as_list()[shape.ndims - count:]
                sizes = sizes[:count - least]
            else:
                rank = _array.rank(at)
                sizes = _array.shape(at)[rank - count:rank - least]
            jacobian = jacobian * _array.ones(sizes, dtype=at.dtype.base_dtype)
        return _math.reduce_sum(jacobian, axis=list(range(least - count, 0)))


def _snake(name):
    return "".join("_" + c.lower() if c.isupper() and i else c.lower()
                   for i, c in enumerate(name))


class ConditionalBijector(Bijector):
    """A Bijector whose methods take further arguments by name."""

    def forward(self, x, name="forward", **condition_kwargs):
        with self._scope(name, [x]):
            return self._call_forward(self._argument(x, "x"),
                                      **condition_kwargs)

    def inverse(self, y, name="inverse", **condition_kwargs):
        with self._scope(name, [y]):
            return self._call_inverse(self._argument(y, "y"),
                                      **condition_kwargs)

    def forward_log_det_jacobian(self, x, event_ndims,
                                 name="forward_log_det_jacobian",
                                 **condition_kwargs):
        with self._scope(name, [x]):
            x = self._argument(x, "x")
            count = self._event_ndims(event_ndims, self._forward_min)
            if self._has("_forward_log_det_jacobian"):
                return self._reduced(
                    self._forward_log_det_jacobian(x, **condition_kwargs), x,
                    self._forward_min, count)
            y = self._call_forward(x, **condition_kwargs)
            return -self._reduced(
                self._inverse_log_det_jacobian(y, **condition_kwargs), y,
                self._inverse_min,
                count + self._inverse_min - self._forward_min)

    def inverse_log_det_jacobian(self, y, event_ndims,
                                 name="inverse_log_det_jacobian",
                                 **condition_kwargs):
        with self._scope(name, [y]):
            y = self._argument(y, "y")
            count = self._event_ndims(event_ndims, self._inverse_min)
            if self._has("_inverse_log_det_jacobian"):
                return self._reduced(
                    self._inverse_log_det_jacobian(y, **condition_kwargs), y,
                    self._inverse_min, count)
            x = self._call_inverse(y, **condition_kwargs)
            return -self._reduced(
                self._forward_log_det_jacobian(x, **condition_kwargs), x,
                self._forward_min,
                count + self._forward_min - self._inverse_min)


class Identity(Bijector):
    """y = x."""

    def __init__(self, validate_args=False, name="identity"):
        super().__init__(is_constant_jacobian=True, forward_min_event_ndims=0,
                         validate_args=validate_args, name=name)

    def _forward(self, x):
        return x

    def _inverse(self, y):
        return y

    def _forward_log_det_jacobian(self, x):
        return _zero(x)

    def _inverse_log_det_jacobian(self, y):
        return _zero(y)


def _zero(like):
    return convert_to_tensor(0., dtype=like.dtype.base_dtype)


class Inline(Bijector):
    """A bijector of functions that are given. NotImplementedError where one is
    needed that is not."""

    def __init__(self, forward_fn=None, inverse_fn=None,
                 inverse_log_det_jacobian_fn=None,
                 forward_log_det_jacobian_fn=None, forward_event_shape_fn=None,
                 forward_event_shape_tensor_fn=None,
                 inverse_event_shape_fn=None,
                 inverse_event_shape_tensor_fn=None,
                 is_constant_jacobian=False, validate_args=False,
                 forward_min_event_ndims=None, inverse_min_event_ndims=None,
                 name="inline"):
        super().__init__(is_constant_jacobian=is_constant_jacobian,
                         validate_args=validate_args,
                         forward_min_event_ndims=forward_min_event_ndims,
                         inverse_min_event_ndims=inverse_min_event_ndims,
                         name=name)
        self._functions = {
            "_forward": forward_fn, "_inverse": inverse_fn,
            "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "_forward_log_det_jacobian": forward_log_det_jacobian_fn}
        for method, function in [
                ("_forward_event_shape", forward_event_shape_fn),
                ("_forward_event_shape_tensor", forward_event_shape_tensor_fn),
                ("_inverse_event_shape", inverse_event_shape_fn),
                ("_inverse_event_shape_tensor",
                 inverse_event_shape_tensor_fn)]:
            if function is not None:
                setattr(self, method, function)

    def _has(self, method):
        return self._functions[method] is not None

    def _of(self, method, *args, **kwargs):
        if self._functions[method] is None:
            self._missing(method[1:])
        return self._functions[method](*args, **kwargs)

    def _forward(self, x, **kwargs):
        return self._of("_forward", x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self._of("_inverse", y, **kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self._of("_forward_log_det_jacobian", x, **kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self._of("_inverse_log_det_jacobian", y, **kwargs)


class Invert(Bijector):
    """The inverse of a bijector."""

    def __init__(self, bijector, validate_args=False, name=None):
        if not bijector._is_injective:
            raise NotImplementedError(
                "Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args, dtype=bijector.dtype,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            name=name or "_".join(["invert", bijector.name]))

    bijector = property(lambda self: self._bijector)

    def _forward_event_shape(self, shape):
        return self._bijector._inverse_event_shape(shape)

    def _forward_event_shape_tensor(self, shape):
        return self._bijector._inverse_event_shape_tensor(shape)

    def _inverse_event_shape(self, shape):
        return self._bijector._forward_event_shape(shape)

    def _inverse_event_shape_tensor(self, shape):
        return self._bijector._forward_event_shape_tensor(shape)

    def _forward(self, x, **kwargs):
        return self._bijector._call_inverse(x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self._bijector._call_forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x):
        return self._bijector.inverse_log_det_jacobian(x, self._forward_min)

    def _inverse_log_det_jacobian(self, y):
        return self._bijector.forward_log_det_jacobian(y, self._inverse_min)


class Chain(Bijector):
    """The bijectors one after another, the last one first: Chain([f, g]) is
    f(g(x)); without any the identity."""

    def __init__(self, bijectors=None, validate_args=False, name=None):
        bijectors = tuple(bijectors or ())
        for bijector in bijectors:
            if not bijector._is_injective:
                raise NotImplementedError("Invert is not implemented for "
                                          "non-injective bijector (%s)"
                                          % bijector.name)
        kinds = {b.dtype for b in bijectors} - {None}
        if len(kinds) > 1:
            raise ValueError("incompatible dtypes: %s"
                             % sorted(kind.name for kind in kinds))
        forward = inverse = 0
        for b in bijectors:
            forward = max(forward, b.inverse_min_event_ndims) + (
                b.forward_min_event_ndims - b.inverse_min_event_ndims)
        for b in reversed(bijectors):
            inverse = max(inverse, b.forward_min_event_ndims) + (
                b.inverse_min_event_ndims - b.forward_min_event_ndims)
        self._bijectors = bijectors
        super().__init__(
            graph_parents=[p for b in bijectors for p in b.graph_parents],
            is_constant_jacobian=all(b.is_constant_jacobian
                                     for b in bijectors),
            validate_args=validate_args, dtype=next(iter(kinds), None),
            forward_min_event_ndims=forward, inverse_min_event_ndims=inverse,
            name=name or ("identity" if not bijectors else "_of_".join(
                ["chain"] + [b.name for b in bijectors])))

    bijectors = property(lambda self: self._bijectors)

    def _forward_event_shape(self, shape):
        for b in reversed(self._bijectors):
            shape = b.forward_event_shape(shape)
        return shape

    def _forward_event_shape_tensor(self, shape):
        for b in reversed(self._bijectors):
            shape = b.forward_event_shape_tensor(shape)
        return shape

    def _inverse_event_shape(self, shape):
        for b in self._bijectors:
            shape = b.inverse_event_shape(shape)
        return shape

    def _inverse_event_shape_tensor(self, shape):
        for b in self._bijectors:
            shape = b.inverse_event_shape_tensor(shape)
        return shape

    def _forward(self, x, **kwargs):
        for b in reversed(self._bijectors):
            x = b.forward(x, **kwargs.get(b.name, {}))
        return x

    def _inverse(self, y, **kwargs):
        for b in self._bijectors:
            y = b.inverse(y, **kwargs.get(b.name, {}))
        return y

    def _forward_log_det_jacobian(self, x, **kwargs):
        total, count = _zero(x), self._forward_min
        for b in reversed(self._bijectors):
            own = kwargs.get(b.name, {})
            total += b.forward_log_det_jacobian(x, count, **own)
            count += b.inverse_min_event_ndims - b.forward_min_event_ndims
            x = b.forward(x, **own)
        return total

    def _inverse_log_det_jacobian(self, y, **kwargs):
        total, count = _zero(y), self._inverse_min
        for b in self._bijectors:
            own = kwargs.get(b.name, {})
            total += b.inverse_log_det_jacobian(y, count, **own)
            count += b.forward_min_event_ndims - b.inverse_min_event_ndims
            y = b.inverse(y, **own)
        return total


def parameter(value, name, like=None):
    """A bijector's parameter as a tensor, or None."""
    if value is None:
        return None
    with name_scope("init"):
        return convert_to_tensor(
            value, name=name,
            dtype=None if like is None else like.dtype.base_dtype)
