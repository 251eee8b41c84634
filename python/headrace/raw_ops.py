"""Every op of the registry as a function, under its own name.

`raw_ops.Conv2D(input, filter, strides=[1, 1, 1, 1], padding="SAME")` adds a
node to the default graph, or to that of its inputs, and returns its output: a
Tensor, a list, a named tuple of several, or the Operation if there is none.
"""
import collections
import inspect

from headrace._headrace import OpFunction, op_names


def __getattr__(name):
    if not name[:1].isupper() and not name.startswith("_"):
        raise AttributeError(name)
    if name.startswith("__"):
        raise AttributeError(name)
    return globals().setdefault(name, OpFunction(name))


def __dir__():
    return op_names()


def signature(function):
    """An inspect.Signature for an op function."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    for name, _, has_default, default in function.parameters():
        parameters.append(inspect.Parameter(
            name, kind,
            default=default if has_default else inspect.Parameter.empty))
    parameters.append(inspect.Parameter("name", kind, default=None))
    return inspect.Signature(parameters)


OpFunction.__signature__ = property(signature)
OpFunction.__repr__ = lambda self: "<op %s%s>" % (
    self.op_type, signature(self))


def make_result_type(op_name, output_names):
    return collections.namedtuple(op_name, output_names, rename=True)
