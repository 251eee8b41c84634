"""LSTMBlockCellGrad against derivatives taken numerically."""
import numpy as np
import pytest

from op_values import expect_close, numeric_gradient, run_op


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.float16, 2e-2)])
@pytest.mark.parametrize("peephole", [True, False])
def test_gradients_of_an_lstm_cell(peephole, dtype, tolerance):
    batch, inputs, units = 3, 4, 2
    random = np.random.RandomState(0)
    part = lambda *shape: random.randn(*shape).astype(dtype).astype(np.float64)
    x, c0, h0 = part(batch, inputs), part(batch, units), part(batch, units)
    w, b = part(inputs + units, 4 * units), part(4 * units)
    peepholes = part(3, units) if peephole else np.zeros((3, units))
    dc, dh = part(batch, units), part(batch, units)
    sums = np.concatenate([x, h0], 1) @ w + b

    def cell(sums, c0, peepholes):
        """(i, c, f, o, tanh of the candidate, tanh of c, h)."""
        si, sc, sf, so = np.split(sums, 4, axis=1)
        i = sigmoid(si + peepholes[0] * c0)
        f = sigmoid(sf + peepholes[1] * c0)
        candidate = np.tanh(sc)
        c = f * c0 + i * candidate
        o = sigmoid(so + peepholes[2] * c)
        return i, c, f, o, candidate, np.tanh(c), o * np.tanh(c)

    def results(*given):
        out = cell(*given)
        return np.stack([out[1], out[6]])

    weights = np.stack([dc, dh])
    i, c, f, o, candidate, co, _ = cell(sums, c0, peepholes)
    cast = lambda *values: [v.astype(dtype) for v in values]
    got = run_op("LSTMBlockCellGrad", *cast(
        x, c0, h0, w, *peepholes, b, i, c, f, o, candidate, co, dc, dh),
        use_peephole=peephole)
    close = dict(rtol=tolerance, atol=tolerance)
    expect_close(got[0], numeric_gradient(
        lambda v: results(sums, v, peepholes), c0, weights), **close)
    expect_close(got[1], numeric_gradient(
        lambda v: results(v, c0, peepholes), sums, weights), **close)
    if peephole:
        wanted = numeric_gradient(lambda v: results(sums, c0, v), peepholes, weights)
        for k in range(3):
            expect_close(got[2 + k], wanted[k], **close)
