"""tensorflow.python.framework.composite_tensor: values that consist of
tensors."""
import abc

from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.ops.sparse_tensor import SparseTensor


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
        return self._type_spec._from_tensor_list(list(components))

    def _fetch_components(self):
        # Its class takes values as it takes tensors, so they come as a list.
        return self._flow_components(), list

    def consumers(self):
        """The operations that read one of its tensors."""
        return [op for part in self._flow_components()
                for op in part.consumers()]


CompositeTensor.register(SparseTensor)
CompositeTensor.register(IndexedSlices)
