"""Fourier transforms against NumPy's."""
import numpy as np
import pytest

from op_values import expect_close, run_old_op, run_op

COMPLEX = [np.complex64, np.complex128]
# Powers of two, small primes, and a prime that no small factor takes apart.
SHAPES = {1: [(8,), (2, 15), (3, 31), (1,)],
          2: [(4, 8), (2, 3, 5), (1, 7, 1)],
          3: [(2, 4, 8), (2, 3, 5, 2), (1, 1, 7)]}


def tolerance(dtype):
    return 1e-4 if np.dtype(dtype).itemsize <= 8 else 1e-11


def random_complex(shape, dtype, seed=0):
    random = np.random.RandomState(seed)
    return (random.randn(*shape) + 1j * random.randn(*shape)).astype(dtype)


def last_axes(rank):
    return tuple(range(-rank, 0))


def name_of(prefix, rank):
    return prefix + ("" if rank == 1 else "%dD" % rank)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("rank, shape", [(r, s) for r in SHAPES for s in SHAPES[r]])
def test_transforms_of_complex_numbers(rank, shape, dtype):
    x = random_complex(shape, dtype)
    for op, reference in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn)):
        got = run_op(name_of(op, rank), x)
        assert got.dtype == dtype
        expect_close(got, reference(x.astype(np.complex128), axes=last_axes(rank)),
                     rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transforms_of_old_graphs(rank):
    x = random_complex((2, 3, 4, 5), np.complex64)
    for op, reference in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn)):
        expect_close(run_old_op("Batch" + name_of(op, rank), x),
                     reference(x, axes=last_axes(rank)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rank, shape", [(r, s) for r in SHAPES for s in SHAPES[r]])
@pytest.mark.parametrize("shorter", [0, 1])
def test_transforms_of_real_numbers(rank, shape, dtype, shorter):
    # Of an input that is longer than the transform, the rest is cut off.
    length = [max(1, d - shorter) for d in shape[-rank:]]
    x = np.random.RandomState(1).randn(*shape).astype(dtype)
    result = np.complex64 if dtype == np.float32 else np.complex128
    got = run_op(name_of("RFFT", rank), x, np.int32(length), Tcomplex=result)
    assert got.dtype == result
    expect_close(got, np.fft.rfftn(x.astype(np.float64), length, last_axes(rank)),
                 rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("rank, shape", [(r, s) for r in SHAPES for s in SHAPES[r]])
@pytest.mark.parametrize("odd", [0, 1])
def test_transforms_to_real_numbers(rank, shape, dtype, odd):
    length = list(shape[-rank:])
    length[-1] = max(1, 2 * (length[-1] - 1) + odd)
    x = random_complex(shape, dtype, seed=2)
    result = np.float32 if dtype == np.complex64 else np.float64
    got = run_op(name_of("IRFFT", rank), x, np.int32(length), Treal=result)
    assert got.dtype == result
    expect_close(got, np.fft.irfftn(x.astype(np.complex128), length, last_axes(rank)),
                 rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transforms_back_are_inverse(rank):
    shape = (2, 3, 4, 6)
    x = np.random.RandomState(3).randn(*shape).astype(np.float32)
    length = np.int32(shape[-rank:])
    there = run_op(name_of("RFFT", rank), x, length)
    expect_close(run_op(name_of("IRFFT", rank), there, length), x, atol=1e-5)
