"""Learning rates that fall with the number of steps: tf.train.*_decay."""
import functools
import inspect
import math

from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.control import control_flow as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


def _deferred(function):
    """The function; while ops are executed eagerly, it gives a function without
    arguments that computes the rate anew."""
    @functools.wraps(function)
    def decorated(*args, **kwargs):
        if not executing_eagerly():
            return function(*args, **kwargs)
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
        step = bound.get("global_step", bound.get("x"))
        if step is None:
            _need_step(step, function.__name__)
        return functools.partial(function, *args, **kwargs)
    return decorated


def _need_step(global_step, function):
    if global_step is None:
        raise ValueError("global_step is required for %s." % function)


def _decayed(rate, step, decay_steps, decay_rate, staircase, name, default,
             factor):
    """rate * factor of the share step / decay_steps, in whole numbers for a
    staircase."""
    with name_scope(name, default, [rate, step, decay_steps]) as scope:
        rate = convert_to_tensor(rate, name="initial_learning_rate")
        dtype = rate.dtype.base_dtype
        steps = _math.cast(decay_steps, dtype)
        decay_rate = _math.cast(decay_rate, dtype)
        share = _math.cast(step, dtype) / steps
        if staircase:
            share = _math.floor(share)
        return factor(rate, share, decay_rate, dtype, scope)


@_deferred
def exponential_decay(learning_rate, global_step, decay_steps, decay_rate,
                      staircase=False, name=None):
    """learning_rate * decay_rate ^ (global_step / decay_steps); `staircase`
    rounds the quotient down, here and in the other functions.

    `learning_rate`: a scalar float32 or float64, a tensor or number, whose type
    the result has, a scalar; `global_step`: a scalar integer; the others are
    numbers or scalars. ValueError if global_step is None."""
    _need_step(global_step, "exponential_decay")
    return _decayed(
        learning_rate, global_step, decay_steps, decay_rate, staircase, name,
        "ExponentialDecay",
        lambda rate, share, decay, dtype, scope: _math.multiply(
            rate, _math.pow(decay, share), name=scope))


_exponential = exponential_decay.__wrapped__  # type: ignore


@_deferred
def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate,
                      staircase=False, name=None):
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    _need_step(global_step, "natural_exp_decay")
    power = _math.exp(_math.negative(decay_rate))
    return _exponential(learning_rate, global_step, decay_steps, power,
                        staircase, name)


@_deferred
def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate,
                       staircase=False, name=None):
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    _need_step(global_step, "inverse_time_decay")
    return _decayed(
        learning_rate, global_step, decay_steps, decay_rate, staircase, name,
        "InverseTimeDecay",
        lambda rate, share, decay, dtype, scope: _math.divide(
            rate, _math.add(_math.cast(constant(1), dtype),
                            _math.multiply(decay, share)), name=scope))


@_deferred
def polynomial_decay(learning_rate, global_step, decay_steps,
                     end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None):
    """From learning_rate to end_learning_rate within decay_steps, as (1 - share
    of the steps) ^ power. `cycle`: after the end it starts again, with
    decay_steps the next multiple beyond global_step.

    `learning_rate`: a scalar float32 or float64, whose type the result has, a
    scalar; `global_step`: a scalar integer. ValueError if global_step is None.
    """
    _need_step(global_step, "polynomial_decay")
    with name_scope(name, "PolynomialDecay",
                    [learning_rate, global_step, decay_steps,
                     end_learning_rate, power]) as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype.base_dtype
        end = _math.cast(end_learning_rate, dtype)
        power = _math.cast(power, dtype)
        step = _math.cast(global_step, dtype)
        steps = _math.cast(decay_steps, dtype)
        if cycle:
            started = _raw.Ceil(step / steps)
            steps *= _array.where(_math.equal(step, 0),
                                  constant(1, dtype), started)
        else:
            step = _math.minimum(step, decay_steps)
        share = step / steps
        return _math.add(_math.multiply(
            rate - end, _math.pow(1 - share, power)), end, name=scope)


@_deferred
def piecewise_constant(x, boundaries, values, name=None):
    """values[i] for x up to and with boundaries[i], the last value beyond all
    of them."""
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of "
            "values")
    x = convert_to_tensor(x)
    bounds = []
    for b in boundaries:
        b = convert_to_tensor(b)
        if b.dtype.base_dtype != x.dtype.base_dtype:
            # int32 bounds for an int64 x lose nothing.
            if (b.dtype.base_dtype == dtypes.int32
                    and x.dtype.base_dtype == dtypes.int64):
                b = _math.cast(b, x.dtype.base_dtype)
            else:
                raise ValueError(
                    "Boundaries (%s) must have the same dtype as x (%s)."
                    % (b.dtype.base_dtype, x.dtype.base_dtype))
        bounds.append(b)
    values = [convert_to_tensor(v) for v in values]
    for v in values[1:]:
        if v.dtype.base_dtype != values[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype (%s vs "
                "%s)." % (values[0].dtype.base_dtype, v.dtype.base_dtype))
    if not bounds:
        return values[0]
    with name_scope(name, "PiecewiseConstant", [x] + bounds + values):
        cases = [(x <= bounds[0], lambda: values[0]),
                 (x > bounds[-1], lambda: values[-1])]
        for low, high, v in zip(bounds[:-1], bounds[1:], values[1:-1]):
            cases.append((_math.logical_and(x > low, x <= high),
                          lambda v=v: v))
        return _flow.case(cases, lambda: values[0], exclusive=True)


piecewise_constant_decay = piecewise_constant


def _share(global_step, decay_steps, dtype):
    """How much of decay_steps is over, at most 1."""
    steps = _math.cast(decay_steps, dtype)
    return _math.minimum(_math.cast(global_step, dtype), steps) / steps


def _cosine(share):
    return 0.5 * (1.0 + _math.cos(constant(math.pi, share.dtype) * share))


@_deferred
def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0,
                 name=None):
    """From learning_rate to alpha * learning_rate, as half a cosine."""
    _need_step(global_step, "cosine decay")
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        curve = _cosine(_share(global_step, decay_steps, rate.dtype))
        return _math.multiply(rate, (1 - alpha) * curve + alpha)


@_deferred
def cosine_decay_restarts(learning_rate, global_step, first_decay_steps,
                          t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """cosine_decay again and again, each time t_mul times as long and from a
    rate m_mul times as high."""
    _need_step(global_step, "cosine decay restarts")
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as scope:
        rate = convert_to_tensor(learning_rate,
                                 name="initial_learning_rate")
        dtype = rate.dtype
        alpha = _math.cast(alpha, dtype)
        t_mul, m_mul = _math.cast(t_mul, dtype), _math.cast(m_mul, dtype)
        share = (_math.cast(global_step, dtype)
                 / _math.cast(first_decay_steps, dtype))

        def geometric():
            turn = _math.floor(_math.log(1.0 - share * (1.0 - t_mul))
                               / _math.log(t_mul))
            before = (1.0 - t_mul ** turn) / (1.0 - t_mul)
            return turn, (share - before) / t_mul ** turn

        def even():
            turn = _math.floor(share)
            return turn, share - turn
        turn, rest = _flow.cond(_math.equal(t_mul, 1.0), even, geometric)
        curve = m_mul ** turn * _cosine(rest)
        return _math.multiply(rate, (1 - alpha) * curve + alpha, name=scope)


@_deferred
def linear_cosine_decay(learning_rate, global_step, decay_steps,
                        num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """learning_rate * ((alpha + linear fall) * a cosine of num_periods +
    beta)."""
    _need_step(global_step, "linear cosine decay")
    return _linear_cosine(learning_rate, global_step, decay_steps, num_periods,
                          alpha, beta, name, "LinearCosineDecay", None)


@_deferred
def noisy_linear_cosine_decay(learning_rate, global_step, decay_steps,
                              initial_variance=1.0, variance_decay=0.55,
                              num_periods=0.5, alpha=0.0, beta=0.001,
                              name=None):
    """linear_cosine_decay with noise on the linear fall, of variance
    initial_variance / (1 + global_step) ^ variance_decay."""
    _need_step(global_step, "noisy linear cosine decay")
    return _linear_cosine(learning_rate, global_step, decay_steps, num_periods,
                          alpha, beta, name, "NoisyLinearCosineDecay",
                          (initial_variance, variance_decay))


def _linear_cosine(learning_rate, global_step, decay_steps, num_periods, alpha,
                   beta, name, default, noise):
    with name_scope(name, default, [learning_rate, global_step]) as scope:
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        dtype = rate.dtype.base_dtype
        steps = _math.cast(decay_steps, dtype)
        step = _math.minimum(_math.cast(global_step, dtype), steps)
        alpha, beta = _math.cast(alpha, dtype), _math.cast(beta, dtype)
        linear = (steps - step) / steps
        if noise is not None:
            variance = (_math.cast(noise[0], dtype)
                        / _math.pow(1. + step, _math.cast(noise[1], dtype)))
            linear = linear + _random.random_normal(
                linear.get_shape(), stddev=_math.sqrt(variance), dtype=dtype)
        angle = (constant(math.pi, dtype) * 2.0
                 * _math.cast(num_periods, dtype) * (step / steps))
        curve = 0.5 * (1.0 + _math.cos(angle))
        return _math.multiply(rate, (alpha + linear) * curve + beta,
                              name=scope)
