"""Every op of the registry as a function, under its own name.

`raw_ops.Conv2D(input, filter, strides=[1, 1, 1, 1], padding="SAME")` adds a
node to the default graph, or to that of its inputs, and returns its output: a
Tensor, a list, a named tuple of several, or the Operation if there is none.
"""
import collections as _collections
import inspect as _inspect

from headrace._headrace import OpFunction as _OpFunction, op_names as _op_names
from headrace._loading import load as _load


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        function = _OpFunction(name)
    except AttributeError:
        hints = _load("_hints")  # for those who ask for such names
        raise AttributeError(hints.op_message(name)) from None
    return globals().setdefault(name, function)


def __dir__():
    return _op_names()


def _signature(function):
    """An inspect.Signature for an op function."""
    kind = _inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    for name, _, has_default, default in function.parameters():
        parameters.append(_inspect.Parameter(
            name, kind,
            default=default if has_default else _inspect.Parameter.empty))
    parameters.append(_inspect.Parameter("name", kind, default=None))
    return _inspect.Signature(parameters)


_OpFunction.__signature__ = property(_signature)
_OpFunction.__doc__ = property(lambda self: _load("_op_texts").text(self))


def _name(function, attribute):
    """What programs write of a function that they were given: "elu"."""
    if attribute in ("__name__", "__qualname__"):
        return _load("_hints").snake_case(function.op_type)
    raise AttributeError("the op %s has no attribute '%s'" % (
        function.op_type, attribute))


_OpFunction.__getattr__ = _name
_OpFunction.__repr__ = lambda self: "<op %s%s>" % (
    self.op_type, _signature(self))


def _name(function, name):
    """`__name__` and `__qualname__`: TensorFlow's name of the function, `exp`
    for Exp. A class cannot have a property of this name."""
    if name in ("__name__", "__qualname__"):
        return _load("_hints").snake_case(function.op_type)
    raise AttributeError("op function %s has no attribute %r"
                         % (function.op_type, name))


# Copies are the function itself, and pickles refer to it.
_OpFunction.__getattr__ = _name
_OpFunction.__module__ = __name__
_OpFunction.__reduce__ = lambda self: self.op_type


def _make_result_type(op_name, output_names):
    return _collections.namedtuple(op_name, output_names, rename=True)
