"""tf.contrib.slim.utils: sizes that layers read from their arguments, aliases of
tensors, and conditions that may be known."""
from headrace._headrace import Tensor
from headrace._src.contrib.outputs import get_tensor_aliases
from headrace._src.control.control_flow import cond
from headrace._src.framework import dtypes
from headrace._src.framework import tensor as _tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.variables.base import Variable


def gather_tensors_aliases(tensors):
    """The aliases of several tensors, in one list."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_variable_collections(variables_collections, name):
    """The collections of the variable `name`: an entry of a dict, or what is
    given for all."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def _known_dimension(shape, axis, min_rank):
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError("rank of shape must be at least %d not: %d"
                         % (min_rank, shape.ndims))
    size = shape[axis].value
    if size is None:
        raise ValueError("dimension %d of shape must be known but is None: %s"
                         % (axis, shape))
    return size


def last_dimension(shape, min_rank=1):
    """The last size of a TensorShape, an int. ValueError if it is not known, or
    the rank is less than min_rank."""
    return _known_dimension(shape, -1, min_rank)


def channel_dimension(shape, data_format, min_rank=1):
    """The number of channels of a TensorShape: its second size for formats that
    begin with "NC", its last for others. ValueError as last_dimension's."""
    return _known_dimension(shape, 1 if data_format.startswith("NC") else -1,
                            min_rank)


def two_element_tuple(int_or_tuple):
    """(height, width) of one int, of two in a list or tuple, or of a
    TensorShape. ValueError for others."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError("Must be a list with 2 elements: %s"
                             % int_or_tuple)
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape "
                     "of length 2")


def n_positive_integers(n, value):
    """A tuple of n ints > 0: `value` n times, or its n elements. ValueError for
    others."""
    def positive(x):
        try:
            found = int(x)
        except (TypeError, ValueError):
            found = 0
        if found <= 0:
            raise ValueError("expected positive integer, but received %s"
                             % (x,))
        return found
    positive_count = isinstance(n, int) and n > 0
    if not positive_count:
        raise ValueError("n must be a positive integer")
    if isinstance(value, TensorShape):
        value = value.as_list()
    if not isinstance(value, (list, tuple, str)):
        return (positive(value),) * n
    if isinstance(value, str) or len(value) != n:
        raise ValueError("Expected sequence of %d positive integers, but "
                         "received %r" % (n, value))
    return tuple(positive(x) for x in value)


def constant_value(value_or_tensor_or_var, dtype=None):
    """A value that is no tensor as it is; a tensor's value if the graph has it,
    otherwise None, and None for variables. ValueError for None, or for a type
    that is not `dtype`."""
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (Tensor, Variable)):
        return value
    if dtype and value.dtype.base_dtype != dtypes.as_dtype(dtype):
        raise ValueError("It has the wrong type %s instead of %s"
                         % (value.dtype, dtype))
    return None if isinstance(value, Variable) else (
        _tensor.constant_value(value))


def static_cond(pred, fn1, fn2):
    """fn1() if the bool `pred` holds, otherwise fn2(). TypeError if one cannot
    be called."""
    for name, fn in (("fn1", fn1), ("fn2", fn2)):
        if not callable(fn):
            raise TypeError("%s must be callable." % name)
    return fn1() if pred else fn2()


def smart_cond(pred, fn1, fn2, name=None):
    """static_cond where `pred` is known, otherwise tf.cond."""
    known = constant_value(pred)
    if known is None:
        return cond(pred, fn1, fn2, name)
    return static_cond(known, fn1, fn2)
