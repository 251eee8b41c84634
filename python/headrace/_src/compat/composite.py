"""tensorflow.python.framework.composite_tensor and composite_tensor_utils: values
that consist of tensors."""
import abc

import numpy as np

from headrace._src.framework import nest
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.ops.array_ops import concat
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.ragged.ragged_tensor import RaggedTensor
from headrace._src.ragged.ragged_value import RaggedTensorValue
from headrace._src.sparse.sparse_ops import sparse_concat


class CompositeTensor(abc.ABC):
    """A value that consists of tensors, which Session.run fetches and loops
    carry. A subclass has a property `_type_spec`, a TypeSpec."""

    _composite = True

    @property
    @abc.abstractmethod
    def _type_spec(self):
        raise NotImplementedError("%s._type_spec" % type(self).__name__)

    def _flow_components(self):
        return self._type_spec._to_tensor_list(self)

    def _from_flow_components(self, components):
        return self._type_spec._from_compatible_tensor_list(list(components))

    def _fetch_components(self):
        # Its class takes values as it takes tensors, so they come as a list.
        return self._flow_components(), list

    def consumers(self):
        """The operations that read one of its tensors."""
        return [op for part in self._flow_components()
                for op in part.consumers()]

    _consumers = consumers

    def _to_components(self):
        return self._type_spec._to_components(self)

    def _component_metadata(self):
        return self._type_spec

    @staticmethod
    def _from_components(components, metadata):
        return metadata._from_components(components)

    def _shape_invariant_to_type_spec(self, shape):
        """The TypeSpec for a loop variable of this shape. A class that loops
        are to carry with a shape invariant defines it."""
        raise NotImplementedError("%s._shape_invariant_to_type_spec"
                                  % type(self).__name__)

    @property
    def _is_graph_tensor(self):
        """Whether one of its parts is of a graph."""
        return any(hasattr(x, "graph") for x in nest.flatten(
            self._to_components(), expand_composites=True))


CompositeTensor.register(SparseTensor)
CompositeTensor.register(IndexedSlices)
CompositeTensor.register(RaggedTensor)


def replace_composites_with_components(structure):
    """A structure in which the components stand for a CompositeTensor."""
    if isinstance(structure, CompositeTensor):
        return replace_composites_with_components(
            structure._type_spec._to_components(structure))
    if not nest.is_nested(structure):
        return structure
    return nest.map_structure(replace_composites_with_components, structure)


def is_composite_or_composite_value(tensor):
    """True for a CompositeTensor and for the value of a sparse or ragged
    one."""
    return isinstance(tensor, (CompositeTensor, SparseTensorValue,
                               RaggedTensorValue))


def get_shape(tensor):
    """The shape of a composite tensor, or of a value."""
    return (tensor.dense_shape if isinstance(tensor, SparseTensorValue)
            else tensor.shape)


def append_composite_tensor(target, to_append):
    """Both along the first dimension, which is that of the batch: sparse or
    ragged tensors, or their values. RuntimeError for others, for different
    types and for shapes that do not fit. The result's first dimension ends with
    the last sparse element of `to_append`."""
    if type(target) is not type(to_append):
        raise RuntimeError("Unable to concatenate %s and %s"
                           % (type(target), type(to_append)))
    if isinstance(target, SparseTensor):
        return sparse_concat(axis=0, sp_inputs=[target, to_append])
    if isinstance(target, RaggedTensor):
        return concat([target, to_append], axis=0)
    if isinstance(target, SparseTensorValue):
        return _append_sparse_value(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _append_ragged_value(target, to_append)
    raise RuntimeError("Attempted to concatenate unsupported object %s."
                       % type(target))


def _append_sparse_value(a, b):
    left, right = tuple(a.dense_shape), tuple(b.dense_shape)
    if len(left) != len(right) or left[1:] != right[1:]:
        raise RuntimeError(
            "Unable to concatenate %s and %s. The inner dense shapes do not "
            "match (%s vs %s)" % (a, b, left, right))
    moved = np.array(b.indices)
    if moved.size:
        moved[:, 0] += left[0]
    last = max([left[0], *moved[:, 0]]) if moved.size else left[0]
    return SparseTensorValue(
        np.concatenate((a.indices, moved)) if moved.size else a.indices,
        np.concatenate((a.values, b.values)), (last + 1, *left[1:]))


def _append_ragged_value(a, b):
    if len(a.shape) != len(b.shape) or a.shape[1:] != b.shape[1:]:
        raise RuntimeError("Unable to concatenate %s and %s" % (a, b))
    splits = np.append(a.row_splits, b.row_splits[1:] + a.row_splits[-1])
    values = (_append_ragged_value(a.values, b.values)
              if isinstance(a.values, RaggedTensorValue)
              else np.concatenate((a.values, b.values)))
    return RaggedTensorValue(values, splits)
