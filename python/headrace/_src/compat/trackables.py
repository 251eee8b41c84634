"""tf.contrib.checkpoint: containers of objects and arrays of NumPy for
tf.train.Checkpoint, and what a checkpoint says of its objects."""
import collections.abc as _abc
import copy as _copy
import io as _io

import numpy as _np

from headrace._src.compat.tracking import Trackable
from headrace._src.framework.messages import TrackableObjectGraph
from headrace._src.training import object_graph as _objects
from headrace._src.training.checkpoint_reader import NewCheckpointReader
from headrace._src.training.python_state import PythonState
from headrace._src.variables.tracking import Container


class _Structure(Trackable, Container):
    """A container that tells checkpoints its elements. It equals itself only."""

    def _add(self, value, name):
        if not _objects.is_object(value):
            raise ValueError("%s: only objects that tf.train.Checkpoint follows "
                             "can be elements, got %r for %r"
                             % (type(self).__name__, value, name))
        return self._track_trackable(value, name)

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


class List(_Structure, _abc.Sequence):
    """A list to which objects are appended, and from which none is taken.

    The arguments are those of `list`. tf.train.Checkpoint saves the elements
    under their places "0", "1", ..., and a layer that has the List has its
    layers. ValueError for an element that has nothing to save."""

    def __init__(self, *args, **kwargs):
        self._storage = []
        self.extend(list(*args, **kwargs))

    def append(self, value):
        """Adds an object. ValueError for one that has nothing to save."""
        self._storage.append(self._add(value, str(len(self._storage))))

    def extend(self, values):
        """Appends each of `values`."""
        for value in values:
            self.append(value)

    def copy(self):
        """A List of the same objects."""
        return type(self)(self._storage)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return type(self)(_copy.deepcopy(self._storage, memo))

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __add__(self, other):
        return type(self)(self._storage + list(other))

    def __radd__(self, other):
        return type(self)(list(other) + self._storage)

    def __mul__(self, n):
        return type(self)(self._storage * n)

    __rmul__ = __mul__

    def __imul__(self, n):
        if n <= 0:
            raise ValueError("List only supports append, multiplying in place "
                             "by %d removes elements." % n)
        self.extend(self._storage * (n - 1))
        return self

    def __getitem__(self, key):
        return self._storage[key]

    def __len__(self):
        return len(self._storage)

    def __repr__(self):
        return "List(%r)" % (self._storage,)


class Mapping(_Structure, _abc.Mapping):
    """A dict with strings as keys, to which objects are added, and in which none
    is replaced.

    The arguments are those of `dict`. tf.train.Checkpoint saves the elements
    under their keys. TypeError for other keys; ValueError for an element that
    has nothing to save, and for another one under a key that is there."""

    def __init__(self, *args, **kwargs):
        self._storage = {}
        self.update(*args, **kwargs)

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError("Mapping accepts only string keys, but got a key %r."
                            % (key,))
        known = self._storage.get(key)
        if known is not None and known is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite "
                "the key '%s' with value %s, but it already contains %s"
                % (key, value, known))
        self._storage[key] = self._add(value, key)

    def update(self, *args, **kwargs):
        """Sets each key of a dict."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __copy__(self):
        return type(self)(self._storage)

    def __deepcopy__(self, memo):
        return type(self)(_copy.deepcopy(self._storage, memo))

    def __getitem__(self, key):
        return self._storage[key]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter(self._storage)

    def __repr__(self):
        return "Mapping(%r)" % (self._storage,)


class UniqueNameTracker(_Structure):
    """Objects under names that are made unique: "x", "x_1", "x_2"."""

    def __init__(self):
        self._counts = {}

    def track(self, trackable, base_name):
        """`trackable`, which is saved under `base_name`, or with a number behind
        it where that name is taken. ValueError for an object that has nothing
        to save."""
        if not _objects.is_object(trackable):
            raise ValueError("UniqueNameTracker: Expected a trackable value, got "
                             "%r for %r" % (trackable, base_name))
        count = self._counts.get(base_name, 0)

        def name():
            return "%s_%d" % (base_name, count) if count else base_name
        while self._lookup_dependency(name()) is not None:
            count += 1
        self._counts[base_name] = count + 1
        return self._add(trackable, name())

    def __iter__(self):
        return iter(self._told.values())


class _Array(PythonState):
    """An array of NumPy in the format of numpy.save."""

    def __init__(self, array):
        self.array = array

    def serialize(self):
        file = _io.BytesIO()
        _np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value):
        self.array = _np.load(_io.BytesIO(string_value), allow_pickle=False)


class NumpyState(Trackable):
    """An object whose attributes are arrays of NumPy, which tf.train.Checkpoint
    saves. Checkpoint.restore sets the attributes at once, also those that the
    object does not have yet; no session is needed.

    NotImplementedError for an attribute that is no array."""

    def _lookup_dependency(self, name):
        found = super()._lookup_dependency(name)
        if found is None:
            found = self._told[name] = _Array(_np.array([]))
        return found

    def __getattr__(self, name):
        told = self.__dict__.get("_told_by_name", {})
        if name not in told:
            raise AttributeError("NumpyState has no array %r" % name)
        return told[name].array

    def __setattr__(self, name, value):
        if not isinstance(value, (_np.ndarray, _np.generic)):
            raise NotImplementedError(
                "Assigned %s to the %s property of %s, which is not a NumPy "
                "array. Other objects are not supported beside arrays."
                % (value, name, self))
        self._lookup_dependency(name).array = value


def object_metadata(save_path):
    """The description of the objects of a checkpoint of tf.train.Checkpoint with
    the prefix `save_path`: a CheckpointableObjectGraph. ValueError for a
    checkpoint without one, as tf.train.Saver writes it; NotFoundError for
    none."""
    reader = NewCheckpointReader(save_path)
    if not reader.has_tensor(_objects.KEY):
        raise ValueError(
            'The specified checkpoint "%s" does not appear to be object-based (it '
            'is missing the key "%s"). A tf.train.Saver writes such ones.'
            % (save_path, _objects.KEY))
    return TrackableObjectGraph.FromString(reader.get_tensor(_objects.KEY))


def dot_graph_from_checkpoint(save_path):
    """The objects of a checkpoint as a graph in the language DOT: a string.

    Variables are blue, slots of optimizers orange, optimizers with slots red.
    Errors as of object_metadata."""
    reader = NewCheckpointReader(save_path)
    nodes = object_metadata(save_path).nodes
    shapes = reader.get_variable_to_shape_map()
    dtypes = reader.get_variable_to_dtype_map()
    slots = {slot.slot_variable_node_id
             for node in nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(nodes):
        lines.append("N_%d [shape=point label=\"\" %s]" % (
            number, _look(node, number in slots, shapes, dtypes)))
        for child in node.children:
            lines.append('N_%d -> N_%d [label="%s"]' % (
                number, child.node_id, _escaped(child.local_name)))
        for slot in node.slot_variables:
            lines.append('N_%d -> N_%d [label="%s" style=dotted]' % (
                number, slot.slot_variable_node_id, _escaped(slot.slot_name)))
            lines.append("N_%d -> N_%d [style=dotted]" % (
                slot.original_variable_node_id, slot.slot_variable_node_id))
    return "\n".join([*lines, "}", ""])


def _escaped(name):
    return name.replace('"', '\\"')


def _look(node, is_slot, shapes, dtypes):
    """The attributes of a node in DOT."""
    if len(node.attributes) == 1 and node.attributes[0].name == _objects.VALUE:
        variable, = node.attributes
        key = variable.checkpoint_key
        return 'color=%s width=.25 tooltip="%s %s shape=%s %s"' % (
            "orange" if is_slot else "blue",
            "Slot variable" if is_slot else "Variable",
            _escaped(variable.full_name), shapes[key], dtypes[key].name)
    if node.slot_variables:
        return 'width=.25 color=red,tooltip="Optimizer"'
    return "width=.25"
