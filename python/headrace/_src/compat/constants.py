"""Constants: of the modules of messages, of tensorflow.python.framework.dtypes and
of the build."""
from headrace import _headrace
from headrace._src.framework import dtypes, errors

GIT_VERSION = "headrace-" + _headrace.version
COMPILER_VERSION = _headrace.compiler_version


_ALL = [t for t in dtypes._by_enum if t is not None]
_REFERENCES = {t.name: t for t in _ALL if t._is_ref_dtype}
_REFERENCES.update(half_ref=_REFERENCES["float16_ref"],
                   double_ref=_REFERENCES["float64_ref"])


# Tables of tensorflow.python.framework.dtypes.
_INTERN_TABLE = {int(t): t for t in _ALL}
_TYPE_TO_STRING = {int(t): t.name for t in _ALL}
_STRING_TO_TF = dict(dtypes._by_name)
_TF_TO_NP = {int(t): t.as_numpy_dtype for t in _ALL}
_NP_TO_TF = {numpy.type: t for numpy, t in dtypes._by_numpy.items()}
_NP_TO_TF[object] = dtypes.string
TF_VALUE_DTYPES = {t for t in _ALL if not t._is_ref_dtype
                   and t.is_numpy_compatible}
dtype_range = {
    t.as_numpy_dtype: (-1, 1) if t.is_floating
    else (False, True) if t.is_bool else (t.min, t.max)
    for t in _ALL if t.is_bool or t.is_integer
    or t in (dtypes.float32, dtypes.float64)}


# Nodes and their shapes are made by the library, not in Python.
MADE_BY_THE_CORE = True


def __getattr__(name):
    if name in _REFERENCES:
        return _REFERENCES[name]
    raise AttributeError(name)


_SPELLED = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


class _Enum:
    """An enumeration of messages: DataType.Name(1) is "DT_FLOAT"."""

    def __init__(self, numbers):
        self._numbers = numbers

    def Name(self, number):
        for name, value in self._numbers.items():
            if value == number:
                return name
        raise ValueError("Enum has no name defined for value %r" % (number,))

    def Value(self, name):
        if name not in self._numbers:
            raise ValueError("Enum has no value defined for name %r" % (name,))
        return self._numbers[name]

    def keys(self):
        return list(self._numbers)

    def values(self):
        return list(self._numbers.values())

    def items(self):
        return list(self._numbers.items())


def _data_types():
    found = {"DT_INVALID": 0}
    for dtype in _ALL:
        base = dtype.base_dtype
        name = "DT_" + _SPELLED.get(base.name, base.name.upper())
        found[name + ("_REF" if dtype._is_ref_dtype else "")] = (
            dtype.as_datatype_enum)
    return found


def message_constant(module, name):
    """The constant `name` of tensorflow.core's `module`, or KeyError."""
    if module == "types":
        found = _data_types()
        return _Enum(found) if name == "DataType" else found[name]
    if module == "error_codes":
        found = {n: v for n, v in vars(errors).items()
                 if n.isupper() and isinstance(v, int)}
        return _Enum(found) if name == "Code" else found[name]
    raise KeyError(name)
