"""tf.contrib.image: rotations, translations, projections and warps of images.

A projective transform is a float32 vector [a0, a1, a2, b0, b1, b2, c0, c1]: the
pixel (x, y) of the output is the pixel (x', y') of the input, with
k = c0 x + c1 y + 1, x' = (a0 x + a1 y + a2) / k, y' = (b0 x + b1 y + b2) / k.
Pixels from outside of the image are 0."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math

_IMAGE_TYPES = (dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16,
                dtypes.float32, dtypes.float64)
# Distances count as at least this, so that their logarithm is finite.
_SMALLEST_DISTANCE = 1e-10


def _one_or_a_batch(x, name, rank, rows_name):
    """float32 [rows, ...] of `rank` dimensions, from a tensor that may lack the
    first one."""
    x = convert_to_tensor(x, dtypes.float32, name=name)
    got = x.get_shape().ndims
    if got is None:
        raise TypeError("%s rank must be statically known" % rows_name)
    if got == rank - 1:
        return x[None]
    if got != rank:
        raise TypeError("%s should have rank %d or %d, not %d"
                        % (rows_name, rank - 1, rank, got))
    return x


def angles_to_projective_transforms(angles, image_height, image_width,
                                    name=None):
    """float32 [n, 8], transforms that turn images of the given size (scalars)
    around their centre by `angles`, radians, counterclockwise: a scalar, or a
    vector with one of each image. TypeError for other ranks."""
    with name_scope(name, "angles_to_projective_transforms"):
        angles = _one_or_a_batch(angles, "angles", 1, "Angles")
        sin, cos = _math.sin(angles), _math.cos(angles)
        zero, right, bottom = (_array.zeros_like(angles), image_width - 1,
                               image_height - 1)
        x = (right - (cos * right - sin * bottom)) / 2.0
        y = (bottom - (sin * right + cos * bottom)) / 2.0
        return _array.stack([cos, -sin, x, sin, cos, y, zero, zero], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """float32 [n, 8], transforms that move images by `translations`: [dx, dy],
    or [n, 2] with one of each image. TypeError for other ranks."""
    with name_scope(name, "translations_to_projective_transforms"):
        moves = _one_or_a_batch(translations, "translations", 2,
                                "Translations")
        one = _array.ones_like(moves[:, 0])
        zero = _array.zeros_like(one)
        return _array.stack([one, zero, -moves[:, 0], zero, one, -moves[:, 1],
                             zero, zero], axis=1)


def _float(x, name):
    x = convert_to_tensor(x, name=name)
    return x if x.dtype.is_floating else _math.cast(x, dtypes.float32)


def flat_transforms_to_matrices(transforms):
    """Float [n, 3, 3] from projective transforms [8] or [n, 8]."""
    with name_scope("flat_transforms_to_matrices"):
        flat = _array.reshape(_float(transforms, "transforms"), [-1, 8])
        return _array.reshape(
            _array.concat([flat, _array.ones_like(flat[:, :1])], 1),
            [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices):
    """Float [n, 8], projective transforms from matrices [3, 3] or [n, 3, 3];
    each is divided by its last element."""
    with name_scope("matrices_to_flat_transforms"):
        flat = _array.reshape(_float(transform_matrices, "matrices"), [-1, 9])
        return (flat / flat[:, 8:])[:, :8]


def compose_transforms(*transforms):
    """Float [n, 8], one transform that does what `transforms`, each [8] or
    [n, 8], do one after another. ValueError without any."""
    if not transforms:
        raise ValueError("transforms cannot be empty")
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for transform_ in transforms[1:]:
            composed = _math.matmul(composed,
                                    flat_transforms_to_matrices(transform_))
        return matrices_to_flat_transforms(composed)


def transform(images, transforms, interpolation="NEAREST", output_shape=None,
              name=None):
    """`images` after projective `transforms` ([8], or [n, 8] with one of each
    image), of the same type and rank.

    images: uint8, int32, int64 or float; [height, width], [height, width,
      channels] or [n, height, width, channels].
    interpolation: "NEAREST" or "BILINEAR".
    output_shape: int32 [height, width] of the result; by default the images'.

    TypeError for other types and ranks."""
    with name_scope(name, "transform"):
        images = convert_to_tensor(images, name="images")
        if images.dtype.base_dtype not in _IMAGE_TYPES:
            raise TypeError("Invalid dtype %s of images; they are uint8, int32,"
                            " int64 or float" % images.dtype.name)
        rank = images.get_shape().ndims
        if rank is None:
            raise TypeError("image_or_images rank must be statically known")
        if rank not in (2, 3, 4):
            raise TypeError("Images should have rank between 2 and 4, not %d"
                            % rank)
        batch = images
        if rank == 2:
            batch = images[None, :, :, None]
        elif rank == 3:
            batch = images[None]
        size = convert_to_tensor(
            _array.shape(batch)[1:3] if output_shape is None else output_shape,
            dtypes.int32, name="output_shape")
        if not size.get_shape().is_compatible_with([2]):
            raise ValueError("output_shape must have two elements, height and "
                             "width, but has the shape %s" % size.get_shape())
        out = _raw.ImageProjectiveTransformV2(
            images=batch, output_shape=size,
            transforms=_one_or_a_batch(transforms, "transforms", 2,
                                       "Transforms"),
            interpolation=interpolation.upper())
        known = constant_value(size)
        height_width = [None, None] if known is None else known.tolist()
        if known is None and output_shape is None:
            height_width = batch.get_shape().as_list()[1:3]
        out.set_shape([batch.get_shape()[0]] + height_width
                      + [batch.get_shape()[3]])
        if rank == 2:
            return out[0, :, :, 0]
        return out[0] if rank == 3 else out


def _height_and_width(images):
    """float32 scalars."""
    shape = _array.shape(images)
    axis = {2: 0, 3: 0, 4: 1}.get(images.get_shape().ndims)
    if axis is None:
        if images.get_shape().ndims is None:
            raise TypeError("image_or_images rank must be statically known")
        raise TypeError("Images should have rank between 2 and 4, not %d"
                        % images.get_shape().ndims)
    return (_math.cast(shape[axis], dtypes.float32),
            _math.cast(shape[axis + 1], dtypes.float32))


def rotate(images, angles, interpolation="NEAREST", name=None):
    """`images` turned around their centre by `angles`, radians,
    counterclockwise: a scalar, or a vector with one of each image. The images
    and `interpolation` are as in `transform`."""
    with name_scope(name, "rotate"):
        images = convert_to_tensor(images, name="images")
        height, width = _height_and_width(images)
        return transform(
            images, angles_to_projective_transforms(angles, height, width),
            interpolation)


def translate(images, translations, interpolation="NEAREST", name=None):
    """`images` moved by `translations`: [dx, dy], or [n, 2] with one of each
    image. The images and `interpolation` are as in `transform`."""
    with name_scope(name, "translate"):
        return transform(images,
                         translations_to_projective_transforms(translations),
                         interpolation)


def _points_between_pixels(images, points):
    """[n, points, channels], `images` at `points` [n, points, (y, x)], linear
    between their four neighbours. Points outside count as on the border."""
    shape = _array.shape(images)
    batch, channels = shape[0], shape[3]
    lower, part = [], []
    for axis in (0, 1):
        at = points[:, :, axis]
        last = _math.cast(shape[axis + 1] - 2, at.dtype)
        floor = _math.minimum(_math.maximum(_math.floor(at), 0.0), last)
        lower.append(_math.cast(floor, dtypes.int32))
        part.append(_array.expand_dims(_math.minimum(
            _math.maximum(_math.cast(at - floor, images.dtype), 0.0), 1.0), 2))
    pixels = _array.reshape(images, [-1, channels])
    first = _array.reshape(_math.range(batch) * shape[1] * shape[2], [-1, 1])

    def neighbour(down, right):
        return _array.gather(pixels, first + (lower[0] + down) * shape[2]
                             + lower[1] + right)

    def between(a, b, share):
        return share * (b - a) + a
    return between(between(neighbour(0, 0), neighbour(0, 1), part[1]),
                   between(neighbour(1, 0), neighbour(1, 1), part[1]), part[0])


def dense_image_warp(image, flow, name="dense_image_warp"):
    """The float images [n, height, width, channels], each pixel moved: the
    output at (y, x) is the image at (y, x) - flow[:, y, x], linear between
    pixels. flow: float [n, height, width, 2]. ValueError unless height and
    width are at least 2."""
    with name_scope(name):
        image = convert_to_tensor(image, name="image")
        flow = convert_to_tensor(flow, name="flow")
        for what, x in (("image", image), ("flow", flow)):
            if x.get_shape().ndims not in (4, None):
                raise ValueError("%s must have 4 dimensions, but has the shape "
                                 "%s" % (what, x.get_shape()))
        if any(d is not None and d < 2
               for d in image.get_shape().with_rank(4).as_list()[1:3]):
            raise ValueError("height and width of image must be at least 2, "
                             "but its shape is %s" % image.get_shape())
        shape = _array.shape(image)
        x, y = _special.meshgrid(_math.range(shape[2]), _math.range(shape[1]))
        grid = _math.cast(_array.stack([y, x], axis=2), flow.dtype)
        points = _array.reshape(_array.expand_dims(grid, 0) - flow,
                                [shape[0], -1, 2])
        warped = _array.reshape(_points_between_pixels(image, points), shape)
        warped.set_shape(image.get_shape())
        return warped


def _squared_distances(a, b):
    """[n, p, q] between points a [n, p, d] and b [n, q, d]."""
    lengths_a = _math.reduce_sum(_math.square(a), 2, keepdims=True)
    lengths_b = _math.reduce_sum(_math.square(b), 2, keepdims=True)
    products = _math.matmul(a, b, transpose_b=True)
    return lengths_a - 2 * products + _array.transpose(lengths_b, [0, 2, 1])


def _radial(squares, order):
    """r^order for odd orders, r^order log(r) for even ones, of r squared."""
    some = _math.maximum(squares, _SMALLEST_DISTANCE)
    if order == 1:
        return _math.sqrt(some)
    power = squares if order == 2 else _math.pow(some, 0.5 * order)
    return 0.5 * power * _math.log(some) if order % 2 == 0 else power


def _with_one(points):
    return _array.concat([points, _array.ones_like(points[..., :1])], 2)


def interpolate_spline(train_points, train_values, query_points, order,
                       regularization_weight=0.0, name="interpolate_spline"):
    """[n, q, k], values at `query_points` [n, q, d] of the polyharmonic spline
    of `order` through `train_values` [n, p, k] at `train_points` [n, p, d]
    (order 2: thin plates). With a regularization_weight it is smoother and
    only comes near the values.

    Source: A. Iske, Multiresolution Methods in Scattered Data Modelling,
    chapter 3."""
    with name_scope(name):
        at = convert_to_tensor(train_points, name="train_points")
        values = convert_to_tensor(train_values, name="train_values")
        points = convert_to_tensor(query_points, name="query_points")
        if order < 1:
            raise ValueError("order must be at least 1, but is %r" % (order,))
        kernel = _radial(_squared_distances(at, at), order)
        if regularization_weight > 0:
            kernel += regularization_weight * _array.eye(
                _array.shape(at)[1], dtype=at.dtype)
        plane = _with_one(at)
        columns = _array.transpose(plane, [0, 2, 1])
        corner = _array.zeros_like(_math.matmul(columns, plane))
        left = _array.concat([_array.concat([kernel, plane], 2),
                              _array.concat([columns, corner], 2)], 1)
        none = _array.zeros_like(_math.matmul(columns, values))
        solved = _raw.MatrixSolve(matrix=left,
                                 rhs=_array.concat([values, none], 1))
        count = _array.shape(at)[1]
        weights, slopes = solved[:, :count], solved[:, count:]
        out = _math.matmul(_radial(_squared_distances(points, at), order),
                           weights)
        return out + _math.matmul(_with_one(points), slopes)


def _border(height, width, points_on_edge):
    """[points, 2], (y, x) of points on the border of an image."""
    y, x = np.meshgrid(np.linspace(0, height - 1, points_on_edge + 2),
                       np.linspace(0, width - 1, points_on_edge + 2),
                       indexing="ij")
    on = (x == 0) | (x == width - 1) | (y == 0) | (y == height - 1)
    return np.stack([y[on], x[on]], axis=-1)


def sparse_image_warp(image, source_control_point_locations,
                      dest_control_point_locations, interpolation_order=2,
                      regularization_weight=0.0, num_boundary_points=0,
                      name="sparse_image_warp"):
    """(warped images, flow): the float images [n, height, width, channels],
    moved so that what is at the source points comes to the destination points,
    both [n, points, (y, x)]; between them moves a spline (`interpolate_spline`
    of interpolation_order and regularization_weight). With num_boundary_points
    on each edge, the border stays. Height and width are known in the graph
    (else ValueError)."""
    with name_scope(name):
        image = convert_to_tensor(image, name="image")
        source = convert_to_tensor(source_control_point_locations,
                                   name="source")
        destination = convert_to_tensor(dest_control_point_locations,
                                        name="destination")
        batch, height, width, _ = image.get_shape().with_rank(4).as_list()
        if height is None or width is None:
            raise ValueError("height and width of image must be known, but its"
                             " shape is %s" % image.get_shape())
        flows = destination - source
        images = _array.shape(image)[0] if batch is None else batch

        def of_each_image(points):
            one = convert_to_tensor(points[None], flows.dtype)
            return _array.tile(one, [images, 1, 1])
        if num_boundary_points > 0:
            border = of_each_image(
                _border(height, width, num_boundary_points - 1))
            destination = _array.concat([destination, border], 1)
            flows = _array.concat([flows, _array.zeros_like(border)], 1)
        grid = np.stack(np.mgrid[:height, :width], axis=-1).reshape(-1, 2)
        dense = interpolate_spline(
            destination, flows, of_each_image(grid.astype(np.float64)),
            interpolation_order, regularization_weight)
        dense = _array.reshape(dense, [images, height, width, 2])
        return dense_image_warp(image, dense), dense
