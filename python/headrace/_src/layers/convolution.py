"""tf.keras.layers: convolutions."""
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import constant
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import (
    constraints, initializers, regularizers, windows)
from headrace._src.layers.core import data_format_of
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.kernel_layer import KernelLayer
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.nn import spatial as _spatial
from headrace._src.ops import array_ops as _array


class _Conv(KernelLayer):
    """A convolution over `rank` dimensions. Weights: `kernel`, of the window's
    sizes, inputs and filters, and `bias`."""

    _kernel_options = ("kernel_initializer", "kernel_regularizer",
                       "kernel_constraint")

    def __init__(self, rank, filters, kernel_size, strides, padding,
                 data_format, dilation_rate, activation, use_bias, options,
                 activity_regularizer, **kwargs):
        # Layers with other kernels take the options of `kernel` and leave them.
        for key in self._kernel_options:
            if key not in options:
                kwargs.pop(key, None)
        super().__init__(activation, use_bias, options, activity_regularizer,
                         **kwargs)
        self.rank = rank
        self.filters = None if filters is None else int(filters)
        self.kernel_size = windows.numbers(kernel_size, rank, "kernel_size")
        self.strides = windows.numbers(strides, rank, "strides")
        self.padding = windows.padding_of(padding, causal=rank == 1)
        self.data_format = data_format_of(data_format)
        if self.padding == "causal" and self.data_format != "channels_last":
            raise ValueError("When using causal padding in `%s`, "
                             "`data_format` must be \"channels_last\""
                             % type(self).__name__)
        self.dilation_rate = windows.numbers(dilation_rate, rank,
                                             "dilation_rate")
        if any(s > 1 for s in self.strides) and any(
                d > 1 for d in self.dilation_rate):
            raise ValueError("%s: strides > 1 (%s) are not supported in "
                             "conjunction with dilation_rate > 1 (%s)"
                             % (self.name, self.strides, self.dilation_rate))
        self.kernel = None
        self.input_spec = InputSpec(ndim=rank + 2)

    def _input_channels(self, input_shape):
        """Their number, which the inputs of later calls must have."""
        axis = 1 if self.data_format == "channels_first" else -1
        channels = TensorShape(input_shape)[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be "
                             "defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _kernel_shape(self, channels):
        return self.kernel_size + (channels, self.filters)

    def build(self, input_shape):
        channels = self._input_channels(input_shape)
        self.kernel = self._add("kernel", self._kernel_shape(channels))
        self._add_bias(self.filters)
        self.built = True

    def call(self, inputs):
        padding = self.padding
        if padding == "causal":
            left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = _array.pad(inputs, [[0, 0], [left, 0], [0, 0]])
            padding = "valid"
        return self._convolve(inputs, padding.upper())

    def _convolve(self, inputs, padding):
        data_format = windows.op_format(self.data_format, self.rank + 2)
        if self.rank == 3 and any(d > 1 for d in self.dilation_rate):
            return self._finish(_spatial.with_space_to_batch(
                inputs, self.dilation_rate, padding,
                lambda x, _, pads: _conv.convolution(
                    x, self.kernel, pads, self.strides,
                    data_format=data_format),
                filter_shape=self.kernel_size, data_format=data_format))
        # No node takes it, but the seeds of later random ops depend on how
        # many nodes there are.
        constant(list(self.dilation_rate), dtypes.int32, name="dilation_rate")
        if self.rank == 1:
            # Named as the op of two dimensions that it becomes.
            return self._finish(_conv.conv1d(
                inputs, self.kernel, list(self.strides), padding,
                data_format=data_format, dilations=list(self.dilation_rate)))
        op = _conv.conv2d if self.rank == 2 else _conv.conv3d

        def at_channels(sizes):
            return ([1, 1] + list(sizes) if data_format.startswith("NC")
                    else [1] + list(sizes) + [1])
        return self._finish(op(
            inputs, self.kernel, at_channels(self.strides), padding,
            data_format=data_format,
            dilations=at_channels(self.dilation_rate)))

    def _finish(self, outputs):
        return self._activate(
            self._with_bias(outputs) if self.use_bias else outputs)

    def _with_bias(self, outputs):
        if self.data_format != "channels_first":
            return _nn.bias_add(outputs, self.bias, data_format="NHWC")
        if self.rank == 1:
            return outputs + _array.reshape(self.bias, (1, self.filters, 1))
        return _nn.bias_add(outputs, self.bias, data_format="NCHW")

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        sizes, put = windows.spatial(shape, self.data_format)
        padding = "same" if self.padding == "causal" else self.padding
        return TensorShape(put([
            windows.output_length(n, k, padding, s, d) for n, k, s, d in zip(
                sizes, self.kernel_size, self.strides, self.dilation_rate)],
            self.filters))

    def get_config(self):
        config = super().get_config()
        for key in ("filters", "kernel_size", "strides", "padding",
                    "data_format", "dilation_rate"):
            config[key] = getattr(self, key)
        return config


def _options(kernel_initializer, bias_initializer, kernel_regularizer,
             bias_regularizer, kernel_constraint, bias_constraint):
    return {"kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint}


class Conv1D(_Conv):
    """A convolution of [batch, steps, channels]."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid",
                 data_format="channels_last", dilation_rate=1, activation=None,
                 use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(
            1, filters, kernel_size, strides, padding, data_format,
            dilation_rate, activation, use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, **kwargs)


class Conv2D(_Conv):
    """A convolution of [batch, rows, columns, channels], or with
    "channels_first" of [batch, channels, rows, columns].

    `inputs`: float16, bfloat16, float32 or float64; the result is [batch, rows,
    columns, filters] of that type, in the same order. Weights: `kernel`
    [height, width, channels, filters] and `bias` [filters]. `kernel_size`,
    `strides` and `dilation_rate`: an int or two. ValueError for another rank,
    unknown channels, another padding or data format, and both strides and
    dilations above 1."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 data_format=None, dilation_rate=(1, 1), activation=None,
                 use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format,
            dilation_rate, activation, use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, **kwargs)


class Conv3D(_Conv):
    """A convolution of [batch, depth, rows, columns, channels]."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1),
                 padding="valid", data_format=None, dilation_rate=(1, 1, 1),
                 activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(
            3, filters, kernel_size, strides, padding, data_format,
            dilation_rate, activation, use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, **kwargs)


class _Transposed(_Conv):
    """The transpose of a convolution."""

    def _take_output_padding(self, output_padding):
        self.output_padding = output_padding
        if output_padding is None:
            return
        self.output_padding = windows.numbers(output_padding, self.rank,
                                              "output_padding")
        for stride, out in zip(self.strides, self.output_padding):
            if out >= stride:
                raise ValueError("Stride %s must be greater than output "
                                 "padding %s"
                                 % (self.strides, self.output_padding))

    def _kernel_shape(self, channels):
        return self.kernel_size + (self.filters, channels)

    def _lengths(self, sizes):
        more = self.output_padding or (None,) * self.rank
        return [windows.transposed_length(n, k, self.padding, o, s, d)
                for n, k, o, s, d in zip(
                    sizes, self.kernel_size, more, self.strides,
                    self.dilation_rate)]

    def call(self, inputs):
        sizes = _array.shape(inputs)
        batch = sizes[0]
        first = 2 if self.data_format == "channels_first" else 1
        lengths = self._lengths(
            [sizes[first + i] for i in range(self.rank)])
        shape = ([batch, self.filters] + lengths if first == 2
                 else [batch] + lengths + [self.filters])
        shape = _array.stack(shape)
        if self.rank == 2:
            shape[0]  # a node that TensorFlow makes too
        outputs = self._transposed(inputs, shape, first == 2)
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return self._finish(outputs)

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        sizes, put = windows.spatial(shape, self.data_format)
        return TensorShape(put(self._lengths(sizes), self.filters))

    def get_config(self):
        return {**super().get_config(), "output_padding": self.output_padding}


class Conv2DTranspose(_Transposed):
    """The transpose of Conv2D. The kernel is [rows, columns, filters,
    inputs].

    `inputs`: float16, bfloat16, float32 or float64 [batch, rows, columns,
    channels], or with "channels_first" [batch, channels, rows, columns]; the
    result is as large as what Conv2D would take to it, with `filters` channels.
    ValueError for another rank, unknown channels, another padding or data
    format."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 output_padding=None, data_format=None, dilation_rate=(1, 1),
                 activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format,
            dilation_rate, activation, use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, **kwargs)
        self._take_output_padding(output_padding)

    def _transposed(self, inputs, shape, channels_first):
        dilations = self.dilation_rate
        if channels_first and any(d > 1 for d in dilations):
            raise ValueError("Conv2DTranspose %s: dilation_rate %s with "
                             "channels_first is not supported"
                             % (self.name, dilations))
        if any(d > 1 for d in dilations):
            if dilations[0] != dilations[1]:
                raise ValueError("Conv2DTranspose %s: dilation_rate must be "
                                 "the same in both dimensions, got %s"
                                 % (self.name, dilations))
            return _spatial.atrous_conv2d_transpose(
                inputs, self.kernel, shape, dilations[0],
                self.padding.upper())
        return _conv.conv2d_transpose(
            inputs, self.kernel, shape,
            [1, 1] + list(self.strides) if channels_first
            else [1] + list(self.strides) + [1],
            padding=self.padding.upper(),
            data_format="NCHW" if channels_first else "NHWC")


class Conv3DTranspose(_Transposed):
    """The transpose of Conv3D."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1),
                 padding="valid", output_padding=None, data_format=None,
                 activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(
            3, filters, kernel_size, strides, padding, data_format,
            1, activation, use_bias, _options(
                kernel_initializer, bias_initializer, kernel_regularizer,
                bias_regularizer, kernel_constraint, bias_constraint),
            activity_regularizer, **kwargs)
        self._take_output_padding(output_padding)

    def get_config(self):
        config = super().get_config()
        del config["dilation_rate"]
        return config

    def _transposed(self, inputs, shape, channels_first):
        return _conv.conv3d_transpose(
            inputs, self.kernel, shape,
            [1, 1] + list(self.strides) if channels_first
            else [1] + list(self.strides) + [1],
            padding=self.padding.upper(),
            data_format="NCDHW" if channels_first else "NDHWC")


class _Separable(_Conv):
    """A convolution of each channel by itself, then one of windows of size 1
    over all channels."""

    def __init__(self, rank, filters, kernel_size, strides, padding,
                 data_format, dilation_rate, depth_multiplier, *args, **kwargs):
        # TensorFlow's base class takes these too; they have no effect here.
        self._unused = {
            "kernel_initializer": initializers.get(
                kwargs.pop("kernel_initializer", "glorot_uniform")),
            "kernel_regularizer": regularizers.get(
                kwargs.pop("kernel_regularizer", None)),
            "kernel_constraint": constraints.get(
                kwargs.pop("kernel_constraint", None))}
        super().__init__(rank, filters, kernel_size, strides, padding,
                         data_format, dilation_rate, *args, **kwargs)
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape):
        channels = self._input_channels(input_shape)
        self.depthwise_kernel = self._add(
            "depthwise_kernel",
            self.kernel_size + (channels, self.depth_multiplier), "depthwise")
        self.pointwise_kernel = self._add(
            "pointwise_kernel", (1,) * self.rank
            + (self.depth_multiplier * channels, self.filters), "pointwise")
        self._add_bias(self.filters)
        self.built = True

    def get_config(self):
        return {**super().get_config(),
                "depth_multiplier": self.depth_multiplier,
                **{key: initializers.serialize(value)
                   for key, value in self._unused.items()}}


def _separate_options(
        depthwise_initializer, pointwise_initializer, bias_initializer,
        depthwise_regularizer, pointwise_regularizer, bias_regularizer,
        depthwise_constraint, pointwise_constraint, bias_constraint):
    return {"depthwise_initializer": depthwise_initializer,
            "pointwise_initializer": pointwise_initializer,
            "bias_initializer": bias_initializer,
            "depthwise_regularizer": depthwise_regularizer,
            "pointwise_regularizer": pointwise_regularizer,
            "bias_regularizer": bias_regularizer,
            "depthwise_constraint": depthwise_constraint,
            "pointwise_constraint": pointwise_constraint,
            "bias_constraint": bias_constraint}


class SeparableConv1D(_Separable):
    """A separable convolution of [batch, steps, channels]."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid",
                 data_format=None, dilation_rate=1, depth_multiplier=1,
                 activation=None, use_bias=True,
                 depthwise_initializer="glorot_uniform",
                 pointwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None,
                 pointwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(
            1, filters, kernel_size, strides, padding, data_format,
            dilation_rate, depth_multiplier, activation, use_bias,
            _separate_options(
                depthwise_initializer, pointwise_initializer, bias_initializer,
                depthwise_regularizer, pointwise_regularizer, bias_regularizer,
                depthwise_constraint, pointwise_constraint, bias_constraint),
            activity_regularizer, **kwargs)

    def _convolve(self, inputs, padding):
        first = self.data_format == "channels_first"
        at = 2 if first else 1
        strides = self.strides * 2
        outputs = _conv.separable_conv2d(
            _array.expand_dims(inputs, at),
            _array.expand_dims(self.depthwise_kernel, 0),
            _array.expand_dims(self.pointwise_kernel, 0),
            strides=(1, 1) + strides if first else (1,) + strides + (1,),
            padding=padding, rate=(1,) + self.dilation_rate,
            data_format=windows.op_format(self.data_format, 4))
        if self.use_bias:
            outputs = _nn.bias_add(
                outputs, self.bias,
                data_format=windows.op_format(self.data_format, 4))
        return self._activate(_array.squeeze(outputs, [at]))


class SeparableConv2D(_Separable):
    """A separable convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 data_format=None, dilation_rate=(1, 1), depth_multiplier=1,
                 activation=None, use_bias=True,
                 depthwise_initializer="glorot_uniform",
                 pointwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None,
                 pointwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format,
            dilation_rate, depth_multiplier, activation, use_bias,
            _separate_options(
                depthwise_initializer, pointwise_initializer, bias_initializer,
                depthwise_regularizer, pointwise_regularizer, bias_regularizer,
                depthwise_constraint, pointwise_constraint, bias_constraint),
            activity_regularizer, **kwargs)

    def _convolve(self, inputs, padding):
        first = self.data_format == "channels_first"
        outputs = _conv.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel,
            strides=(1, 1) + self.strides if first
            else (1,) + self.strides + (1,),
            padding=padding, rate=self.dilation_rate,
            data_format=windows.op_format(self.data_format, 4))
        return self._finish(outputs)
