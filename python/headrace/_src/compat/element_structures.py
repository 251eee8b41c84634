"""tensorflow.python.data.util.structure and sparse: elements of datasets as flat
lists of tensors, and what is known of them. Structures are those of
compat/data_nest.py: a list is a value."""
from headrace._headrace import Tensor
from headrace._src.compat import data_nest as nest
from headrace._src.control.tensor_array import TensorArray
from headrace._src.data.datasets import Dataset
from headrace._src.data.iterators import Optional
from headrace._src.data.structures import DatasetSpec, OptionalSpec
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import type_specs as _specs
from headrace._src.ops.sparse_tensor import SparseTensor, is_sparse
from headrace._src.ops.type_specs import (
    SparseTensorSpec, TensorSpec, TypeSpec)
from headrace._src.sparse import sparse_ops as _sparse

_specs.register_type_spec_from_value_converter(
    Dataset, DatasetSpec.from_value, allow_subclass=True)
_specs.register_type_spec_from_value_converter(
    Optional, OptionalSpec.from_value, allow_subclass=True)


def type_spec_from_value(element, use_fallback=True):
    """The structure of TypeSpecs of an element. `use_fallback`: what converts
    to a tensor is a tensor. TypeError for other values."""
    spec = _specs._spec_of(element)
    if spec is not None:
        return spec
    if isinstance(element, dict):
        specs = element.copy()
        for key in element:
            specs[key] = type_spec_from_value(element[key])
        return specs
    if isinstance(element, tuple):
        specs = [type_spec_from_value(value) for value in element]
        return (type(element)(*specs) if hasattr(element, "_fields")
                else tuple(specs))
    if not use_fallback:
        raise TypeError("Could not build a TypeSpec for %r with type %s"
                        % (element, type(element).__name__))
    return _specs.type_spec_from_value(element)


def normalize_element(element):
    """The element with tensors in the place of what converts to them."""
    parts = []
    with name_scope("normalize_element"):
        for i, part in enumerate(nest.flatten(element)):
            name = "component_%d" % i
            if is_sparse(part):
                parts.append(SparseTensor.from_value(part))
            elif isinstance(part, (TensorArray, Dataset)) or (
                    not isinstance(part, Tensor)
                    and _specs._spec_of(part) is not None):
                parts.append(part)
            else:
                parts.append(convert_to_tensor(part, name=name))
    return nest.pack_sequence_as(element, parts)


def convert_legacy_structure(output_types, output_shapes, output_classes):
    """The structure of TypeSpecs of the structures of types, shapes and classes
    that iterators are made of. TypeError for other classes."""
    def spec(dtype, shape, cls):
        if isinstance(cls, TypeSpec):
            return cls
        if issubclass(cls, SparseTensor):
            return SparseTensorSpec(shape, dtype)
        if issubclass(cls, Tensor):
            return TensorSpec(shape, dtype)
        raise TypeError("Could not build a structure for output class %r"
                        % (cls,))
    return nest.pack_sequence_as(output_classes, [
        spec(*parts) for parts in zip(*(
            nest.flatten(s)
            for s in (output_types, output_shapes, output_classes)))])


def get_flat_tensor_specs(element_spec):
    """The TensorSpecs of the tensors that an element consists of."""
    return [tensor for spec in nest.flatten(element_spec)
            for tensor in spec._flat_tensor_specs]


def get_flat_tensor_shapes(element_spec):
    """The shapes of the tensors that an element consists of."""
    return [spec.shape for spec in get_flat_tensor_specs(element_spec)]


def get_flat_tensor_types(element_spec):
    """The types of the tensors that an element consists of."""
    return [spec.dtype for spec in get_flat_tensor_specs(element_spec)]


def _parts(element_spec, element):
    nest.assert_same_structure(element_spec, element)
    return zip(nest.flatten(element_spec), nest.flatten(element))


def to_tensor_list(element_spec, element):
    """The tensors that an element consists of. ValueError and TypeError for one
    of another structure."""
    return [tensor for spec, part in _parts(element_spec, element)
            for tensor in spec._to_tensor_list(part)]


def to_batched_tensor_list(element_spec, element):
    """The tensors of an element that is a batch of others. ValueError for
    scalars."""
    return [tensor for spec, part in _parts(element_spec, element)
            for tensor in spec._to_batched_tensor_list(part)]


def _from_list(method, element_spec, tensor_list):
    specs = nest.flatten(element_spec)
    sizes = [len(spec._flat_tensor_specs) for spec in specs]
    if sum(sizes) != len(tensor_list):
        raise ValueError("Expected %d tensors but got %d."
                         % (sum(sizes), len(tensor_list)))
    parts, start = [], 0
    for spec, size in zip(specs, sizes):
        parts.append(getattr(spec, method)(tensor_list[start:start + size]))
        start += size
    return nest.pack_sequence_as(element_spec, parts)


def from_tensor_list(element_spec, tensor_list):
    """The element of these tensors. ValueError for another number of them, or
    ones that do not fit."""
    return _from_list("_from_tensor_list", element_spec, tensor_list)


def from_compatible_tensor_list(element_spec, tensor_list):
    """The element of these tensors, which must fit."""
    return _from_list("_from_compatible_tensor_list", element_spec,
                      tensor_list)


def are_compatible(spec1, spec2):
    """Whether elements of one structure can be those of the other."""
    try:
        nest.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    return all(a.is_compatible_with(b) and b.is_compatible_with(a)
               for a, b in zip(nest.flatten(spec1), nest.flatten(spec2)))


# Sparse tensors.

def any_sparse(classes):
    """Whether one of a structure of classes is SparseTensor."""
    return any(c is SparseTensor for c in nest.flatten(classes))


def _where_sparse(structure, classes, value):
    return nest.pack_sequence_as(structure, [
        value if c is SparseTensor else part
        for part, c in zip(nest.flatten(structure), nest.flatten(classes))])


def as_dense_shapes(shapes, classes):
    """The shapes, unknown ones where the class is SparseTensor."""
    return _where_sparse(shapes, classes, TensorShape(None))


def as_dense_types(types, classes):
    """The types, variant where the class is SparseTensor."""
    return _where_sparse(types, classes, dtypes.variant)


def get_classes(tensors):
    """SparseTensor or Tensor in the place of each."""
    return nest.pack_sequence_as(tensors, [
        SparseTensor if isinstance(x, SparseTensor) else Tensor
        for x in nest.flatten(tensors)])


def _serialized(tensors, serialize):
    return nest.pack_sequence_as(tensors, [
        serialize(x, out_type=dtypes.variant) if is_sparse(x) else x
        for x in nest.flatten(tensors)])


def serialize_sparse_tensors(tensors):
    """The tensors, sparse ones as [3] variants."""
    return _serialized(tensors, _sparse.serialize_sparse)


def serialize_many_sparse_tensors(tensors):
    """The tensors, sparse ones as [rows, 3] variants."""
    return _serialized(tensors, _sparse.serialize_many_sparse)


def deserialize_sparse_tensors(tensors, types, shapes, classes):
    """The tensors that serialize_sparse_tensors was given."""
    parts = [nest.flatten(s) for s in (tensors, types, shapes, classes)]
    return nest.pack_sequence_as(types, [
        _sparse.deserialize_sparse(x, dtype=dtype, rank=shape.ndims)
        if c is SparseTensor else x for x, dtype, shape, c in zip(*parts)])
