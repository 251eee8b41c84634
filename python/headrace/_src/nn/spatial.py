"""tf.nn: pools and convolutions over any number of spatial dimensions, with
dilation by way of the batch; transposed convolutions; morphology."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.nn.conv import (
    _sequence, avg_pool, avg_pool1d, avg_pool3d, conv2d_transpose,
    conv3d_transpose, max_pool, max_pool1d, max_pool3d)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_ops import _renamed
from headrace._src.ops.blocks import required_space_to_batch_paddings


# Dilation.

def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None,
                        spatial_dims=None, data_format=None):
    """op(input, number of spatial dimensions, padding) with dilation: each
    phase of the rates as a batch of its own, on which op works densely with
    "VALID" padding. "SAME" needs `filter_shape`, the sizes of the window.
    spatial_dims: by default those after the batch, and after the channels for
    a data_format that begins with "NC"."""
    input = convert_to_tensor(input, name="input")
    rates = constant_value(convert_to_tensor(dilation_rate))
    if rates is None:
        raise ValueError("dilation_rate must be known when the graph is built")
    if rates.ndim != 1 or (rates < 1).any():
        raise ValueError("dilation_rate must be a vector of positive numbers, "
                         "got %s" % rates)
    count = len(rates)
    if (rates == 1).all():
        return op(input, count, padding)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        extra = (np.asarray(constant_value(convert_to_tensor(
            np.array(filter_shape, np.int32)))) - 1) * rates
        base = np.stack([extra // 2, extra - extra // 2], 1)
    elif padding == "VALID":
        base = np.zeros([count, 2], np.int32)
    else:
        raise ValueError("Invalid padding method %r" % (padding,))
    if spatial_dims is None:
        first = 2 if data_format is not None and data_format.startswith(
            "NC") else 1
        spatial_dims = range(first, first + count)
    dims = [int(d) for d in spatial_dims]
    if sorted(set(dims)) != dims or dims[0] < 1 or len(dims) != count:
        raise ValueError("spatial_dims must be a monotonically increasing "
                         "sequence of positive integers, got %s" % dims)
    # Dimensions between the batch and the last spatial one are blocks of 1.
    block = np.ones([dims[-1]], np.int32)
    around = np.zeros([dims[-1], 2], np.int32)
    for d, rate, pads in zip(dims, rates, base):
        block[d - 1], around[d - 1] = rate, pads
    sizes = _array.shape(input)[1:dims[-1] + 1]
    known = input.get_shape()
    if known.ndims is not None and None not in known[1:dims[-1] + 1].as_list():
        sizes = np.array(known[1:dims[-1] + 1].as_list(), np.int32)
    paddings, crops = required_space_to_batch_paddings(
        sizes, block, around)
    out = op(_raw.SpaceToBatchND(input, block, paddings), count, "VALID")
    return _raw.BatchToSpaceND(out, block, crops)


def pool(input, window_shape, pooling_type, padding, dilation_rate=None,
         strides=None, name=None, data_format=None, dilations=None):
    """The "MAX" or "AVG" of each window over one, two or three spatial
    dimensions, as many as window_shape has. Either strides or rates may be
    above 1."""
    rate = _renamed("dilations", dilations, "dilation_rate",
                           dilation_rate)
    with name_scope(name, "%s_pool" % pooling_type.lower(), [input]) as scope:
        input = convert_to_tensor(input, name="input")
        n = len(window_shape)
        input.get_shape().with_rank(n + 2)
        strides = _per_dimension(strides, n, "strides")
        rate = _per_dimension(rate, n, "dilation_rate")
        if max(strides) > 1 and max(rate) > 1:
            raise ValueError("strides > 1 not supported in conjunction with "
                             "dilation_rate > 1")
        if padding == "SAME" and max(rate) > 1:
            raise ValueError("pooling with SAME padding is not implemented for "
                             "dilation_rate > 1")
        ops = {("MAX", 1): max_pool1d, ("MAX", 2): max_pool,
               ("MAX", 3): max_pool3d, ("AVG", 1): avg_pool1d,
               ("AVG", 2): avg_pool, ("AVG", 3): avg_pool3d}
        if (pooling_type, n) not in ops:
            raise ValueError("%d-D %s pooling is not supported."
                             % (n, pooling_type))
        if data_format is None:
            data_format = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n]
        return with_space_to_batch(
            input, rate, padding, lambda x, _, pad: ops[pooling_type, n](
                x, list(window_shape), strides, pad, data_format,
                scope if max(rate) == 1 else None),
            data_format=data_format)


def _per_dimension(values, n, what):
    values = [1] * n if values is None else list(values)
    if len(values) != n:
        raise ValueError("len(%s)=%d but should be %d"
                         % (what, len(values), n))
    return values


# Transposed convolutions.

def conv1d_transpose(input, filters, output_shape, strides, padding="SAME",
                     data_format="NWC", dilations=None, name=None):
    """The transpose of conv1d: output_shape is that of the input which conv1d
    would take to the shape of `input`. Filters are [width, out, in]."""
    with name_scope(name, "conv1d_transpose",
                    [input, filters, output_shape]):
        data_format = data_format or "NWC"
        if data_format not in ("NWC", "NCW"):
            raise ValueError("data_format must be either NWC or NCW.")
        channel, at = (1, 2) if data_format == "NCW" else (2, 1)
        strides = _sequence(strides, 1, channel, "strides")
        dilations = _sequence(dilations, 1, channel, "dilations")
        shape = convert_to_tensor(output_shape, name="output_shape")
        known = constant_value(shape)
        if known is not None:
            shape = np.insert(known, at, 1)
        else:
            shape = _array.concat([shape[:at], [1], shape[at:]], 0)
        out = _raw.Conv2DBackpropInput(
            shape, _raw.ExpandDims(filters, 0), _raw.ExpandDims(input, at),
            strides=strides[:at] + [1] + strides[at:], padding=padding,
            data_format="NCHW" if channel == 1 else "NHWC",
            dilations=dilations[:at] + [1] + dilations[at:])
        return _raw.Squeeze(out, squeeze_dims=[at])


def conv_transpose(input, filters, output_shape, strides, padding="SAME",
                   data_format=None, dilations=None, name=None):
    """conv1d_transpose, conv2d_transpose or conv3d_transpose, by the size of
    output_shape."""
    with name_scope(name, "conv_transpose",
                    [input, filters, output_shape]) as scope:
        if isinstance(output_shape, _array.Tensor):
            n = output_shape.get_shape()[0].value
        else:
            n = len(output_shape)
        if n not in (3, 4, 5):
            raise ValueError("output_shape must be of length 3, 4 or 5 but was "
                             "%s." % n)
        if n == 3:
            return conv1d_transpose(
                input, filters, output_shape, strides, padding,
                data_format or "NWC", dilations, scope)
        op, formats = {4: (conv2d_transpose, "NHWC"),
                       5: (conv3d_transpose, "NDHWC")}[n]
        return op(input, filters, output_shape, strides, padding,
                  data_format or formats, dilations=dilations, name=scope)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding,
                            name=None):
    """The transpose of atrous_conv2d."""
    with name_scope(name, "atrous_conv2d_transpose",
                    [value, filters, output_shape]) as scope:
        if rate < 1:
            raise ValueError("rate {} cannot be less than one".format(rate))
        return _raw.Conv2DBackpropInput(
            output_shape, filters, value, strides=[1, 1, 1, 1],
            padding=padding, dilations=[1, rate, rate, 1], name=scope)


# Gradients, and morphology.

def conv3d_backprop_filter(input, filter_sizes, out_backprop, strides, padding,
                           data_format="NDHWC", dilations=[1, 1, 1, 1, 1],
                           name=None):
    """The gradient of conv3d with respect to its filter."""
    return _raw.Conv3DBackpropFilterV2(
        input, filter_sizes, out_backprop, strides=strides, padding=padding,
        data_format=data_format, dilations=dilations, name=name)


conv3d_backprop_filter_v2 = conv3d_backprop_filter


def dilation2d(input, filter=None, strides=None, rates=None, padding=None,
               name=None, filters=None, dilations=None):
    """The largest sum of image and filter in each window."""
    filter = _renamed("filters", filters, "filter", filter)
    rates = _renamed("dilations", dilations, "rates", rates)
    return _raw.Dilation2D(input, filter, strides=strides, rates=rates,
                           padding=padding, name=name)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """The smallest difference of image and kernel in each window."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        return _math.negative(_raw.Dilation2D(
            _math.negative(value), _array.reverse(kernel, [0, 1]),
            strides=strides, rates=rates, padding=padding), name=scope)
