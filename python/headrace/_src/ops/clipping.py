"""Values and norms kept within limits: tf.clip_by_*, global_norm."""
from headrace import raw_ops as _raw
from headrace._src.framework.dispatch import dispatched
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _of_values(function, t):
    """`function` of a tensor, or of the values of IndexedSlices."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(function(t.values), t.indices, t.dense_shape)
    return function(convert_to_tensor(t, name="t"))


@dispatched
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Elements below the minimum or above the maximum are set to it.

    `t`: real numbers of any shape, or IndexedSlices; the limits are of its type
    and broadcast to its shape, which the result has. ValueError, or in the run
    InvalidArgumentError, if they would make it larger; TypeError for limits of
    another type."""
    with name_scope(name, "clip_by_value",
                    [t, clip_value_min, clip_value_max]) as scope:
        def clip(values):
            low = _raw.Minimum(values, clip_value_max)
            values.get_shape().merge_with(low.get_shape())
            high = _raw.Maximum(low, clip_value_min, name=scope)
            values.get_shape().merge_with(high.get_shape())
            return high
        return _of_values(clip, t)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """t, scaled down to an L2 norm of clip_norm where that is larger.

    `t`: float16 to float64, bfloat16, or IndexedSlices, of any shape, which the
    result has; `clip_norm`: a scalar > 0. `axes`: what a norm is over, all by
    default. ValueError for an axis out of range; TypeError for other types."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        def clip(values):
            squares = _math.reduce_sum(values * values, axes, keepdims=True)
            positive = squares > 0
            safe = _raw.Select(positive, squares, _array.ones_like(squares))
            norm = _raw.Select(positive, _raw.Sqrt(safe), squares)
            scaled = values * clip_norm
            values.get_shape().merge_with(scaled.get_shape())
            return _raw.Identity(scaled / _raw.Maximum(norm, clip_norm),
                                 name=scope)
        return _of_values(clip, t)


def _is_list(t_list):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def global_norm(t_list, name=None):
    """The L2 norm of all elements of a list of tensors, None left out.

    `t_list`: a list or tuple of tensors and IndexedSlices of one type, float16
    to float64 or bfloat16, and any shapes. Returns a scalar of that type.
    TypeError for what is no list and for other types."""
    t_list = _is_list(t_list)
    with name_scope(name, "global_norm", t_list):
        halves = [_raw.L2Loss(t.values if isinstance(t, IndexedSlices)
                              else convert_to_tensor(t))
                  for t in t_list if t is not None]
        half = _math.reduce_sum(_raw.Pack(halves, name="stack") if halves
                                else constant([], dtypes.float32))
        two = constant(2.0, half.dtype.base_dtype)
        return _raw.Sqrt(half * two, name="global_norm")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """(t_list scaled so that its global_norm is at most clip_norm, the norm).

    `t_list`: tensors and IndexedSlices of float16, bfloat16, float32 or float64
    and any shapes, which the scaled ones have, and None. `clip_norm`: a scalar
    > 0. The norm is a scalar. All are NaN if the norm is not finite. TypeError
    for what is no list; `use_norm` is taken in place of global_norm."""
    t_list = _is_list(t_list)
    if use_norm is None:
        if all(t is None for t in t_list):
            return t_list, constant(0.0)
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm",
                    t_list + [clip_norm]) as scope:
        scale = clip_norm * _raw.Minimum(
            1.0 / use_norm,
            constant(1.0, use_norm.dtype.base_dtype) / clip_norm)
        scale = _array.where(
            _raw.IsFinite(use_norm), scale,
            constant(float("nan"), use_norm.dtype.base_dtype))
        clipped = []
        for i, t in enumerate(t_list):
            clipped.append(None if t is None else _of_values(
                lambda values, i=i: _raw.Identity(
                    values * scale, name="%s_%d" % (scope, i)), t))
        return clipped, use_norm
