"""Which attributes of an object layers and checkpoints follow."""
import contextlib
import functools

# Gives new variables the values of a checkpoint that was restored before they
# were made; None if there is none.
restore_new = None



def attributes(thing):
    """[(name, value)] of an object, in the order in which they were set, without
    those that were set where nothing is tracked."""
    found = vars(thing)
    if "_untracked" not in found:
        return list(found.items())
    untracked = found["_untracked"].values
    return [(name, value) for name, value in found.items()
            if not (name in untracked and untracked[name] is value)
            and name != "_untracked"]


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
