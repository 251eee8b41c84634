"""tf.signal: windows, frames, short-time Fourier transforms, cosine transforms
and mel spectrograms."""
import math

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.math import spectral_ops as _spectral
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_ops import _size_of_axis


def _number(x, what):
    """A scalar as an int if the graph tells it, else as an int32 tensor."""
    x = convert_to_tensor(x, name=what)
    x.get_shape().assert_has_rank(0)
    known = constant_value(x)
    return _math.cast(x, dtypes.int32) if known is None else int(known)


# Windows.

def _cosine_window(default, a, b, length, periodic, dtype, name):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Found %s"
                         % dtype)
    with name_scope(name, default, [length, periodic]):
        length = _number(length, "window_length")
        if isinstance(length, int) and length == 1:
            return _array.ones([1], dtype)
        # Odd lengths are symmetric in either case.
        periodic = _math.cast(convert_to_tensor(periodic, dtypes.bool_),
                              dtypes.int32)
        steps = length + periodic * (1 - length % 2) - 1
        at = _math.cast(_math.range(length), dtype)
        angle = at * (2 * math.pi) / _math.cast(steps, dtype)
        window = a - b * _math.cos(angle)
        if isinstance(length, int):
            return window
        return _array.where(_array.fill([length], _math.equal(length, 1)),
                            _array.ones_like(window), window)


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """A raised cosine, 0 at its ends. periodic: one that goes on after an even
    length, for spectra."""
    return _cosine_window("hann_window", 0.5, 0.5, window_length, periodic,
                          dtype, name)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32,
                   name=None):
    """A raised cosine, 0.08 at its ends; `periodic` as for hann_window."""
    return _cosine_window("hamming_window", 0.54, 0.46, window_length, periodic,
                          dtype, name)


# Frames.

def _frame_indices(frames, length, step):
    """[frames, length]: the places of each frame's samples."""
    if all(isinstance(x, int) for x in (frames, length, step)):
        return np.int32(np.arange(frames)[:, None] * step
                        + np.arange(length)[None])
    starts = _array.expand_dims(_math.range(frames) * step, 1)
    return starts + _array.expand_dims(_math.range(length), 0)


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1,
          name=None):
    """The parts of frame_length along `axis` that begin at every multiple of
    frame_step, as two dimensions. pad_end: those that reach beyond the end too,
    filled with pad_value."""
    with name_scope(name, "frame", [signal, frame_length, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        length = _number(frame_length, "frame_length")
        step = _number(frame_step, "frame_step")
        axis = _number(axis, "axis")
        if not isinstance(axis, int):
            raise ValueError("axis must be known when the graph is built")
        n = _size_of_axis(signal, axis)
        known = all(isinstance(x, int) for x in (n, length, step))
        larger = max if known else _math.maximum
        if pad_end:
            count = -(-n // step)
            missing = larger(0, length + step * (count - 1) - n)
            signal = _padded(signal, missing, pad_value, axis)
        else:
            count = larger(0, 1 + (n - length) // step)
        return _array.gather(signal, _frame_indices(count, length, step),
                             axis=axis)


def _padded(x, count, value, axis):
    rank = x._rank()
    if rank is None:
        rank = _array.rank(x)
    at = axis + rank if axis < 0 else axis
    paddings = _array.concat(
        [_array.zeros([at, 2], dtypes.int32), [[0, count]],
         _array.zeros([rank - at - 1, 2], dtypes.int32)], 0)
    return _array.pad(x, paddings, constant_values=convert_to_tensor(
        value, x.dtype.base_dtype))


def overlap_and_add(signal, frame_step, name=None):
    """What frame did, undone: frames, the last two dimensions, are added where
    they overlap."""
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.get_shape().with_rank_at_least(2)
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        if not frame_step.dtype.is_integer:
            raise ValueError("frame_step must be an integer. Got %s"
                             % frame_step.dtype)
        step = _number(frame_step, "frame_step")
        frames, length = (_size_of_axis(signal, axis) for axis in (-2, -1))
        total = (frames - 1) * step + length
        places = _array.reshape(convert_to_tensor(
            _frame_indices(frames, length, step)), [-1])
        outer = _array.shape(signal)[:-2]
        rows = _array.transpose(_array.reshape(
            signal, [-1, frames * length]))
        added = _array.transpose(_raw.UnsortedSegmentSum(rows, places, total))
        out = _array.reshape(added, _array.concat([outer, [total]], 0))
        known = signal.get_shape()
        if known.ndims is not None:
            out.set_shape(known[:-2].concatenate(
                [total if isinstance(total, int) else None]))
        return out


# Short-time Fourier transforms.

def _fft_length(fft_length, frame_length):
    """By default the power of two that holds a frame."""
    if fft_length is not None:
        return _number(fft_length, "fft_length")
    if isinstance(frame_length, int):
        return 1 << max(frame_length - 1, 0).bit_length()
    log2 = (_math.log(_math.cast(frame_length, dtypes.float32))
            / math.log(2.0))
    return _math.cast(_math.pow(2.0, _math.ceil(log2)), dtypes.int32)


def stft(signals, frame_length, frame_step, fft_length=None,
         window_fn=hann_window, pad_end=False, name=None):
    """[..., frames, fft_length / 2 + 1]: the Fourier transforms of the frames of
    the last dimension, each times a window (None: as it is)."""
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.get_shape().with_rank_at_least(1)
        length = _number(frame_length, "frame_length")
        frames = frame(signals, length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames *= window_fn(length, dtype=frames.dtype)
        return _spectral.rfft(frames, [_fft_length(fft_length, length)])


def inverse_stft(stfts, frame_length, frame_step, fft_length=None,
                 window_fn=hann_window, name=None):
    """Signals whose stft is `stfts`, where the windows of both make up for each
    other: see inverse_stft_window_fn."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.get_shape().with_rank_at_least(2)
        length = _number(frame_length, "frame_length")
        size = _fft_length(fft_length, length)
        frames = _spectral.irfft(stfts, [size])
        if isinstance(size, int) and isinstance(length, int):
            if size < length:
                frames = _padded(frames, length - size, 0, -1)
        else:
            frames = _padded(frames, _math.maximum(0, length - size), 0, -1)
        frames = frames[..., :length]
        if window_fn is not None:
            frames *= window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window,
                           name=None):
    """The window_fn of inverse_stft that gives the signal back after an stft
    with forward_window_fn."""
    def window_fn(frame_length, dtype):
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = _number(frame_length, "frame_length")
            step = _number(frame_step, "frame_step")
            window = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            # The squares of all windows at each place of a step.
            squares = _padded(_math.square(window), overlaps * step - length,
                              0, -1)
            total = _math.reduce_sum(_array.reshape(squares, [overlaps, step]),
                                     0, keepdims=True)
            total = _array.reshape(_array.tile(total, [overlaps, 1]),
                                   [overlaps * step])
            return window / total[:length]
    return window_fn


# Cosine transforms.

def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The cosine transform of type 1, 2 or 3 along the last dimension. n: that
    many elements, cut off or filled with 0. norm "ortho": orthonormal, for
    types 2 and 3."""
    if axis != -1:
        raise NotImplementedError("axis must be -1. Got: %s" % axis)
    if n is not None and (n != int(n) or n < 1):
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if norm not in (None, "ortho"):
        raise ValueError("Unknown normalization. Expected None or 'ortho', "
                         "got: %s" % norm)
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input, dtypes.float32)
        if n is not None:
            size = _size_of_axis(x, -1)
            if not isinstance(size, int):
                x = _padded(x, _math.maximum(0, n - size), 0, -1)
            elif size < n:
                x = _padded(x, n - size, 0, -1)
            x = x[..., :n]
        size = _size_of_axis(x, -1)
        if type == 1:
            if isinstance(size, int) and size < 2:
                raise ValueError("Type-I DCT requires the dimension to be "
                                 "greater than one.")
            both = _array.concat([x, x[..., -2:0:-1]], -1)
            return _math.real(_spectral.rfft(both))
        at = _math.cast(_math.range(size), dtypes.float32)
        real_size = _math.cast(size, dtypes.float32)
        angle = at * (math.pi * 0.5) / real_size
        weights = None
        if norm == "ortho":
            # The first element counts half as much, squared.
            first = _math.cast(_math.equal(at, 0.0), dtypes.float32)
            weights = 1.0 + first * (math.sqrt(0.5) - 1.0)
        if type == 2:
            turn = 2.0 * _math.exp(_math.complex(_array.zeros_like(angle),
                                                 -angle))
            out = _math.real(_spectral.rfft(x, [2 * size])[..., :size] * turn)
            if weights is not None:
                out *= weights * math.sqrt(0.5) * _math.rsqrt(real_size)
            return out
        if weights is not None:
            # 1 for the first element and sqrt(1 / 2) for the others.
            x *= (math.sqrt(0.5) / weights) * _math.sqrt(real_size)
        else:
            x *= real_size
        turn = 2.0 * _math.exp(_math.complex(_array.zeros_like(angle), angle))
        spectrum = turn * _math.complex(x, _array.zeros_like(x))
        return _spectral.irfft(spectrum, [2 * size])[..., :size]


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """What dct did, undone, up to a factor unless it is orthonormal."""
    return dct(input, type={1: 1, 2: 3, 3: 2}.get(type, type), n=n, axis=axis,
               norm=norm, name=name)


# Mel spectrograms.

def _mel(hertz):
    return 1127.0 * _math.log(1.0 + hertz / 700.0)


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129,
                                sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32,
                                name=None):
    """[num_spectrogram_bins, num_mel_bins]: how much each bin of a spectrogram,
    from 0 to half the sample rate, counts for each of triangles that overlap
    by half and are equally wide on the mel scale."""
    dtype = dtypes.as_dtype(dtype)
    known_rate = not isinstance(sample_rate, _array.Tensor)
    if num_mel_bins <= 0:
        raise ValueError("num_mel_bins must be positive. Got: %s"
                         % num_mel_bins)
    if known_rate and sample_rate <= 0.0:
        raise ValueError("sample_rate must be positive. Got: %s" % sample_rate)
    if lower_edge_hertz < 0.0:
        raise ValueError("lower_edge_hertz must be non-negative. Got: %s"
                         % lower_edge_hertz)
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError("lower_edge_hertz %.1f >= upper_edge_hertz %.1f"
                         % (lower_edge_hertz, upper_edge_hertz))
    if known_rate and upper_edge_hertz > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency "
            "(sample_rate / 2). Got: %s for sample_rate: %s"
            % (upper_edge_hertz, sample_rate))
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Got: %s" % dtype)
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        rate = _math.cast(sample_rate, dtype)
        low, high = (convert_to_tensor(e, dtype)
                     for e in (lower_edge_hertz, upper_edge_hertz))
        hertz = _math.linspace(convert_to_tensor(0, dtype), rate / 2.0,
                               num_spectrogram_bins)
        # The first bin, at 0 Hz, counts for nothing.
        bins = _array.expand_dims(_mel(hertz[1:]), 1)
        edges = frame(_math.linspace(_mel(low), _mel(high), num_mel_bins + 2),
                      3, 1)
        lower, center, upper = (_array.reshape(edges[:, i], [1, num_mel_bins])
                                for i in range(3))
        rising = (bins - lower) / (center - lower)
        falling = (upper - bins) / (upper - center)
        weights = _math.maximum(convert_to_tensor(0, dtype),
                                _math.minimum(rising, falling))
        return _array.pad(weights, [[1, 0], [0, 0]], name=scope)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """The cepstral coefficients of logarithmic mel spectrograms: the orthogonal
    dct of type 2 as HTK scales it."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms",
                    [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms)
        count = _size_of_axis(x, -1)
        if isinstance(count, int) and count == 0:
            raise ValueError("num_mel_bins must be positive. Got: %s" % x)
        return dct(x) * _math.rsqrt(_math.cast(count, dtypes.float32) * 2.0)
