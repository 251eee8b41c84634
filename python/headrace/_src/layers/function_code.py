"""Functions in the configs of layers: the code of Python's, which only the same
version of Python can read, and the names of other callables."""
import base64
import codecs
import marshal
import sys
import types

import numpy as np

from headrace._loading import load as _load
from headrace._src.layers import named


def dump(function):
    """(code as text, default values, values of the closure)"""
    code = codecs.encode(marshal.dumps(function.__code__), "base64")
    closure = function.__closure__
    return (code.decode("ascii"), function.__defaults__,
            tuple(c.cell_contents for c in closure) if closure else None)


def described(name, value):
    """The entries of a layer's config for its argument `name`."""
    kind, module = "raw", None
    if isinstance(value, types.FunctionType):
        kind, module, value = "lambda", value.__module__, dump(value)
    elif callable(value):
        kind, module, value = "function", value.__module__, value.__name__
    key = "module" if name == "function" else name + "_module"
    return {name: value, name + "_type": kind, key: module}


def restored(config, name, custom_objects):
    """The value that `described` had, whose entries are taken out of the
    config. ValueError for the code of another version of Python, and for an
    unknown function."""
    value = config.pop(name)
    kind = config.pop(name + "_type", "raw")
    module = config.pop("module" if name == "function" else name + "_module",
                        None)
    if kind == "function":
        return named.deserialize_keras_object(
            value, custom_objects=custom_objects,
            printable_module_name="function in Lambda layer")
    if kind != "lambda":
        return value
    known = {"K": _load("keras").backend, "np": np}
    known.update(vars(sys.modules[module]) if module in sys.modules else {})
    return function_of(value, known)


def function_of(value, known):
    """The function that `dump` described, with `known` as its globals."""
    code, defaults, closure = value
    try:
        code = marshal.loads(base64.b64decode(code))
        if not isinstance(code, types.CodeType):
            raise ValueError("it is no code")
    except (EOFError, TypeError, ValueError) as error:
        raise ValueError(
            "The code of a Lambda layer's function cannot be read (%s): it was "
            "written by another version of Python than %d.%d. Make the model in "
            "Python, and load its weights with load_weights"
            % ((error,) + sys.version_info[:2])) from None
    cells = tuple(types.CellType(x) for x in closure) if closure else None
    return types.FunctionType(
        code, known, argdefs=None if defaults is None else tuple(
            tuple(d) if isinstance(d, list) else d for d in defaults),
        closure=cells)
