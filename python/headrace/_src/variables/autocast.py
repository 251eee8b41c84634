"""AutoCastVariable: a variable of float32 that layers of mixed precision read in
another type."""
import contextlib
import threading

from headrace._src.framework import dtypes
from headrace._src.framework.graph import Graph
from headrace._src.ops import math_ops as _math
from headrace._src.variables.resource_variables import ResourceVariable
from headrace._src.variables.strategies import loaded_strategies


class _Reads(threading.local):
    dtype = None  # what variables are read as, or None for their own type


_reads = _Reads()


@contextlib.contextmanager
def read_as(dtype):
    """Within it, AutoCastVariables are read as `dtype`; as what they are if it is
    None or no type of floats."""
    outer = _reads.dtype
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    _reads.dtype = dtype if dtype is not None and dtype.is_floating else None
    try:
        yield
    finally:
        _reads.dtype = outer


# Also by TensorFlow's name, for programs that open it themselves.
setattr(Graph, "_enable_auto_casting_variables",
        lambda self, dtype: read_as(dtype))
setattr(Graph, "_auto_cast_variable_read_dtype",
        property(lambda self: _reads.dtype))


class AutoCastVariable(ResourceVariable):
    """The resource variable `variable`, whose value is cast where it is read
    within read_as. Assignments take its own type, `true_dtype`. ValueError for
    other variables and for those that are no floats."""

    def __init__(self, variable):
        _check(variable)
        # Both are the same variable: they have the same nodes.
        self.__dict__ = variable.__dict__

    @property
    def true_dtype(self):
        """The type of the variable itself."""
        return self._dtype

    def _is_cast(self):
        return _reads.dtype is not None and _reads.dtype != self._dtype

    @property
    def dtype(self):
        """The type in which the value is read here."""
        return _reads.dtype if self._is_cast() else self._dtype

    def _cast(self, value):
        return _math.cast(value, _reads.dtype) if self._is_cast() else value

    def value(self):
        return self._cast(super().value())

    def read_value(self):
        return self._cast(super().read_value())

    def sparse_read(self, indices, name=None):
        return self._cast(super().sparse_read(indices, name))

    def gather_nd(self, indices, name=None):
        return self._cast(super().gather_nd(indices, name))

    def __repr__(self):
        return "<AutoCastVariable '%s' shape=%s dtype=%s true_dtype=%s>" % (
            self.name, self.get_shape(), self.dtype.name, self.true_dtype.name)


def _check(variable):
    if not isinstance(variable, ResourceVariable):
        raise ValueError("variable must be of type tf.ResourceVariable, but "
                         "got: %s" % variable)
    if not variable.dtype.is_floating:
        raise ValueError("variable must be a floating point variable but has "
                         "type: %s" % variable.dtype.name)


def make_autocast(variable):
    """Makes a variable that was just made one that is cast where it is read; of a
    variable of several devices, that of each. Returns it. ValueError as
    AutoCastVariable."""
    strategies = loaded_strategies()
    parts = (variable.values if strategies is not None
             and hasattr(variable, "distribute_strategy") else [variable])
    for part in parts:
        _check(part)
        if type(part) is ResourceVariable:
            part.__class__ = AutoCastVariable
    return variable
