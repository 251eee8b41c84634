"""Python's functions, for tensors as well."""
import builtins

from headrace import raw_ops as _raw
from headrace._src.autograph.symbols import is_tensor
from headrace._src.control.control_flow import Assert, cond
from headrace._src.control.script_ops import py_func
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import (
    constant, convert_to_tensor)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def abs_(x):
    return _math.abs(x) if is_tensor(x) else builtins.abs(x)


def float_(*args):
    return _number(args[0], dtypes.float32) if args and is_tensor(args[0]) \
        else builtins.float(*args)


def int_(*args, **kwargs):
    if not args or not is_tensor(args[0]):
        return builtins.int(*args, **kwargs)
    base = args[1] if len(args) > 1 else kwargs.get("base", 10)
    if base != 10:
        raise NotImplementedError("base %s not supported for int" % base)
    return _number(args[0], dtypes.int32)


def _number(x, dtype):
    if x.dtype.base_dtype == dtypes.string:
        return _raw.StringToNumber(x, out_type=dtype)
    return _math.cast(x, dtype)


def len_(x):
    if hasattr(x, "size") and hasattr(x, "unstack") and hasattr(x, "read"):
        return x.size()  # a TensorArray
    if not is_tensor(x):
        return builtins.len(x)
    x = convert_to_tensor(x)
    if x.dtype == dtypes.variant:
        return _raw.TensorListLength(x)
    shape = x.get_shape()
    if shape.ndims == 0:
        raise ValueError("len requires a non-scalar tensor, got one of shape "
                         "%s" % shape)
    if shape.ndims is not None:
        n = shape.as_list()[0]
        return _array.shape(x)[0] if n is None else n

    def fail():
        check = Assert(False, ["len requires non-zero rank"])
        with _graph.control_dependencies([check]):
            return constant(0)
    return cond(_array.rank(x) > 0, lambda: _array.shape(x)[0], fail)


def print_(*objects, **kwargs):
    """print, when the graph runs if there is a tensor among the objects."""
    if not any(is_tensor(o) for o in objects):
        return builtins.print(*objects, **kwargs)
    at = [i for i, o in enumerate(objects) if is_tensor(o)]

    def show(*values):
        shown = list(objects)
        for i, value in builtins.zip(at, values):
            shown[i] = value.decode("utf-8", "replace") \
                if isinstance(value, bytes) else value
        builtins.print(*shown, **dict({"flush": True}, **kwargs))
    return py_func(show, [objects[i] for i in at], [])


def range_(*args):
    if not any(map(is_tensor, args)):
        return builtins.range(*args)
    if len(args) == 1:
        return _math.range(_math.maximum(args[0], 0))
    if len(args) == 2:
        return _math.range(args[0], _math.maximum(*args))
    return _math.range(*args)


def enumerate_(items, start=0):
    if hasattr(items, "_variant_tensor"):
        return items.enumerate(start)
    return builtins.enumerate(items, start)


def zip_(*iterables, **kwargs):
    if iterables and all(hasattr(x, "_variant_tensor") for x in iterables):
        return type(iterables[0]).zip(tuple(iterables))
    return builtins.zip(*iterables, **kwargs)


def list_append(items, x):
    """`items` after items.append(x)."""
    if hasattr(items, "unstack") and hasattr(items, "write"):
        return items.write(items.size(), x)
    if not is_tensor(items):
        items.append(x)
        return items
    if items.dtype != dtypes.variant:
        raise ValueError("tensor lists are expected to be Tensors with "
                         "dtype=tf.variant, instead found %s" % items)
    return _raw.TensorListPushBack(items, x)


REPLACED = {
    builtins.abs: abs_, builtins.float: float_, builtins.int: int_,
    builtins.len: len_, builtins.print: print_, builtins.range: range_,
    builtins.enumerate: enumerate_, builtins.zip: zip_}
