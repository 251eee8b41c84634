"""Fourier transforms, as tf.spectral and tf.signal."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

fft, ifft = _raw.FFT, _raw.IFFT
fft2d, ifft2d = _raw.FFT2D, _raw.IFFT2D
fft3d, ifft3d = _raw.FFT3D, _raw.IFFT3D


def _lengths(x, rank, inverse):
    """The lengths that a real transform has by default: those of the input; of
    an inverse the last is that of the real signal."""
    known = x.get_shape()
    dims = (None if known.ndims is None
            else known[known.ndims - rank:].as_list())
    if dims is None or None in dims:
        dims = _array.shape(x)[-rank:]
        if inverse:
            last = _math.maximum(0, 2 * (dims[-1] - 1))
            dims = _array.concat([dims[:-1], [last]], 0)
        return dims
    if inverse:
        dims[-1] = max(0, 2 * (dims[-1] - 1))
    return convert_to_tensor(dims, dtypes.int32)


def _padded(x, rank, lengths, inverse):
    """x with zeros after it where it is shorter than the transform."""
    known = constant_value(lengths)
    have = x.get_shape()
    if known is not None and have.ndims is not None:
        need = [int(n) for n in known]
        if inverse:
            need[-1] = need[-1] // 2 + 1 if need[-1] > 0 else 0
        dims = have[have.ndims - rank:].as_list()
        # An inverse transform of a size 0 takes its input as it is.
        if None not in dims and all(d >= n for d, n in zip(dims, need)):
            return x
    need = lengths
    if inverse:
        half = _math.floordiv(lengths[-1:], 2) + 1
        need = _array.concat([lengths[:-1], half], 0)
    missing = _math.maximum(0, need - _array.shape(x)[-rank:])
    after = _array.concat([_array.zeros([_array.rank(x) - rank], dtypes.int32),
                           missing], 0)
    out = _array.pad(x, _array.stack([_array.zeros_like(after), after], 1))
    if have.ndims is not None:
        out.set_shape(have[:have.ndims - rank].concatenate([None] * rank))
    return out


def _real_transform(op_type, rank, inverse, doc):
    op = getattr(_raw, op_type)
    default = op_type.lower()

    def function(input_tensor, fft_length=None, name=None):
        with name_scope(name, default, [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(
                input_tensor, dtypes.complex64 if inverse else dtypes.float32)
            x.get_shape().with_rank_at_least(rank)
            if fft_length is None:
                lengths = _lengths(x, rank, inverse)
            else:
                lengths = convert_to_tensor(fft_length, dtypes.int32)
            return op(_padded(x, rank, lengths, inverse), lengths, name=scope)
    function.__name__ = function.__qualname__ = default
    function.__doc__ = doc + """

    fft_length: how long the real signal is in each dimension, with zeros after
    it or cut off; by default as the input tells."""
    return function


rfft = _real_transform("RFFT", 1, False, "The Fourier transform of real "
                       "numbers along the last dimension, its first half.")
irfft = _real_transform("IRFFT", 1, True, "What rfft did, undone.")
rfft2d = _real_transform("RFFT2D", 2, False, "The Fourier transform of real "
                         "numbers over the last two dimensions.")
irfft2d = _real_transform("IRFFT2D", 2, True, "What rfft2d did, undone.")
rfft3d = _real_transform("RFFT3D", 3, False, "The Fourier transform of real "
                         "numbers over the last three dimensions.")
irfft3d = _real_transform("IRFFT3D", 3, True, "What rfft3d did, undone.")


# Shifts.

def _shifted(x, axes, backwards, default, name):
    with name_scope(name, default) as scope:
        x = convert_to_tensor(x)
        sizes = _array.shape(x)
        if axes is None:
            axes = _math.range(_array.rank(x))
            shift = _math.floordiv(sizes, 2)
        else:
            axes = convert_to_tensor(axes, dtypes.int32)
            shift = _math.floordiv(_array.gather(
                sizes, _math.floormod(axes, _array.rank(x))), 2)
        return _raw.Roll(x, -shift if backwards else shift, axes, name=scope)


def fftshift(x, axes=None, name=None):
    """The element of frequency 0 moved to the middle, along all `axes` by
    default."""
    return _shifted(x, axes, False, "fftshift", name)


def ifftshift(x, axes=None, name=None):
    """What fftshift did, undone."""
    return _shifted(x, axes, True, "ifftshift", name)
