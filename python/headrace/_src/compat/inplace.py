"""tensorflow.python.ops.inplace_ops: x with rows v at i (None: all of x) put in,
added or subtracted. `alias_` writes into x itself, the others into a copy."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _changed(op, x, i, v):
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        flat = op(_array.reshape(x, [1, -1]), [0], _array.reshape(v, [1, -1]))
        return _array.reshape(flat, _array.shape(x))
    i = _math.cast(i, dtypes.int32)
    if i.get_shape().ndims == 0:
        i, v = _array.reshape(i, [1]), _array.expand_dims(v, 0)
    return op(x, i, v)


def alias_inplace_update(x, i, v):
    return _changed(_raw.InplaceUpdate, x, i, v)


def alias_inplace_add(x, i, v):
    return _changed(_raw.InplaceAdd, x, i, v)


def alias_inplace_sub(x, i, v):
    return _changed(_raw.InplaceSub, x, i, v)


def inplace_update(x, i, v):
    return alias_inplace_update(_raw.DeepCopy(x), i, v)


def inplace_add(x, i, v):
    return alias_inplace_add(_raw.DeepCopy(x), i, v)


def inplace_sub(x, i, v):
    return alias_inplace_sub(_raw.DeepCopy(x), i, v)


def empty(shape, dtype, init=False, name=None):
    """A tensor of a shape; zeros with `init`, else of any values."""
    return _raw.Empty(shape, dtype=dtype, init=init, name=name)


def empty_like(x, init=None):
    """`empty` of the shape and type of x."""
    x = convert_to_tensor(x)
    return _raw.Empty(_array.shape(x), dtype=x.dtype, init=bool(init))
