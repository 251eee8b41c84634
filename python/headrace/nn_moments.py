"""tf.nn: weighted moments, and moments in parts."""
from headrace import array_ops as _array
from headrace import dtypes
from headrace import math_ops as _math
from headrace.graph import name_scope
from headrace.tensor import constant, convert_to_tensor


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None,
                     keepdims=None):
    """(mean, variance) over `axes`, where each element counts as often as its
    weight says. The weights broadcast with x."""
    keep = _math._keep(keepdims, keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights,
                                    name="frequency_weights")
        kind = x.dtype.base_dtype
        if kind == dtypes.float16:
            x = _math.cast(x, dtypes.float32)
        weights = _math.cast(weights, x.dtype)
        total = _math.reduce_sum(weights + _array.zeros_like(x), axes,
                                 keepdims=True)
        mean = _math.reduce_sum(weights * x, axes, keepdims=True) / total
        variance = _math.reduce_sum(
            weights * _math.squared_difference(x, mean), axes,
            keepdims=True) / total
        if not keep:
            mean = _array.squeeze(mean, axes)
            variance = _array.squeeze(variance, axes)
        return _math.cast(mean, kind), _math.cast(variance, kind)


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None,
                          keepdims=None):
    """(count, sum, sum of squares, shift) over the list `axes`, for
    normalize_moments. `shift`, near the mean, is subtracted first, so that
    less is lost; None for none."""
    keep = _math._keep(keepdims, keep_dims)
    axes = list(axes)
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        known = x.get_shape()
        sizes = (None if known.ndims is None
                 else [known[a].value for a in axes])
        if sizes is not None and None not in sizes:
            count = 1
            for size in sizes:
                count *= size
            count = constant(count, x.dtype.base_dtype, name="count")
        else:
            count = _math.cast(_math.reduce_prod(_array.gather(
                _array.shape(x), [a % known.ndims if known.ndims else a
                                  for a in axes])), x.dtype, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            first = _math.subtract(x, shift)
            second = _math.squared_difference(x, shift)
        else:
            first, second = x, _math.square(x)
        first = _math.reduce_sum(first, axes, keepdims=keep, name="mean_ss")
        second = _math.reduce_sum(second, axes, keepdims=keep, name="var_ss")
        return count, first, second, shift


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) of what sufficient_statistics gives."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        counts = convert_to_tensor(counts, name="counts")
        share = 1 / counts
        mean = _math.multiply(mean_ss, share, name="mean")
        variance = _math.subtract(_math.multiply(variance_ss, share),
                                  _math.square(mean), name="variance")
        if shift is not None:
            mean = _math.add(mean, shift, name="shifted_mean")
        return mean, variance
