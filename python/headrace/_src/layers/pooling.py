"""tf.keras.layers: the largest, or the mean, of each window."""
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import windows
from headrace._src.layers.core import data_format_of
from headrace._src.layers.engine import Layer
from headrace._src.layers.input_spec import InputSpec
from headrace._src.nn import conv as _conv
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class _Pooling(Layer):
    """`strides`: by default as large as the windows."""

    rank: int
    pool_function: object

    def __init__(self, pool_size, strides=None, padding="valid",
                 data_format=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        if strides is None:
            strides = pool_size
        self.pool_size = windows.numbers(pool_size, self.rank, "pool_size")
        self.strides = windows.numbers(strides, self.rank, "strides")
        self.padding = windows.padding_of(padding)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        first = self.data_format == "channels_first"
        if self.rank == 1:
            # The ops take images: [batch, steps, 1, channels].
            at = 3 if first else 2
            outputs = self._pool(_array.expand_dims(inputs, at),
                                 self.pool_size + (1,), self.strides + (1,),
                                 first)
            return _array.squeeze(outputs, at)
        if self.rank == 2:
            return self._pool(inputs, self.pool_size, self.strides, first)
        if first:
            inputs = _array.transpose(inputs, (0, 2, 3, 4, 1))
        outputs = type(self).pool_function(
            inputs, ksize=(1,) + self.pool_size + (1,),
            strides=(1,) + self.strides + (1,), padding=self.padding.upper())
        return _array.transpose(outputs, (0, 4, 1, 2, 3)) if first else outputs

    def _pool(self, inputs, size, strides, first):
        def whole(sizes):
            return (1, 1) + sizes if first else (1,) + sizes + (1,)
        return type(self).pool_function(
            inputs, ksize=whole(size), strides=whole(strides),
            padding=self.padding.upper(),
            data_format="NCHW" if first else "NHWC")

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        sizes, put = windows.spatial(shape, self.data_format)
        channels = shape[1 if self.data_format == "channels_first" else -1]
        return TensorShape(put([
            windows.output_length(n, k, self.padding, s)
            for n, k, s in zip(sizes, self.pool_size, self.strides)],
            channels))

    def get_config(self):
        return {**super().get_config(), "pool_size": self.pool_size,
                "strides": self.strides, "padding": self.padding,
                "data_format": self.data_format}


class MaxPooling1D(_Pooling):
    """The largest of each window of steps."""
    rank = 1
    pool_function = staticmethod(_conv.max_pool)

    def __init__(self, pool_size=2, strides=None, padding="valid",
                 data_format="channels_last", **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling1D(_Pooling):
    """The mean of each window of steps."""
    rank = 1
    pool_function = staticmethod(_conv.avg_pool)

    def __init__(self, pool_size=2, strides=None, padding="valid",
                 data_format="channels_last", **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling2D(_Pooling):
    """The largest of each window of an image.

    `inputs`: real numbers [batch, rows, columns, channels], or with
    "channels_first" [batch, channels, rows, columns]; the result has their type
    and rank. `pool_size` and `strides`: an int or two. ValueError for another
    rank, padding or data format."""
    rank = 2
    pool_function = staticmethod(_conv.max_pool)

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid",
                 data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling2D(_Pooling):
    """The mean of each window of an image.

    `inputs`: float16, bfloat16, float32 or float64 [batch, rows, columns,
    channels], or with "channels_first" [batch, channels, rows, columns]; the
    result has their type and rank. `pool_size` and `strides`: an int or two.
    ValueError for another rank, padding or data format."""
    rank = 2
    pool_function = staticmethod(_conv.avg_pool)

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid",
                 data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling3D(_Pooling):
    """The largest of each window of a volume."""
    rank = 3
    pool_function = staticmethod(_conv.max_pool3d)

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding="valid",
                 data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling3D(_Pooling):
    """The mean of each window of a volume."""
    rank = 3
    pool_function = staticmethod(_conv.avg_pool3d)

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding="valid",
                 data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class _Global(Layer):
    reduce: object

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs):
        axes = [2, 3] if self.data_format == "channels_first" else [1, 2]
        return type(self).reduce(inputs, axes)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class GlobalAveragePooling2D(_Global):
    """The mean of each channel of an image."""
    reduce = staticmethod(_math.reduce_mean)


class GlobalMaxPooling2D(_Global):
    """The largest of each channel of an image."""
    reduce = staticmethod(_math.reduce_max)


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = (
    AveragePooling1D, AveragePooling2D, AveragePooling3D)
