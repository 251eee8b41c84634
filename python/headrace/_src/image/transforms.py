"""tf.image: sizes, crops and flips.

An image is [height, width, channels]; most functions take a batch of images,
[batch, height, width, channels], too."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import Assert, case, cond
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


def _image(image, name="image", may_be_empty=False):
    """A tensor of rank 3 or 4, and whether it is a batch; ValueError for other
    ranks and, unless may_be_empty, for a size that is known to be 0."""
    image = convert_to_tensor(image, name=name)
    rank = image._rank()
    if rank not in (3, 4, None):
        raise ValueError("'%s' (shape %s) must have either 3 or 4 dimensions."
                         % (name, image.get_shape()))
    if not may_be_empty and rank and 0 in image.get_shape().as_list():
        raise ValueError("all dims of 'image.shape' must be > 0: %s"
                         % image.get_shape())
    return image, rank == 4


def _checked(image, checks=()):
    """The image after `checks`. The node is TensorFlow's: the seeds of later
    random ops depend on how many nodes there are."""
    with control_dependencies(list(checks)):
        return _array.identity(image, name="control_dependency")


def _one_if_unknown(image):
    """What _image gives, where a tensor of unknown rank is one image."""
    image, batch = _image(image)
    if image._rank() is None:
        image = _array.identity(image)
        image.set_shape([None] * 3)
    return image, batch


def _height_width(image):
    """What is known of them is a number, the rest a tensor."""
    known = image.get_shape()
    dims = known.as_list() if known.ndims is not None else [None] * 3
    dynamic = None
    out = []
    for axis in (-3, -2):
        if dims[axis] is not None:
            out.append(dims[axis])
            continue
        if dynamic is None:
            dynamic = _array.shape(image)
        out.append(dynamic[axis])
    return out


def _check(condition, error):
    """Fails at once if `condition` is false, in the run if it is a tensor."""
    if isinstance(condition, (bool, np.bool_)):
        if not condition:
            raise ValueError(error)
        return []
    return [Assert(condition, [error])]


def _image_for_size(image, target_height, target_width):
    """An image, after checks of the size that it will get."""
    image, _ = _image(image)
    checks = _check(target_width > 0, "target_width must be > 0.")
    checks += _check(target_height > 0, "target_height must be > 0.")
    return _checked(image, checks)


def _part(image, batch, begin, size):
    """A slice: `begin` and `size` are [height, width, channels]."""
    height, width = size[:2]
    if batch:
        begin, size = [0] + begin, [-1] + size
    out = _array.slice(image, _array.stack(begin), _array.stack(size))
    return _with_size(out, image, height, width)


def crop_to_bounding_box(image, offset_height, offset_width, target_height,
                         target_width):
    """The target_height x target_width part that begins at the offset.
    ValueError, or InvalidArgument in the run, if it leaves the image.

    `image`: of any type, [height, width, channels] or [batch, height, width,
    channels]; the result has its type and rank. Offsets and sizes: ints or
    scalar int32."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, batch = _one_if_unknown(image)
        if not batch:
            image = _array.expand_dims(image, 0)
        height, width = _height_width(image)
        checks = _check(offset_width >= 0, "offset_width must be >= 0.")
        checks += _check(offset_height >= 0, "offset_height must be >= 0.")
        checks += _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        checks += _check(width >= target_width + offset_width,
                         "width must be >= target + offset.")
        checks += _check(height >= target_height + offset_height,
                         "height must be >= target + offset.")
        image = _checked(image, checks)
        begin = [offset_height, offset_width, 0]
        size = [target_height, target_width, -1]
        out = _part(image, True, begin, size)
        return out if batch else _array.squeeze(out, [0])


def _with_size(out, image, height, width):
    """Tells `out` what is known: of `image` all but the size."""
    shape = image.get_shape()
    if shape.ndims is not None:
        dims = shape.as_list()
        dims[-3:-1] = [d if isinstance(d, int) else None
                       for d in (height, width)]
        out.set_shape(dims)
    return out


def pad_to_bounding_box(image, offset_height, offset_width, target_height,
                        target_width):
    """The image in a target_height x target_width one, at the offset, zeros
    around it."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, batch = _one_if_unknown(image)
        if not batch:
            image = _array.expand_dims(image, 0)
        height, width = _height_width(image)
        below = target_height - offset_height - height
        right = target_width - offset_width - width
        checks = _check(offset_height >= 0, "offset_height must be >= 0")
        checks += _check(offset_width >= 0, "offset_width must be >= 0")
        checks += _check(right >= 0, "width must be <= target - offset")
        checks += _check(below >= 0, "height must be <= target - offset")
        image = _checked(image, checks)
        around = [0, 0, offset_height, below, offset_width, right, 0, 0]
        out = _array.pad(image, _array.reshape(_array.stack(around), [-1, 2]))
        out = _with_size(out, image, target_height, target_width)
        return out if batch else _array.squeeze(out, [0])


def _larger(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return _math.maximum(a, b)


def _smaller(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return _math.minimum(a, b)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """The middle of the image, or the image in the middle of zeros, so that it
    is target_height x target_width.

    `image`: of any type, [height, width, channels] or [batch, height, width,
    channels]; the result has its type and rank. Sizes: positive ints or scalar
    int32. ValueError for another rank or sizes that are not positive,
    InvalidArgumentError if that is seen in the run."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, batch = _one_if_unknown(image)
        if not batch:
            image = _array.expand_dims(image, 0)
        image = _image_for_size(image, target_height, target_width)
        height, width = _height_width(image)
        more_rows, more_columns = target_height - height, target_width - width
        cropped = crop_to_bounding_box(
            image, _larger(-more_rows // 2, 0), _larger(-more_columns // 2, 0),
            _smaller(target_height, height), _smaller(target_width, width))
        padded = _checked(pad_to_bounding_box(
            cropped, _larger(more_rows // 2, 0), _larger(more_columns // 2, 0),
            target_height, target_width))
        return padded if batch else _array.squeeze(padded, [0])


resize_with_crop_or_pad = resize_image_with_crop_or_pad


def central_crop(image, central_fraction):
    """The middle part of the image, central_fraction of its height and
    width."""
    with name_scope(None, "central_crop", [image]):
        image, batch = _image(image)
        if not 0 < central_fraction <= 1:
            raise ValueError("central_fraction must be within (0, 1]")
        image = _checked(image)
        if central_fraction == 1:
            return image
        begins, sizes = [], []
        for size in _height_width(image):
            if isinstance(size, int):
                begin = int((size - size * central_fraction) / 2)
            else:
                real = _math.cast(size, dtypes.float64)
                begin = _math.cast((real - real * central_fraction) / 2,
                                   dtypes.int32)
            begins.append(begin)
            sizes.append(size - begin * 2)
        return _part(image, batch, begins + [0], sizes + [-1])


class ResizeMethod:
    """How resize_images finds the new pixels: BILINEAR, NEAREST_NEIGHBOR,
    BICUBIC or AREA, ints. Images are [batch, height, width, channels]; all but
    NEAREST_NEIGHBOR give float32. ValueError from resize_images for other
    numbers."""
    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_RESIZE = {ResizeMethod.BILINEAR: "ResizeBilinear",
           ResizeMethod.NEAREST_NEIGHBOR: "ResizeNearestNeighbor",
           ResizeMethod.BICUBIC: "ResizeBicubic",
           ResizeMethod.AREA: "ResizeArea",
           # The names of later versions.
           "bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor",
           "bicubic": "ResizeBicubic", "area": "ResizeArea"}


def resize_images(images, size, method=ResizeMethod.BILINEAR,
                  align_corners=False, preserve_aspect_ratio=False, name=None):
    """`images` as large as `size` [height, width] says, as float32 except for
    NEAREST_NEIGHBOR. With preserve_aspect_ratio the largest that fits it.

    `images`: numbers [batch, height, width, channels] or [height, width,
    channels]; `size`: int32 [2], or two ints. NEAREST_NEIGHBOR keeps the type.
    ValueError for another rank, for a size that has not two elements, and for
    another method."""
    with name_scope(name, "resize", [images, size]):
        if method not in _RESIZE:
            raise ValueError("Resize method is not implemented: %s" % (method,))
        op = getattr(_raw, _RESIZE[method])
        return _resized(
            images, size,
            lambda x, size: op(x, size, align_corners=align_corners),
            preserve_aspect_ratio)


def _resized(images, size, resizer, preserve_aspect_ratio):
    """resizer(images, size), with the checks of both and the static shape."""
    images, batch = _image(images, "images", may_be_empty=True)
    if images._rank() is None:
        raise ValueError("'images' contains no shape.")
    if not batch:
        images = _array.expand_dims(images, 0)
    try:
        size = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor")
    if not size.get_shape().is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: "
                         "new_height, new_width")
    if preserve_aspect_ratio:
        size = _scaled_size(size, *_height_width(images))
    known = constant_value(size)
    shape = images.get_shape()
    if (known is not None and shape.ndims is not None
            and shape.as_list()[1:3] == list(known)):
        out = images  # as it is, and of its own type
    else:
        out = resizer(images, size)
    if known is not None:
        shape = images.get_shape().as_list()
        out.set_shape([shape[0], int(known[0]), int(known[1]), shape[3]])
    return out if batch else _array.squeeze(out, [0])


resize = resize_images


def resize_bilinear(images, size, align_corners=False, name=None,
                    half_pixel_centers=False):
    """A batch resized by interpolation between four pixels, as float32.

    `images`: real numbers [batch, height, width, channels]; `size`: int32 [2]
    or two ints. Returns [batch, size[0], size[1], channels]. ValueError for
    another rank; InvalidArgumentError in the run for sizes that are not
    positive."""
    return _raw.ResizeBilinear(images, size, align_corners=align_corners,
                               half_pixel_centers=half_pixel_centers, name=name)


def resize_nearest_neighbor(images, size, align_corners=False, name=None,
                            half_pixel_centers=False):
    """A batch resized by taking the nearest pixel.

    `images`: numbers [batch, height, width, channels]; `size`: int32 [2] or two
    ints. Returns [batch, size[0], size[1], channels] of the same type.
    ValueError for another rank; InvalidArgumentError in the run for sizes that
    are not positive."""
    return _raw.ResizeNearestNeighbor(
        images, size, align_corners=align_corners,
        half_pixel_centers=half_pixel_centers, name=name)


def resize_bicubic(images, size, align_corners=False, name=None,
                   half_pixel_centers=False):
    """A batch resized by interpolation between sixteen pixels, as float32."""
    return _raw.ResizeBicubic(images, size, align_corners=align_corners,
                              half_pixel_centers=half_pixel_centers, name=name)


def _scaled_size(size, height, width):
    height, width = (_math.cast(d, dtypes.float32) for d in (height, width))
    wanted = _math.cast(size, dtypes.float32)
    scale = _math.minimum(wanted[0] / height, wanted[1] / width)
    return _math.cast(_math.round(_array.stack(
        [scale * height, scale * width])), dtypes.int32)


def resize_image_with_pad(image, target_height, target_width,
                          method=ResizeMethod.BILINEAR, align_corners=False):
    """The whole image as large as fits, in the middle of zeros."""
    return _resized_with_pad(
        image, target_height, target_width,
        lambda x, size: resize_images(x, size, method, align_corners))


def _resized_with_pad(image, target_height, target_width, resize):
    with name_scope(None, "resize_image_with_pad", [image]):
        image = _image_for_size(image, target_height, target_width)
        if image._rank() is None:
            image.set_shape([None] * 3)  # a node of its own
        targets = target_height, target_width
        sizes = [_math.cast(s, dtypes.float32) for s in _height_width(image)]
        wanted = [_math.cast(t, dtypes.float32) for t in targets]
        ratio = _math.maximum(sizes[0] / wanted[0], sizes[1] / wanted[1])
        # What is left over is halved before it is rounded down.
        scaled = [s / ratio for s in sizes]
        before = [_math.maximum(0, _math.cast(
            _math.floor((w - s) / 2), dtypes.int32))
            for w, s in zip(wanted, scaled)]
        image = resize(image, _array.stack(
            [_math.cast(_math.floor(s), dtypes.int32) for s in scaled]))
        out = pad_to_bounding_box(image, before[0], before[1], *targets)
        return _with_size(out, image, *targets)


# Flips.

def _shape_of_image(image, out):
    """`out` has the shape of `image`: of one image if the rank is not known."""
    out.set_shape([None] * 3 if image._rank() is None else image.get_shape())
    return out


def _flip(image, axis, name):
    with name_scope(None, name, [image]):
        image, batch = _image(image)
        image = _checked(image)
        out = _array.reverse(image, [axis + 1 if batch else axis])
        return _shape_of_image(image, out)


def flip_left_right(image):
    """The columns in reverse order."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    """The rows in reverse order."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image, axis, seed, name):
    with name_scope(None, name, [image]) as scope:
        image, batch = _image(image)
        image = _checked(image)
        if not batch:
            flip = _math.less(_random.random_uniform([], 0, 1.0, seed=seed), .5)
            return _shape_of_image(image, cond(
                flip, lambda: _array.reverse(image, [axis]), lambda: image,
                name=scope))
        n = _array.shape(image)[0]
        draw = _random.random_uniform([n], seed=seed)
        flips = _math.round(_array.reshape(draw, [n, 1, 1, 1]))
        flips = _math.cast(flips, image.dtype.base_dtype)
        return flips * _array.reverse(image, [axis + 1]) + (1 - flips) * image


def random_flip_left_right(image, seed=None):
    """flip_left_right for every other image, by chance.

    `image`: of any type, [height, width, channels] or [batch, height, width,
    channels], each of a batch by itself; the result has its type and shape.
    ValueError for another rank."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    """flip_up_down for every other image, by chance."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def transpose_image(image, name=None):
    """Rows as columns."""
    with name_scope(name, "transpose", [image]):
        image, batch = _image(image)
        image = _checked(image)
        return _array.transpose(image, [0, 2, 1, 3] if batch else [1, 0, 2])


transpose = transpose_image


def rot90(image, k=1, name=None):
    """Turned by k quarters of a circle, counter-clockwise."""
    with name_scope(name, "rot90", [image, k]) as scope:
        image = convert_to_tensor(image, name="image")
        shape = image.get_shape().with_rank_at_least(3)
        if shape.ndims not in (None, 3, 4):
            raise ValueError("'image' must have either 3 or 4 dimensions.")
        k = convert_to_tensor(k, dtypes.int32, name="k")
        k.get_shape().assert_has_rank(0)
        height = 1 if shape.ndims == 4 else 0
        order = [0, 2, 1, 3] if height else [1, 0, 2]
        turns = [
            lambda: image,
            lambda: _array.transpose(_array.reverse(image, [height + 1]),
                                     order),
            lambda: _array.reverse(image, [height, height + 1]),
            lambda: _array.reverse(_array.transpose(image, order),
                                   [height + 1])]
        known = constant_value(k)
        if known is not None:
            turned = turns[int(known) % 4]()
            if turned is image and shape.ndims is None:
                turned = _array.identity(image)
        else:
            k = _math.mod(k, 4)
            turned = case([(_math.equal(k, i), turns[i]) for i in (1, 2, 3)],
                          default=turns[0], exclusive=True, name=scope)
        turned.set_shape(shape[:height].concatenate([None, None, shape[-1]])
                         if shape.ndims else [None] * 3)
        return turned
