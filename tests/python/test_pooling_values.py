"""Gradients of pooling, and gradients of those, against references in NumPy."""
import itertools

import numpy as np
import pytest

from op_values import expect_close, numeric_gradient, run_op

WINDOWS = [((3, 2), (2, 2), "VALID"), ((2, 3), (1, 2), "SAME"), ((3, 3), (2, 3), "SAME")]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]
TYPES = [np.float16, np.float32, np.float64] + INTEGERS


def windows(sizes, ksize, strides, padding):
    """For each output place, what its window covers, by axis: (place, ranges)."""
    axes = []
    for n, k, s in zip(sizes, ksize, strides):
        if padding == "VALID":
            count, before = (n - k) // s + 1, 0
        else:
            count = -(-n // s)
            before = max(0, (count - 1) * s + k - n) // 2
        axes.append([range(max(0, i * s - before), min(n, i * s - before + k))
                     for i in range(count)])
    shape = tuple(map(len, axes))
    return shape, [(place, [a[i] for a, i in zip(axes, place)])
                   for place in np.ndindex(*shape)]


def winners(x, *window):
    """The pooled maxima, and by output element the index of the first maximum."""
    shape, places = windows(x.shape[1:-1], *window)
    out = np.zeros((x.shape[0], *shape, x.shape[-1]), x.dtype)
    first = {}
    for b, c in np.ndindex(x.shape[0], x.shape[-1]):
        for place, ranges in places:
            at = [(b, *i, c) for i in itertools.product(*ranges)]
            best = max(at, key=lambda i: x[i])
            out[(b, *place, c)] = x[best]
            first[(b, *place, c)] = best
    return out, first


def example(window, dtype, spatial):
    """Distinct elements, their pooled maxima, where they were."""
    shape = (2, *spatial, 3)
    random = np.random.RandomState(0)
    # Within a channel no element occurs twice.
    x = np.stack([random.permutation(int(np.prod(spatial))) for _ in range(6)])
    x = np.moveaxis(x.reshape(2, 3, *spatial), 1, -1).astype(dtype)
    assert x.shape == shape
    return (x, *winners(x, *window))


def attrs(window):
    ksize, strides, padding = window
    return dict(ksize=[1, *ksize, 1], strides=[1, *strides, 1], padding=padding)


def gather(grads, first, shape):
    wanted = np.zeros(shape, grads.dtype)
    for place, best in first.items():
        wanted[place] = grads[best]
    return wanted


def scatter(grads, first, shape):
    wanted = np.zeros(shape, grads.dtype)
    for place, best in first.items():
        wanted[best] += grads[place]
    return wanted


def random_like(x, seed=1):
    return np.random.RandomState(seed).randint(1, 9, x.shape).astype(x.dtype)


@pytest.mark.parametrize("dtype", TYPES + [np.uint32, np.uint64])
@pytest.mark.parametrize("window", WINDOWS)
def test_second_gradient_of_max_pooling(window, dtype):
    x, out, first = example(window, dtype, (5, 6))
    grads = random_like(x)
    wanted = gather(grads, first, out.shape)
    expect_close(run_op("MaxPoolGradGrad", x, out, grads, **attrs(window)), wanted)
    ksize, strides, padding = window
    expect_close(run_op("MaxPoolGradGradV2", x, out, grads, np.int32([1, *ksize, 1]),
                        np.int32([1, *strides, 1]), padding=padding), wanted)


@pytest.mark.parametrize("output,wanted", [(3, 12), (2, 11), (7, 0), (np.nan, 0)])
def test_second_gradient_of_max_pooling_reads_orig_output(output, wanted):
    x = np.float32([np.nan, 2, 3, 3])
    grads = np.float32([10, 11, 12, 13])
    for op, shape in [("MaxPoolGradGrad", (1, 2, 2, 1)),
                      ("MaxPool3DGradGrad", (1, 1, 2, 2, 1))]:
        ones = (1,) * len(shape)
        got = run_op(op, x.reshape(shape), np.full(ones, output, np.float32),
                     grads.reshape(shape), ksize=list(shape), strides=list(ones),
                     padding="VALID")
        assert got.ravel().tolist() == [wanted]


@pytest.mark.parametrize("dtype", TYPES + [np.uint32, np.uint64])
@pytest.mark.parametrize("window", WINDOWS)
def test_max_pooling_with_windows_that_are_inputs(window, dtype):
    x, out, first = example(window, dtype, (5, 6))
    ksize, strides, padding = window
    inputs = np.int32([1, *ksize, 1]), np.int32([1, *strides, 1])
    if dtype not in (np.uint32, np.uint64):
        expect_close(run_op("MaxPoolV2", x, *inputs, padding=padding), out)
    grads = random_like(out)
    expect_close(run_op("MaxPoolGradV2", x, out, grads, *inputs, padding=padding),
                 scatter(grads, first, x.shape))


@pytest.mark.parametrize("include_batch", [True, False])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("window", WINDOWS)
def test_second_gradient_of_max_pooling_by_indices(window, dtype, index, include_batch):
    x, out, first = example(window, dtype, (5, 6))
    argmax = np.zeros(out.shape, index)
    for place, best in first.items():
        flat = np.ravel_multi_index(best, x.shape)
        argmax[place] = flat if include_batch else flat % (x.size // 2)
    grads = random_like(x)
    got = run_op("MaxPoolGradGradWithArgmax", x, grads, argmax,
                 include_batch_in_index=include_batch, **attrs(window))
    expect_close(got, gather(grads, first, out.shape))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("window", [((2, 3, 2), (2, 1, 2), "VALID"),
                                    ((2, 2, 3), (1, 2, 2), "SAME")])
def test_gradients_of_max_pooling_in_three_dimensions(window, dtype):
    x, out, first = example(window, dtype, (3, 4, 5))
    grads = random_like(x)
    expect_close(run_op("MaxPool3DGradGrad", x, out, grads, **attrs(window)),
                 gather(grads, first, out.shape))
    grads = random_like(out)
    expect_close(run_op("MaxPool3DGrad", x, out, grads, **attrs(window)),
                 scatter(grads, first, x.shape))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("window", [((2, 3, 2), (2, 1, 2), "VALID"),
                                    ((2, 2, 3), (1, 2, 2), "SAME")])
def test_gradient_of_average_pooling_in_three_dimensions(window, dtype):
    spatial = (3, 4, 5)
    shape, places = windows(spatial, *window)

    def pool(x):
        out = np.zeros((2, *shape, 3))
        for place, ranges in places:
            out[(slice(None), *place)] = np.mean(
                [x[(slice(None), *i)] for i in itertools.product(*ranges)], axis=0)
        return out

    grads = np.random.RandomState(0).randn(2, *shape, 3).astype(dtype)
    got = run_op("AvgPool3DGrad", np.int32([2, *spatial, 3]), grads, **attrs(window))
    wanted = numeric_gradient(pool, np.zeros((2, *spatial, 3)),
                              grads.astype(np.float64), step=1.)
    tolerance = 1e-2 if dtype == np.float16 else 1e-5
    expect_close(got, wanted, tolerance, tolerance)
