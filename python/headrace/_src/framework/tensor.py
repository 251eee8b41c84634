"""Tensor, and how values become one."""
import numpy as np

from headrace import _headrace
from headrace import raw_ops
from headrace._headrace import EagerTensor, Tensor
from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.default_session import session_for
from headrace._src.framework.operation import OperatorNotAllowedInGraphError
from headrace._src.framework.tensor_shape import TensorShape


# Values.

def to_array(value, dtype):
    """`value` as an array of NumPy type `dtype`; None: of the type that
    TensorFlow gives it (Python floats float32, ints int32 where they fit).

    Python's bools are numbers too, and ints that a type does not hold lose
    their high bits, as in TensorFlow 1.15. Strings come as objects: NumPy's
    own types for them drop NULs at the end."""
    if isinstance(value, (str, bytes)):  # NumPy's scalars too
        if dtype is not None and dtype != object:
            raise TypeError("Expected %s, got %r of type '%s' instead."
                            % (np.dtype(dtype).name, value,
                               type(value).__name__))
        return np.array(value, object)
    if isinstance(value, (np.ndarray, np.generic)):
        if dtype is None:
            return np.asarray(value)
        if dtype == object and value.size and value.dtype.kind not in "SUO":
            raise TypeError("Expected string, got array of type %s"
                            % value.dtype)
        return np.asarray(value).astype(dtype)
    if value is None:
        raise ValueError("None values not supported.")
    if type(value) is EagerTensor:
        return to_array(value._array(), dtype)
    if isinstance(value, (Tensor, _headrace.Operation)):
        raise TypeError("%r is no value but a node of a graph" % (value,))
    if _is_dlpack_only(value):
        return to_array(_from_dlpack(value), dtype)
    if isinstance(value, TensorShape):
        value = value.as_list()
    elif hasattr(value, "tensor_content"):  # a TensorProto, as a node has it
        from headrace._src.framework.tensor_proto import make_ndarray
        return to_array(make_ndarray(value), dtype)
    if dtype is None:
        array = _as_array(value, None)
        if array.dtype == np.float64:
            return array.astype(np.float32)
        if array.dtype == np.int64 and array.size:
            narrow = array.astype(np.int32)
            if (narrow == array).all():
                return narrow
        elif array.dtype == np.int64:
            return array.astype(np.int32)
        elif array.dtype.kind in "SUO":
            array = np.array(value, object)
            _check_object_array(array, value)
        return array
    if dtype == object:
        try:
            array = np.empty(np.shape(_strings_shape(value)), object)
        except ValueError:
            array = _as_array(value, dtype)
        array[...] = np.asarray(value, dtype=object)
        for item in array.flat:
            if not isinstance(item, (str, bytes)):
                raise TypeError("Expected string, got %r of type '%s' instead."
                                % (item, type(item).__name__))
        return array
    array = _as_array(value, dtype)
    if array.dtype == object:
        if np.dtype(dtype).kind in "iu":
            _check_large_ints(array)
        _check_object_array(array, value)
    kind, want = array.dtype.kind, np.dtype(dtype).kind
    if want == "V":  # bfloat16 of ml_dtypes
        want = "f"
    if array.size and not _fits(kind, want):
        items = np.array(_plain(value), object).ravel().tolist()
        _refuse_item(items, dtype, items[0])
    if want in "iu" and array.dtype == np.uint64 and dtype != np.uint64:
        _check_large_ints(array)
    return array.astype(dtype)


def _is_dlpack_only(value):
    """True for an object whose values NumPy finds by DLPack alone."""
    kind = type(value)
    return hasattr(kind, "__dlpack__") and not hasattr(kind, "__array__")


def _from_dlpack(value):
    """An array over the memory of an object that has __dlpack__. TypeError for
    what is not in the memory of the CPU, or of a type that NumPy lacks."""
    kind, number = _device_of_dlpack(value)
    if kind != _DLPACK_CPU:
        raise TypeError(
            "a %s is on the DLPack device (%d, %d), and only values in the "
            "memory of the CPU, (1, 0), are taken: copy it there first"
            % (type(value).__name__, kind, number))
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, ValueError) as e:
        raise TypeError("a %s cannot be read by DLPack: %s"
                        % (type(value).__name__, e)) from e


_DLPACK_CPU = 1  # kDLCPU


def _device_of_dlpack(value):
    """(type, number) of the device that holds the value."""
    if not hasattr(type(value), "__dlpack_device__"):
        raise TypeError("a %s has __dlpack__ and no __dlpack_device__"
                        % type(value).__name__)
    kind, number = value.__dlpack_device__()
    return int(kind), int(number)


def _as_array(value, dtype):
    """The numbers of nested lists as NumPy takes them."""
    try:
        return np.asarray(_plain(value))
    except NotImplementedError:  # of Tensor.__array__
        raise TypeError("List of Tensors when single Tensor expected") from None
    except ValueError:  # rows of different lengths
        items = list(_flat(value))
        if dtype is not None:
            _refuse_item(items, dtype, None)
        elif not isinstance(value[0], (list, tuple)):
            _check_object_array(np.empty(1, object), value)
        else:
            raise ValueError(_uneven(value)) from None
        raise


def _uneven(value):
    """What to say of lists of different lengths."""
    sizes, part = [], value
    while isinstance(part, (list, tuple)):
        sizes.append(len(part))
        part = part[0] if part else None
    return ("Argument must be a dense tensor: %r - got shape %s, but wanted %s."
            % (value, sizes[:1], sizes))


def _refuse_item(items, dtype, otherwise):
    """Raises TypeError for the first of `items` that cannot be of `dtype`, or
    for `otherwise`, unless that is None."""
    want = np.dtype(dtype).kind
    want = "f" if want == "V" else want
    for item in items:
        kind = np.asarray(item).dtype.kind
        if kind not in "SU" if want == "O" else not _fits(kind, want):
            otherwise = item
            break
    if otherwise is not None:
        raise TypeError("Expected %s, got %r of type '%s' instead." % (
            "string" if want == "O" else np.dtype(dtype).name, otherwise,
            type(otherwise).__name__))


def _check_large_ints(array):
    for item in array.flat:
        if isinstance(item, (int, np.integer)) and not (
                -2**63 <= int(item) < 2**63):
            raise OverflowError("Python int too large to convert to C long")


def _loses_bits(value, dtype):
    """True if ints of `value` are not numbers of `dtype`."""
    if not dtype.is_integer or not isinstance(value, (int, list, tuple)) or (
            not isinstance(value, int) and _holds_tensor(value)):
        return False
    array = np.asarray(_plain(value))
    return array.dtype.kind in "iuO" and not (
        array.astype(dtype.as_numpy_dtype) == array).all()


def feed_to_array(value, dtype):
    """A fed value as an array of `dtype`: as numpy.asarray converts it, but
    that ints must keep their value."""
    if dtype is None or dtype == object:
        return to_array(value, dtype)
    if value is None:
        raise ValueError("None values not supported.")
    if _is_dlpack_only(value):
        value = _from_dlpack(value)
    try:
        array = np.asarray(value, dtype=dtype)
    except OverflowError:
        array = None
    if array is None or isinstance(value, int) and array != value:
        raise TypeError("Type of feed value %r with type %s is not compatible "
                        "with Tensor type %s. Try explicitly setting the type "
                        "of the feed tensor to a larger type (e.g. int64)."
                        % (value, type(value), dtype))
    return array


def _fits(kind, want):
    """True if Python values of NumPy kind `kind` go into type `want` by
    themselves: bools to any type, ints to any number, floats to floats."""
    if kind not in "biufc" or want not in "biufc":
        return False
    if kind == want or kind == "b":
        return True
    if want == "b":
        return False
    if kind in "biu":
        return True
    return kind == "f" and want == "c"


def _plain(value):
    """Dimensions inside lists as numbers."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "__index__") and not isinstance(
            value, (int, np.generic, np.ndarray)):
        return int(value)
    return value


def _strings_shape(value):
    if isinstance(value, (list, tuple)):
        return [_strings_shape(v) for v in value]
    return 0


def _check_object_array(array, value):
    for item in array.flat:
        if not isinstance(item, (str, bytes)):
            raise TypeError(
                "Failed to convert object of type %s to Tensor. Contents: %r. "
                "%s" % (type(value), value, getattr(
                    value, "_tensors_in_place_of_it",
                    "Consider casting elements to a supported type.")))


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A Const node that holds `value`, as `dtype` if that is given.

    With `shape`, the values fill that shape in order, the last one repeated;
    `verify_shape` asks for equality instead. Raises TypeError for values that
    do not fit the dtype, ValueError for too many of them."""
    graph = _graph.get_default_graph()
    if isinstance(name, bytes):
        name = name.decode()
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if graph._eager:
        return _eager_constant(graph, value, dtype, shape)
    if shape is not None:
        value = _fill_shape(value, dtype, TensorShape(shape).as_list(),
                            verify_shape)
    return graph._constant(value, dtype, "Const" if name is None else name)


def _eager_constant(graph, value, dtype, shape):
    """As constant, of a tensor that has its value."""
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported "
                         "type (%s) to a Tensor." % type(None))
    try:
        if shape is None:
            return graph._constant(value, dtype, "")
        sizes = TensorShape(shape).as_list()
        kind = None if dtype is None else dtype.as_numpy_dtype
        array = np.asarray(to_array(value, kind))
    except TypeError:
        if dtype is not None and isinstance(value, (int, float, complex, str)):
            raise TypeError("Cannot convert %s to EagerTensor of dtype %s"
                            % (value, dtype.name)) from None
        raise
    count = int(np.prod(sizes, dtype=np.int64))
    if array.size not in (1, count):
        raise TypeError(
            "Eager execution of tf.constant with unsupported shape (value has "
            "%d elements, shape is %s with %d elements)."
            % (array.size, tuple(sizes), count))
    array = (np.reshape(array, sizes) if array.size == count else
             np.full(sizes, array.ravel()[0], array.dtype))
    return graph._constant(array, dtype, "")


def _fill_shape(value, dtype, shape, verify_shape):
    if 0 in shape and not verify_shape:
        # Nothing of the value is left, its type neither.
        dtype = dtypes.float32 if dtype is None else dtype
        return np.empty(shape, dtype.as_numpy_dtype)
    kind = None if dtype is None else np.dtype(dtype.as_numpy_dtype)
    if dtype == dtypes.bfloat16 and getattr(value, "dtype", None) != kind:
        kind = np.dtype(np.float32)  # rounded when the node is made
    array = np.asarray(to_array(value, kind))
    size = int(np.prod(shape, dtype=np.int64))
    if verify_shape and list(array.shape) != list(shape):
        raise TypeError("Expected Tensor's shape: %s, got %s."
                        % (tuple(shape), array.shape))
    if array.size > size:
        raise ValueError("Too many elements provided. Needed at most %d, but "
                         "received %d" % (size, array.size))
    if array.size == size:
        return array.reshape(shape)
    if array.size == 0:
        return np.full(shape, b"" if array.dtype == object else 0, array.dtype)
    flat = np.empty(size, array.dtype)
    flat[:array.size] = array.ravel()
    flat[array.size:] = array.ravel()[-1]
    return flat.reshape(shape)


_conversions: list = []  # (priority, types, function), best first


def register_tensor_conversion_function(base_type, conversion_func,
                                        priority=100):
    """Converts objects of `base_type` by conversion_func(value, dtype, name,
    as_ref); lower priorities are asked first. `base_type`: a class, or a tuple
    of them. TypeError for anything else, for a function that cannot be called,
    and for Python's and NumPy's numbers and arrays."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(t, (int, float, np.generic, np.ndarray)) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types "
                        "and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda c: c[0])


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None,
                      dtype_hint=None):
    """`value` as a Tensor: tensors and variables as they are, everything else
    as a constant. TypeError or ValueError if it cannot be one of `dtype`.

    The shape and, without `dtype`, the type are those of NumPy's array of the
    value, but that Python's floats become float32 and its ints int32.
    `preferred_dtype` is tried first and need not fit."""
    return _convert(value, dtype, name,
                    preferred_dtype if dtype_hint is None else dtype_hint,
                    False)


def _convert(value, dtype, name, preferred, as_ref):
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError(
                "Tensor conversion requested dtype %s for Tensor with dtype "
                "%s: %r" % (dtype.name, value.dtype.name, value))
        if type(value) is EagerTensor:
            graph = _graph.get_default_graph()
            if not graph._eager:
                return _into_graph(value, graph)
        return value
    if preferred is not None and dtype is None:
        try:
            if not _loses_bits(value, dtypes.as_dtype(preferred)):
                result = _convert_by_kind(value, dtypes.as_dtype(preferred),
                                          name, as_ref)
                if result.dtype.base_dtype == preferred:
                    return result
        except (TypeError, ValueError, OverflowError):
            pass
    return _convert_by_kind(value, dtype, name, as_ref)


def _into_graph(value, graph):
    """What stands for an EagerTensor in the body of a function."""
    if not graph._captures:
        raise RuntimeError("Attempting to capture an EagerTensor without "
                           "building a function.")
    return graph._capture(value)


def _convert_by_kind(value, dtype, name, as_ref):
    if hasattr(value, "_as_tensor"):
        return value._as_tensor(dtype, name, as_ref)
    for _, types, function in _conversions:
        if isinstance(value, types):
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
            if result is not NotImplemented:
                return result
    if isinstance(value, (list, tuple)) and _holds_tensor(value):
        return _pack(value, dtype, name or "packed")
    if isinstance(value, _headrace.Operation):
        raise TypeError(
            "Can't convert Operation '%s' to Tensor (target dtype=%r, name=%r, "
            "as_ref=%r)" % (value.name, dtype and dtype.name, name, as_ref))
    if isinstance(value, TensorShape):
        return shape_as_tensor(value, dtype, name, as_ref)
    return constant(value, dtype, name=name or "Const")


def shape_as_tensor(s, dtype=None, name=None, as_ref=False):
    """The sizes of the TensorShape `s`, as a constant: int32, or int64 if that is
    `dtype` or a size needs it. TypeError for other types, ValueError if a size is
    unknown or too large."""
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError("Cannot convert a TensorShape to dtype: %s" % dtype)
    if not s.is_fully_defined():
        raise ValueError("Cannot convert a partially known TensorShape to a "
                         "Tensor: %s" % s)
    dims = s.as_list()
    large = [d for d in dims if d > np.iinfo(np.int32).max]
    if large and dtype == dtypes.int32:
        raise ValueError("Cannot convert a TensorShape to dtype int32; a "
                         "dimension is too large (%d)" % large[0])
    wide = dtype == dtypes.int64 or large
    return constant(np.array(dims, np.int64 if wide else np.int32),
                    name=name or "shape_as_tensor")


def _holds_tensor(value):
    for v in value:
        if isinstance(v, Tensor) or hasattr(v, "_as_tensor"):
            return True
        if isinstance(v, (list, tuple)) and _holds_tensor(v):
            return True
    return False


def _first_dtype(value):
    for v in value:
        if isinstance(v, Tensor) or hasattr(v, "_as_tensor"):
            return v.dtype.base_dtype
        if isinstance(v, (list, tuple)):
            found = _first_dtype(v)
            if found is not None:
                return found
    return None


def _pack(values, dtype, name):
    """A list with tensors in it as one tensor. If the first tensor is of another
    type than `dtype`, those of other types are cast."""
    found = _first_dtype(values)
    if dtype is None:
        dtype = found
    elif found != dtype.base_dtype:
        values = _cast_tensors(values, dtype.base_dtype)
    with _graph.name_scope(name, None, _flat(values)) as scope:
        return _pack_level(values, dtype, scope)


def _cast_tensors(values, dtype):
    """The nested list, with its tensors and variables as tensors of `dtype`."""
    return [_cast_tensors(v, dtype) if isinstance(v, (list, tuple)) else
            _cast(v, dtype) if _is_of_another_type(v, dtype) else v
            for v in values]


def _is_of_another_type(value, dtype):
    return ((isinstance(value, Tensor) or hasattr(value, "_as_tensor"))
            and value.dtype.base_dtype != dtype.base_dtype)


def _cast(value, dtype):
    with _graph.name_scope(None, "Cast", [value]) as scope:
        return raw_ops.Cast(x=_convert(value, None, "x", None, False),
                            DstT=dtype, name=scope)


def _pack_level(values, dtype, name):
    parts = []
    for i, v in enumerate(values):
        if _is_of_another_type(v, dtype):
            raise TypeError(
                "Cannot convert a list containing a tensor of dtype %s to %s "
                "(Tensor is: %r)" % (v.dtype, dtype, v))
        if isinstance(v, (list, tuple)):
            parts.append(_pack_level(v, dtype, str(i)) if _holds_tensor(v)
                         else constant(v, dtype, name=str(i)))
        else:
            parts.append(_convert(v, dtype, str(i), None, False))
    return raw_ops.Pack(parts, name=name)


def _flat(values):
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        else:
            yield v


def convert_n_to_tensor(values, dtype=None, name=None):
    return [convert_to_tensor(v, dtype,
                              None if name is None else "%s_%d" % (name, i))
            for i, v in enumerate(values)]


def is_tensor(x):
    """True for tensors, variables and what converts to a tensor by itself, and
    for a SparseTensor or IndexedSlices."""
    return (isinstance(x, Tensor) or hasattr(x, "_as_tensor")
            or hasattr(x, "_flow_components") and hasattr(x, "dense_shape"))


# Nodes whose value is computed from those of their inputs.
_COMPUTED = frozenset(["Cast", "ConcatV2", "Equal", "Fill", "NotEqual", "Pack",
                       "Range", "Size"])


def constant_value(tensor, partial=False, _depth=0):
    """The value of a tensor that the graph tells, or None; what is no tensor is
    its own. partial: of some elements of a vector, None for the others."""
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    if type(tensor) is EagerTensor:
        return tensor._array() if tensor.dtype.is_numpy_compatible else None
    if tensor.op.type == "Const":
        value = tensor.op._attr("value")
        return np.array(value, object) if isinstance(value, bytes) else (
            np.asarray(value))
    if tensor.op.type == "Shape":
        shape = tensor.op.inputs[0].get_shape()
        if shape.is_fully_defined():
            return np.array(shape.as_list(),
                            tensor.dtype.base_dtype.as_numpy_dtype)
        if partial and shape.ndims is not None:
            return np.array(shape.as_list(), object)
    if tensor.op.type == "Rank":
        rank = tensor.op.inputs[0]._rank()
        if rank is not None:
            return np.array(rank, np.int32)
    if tensor.op.type in _COMPUTED:
        return load("_src.framework.constant_values").computed(
            tensor, partial, _depth)
    return None


# What Tensor has beyond the extension's.

def _eval(self, feed_dict=None, session=None):
    """The value, by running `session` or the default session."""
    return session_for(session, self.graph).run(self, feed_dict)


def _str(self):
    shape = TensorShape(self._shape_list())
    return "Tensor(\"%s\"%s, dtype=%s%s)" % (
        self.name,
        "" if shape.ndims is None else ", shape=%s" % shape,
        self.dtype.name,
        ", device=%s" % self.device if self.device else "")


def _repr(self):
    return "<tf.Tensor '%s' shape=%s dtype=%s>" % (
        self.name, TensorShape(self._shape_list()), self.dtype.name)


def _refuse(what):
    """Says so where tf.autograph should have converted the code, or must not."""
    reason = load("_src.framework.autograph_status").refusal()
    if reason is not None:
        raise OperatorNotAllowedInGraphError("%s is not allowed: %s"
                                             % (what, reason))


def _bool(self):
    _refuse("using a `tf.Tensor` as a Python `bool`")
    raise OperatorNotAllowedInGraphError(
        "using a `tf.Tensor` as a Python `bool` is not allowed in Graph "
        "execution. Use `if t is not None:` instead of `if t:` to test if a "
        "tensor is defined, and use TensorFlow ops such as tf.cond to execute "
        "subgraphs conditioned on the value of a tensor.")


def _iter(self):
    _refuse("iterating over `tf.Tensor`")
    raise OperatorNotAllowedInGraphError(
        "iterating over `tf.Tensor` is not allowed in Graph execution: '%s' has "
        "values only in a run. tf.unstack makes a list of its rows where their "
        "number is known, tf.map_fn and tf.while_loop go through them in the "
        "run." % self.name)


def _len(self):
    raise TypeError("len is not well defined for symbolic Tensors. (%s) Please "
                    "call `x.shape` rather than `len(x)` for shape "
                    "information." % self.name)


def _array(self, *args, **kwargs):
    raise NotImplementedError("Cannot convert a symbolic Tensor (%s) to a "
                              "numpy array." % self.name)


def _own_attributes(node):
    """What a program keeps on a tensor or operation. The graph has it: the
    object itself lives only as long as something refers to it."""
    store = node.graph.__dict__.setdefault("_attributes_of_nodes", {})
    if isinstance(node, Tensor):
        return store, (node.op._id, node.value_index)
    return store, node._id


def _get_attribute(self, name):
    store, key = _own_attributes(self)
    try:
        return store[key][name]
    except KeyError:
        raise AttributeError("'%s' object has no attribute '%s'" % (
            type(self).__name__, name)) from None


def _keep_attribute(self, name, value):
    store, key = _own_attributes(self)
    store.setdefault(key, {})[name] = value


def _set_attribute(self, name, value):
    if hasattr(type(self), name):
        object.__setattr__(self, name, value)  # its setter, or the error
    else:
        _keep_attribute(self, name, value)


def replaceable(name, get):
    """A property of Tensor that a program may put its own value in place of."""
    def own_or_ours(tensor):
        store, key = _own_attributes(tensor)
        own = store.get(key, {})
        return own[name] if name in own else get(tensor)
    return property(own_or_ours,
                    lambda tensor, value: _keep_attribute(tensor, name, value))


def _delete_attribute(self, name):
    _get_attribute(self, name)
    store, key = _own_attributes(self)
    del store[key][name]


for _node in Tensor, _headrace.Operation:
    for _name, _function in (("__getattr__", _get_attribute),
                             ("__setattr__", _set_attribute),
                             ("__delattr__", _delete_attribute)):
        setattr(_node, _name, _function)

Tensor.__doc__ = """An output of an operation: a value that a session computes.

`dtype`, `shape` (as far as it is known), `op`, `name`, `graph`. Operators make
nodes: x + y, x[1:]. A tensor has no value of its own: Session.run or eval() give
it, and `if x` and `for y in x` raise TypeError."""
Tensor.eval = _eval
Tensor.shape = property(  # type: ignore
    lambda self: TensorShape(self._shape_list()),
    doc="The TensorShape, as far as it is known.")
Tensor.get_shape = lambda self: TensorShape(self._shape_list())
Tensor.set_shape = lambda self, shape: self._set_shape(shape)
Tensor.__str__ = _str  # type: ignore
Tensor.__repr__ = _repr  # type: ignore
Tensor.__bool__ = Tensor.__nonzero__ = _bool  # both of Pythons 3 and 2
Tensor.__iter__ = _iter
Tensor.__len__ = _len
Tensor.__array__ = _array
Tensor.__array_priority__ = 100
Tensor._as_graph_element = lambda self: self
