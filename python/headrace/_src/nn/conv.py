"""tf.nn: convolutions and pooling.

Shapes: images are [batch, height, width, channels] for data_format "NHWC" and
[batch, channels, height, width] for "NCHW"; strides, window sizes and
dilations follow that order. Filters are [height, width, in, out].
"""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops.array_ops import _renamed


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

    `input`: [batch, height, width, in], or with data_format "NCHW" [batch, in,
    height, width]; `filter`: [height, width, in, out]; `strides` and
    `dilations`: a number, two, or four as the input's dimensions. The result is
    [batch, rows, columns, out], of the type of both: float16, bfloat16,
    float32, float64 or int32. A filter with fewer input channels than the image
    has makes groups.

    `padding`: "SAME" (output size ceil(in / stride), the odd pixel at the end),
    "VALID", or pairs (before, after) for each dimension. ValueError if ranks or
    channels do not fit; TypeError for other types; NotImplementedError for a
    stride over the batch or channels."""
    filter = _renamed("filters", filters, "filter", filter)
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
        input_sizes, _renamed("filters", filters, "filter", filter),
        out_backprop,
        strides=strides, padding=padding, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit, data_format=data_format,
        dilations=dilations, name=name)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None,
                     padding="SAME", data_format="NHWC", name=None, input=None,
                     filters=None, dilations=None):
    """The transpose of conv2d: output_shape is that of the image which conv2d
    would take to the shape of `value`. Filters are [height, width, out, in].

    `value`: [batch, height, width, in], or as data_format "NCHW" says;
    `output_shape`: int32 [4]. Both of one type: float16, bfloat16, float32 or
    float64. InvalidArgumentError in the run for ranks, channels or an output
    shape that conv2d would not take there; TypeError for different types."""
    value = _renamed("input", input, "value", value)
    filter = _renamed("filters", filters, "filter", filter)
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
    """Convolution of [batch, width, channels] with [width, in, out].

    With data_format "NCW" it is [batch, channels, width]. float16, bfloat16,
    float32 or float64, also of the result [batch, positions, out]. `stride` and
    `dilations`: a number or a list of one or three. ValueError if ranks or
    channels do not fit; TypeError for different types."""
    value = _renamed("input", input, "value", value)
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
    """Convolution of volumes with filters (as a cross-correlation).

    `input`: [batch, depth, height, width, in], or with data_format "NCDHW"
    [batch, in, depth, height, width]; `filter`: [depth, height, width, in,
    out]; `strides` and `dilations`: as the input's dimensions. Both float16,
    bfloat16, float32 or float64, as is the result [batch, planes, rows,
    columns, out]. ValueError if ranks or channels do not fit; TypeError for
    different types."""
    return _raw.Conv3D(
        input, _renamed("filters", filters, "filter", filter), strides=strides,
        padding=padding, data_format=data_format, dilations=dilations,
        name=name)


def conv3d_transpose(value, filter=None, output_shape=None, strides=None,
                     padding="SAME", data_format="NDHWC", name=None,
                     input=None, filters=None, dilations=None):
    """The transpose of conv3d: `output_shape` is that of the volume which
    conv3d would take to the shape of `value`.

    `value`: [batch, depth, height, width, in]; `filter`: [depth, height, width,
    out, in]; both of one type, float16, bfloat16, float32 or float64, which the
    result has. InvalidArgumentError in the run for ranks, channels or an output
    shape that conv3d would not take there; TypeError for other types."""
    value = _renamed("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value]) as scope:
        return _raw.Conv3DBackpropInputV2(
            output_shape, _renamed("filters", filters, "filter", filter),
            value,
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
    """conv2d with its filter spread by `rate`, a number for both directions or
    one for each."""
    return convolution(value, filters, padding, name=name,
                       dilation_rate=np.broadcast_to(rate, [2]).tolist())


def convolution(input, filter, padding, strides=None, dilation_rate=None,
                name=None, data_format=None, filters=None, dilations=None):
    """conv1d, conv2d or conv3d by the rank of the input.

    `input`: [batch, ..., in] with 1 to 3 dimensions in space, or with
    data_format "NC..." [batch, in, ...]; `filter`: [..., in, out]; both
    float16, bfloat16, float32 or float64. `strides` and `dilation_rate`: one
    number a dimension. ValueError if ranks or channels do not fit, or if both
    exceed 1; TypeError for different types."""
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(
            _renamed("filters", filters, "filter", filter), name="filter")
        rate = _renamed("dilations", dilations, "dilation_rate", dilation_rate)
        n = filter._rank() - 2
        if (any(s > 1 for s in np.ravel(strides or 1))
                and any(r > 1 for r in np.ravel(rate or 1))):
            raise ValueError("strides > 1 not supported in conjunction with "
                             "dilation_rate > 1")
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
    channels. `rate`: two dilations, by SpaceToBatchND.

    `input`: [batch, height, width, channels], or as data_format "NCHW" says;
    float16, bfloat16, float32 or float64, as `filter` and the result.
    ValueError if ranks or channels do not fit; TypeError for different types;
    InvalidArgumentError in the run for strides that differ."""
    rate = _renamed("dilations", dilations, "rate", rate)
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


def depthwise_conv2d_native_backprop_filter(
        input, filter_sizes, out_backprop, strides, padding,
        data_format="NHWC", dilations=[1, 1, 1, 1], name=None):
    """The gradient of depthwise_conv2d_native with respect to its filter."""
    return _raw.DepthwiseConv2dNativeBackpropFilter(
        input, filter_sizes, out_backprop, strides=strides, padding=padding,
        data_format=data_format, dilations=dilations, name=name)


def depthwise_conv2d_native_backprop_input(
        input_sizes, filter, out_backprop, strides, padding,
        data_format="NHWC", dilations=[1, 1, 1, 1], name=None):
    """The gradient of depthwise_conv2d_native with respect to its input."""
    return _raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes, filter, out_backprop, strides=strides, padding=padding,
        data_format=data_format, dilations=dilations, name=name)


depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter
depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input


def depthwise_conv2d_native(input, filter, strides, padding,
                            data_format="NHWC", dilations=[1, 1, 1, 1],
                            name=None):
    return _raw.DepthwiseConv2dNative(
        input, filter, strides=strides, padding=padding,
        data_format=data_format, dilations=dilations, name=name)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides,
                     padding, rate=None, name=None, data_format=None,
                     dilations=None):
    """depthwise_conv2d followed by a 1 x 1 convolution.

    `input`: [batch, height, width, in]; `depthwise_filter`: [height, width, in,
    multiplier]; `pointwise_filter`: [1, 1, in * multiplier, out]; all float16,
    bfloat16, float32 or float64, as is the result [batch, rows, columns, out].
    ValueError if ranks or channels do not fit; TypeError for different types.
    """
    rate = _renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d",
                    [input, depthwise_filter, pointwise_filter]) as scope:
        pointwise_filter = convert_to_tensor(pointwise_filter,
                                             name="pointwise_filter")
        for size in pointwise_filter.get_shape()[:2]:
            size.assert_is_compatible_with(1)
        deep = depthwise_conv2d(input, depthwise_filter, strides, padding,
                                rate, "depthwise", data_format)
        return conv2d(deep, pointwise_filter, [1, 1, 1, 1], "VALID",
                      data_format=data_format or "NHWC", name=scope)


# Pooling.

def _pool(op, default, value, ksize, strides, padding, data_format, name,
          rank=2):
    """A pooling op over `rank` dimensions."""
    with name_scope(name, default, [value]) as scope:
        data_format = data_format or ("NHWC" if rank == 2 else "NDHWC")
        channel = 1 if data_format.startswith("NC") else rank + 1
        return op(value, ksize=_sequence(ksize, rank, channel, "ksize"),
                  strides=_sequence(strides, rank, channel, "strides"),
                  padding=padding, data_format=data_format, name=scope)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None,
             input=None):
    """The largest element of each window, padding left out.

    `value`: [batch, height, width, channels], or as data_format "NCHW" says, of
    real numbers; `ksize` and `strides`: a number, two, or four as its
    dimensions. The result has its type and rank. ValueError for another rank, a
    window that is larger than the image with "VALID", or windows over both
    channels and pixels; TypeError for other types."""
    return _pool(_raw.MaxPool, "MaxPool",
                 _renamed("input", input, "value", value), ksize, strides,
                 padding, data_format, name)


def _pool_of_rank(ops, input, ksize, strides, padding, data_format, name):
    """The pool of `ops` for so many spatial dimensions as the input, or else
    the format or the window, tells."""
    x = convert_to_tensor(input, name="input")
    n = x._rank()
    if n is not None:
        n -= 2
    elif data_format is not None:
        n = len(data_format) - 2
    elif isinstance(ksize, (list, tuple)) and len(ksize) != 1:
        n = len(ksize) if len(ksize) <= 3 else len(ksize) - 2
    if n not in ops:
        raise ValueError("Input tensor must be of rank 3, 4 or 5 but was %s."
                         % ("unknown" if n is None else n + 2))
    formats = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
    return ops[n](x, ksize, strides, padding, data_format or formats[n], name)


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """max_pool1d, max_pool2d or max_pool3d by the rank of the input."""
    return _pool_of_rank({1: max_pool1d, 2: max_pool, 3: max_pool3d}, input,
                         ksize, strides, padding, data_format, name)


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """avg_pool1d, avg_pool2d or avg_pool3d by the rank of the input."""
    return _pool_of_rank({1: avg_pool1d, 2: avg_pool, 3: avg_pool3d}, input,
                         ksize, strides, padding, data_format, name)


def _pool1d(op, default, input, ksize, strides, padding, data_format, name):
    with name_scope(name, default, [input]) as scope:
        data_format = data_format or "NWC"
        channel = 1 if data_format.startswith("NC") else 2
        at = 2 if channel == 1 else 1
        window, step = (_sequence(v, 1, channel, what) for v, what in (
            (ksize, "ksize"), (strides, "strides")))
        out = op(_raw.ExpandDims(input, at),
                 ksize=window[:at] + [1] + window[at:],
                 strides=step[:at] + [1] + step[at:], padding=padding,
                 data_format="NCHW" if channel == 1 else "NHWC")
        return _raw.Squeeze(out, squeeze_dims=[at], name=scope)


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The largest element of each window of [batch, width, channels]."""
    return _pool1d(_raw.MaxPool, "MaxPool1d", input, ksize, strides, padding,
                   data_format, name)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The mean of each window of [batch, width, channels]."""
    return _pool1d(_raw.AvgPool, "AvgPool1D", input, ksize, strides, padding,
                   data_format, name)


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The largest element of each window of [batch, depth, height, width,
    channels]."""
    return _pool(_raw.MaxPool3D, "MaxPool3D", input, ksize, strides, padding,
                 data_format, name, rank=3)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The mean of each window of [batch, depth, height, width, channels]."""
    return _pool(_raw.AvgPool3D, "AvgPool3D", input, ksize, strides, padding,
                 data_format, name, rank=3)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """max_pool of [batch, height, width, channels]."""
    return max_pool(input, ksize, strides, padding, data_format,
                    name or "max_pool2d")


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None,
             input=None):
    """The mean of each window, over what is inside the image.

    `value`: [batch, height, width, channels], or as data_format "NCHW" says, of
    float16, bfloat16, float32 or float64; `ksize` and `strides`: a number, two,
    or four as its dimensions. The result has its type and rank. ValueError for
    another rank, or a window that is larger than the image with "VALID";
    TypeError for other types."""
    return _pool(_raw.AvgPool, "AvgPool",
                 _renamed("input", input, "value", value), ksize, strides,
                 padding, data_format, name)


avg_pool2d = avg_pool


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC",
                         Targmax=None, name=None, output_dtype=None,
                         include_batch_in_index=False):
    """(max_pool, the flat index of each maximum)."""
    return _raw.MaxPoolWithArgmax(
        input, ksize=ksize, strides=strides, padding=padding,
        Targmax=Targmax or output_dtype or dtypes.int64,
        include_batch_in_index=include_batch_in_index, name=name)


def fractional_max_pool(value, pooling_ratio, pseudo_random=False,
                        overlapping=False, deterministic=False, seed=0, seed2=0,
                        name=None):
    """(the largest element of each window, where windows begin and at last
    end, by rows, the same by columns). Windows have two sizes that differ by
    one, so that each side becomes floor(side / ratio) long, in an order drawn
    anew in each run; with `deterministic` always as the seeds say. Seeds are
    for that alone. pooling_ratio: [1, rows, columns, 1], at least 1 each."""
    return _raw.FractionalMaxPool(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random,
        overlapping=overlapping, deterministic=deterministic, seed=seed,
        seed2=seed2, name=name)


def fractional_avg_pool(value, pooling_ratio, pseudo_random=False,
                        overlapping=False, deterministic=False, seed=0, seed2=0,
                        name=None):
    """As fractional_max_pool, with the mean of each window."""
    return _raw.FractionalAvgPool(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random,
        overlapping=overlapping, deterministic=deterministic, seed=seed,
        seed2=seed2, name=name)
