"""py_func: a Python function as a node. The graph keeps the function. A GraphDef
has only a token for it, which other processes do not know."""
import itertools
import weakref

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import convert_to_tensor

# By token.
_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_numbers = itertools.count()  # next() is atomic: a child of fork finds no lock


class _Registry:
    def size(self):
        """How many Python functions there are for nodes to call."""
        return len(_functions)


_py_funcs = _Registry()


class _Function:
    def __init__(self, function, types):
        self.function = function
        self.types = types


def call(token, arguments):
    """What a PyFunc node calls, the GIL held: a list of arrays. If something is
    wrong with what the function returned, (is it of a kind that no tensor
    holds, what is wrong)."""
    entry = _functions.get(token)
    if entry is None:
        raise ValueError("callback %s is not found" % token)
    result = entry.function(*arguments)
    if isinstance(result, (list, tuple)):
        values = list(result)
    else:
        values = [] if result is None else [result]
    if len(values) != len(entry.types):
        return False, "%s returns %d values, but expects to see %d values." % (
            token, len(values), len(entry.types))
    try:
        return [_array(token, i, v, t)
                for i, (v, t) in enumerate(zip(values, entry.types))]
    except (_WrongType, _UnsupportedType) as e:
        return isinstance(e, _UnsupportedType), str(e)


class _WrongType(Exception):
    pass


class _UnsupportedType(Exception):
    pass


def _check_kind(array):
    """Raises _UnsupportedType unless a tensor can hold such values."""
    kind = array.dtype.kind
    if kind in "mM":
        raise _UnsupportedType("Unsupported numpy type: NPY_%s" %
                               ("DATETIME" if kind == "M" else "TIMEDELTA"))
    if kind == "V" and array.dtype.names is not None:
        raise _UnsupportedType("Unsupported numpy data type")
    if kind == "O":
        for value in array.flat:
            if not isinstance(value, (str, bytes)):
                raise _UnsupportedType("Unsupported object type %s" %
                                       type(value).__name__)


def _array(token, i, value, dtype):
    array = np.asarray(value)
    _check_kind(array)
    wanted = np.dtype(dtype.as_numpy_dtype)
    if wanted == np.dtype(object):
        if array.dtype.kind not in "SUO":
            raise _WrongType("%d-th value returned by %s is %s, but expects "
                             "string" % (i, token, array.dtype.name))
        return np.asarray(value, dtype=object)
    # Python's own numbers have no width; arrays do.
    if not isinstance(value, (np.ndarray, np.generic)) and (
            array.dtype.kind == wanted.kind
            or array.dtype.kind == "i" and wanted.kind in "uf"):
        array = array.astype(wanted)
    if array.dtype != wanted:
        raise _WrongType("%d-th value returned by %s is %s, but expects %s"
                         % (i, token, array.dtype.name, wanted.name))
    return array


def py_func(func, inp, Tout, stateful=True, name=None):
    """The results of `func`, called with the values of `inp` as arrays when
    the node runs. It returns arrays of the types `Tout`, a list of types, in a
    list or tuple; or one array for one type, which then comes back as a tensor.
    An array that it returns must be of its type; Python's own numbers go into
    any type that holds them. An exception fails the run: ValueError and
    TypeError as InvalidArgument, StopIteration as OutOfRange,
    NotImplementedError as Unimplemented, MemoryError as ResourceExhausted, any
    other as Unknown. A run does not wait beyond its deadline for `func` to
    return: its error says so. Nor does the end of the session or the program:
    `func` is left to itself.

    `inp`: a list of tensors of any types and shapes. Results have no known
    shape, until set_shape() tells it. Unknown types in `Tout` are TypeErrors.
    """
    if not callable(func):
        raise ValueError("Expected func to be callable, got func of type %s"
                         % type(func))
    if _graph.get_default_graph()._eager:
        return _called_now(func, inp)
    many = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in (Tout if many else [Tout])]
    entry = _Function(func, types)
    token = "pyfunc_%d" % next(_numbers)
    _functions[token] = entry
    op = _raw.PyFunc if stateful else _raw.PyFuncStateless
    result = op(list(inp), token=token, Tout=types, name=name)
    node = result if types else [result]
    _graph.graph_of(node)._py_functions.append(entry)
    if not types:
        return result if stateful else []  # as TensorFlow does
    return result if many else result[0]


def _called_now(func, inp):
    """As py_func, executed eagerly."""
    result = func(*[np.array(convert_to_tensor(x)) for x in inp])
    result = [x if x is None else convert_to_tensor(x) for x in (
        result if isinstance(result, (list, tuple)) else [result])]
    return result[0] if len(result) == 1 else result


def numpy_function(func, inp, Tout, name=None):
    return py_func(func, inp, Tout, True, name)
