"""tf.nn: moments, and normalisation by them."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_ops import _renamed


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001,
                     data_format="NHWC", is_training=True, name=None):
    """(normalised x, batch mean, batch variance). In training the moments are
    those of x; otherwise `mean` and `variance` are taken.

    `x`: float16, bfloat16 or float32, [batch, height, width, channels] or as
    data_format "NCHW" says; the others are float32 [channels]. The first result
    has the type and shape of x. ValueError for other ranks or sizes, for
    moments given in training, and for none otherwise; TypeError for other
    types."""
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training:
        if mean is not None or variance is not None:
            raise ValueError("Both 'mean' and 'variance' must be None if "
                             "is_training is True.")
    if mean is None:
        mean = constant([])
    if variance is None:
        variance = constant([])
    out = _raw.FusedBatchNormV3(
        x, scale, offset, mean, variance, epsilon=max(epsilon, 1.001e-5),
        data_format=data_format, is_training=is_training, name=name)
    return out[0], out[1], out[2]


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon,
                        name=None):
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset; scale
    and offset may be None.

    x: float16, bfloat16, float32 or float64, of any shape, which the result has
    too; the others broadcast to it. ValueError for shapes that do not
    broadcast; TypeError for different types."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x)
        variance = convert_to_tensor(variance)
        mean = convert_to_tensor(mean)
        inv = _raw.Rsqrt(variance + variance_epsilon)
        if scale is not None:
            inv *= scale
        scaled = x * _math.cast(inv, x.dtype)
        shift = offset - mean * inv if offset is not None else -mean * inv
        return scaled + _math.cast(shift, x.dtype)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) over `axes`.

    `x`: float16, bfloat16, float32 or float64, of any shape. `axes`: integers.
    Both have the type of x and its shape without the axes, or with size 1 there
    under `keepdims`. `shift` counts for nothing. ValueError for an axis out of
    range; TypeError for other types."""
    keep = _math._keep(keepdims, keep_dims)
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x, name="x")
        narrow = x.dtype.base_dtype == dtypes.float16
        y = _math.cast(x, dtypes.float32) if narrow else x
        mean = _math.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = _math.reduce_mean(
            _raw.SquaredDifference(y, _raw.StopGradient(mean)), axes,
            keepdims=True, name="variance")
        if not keep:
            mean = _array.squeeze(mean, axes)
            variance = _array.squeeze(variance, axes)
        if narrow:
            return (_math.cast(mean, dtypes.float16),
                    _math.cast(variance, dtypes.float16))
        return mean, variance


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
    """(mean, variance) from the result of sufficient_statistics."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        counts = convert_to_tensor(counts, name="counts")
        share = 1 / counts
        mean = _math.multiply(mean_ss, share, name="mean")
        variance = _math.subtract(_math.multiply(variance_ss, share),
                                  _math.square(mean), name="variance")
        if shift is not None:
            mean = _math.add(mean, shift, name="shifted_mean")
        return mean, variance


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by its L2 norm along `axis`: x * rsqrt(max(sum(x^2), epsilon)).

    `x`: float16, bfloat16, float32 or float64, of any shape; the result has its
    type and shape. `axis`: an integer or a list. ValueError for an axis out of
    range, and for both `axis` and `dim`; TypeError for other types."""
    axis = _renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        total = _math.reduce_sum(_raw.Square(x), axis, keepdims=True)
        return _raw.Mul(x, _raw.Rsqrt(_raw.Maximum(total, epsilon)),
                        name=scope)


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1,
                                 beta=0.5, name=None):
    """input / (bias + alpha * sum of squares) ** beta, the sum being over
    channels at most depth_radius away. float16, bfloat16, float32; 4-D.

    `input`: [batch, height, width, channels]; the result has its type and
    shape. ValueError for another rank; TypeError for other types."""
    return _raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha,
                    beta=beta, name=name)


lrn = local_response_normalization


def batch_norm_with_global_normalization(
        t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
        scale_after_normalization=None, name=None, input=None, mean=None,
        variance=None):
    """batch_normalization over the last of four dimensions; gamma counts only
    with scale_after_normalization."""
    return batch_normalization(
        _renamed("input", input, "t", t), _renamed("mean", mean, "m", m),
        _renamed("variance", variance, "v", v), beta,
        gamma if scale_after_normalization else None, variance_epsilon, name)
