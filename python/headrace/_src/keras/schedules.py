"""tf.keras.optimizers.schedules: learning rates by the number of steps."""
import inspect

from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import named
from headrace._src.ops import math_ops as _math
from headrace._src.training import learning_rate_decay as _decay


class LearningRateSchedule:
    """A learning rate by the number of steps. A derived class has
    `__call__(step)`, from a scalar int or float to a scalar float tensor, and
    `get_config()`; here both raise NotImplementedError."""

    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule must override "
                                  "__call__")

    def get_config(self):
        """The arguments of the constructor."""
        raise NotImplementedError("Learning rate schedule must override "
                                  "get_config")

    @classmethod
    def from_config(cls, config):
        """The schedule of what get_config gave."""
        return cls(**config)


class _Known(LearningRateSchedule):
    """One whose attributes are its arguments."""

    def _keep(self, arguments):
        for name in inspect.signature(type(self)).parameters:
            setattr(self, name, arguments[name])

    def get_config(self):
        return {name: getattr(self, name)
                for name in inspect.signature(type(self)).parameters}


class ExponentialDecay(_Known):
    """initial_learning_rate * decay_rate ^ (step / decay_steps): a scalar float
    tensor of a scalar step. `staircase` rounds the quotient down. TypeError for
    arguments that are no numbers, or ValueError."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate,
                 staircase=False, name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.exponential_decay(
            self.initial_learning_rate, step, self.decay_steps,
            self.decay_rate, self.staircase, self.name or "ExponentialDecay")


class InverseTimeDecay(_Known):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps): a scalar
    float tensor of a scalar step. `staircase` rounds the quotient down.
    TypeError for arguments that are no numbers, or ValueError."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate,
                 staircase=False, name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.inverse_time_decay(
            self.initial_learning_rate, step, self.decay_steps,
            self.decay_rate, self.staircase, self.name or "InverseTimeDecay")


class PiecewiseConstantDecay(_Known):
    """values[i] up to the step boundaries[i], the last of them after all: a
    scalar tensor of a scalar step. ValueError unless there is one value
    more."""

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than "
                             "the length of values")
        self._keep(locals())

    def __call__(self, step):
        step = convert_to_tensor(step)
        return _decay.piecewise_constant(
            step, [_math.cast(b, step.dtype.base_dtype)
                   for b in self.boundaries],
            self.values, self.name or "PiecewiseConstant")


class PolynomialDecay(_Known):
    """From initial_learning_rate to end_learning_rate within decay_steps, as (1
    - share of the steps) ^ power: a scalar float tensor of a scalar step.
    `cycle`: beyond them, again and again. TypeError for arguments that are no
    numbers, or ValueError."""

    def __init__(self, initial_learning_rate, decay_steps,
                 end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.polynomial_decay(
            self.initial_learning_rate, step, self.decay_steps,
            self.end_learning_rate, self.power, self.cycle,
            self.name or "PolynomialDecay")


class CosineDecay(_Known):
    """From initial_learning_rate to alpha times that within decay_steps, as half
    a cosine: a scalar float tensor of a scalar step. TypeError for arguments
    that are no numbers, or ValueError."""

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0,
                 name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.cosine_decay(
            self.initial_learning_rate, step, self.decay_steps, self.alpha,
            self.name or "CosineDecay")


class CosineDecayRestarts(_Known):
    """CosineDecay again and again, each time t_mul times as long and from a rate
    m_mul times as high: a scalar float tensor of a scalar step. TypeError for
    arguments that are no numbers, or ValueError."""

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0,
                 m_mul=1.0, alpha=0.0, name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.cosine_decay_restarts(
            self.initial_learning_rate, step, self.first_decay_steps,
            self.t_mul, self.m_mul, self.alpha, self.name or "SGDRDecay")


class LinearCosineDecay(_Known):
    """initial_learning_rate * ((alpha + linear fall) * a cosine of num_periods +
    beta): a scalar float tensor of a scalar step. TypeError for arguments that
    are no numbers, or ValueError."""

    def __init__(self, initial_learning_rate, decay_steps, num_periods=0.5,
                 alpha=0.0, beta=0.001, name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.linear_cosine_decay(
            self.initial_learning_rate, step, self.decay_steps,
            self.num_periods, self.alpha, self.beta,
            self.name or "LinearCosineDecay")


class NoisyLinearCosineDecay(_Known):
    """LinearCosineDecay, whose linear fall has normal noise of the variance
    initial_variance / (1 + step) ^ variance_decay: a scalar float tensor of a
    scalar step. TypeError for arguments that are no numbers, or ValueError."""

    def __init__(self, initial_learning_rate, decay_steps, initial_variance=1.0,
                 variance_decay=0.55, num_periods=0.5, alpha=0.0, beta=0.001,
                 name=None):
        self._keep(locals())

    def __call__(self, step):
        return _decay.noisy_linear_cosine_decay(
            self.initial_learning_rate, step, self.decay_steps,
            self.initial_variance, self.variance_decay, self.num_periods,
            self.alpha, self.beta, self.name or "NoisyLinearCosineDecay")


def serialize(learning_rate_schedule):
    """The dict with class_name and config of a schedule."""
    return named.describe(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """The schedule that `serialize` described: one of these, or of
    `custom_objects`, a dict by class name. ValueError for others."""
    known = {kind.__name__: kind for kind in (
        ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay,
        PolynomialDecay, CosineDecay, CosineDecayRestarts, LinearCosineDecay,
        NoisyLinearCosineDecay)}
    return named.deserialize_keras_object(config, known, custom_objects,
                                          "decay")
