"""tf.nn: convolutions, pooling, normalisation, activations, losses.

Shapes: images are [batch, height, width, channels] for data_format "NHWC" and
[batch, channels, height, width] for "NCHW"; strides, window sizes and
dilations follow that order. Filters are [height, width, in, out].
"""
import numbers

import numpy as np

from headrace import array_ops as _array
from headrace import dtypes
from headrace import math_ops as _math
from headrace import raw_ops as _raw
from headrace import random_ops as _random
from headrace import sparse_ops as _sparse
from headrace._names import lookup as _lookup
from headrace.graph import name_scope
from headrace.tensor import constant, convert_to_tensor

sigmoid = _math.sigmoid
tanh = _math.tanh
log_sigmoid = _math.log_sigmoid


def _sequence(value, n, channel_index, name):
    """A window size or stride as one number for each dimension."""
    if value is None:
        value = [1]
    elif not isinstance(value, (list, tuple)):
        value = [value]
    value = [int(v) for v in value]
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError("%s should be of length 1, %d or %d but was %d"
                         % (name, n, n + 2, len(value)))
    if channel_index == 1:
        return [1, 1] + value
    return [1] + value + [1]


def _either(first, second, what):
    if first is not None and second is not None:
        raise ValueError("Cannot specify both of: %s" % what)
    return second if first is None else first


def _padding(padding, channel_index):
    """(padding, explicit_paddings) of a string or a list of pairs."""
    if isinstance(padding, (list, tuple)):
        if channel_index == 1:
            batch, channel = padding[0], padding[1]
        else:
            batch, channel = padding[0], padding[3]
        if list(batch) != [0, 0] or list(channel) != [0, 0]:
            raise ValueError("Padding of batch and channels must be [0, 0], "
                             "got %r" % (padding,))
        return "EXPLICIT", [p for pair in padding for p in pair]
    return padding, []


# Convolutions.

def conv2d(input, filter=None, strides=None, padding=None,
           use_cudnn_on_gpu=True, data_format="NHWC", dilations=[1, 1, 1, 1],
           name=None, filters=None):
    """The 2-D convolution of images with filters (as a cross-correlation).

    `padding`: "SAME" (output size ceil(in / stride), the odd pixel at the
    end), "VALID", or pairs (before, after) for each dimension. A filter with
    fewer input channels than the image has makes groups. half, bfloat16,
    float32, float64. ValueError if shapes do not fit."""
    filter = _either(filter, filters, "filter, filters")
    padding, explicit = _padding(padding, 1 if data_format == "NCHW" else 3)
    channel = 1 if data_format == "NCHW" else 3
    return _raw.Conv2D(
        input, filter, strides=_sequence(strides, 2, channel, "strides"),
        padding=padding, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit, data_format=data_format or "NHWC",
        dilations=_sequence(dilations, 2, channel, "dilations"), name=name)


def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding,
                           use_cudnn_on_gpu=True, data_format="NHWC",
                           dilations=[1, 1, 1, 1], name=None):
    """The gradient of conv2d with respect to its filter."""
    padding, explicit = _padding(padding, 1 if data_format == "NCHW" else 3)
    return _raw.Conv2DBackpropFilter(
        input, filter_sizes, out_backprop, strides=strides, padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit,
        data_format=data_format, dilations=dilations, name=name)


def conv2d_backprop_input(input_sizes, filter=None, out_backprop=None,
                          strides=None, padding=None, use_cudnn_on_gpu=True,
                          data_format="NHWC", dilations=[1, 1, 1, 1],
                          name=None, filters=None):
    """The gradient of conv2d with respect to its input."""
    padding, explicit = _padding(padding, 1 if data_format == "NCHW" else 3)
    return _raw.Conv2DBackpropInput(
        input_sizes, _either(filter, filters, "filter, filters"), out_backprop,
        strides=strides, padding=padding, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit, data_format=data_format,
        dilations=dilations, name=name)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None,
                     padding="SAME", data_format="NHWC", name=None, input=None,
                     filters=None, dilations=None):
    """The transpose of conv2d: output_shape is that of the image which conv2d
    would take to the shape of `value`. Filters are [height, width, out, in]."""
    value = _either(value, input, "value, input")
    filter = _either(filter, filters, "filter, filters")
    channel = 1 if data_format == "NCHW" else 3
    with name_scope(name, "conv2d_transpose",
                    [value, filter, output_shape]) as scope:
        padding, explicit = _padding(padding, channel)
        return _raw.Conv2DBackpropInput(
            output_shape, filter, value,
            strides=_sequence(strides, 2, channel, "strides"),
            padding=padding, explicit_paddings=explicit,
            data_format=data_format or "NHWC",
            dilations=_sequence(dilations, 2, channel, "dilations"),
            name=scope)


def conv1d(value=None, filters=None, stride=None, padding=None,
           use_cudnn_on_gpu=None, data_format=None, name=None, input=None,
           dilations=None):
    """Convolution of [batch, width, channels] with [width, in, out]."""
    value = _either(value, input, "value, input")
    with name_scope(name, "conv1d", [value, filters]) as scope:
        ncw = data_format in ("NCW", "NCHW")
        channel = 1 if ncw else 3
        stride = _sequence(stride, 1, 1 if ncw else 2, "stride")
        dilations = _sequence(dilations, 1, 1 if ncw else 2, "dilations")
        at = 2 if ncw else 1
        value = _raw.ExpandDims(value, at)
        out = conv2d(value, _raw.ExpandDims(filters, 0),
                     stride[:at] + [1] + stride[at:], padding,
                     data_format="NCHW" if channel == 1 else "NHWC",
                     dilations=dilations[:at] + [1] + dilations[at:],
                     name=scope)
        return _raw.Squeeze(out, squeeze_dims=[at])


def conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC",
           dilations=[1, 1, 1, 1, 1], name=None, filters=None):
    """Convolution of [batch, depth, height, width, channels]."""
    return _raw.Conv3D(
        input, _either(filter, filters, "filter, filters"), strides=strides,
        padding=padding, data_format=data_format, dilations=dilations,
        name=name)


def conv3d_transpose(value=None, filter=None, output_shape=None, strides=None,
                     padding="SAME", data_format="NDHWC", name=None,
                     input=None, filters=None, dilations=None):
    """The transpose of conv3d."""
    value = _either(value, input, "value, input")
    with name_scope(name, "conv3d_transpose", [value]) as scope:
        return _raw.Conv3DBackpropInputV2(
            output_shape, _either(filter, filters, "filter, filters"), value,
            strides=_sequence(strides, 3, 1 if data_format == "NCDHW" else 4,
                              "strides"),
            padding=padding, data_format=data_format, name=scope)


def _with_space_to_batch(x, rate, padding, window, op, nchw=False):
    """op(x) with dilation `rate`: each phase of the rate as a batch of its own,
    on which op works densely with VALID padding."""
    rate = [int(r) for r in rate]
    if rate == [1, 1]:
        return op(x, padding)
    if nchw:
        x = _raw.Transpose(x, [0, 2, 3, 1])
    base = np.zeros([2, 2], np.int32)
    if padding == "SAME":
        total = (np.array(window) - 1) * np.array(rate)
        base[:, 0] = total // 2
        base[:, 1] = total - total // 2
    elif padding != "VALID":
        raise ValueError("Invalid padding method %r" % (padding,))
    spatial = x.get_shape().as_list()[1:3] if x._rank() else [None, None]
    if None not in spatial:
        extra = (-(np.array(spatial) + base.sum(1))) % rate
        paddings = base + np.stack([0 * extra, extra], 1)
        crops = np.stack([0 * extra, extra], 1)
        paddings, crops = paddings.astype(np.int32), crops.astype(np.int32)
    else:
        full = _array.shape(x)[1:3] + base.sum(1).astype(np.int32)
        extra = _raw.FloorMod(_raw.Neg(full), rate)
        zero = _raw.ZerosLike(extra)
        crops = _raw.Pack([zero, extra], axis=1)
        paddings = crops + base
    block = np.array(rate, np.int32)
    x = _raw.SpaceToBatchND(x, block, paddings)
    out = _raw.BatchToSpaceND(op(x, "VALID"), block, crops)
    return _raw.Transpose(out, [0, 3, 1, 2]) if nchw else out


def atrous_conv2d(value, filters, rate, padding, name=None):
    """conv2d with its filter spread by `rate` in both directions."""
    return conv2d(value, filters, [1, 1, 1, 1], padding,
                  dilations=[1, rate, rate, 1], name=name)


def convolution(input, filter, padding, strides=None, dilation_rate=None,
                name=None, data_format=None, filters=None, dilations=None):
    """conv1d, conv2d or conv3d by the rank of the input."""
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(_either(filter, filters, "filter, filters"),
                                   name="filter")
        rate = _either(dilation_rate, dilations, "dilation_rate, dilations")
        n = filter._rank() - 2
        if n == 1:
            return conv1d(input, filter, strides or [1], padding,
                          data_format=data_format, dilations=rate)
        if n == 2:
            return conv2d(input, filter, strides or [1], padding,
                          data_format=data_format or "NHWC",
                          dilations=rate or [1], name=scope)
        channel = 1 if data_format == "NCDHW" else 4
        return conv3d(input, filter, _sequence(strides, 3, channel, "strides"),
                      padding, data_format or "NDHWC",
                      _sequence(rate, 3, channel, "dilations"), scope)


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None,
                     data_format=None, dilations=None):
    """Each channel convolved with filters of its own: filter is [height,
    width, channels, multiplier], the output has channels * multiplier
    channels. `rate`: two dilations, by SpaceToBatchND."""
    rate = _either(rate, dilations, "rate, dilations")
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        rate = [1, 1] if rate is None else list(
            rate if isinstance(rate, (list, tuple)) else [rate, rate])
        nchw = data_format == "NCHW"
        window = filter.get_shape().as_list()[:2]
        dense = rate == [1, 1]
        _array.shape(filter)
        constant(rate, dtypes.int32, name="dilation_rate")

        def op(x, pad):
            return _raw.DepthwiseConv2dNative(
                x, filter, strides=strides, padding=pad,
                data_format="NCHW" if nchw and dense else "NHWC", name=scope)
        return _with_space_to_batch(input, rate, padding, window, op,
                                    nchw and not dense)


def depthwise_conv2d_native(input, filter, strides, padding,
                            data_format="NHWC", dilations=[1, 1, 1, 1],
                            name=None):
    return _raw.DepthwiseConv2dNative(
        input, filter, strides=strides, padding=padding,
        data_format=data_format, dilations=dilations, name=name)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides,
                     padding, rate=None, name=None, data_format=None,
                     dilations=None):
    """depthwise_conv2d followed by a 1 x 1 convolution."""
    rate = _either(rate, dilations, "rate, dilations")
    with name_scope(name, "separable_conv2d",
                    [input, depthwise_filter, pointwise_filter]) as scope:
        deep = depthwise_conv2d(input, depthwise_filter, strides, padding,
                                rate, "depthwise", data_format)
        return conv2d(deep, pointwise_filter, [1, 1, 1, 1], "VALID",
                      data_format=data_format or "NHWC", name=scope)


# Pooling.

def _pool(op, default, value, ksize, strides, padding, data_format, name):
    with name_scope(name, default, [value]) as scope:
        data_format = data_format or "NHWC"
        channel = 1 if data_format.startswith("NC") else 3
        return op(value, ksize=_sequence(ksize, 2, channel, "ksize"),
                  strides=_sequence(strides, 2, channel, "strides"),
                  padding=padding, data_format=data_format, name=scope)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None,
             input=None):
    """The largest element of each window, padding left out."""
    return _pool(_raw.MaxPool, "MaxPool", _either(value, input, "value, input"),
                 ksize, strides, padding, data_format, name)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    return max_pool(input, ksize, strides, padding, data_format,
                    name or "max_pool2d")


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None,
             input=None):
    """The mean of each window, over what is inside the image."""
    return _pool(_raw.AvgPool, "AvgPool", _either(value, input, "value, input"),
                 ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC",
                         Targmax=None, name=None, output_dtype=None,
                         include_batch_in_index=False):
    """(max_pool, the flat index of each maximum)."""
    return _raw.MaxPoolWithArgmax(
        input, ksize=ksize, strides=strides, padding=padding,
        Targmax=Targmax or output_dtype or dtypes.int64,
        include_batch_in_index=include_batch_in_index, name=name)


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    return _raw.MaxPool3D(input, ksize=ksize, strides=strides, padding=padding,
                          data_format=data_format, name=name)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    return _raw.AvgPool3D(input, ksize=ksize, strides=strides, padding=padding,
                          data_format=data_format, name=name)


# Normalisation.

def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001,
                     data_format="NHWC", is_training=True, name=None):
    """(normalised x, batch mean, batch variance). In training the moments are
    those of x; otherwise `mean` and `variance` are taken."""
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
    and offset may be None."""
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
    """(mean, variance) over `axes`."""
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


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by its L2 norm along `axis`."""
    axis = dim if axis is None else axis
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        total = _math.reduce_sum(_raw.Square(x), axis, keepdims=True)
        return _raw.Mul(x, _raw.Rsqrt(_raw.Maximum(total, epsilon)),
                        name=scope)


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1,
                                 beta=0.5, name=None):
    return _raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha,
                    beta=beta, name=name)


lrn = local_response_normalization


# Activations.

def relu(features, name=None):
    """max(x, 0)."""
    return _raw.Relu(features, name=name)


def relu6(features, name=None):
    """min(max(x, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as scope:
        return _raw.Relu6(features, name=scope)


def leaky_relu(features, alpha=0.2, name=None):
    """x where positive, alpha x elsewhere."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = _math.cast(features, dtypes.float32)
        return _raw.LeakyRelu(features, alpha=alpha, name=scope)


def crelu(features, name=None, axis=-1):
    """relu of x and of -x, joined along `axis`."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        both = _array.concat([features, -features], axis, name=scope)
        return relu(both)


def swish(features, name=None):
    """x sigmoid(x)."""
    features = convert_to_tensor(features, name="features")
    return features * _raw.Sigmoid(features)


def _softmax(op, logits, axis, dim, default, name):
    axis = dim if axis is None else axis
    axis = -1 if axis is None else axis
    logits = convert_to_tensor(logits)
    n = logits._rank()
    if n is not None and not -n <= axis < max(n, 1):
        raise ValueError("Invalid axis %d for logits of shape %s"
                         % (axis, logits.get_shape()))
    if axis == -1 or (n is not None and axis == n - 1):
        return op(logits, name=name)
    with name_scope(name, default, [logits]) as scope:
        if n is None:
            raise ValueError("%s over axis %d needs a known rank"
                             % (default, axis))
        order = list(range(n))
        order[axis], order[-1] = order[-1], order[axis]
        return _raw.Transpose(op(_raw.Transpose(logits, order)), order,
                              name=scope)


def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along `axis`, the last by default."""
    return _softmax(_raw.Softmax, logits, axis, dim, "Softmax", name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """x - log(sum(exp(x))) along `axis`, the last by default."""
    return _softmax(_raw.LogSoftmax, logits, axis, dim, "LogSoftmax", name)


def bias_add(value, bias, data_format=None, name=None):
    """value + bias, a vector along the channels."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            data_format = "NCHW" if data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype,
                                 name="bias")
        return _raw.BiasAdd(value, bias, data_format=data_format, name=scope)


def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(_math.matmul(x, weights), biases, name=scope)


def relu_layer(x, weights, biases, name=None):
    """relu(matmul(x, weights) + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return _raw.Relu(bias_add(_math.matmul(x, weights), biases),
                         name=scope)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None,
            rate=None):
    """x with a share `rate` (1 - keep_prob) of its elements set to 0 and the
    others scaled up by as much. `noise_shape`: 1 where a dimension shares its
    fate."""
    if keep_prob is not None:
        if rate is not None and rate != 1 - keep_prob:
            raise ValueError("pass in only one of rate and keep_prob")
        rate = 1 - keep_prob
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("x has to be a floating point tensor since it's "
                             "going to be scaled. Got a %s tensor instead."
                             % x.dtype)
        if isinstance(rate, numbers.Real):
            if not 0 <= rate < 1:
                raise ValueError("rate must be a scalar tensor or a float in "
                                 "the range [0, 1), got %g" % rate)
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        if noise_shape is None:
            noise_shape = _array.shape(x)
        elif isinstance(noise_shape, (list, tuple)) and None in noise_shape:
            static = x.get_shape().as_list()
            noise_shape = [s if n is None else n
                           for n, s in zip(noise_shape, static)]
        noise = _random.random_uniform(noise_shape, seed=seed,
                                       dtype=x.dtype.base_dtype)
        keep = 1 - rate
        scale = 1 / keep
        mask = noise >= rate
        out = x * scale * _math.cast(mask, x.dtype)
        out.set_shape(x.get_shape())
        return out


# Losses.

def l2_loss(t, name=None):
    """sum(t ** 2) / 2."""
    return _raw.L2Loss(t, name=name)


def _need_named(sentinel, labels, logits, name):
    if sentinel is not None:
        raise ValueError("Only call `%s` with named arguments (labels=..., "
                         "logits=..., ...)" % name)
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _flatten_outer(x):
    rank = _array.rank(x)
    last = _array.slice(_array.shape(x), [_raw.Sub(rank, 1)], [1])
    flat = _raw.Reshape(x, _array.concat([[-1], last], 0))
    static = x.get_shape()
    if static.ndims is not None:
        sizes = static.as_list()
        outer = sizes[:-1]
        flat.set_shape([None if None in outer
                        else int(np.prod(outer, dtype=np.int64)), sizes[-1]])
    return flat


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None,
                                         dim=None):
    """-sum(labels * log_softmax(logits)) along `axis`, the last by default."""
    axis = dim if axis is None else axis
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits",
                    [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        narrow = logits.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16)
        precise = _math.cast(logits, dtypes.float32) if narrow else logits
        labels = _math.cast(labels, precise.dtype)
        n = precise._rank()
        input_rank = _array.rank(precise)
        static = logits.get_shape()
        if axis != -1 and axis != (n or 0) - 1:
            if n is None:
                raise ValueError("axis %d needs a known rank" % axis)
            order = [i for i in range(n) if i != axis % n] + [axis % n]
            precise = _raw.Transpose(precise, order)
            labels = _raw.Transpose(labels, order)
        input_shape = _array.shape(precise)
        out = _raw.SoftmaxCrossEntropyWithLogits(
            _flatten_outer(precise), _flatten_outer(labels), name=scope)
        cost = _raw.Reshape(out[0], _array.slice(
            input_shape, [0], [_raw.Sub(input_rank, 1)]))
        if static.ndims is not None:
            sizes = static.as_list()
            del sizes[axis]
            cost.set_shape(sizes)
        return _math.cast(cost, logits.dtype) if narrow else cost


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None,
                                      dim=-1, name=None, axis=None):
    """As softmax_cross_entropy_with_logits_v2, without a gradient to the
    labels."""
    _need_named(_sentinel, labels, logits, "softmax_cross_entropy_with_logits")
    with name_scope(name, "softmax_cross_entropy_with_logits_sg",
                    [logits, labels]) as scope:
        labels = _raw.StopGradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(
            labels, logits, axis=dim if axis is None else axis, name=scope)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None,
                                             logits=None, name=None):
    """-log_softmax(logits)[labels] along the last dimension of the logits."""
    _need_named(_sentinel, labels, logits,
                "sparse_softmax_cross_entropy_with_logits")
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits",
                    [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        narrow = logits.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16)
        precise = _math.cast(logits, dtypes.float32) if narrow else logits
        label_shape = _array.shape(labels)
        if logits._rank() == 0:
            raise ValueError("Logits cannot be scalars - received shape %s."
                             % logits.get_shape())
        if (logits._rank() is not None and labels._rank() is not None
                and labels._rank() != logits._rank() - 1):
            raise ValueError(
                "Rank mismatch: Rank of labels (received %d) should equal rank "
                "of logits minus 1 (received %d)."
                % (labels._rank(), logits._rank()))
        op = _raw.SparseSoftmaxCrossEntropyWithLogits
        if logits._rank() == 2:
            cost = op(precise, labels, name=name)[0]
        else:
            classes = _array.shape(logits)[_array.rank(logits) - 1]
            out = op(_raw.Reshape(precise, [-1, classes]),
                     _raw.Reshape(labels, [-1]), name=name)
            cost = _raw.Reshape(out[0], label_shape)
            cost.set_shape(labels.get_shape())
        return _math.cast(cost, logits.dtype) if narrow else cost


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None,
                                      name=None):
    """-labels log(sigmoid(x)) - (1 - labels) log(1 - sigmoid(x)), without
    overflow."""
    _need_named(_sentinel, labels, logits, "sigmoid_cross_entropy_with_logits")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        try:
            labels.get_shape().merge_with(logits.get_shape())
        except ValueError:
            raise ValueError("logits and labels must have the same shape (%s "
                             "vs %s)" % (logits.get_shape(),
                                         labels.get_shape()))
        zeros = _array.zeros_like(logits)
        positive = logits >= zeros
        relu_logits = _raw.Select(positive, logits, zeros)
        neg_abs = _raw.Select(positive, -logits, logits)
        return _raw.Add(relu_logits - logits * labels,
                        _raw.Log1p(_raw.Exp(neg_abs)), name=scope)


def weighted_cross_entropy_with_logits(labels=None, logits=None,
                                       pos_weight=None, name=None,
                                       targets=None):
    """sigmoid_cross_entropy_with_logits with positive labels weighted."""
    labels = _either(labels, targets, "labels, targets")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        weight = 1 + (pos_weight - 1) * labels
        return _raw.Add(
            (1 - labels) * logits,
            weight * (_raw.Log1p(_raw.Exp(-_raw.Abs(logits)))
                      + _raw.Relu(-logits)), name=scope)


# Connectionist temporal classification.

def _time_major(inputs, name="inputs"):
    return _array.transpose(convert_to_tensor(inputs, name=name), [1, 0, 2])


def ctc_loss(labels, inputs=None, sequence_length=None,
             preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True,
             logits=None):
    """For each row of the batch -log of the probability that the logits
    [time, batch, classes] spell its labels: a SparseTensor of int32
    [batch, time]. The last class is the blank, which parts labels and repeats.
    `time_major` False: the logits are [batch, time, classes]."""
    if not isinstance(labels, _sparse.SparseTensor):
        raise TypeError(
            "Expected labels (first argument) to be a SparseTensor")
    inputs = _either(inputs, logits, "inputs, logits")
    if not time_major:
        inputs = _time_major(inputs)
    return _raw.CTCLoss(
        inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)[0]


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """([labels], scores): the likeliest class of each time step without blanks
    (the last class) and, if merge_repeated, without repeats, as a SparseTensor
    of int64; and minus the sum of the picked logits, [batch, 1]."""
    out = _raw.CTCGreedyDecoder(inputs, sequence_length,
                                merge_repeated=merge_repeated)
    return [_sparse.SparseTensor(*out[:3])], out[3]


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100,
                            top_paths=1, merge_repeated=True):
    """(labellings, log-probabilities [batch, top_paths]): the likeliest
    labellings, best first, each a SparseTensor of int64 [batch, longest].
    merge_repeated also joins equal labels that a blank kept apart."""
    out = _raw.CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths,
        merge_repeated=merge_repeated)
    return ([_sparse.SparseTensor(*parts) for parts in zip(*out[:3])],
            out[3])


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100,
                               top_paths=1):
    """ctc_beam_search_decoder without merge_repeated."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width,
                                   top_paths, merge_repeated=False)


# What else there is.

def top_k(input, k=1, sorted=True, name=None):
    """(values, indices) of the k largest along the last dimension."""
    return _raw.TopKV2(input, k, sorted=sorted, name=name)


def in_top_k(predictions, targets, k, name=None):
    """True where the target is among the k largest predictions of its row."""
    with name_scope(name, "in_top_k"):
        return _raw.InTopKV2(predictions, targets, k)


def zero_fraction(value, name=None):
    """The share of elements that are zero."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        zero = constant(0, value.dtype.base_dtype, name="zero")
        return _math.reduce_mean(_math.cast(_raw.Equal(value, zero),
                                            dtypes.float32))


def batch_norm_with_global_normalization(
        t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
        scale_after_normalization=None, name=None, input=None, mean=None,
        variance=None):
    return batch_normalization(
        _either(t, input, "t, input"), _either(m, mean, "m, mean"),
        _either(v, variance, "v, variance"), beta,
        gamma if scale_after_normalization else None, variance_epsilon, name)


def __getattr__(name):
    return _lookup(name, globals())
