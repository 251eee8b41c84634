"""TypeSpecs of the elements of datasets, and datasets as variant tensors."""
from headrace._headrace import Tensor
from headrace._loading import load
from headrace._src.data.datasets import Dataset, DatasetLeaf
from headrace._src.data.elements import SparseLeaf, TensorLeaf, map_leaves
from headrace._src.data.iterators import Iterator, Optional
from headrace._src.framework import dtypes
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.ops.type_specs import SparseTensorSpec, TensorSpec, TypeSpec


class DatasetSpec(TypeSpec):
    """Datasets whose elements have the structure `element_spec`."""
    __slots__ = ("_element_spec", "_dataset_shape")

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    value_type = property(lambda self: Dataset)
    _component_specs = property(
        lambda self: TensorSpec(self._dataset_shape, dtypes.variant))

    @staticmethod
    def from_value(value):
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def _serialize(self):
        return self._element_spec, self._dataset_shape

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        return from_variant(components, self._element_spec)


class OptionalSpec(TypeSpec):
    """Optionals whose values have the structure `value_structure`."""
    __slots__ = ("_value_structure",)

    def __init__(self, value_structure):
        self._value_structure = value_structure

    value_type = property(lambda self: Optional)
    _component_specs = property(lambda self: TensorSpec([], dtypes.variant))

    @staticmethod
    def from_value(value):
        """The spec of an Optional."""
        return OptionalSpec(value.value_structure)

    def _serialize(self):
        return self._value_structure,

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        return Optional(components, leaves_of(self._value_structure))


def TensorStructure(dtype, shape):
    """tf.TensorSpec(shape, dtype)."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype, shape):
    """tf.SparseTensorSpec(shape, dtype)."""
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype, shape, ragged_rank):
    """tf.RaggedTensorSpec(shape, dtype, ragged_rank)."""
    return load("_src.ragged.ragged_spec").RaggedTensorSpec(shape, dtype,
                                                            ragged_rank)


def leaves_of(structure):
    """The spec of elements, as elements.py has it, of a structure of
    TypeSpecs."""
    def leaf(spec):
        if isinstance(spec, TensorSpec):
            return TensorLeaf(spec.dtype, spec.shape)
        if isinstance(spec, SparseTensorSpec):
            return SparseLeaf(spec.dtype, spec.shape)
        if hasattr(spec, "_leaf"):  # a RaggedTensorSpec
            return spec._leaf()
        if isinstance(spec, DatasetSpec):
            return DatasetLeaf(leaves_of(spec._element_spec))
        raise TypeError("elements of datasets cannot have a part of %r"
                        % (spec,))
    return map_leaves(leaf, structure)


def specs_of(leaves):
    """The structure of TypeSpecs of a spec of elements."""
    def spec(leaf):
        if leaf.cls is Tensor:
            return TensorSpec(leaf.shape, leaf.type)
        if leaf.cls is SparseTensor:
            return SparseTensorSpec(leaf.shape, leaf.type)
        if isinstance(leaf.cls, TypeSpec):  # of a ragged tensor
            return leaf.cls
        return DatasetSpec(specs_of(leaf.spec))
    return map_leaves(spec, leaves)


def get_structure(dataset_or_iterator):
    """The structure of the elements of a dataset or an iterator, with a
    TypeSpec at each leaf. TypeError for other things."""
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but "
            "got %s." % type(dataset_or_iterator))
    return specs_of(dataset_or_iterator._spec)


def to_variant(dataset):
    """The scalar variant tensor of a dataset."""
    return dataset._variant_tensor


def from_variant(variant, structure):
    """The dataset that is the scalar tensor `variant`; `structure`, of
    TypeSpecs, says what its elements are."""
    return Dataset(variant, leaves_of(structure))
