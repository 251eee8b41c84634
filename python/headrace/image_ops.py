"""tf.image: images in files, sizes and crops, flips, boxes.

An image is [height, width, channels]; most functions take a batch of images,
[batch, height, width, channels], too."""
import numpy as np

from headrace import array_ops as _array
from headrace import control_flow_ops as _flow
from headrace import dtypes
from headrace import math_ops as _math
from headrace import random_ops as _random
from headrace import raw_ops as _raw
from headrace.control_flow import case, cond
from headrace.graph import control_dependencies, name_scope
from headrace.tensor import constant_value, convert_to_tensor


# Files.

def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True,
                try_recover_truncated=False, acceptable_fraction=1,
                dct_method="", name=None):
    """A JPEG file as uint8 [height, width, channels]. `channels`: 0 (as in the
    file), 1 or 3. `ratio` 2, 4, 8: that many times smaller. `dct_method`:
    "INTEGER_ACCURATE", or fast. InvalidArgument for what is no image."""
    return _raw.DecodeJpeg(
        contents, channels=channels, ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name)


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1,
                         fancy_upscaling=True, try_recover_truncated=False,
                         acceptable_fraction=1, dct_method="", name=None):
    """The part [y, x, height, width] of a JPEG file."""
    return _raw.DecodeAndCropJpeg(
        contents, crop_window, channels=channels, ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name)


def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """A PNG file as [height, width, channels] of uint8 or uint16."""
    return _raw.DecodePng(contents, channels=channels, dtype=dtype, name=name)


def decode_gif(contents, name=None):
    """A GIF file as uint8 [frames, height, width, 3]."""
    return _raw.DecodeGif(contents, name=name)


def decode_bmp(contents, channels=0, name=None):
    """A BMP file as uint8 [height, width, channels]."""
    return _raw.DecodeBmp(contents, channels=channels, name=name)


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None,
                 expand_animations=True):
    """A BMP, GIF, JPEG or PNG file by its first bytes, as uint8, uint16 or
    float32 in [0, 1]. A GIF gives [frames, height, width, 3], or its first
    frame if `expand_animations` is false."""
    return _raw.DecodeImage(contents, channels=channels or 0, dtype=dtype,
                            expand_animations=expand_animations, name=name)


def encode_jpeg(image, format="", quality=95, progressive=False,
                optimize_size=False, chroma_downsampling=True,
                density_unit="in", x_density=300, y_density=300,
                xmp_metadata="", name=None):
    """A uint8 image of 1 or 3 channels as the bytes of a JPEG file."""
    return _raw.EncodeJpeg(
        image, format=format, quality=quality, progressive=progressive,
        optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
        density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name)


def encode_png(image, compression=-1, name=None):
    """A uint8 or uint16 image of 1 to 4 channels as the bytes of a PNG file."""
    return _raw.EncodePng(convert_to_tensor(image), compression=compression, name=name)


def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """[height, width, channels] of a JPEG file, from its header."""
    return _raw.ExtractJpegShape(contents, output_type=output_type, name=name)


def is_jpeg(contents, name=None):
    """Whether the bytes begin as those of a JPEG file."""
    with name_scope(name, "is_jpeg"):
        return _raw.Equal(_raw.Substr(contents, 0, 3), b"\xff\xd8\xff")


# Shapes.

def _image(image, name="image"):
    """A tensor of rank 3 or 4, and whether it is a batch; ValueError for other
    ranks."""
    image = convert_to_tensor(image, name=name)
    rank = image._rank()
    if rank not in (3, 4, None):
        raise ValueError("'%s' (shape %s) must have either 3 or 4 dimensions."
                         % (name, image.get_shape()))
    return image, rank == 4


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
    return [_flow.Assert(condition, [error])]


def crop_to_bounding_box(image, offset_height, offset_width, target_height,
                         target_width):
    """The target_height x target_width part that begins at the offset.
    ValueError, or InvalidArgument in the run, if it leaves the image."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, batch = _one_if_unknown(image)
        height, width = _height_width(image)
        checks = _check(offset_width >= 0, "offset_width must be >= 0.")
        checks += _check(offset_height >= 0, "offset_height must be >= 0.")
        checks += _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        checks += _check(width >= target_width + offset_width,
                         "width must be >= target + offset.")
        checks += _check(height >= target_height + offset_height,
                         "height must be >= target + offset.")
        with control_dependencies(checks):
            image = _array.identity(image)
        begin = [offset_height, offset_width, 0]
        size = [target_height, target_width, -1]
        if batch:
            begin, size = [0] + begin, [-1] + size
        out = _array.slice(image, _array.stack(begin), _array.stack(size))
        return _with_size(out, image, target_height, target_width)


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
        height, width = _height_width(image)
        below = target_height - offset_height - height
        right = target_width - offset_width - width
        checks = _check(offset_height >= 0, "offset_height must be >= 0")
        checks += _check(offset_width >= 0, "offset_width must be >= 0")
        checks += _check(right >= 0, "width must be <= target - offset")
        checks += _check(below >= 0, "height must be <= target - offset")
        with control_dependencies(checks):
            image = _array.identity(image)
        around = [offset_height, below, offset_width, right, 0, 0]
        if batch:
            around = [0, 0] + around
        out = _array.pad(image, _array.reshape(_array.stack(around), [-1, 2]))
        return _with_size(out, image, target_height, target_width)


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
    is target_height x target_width."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, _ = _image(image)
        checks = _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        with control_dependencies(checks):
            image = _array.identity(image)
        height, width = _height_width(image)
        more_rows, more_columns = target_height - height, target_width - width
        cropped = crop_to_bounding_box(
            image, _larger(-more_rows // 2, 0), _larger(-more_columns // 2, 0),
            _smaller(target_height, height), _smaller(target_width, width))
        return pad_to_bounding_box(
            cropped, _larger(more_rows // 2, 0), _larger(more_columns // 2, 0),
            target_height, target_width)


resize_with_crop_or_pad = resize_image_with_crop_or_pad


def central_crop(image, central_fraction):
    """The middle part of the image, central_fraction of its height and
    width."""
    with name_scope(None, "central_crop", [image]):
        image, batch = _image(image)
        if not 0 < central_fraction <= 1:
            raise ValueError("central_fraction must be within (0, 1]")
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
        begin, size = begins + [0], sizes + [-1]
        if batch:
            begin, size = [0] + begin, [-1] + size
        out = _array.slice(image, _array.stack(begin), _array.stack(size))
        return _with_size(out, image, *sizes)


class ResizeMethod:
    """How resize_images finds the new pixels."""
    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_RESIZE = {ResizeMethod.BILINEAR: "ResizeBilinear",
           ResizeMethod.NEAREST_NEIGHBOR: "ResizeNearestNeighbor",
           ResizeMethod.BICUBIC: "ResizeBicubic",
           ResizeMethod.AREA: "ResizeArea"}


def resize_images(images, size, method=ResizeMethod.BILINEAR,
                  align_corners=False, preserve_aspect_ratio=False, name=None):
    """`images` as large as `size` [height, width] says, as float32 except for
    NEAREST_NEIGHBOR. With preserve_aspect_ratio the largest that fits it."""
    with name_scope(name, "resize", [images, size]):
        images, batch = _image(images, "images")
        if method not in _RESIZE:
            raise ValueError("Resize method is not implemented: %s" % (method,))
        if not batch:
            images = _array.expand_dims(images, 0)
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor")
        if not size.get_shape().is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: "
                             "new_height, new_width")
        height, width = _height_width(images)
        if preserve_aspect_ratio:
            size = _scaled_size(size, height, width)
        known = constant_value(size)
        if known is not None and [height, width] == list(known):
            out = images  # as it is, and of its own type
        else:
            out = getattr(_raw, _RESIZE[method])(images, size,
                                                 align_corners=align_corners)
        if known is not None:
            shape = images.get_shape().as_list()
            out.set_shape([shape[0], int(known[0]), int(known[1]), shape[3]])
        return out if batch else _array.squeeze(out, [0])


resize = resize_images


def resize_bilinear(images, size, align_corners=False, name=None,
                    half_pixel_centers=False):
    """A batch resized by interpolation between four pixels, as float32."""
    return _raw.ResizeBilinear(images, size, align_corners=align_corners,
                               half_pixel_centers=half_pixel_centers, name=name)


def resize_nearest_neighbor(images, size, align_corners=False, name=None,
                            half_pixel_centers=False):
    """A batch resized by taking the nearest pixel."""
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
    with name_scope(None, "resize_image_with_pad", [image]):
        image, _ = _image(image)
        checks = _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        with control_dependencies(checks):
            image = _array.identity(image)
        targets = target_height, target_width
        sizes = [_math.cast(s, dtypes.float32) for s in _height_width(image)]
        wanted = [_math.cast(t, dtypes.float32) for t in targets]
        ratio = _math.maximum(sizes[0] / wanted[0], sizes[1] / wanted[1])
        # What is left over is halved before it is rounded down.
        scaled = [s / ratio for s in sizes]
        before = [_math.maximum(0, _math.cast(
            _math.floor((w - s) / 2), dtypes.int32))
            for w, s in zip(wanted, scaled)]
        image = resize_images(image, _array.stack(
            [_math.cast(_math.floor(s), dtypes.int32) for s in scaled]),
            method, align_corners)
        out = pad_to_bounding_box(image, before[0], before[1], *targets)
        return _with_size(out, image, *targets)


# Flips.

def _flip(image, axis, name):
    with name_scope(None, name, [image]):
        image, batch = _image(image)
        return _array.reverse(image, [axis + 1 if batch else axis])


def flip_left_right(image):
    """The columns in reverse order."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    """The rows in reverse order."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image, axis, seed, name):
    with name_scope(None, name, [image]):
        image, batch = _image(image)
        if not batch:
            flip = _math.less(_random.random_uniform([], 0, 1.0, seed=seed), .5)
            return cond(flip, lambda: _array.reverse(image, [axis]),
                        lambda: image)
        n = _array.shape(image)[0]
        draw = _random.random_uniform(_array.expand_dims(n, 0), seed=seed)
        flips = _array.reshape(_math.round(draw), [-1, 1, 1, 1])
        flips = _math.cast(flips, image.dtype.base_dtype)
        return flips * _array.reverse(image, [axis + 1]) + (1 - flips) * image


def random_flip_left_right(image, seed=None):
    """flip_left_right for every other image, by chance."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    """flip_up_down for every other image, by chance."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def transpose_image(image, name=None):
    """Rows as columns."""
    with name_scope(name, "transpose", [image]):
        image, batch = _image(image)
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
            return turns[int(known) % 4]()
        k = _math.mod(k, 4)
        turned = case([(_math.equal(k, i), turns[i]) for i in (1, 2, 3)],
                      default=turns[0], exclusive=True, name=scope)
        turned.set_shape(shape[:height].concatenate([None, None, shape[-1]])
                         if shape.ndims else [None] * 3)
        return turned


# Boxes.

def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5,
                        score_threshold=float("-inf"), name=None):
    """Indices of the best boxes [y1, x1, y2, x2], no two of which overlap by
    more than iou_threshold."""
    with name_scope(name, "non_max_suppression"):
        return _raw.NonMaxSuppressionV3(
            boxes, scores, max_output_size,
            convert_to_tensor(iou_threshold, dtypes.float32),
            convert_to_tensor(score_threshold, dtypes.float32))


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None,
                                  seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None,
                                  max_attempts=None,
                                  use_image_if_no_bounding_boxes=None,
                                  name=None):
    """(begin, size, box [1, 1, 4]) of a random crop, for slice and for
    draw_bounding_boxes: its area and aspect ratio (width / height) lie in the
    ranges, by default (0.05, 1) of the image and (0.75, 1.33), and it covers
    min_object_covered of one of the boxes [1, n, 4]. The whole image if none is
    found in max_attempts (100)."""
    with name_scope(name, "sample_distorted_bounding_box"):
        return _raw.SampleDistortedBoundingBoxV2(
            image_size, bounding_boxes,
            convert_to_tensor(min_object_covered, dtypes.float32),
            seed=seed or 0, seed2=seed2 or 0,
            aspect_ratio_range=aspect_ratio_range or [.75, 1.33],
            area_range=area_range or [.05, 1.],
            max_attempts=max_attempts or 100,
            use_image_if_no_bounding_boxes=bool(
                use_image_if_no_bounding_boxes))


def crop_and_resize(image, boxes, box_ind=None, crop_size=None,
                    method="bilinear", extrapolation_value=0, name=None,
                    box_indices=None):
    """The parts `boxes` (in [0, 1]) of the images `box_ind`, each resized to
    crop_size."""
    return _raw.CropAndResize(
        image, boxes, box_ind if box_indices is None else box_indices,
        crop_size, method=method, extrapolation_value=extrapolation_value,
        name=name)
