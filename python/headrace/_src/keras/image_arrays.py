"""tf.keras.preprocessing.image: pictures in files as arrays, and arrays that are
turned, shifted and coloured. They need the packages Pillow and, to turn and
shift, SciPy."""
import io
import warnings

import numpy as np

from headrace._src.layers import backend
from headrace._src.layers.core import data_format_of

_METHODS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def _pillow(name, what):
    """The module PIL.`name`. ImportError, which names `what`, without it."""
    try:
        return getattr(__import__("PIL." + name), name)
    except ImportError as error:
        raise ImportError("%s requires the package Pillow: pip install pillow"
                          % what) from error


def _scipy(name, what):
    """The module scipy.`name`."""
    try:
        return getattr(__import__("scipy." + name), name)
    except ImportError as error:
        raise ImportError("%s require SciPy: pip install scipy"
                          % what) from error


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """A picture of Pillow from numbers [rows, columns, channels], or with
    "channels_first" [channels, rows, columns]. `scale`: the numbers are first
    scaled to 0 to 255. `dtype`: the type, by default floatx, in which they are.
    ValueError for another rank, and other numbers of channels than 1, 3 and
    4."""
    image = _pillow("Image", "`array_to_img`")
    x = np.asarray(x, dtype=dtype or backend.floatx())
    if x.ndim != 3:
        raise ValueError("Expected image array to have rank 3 (single image). "
                         "Got array with shape: %s" % (x.shape,))
    if _checked(data_format) == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        most = np.max(x)
        x = (x / most if most else x) * 255
    channels = x.shape[2]
    if channels not in (1, 3, 4):
        raise ValueError("Unsupported channel number: %d" % channels)
    if channels > 1:
        return image.fromarray(x.astype("uint8"))
    # Pillow's mode "I" has integers of 32 bits.
    return image.fromarray(x[:, :, 0].astype(
        "int32" if np.max(x) > 255 else "uint8"))


def img_to_array(img, data_format=None, dtype=None):
    """The numbers of a picture, [rows, columns, channels], or with
    "channels_first" [channels, rows, columns]; `dtype` is by default floatx.
    ValueError for what has another rank than 2 and 3."""
    first = _checked(data_format) == "channels_first"
    x = np.asarray(img, dtype=dtype or backend.floatx())
    if x.ndim == 3:
        return x.transpose(2, 0, 1) if first else x
    if x.ndim != 2:
        raise ValueError("Unsupported image shape: %s" % (x.shape,))
    return x[None] if first else x[:, :, None]


def _checked(data_format):
    try:
        return data_format_of(data_format)
    except ValueError as error:
        raise ValueError("Unknown data_format: %s" % (data_format,)) from error


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes numbers [rows, columns, channels] as a picture; see array_to_img.
    `file_format`: by default what the name says. ValueError for shapes that are
    no picture's."""
    img = array_to_img(x, data_format=data_format, scale=scale)
    if img.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("The JPG format does not support RGBA images, converting "
                      "to RGB.")
        img = img.convert("RGB")
    img.save(path, format=file_format, **kwargs)


def load_img(path, grayscale=False, color_mode="rgb", target_size=None,
             interpolation="nearest"):
    """The picture of a file, as one of Pillow. `color_mode`: "grayscale", "rgb"
    or "rgba". `target_size`: (rows, columns) to which it is scaled, by
    `interpolation`: "nearest", "bilinear", "bicubic", "hamming", "box" or
    "lanczos". ValueError for others of these."""
    if grayscale:
        warnings.warn("grayscale is deprecated. Please use color_mode = "
                      "\"grayscale\"")
        color_mode = "grayscale"
    image = _pillow("Image", "`load_img`")
    modes = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}
    if color_mode not in modes:
        raise ValueError("color_mode must be \"grayscale\", \"rgb\", or "
                         "\"rgba\", got %s" % (color_mode,))
    with open(path, "rb") as file:
        img = image.open(io.BytesIO(file.read()))
    wide = color_mode == "grayscale" and img.mode in ("I;16", "I")
    if img.mode != modes[color_mode] and not wide:
        img = img.convert(modes[color_mode])
    size = None if target_size is None else (target_size[1], target_size[0])
    if size in (None, img.size):
        return img
    if interpolation not in _METHODS:
        raise ValueError("Invalid interpolation method %s specified. Supported "
                         "methods are %s" % (interpolation,
                                             ", ".join(_METHODS)))
    return img.resize(size, getattr(image, interpolation.upper()))


# Changes of one picture. The axes are those of the numbers.

def flip_axis(x, axis):
    return np.flip(np.asarray(x), axis)


def apply_affine_transform(x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1,
                           row_axis=0, col_axis=1, channel_axis=2,
                           fill_mode="nearest", cval=0., order=1):
    """Numbers of a picture, turned by `theta` degrees, shifted by `tx` rows and
    `ty` columns, sheared by `shear` degrees and zoomed by `zx` and `zy` around
    the middle. The three axes say what its dimensions are.

    `fill_mode`: what is outside: "nearest", "reflect", "wrap" or "constant", of
    the value `cval`. `order`: of the splines between the numbers. ImportError
    without SciPy; RuntimeError and ValueError for what it does not have."""
    matrix = np.eye(3)
    turn, slope = np.deg2rad(theta), np.deg2rad(shear)
    for needed, by in (
            (theta != 0, [[np.cos(turn), -np.sin(turn), 0],
                          [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]),
            (tx != 0 or ty != 0, [[1, 0, tx], [0, 1, ty], [0, 0, 1]]),
            (shear != 0, [[1, -np.sin(slope), 0], [0, np.cos(slope), 0],
                          [0, 0, 1]]),
            (zx != 1 or zy != 1, [[zx, 0, 0], [0, zy, 0], [0, 0, 1]])):
        if needed:
            matrix = matrix @ np.array(by)
    ndimage = _scipy("ndimage", "Image transformations")
    if (theta, tx, ty, shear, zx, zy) == (0, 0, 0, 0, 1, 1):
        return x
    middle = np.eye(3)
    middle[:2, 2] = [x.shape[a] / 2 + .5 for a in (row_axis, col_axis)]
    back = np.eye(3)
    back[:2, 2] = -middle[:2, 2]
    matrix = middle @ matrix @ back
    x = np.moveaxis(x, channel_axis, 0)
    x = np.stack([ndimage.affine_transform(
        channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode,
        cval=cval) for channel in x])
    return np.moveaxis(x, 0, channel_axis)


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0,
                    fill_mode="nearest", cval=0., interpolation_order=1):
    """Numbers of a picture [channels, rows, columns], or as the axes say, turned
    by up to `rg` degrees, by np.random. ImportError without SciPy. See
    apply_affine_transform for the others."""
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(
        x, theta=theta, channel_axis=channel_axis, fill_mode=fill_mode,
        cval=cval, order=interpolation_order)


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0,
                 fill_mode="nearest", cval=0., interpolation_order=1):
    """Numbers of a picture [channels, rows, columns], or as the axes say,
    shifted by up to the share `wrg` of the columns and `hrg` of the rows, by
    np.random. ImportError without SciPy. See apply_affine_transform for the
    others."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(
        x, tx=tx, ty=ty, channel_axis=channel_axis, fill_mode=fill_mode,
        cval=cval, order=interpolation_order)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0,
                 fill_mode="nearest", cval=0., interpolation_order=1):
    """Numbers of a picture [channels, rows, columns], or as the axes say,
    sheared by up to `intensity` degrees, by np.random. ImportError without
    SciPy. See apply_affine_transform for the others."""
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(
        x, shear=shear, channel_axis=channel_axis, fill_mode=fill_mode,
        cval=cval, order=interpolation_order)


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0,
                fill_mode="nearest", cval=0., interpolation_order=1):
    """Numbers of a picture [channels, rows, columns], or as the axes say, with
    rows and columns zoomed by factors in zoom_range, two floats, by np.random.
    ValueError for other ranges, ImportError without SciPy. See
    apply_affine_transform for the others."""
    if len(zoom_range) != 2:
        raise ValueError("`zoom_range` should be a tuple or list of two floats."
                         " Received: %s" % (zoom_range,))
    zx, zy = random_factors(zoom_range)
    return apply_affine_transform(
        x, zx=zx, zy=zy, channel_axis=channel_axis, fill_mode=fill_mode,
        cval=cval, order=interpolation_order)


def random_factors(zoom_range):
    """Two factors; no random numbers are drawn for no zoom."""
    if zoom_range[0] == zoom_range[1] == 1:
        return 1, 1
    return np.random.uniform(zoom_range[0], zoom_range[1], 2)


def apply_channel_shift(x, intensity, channel_axis=0):
    """Numbers of a picture with `intensity` added, between the least and the
    largest of them; the shape and the type of `x` are kept. Any axis may have
    the channels; IndexError for one that is not there."""
    if not -x.ndim <= channel_axis < x.ndim:
        raise IndexError("apply_channel_shift: channel_axis %d of an array of "
                         "%d dimensions" % (channel_axis, x.ndim))
    return np.clip(x + intensity, np.min(x), np.max(x))


def random_channel_shift(x, intensity_range, channel_axis=0):
    """apply_channel_shift by up to `intensity_range`, by np.random: numbers of
    a picture of the shape and type of `x`; IndexError for an axis that is not
    there."""
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis=channel_axis)


def apply_brightness_shift(x, brightness):
    """Numbers of a picture [rows, columns, channels], scaled to 0 to 255, with
    another brightness: 0 is black, 1 the same; floatx of the same shape.
    ImportError without Pillow, ValueError for another shape."""
    enhance = _pillow("ImageEnhance", "Using brightness shifts")
    return img_to_array(enhance.Brightness(array_to_img(x)).enhance(brightness))


def random_brightness(x, brightness_range):
    """apply_brightness_shift by a number in brightness_range, two floats, by
    np.random: numbers of a picture [rows, columns, channels]. ValueError for
    other ranges and shapes."""
    if len(brightness_range) != 2:
        raise ValueError("`brightness_range should be tuple or list of two "
                         "floats. Received: %s" % (brightness_range,))
    return apply_brightness_shift(x, np.random.uniform(*brightness_range))
