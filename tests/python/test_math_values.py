"""Mathematical functions and gradients of layers against formulas in NumPy."""
import functools
import itertools
import math

import numpy as np
import pytest

from op_values import expect_close, numeric_gradient, run_old_op, run_op

FLOATS = [(np.float16, 2e-2), (np.float32, 1e-4), (np.float64, 1e-9)]


@pytest.mark.parametrize("dtype, tolerance", FLOATS + [(np.complex64, 1e-4),
                                                       (np.complex128, 1e-9)])
def test_xlog1py_and_its_kin_are_zero_where_x_is(dtype, tolerance):
    x, y = np.array([0, 0, 2, .5], dtype), np.array([-1, 3, .5, 2], dtype)
    close = dict(rtol=tolerance, atol=tolerance)
    log1p = np.log1p(np.array([0, 3, .5, 2])) * np.array([0, 0, 2, .5])
    expect_close(run_op("Xlog1py", x, y), log1p, **close)
    y = np.array([0, 3, .5, 2], dtype)
    expect_close(run_op("Xlogy", x, y), [0, 0, 2 * np.log(.5), .5 * np.log(2)], **close)
    y = np.array([0, 3, .5, 2], dtype)
    expect_close(run_op("Xdivy", x, y + (y == 0)), [0, 0, 4, .25], **close)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.float64, 1e-8)])
def test_ndtri_inverts_the_normal_distribution(dtype, tolerance):
    x = np.linspace(-3, 3, 25)
    probability = np.array([.5 * math.erfc(-v / 2 ** .5) for v in x])
    expect_close(run_op("Ndtri", probability.astype(dtype)), x, tolerance, tolerance)
    assert run_op("Ndtri", np.array([0, 1], dtype)).tolist() == [-np.inf, np.inf]


def hurwitz(s, q, terms=2000):
    """sum of (k + q)^-s, its tail by Euler and Maclaurin."""
    end = terms + q
    head = np.sum((np.arange(terms) + q) ** -float(s))
    return head + end ** (1 - s) / (s - 1) + end ** -s / 2 + s * end ** (-s - 1) / 12


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.float64, 1e-9)])
def test_polygamma_is_a_derivative_of_digamma(dtype, tolerance):
    orders, x = np.array([1, 2, 3, 4, 1], dtype), np.array([.5, 1, 2.5, 4, 9], dtype)
    wanted = [(-1) ** (n + 1) * math.factorial(int(n)) * hurwitz(n + 1., v)
              for n, v in zip(orders.astype(float), x.astype(float))]
    expect_close(run_op("Polygamma", orders, x), wanted, tolerance, 0)
    digamma = run_op("Polygamma", np.array([0], dtype), np.array([1], dtype))
    expect_close(digamma, [-0.5772156649015329], tolerance)


def lower_gamma(a, x, steps=200000):
    """The regularized incomplete gamma function, for a > 1, by Simpson's rule."""
    t = np.linspace(0, x, steps + 1)
    weights = np.ones(steps + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    y = np.zeros_like(t)
    y[1:] = np.exp((a - 1) * np.log(t[1:]) - t[1:] - math.lgamma(a))
    return np.sum(weights * y) * x / steps / 3


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-3), (np.float64, 1e-4)])
def test_gradient_of_the_incomplete_gamma_function_by_its_shape(dtype, tolerance):
    a, x = np.array([2.5, 4, 6, 9]), np.array([1, 5, 4.5, 12.])
    wanted = [(lower_gamma(p + 1e-4, q) - lower_gamma(p - 1e-4, q)) / 2e-4
              for p, q in zip(a, x)]
    expect_close(run_op("IgammaGradA", a.astype(dtype), x.astype(dtype)), wanted,
                 tolerance, tolerance * .1)


@pytest.mark.parametrize("dtype, tolerance", FLOATS)
def test_scaled_bessel_functions(dtype, tolerance):
    x = np.array([-3, -.5, 0, .25, 2, 8, 20.])
    # The integral of exp(x cos t) cos(n t) over a half turn, at midpoints.
    t = (np.arange(4000) + .5) * np.pi / 4000
    for order, op in ((0, "BesselI0e"), (1, "BesselI1e")):
        wanted = [np.mean(np.exp(v * np.cos(t) - abs(v)) * np.cos(order * t))
                  for v in x]
        if dtype != np.float16:
            expect_close(run_op(op, x.astype(dtype)), wanted, tolerance, tolerance)


@pytest.mark.parametrize("value, wanted", [
    (np.float32(0), False), (np.float32(.5), True), (np.int64(-1), True),
    (np.float32([]), False), (np.float32([0]), True), (np.array(b"", object), False),
    (np.array(b"x", object), True), (np.array(False), False)])
def test_what_is_true(value, wanted):
    assert run_op("ToBool", value) == wanted


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_, np.complex64])
def test_shapes_are_ensured_and_values_pass(dtype):
    x = np.array([[0, 1, 2]]).astype(dtype)
    expect_close(run_op("EnsureShape", x, shape=[None, 3]), x)
    expect_close(run_op("GuaranteeConst", x), x)
    expect_close(run_op("Snapshot", x), x)
    expect_close(run_op("StopGradient", x), x)


def volume(x, filters, strides, padding, dilations=(1, 1, 1)):
    """A convolution in three dimensions, in double precision."""
    spatial, kernel = x.shape[1:4], filters.shape[:3]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    if padding == "VALID":
        out = [(n - r) // s + 1 for n, r, s in zip(spatial, reach, strides)]
        before = [0, 0, 0]
    else:
        out = [-(-n // s) for n, s in zip(spatial, strides)]
        before = [max(0, (o - 1) * s + r - n) // 2
                  for o, s, r, n in zip(out, strides, reach, spatial)]
    y = np.zeros((x.shape[0], *out, filters.shape[-1]))
    for place in np.ndindex(*out):
        for tap in itertools.product(*map(range, kernel)):
            at = [p * s - b + t * d for p, s, b, t, d in zip(
                place, strides, before, tap, dilations)]
            if all(0 <= a < n for a, n in zip(at, spatial)):
                y[(slice(None), *place)] += x[(slice(None), *at)] @ filters[tap]
    return y


@functools.cache
def volume_example(strides, padding):
    """(x, filters, gradients of the output, of x, of the filters)."""
    random = np.random.RandomState(0)
    x, filters = random.randn(2, 3, 4, 3, 2), random.randn(2, 3, 2, 2, 3)
    grads = random.randn(*volume(x, filters, strides, padding).shape)
    return (x, filters, grads,
            numeric_gradient(lambda v: volume(v, filters, strides, padding), x, grads, 1.),
            numeric_gradient(lambda v: volume(x, v, strides, padding), filters, grads, 1.))


@pytest.mark.parametrize("dtype, tolerance", FLOATS)
@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("strides, padding", [((1, 1, 1), "VALID"), ((2, 1, 2), "SAME")])
def test_gradients_of_convolutions_in_three_dimensions(strides, padding, version,
                                                       dtype, tolerance):
    *given, by_input, by_filter = volume_example(strides, padding)
    x, filters, grads = (v.astype(dtype) for v in given)
    attrs = dict(strides=[1, *strides, 1], padding=padding)
    run = run_op if version else run_old_op
    # The early ops took the tensors whose shapes the later ones take.
    size = (lambda v: np.int32(v.shape)) if version else lambda v: v
    got = run("Conv3DBackpropInput" + version, size(x), filters, grads, **attrs)
    expect_close(got, by_input, tolerance, 3 * tolerance)
    got = run("Conv3DBackpropFilter" + version, x, size(filters), grads, **attrs)
    expect_close(got, by_filter, tolerance, 10 * tolerance)


@functools.cache
def plane_example():
    random = np.random.RandomState(0)
    x, filters = random.randn(2, 5, 4, 2), random.randn(3, 2, 2, 3)
    conv = lambda a, b: volume(a[:, None], b[None], (1, 2, 1), "SAME")[:, 0]
    grads = random.randn(*conv(x, filters).shape)
    return (x, filters, grads, numeric_gradient(lambda v: conv(v, filters), x, grads, 1.),
            numeric_gradient(lambda v: conv(x, v), filters, grads, 1.))


@pytest.mark.parametrize("dtype, tolerance", FLOATS)
def test_gradients_of_convolutions_that_take_the_tensors_for_their_sizes(dtype,
                                                                        tolerance):
    *given, by_input, by_filter = plane_example()
    x, filters, grads = (v.astype(dtype) for v in given)
    attrs = dict(strides=[1, 2, 1, 1], padding="SAME")
    expect_close(run_op("Conv2DBackpropInputV2", x, filters, grads, **attrs), by_input,
                 tolerance, 3 * tolerance)
    expect_close(run_op("Conv2DBackpropFilterV2", x, filters, grads, **attrs),
                 by_filter, tolerance, 10 * tolerance)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("version", ["V2", "V3"])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-3), (np.float16, 2e-2)])
def test_gradients_of_batch_normalization(dtype, tolerance, version, layout, training):
    random = np.random.RandomState(0)
    x, grads = random.randn(2, 3, 4, 5), random.randn(2, 3, 4, 5)
    x, grads = (v.astype(dtype).astype(np.float64) for v in (x, grads))
    scale, epsilon, axes = random.uniform(.5, 2, 5), .01, (0, 1, 2)
    fixed = random.randn(5) * .1, random.uniform(.5, 1.5, 5)

    def normalize(v, by):
        mean, var = (v.mean(axes), v.var(axes)) if training else fixed
        return (v - mean) / np.sqrt(var + epsilon) * by

    mean, var = (x.mean(axes), x.var(axes)) if training else fixed
    wanted = [numeric_gradient(lambda v: normalize(v, scale), x, grads),
              numeric_gradient(lambda v: normalize(x, v), scale, grads),
              grads.sum(axes)]
    if layout == "NCHW":
        x, grads, wanted[0] = (v.transpose(0, 3, 1, 2) for v in (x, grads, wanted[0]))
    floats = [np.float32(v) for v in (scale, mean, var)]
    if version == "V3":
        floats.append(np.float32([]))
    got = run_op("FusedBatchNormGrad" + version, grads.astype(dtype), x.astype(dtype),
                 *floats, epsilon=epsilon, data_format=layout, is_training=training)
    assert got[0].dtype == dtype
    for value, reference in zip(got, wanted):
        expect_close(value, reference, tolerance, tolerance)


def test_gradients_of_normalization_in_old_graphs():
    random = np.random.RandomState(0)
    t, grads = random.randn(2, 3, 2, 4), random.randn(2, 3, 2, 4)
    m, v, gamma = random.randn(4), random.uniform(.5, 2, 4), random.randn(4)
    given = [t, m, v, gamma]

    def normalize(t, m, v, gamma):
        return (t - m) / np.sqrt(v + .001) * gamma

    wanted = []
    for i in (0, 1, 2):
        wanted.append(numeric_gradient(
            lambda x: normalize(*given[:i], x, *given[i + 1:]), given[i], grads))
    wanted += [grads.sum((0, 1, 2)), numeric_gradient(
        lambda x: normalize(t, m, v, x), gamma, grads)]
    got = run_old_op("BatchNormWithGlobalNormalizationGrad",
                     *map(np.float32, given), np.float32(grads), variance_epsilon=.001, scale_after_normalization=True)
    for value, reference in zip(got, wanted):
        expect_close(value, reference, 1e-3, 1e-3)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("bits", [8, 4])
def test_values_are_rounded_to_quantized_ones(signed, bits):
    low, high = (-4., 4.) if signed else (0., 4.)
    x = np.linspace(low, high, 41).astype(np.float32)
    most = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
    step = 4. / most
    got = run_old_op("QuantizeAndDequantize", x, signed_input=signed,
                     num_bits=bits, range_given=True, input_min=low, input_max=high)
    assert np.abs(got - x).max() <= step / 2 + 1e-5
    expect_close(got / step, np.round(got / step), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16])
def test_bias_is_added_as_in_old_graphs(dtype):
    x, bias = np.arange(6).reshape(2, 3).astype(dtype), np.array([1, 2, 3], dtype)
    expect_close(run_op("BiasAddV1", x, bias), x + bias)
