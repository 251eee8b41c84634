"""tf.keras.backend: arrays and arithmetic. A tensor of no given type is of
`floatx()`."""
import builtins

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend as _backend
from headrace._src.layers.backend import floatx, int_shape, ndim, variable
from headrace._src.nn import activations as _activations
from headrace._src.nn import normalization as _normalization
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse.sparse_ops import sparse_tensor_to_dense


def backend():
    """The name of the library that computes: "tensorflow"."""
    return "tensorflow"


def _type(dtype):
    return dtypes.as_dtype(dtype or floatx())


def cast_to_floatx(x):
    """`x`, an array or a tensor, as the default float type."""
    if hasattr(x, "op") or hasattr(x, "initializer"):
        return _math.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def abs(x):
    """|x|."""
    return _math.abs(x)


def exp(x):
    """e^x."""
    return _math.exp(x)


def log(x):
    """The natural logarithm."""
    return _math.log(x)


def sqrt(x):
    """The square root; of negative numbers 0."""
    x = convert_to_tensor(x)
    return _math.sqrt(_math.maximum(x, convert_to_tensor(0.0, x.dtype.base_dtype)))


def sin(x):
    """The sine of x, radians."""
    return _math.sin(x)


def cos(x):
    """The cosine of x, radians."""
    return _math.cos(x)


def sign(x):
    """-1, 0 or 1."""
    return _math.sign(x)


def round(x):
    """The nearest integer; of two the even one."""
    return _math.round(x)


def pow(x, a):
    """x^a."""
    return _math.pow(x, a)


def sigmoid(x):
    """1 / (1 + e^-x)."""
    return _math.sigmoid(x)


def tanh(x):
    """The hyperbolic tangent."""
    return _math.tanh(x)


def softplus(x):
    """log(e^x + 1)."""
    return _raw.Softplus(features=x)


def softsign(x):
    """x / (|x| + 1)."""
    return _raw.Softsign(features=x)


def elu(x, alpha=1.0):
    """x above 0, alpha (e^x - 1) below."""
    result = _raw.Elu(features=x)
    if alpha == 1:
        return result
    return _array.where(result > 0, result, alpha * result)


def clip(x, min_value, max_value):
    """x, at least min_value and at most max_value; None is no limit."""
    if (isinstance(min_value, (int, float))
            and isinstance(max_value, (int, float))):
        max_value = builtins.max(min_value, max_value)
    return _clipping.clip_by_value(
        x, -np.inf if min_value is None else min_value,
        np.inf if max_value is None else max_value)


def maximum(x, y):
    return _math.maximum(x, y)


def minimum(x, y):
    return _math.minimum(x, y)


def equal(x, y):
    return _math.equal(x, y)


def not_equal(x, y):
    return _math.not_equal(x, y)


def greater(x, y):
    return _math.greater(x, y)


def greater_equal(x, y):
    return _math.greater_equal(x, y)


def less(x, y):
    return _math.less(x, y)


def less_equal(x, y):
    return _math.less_equal(x, y)


def all(x, axis=None, keepdims=False):
    """If all elements along the axes are true, or not 0."""
    return _math.reduce_all(_math.cast(x, dtypes.bool_), axis, keepdims)


def any(x, axis=None, keepdims=False):
    """If an element along the axes is true, or not 0."""
    return _math.reduce_any(_math.cast(x, dtypes.bool_), axis, keepdims)


def prod(x, axis=None, keepdims=False):
    return _math.reduce_prod(x, axis, keepdims)


def var(x, axis=None, keepdims=False):
    """The variance."""
    x = convert_to_tensor(x)
    if x.dtype.base_dtype == dtypes.bool_:
        x = _math.cast(x, floatx())
    return _math.reduce_variance(x, axis, keepdims)


def std(x, axis=None, keepdims=False):
    """The standard deviation."""
    return _math.sqrt(var(x, axis, keepdims))


def argmax(x, axis=-1):
    return _math.argmax(x, axis)


def argmin(x, axis=-1):
    return _math.argmin(x, axis)


def cumsum(x, axis=0):
    return _math.cumsum(x, axis=axis)


def cumprod(x, axis=0):
    return _math.cumprod(x, axis=axis)


def l2_normalize(x, axis=None):
    """x over the root of the sum of its squares."""
    return _normalization.l2_normalize(x, axis)


def arange(start, stop=None, step=1, dtype="int32"):
    """start, start + step... below `stop`; with one argument from 0 on."""
    if stop is None and start < 0:
        start = 0
    made = _math.range(start, limit=stop, delta=step, name="arange")
    return made if dtype == "int32" else _math.cast(made, dtype)


def zeros(shape, dtype=None, name=None):
    """A variable of zeros, or a tensor if the shape is not known."""
    return _filled(_array.zeros, shape, dtype, name)


def ones(shape, dtype=None, name=None):
    """A variable of ones, or a tensor if the shape is not known."""
    return _filled(_array.ones, shape, dtype, name)


def _filled(make, shape, dtype, name):
    made = make(shape, dtype=_type(dtype), name=name)
    if made.get_shape().is_fully_defined():
        return variable(made, dtype=_type(dtype), name=name)
    return made


def eye(size, dtype=None, name=None):
    """A variable, the unit matrix."""
    return variable(np.eye(size), dtype=_type(dtype), name=name)


def zeros_like(x, dtype=None, name=None):
    return _array.zeros_like(x, dtype=dtype, name=name)


def ones_like(x, dtype=None, name=None):
    return _array.ones_like(x, dtype=dtype, name=name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return _random.random_normal(shape, mean, stddev, _type(dtype),
                                 _seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    return _random.random_uniform(shape, minval, maxval, _type(dtype),
                                  _seed(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return _random.truncated_normal(shape, mean, stddev, _type(dtype),
                                    _seed(seed))


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """1 with probability p, else 0."""
    kind = _type(dtype)
    drawn = _random.random_uniform(shape, dtype=kind, seed=_seed(seed))
    return _math.cast(drawn <= p, kind)


def _seed(seed):
    """`seed`, or one that NumPy's global generator draws: np.random.seed makes
    a program repeatable, as in Keras."""
    return np.random.randint(10e6) if seed is None else seed


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable, drawn evenly from [low, high)."""
    return variable(random_uniform(shape, low, high, dtype, seed),
                    dtype=_type(dtype), name=name)


def random_normal_variable(shape, mean, scale, dtype=None, name=None,
                           seed=None):
    """A variable, normally distributed."""
    return variable(random_normal(shape, mean, scale, dtype, seed),
                    dtype=_type(dtype), name=name)


def is_sparse(tensor):
    """If it is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor):
    """A SparseTensor as a tensor; a tensor as it is."""
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def batch_dot(x, y, axes=None):
    """The products of x and y, one for each element of the batch (dimension 0),
    over axes[0] of x and axes[1] of y: by default the last of x and the last
    but one of y. At least [batch, 1]."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if isinstance(axes, int):
        axes = axes, axes
    rank_x, rank_y = ndim(x), ndim(y)
    if axes is None:
        axes = rank_x - 1, rank_y - 1 if rank_y == 2 else rank_y - 2
    axis_x, axis_y = axes[0] % rank_x, axes[1] % rank_y
    if 0 in (axis_x, axis_y):
        raise ValueError("batch_dot: axes %s: dimension 0 is the batch"
                         % (axes,))

    def flat(z, rank, axis, at_end):
        """[batch, rest, axis] or [batch, axis, rest], and the rest's shape."""
        rest = [i for i in range(1, rank) if i != axis]
        order = [0] + (rest + [axis] if at_end else [axis] + rest)
        z = _array.transpose(z, order)
        shape = _array.shape(z)
        size = shape[-1] if at_end else shape[1]
        sizes = shape[1:-1] if at_end else shape[2:]
        last = [-1, size] if at_end else [size, -1]
        return _array.reshape(z, _array.stack([shape[0]] + last)), sizes
    static = ([x.shape[0]]
              + [x.shape[i] for i in range(1, rank_x) if i != axis_x]
              + [y.shape[i] for i in range(1, rank_y) if i != axis_y])
    batch = _array.shape(x)[0]
    x, left = flat(x, rank_x, axis_x, True)
    y, right = flat(y, rank_y, axis_y, False)
    out = _array.reshape(_math.matmul(x, y), _array.concat(
        [[batch], left, right], 0))
    out.set_shape(static)
    return _array.expand_dims(out, 1) if len(static) == 1 else out


def batch_flatten(x):
    """[batch, n]."""
    x = convert_to_tensor(x)
    dims = int_shape(x)[1:]
    size = (_math.reduce_prod(_array.shape(x)[1:]) if None in dims
            else int(np.prod(dims)))
    return _array.reshape(x, _array.stack([-1, size]))


def flatten(x):
    """[n]."""
    return _array.reshape(x, [-1])


def expand_dims(x, axis=-1):
    return _array.expand_dims(x, axis)


def squeeze(x, axis):
    """Without the dimension `axis`, which is 1."""
    return _array.squeeze(x, [axis])


def stack(x, axis=0):
    return _array.stack(x, axis=axis)


def transpose(x):
    return _array.transpose(x)


def permute_dimensions(x, pattern):
    """The dimensions in the order of `pattern`."""
    return _array.transpose(x, perm=pattern)


def reverse(x, axes):
    """Backwards along the axes, an int or a list."""
    return _array.reverse(x, [axes] if isinstance(axes, int) else axes)


def repeat(x, n):
    """[batch, n, width] from [batch, width]."""
    x = convert_to_tensor(x)
    if ndim(x) != 2:
        raise ValueError("repeat: x must have 2 dimensions, but has the shape "
                         "%s" % x.get_shape())
    return _array.tile(_array.expand_dims(x, 1), _array.stack([1, n, 1]))


def repeat_elements(x, rep, axis):
    """Each element along `axis` `rep` times, one after another."""
    x = convert_to_tensor(x)
    axis %= ndim(x)
    dims = int_shape(x)
    more = _array.expand_dims(x, axis + 1)
    counts = [1] * (len(dims) + 1)
    counts[axis + 1] = rep
    shape = _array.concat([_array.shape(x)[:axis],
                           [_array.shape(x)[axis] * rep],
                           _array.shape(x)[axis + 1:]], 0)
    out = _array.reshape(_array.tile(more, counts), shape)
    out.set_shape(list(dims[:axis])
                  + [None if dims[axis] is None else dims[axis] * rep]
                  + list(dims[axis + 1:]))
    return out


def tile(x, n):
    """x, n times along each dimension: a list, or an int."""
    return _array.tile(x, [n] if isinstance(n, int) else n)


def gather(reference, indices):
    """Rows of `reference`."""
    return _array.gather(reference, indices)


def one_hot(indices, num_classes):
    return _array.one_hot(indices, depth=num_classes, axis=-1)


def in_top_k(predictions, targets, k):
    """If the target class is among the k best of its row."""
    return _activations.in_top_k(predictions, targets, k)


def _padded(x, rank, spatial, data_format):
    """x with (before, after) of each spatial dimension filled with 0."""
    x = convert_to_tensor(x)
    data_format = data_format or _backend.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format: %s" % (data_format,))
    spatial = [list(p) for p in spatial]
    if len(spatial) != rank - 2 or builtins.any(len(p) != 2 for p in spatial):
        raise ValueError("padding must have %d pairs of numbers, but is %s"
                         % (rank - 2, spatial))
    none = [[0, 0]]
    return _array.pad(x, none + (none + spatial if data_format
                                 == "channels_first" else spatial + none))


def temporal_padding(x, padding=(1, 1)):
    """[batch, time, width] with zeros before and after."""
    return _padded(x, 3, [padding], "channels_last")


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Images with zeros around them."""
    return _padded(x, 4, padding, data_format)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Volumes with zeros around them."""
    return _padded(x, 5, padding, data_format)
