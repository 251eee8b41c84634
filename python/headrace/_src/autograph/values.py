"""Values of the variables that branches and loops change: what is not set, and
the checks that they fit."""
from headrace._src.control.contexts import shape_at_most
from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor


class Unset:
    """Stands for a variable that is not bound."""


UNSET = Unset()
NO_RETURN = Unset()  # no return statement ran yet
_MISSING = (NameError, AttributeError, KeyError, IndexError)


def get(read):
    """The value of a variable, or UNSET. `read` only reads it."""
    try:
        return read()
    except _MISSING:
        return UNSET


def defined(value):
    return value is not UNSET


def returned(value):
    """The result of a function whose return statements gave `value`."""
    return None if value is NO_RETURN else value


def place(function):
    """Where the statement stands that a generated function is of."""
    code = function.__code__
    return "%s:%d" % (code.co_filename, code.co_firstlineno)


def _leaf(x):
    return x if hasattr(x, "_flow_components") else convert_to_tensor(x)


def as_tensors(value, name, where):
    """The structure with a tensor at each leaf."""
    try:
        return nest.map_structure(_leaf, value)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "%s: '%s' is %r, which cannot be a value of TensorFlow control "
            "flow: %s" % (where, name, value, error)) from None


def check_same_structure(name, a, b, what, where):
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "%s: '%s' does not have the same nested structure %s.\n\n%s"
            % (where, name, what, error)) from None


def check_branches(name, a, b, where):
    """TypeError unless a variable has the same type in both branches."""
    check_same_structure(name, a, b, "in the TRUE and FALSE branches", where)
    for x, y in zip(nest.flatten(a), nest.flatten(b)):
        if _dtype(x) != _dtype(y):
            raise TypeError(
                "%s: '%s' has dtype %s in the TRUE branch, but dtype=%s in the "
                "FALSE branch. TensorFlow control flow requires that they are "
                "the same." % (where, name, _dtype(x), _dtype(y)))


def check_iteration(name, before, after, where, shapes=True):
    """TypeError or ValueError unless a variable keeps its type and shape."""
    check_same_structure(name, before, after, "after one iteration", where)
    for x, y in zip(nest.flatten(before), nest.flatten(after)):
        if _dtype(x) != _dtype(y):
            raise TypeError(
                "%s: '%s' has dtype %s before the loop, but dtype %s after one "
                "iteration. TensorFlow control flow requires it stays the "
                "same." % (where, name, _dtype(x), _dtype(y)))
        if hasattr(x, "_flow_components") or not shapes:
            continue
        old, new = x.get_shape(), y.get_shape()
        if not shape_at_most(new, old):
            raise ValueError(
                "%s: '%s' has shape %s before the loop, but shape %s after one "
                "iteration. TensorFlow control flow requires it stays the "
                "same or be more specific." % (where, name, old, new))


def _dtype(x):
    return x.dtype.base_dtype.name if hasattr(x, "dtype") else type(x).__name__
