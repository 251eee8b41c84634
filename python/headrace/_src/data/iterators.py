"""tf.data.Iterator and Optional: taking a dataset's elements in a graph."""
from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.data.elements import (
    Typed, attrs, flatten, normalize, pack_values, same_types, spec_of)
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.variables.saveables import SaveableObject, SaveSpec

# The collection of the resources of all iterators.
GLOBAL_ITERATORS = "iterators"


class IteratorSaveable(SaveableObject):
    """The place of an iterator, saved as the variant `key`."""

    def __init__(self, iterator_resource, name, key):
        spec = SaveSpec(_raw.SerializeIterator(iterator_resource), "", key)
        super().__init__(iterator_resource, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        with _graph.colocate_with(self.op):
            return _raw.DeserializeIterator(self.op, restored_tensors[0])


class Iterator(Typed):
    """A place in a sequence that the runs of a session share: `initializer`, if
    it is not None, makes `iterator_resource` begin.

    get_next() gives the next element, tensors of `output_types` and
    `output_shapes`; the run raises OutOfRangeError at the end and
    FailedPreconditionError before `initializer` has run. make_initializer()
    raises TypeError for a dataset of other types, ValueError for one of other
    shapes."""

    def __init__(self, iterator_resource, initializer, output_types,
                 output_shapes, output_classes):
        self._become(iterator_resource, initializer, spec_of(
            output_types, output_shapes, output_classes))

    @classmethod
    def _of(cls, iterator_resource, initializer, spec):
        made = cls.__new__(cls)
        made._become(iterator_resource, initializer, spec)
        return made

    def _become(self, iterator_resource, initializer, spec):
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._spec = spec
        self._string_handle = _raw.IteratorToStringHandle(iterator_resource)
        _graph.add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None,
                       output_classes=None):
        """An iterator for any dataset of this structure; see
        make_initializer."""
        if executing_eagerly():
            raise RuntimeError("Iterator.from_structure is not supported when "
                               "eager execution is enabled: use `for` over a "
                               "dataset.")
        spec = spec_of(output_types, output_shapes, output_classes)
        return Iterator._of(_raw.IteratorV2(
            container="", shared_name=shared_name or "", **attrs(spec)),
            None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None,
                           output_classes=None):
        """The iterator that the scalar string `string_handle` names."""
        spec = spec_of(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, dtype=_dtypes.string)
        return Iterator._of(_raw.IteratorFromStringHandleV2(
            handle, **attrs(spec)), None, spec)

    @property
    def initializer(self):
        """The operation to run before the first element is taken."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that begins to iterate `dataset`."""
        if not same_types(self._spec, dataset._spec):
            raise TypeError(
                "Expected output types %r but got dataset with output types %r."
                % (self.output_types, dataset.output_types))
        for mine, other in zip(flatten(self._spec), flatten(dataset._spec)):
            if not mine.shape.is_compatible_with(other.shape):
                raise TypeError(
                    "Expected output shapes compatible with %r but got dataset "
                    "with output shapes %r."
                    % (self.output_shapes, dataset.output_shapes))
        with _graph.colocate_with(self._iterator_resource):
            return _raw.MakeIterator(
                dataset._variant_tensor, self._iterator_resource,
                name=name or "make_initializer")

    def get_next(self, name=None):
        """The next element, when it is run. OutOfRangeError at the end."""
        out = _raw.IteratorGetNext(self._iterator_resource, name=name,
                                   **attrs(self._spec))
        return pack_values(self._spec, out)

    def get_next_as_optional(self):
        return Optional(_raw.IteratorGetNextAsOptional(
            self._iterator_resource, **attrs(self._spec)), self._spec)

    def string_handle(self, name=None):
        """A scalar string that names the iterator."""
        if name is None:
            return self._string_handle
        return _raw.IteratorToStringHandle(self._iterator_resource, name=name)

    # What tf.train.Checkpoint saves of it.

    def _checkpoint_children(self):
        return []

    def _checkpoint_saveable(self, key):
        """The saveable of its attribute "ITERATOR", which has that key."""
        known = self.__dict__.setdefault("_saveables", {})
        if key not in known:
            known[key] = IteratorSaveable(self._iterator_resource, key,
                                          key + "_STATE")
        return known[key]


class Optional:
    """An element, or nothing."""

    def __init__(self, variant_tensor, spec):
        self._variant_tensor = variant_tensor
        self._spec = spec

    @staticmethod
    def from_value(value):
        spec, flat = normalize(value)
        return Optional(_raw.OptionalFromValue(flat), spec)

    @staticmethod
    def none_from_structure(value_structure):
        """Nothing, where there might be what a structure of TypeSpecs says."""
        from headrace._src.data.structures import leaves_of
        return Optional(_raw.OptionalNone(), leaves_of(value_structure))

    @property
    def value_structure(self):
        """The structure of the value, with a TypeSpec at each leaf."""
        from headrace._src.data.structures import specs_of
        return specs_of(self._spec)

    def has_value(self, name=None):
        return _raw.OptionalHasValue(self._variant_tensor, name=name)

    def get_value(self, name=None):
        out = _raw.OptionalGetValue(self._variant_tensor, name=name,
                                    **attrs(self._spec))
        return pack_values(self._spec, out)
