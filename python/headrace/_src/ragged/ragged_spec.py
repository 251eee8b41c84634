"""RaggedTensorSpec: what is known of a RaggedTensor without having it, also as
an element of datasets."""
import numpy as np

from headrace._headrace import Tensor
from headrace._src.framework import dtypes
from headrace._src.framework.tensor_shape import TensorShape, as_shape
from headrace._src.ops.type_specs import (
    BatchableTypeSpec, TensorSpec, register_type_spec_from_value_converter)
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, RaggedTensorValue, as_value, convert, is_ragged)


class RaggedTensorSpec(BatchableTypeSpec):
    """RaggedTensors of a shape and dtype. `ragged_rank`: all dimensions but the
    outermost by default; 0 stands for plain Tensors.

    ValueError without ragged_rank for a shape of unknown rank, and for a
    ragged_rank that is too large; TypeError for one that is no int."""
    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None,
                 row_splits_dtype=dtypes.int64):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("a shape of unknown rank needs a ragged_rank")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank=%d is not below the rank, %d"
                             % (ragged_rank, rank))
        self._ragged_rank = ragged_rank

    @property
    def value_type(self):
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value):
        """The spec of a RaggedTensor or a RaggedTensorValue."""
        return cls(value.shape, value.flat_values.dtype, value.ragged_rank,
                   value.row_splits.dtype)

    def _serialize(self):
        return (self._shape, self._dtype, self._ragged_rank,
                self._row_splits_dtype)

    @property
    def _component_specs(self):
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        known = self._shape.ndims is not None
        rows = self._shape[0].value if known else None
        inner = self._shape[self._ragged_rank + 1:]
        splits = [None if rows is None else rows + 1]
        return [TensorSpec(TensorShape([None]).concatenate(inner),
                           self._dtype)] + [
            TensorSpec(splits if i == 0 else [None], self._row_splits_dtype)
            for i in range(self._ragged_rank)]

    def _to_components(self, value):
        if is_ragged(value):
            return [value.flat_values] + list(value.nested_row_splits)
        return [value]

    def _from_components(self, components):
        if len(components) > 1 and all(isinstance(x, np.ndarray)
                                       for x in components):
            return as_value(components[0], components[1:])
        return RaggedTensor._from_flow_components(components)

    # As a dataset holds it: one variant.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [convert(value)._to_variant(batched_input=False)]

    def _to_batched_tensor_list(self, value):
        return [convert(value)._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list):
        if self._ragged_rank <= 0:
            raise ValueError("an element of ragged_rank %d is no RaggedTensor"
                             % self._ragged_rank)
        value = RaggedTensor._from_variant(tensor_list[0], self._dtype,
                                           self._ragged_rank)
        if self._shape.ndims is not None:
            flat, outer, *_ = self._component_specs
            value.row_splits.set_shape(outer.shape)
            value.flat_values.set_shape(flat.shape)
        return value

    def _batch(self, batch_size):
        return RaggedTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape), self._dtype,
            self._ragged_rank + 1)

    def _unbatch(self):
        return RaggedTensorSpec(self._shape[1:], self._dtype,
                                self._ragged_rank - 1)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return self

    def _leaf(self):
        return RaggedLeaf(self)


register_type_spec_from_value_converter(RaggedTensorValue,
                                        RaggedTensorSpec.from_value)


class RaggedLeaf:
    """A ragged tensor as a leaf of the structure of a dataset's elements: see
    data.elements."""
    dtype = dtypes.variant
    flat_shape = TensorShape(None)

    def __init__(self, spec):
        self.cls = spec

    type = property(lambda self: self.cls._dtype)
    shape = property(lambda self: self.cls._shape)

    def value(self, tensor):
        return self.cls._from_compatible_tensor_list([tensor])

    def batched(self, n):
        return RaggedLeaf(self.cls._batch(n))

    def unbatched(self):
        return RaggedLeaf(self.cls._unbatch())

    def widened(self, other):
        try:
            spec = self.cls.most_specific_compatible_type(other.cls)
        except ValueError as error:
            raise TypeError("Elements of different types: %s" % error) from None
        return RaggedLeaf(spec)


def leaf_and_tensor(value, slices):
    """What a RaggedTensor is in a dataset, and the variant it becomes."""
    return RaggedLeaf(value._type_spec), value._to_variant(slices)
