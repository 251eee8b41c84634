"""Gradients of rounding to a quantized range: they pass inside the range, and
go to its end outside."""
import numpy as np
import pytest

from op_values import expect_close, run_op

RANGES = [(-6., 6.), (0., 4.1), (-3.3, 1.7), (-.0001, 5.)]


def nudged(low, high, bits, narrow):
    """The range moved so that zero is one of its steps."""
    first, last = (1 if narrow else 0), 2 ** bits - 1
    scale = (high - low) / (last - first)
    zero = np.clip(np.floor(first - low / scale + .5), first, last)
    return (first - zero) * scale, (last - zero) * scale


def gradients(grads, x, low, high, bits, narrow):
    low, high = nudged(low, high, bits, narrow)
    below, above = x < low, x > high
    return (np.where(below | above, 0, grads), np.sum(grads * below),
            np.sum(grads * above))


def example(columns=50):
    random = np.random.RandomState(0)
    return (random.randn(40, columns).astype(np.float32),
            random.uniform(-9, 9, (40, columns)).astype(np.float32))


@pytest.mark.parametrize("low, high", RANGES)
@pytest.mark.parametrize("bits, narrow", [(8, False), (8, True), (4, False), (2, True)])
def test_gradients_with_one_range(low, high, bits, narrow):
    grads, x = example()
    wanted = gradients(grads, x, low, high, bits, narrow)
    got = run_op("FakeQuantWithMinMaxVarsGradient", grads, x, np.float32(low),
                 np.float32(high), num_bits=bits, narrow_range=narrow)
    for g, w in zip(got, wanted):
        expect_close(g, w, 1e-4, 1e-4)
    got = run_op("FakeQuantWithMinMaxArgsGradient", grads, x, min=low, max=high,
                 num_bits=bits, narrow_range=narrow)
    expect_close(got, wanted[0])


@pytest.mark.parametrize("bits, narrow", [(8, False), (8, True), (4, False)])
def test_gradients_with_a_range_for_each_channel(bits, narrow):
    grads, x = example(len(RANGES))
    low, high = np.float32(RANGES).T
    wanted = [gradients(grads[:, c], x[:, c], *RANGES[c], bits, narrow)
              for c in range(len(RANGES))]
    got = run_op("FakeQuantWithMinMaxVarsPerChannelGradient", grads, x, low, high,
                 num_bits=bits, narrow_range=narrow)
    expect_close(got[0], np.stack([w[0] for w in wanted], axis=1))
    expect_close(got[1], [w[1] for w in wanted], 1e-4, 1e-4)
    expect_close(got[2], [w[2] for w in wanted], 1e-4, 1e-4)


@pytest.mark.parametrize("bits, narrow", [(8, False), (8, True), (4, False)])
def test_values_with_a_range_for_each_channel(bits, narrow):
    x = example(len(RANGES))[1]
    low, high = np.float32(RANGES).T
    got = run_op("FakeQuantWithMinMaxVarsPerChannel", x, low, high, num_bits=bits,
                 narrow_range=narrow)
    for c, (a, b) in enumerate(RANGES):
        a, b = nudged(a, b, bits, narrow)
        step = (b - a) / (2 ** bits - 1 - narrow)
        wanted = np.clip(x[:, c].astype(np.float64), a, b)
        # Values that lie between two steps go to either, by rounding.
        off = np.abs(got[:, c] - wanted)
        assert off.max() <= step / 2 + 1e-5
        steps = (got[:, c] - a) / step
        expect_close(steps, np.round(steps), atol=1e-3)
