"""Types of tensor elements: float32, int64, string, ..."""
import numpy as np

_REF = 100


class DType:
    """The type of a tensor's elements. There is one object for each type, and
    one for the references to it (what a variable's tensor has): DType(n) is
    the one with number n of types.proto, TypeError if there is none."""

    __slots__ = ("_enum", "_name", "_numpy", "_base", "_ref")

    def __new__(cls, type_enum):
        number = int(type_enum)
        found = _by_enum[number] if 0 <= number < len(_by_enum) else None
        if found is None:
            raise TypeError("type_enum is not a valid types_pb2.DataType: %s"
                            % (type_enum,))
        return found

    name = property(lambda self: self._name)
    base_dtype = property(lambda self: self._base)
    real_dtype = property(lambda self: _REAL.get(self._base, self._base))
    as_datatype_enum = property(lambda self: self._enum)

    @property
    def as_numpy_dtype(self):
        """The NumPy scalar type; object for strings; for bfloat16 that of
        ml_dtypes if it is installed, else float32, which has all its
        values."""
        if self._base is bfloat16:
            return bfloat16_numpy().type
        return self._base._numpy

    @property
    def is_bool(self):
        return self._base is bool_

    @property
    def is_floating(self):
        return self._base in _FLOATING

    @property
    def is_complex(self):
        return self._base in _REAL

    @property
    def is_integer(self):
        return self._base in _INTEGER

    @property
    def is_quantized(self):
        return self._base in _QUANTIZED

    @property
    def is_unsigned(self):
        return self.is_integer and np.iinfo(self._base._numpy).min == 0

    @property
    def is_numpy_compatible(self):
        return self._base not in (resource, variant)

    @property
    def _is_ref_dtype(self):
        return self._enum > _REF

    @property
    def _as_ref(self):
        return self._ref if self._ref is not None else self

    @property
    def size(self):
        """Bytes of one element."""
        if self._base in (resource, variant):
            return 1
        if self._base is bfloat16:
            return 2
        return np.dtype(self.as_numpy_dtype).itemsize

    @property
    def min(self):
        return self._limit("min", "minimum")

    @property
    def max(self):
        return self._limit("max", "maximum")

    def _limit(self, which, what):
        if self.is_integer:
            return getattr(np.iinfo(self._base._numpy), which)
        if self._base is bfloat16:
            return float.fromhex("0x1.FEp127") * (1 if which == "max" else -1)
        if self.is_floating:
            return getattr(np.finfo(self._base._numpy), which)
        raise TypeError("Cannot find %s value of %s." % (what, self))

    @property
    def limits(self):
        """What pictures of this type have: (0, 1) for floating types, (False,
        True) for bool, else (0, max)."""
        if self.is_bool:
            return (False, True)
        return (0, 1) if self.is_floating else (0, self.max)

    def is_compatible_with(self, other):
        """True if a value of type `other` may stand where this is wanted."""
        other = as_dtype(other)
        return self._enum in (other._enum, other._base._enum)

    def __eq__(self, other):
        if other is None:
            return False
        if type(other) is not DType:
            try:
                other = as_dtype(other)
            except TypeError:
                return False
        return self._enum == other._enum

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._enum

    def __int__(self):
        return self._enum

    def __repr__(self):
        return "tf." + self._name

    def __str__(self):
        return "<dtype: %r>" % self._name

    def __reduce__(self):
        return as_dtype, (self._name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _dtype(enum, name, numpy):
    """A new type; the tables below have it from then on."""
    made = object.__new__(DType)
    made._enum = enum
    made._name = name
    made._numpy = numpy
    made._base = made
    made._ref = None
    return made


float32 = _dtype(1, "float32", np.float32)
float64 = _dtype(2, "float64", np.float64)
int32 = _dtype(3, "int32", np.int32)
uint8 = _dtype(4, "uint8", np.uint8)
int16 = _dtype(5, "int16", np.int16)
int8 = _dtype(6, "int8", np.int8)
string = _dtype(7, "string", object)
complex64 = _dtype(8, "complex64", np.complex64)
int64 = _dtype(9, "int64", np.int64)
bool_ = _dtype(10, "bool", np.bool_)
qint8 = _dtype(11, "qint8", np.int8)
quint8 = _dtype(12, "quint8", np.uint8)
qint32 = _dtype(13, "qint32", np.int32)
bfloat16 = _dtype(14, "bfloat16", np.float32)
qint16 = _dtype(15, "qint16", np.int16)
quint16 = _dtype(16, "quint16", np.uint16)
uint16 = _dtype(17, "uint16", np.uint16)
complex128 = _dtype(18, "complex128", np.complex128)
float16 = _dtype(19, "float16", np.float16)
resource = _dtype(20, "resource", object)
variant = _dtype(21, "variant", object)
uint32 = _dtype(22, "uint32", np.uint32)
uint64 = _dtype(23, "uint64", np.uint64)
half = float16
double = float64
globals()["bool"] = bool_

_ALL = [float32, float64, int32, uint8, int16, int8, string, complex64, int64,
        bool_, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16,
        complex128, float16, resource, variant, uint32, uint64]
_FLOATING = {float32, float64, float16, bfloat16}
_INTEGER = {int32, uint8, int16, int8, int64, uint16, uint32, uint64}
_QUANTIZED = {qint8, quint8, qint32, qint16, quint16}
_REAL: dict = {complex64: float32, complex128: float64}
_by_enum: list = [None] * (_REF + 24)
for _t in _ALL:
    _by_enum[_t._enum] = _t
    _r = _dtype(_t._enum + _REF, _t._name + "_ref", _t._numpy)
    _r._base = _t
    _t._ref = _r
    _by_enum[_r._enum] = _r

QUANTIZED_DTYPES = frozenset(_QUANTIZED | {t._ref for t in _QUANTIZED})
_by_name = {t._name: t for t in _by_enum if t is not None}
_by_name.update(half=float16, double=float64, float=float32)
_by_name.update({short + "_ref": _by_name[_by_name[short].name + "_ref"]
                 for short in ("half", "double", "float")})
_by_numpy = {np.dtype(t._numpy): t for t in _ALL
             if t not in _QUANTIZED and t not in (bfloat16, resource, variant)}
# Which int type a Python int is depends on its value, and so on: TensorFlow
# takes these alone.
_by_python = {float: float32, type(True): bool_, object: string}


def bfloat16_numpy():
    """NumPy's dtype for bfloat16 values: that of ml_dtypes, or float32."""
    try:
        import ml_dtypes  # type: ignore[import-not-found]
        return np.dtype(ml_dtypes.bfloat16)
    except ImportError:
        return np.dtype(np.float32)


def as_dtype(type_value):
    """The DType of a DType, a number of types.proto, a name, float, bool or
    object, or a type or dtype of NumPy. Raises TypeError.

    A DType says nothing of shapes."""
    value = type_value
    if type(value) is DType:
        return value
    if isinstance(value, (int, float)):
        if not isinstance(value, type(True)) and value in range(
                len(_by_enum)) and _by_enum[int(value)] is not None:
            return _by_enum[int(value)]
    elif isinstance(value, str):
        if value in _by_name:
            return _by_name[value]
    elif isinstance(value, type) and value in _by_python:
        return _by_python[value]
    elif _is_numpy_type(value):
        dtype = np.dtype(value)
        if dtype in _by_numpy:
            return _by_numpy[dtype]
        if dtype.kind in "SUO":
            return string
        if dtype.name == "bfloat16":
            return bfloat16
    raise TypeError("Cannot convert value %r to a TensorFlow DType." % (value,))


def _is_numpy_type(value):
    if isinstance(value, type):
        return issubclass(value, np.generic)
    return isinstance(getattr(value, "dtype", value), np.dtype)
