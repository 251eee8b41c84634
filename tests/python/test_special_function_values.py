"""Bessel functions, Dawson's integral and the exponential integral, in every
type, against their integrals and series in double precision."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from op_values import expect_close

TOLERANCE = {tf.bfloat16: 1e-2, tf.half: 2e-3, tf.float32: 2e-6, tf.float64: 1e-11}
X = np.array([.125, .5, 1, 1.5, 2.25, 3.5, 5, 7.5])  # exact in every type


def integral(f, end, steps):
    """By the trapezoidal rule, whose error vanishes for functions like these."""
    t = np.linspace(0, end, steps + 1)
    y = f(t)
    return (y.sum() - (y[0] + y[-1]) / 2) * end / steps


def simpson(f, end, steps):
    coarse = integral(f, end, steps)
    return (4 * integral(f, end, 2 * steps) - coarse) / 3


def bessel_i(n, x):
    return integral(lambda t: np.exp(x * np.cos(t)) * np.cos(n * t), np.pi, 200) / np.pi


def bessel_j(n, x):
    return integral(lambda t: np.cos(n * t - x * np.sin(t)), np.pi, 200) / np.pi


def bessel_k(n, x):
    return integral(lambda t: np.exp(-x * np.cosh(t)) * np.cosh(n * t), 9, 2000)


def bessel_y(n, x):
    """By the series (Abramowitz and Stegun 9.1.11 and 9.1.13)."""
    half, total = x / 2, 0
    if n == 0:
        term, harmonic = 1, 0
        for k in range(1, 60):
            term *= -half * half / (k * k)
            harmonic += 1 / k
            total -= harmonic * term
        return 2 / np.pi * ((np.log(half) + np.euler_gamma) * bessel_j(0, x) + total)
    term, harmonic = half, 1  # (-1)^k (x/2)^(2k+1) / (k! (k+1)!); H(k) + H(k+1)
    for k in range(60):
        total += (harmonic - 2 * np.euler_gamma) * term
        term *= -half * half / ((k + 1) * (k + 2))
        harmonic += 1 / (k + 1) + 1 / (k + 2)
    return (2 * np.log(half) * bessel_j(1, x) - 1 / half - total) / np.pi


def dawsn(x):
    return simpson(lambda t: np.exp(t * t - x * x), x, 40000)


def expint(x):
    total, term = 0, 1
    for k in range(1, 120):
        term *= x / k
        total += term / k
    return np.euler_gamma + np.log(x) + total


FUNCTIONS = {
    "BesselI0": lambda x: bessel_i(0, x),
    "BesselI0e": lambda x: bessel_i(0, x) * np.exp(-x),
    "BesselI1": lambda x: bessel_i(1, x),
    "BesselI1e": lambda x: bessel_i(1, x) * np.exp(-x),
    "BesselJ0": lambda x: bessel_j(0, x),
    "BesselJ1": lambda x: bessel_j(1, x),
    "BesselK0": lambda x: bessel_k(0, x),
    "BesselK0e": lambda x: bessel_k(0, x) * np.exp(x),
    "BesselK1": lambda x: bessel_k(1, x),
    "BesselK1e": lambda x: bessel_k(1, x) * np.exp(x),
    "BesselY0": lambda x: bessel_y(0, x),
    "BesselY1": lambda x: bessel_y(1, x),
    "Dawsn": dawsn,
    "Expint": expint,
}


def run(op, x, dtype):
    fed = tf.placeholder(tf.float64, x.shape)
    y = getattr(raw_ops, op)(tf.cast(fed, dtype))
    assert y.dtype == dtype
    with tf.Session() as session:
        return session.run(tf.cast(y, tf.float64), {fed: x})


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda t: t.name)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_special_functions(op, dtype):
    wanted = np.array([FUNCTIONS[op](x) for x in X])
    tolerance = TOLERANCE[dtype]
    expect_close(run(op, X, dtype), wanted, tolerance, tolerance / 10)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda t: t.name)
@pytest.mark.parametrize("op, sign", [
    ("BesselI0", 1), ("BesselI0e", 1), ("BesselI1", -1), ("BesselI1e", -1),
    ("BesselJ0", 1), ("BesselJ1", -1), ("Dawsn", -1)])
def test_even_and_odd_functions(op, sign, dtype):
    expect_close(run(op, -X, dtype), sign * run(op, X, dtype), 0, 0)
