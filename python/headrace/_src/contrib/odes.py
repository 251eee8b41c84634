"""tf.contrib.integrate: solutions of ordinary differential equations, by the
method of Dormand and Prince with steps of adapted size, or on a fixed grid."""
import functools as _functools

from headrace import raw_ops as _raw
from headrace._src.control import control_flow as _control
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

# The table of Dormand and Prince: Shampine (1986), section 4. _STAGES has, for
# each stage, its time and the weights of the slopes before. The weights of the
# last stage are those of the solution.
_STAGES = [
    (1 / 5, [1 / 5]),
    (3 / 10, [3 / 40, 9 / 40]),
    (4 / 5, [44 / 45, -56 / 15, 32 / 9]),
    (8 / 9, [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    (1., [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    (1., [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
]
_MIDDLE = [
    6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2, 187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2]
_ERROR = [
    1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113,
    451 / 720 - 125 / 192, -12231 / 42400 - -2187 / 6784, 649 / 6300 - 11 / 84,
    1 / 60]
_OPTIONS = ("first_step", "safety", "ifactor", "dfactor", "max_num_steps")
# The polynomial through a step, highest power first: weights of dt times the
# slopes at both ends, then of the values at both ends and in the middle.
_QUARTIC = [
    (-2, 2, -8, -8, 16), (5, -3, 18, 14, -32), (-4, 1, -11, -5, 16)]


def odeint(func, y0, t, rtol=1e-6, atol=1e-12, method=None, options=None,
           full_output=False, name=None):
    """The solution of dy/dt = func(y, t) with y(t[0]) = y0 at the times `t`.

    `func`: takes y and a scalar time, gives the slope, like y. `y0`: a float or
    complex tensor of any shape. `t`: floats [n] that increase, float64 unless
    it is a tensor. `rtol` and `atol` bound the error of each step. `method`:
    None or "dopri5", which takes the `options` first_step, safety, ifactor,
    dfactor and max_num_steps (steps between two times).

    Returns a tensor [n, ...] of y0's dtype; with `full_output` also a dict with
    num_func_evals, a scalar int32, and, for each step, the time where it ends
    (integrate_points) and its error as a part of what is allowed (error_ratio).

    ValueError for another method, or options without one; TypeError for other
    dtypes or options. InvalidArgumentError in the run for times that do not
    increase, too many steps, steps of no length, or values that are not
    finite."""
    if method is not None and method != "dopri5":
        raise ValueError("invalid method: %r" % (method,))
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    unknown = sorted(set(options or ()) - set(_OPTIONS))
    if unknown:
        raise TypeError("odeint: method 'dopri5' has no option %s; it has %s"
                        % (", ".join(unknown), ", ".join(_OPTIONS)))
    with _graph.name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        t = convert_to_tensor(t, preferred_dtype=_dtypes.float64, name="t")
        _check_types(y0, t)
        dtype = _math.abs(y0).dtype
        rtol = convert_to_tensor(rtol, dtype, name="rtol")
        atol = convert_to_tensor(atol, dtype, name="atol")
        return _adaptive(func, y0, t, rtol, atol, full_output, scope,
                         **(options or {}))


def odeint_fixed(func, y0, t, dt=None, method="rk4", name=None):
    """The solution of dy/dt = func(y, t) with y(t[0]) = y0 at the times `t`, by
    steps of a fixed size.

    `func`, `y0`, `t`: as of odeint. `dt`: the size of steps, a float or, for
    each of the n - 1 intervals, one of floats [n - 1]; it is made smaller so
    that a whole number of steps fills an interval. None: one step for each.
    `method`: "rk4" or "midpoint". Returns a tensor [n, ...] of y0's dtype.

    TypeError for other dtypes; ValueError for another method or sizes that do
    not fit; InvalidArgumentError in the run for times that do not increase."""
    with _graph.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = convert_to_tensor(t, preferred_dtype=_dtypes.float64, name="t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        dt = convert_to_tensor(intervals if dt is None else dt,
                               preferred_dtype=_dtypes.float64, name="dt")
        counts = _math.ceil(intervals / dt)
        dt = intervals / counts
        counts = _math.cast(counts, _dtypes.int32)
        _check_types(y0, t, dt)
        _check_sizes(t, dt)
        with _graph.control_dependencies([_increasing(t)]):
            with _graph.name_scope(method):
                if method not in _SLOPES:
                    raise ValueError("method not supported: %s, wanted one of "
                                     "%s" % (method, sorted(_SLOPES)))
                return _on_grid(_functools.partial(_SLOPES[method], func), y0,
                                t, dt, counts)


def _check_types(y0, t, dt=None):
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating "
                        "point dtype, got %s" % y0.dtype.name)
    for name, x in (("t", t), ("dt", dt)):
        if x is not None and not x.dtype.is_floating:
            raise TypeError("`%s` must have a floating point dtype, got %s"
                            % (name, x.dtype.name))


def _check_sizes(t, dt):
    for name, x in (("t", t), ("dt", dt)):
        if len(x.get_shape().as_list()) > 1:
            raise ValueError("%s must be a 1D tensor, got shape %s"
                             % (name, x.get_shape()))
    if t.get_shape()[0] != dt.get_shape()[0] + 1:
        raise ValueError(
            "t and dt have incompatible lengths, must be N and N-1: got %s and "
            "%s" % (t.get_shape()[0], dt.get_shape()[0]))


def _increasing(t):
    return _control.Assert(_math.reduce_all(t[1:] > t[:-1]),
                           ["`t` must be monotonic increasing"])


def _weighted(scale, weights, slopes, name=None):
    """The sum of `slopes` times `weights` times `scale`."""
    with _graph.name_scope(name, "scaled_dot_product", [slopes]) as scope:
        return _math.add_n([(scale * w) * k for w, k in zip(weights, slopes)
                            if w != 0], name=scope)


def _sum_of_products(xs, ys):
    with _graph.name_scope("dot_product") as scope:
        return _math.add_n([x * y for x, y in zip(xs, ys)], name=scope)


def _step(func, y0, f0, t0, dt):
    """(values and slopes after a step, the error, the slopes of all stages)"""
    with _graph.name_scope("runge_kutta_step", values=[y0, f0, t0, dt]) as scope:
        size = _math.cast(dt, y0.dtype)
        slopes = [f0]
        for time, weights in _STAGES:
            y = y0 + _weighted(size, weights, slopes)
            slopes.append(func(y, t0 + time * dt))
        y = _array.identity(y, name=scope + "/y1")
        f = _array.identity(slopes[-1], name=scope + "/f1")
        error = _weighted(size, _ERROR, slopes, name=scope + "/y1_error")
        return y, f, error, slopes


def _polynomial(y0, y1, slopes, dt):
    """The coefficients, highest power first, of the polynomial through a step;
    its argument goes from 0 to 1."""
    with _graph.name_scope("interp_fit_rk"):
        dt = _math.cast(dt, y0.dtype)
        middle = y0 + _weighted(dt, _MIDDLE, slopes)
        points = [slopes[0], slopes[-1], y0, y1, middle]
        return [_sum_of_products([a * dt, dt if b == 1 else b * dt, *rest], points)
                for a, b, *rest in _QUARTIC] + [dt * slopes[0], y0]


def _interpolated(coefficients, t0, t1, t):
    with _graph.name_scope("interp_evaluate"):
        inside = _control.Assert(
            (t0 <= t) & (t <= t1),
            ["invalid interpolation, fails `t0 <= t <= t1`:", t0, t, t1])
        dtype = coefficients[0].dtype
        with _graph.control_dependencies([inside]):
            x = _math.cast((t - t0) / (t1 - t0), dtype)
        powers = [constant(1, dtype), x]
        while len(powers) < len(coefficients):
            powers.append(powers[-1] * x)
        return _sum_of_products(coefficients, powers[::-1])


def _next_size(dt, error, safety, ifactor, dfactor):
    """The best size for the next step: the method is of order 5."""
    with _graph.name_scope("optimal_step_size", values=[dt, error]) as scope:
        error = _math.cast(error, dt.dtype)
        power = _math.cast(1 / 5, dt.dtype)
        # A division by the error would fail where it is 0.
        factor = _math.maximum(1 / ifactor, _math.minimum(
            error ** power / safety, 1 / dfactor))
        return _math.div(dt, factor, name=scope)


def _squared_size(x):
    if x.dtype.is_complex:
        return _math.square(_math.real(x)) + _math.square(_math.imag(x))
    return _math.square(x)


def _adaptive(func, y0, t, rtol, atol, full_output, name, first_step=None,
              safety=0.9, ifactor=10.0, dfactor=0.2, max_num_steps=1000):
    with _graph.name_scope(name, "dopri5", [
            y0, t, rtol, atol, safety, ifactor, dfactor,
            max_num_steps]) as scope:
        first_step = convert_to_tensor(1.0 if first_step is None else first_step,
                                       t.dtype, name="first_step")
        safety = convert_to_tensor(safety, t.dtype, name="safety")
        ifactor = convert_to_tensor(ifactor, t.dtype, name="ifactor")
        dfactor = convert_to_tensor(dfactor, t.dtype, name="dfactor")
        max_num_steps = convert_to_tensor(max_num_steps, _dtypes.int32,
                                          name="max_num_steps")

        def step(state, history, count):
            y, f, _, start, dt, polynomial = state
            with _graph.name_scope("assertions"):
                checks = [
                    _control.Assert(start + dt > start, ["underflow in dt", dt]),
                    _control.Assert(count < max_num_steps,
                                    ["max_num_steps exceeded"]),
                    _control.Assert(
                        _math.reduce_all(_raw.IsFinite(x=_math.abs(y))),
                        ["non-finite values in state `y`", y])]
            with _graph.control_dependencies(checks):
                y_next, f_next, error, slopes = _step(func, y, f, start, dt)
            with _graph.name_scope("error_ratio"):
                allowed = atol + rtol * _math.maximum(_math.abs(y),
                                                      _math.abs(y_next))
                ratio = _math.sqrt(_math.reduce_mean(
                    _squared_size(error) / _squared_size(allowed)))
                accept = ratio <= 1
            # A step with too large an error is tried again: its values are of
            # an interval of no length, and the loop goes on.
            with _graph.name_scope("update/rk_state"):
                state = (
                    _control.cond(accept, lambda: y_next, lambda: y),
                    _control.cond(accept, lambda: f_next, lambda: f), start,
                    _control.cond(accept, lambda: start + dt, lambda: start))
                polynomial = _control.cond(
                    accept, lambda: _polynomial(y, y_next, slopes, dt),
                    lambda: polynomial)
                state += (_next_size(dt, ratio, safety, ifactor, dfactor),
                          polynomial)
            with _graph.name_scope("update/history"):
                points, errors = history
                history = (points.write(points.size(), start + dt),
                           errors.write(errors.size(), ratio))
            return state, history, count + 1

        def next_time(solution, history, state, i):
            with _graph.name_scope("interpolate"):
                state, history, _ = _control.while_loop(
                    lambda state, *_: t[i] > state[3], step, (state, history, 0),
                    name="integrate_loop")
                y = _interpolated(state[5], state[2], state[3], t[i])
                return solution.write(i, y), history, state, i + 1

        with _graph.control_dependencies([_increasing(t)]):
            times = _array.size(t)
        solution = TensorArray(y0.dtype, size=times).write(0, y0)
        history = (TensorArray(t.dtype, size=0, dynamic_size=True),
                   TensorArray(rtol.dtype, size=0, dynamic_size=True))
        state = y0, func(y0, t[0]), t[0], t[0], first_step, [y0] * 5
        solution, history, _, _ = _control.while_loop(
            lambda solution, history, state, i: i < times, next_time,
            (solution, history, state, 1), name="interpolate_loop")
        y = solution.stack(name=scope)
        y.set_shape(t.get_shape().concatenate(y0.get_shape()))
        if not full_output:
            return y
        points = history[0].stack()
        return y, {"num_func_evals": 6 * _array.size(points) + 1,
                   "integrate_points": points,
                   "error_ratio": history[1].stack()}


def _midpoint(func, t, dt, y):
    size = _math.cast(dt, y.dtype)
    return size * func(y + func(y, t) * size / 2, t + dt / 2)


def _fourth_order(func, t, dt, y):
    k1 = func(y, t)
    middle = t + dt / 2
    size = _math.cast(dt, y.dtype)
    k2 = func(y + size * k1 / 2, middle)
    k3 = func(y + size * k2 / 2, middle)
    k4 = func(y + size * k3, t + dt)
    return _math.add_n([k1, 2 * k2, 2 * k3, k4]) * (size / 6)


# By method, how much y changes in a step.
_SLOPES = {"midpoint": _midpoint, "rk4": _fourth_order}


def _on_grid(change, y0, t, sizes, counts):
    """The values at the times `t`. In each interval there are `counts` steps of
    length `sizes`. `change`: how much y changes in a step."""
    def step(y, time, j, interval):
        dt = sizes[interval - 1]
        dy = _math.cast(change(time, dt, y), y.dtype)
        return y + dy, time + dt, j + 1, interval

    def over(solution, y, time, interval):
        y, time, _, _ = _control.while_loop(
            lambda _, __, j, k: j < counts[k - 1], step, (y, time, 0, interval))
        return solution.write(interval, y), y, time, interval + 1

    times = _array.size(t)
    first = t[0]
    solution = TensorArray(y0.dtype, times).write(0, y0)
    solution, _, _, _ = _control.while_loop(
        lambda _, __, ___, i: i < times, over, (solution, y0, first, 1))
    solution = solution.stack()
    solution.set_shape(t.get_shape().concatenate(y0.get_shape()))
    return solution
