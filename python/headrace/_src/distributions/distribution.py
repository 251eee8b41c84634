"""tf.distributions: what all distributions have."""
import contextlib

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import Assert
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class ReparameterizationType:
    """Whether gradients go through samples to the parameters."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return "<Reparameteriation Type: %s>" % self._rep_type

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution:
    """A batch of distributions, [batch_shape], of events of event_shape.

    A sample is [sample_shape, batch_shape, event_shape]. Classes that derive
    have what the methods use with an underscore: `_sample_n(n, seed)`,
    `_log_prob(value)`, `_mean()` and so on. NotImplementedError for what a
    distribution does not have."""

    def __init__(self, dtype, reparameterization_type, validate_args,
                 allow_nan_stats, parameters=None, graph_parents=None,
                 name=None):
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters or {}
        name = name or type(self).__name__
        if not name.endswith("/"):
            with name_scope(name) as name:
                pass
        self._name = name

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    parameters = property(lambda self: {
        k: v for k, v in self._parameters.items()
        if not k.startswith("__") and k != "self"})
    reparameterization_type = property(
        lambda self: self._reparameterization_type)
    allow_nan_stats = property(lambda self: self._allow_nan_stats)
    validate_args = property(lambda self: self._validate_args)

    def __repr__(self):
        return "<tf.distributions.%s '%s' batch_shape=%s event_shape=%s " \
            "dtype=%s>" % (type(self).__name__, self.name, self.batch_shape,
                           self.event_shape, self.dtype.name)

    def copy(self, **override_parameters_kwargs):
        """The distribution with other parameters."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @contextlib.contextmanager
    def _scope(self, name, values=()):
        with name_scope(self.name), name_scope(name, values=list(values)):
            yield

    def _missing(self, what):
        raise NotImplementedError("%s is not implemented: %s"
                                  % (what, type(self).__name__))

    # Shapes.

    @property
    def batch_shape(self):
        """What is known of the batch's shape."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self):
        """What is known of an event's shape."""
        return TensorShape(self._event_shape())

    def _batch_shape(self):
        return None

    def _event_shape(self):
        return []

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """int32: the batch's shape."""
        with self._scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(),
                                         dtype=dtypes.int32)
            return self._batch_shape_tensor()

    def _batch_shape_tensor(self):
        self._missing("batch_shape_tensor")

    def event_shape_tensor(self, name="event_shape_tensor"):
        """int32: an event's shape."""
        with self._scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(self.event_shape.as_list(),
                                         dtype=dtypes.int32)
            return self._event_shape_tensor()

    def _event_shape_tensor(self):
        self._missing("event_shape_tensor")

    def is_scalar_event(self, name="is_scalar_event"):
        """A bool tensor: whether the event has no dimensions."""
        with self._scope(name):
            return self._is_scalar(self.event_shape, self.event_shape_tensor)

    def is_scalar_batch(self, name="is_scalar_batch"):
        """A bool tensor: whether the batch has no dimensions."""
        with self._scope(name):
            return self._is_scalar(self.batch_shape, self.batch_shape_tensor)

    @staticmethod
    def _is_scalar(known, sizes):
        if known.ndims is not None:
            return convert_to_tensor(known.ndims == 0)
        return _math.equal(_array.size(sizes()), 0)

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """{parameter: its shape} for batches of sample_shape."""
        return {name: TensorShape(shape) for name, shape
                in cls._param_shapes(sample_shape).items()}

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """param_static_shapes as tensors."""
        with name_scope(name, values=[sample_shape]):
            return {key: convert_to_tensor(shape, dtype=dtypes.int32)
                    for key, shape in cls._param_shapes(sample_shape).items()}

    @staticmethod
    def _param_shapes(sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    # Samples.

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """A sample [sample_shape, batch_shape, event_shape]."""
        with self._scope(name, [sample_shape]):
            sizes = convert_to_tensor(sample_shape, dtype=dtypes.int32,
                                      name="sample_shape")
            known = constant_value(sizes)
            count = _math.reduce_prod(sizes)
            found = self._sample_n(count, seed)
            whole = _array.shape(found)
            flat = _array.reshape(sizes, [-1])
            found = _array.reshape(found, _array.concat([flat, whole[1:]], 0))
            if known is not None:
                found.set_shape(TensorShape(known.reshape([-1]).tolist())
                                .concatenate(self.batch_shape)
                                .concatenate(self.event_shape))
            return found

    def _sample_n(self, n, seed=None):
        self._missing("sample_n")

    def _as_value(self, value):
        """A tensor of the samples' type, or of the type that it has: Bernoulli
        and Categorical take numbers of any type."""
        return convert_to_tensor(value, name="value",
                                 preferred_dtype=self.dtype)

    def log_prob(self, value, name="log_prob"):
        """The logarithm of the density, or of the probability, at `value`."""
        with self._scope(name, [value]):
            return self._log_prob(self._as_value(value))

    def _log_prob(self, value):
        return _math.log(self._prob(value))

    def prob(self, value, name="prob"):
        """The density, or the probability, at `value`."""
        with self._scope(name, [value]):
            value = self._as_value(value)
            if type(self)._prob is Distribution._prob:
                return _math.exp(self._log_prob(value))
            return self._prob(value)

    def _prob(self, value):
        self._missing("prob")

    def cdf(self, value, name="cdf"):
        """The probability of what is at most `value`."""
        with self._scope(name, [value]):
            return self._cdf(self._as_value(value))

    def _cdf(self, value):
        self._missing("cdf")

    def log_cdf(self, value, name="log_cdf"):
        with self._scope(name, [value]):
            return self._log_cdf(self._as_value(value))

    def _log_cdf(self, value):
        return _math.log(self._cdf(value))

    def survival_function(self, value, name="survival_function"):
        """1 - cdf(value)."""
        with self._scope(name, [value]):
            return self._survival_function(self._as_value(value))

    def _survival_function(self, value):
        return 1. - self._cdf(value)

    def log_survival_function(self, value, name="log_survival_function"):
        with self._scope(name, [value]):
            return self._log_survival_function(self._as_value(value))

    def _log_survival_function(self, value):
        return _math.log(self._survival_function(value))

    def quantile(self, value, name="quantile"):
        """The inverse of cdf."""
        with self._scope(name, [value]):
            return self._quantile(convert_to_tensor(
                value, name="value", dtype=self._of_numbers()))

    def _quantile(self, value):
        self._missing("quantile")

    def _of_numbers(self):
        """The type of probabilities and moments."""
        return self.dtype

    # Moments.

    def entropy(self, name="entropy"):
        """The entropy, in nats."""
        with self._scope(name):
            return self._entropy()

    def _entropy(self):
        self._missing("entropy")

    def mean(self, name="mean"):
        with self._scope(name):
            return self._mean()

    def _mean(self):
        self._missing("mean")

    def variance(self, name="variance"):
        with self._scope(name):
            return self._variance()

    def _variance(self):
        return _math.square(self._stddev())

    def stddev(self, name="stddev"):
        """The standard deviation."""
        with self._scope(name):
            return self._stddev()

    def _stddev(self):
        if type(self)._variance is Distribution._variance:
            self._missing("stddev")
        return _math.sqrt(self._variance())

    def covariance(self, name="covariance"):
        with self._scope(name):
            return self._covariance()

    def _covariance(self):
        self._missing("covariance")

    def mode(self, name="mode"):
        """The likeliest value."""
        with self._scope(name):
            return self._mode()

    def _mode(self):
        self._missing("mode")

    def cross_entropy(self, other, name="cross_entropy"):
        """entropy() + kl_divergence(other)."""
        with self._scope(name):
            return self._entropy() + kl_divergence(self, other)

    def kl_divergence(self, other, name="kl_divergence"):
        """The Kullback-Leibler divergence from `other`."""
        with self._scope(name):
            return kl_divergence(self, other)


_divergences: dict = {}  # by a pair of classes


class RegisterKL:
    """Decorates a function(a, b, name=None) as the divergence of two classes.
    ValueError if there is one already."""

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError("kl_fn must be callable, received: %s" % kl_fn)
        if self._key in _divergences:
            raise ValueError("KL(%s || %s) has already been registered to: %s"
                             % (self._key[0].__name__, self._key[1].__name__,
                                _divergences[self._key]))
        _divergences[self._key] = kl_fn
        return kl_fn


def registered_divergence(type_a, type_b):
    """The function registered for two classes, or for those among their bases
    that are nearest; None if there is none."""
    found = [(i + j, i, _divergences[a, b])
             for i, a in enumerate(type_a.__mro__)
             for j, b in enumerate(type_b.__mro__) if (a, b) in _divergences]
    return min(found, key=lambda f: f[:2])[2] if found else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True,
                  name=None):
    """The Kullback-Leibler divergence KL(a || b). NotImplementedError for
    classes that have none. Without allow_nan_stats a run fails where it is no
    number."""
    function = registered_divergence(type(distribution_a),
                                     type(distribution_b))
    if function is not None:
        with name_scope("KullbackLeibler"):
            found = function(distribution_a, distribution_b, name=name)
            if allow_nan_stats:
                return found
            found = _array.identity(found, name="kl")
            text = ("KL calculation between %s and %s returned NaN values (and "
                    "was called with allow_nan_stats=False). Values:"
                    % (distribution_a.name, distribution_b.name))
            is_number = _math.logical_not(_math.reduce_any(
                _raw.IsNan(x=found)))
            with control_dependencies([Assert(is_number, [text, found])]):
                return _array.identity(found, name="checked_kl")
    raise NotImplementedError(
        "No KL(distribution_a || distribution_b) registered for distribution_a "
        "type %s and distribution_b type %s"
        % (type(distribution_a).__name__, type(distribution_b).__name__))
