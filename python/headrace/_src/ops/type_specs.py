"""TypeSpecs: what is known of a value without having it - its class, types and
shapes - and how it is made of tensors."""
import collections.abc

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.framework import dtypes, nest
from headrace._src.framework.indexed_slices import (
    IndexedSlices, IndexedSlicesValue)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape, as_shape
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue


class TypeSpec:
    """Describes values of one Python type. A subclass defines `value_type`,
    `_serialize()`, which returns the arguments of its constructor,
    `_component_specs`, and `_to_components(value)` and
    `_from_components(components)`, which take values apart and put them
    together. The rest follows from these."""
    __slots__ = ()

    @property
    def value_type(self):
        """The class of the values."""
        raise NotImplementedError("%s.value_type" % type(self).__name__)

    @property
    def _component_specs(self):
        raise NotImplementedError("%s._component_specs()"
                                  % type(self).__name__)

    def _serialize(self):
        raise NotImplementedError("%s._serialize()" % type(self).__name__)

    def _to_components(self, value):
        raise NotImplementedError("%s._to_components()" % type(self).__name__)

    def _from_components(self, components):
        raise NotImplementedError("%s._from_components()"
                                  % type(self).__name__)

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or all values of another spec, may be of this one:
        types are equal and shapes compatible."""
        other = (spec_or_value if isinstance(spec_or_value, TypeSpec)
                 else type_spec_from_value(spec_or_value))
        return type(self) is type(other) and _compatible(self._serialize(),
                                                         other._serialize())

    def most_specific_compatible_type(self, other):
        """The narrowest spec that holds for the values of both. ValueError if
        there is none."""
        if type(self) is not type(other):
            raise ValueError("No TypeSpec is compatible with both %s and %s"
                             % (self, other))
        return self._deserialize(_common(self._serialize(),
                                         other._serialize()))

    # As flat lists of tensors.

    @property
    def _flat_tensor_specs(self):
        return [tensor for spec in nest.flatten(self._component_specs)
                for tensor in ([spec] if spec is self or isinstance(
                    spec, TensorSpec) else spec._flat_tensor_specs)]

    def _to_tensor_list(self, value):
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list):
        """The value that consists of these tensors. ValueError if they do not
        fit."""
        wanted = self._flat_tensor_specs
        if len(wanted) != len(tensor_list):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (tensor, spec) in enumerate(zip(tensor_list, wanted)):
            if not type_spec_from_value(tensor).is_compatible_with(spec):
                raise ValueError("Incompatible input: tensor %d (%s) is "
                                 "incompatible with %s" % (i, tensor, spec))
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list):
        rest = iter(tensor_list)
        parts = [next(rest) if isinstance(spec, TensorSpec)
                 else spec._from_compatible_tensor_list(
                     [next(rest) for _ in spec._flat_tensor_specs])
                 for spec in nest.flatten(self._component_specs)]
        return self._from_components(nest.pack_sequence_as(
            self._component_specs, parts))

    def _to_legacy_output_classes(self):
        return self.value_type

    def __eq__(self, other):
        return type(self) is type(other) and (
            _key(self._serialize()) == _key(other._serialize()))

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), _key(self._serialize())))

    def __reduce__(self):
        return type(self), self._serialize()

    def __repr__(self):
        return "%s%r" % (type(self).__name__, self._serialize())


class BatchableTypeSpec(TypeSpec):
    """One whose values can be stacked: it has `_batch(batch_size)` and
    `_unbatch()`."""
    __slots__ = ()

    def _batch(self, batch_size):
        raise NotImplementedError("%s._batch" % type(self).__name__)

    def _unbatch(self):
        raise NotImplementedError("%s._unbatch" % type(self).__name__)

    def _to_batched_tensor_list(self, value):
        tensors = self._to_tensor_list(value)
        if any(t.shape.ndims == 0 for t in tensors):
            raise ValueError("Value %s has insufficient rank for batching."
                             % value)
        return tensors


def _key(value):
    """What is serialized, as a key."""
    if isinstance(value, TensorShape):
        return (TensorShape,) + (
            (None,) if value.ndims is None else tuple(value.as_list()))
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, collections.abc.Mapping):
        return tuple((_key(k), _key(value[k])) for k in sorted(value))
    if isinstance(value, (tuple, list)):
        return tuple(_key(v) for v in value)
    if value is None or isinstance(value, (bool, int, float, str, bytes, type,
                                           dtypes.DType, TypeSpec)):
        return value
    raise ValueError("Unsupported value type %s returned by a TypeSpec's "
                     "_serialize()" % type(value).__name__)


def _compatible(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_compatible, a, b))
    if isinstance(a, collections.abc.Mapping):
        return sorted(a) == sorted(b) and all(_compatible(a[k], b[k])
                                              for k in a)
    if isinstance(a, (TypeSpec, TensorShape, dtypes.DType)):
        return a.is_compatible_with(b)
    return a == b


def _common(a, b):
    if type(a) is type(b):
        if isinstance(a, tuple) and len(a) == len(b):
            parts = [_common(x, y) for x, y in zip(a, b)]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, collections.abc.Mapping) and sorted(a) == sorted(b):
            return type(a)((k, _common(a[k], b[k])) for k in a)
        if isinstance(a, TensorShape):
            return a.most_specific_compatible_shape(b)
        if isinstance(a, list):
            raise AssertionError("_serialize() should not return list values.")
        if isinstance(a, TypeSpec):
            return a.most_specific_compatible_type(b)
        if not isinstance(a, (tuple, collections.abc.Mapping)) and a == b:
            return a
    raise ValueError("Types are not compatible: %r vs %r" % (a, b))


# Tensors.

class TensorSpec(BatchableTypeSpec):
    """Tensors of a dtype whose shapes are compatible with `shape`."""
    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec, name=None):
        """What `spec` describes, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec of a tensor; its name is that of the node by default."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    value_type = property(lambda self: Tensor)
    _component_specs = property(lambda self: self)
    _flat_tensor_specs = property(lambda self: [self])

    def is_compatible_with(self, spec_or_tensor):
        """Whether a tensor or spec has this dtype and a compatible shape."""
        return (isinstance(spec_or_tensor, (TensorSpec, Tensor))
                and self._dtype.is_compatible_with(spec_or_tensor.dtype)
                and self._shape.is_compatible_with(spec_or_tensor.shape))

    def most_specific_compatible_type(self, other):
        if type(self) is not type(other) or self._dtype != other.dtype:
            raise ValueError("Types are not compatible: %r vs %r"
                             % (self, other))
        return TensorSpec(
            self._shape.most_specific_compatible_shape(other.shape),
            self._dtype, self._name if self._name == other.name else None)

    def _serialize(self):
        return self._shape, self._dtype, self._name

    def __hash__(self):
        return hash((_key(self._shape), self._dtype))

    __eq__ = TypeSpec.__eq__

    def __repr__(self):
        return "TensorSpec(shape=%s, dtype=%r, name=%r)" % (
            self._shape, self._dtype, self._name)

    def _to_components(self, value):
        try:
            tensor = convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            tensor = None
        if tensor is None or not tensor.shape.is_compatible_with(self._shape):
            raise ValueError("Value %r is not convertible to a tensor with "
                             "dtype %s and shape %s."
                             % (value, self._dtype, self._shape))
        return tensor

    def _from_components(self, components):
        return components

    def _from_compatible_tensor_list(self, tensor_list):
        tensor, = tensor_list
        tensor.set_shape(self._shape)
        return tensor

    def _batch(self, batch_size):
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape),
                          self._dtype)

    def _unbatch(self):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank "
                             ">= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape


class BoundedTensorSpec(TensorSpec):
    """Tensors whose elements lie from `minimum` to `maximum`: numbers, or
    arrays that broadcast to the shape."""
    __slots__ = ("_minimum", "_maximum")

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError("minimum and maximum must be provided; but saw "
                             "'%s' and '%s'" % (minimum, maximum))
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, name, value):
        try:
            _array.broadcast_static_shape(TensorShape(np.shape(value)),
                                          self._shape)
        except ValueError as error:
            raise ValueError("%s is not compatible with shape. Message: %r."
                             % (name, error)) from None
        value = np.array(value, dtype=self._dtype.as_numpy_dtype)
        value.setflags(write=False)
        return value

    @classmethod
    def from_spec(cls, spec):
        """What `spec` describes; without bounds, those of its dtype."""
        dtype = dtypes.as_dtype(spec.dtype)
        return BoundedTensorSpec(
            spec.shape, dtype,
            spec.minimum if hasattr(spec, "minimum") else dtype.min,
            spec.maximum if hasattr(spec, "maximum") else dtype.max, spec.name)

    minimum = property(lambda self: self._minimum)
    maximum = property(lambda self: self._maximum)

    def __repr__(self):
        return ("BoundedTensorSpec(shape=%s, dtype=%r, name=%r, minimum=%r, "
                "maximum=%r)" % (self._shape, self._dtype, self._name,
                                 self._minimum, self._maximum))

    def __eq__(self, other):
        return TensorSpec.__eq__(self, other) and (
            np.allclose(self._minimum, other.minimum)
            and np.allclose(self._maximum, other.maximum))

    __hash__ = TensorSpec.__hash__

    def _serialize(self):
        return (self._shape, self._dtype, self._minimum, self._maximum,
                self._name)


# What consists of several tensors.

class IndexedSlicesSpec(TypeSpec):
    """IndexedSlices of a dense shape, with values and indices of these types;
    dense_shape_dtype None: those without a dense_shape. indices_shape tells
    the number of slices."""
    __slots__ = ("_shape", "_values_dtype", "_indices_dtype",
                 "_dense_shape_dtype", "_indices_shape")

    def __init__(self, shape=None, dtype=dtypes.float32,
                 indices_dtype=dtypes.int64, dense_shape_dtype=None,
                 indices_shape=None):
        self._shape = as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None
            else dtypes.as_dtype(dense_shape_dtype))
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    value_type = property(lambda self: IndexedSlices)

    def _serialize(self):
        return (self._shape, self._values_dtype, self._indices_dtype,
                self._dense_shape_dtype, self._indices_shape)

    @property
    def _component_specs(self):
        specs = [TensorSpec(self._indices_shape.concatenate(self._shape[1:]),
                            self._values_dtype),
                 TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.ndims],
                                    self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value):
        return tuple(value._components())

    def _from_components(self, components):
        if all(isinstance(x, np.ndarray) for x in components):
            return IndexedSlicesValue(*components, *[None] * (
                3 - len(components)))
        return IndexedSlices(*components)


class SparseTensorSpec(BatchableTypeSpec):
    """SparseTensors of a dense shape and a dtype."""
    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    value_type = property(lambda self: SparseTensor)

    @classmethod
    def from_value(cls, value):
        """The spec of a SparseTensor or a SparseTensorValue."""
        if isinstance(value, SparseTensorValue):
            if isinstance(value.values, np.ndarray):
                return cls(value.dense_shape, value.values.dtype)
            value = SparseTensor.from_value(value)
        if not isinstance(value, SparseTensor):
            raise TypeError("Expected SparseTensor or SparseTensorValue")
        return cls(value.shape, value.dtype)

    def _serialize(self):
        return self._shape, self._dtype

    @property
    def _component_specs(self):
        rank = self._shape.ndims
        return [TensorSpec([None, rank], dtypes.int64),
                TensorSpec([None], self._dtype),
                TensorSpec([rank], dtypes.int64)]

    def _to_components(self, value):
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        if all(isinstance(x, np.ndarray) for x in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    # As a dataset holds it: one variant of [3], or of [rows, 3].

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        value = SparseTensor.from_value(value)
        return [_raw.SerializeSparse(value.indices, value.values,
                                     value.dense_shape,
                                     out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value):
        if self._shape.merge_with(value.shape).ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for "
                             "rank >= 1")
        return [_raw.SerializeManySparse(value.indices, value.values,
                                         value.dense_shape,
                                         out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list):
        value = SparseTensor(*_raw.DeserializeSparse(tensor_list[0],
                                                     self._dtype))
        rank = self._shape.ndims
        value.indices.set_shape([None, rank])
        value.dense_shape.set_shape([rank])
        return value

    def _batch(self, batch_size):
        return SparseTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank "
                             ">= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape


# Specs of values.

_converters: list = []  # (class, function, whether for subclasses, too)


def register_type_spec_from_value_converter(type_object, converter_fn,
                                            allow_subclass=False):
    """Lets type_spec_from_value take objects of a class: converter_fn returns
    the spec of one."""
    _converters.append((type_object, converter_fn, allow_subclass))


def _spec_of(value):
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, SparseTensorValue):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        return IndexedSlicesSpec(
            value.shape, value.values.dtype, value.indices.dtype,
            None if value.dense_shape is None else value.dense_shape.dtype,
            value.indices.get_shape())
    if hasattr(value, "_type_spec"):
        return value._type_spec
    for type_object, converter, allow_subclass in reversed(_converters):
        if type(value) is type_object or (
                allow_subclass and isinstance(value, type_object)):
            return converter(value)
    return None


def type_spec_from_value(value):
    """The TypeSpec of a value; one that converts to a tensor is a tensor.
    TypeError for others."""
    spec = _spec_of(value)
    if spec is None:
        try:
            spec = _spec_of(convert_to_tensor(value))
        except (TypeError, ValueError):
            raise TypeError("Could not build a TypeSpec for %r with type %s"
                            % (value, type(value).__name__)) from None
    return spec
