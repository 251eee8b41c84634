"""tf.keras.optimizers.schedules: learning rates that are functions of the number
of steps."""
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import named
from headrace._src.ops import math_ops as _math
from headrace._src.training import learning_rate_decay as _decay


class LearningRateSchedule:
    """A learning rate for each step. A derived class has __call__(step), which
    gives a scalar of a float dtype, and get_config()."""

    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule must override "
                                  "__call__")

    def get_config(self):
        """The arguments that from_config makes an equal schedule of."""
        raise NotImplementedError("Learning rate schedule must override "
                                  "get_config")

    @classmethod
    def from_config(cls, config):
        """The schedule that get_config described."""
        return cls(**config)


class _Decay(LearningRateSchedule):
    """A function of tf.train with the attributes as its arguments."""

    _names: tuple

    def _arguments(self):
        return {key: getattr(self, key) for key in self._names}

    def get_config(self):
        return {**self._arguments(), "name": self.name}

    def _value(self, function, step):
        arguments = self._arguments()
        rate = arguments.pop("initial_learning_rate")
        return function(rate, step, name=self.name, **arguments)


class ExponentialDecay(_Decay):
    """initial_learning_rate * decay_rate ^ (step / decay_steps); `staircase`
    rounds the quotient down. A call takes a scalar and gives one of the rate's
    float dtype."""

    _names = ("initial_learning_rate", "decay_steps", "decay_rate",
              "staircase")

    def __init__(self, initial_learning_rate, decay_steps, decay_rate,
                 staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps, self.decay_rate = decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step):
        return self._value(_decay.exponential_decay, step)


class InverseTimeDecay(_Decay):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps);
    `staircase` rounds the quotient down. A call takes a scalar and gives one of
    the rate's float dtype."""

    _names = ExponentialDecay._names

    def __init__(self, initial_learning_rate, decay_steps, decay_rate,
                 staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps, self.decay_rate = decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step):
        return self._value(_decay.inverse_time_decay, step)


class PolynomialDecay(_Decay):
    """From initial_learning_rate to end_learning_rate in decay_steps, by a
    polynomial; with `cycle` again in each multiple of them. A call takes a
    scalar and gives one of the rate's float dtype."""

    _names = ("initial_learning_rate", "decay_steps", "end_learning_rate",
              "power", "cycle")

    def __init__(self, initial_learning_rate, decay_steps,
                 end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps, self.end_learning_rate = (decay_steps,
                                                    end_learning_rate)
        self.power, self.cycle, self.name = power, cycle, name

    def __call__(self, step):
        return self._value(_decay.polynomial_decay, step)


class CosineDecay(_Decay):
    """As half a wave of a cosine, down to `alpha` of the first rate."""

    _names = ("initial_learning_rate", "decay_steps", "alpha")

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0,
                 name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps, self.alpha, self.name = decay_steps, alpha, name

    def __call__(self, step):
        return self._value(_decay.cosine_decay, step)


class CosineDecayRestarts(_Decay):
    """CosineDecay that starts again, after more steps and lower each time."""

    _names = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul",
              "alpha")

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0,
                 m_mul=1.0, alpha=0.0, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps, self.alpha = first_decay_steps, alpha
        self.t_mul, self.m_mul, self.name = t_mul, m_mul, name

    def __call__(self, step):
        return self._value(_decay.cosine_decay_restarts, step)


class LinearCosineDecay(_Decay):
    """A cosine with `num_periods` waves under a line that falls."""

    _names = ("initial_learning_rate", "decay_steps", "num_periods", "alpha",
              "beta")

    def __init__(self, initial_learning_rate, decay_steps, num_periods=0.5,
                 alpha=0.0, beta=0.001, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps, self.num_periods = decay_steps, num_periods
        self.alpha, self.beta, self.name = alpha, beta, name

    def __call__(self, step):
        return self._value(_decay.linear_cosine_decay, step)


class NoisyLinearCosineDecay(_Decay):
    """LinearCosineDecay with noise that gets smaller."""

    _names = ("initial_learning_rate", "decay_steps", "initial_variance",
              "variance_decay", "num_periods", "alpha", "beta")

    def __init__(self, initial_learning_rate, decay_steps,
                 initial_variance=1.0, variance_decay=0.55, num_periods=0.5,
                 alpha=0.0, beta=0.001, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps, self.num_periods = decay_steps, num_periods
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay
        self.alpha, self.beta, self.name = alpha, beta, name

    def __call__(self, step):
        return self._value(_decay.noisy_linear_cosine_decay, step)


class PiecewiseConstantDecay(LearningRateSchedule):
    """values[i] for steps up to and with boundaries[i], the last value beyond
    all of them. A call takes a scalar and gives one of the values' dtype.
    ValueError unless there is one value more than boundaries."""

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than "
                             "the length of values")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step):
        step = convert_to_tensor(step)
        boundaries = [_math.cast(b, step.dtype.base_dtype)
                      for b in self.boundaries]
        return _decay.piecewise_constant(step, boundaries, self.values,
                                         self.name)

    def get_config(self):
        return {"boundaries": self.boundaries, "values": self.values,
                "name": self.name}


_KNOWN = {cls.__name__: cls for cls in (
    CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay,
    LearningRateSchedule, LinearCosineDecay, NoisyLinearCosineDecay,
    PiecewiseConstantDecay, PolynomialDecay)}


def serialize(learning_rate_schedule):
    """{"class_name", "config"} of a schedule of rates of whatever dtype."""
    return named.serialize_keras_object(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """The schedule that serialize described, of rates of the same dtype.
    `custom_objects`: classes of the program by name. ValueError for an unknown
    class."""
    return named.deserialize_keras_object(config, _KNOWN, custom_objects,
                                          "decay")
