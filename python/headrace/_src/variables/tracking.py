"""Which attributes of an object layers and checkpoints follow."""
import contextlib
import functools

from headrace._loading import load as _load

# Gives new variables the values of a checkpoint that was restored before they
# were made; None if there is none.
restore_new = None


def attributes(thing):
    """[(name, value)] of an object, in the order in which they were set, without
    those that were set where nothing is tracked."""
    found = vars(thing)
    if "_untracked" not in found and "_told_by_name" not in found:
        return list(found.items())
    untracked = found["_untracked"].values if "_untracked" in found else {}
    return [(name, value) for name, value in found.items()
            if not (name in untracked and untracked[name] is value)
            and name not in ("_untracked", "_told_by_name")]


def told(thing):
    """{name: object} of what an object's _track_trackable() was told."""
    return vars(thing).get("_told_by_name", {})


def tell(thing, trackable, name, overwrite=False):
    """Does what _track_trackable() of an object does: `trackable` is among what
    checkpoints save of it, and is returned. TypeError for what they do not
    follow; ValueError for a name that another object has, unless
    `overwrite`."""
    if not _load("_src.training.object_graph").is_object(trackable):
        raise TypeError("Trackable._track_trackable() passed type %s, not a "
                        "Trackable." % type(trackable))
    known = told(thing).get(name, vars(thing).get(name))
    if known is not None and known is not trackable and not overwrite:
        raise ValueError(
            "Called Trackable._track_trackable() with name='%s', but a "
            "Trackable with this name is already declared as a dependency. "
            "Names must be unique (or overwrite=True)." % name)
    vars(thing).setdefault("_told_by_name", {})[name] = trackable
    return trackable


def with_told(thing, children):
    """The list `children` of an object and what it was told besides."""
    names = {name for name, _ in children}
    return children + [(name, value) for name, value in told(thing).items()
                       if name not in names]


class NoDependency:
    """`obj.name = NoDependency(value)` sets the attribute to the value, of any
    kind, shape and dtype; checkpoints of `obj` do not have it. A layer is a
    layer of a model all the same. Nothing is raised."""

    def __init__(self, value):
        self.value = value


class Setting:
    """Objects whose attributes may be set to a NoDependency."""

    def __setattr__(self, name, value):
        if isinstance(value, NoDependency):
            value = value.value
            hidden = "_unsaved" if hasattr(value, "_layers_inside") else (
                "_untracked")
            known = vars(self).get(hidden, _Untracked({})).values
            object.__setattr__(self, hidden, _Untracked({**known, name: value}))
        super().__setattr__(name, value)


def saved_attributes(thing):
    """Those of attributes() that checkpoints have."""
    found = attributes(thing)
    if "_unsaved" not in vars(thing):
        return found
    unsaved = vars(thing)["_unsaved"].values
    return [(name, value) for name, value in found
            if name != "_unsaved" and unsaved.get(name) is not value]


class Container:
    """An object whose elements, which it iterates over, count as attributes of
    the object that has it."""


class _Untracked:
    """`values`: {name: value that the attribute had}"""

    def __init__(self, values):
        self.values = values


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj):
    """Attributes of `obj` that are set inside are neither its layers nor saved by
    tf.train.Checkpoint, until they are set again."""
    before = dict(vars(obj))
    tracks = getattr(obj, "_setattr_tracking", True)
    obj._setattr_tracking = False
    try:
        yield
    finally:
        obj._setattr_tracking = tracks
        new = {name: value for name, value in vars(obj).items()
               if name not in before or before[name] is not value}
        known = vars(obj).get("_untracked", _Untracked({})).values
        object.__setattr__(obj, "_untracked", _Untracked({**known, **new}))


def no_automatic_dependency_tracking(method):
    """A method as `method` that sets attributes where nothing is tracked."""
    @functools.wraps(method)
    def untracked(self, *args, **kwargs):
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)
    return untracked
