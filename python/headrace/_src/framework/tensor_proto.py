"""Values as TensorProto messages, and back."""
import numpy as np

from headrace._src.framework import dtypes
from headrace._src.framework.messages import TensorProto
from headrace._src.framework.tensor import is_tensor, to_array
from headrace._src.framework.tensor_shape import TensorShape

# Types whose arrays are stored as their bytes, little-endian, if there is more
# than one element.
_AS_BYTES = frozenset([
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16,
    dtypes.int8, dtypes.int64, dtypes.qint8, dtypes.quint8, dtypes.qint16,
    dtypes.quint16, dtypes.qint32, dtypes.uint32, dtypes.uint64])
# The field that holds single elements.
_FIELDS = {
    dtypes.float16: "half_val", dtypes.bfloat16: "half_val",
    dtypes.float32: "float_val", dtypes.float64: "double_val",
    dtypes.int32: "int_val", dtypes.int16: "int_val", dtypes.int8: "int_val",
    dtypes.uint16: "int_val", dtypes.uint8: "int_val",
    dtypes.qint8: "int_val", dtypes.quint8: "int_val",
    dtypes.qint16: "int_val", dtypes.quint16: "int_val",
    dtypes.qint32: "int_val", dtypes.string: "string_val",
    dtypes.complex64: "scomplex_val", dtypes.complex128: "dcomplex_val",
    dtypes.int64: "int64_val", dtypes.bool_: "bool_val",
    dtypes.uint32: "uint32_val", dtypes.uint64: "uint64_val"}


def _has_numbers_in_tuples(values):
    """Whether quantized numbers are written as NumPy's records of them:
    (21,)."""
    while isinstance(values, list) and values:
        values = values[0]
    return isinstance(values, tuple) and len(values) == 1 and not isinstance(
        values[0], (list, tuple))


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False,
                      allow_broadcast=False):
    """`values` as a TensorProto, of `dtype` if it is given.

    With `shape`, fewer values are written as they are: a reader repeats the
    last. verify_shape: TypeError unless the values have that shape already;
    allow_broadcast: the same, a single value excepted."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both "
                         "allowed.")
    if isinstance(values, TensorProto):
        return values
    if is_tensor(values):
        raise TypeError("make_tensor_proto takes values, got the node %s"
                        % (values,))
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if dtype is None and _is_text(values):
        dtype = dtypes.string
    array = _array(values, dtype)
    if dtype is not None and dtype.is_quantized and array.ndim and (
            _has_numbers_in_tuples(values)):
        array = array.reshape(array.shape[:-1])
    if dtype is None and not array.size and isinstance(values, (list, tuple)):
        array = array.astype(np.float32)
    if dtype is None:
        dtype = dtypes.as_dtype(array.dtype)
    sizes = list(array.shape)
    if shape is not None:
        sizes = TensorShape(shape).as_list()
        if None in sizes:
            raise ValueError("The shape %s is not fully known" % (shape,))
        differs = sizes != list(array.shape)
        if differs and (verify_shape or allow_broadcast and array.size != 1):
            raise TypeError("Expected Tensor's shape: %s, got %s."
                            % (tuple(sizes), array.shape))
    count = int(np.prod(sizes, dtype=np.int64))
    if array.size > count:
        raise ValueError("Too many elements provided. Needed at most %d, but "
                         "received %d" % (count, array.size))
    proto = TensorProto(dtype=dtype.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    if dtype in _AS_BYTES and array.size == count and count > 1:
        proto.tensor_content = array.astype(
            array.dtype.newbyteorder("<")).tobytes()
    else:
        getattr(proto, _FIELDS[dtype]).extend(_elements(array, dtype))
    return proto


def _is_text(values):
    while isinstance(values, (list, tuple)) and values:
        values = values[0]
    return isinstance(values, (str, bytes))


def _array(values, dtype):
    kind = None if dtype is None else np.dtype(dtype.as_numpy_dtype)
    return np.asarray(to_array(values, kind))


def _bfloat16_bits(array):
    """The bits of bfloat16 values: the upper half of a float32's, rounded to
    even."""
    if array.dtype != np.float32:
        return array.view(np.uint16)
    bits = array.view(np.uint32)
    rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
    # A NaN whose lower half alone says so would become infinity.
    return np.where(np.isnan(array), bits >> 16 | 0x40, rounded).astype(
        np.uint16)


def _bfloat16_values(bits, kind):
    """bfloat16 values of their bits: those of NumPy's type for them, or
    float32."""
    if kind != np.float32:
        return bits.view(kind)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _elements(array, dtype):
    flat = array.ravel()
    if dtype == dtypes.string:
        return [s.encode() if isinstance(s, str) else bytes(s) for s in flat]
    if dtype == dtypes.bfloat16:
        return _bfloat16_bits(flat).tolist()
    if dtype == dtypes.float16:
        return flat.view(np.uint16).tolist()
    if dtype.is_complex:
        return flat.view(flat.real.dtype).tolist()
    return flat.tolist()


def make_ndarray(tensor):
    """The value of a TensorProto as an array. TypeError for types that have no
    array."""
    dtype = dtypes.as_dtype(tensor.dtype)
    shape = [d.size for d in tensor.tensor_shape.dim]
    count = int(np.prod(shape, dtype=np.int64))
    if dtype not in _FIELDS:
        raise TypeError("Unsupported tensor type: %d" % tensor.dtype)
    kind = np.dtype(dtype.as_numpy_dtype)
    if tensor.tensor_content and dtype == dtypes.bfloat16:
        bits = np.frombuffer(tensor.tensor_content, "<u2").astype(np.uint16)
        return _bfloat16_values(bits, kind).reshape(shape)
    if tensor.tensor_content:
        flat = np.frombuffer(tensor.tensor_content,
                             kind.newbyteorder("<")).astype(kind)
        return flat.reshape(shape)
    stored = list(getattr(tensor, _FIELDS[dtype]))
    if dtype == dtypes.string:
        flat = np.empty(len(stored), object)
        flat[:] = stored
    elif dtype == dtypes.bfloat16:
        flat = _bfloat16_values(np.array(stored, np.uint16), kind)
    elif dtype == dtypes.float16:
        flat = np.array(stored, np.uint16).view(kind)
    elif dtype.is_complex:
        part = np.float32 if dtype == dtypes.complex64 else np.float64
        flat = np.array(stored, part).view(kind)
    else:
        flat = np.array(stored, kind)
    if len(flat) > count:
        raise ValueError("The TensorProto has %d elements, its shape %s has %d"
                         % (len(flat), shape, count))
    if len(flat) == count:
        return flat.reshape(shape)
    if not len(flat):
        if dtype == dtypes.string:
            return np.full(shape, b"", object)
        return np.zeros(shape, kind)
    return np.concatenate(
        [flat, np.repeat(flat[-1:], count - len(flat))]).reshape(shape)
