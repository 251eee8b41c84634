"""tf.image: the values of images: types, brightness and colours."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.image.transforms import _check, _checked, _image
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.ops.contractions import tensordot


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """As `dtype`, scaled so that the largest integer is 1.0. `saturate`: values
    that would overflow are clipped first.

    `image`: real numbers of any shape, which the result has too; `dtype`: of
    real numbers. Floats are taken to lie in [0, 1]. AttributeError for an image
    of other types, TypeError for a dtype that is none."""
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype).base_dtype
    kind = image.dtype.base_dtype
    if not (kind.is_floating or kind.is_integer):
        raise AttributeError("image must be of integers or floats, got %s"
                             % kind.name)
    if dtype == kind:
        return _array.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        if kind.is_integer and dtype.is_integer:
            scale_in, scale_out = kind.max, dtype.max
            if scale_in > scale_out:
                scale = (scale_in + 1) // (scale_out + 1)
                scaled = _math.floordiv(image, constant(scale, kind))
                return (_math.saturate_cast(scaled, dtype, name=scope)
                        if saturate else _math.cast(scaled, dtype, scope))
            cast = (_math.saturate_cast(image, dtype) if saturate
                    else _math.cast(image, dtype))
            scale = (scale_out + 1) // (scale_in + 1)
            return _math.multiply(cast, constant(scale, dtype), name=scope)
        if kind.is_floating and dtype.is_floating:
            return _math.cast(image, dtype, scope)
        if kind.is_integer:
            return _math.multiply(_math.cast(image, dtype),
                                  constant(1. / kind.max, dtype), name=scope)
        # Rounds rather than cuts: 0.5 beyond the largest integer.
        scaled = _math.multiply(image, constant(dtype.max + 0.5, kind))
        return (_math.saturate_cast(scaled, dtype, name=scope) if saturate
                else _math.cast(scaled, dtype, scope))


def rgb_to_grayscale(images, name=None):
    """Weighted sums of red, green and blue, in one channel."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        kind = images.dtype.base_dtype
        real = convert_image_dtype(images, dtypes.float32)
        gray = tensordot(real, np.float32([0.2989, 0.5870, 0.1140]),
                               [-1, -1])
        gray = _array.expand_dims(gray, -1)
        return convert_image_dtype(gray, kind, name=scope)


def grayscale_to_rgb(images, name=None):
    """The one channel three times."""
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        rank = images._rank()
        if rank is not None and images.get_shape()[-1].value not in (1, None):
            raise ValueError("images must have one channel, got shape %s"
                             % images.get_shape())
        # Of an unknown rank: 3 for the last dimension, 1 for the others.
        multiples = [1] * (rank - 1) + [3] if rank is not None else (
            _array.concat([_array.ones(_array.expand_dims(
                _array.rank(images) - 1, 0), dtypes.int32), [3]], 0))
        out = _array.tile(images, multiples, name=scope)
        out.set_shape(images.get_shape()[:-1].concatenate([3]))
        return out


def _as_float(image):
    """(float32 image, function back to its own type)."""
    image = convert_to_tensor(image, name="image")
    kind = image.dtype.base_dtype
    if kind in (dtypes.float16, dtypes.float32):
        return image, _array.identity
    return (convert_image_dtype(image, dtypes.float32),
            lambda x: convert_image_dtype(x, kind, saturate=True))


def adjust_brightness(image, delta):
    """image + delta, delta as of an image of floats in [0, 1)."""
    with name_scope(None, "adjust_brightness", [image, delta]):
        real, back = _as_float(image)
        return back(_math.add(real, _math.cast(delta, real.dtype.base_dtype)))


def adjust_contrast(images, contrast_factor):
    """Each channel's distances from its mean times contrast_factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]):
        real, back = _as_float(images)
        return back(_raw.AdjustContrastv2(real, contrast_factor))


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        real, back = _as_float(image)
        checks = _check(gamma >= 0, "Gamma should be a non-negative real "
                                    "number.")
        with control_dependencies(checks):
            gamma = _math.cast(gamma, real.dtype.base_dtype)
        return back(_math.pow(real, gamma) * _math.cast(gain, real.dtype))


def adjust_hue(image, delta, name=None):
    """The hue of an RGB image turned by delta, in turns."""
    with name_scope(name, "adjust_hue", [image]):
        real, back = _as_float(image)
        return back(_raw.AdjustHue(real, delta))


def adjust_saturation(image, saturation_factor, name=None):
    """The saturation of an RGB image times saturation_factor."""
    with name_scope(name, "adjust_saturation", [image]):
        real, back = _as_float(image)
        return back(_raw.AdjustSaturation(real, saturation_factor))


def random_brightness(image, max_delta, seed=None):
    """adjust_brightness by a number drawn from [-max_delta, max_delta).

    `image`: numbers, [..., height, width, channels]; integers are changed as
    floats in [0, 1]. The result has its type and shape. ValueError if max_delta
    is negative; AttributeError for other types."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, _random.random_uniform(
        [], -max_delta, max_delta, seed=seed))


def _factor(lower, upper, seed):
    """A number drawn from [lower, upper)."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return _random.random_uniform([], lower, upper, seed=seed)


def random_contrast(image, lower, upper, seed=None):
    """adjust_contrast by a number drawn from [lower, upper).

    `image`: numbers, [..., height, width, channels]. The result has its type
    and shape. ValueError unless 0 <= lower < upper; AttributeError for other
    types."""
    return adjust_contrast(image, _factor(lower, upper, seed))


def random_hue(image, max_delta, seed=None):
    """adjust_hue by a number drawn from [-max_delta, max_delta).

    `image`: numbers, [..., height, width, 3]. The result has its type and
    shape. ValueError unless 0 <= max_delta <= 0.5, InvalidArgumentError in the
    run if there are not 3 channels; AttributeError for other types."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be in [0, 0.5].")
    return adjust_hue(image, _random.random_uniform(
        [], -max_delta, max_delta, seed=seed))


def random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a number drawn from [lower, upper).

    `image`: numbers, [..., height, width, 3]. The result has its type and
    shape. ValueError unless 0 <= lower < upper, InvalidArgumentError in the run
    if there are not 3 channels; AttributeError for other types."""
    return adjust_saturation(image, _factor(lower, upper, seed))


def adjust_jpeg_quality(image, jpeg_quality, name=None):
    """The image as a JPEG file of that quality, 0 to 100, shows it."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        kind = image.dtype.base_dtype
        image = convert_image_dtype(image, dtypes.uint8)
        # The quality may be a number of the run.
        file = _raw.EncodeJpegVariableQuality(
            image, convert_to_tensor(jpeg_quality, dtypes.int32))
        return convert_image_dtype(_raw.DecodeJpeg(file), kind)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality to a random quality, the maximum left out."""
    if not 0 <= min_jpeg_quality <= 100 or not 0 <= max_jpeg_quality <= 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than "
                         "`max_jpeg_quality`.")
    quality = _random.random_uniform([], min_jpeg_quality, max_jpeg_quality,
                                     seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


def per_image_standardization(image):
    """(image - mean) / max(deviation, 1 / sqrt(number of values)), for each
    image of a batch by itself; in the type of the image, as convert_image_dtype
    gives it.

    `image`: numbers, [..., height, width, channels]; floats give their own
    type, integers float32. The shape stays. ValueError for a rank below 3."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image, _ = _image(image)
        image = _checked(image)
        kind = image.dtype.base_dtype
        if kind not in (dtypes.float16, dtypes.float32):
            image = convert_image_dtype(image, dtypes.float32)
        count = _math.reduce_prod(_array.shape(image)[-3:])
        axes = [-1, -2, -3]
        mean = _math.reduce_mean(image, axes, keepdims=True)
        deviation = _math.reduce_std(image, axes, keepdims=True)
        deviation = _math.maximum(
            deviation, _math.rsqrt(_math.cast(count, image.dtype)))
        image = _raw.RealDiv(image - mean, deviation, name=scope)
        return convert_image_dtype(image, kind, saturate=True)


_YIQ = np.array([[0.299, 0.59590059, 0.2115],
                 [0.587, -0.27455667, -0.52273617],
                 [0.114, -0.32134392, 0.31119955]])
_YUV = np.array([[0.299, -0.14714119, 0.61497538],
                 [0.587, -0.28886916, -0.51496512],
                 [0.114, 0.43601035, -0.10001026]])
_FROM_YIQ = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021],
                      [0.6208248, -0.64720424, 1.70423049]])
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185],
                      [1.13988303, -0.58062185, 0]])


def _colors(images, matrix):
    images = convert_to_tensor(images, name="images")
    return tensordot(
        images, constant(matrix, images.dtype.base_dtype),
        [[images._rank() - 1], [0]])


def rgb_to_yiq(images):
    """RGB in [0, 1] to YIQ."""
    return _colors(images, _YIQ)


def yiq_to_rgb(images):
    """YIQ to RGB."""
    return _colors(images, _FROM_YIQ)


def rgb_to_yuv(images):
    """RGB in [0, 1] to YUV."""
    return _colors(images, _YUV)


def yuv_to_rgb(images):
    """YUV to RGB."""
    return _colors(images, _FROM_YUV)
