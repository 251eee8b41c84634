"""Names that Python 3.9 to 3.13 and NumPy 1.20 to 2 removed, for programs of
TensorFlow 1.x under headrace.compat. What is there is left alone. Methods of
built-in classes, as ndarray.tostring, cannot be put back."""
import collections.abc
import fractions
import inspect
import math
import time

import numpy as np

# Name: what NumPy has in its place.
_NUMPY = {
    "bool": bool, "int": int, "float": float, "complex": complex,
    "object": object, "str": str, "long": int, "unicode": str,
    "bool8": np.bool_, "float_": np.float64, "complex_": np.complex128,
    "string_": np.bytes_, "unicode_": np.str_, "Inf": np.inf,
    "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf,
    "NaN": np.nan, "product": np.prod, "cumproduct": np.cumprod,
    "sometrue": np.any, "alltrue": np.all, "round_": np.round,
    "row_stack": np.vstack, "asscalar": lambda a: a.item(),
    "trapz": getattr(np, "trapezoid", None),
    "in1d": lambda ar1, ar2, assume_unique=False, invert=False: np.isin(
        np.asarray(ar1).ravel(), ar2, assume_unique, invert),
    "asfarray": lambda a, dtype=np.float64: np.asarray(
        a, dtype if np.issubdtype(dtype, np.inexact) else np.float64),
}


def _getargspec(func):
    """inspect.getargspec: (args, varargs, keywords, defaults)."""
    from headrace._src.compat import inspection
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, "
                         "use inspect.signature() API which can support them")
    return inspection.ArgSpec(*spec[:4])


def restore():
    """Sets the names that are missing."""
    for name, value in _NUMPY.items():
        if value is not None:
            vars(np).setdefault(name, value)
    for name in collections.abc.__all__:
        vars(collections).setdefault(name, getattr(collections.abc, name))
    # The processor's time, as time.clock measured outside of Windows.
    vars(time).setdefault("clock", time.process_time)
    vars(inspect).setdefault("getargspec", _getargspec)
    vars(fractions).setdefault("gcd", math.gcd)
