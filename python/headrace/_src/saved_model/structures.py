"""Python's values in SavedModels: lists, dicts, numbers, shapes and TensorSpecs
as StructuredValue messages, and back."""
import collections

from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework.messages import StructuredValue
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops.type_specs import TensorSpec, TypeSpec

# Other TypeSpecs by their number in TypeSpecProto: where the class is.
_TYPE_SPECS = {1: ("ops.type_specs", "SparseTensorSpec"),
               2: ("ops.type_specs", "IndexedSlicesSpec"),
               3: ("ragged.ragged_spec", "RaggedTensorSpec"),
               5: ("data.structures", "DatasetSpec"),
               7: ("data.structures", "OptionalSpec")}
_NUMBERS = {name: number for number, (_, name) in _TYPE_SPECS.items()}


def encoded(value):
    """The StructuredValue of a value. ValueError for what has none."""
    made = StructuredValue()
    encode(value, made)
    return made


def encode(value, into):
    """Writes a value into a StructuredValue."""
    if value is None:
        into.none_value.SetInParent()
    elif isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, int):
        into.int64_value = value
    elif isinstance(value, float):
        into.float64_value = value
    elif isinstance(value, str):
        into.string_value = value
    elif isinstance(value, TensorShape):
        into.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, dtypes.DType):
        into.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TensorSpec):
        spec = into.tensor_spec_value
        spec.name = value.name or ""
        spec.shape.CopyFrom(TensorShape(value.shape).as_proto())
        spec.dtype = value.dtype.as_datatype_enum
    elif isinstance(value, TypeSpec) and type(value).__name__ in _NUMBERS:
        spec = into.type_spec_value
        spec.type_spec_class = _NUMBERS[type(value).__name__]
        spec.type_spec_class_name = type(value).__name__
        encode(value._serialize(), spec.type_state)
    elif isinstance(value, dict):
        into.dict_value.SetInParent()
        for key, x in value.items():
            encode(x, into.dict_value.fields[key])
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        into.named_tuple_value.name = type(value).__name__
        for key, x in zip(value._fields, value):
            pair = into.named_tuple_value.values.add()
            pair.key = key
            encode(x, pair.value)
    elif isinstance(value, tuple):
        into.tuple_value.SetInParent()
        for x in value:
            encode(x, into.tuple_value.values.add())
    elif isinstance(value, list):
        into.list_value.SetInParent()
        for x in value:
            encode(x, into.list_value.values.add())
    else:
        raise ValueError("No encoder for object %r of type %s: a SavedModel has "
                         "numbers, strings, None, TypeSpecs, shapes, and "
                         "lists, tuples and dicts of these"
                         % (value, type(value).__name__))


def decoded(message):
    """The value of a StructuredValue. ValueError for a kind that is not
    known."""
    kind = message.WhichOneof("kind")
    value = getattr(message, kind) if kind else None
    if kind in (None, "none_value"):
        return None
    if kind in ("bool_value", "int64_value", "float64_value", "string_value"):
        return value
    if kind == "tensor_shape_value":
        return TensorShape(value)
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return TensorSpec(TensorShape(value.shape), dtypes.as_dtype(value.dtype),
                          value.name or None)
    if kind == "type_spec_value" and value.type_spec_class in _TYPE_SPECS:
        module, name = _TYPE_SPECS[value.type_spec_class]
        return getattr(load("_src." + module), name)(
            *decoded(value.type_state))
    if kind == "list_value":
        return [decoded(x) for x in value.values]
    if kind == "tuple_value":
        return tuple(decoded(x) for x in value.values)
    if kind == "dict_value":
        return {key: decoded(x) for key, x in value.fields.items()}
    if kind == "named_tuple_value":
        fields = [pair.key for pair in value.values]
        return collections.namedtuple(value.name or "Fields", fields)(
            *(decoded(pair.value) for pair in value.values))
    raise ValueError("The SavedModel has a value of the kind %s, which is not "
                     "supported" % kind)
