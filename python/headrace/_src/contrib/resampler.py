"""tf.contrib.resampler: images read between their pixels."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def resampler(data, warp, name="resampler"):
    """Images read at given places, by bilinear interpolation; zeros are around
    them. Gradients go to the images and to the places.

    TensorFlow has one op for it; here it is made of ops that gather.

    Args:
      data: half, float32 or float64 [batch, rows, columns, channels].
      warp: the same type, [batch, ..., 2]: a column and a row.
      name: of the scope.

    Returns:
      [batch, ..., channels], of the type of data.

    Raises:
      ValueError: other ranks, or a warp whose last size is not 2.
      TypeError: other types."""
    with name_scope(name, "resampler", [data, warp]):
        data = convert_to_tensor(data, name="data")
        warp = convert_to_tensor(warp, dtype=data.dtype.base_dtype,
                                 name="warp")
        if not data.dtype.is_floating:
            raise TypeError("resampler: data must be of floats, got %s"
                            % data.dtype.name)
        images, places = data.get_shape(), warp.get_shape()
        if images.ndims not in (None, 4):
            raise ValueError("resampler: data must be [batch, rows, columns, "
                             "channels], got shape %s" % images)
        if places.ndims is not None and (places.ndims < 2
                                         or places[-1].value not in (None, 2)):
            raise ValueError("resampler: warp must be [batch, ..., 2], got "
                             "shape %s" % places)
        if not images[:1].is_compatible_with(places[:1]):
            raise ValueError("resampler: data and warp must have the same batch "
                             "size, got shapes %s and %s" % (images, places))
        found = _read(data, warp)
        if places.ndims is not None and images.ndims is not None:
            found.set_shape(places[:-1].concatenate(images[-1:]))
        return found


def _read(data, warp):
    sizes, shape = _array.shape(data), _array.shape(warp)
    batch, rows, columns, channels = (sizes[i] for i in range(4))
    flat = _array.reshape(warp, _array.stack([batch, -1, 2]))
    x, y = flat[..., 0], flat[..., 1]
    # Far from the image all is 0, and NaN too: no index overflows there.
    is_near = _math.logical_and(
        _math.logical_and(x > -1., y > -1.),
        _math.logical_and(x < _math.cast(columns, x.dtype),
                          y < _math.cast(rows, y.dtype)))
    x = _array.where(is_near, x, _array.zeros_like(x))
    y = _array.where(is_near, y, _array.zeros_like(y))
    left, top = _math.floor(x), _math.floor(y)
    of_batch = _array.zeros_like(_math.cast(left, dtypes.int32)) + (
        _math.range(batch)[:, None])
    total = None
    for dx in 0, 1:
        for dy in 0, 1:
            column = _math.cast(left, dtypes.int32) + dx
            row = _math.cast(top, dtypes.int32) + dy
            weight = ((x - left if dx else 1. - (x - left))
                      * (y - top if dy else 1. - (y - top)))
            is_in = _math.logical_and(is_near, _math.logical_and(
                _math.logical_and(column >= 0, column < columns),
                _math.logical_and(row >= 0, row < rows)))
            weight = _array.where(is_in, weight, _array.zeros_like(weight))
            pixels = _array.gather_nd(data, _array.stack([
                of_batch,
                _math.maximum(_math.minimum(row, rows - 1), 0),
                _math.maximum(_math.minimum(column, columns - 1), 0)], -1))
            part = weight[..., None] * pixels
            total = part if total is None else total + part
    return _array.reshape(total, _array.concat(
        [shape[:-1], channels[None]], 0))
