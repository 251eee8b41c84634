"""What functions of tensors are for ragged tensors.

A function is called as always. Only if it refuses its arguments are these
looked at: a program without ragged tensors pays nothing for them.
"""
import functools

from headrace import raw_ops
from headrace._loading import load, loaded

# Where the classes are defined; no value of them exists before it is loaded.
_CLASSES = "_src.ragged.ragged_value"


def dispatch_op(op_type, args, kwargs):
    """The result of an op that refused its arguments, or NotImplemented."""
    if not loaded(_CLASSES):
        return NotImplemented
    return load("_src.ragged.ragged_dispatch").dispatch(
        op_type, getattr(raw_ops, op_type), args, kwargs)


def dispatched(function):
    """`function`, which then takes ragged tensors where
    ragged.ragged_dispatch has something for its name."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            if not loaded(_CLASSES):
                raise
            result = load("_src.ragged.ragged_dispatch").dispatch(
                function.__name__, function, args, kwargs)
            if result is NotImplemented:
                raise
            return result
    call._undispatched = function  # whose signature it has
    return call
