"""tensorflow.python.training.tracking: bases of what tf.train.Checkpoint saves."""
import collections

from headrace._src.training.object_graph import is_object
from headrace._src.variables.tracking import Setting, saved_attributes

# What an object has, and under which name.
TrackableReference = collections.namedtuple("TrackableReference", "name ref")


class Trackable:
    """An object that tf.train.Checkpoint takes. It has what _track_trackable was
    told. A derived class may say more by the property _checkpoint_dependencies,
    and find by _lookup_dependency what a checkpoint has."""

    @property
    def _told(self):
        """{name: object}; made at its first use, as derived classes need not call
        a constructor."""
        return vars(self).setdefault("_told_by_name", {})

    _unconditional_dependency_names = _told

    @property
    def _unconditional_checkpoint_dependencies(self):
        """A list of the TrackableReferences; what is appended is kept."""
        return _References(self._told)

    @property
    def _checkpoint_dependencies(self):
        return list(self._unconditional_checkpoint_dependencies)

    def _lookup_dependency(self, name):
        """What the object has under that name, or None."""
        return self._told.get(name)

    def _track_trackable(self, trackable, name, overwrite=False):
        """`trackable`, which the object has from now on. TypeError for what
        tf.train.Checkpoint does not follow; ValueError for a name that another
        object has, unless `overwrite`."""
        if not is_object(trackable):
            raise TypeError("Trackable._track_trackable() passed type %s, not a "
                            "Trackable." % type(trackable))
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(
                "Called Trackable._track_trackable() with name='%s', but a "
                "Trackable with this name is already declared as a dependency. "
                "Names must be unique (or overwrite=True)." % name)
        self._told[name] = trackable
        return trackable

    def _checkpoint_children(self):
        return [(name, ref) for name, ref in self._checkpoint_dependencies]

    def _no_dependency(self, value):
        """The value."""
        return value


class _References(list):
    def __init__(self, told):
        super().__init__(TrackableReference(*item) for item in told.items())
        self._told = told

    def append(self, reference):
        super().append(reference)
        self._told[reference.name] = reference.ref


class AutoTrackable(Setting, Trackable):
    """A Trackable whose attributes are saved too."""

    @property
    def _checkpoint_dependencies(self):
        own = [TrackableReference(name, value)
               for name, value in saved_attributes(self) if is_object(value)
               and name not in self._told and name != "_told_by_name"]
        return super()._checkpoint_dependencies + own

    def _lookup_dependency(self, name):
        found = super()._lookup_dependency(name)
        if found is None:
            found = dict(self._checkpoint_dependencies).get(name)
        return found
