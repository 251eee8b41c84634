"""tensorflow.python.data.util.convert and random_seed: arguments of datasets as
tensors."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor, is_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random

# What the cardinality of a dataset is if it is no number.
INFINITE, UNKNOWN = -1, -2
GET_NEXT_CALL_WARNING_THRESHOLD = 32
_LARGEST_SEED = 2**31 - 1


def optional_param_to_tensor(argument_name, argument_value, argument_default=0,
                             argument_dtype=dtypes.int64):
    """The value as a scalar of argument_dtype that is named after the argument;
    the default if it is None."""
    if argument_value is None:
        return constant(argument_default, dtype=argument_dtype,
                        name=argument_name)
    return convert_to_tensor(argument_value, dtype=argument_dtype,
                             name=argument_name)


def partial_shape_to_tensor(shape_like):
    """A shape as int64 [rank], -1 for sizes that are not known.

    `shape_like`: a TensorShape, a list of sizes and None, or a tensor.
    TypeError for a tensor of another type, ValueError for another rank."""
    try:
        shape = shape_like if is_tensor(shape_like) else TensorShape(shape_like)
    except (TypeError, ValueError):
        shape = shape_like
    if isinstance(shape, TensorShape):
        return constant([-1 if n is None else n for n in shape.as_list()],
                        dtype=dtypes.int64)
    tensor = shape if is_tensor(shape) else _numbers(shape)
    if tensor.get_shape().ndims not in (None, 1):
        raise ValueError(
            "The given shape %s must be a 1-D tensor of tf.int64 values, but the "
            "shape was %s." % (shape_like, tensor.get_shape()))
    if tensor.dtype != dtypes.int64:
        raise TypeError(
            "The given shape %s must be a 1-D tensor of tf.int64 values, but the "
            "element type was %s." % (shape_like, tensor.dtype.name))
    return tensor


def _numbers(sizes):
    try:
        return constant(sizes, dtype=dtypes.int64)
    except TypeError:
        return constant(sizes)


def get_seed(seed):
    """Both seeds of a dataset, int64 scalars: what tf.get_seed gives, 0 for
    None, but never 0 and 0 for a seed that is given. `seed` may be a tensor."""
    first, second = _random.get_seed(0 if is_tensor(seed) else seed)
    if is_tensor(seed):
        second = seed
    first = constant(0 if first is None else first, dtype=dtypes.int64,
                     name="seed")
    if second is None:
        return first, constant(0, dtype=dtypes.int64, name="seed2")
    # The nodes are TensorFlow's: the seeds of later random ops depend on how
    # many there are.
    with name_scope("seed2") as scope:
        second = convert_to_tensor(second, dtype=dtypes.int64)
        return first, _array.where(
            _math.logical_and(_math.equal(first, 0), _math.equal(second, 0)),
            constant(_LARGEST_SEED, dtype=dtypes.int64), second, name=scope)
