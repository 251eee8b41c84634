"""Checkpoints of variables that have their values: they are written and read at
once."""
import os
import weakref

from headrace import raw_ops as _raw
from headrace._src.framework.graph import device, init_scope
from headrace._src.training import object_graph as _objects
from headrace._src.training.python_state import PythonState
from headrace._src.training.saver_nodes import _restore_items
from headrace._src.variables import tracking as _tracking
from headrace._src.variables.saveables import saveables


def write(names, path, texts=None):
    """Writes {name: variable} and {name: text}; the path."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with init_scope(), device("/cpu:0"):
        specs = [s for item in saveables(names) for s in item.specs]
        keys = [s.name for s in specs] + list(texts or {})
        tensors = [s.tensor for s in specs] + list((texts or {}).values())
        _raw.SaveV2(path, keys, [s.slice_spec for s in specs]
                    + [""] * len(texts or {}), tensors)
    return path


def write_objects(root, path):
    """Writes what Checkpoint saves of an object."""
    graph, keys = _objects.describe(root)
    texts = {key: x.serialize() for key, x in keys.items()
             if isinstance(x, PythonState)}
    texts[_objects.KEY] = graph.SerializeToString()
    return write({key: x for key, x in keys.items() if key not in texts},
                 path, texts)


def read(names, path, reshape=False):
    """Gives variables, {name: variable}, the values of a checkpoint."""
    with init_scope(), device("/cpu:0"):
        _restore_items(path, saveables(names), reshape)


class Pending:
    """What a checkpoint has for objects that are made later."""

    def __init__(self, status):
        self._status = status
        self._root = weakref.ref(status._root)
        self._path = status._path
        self._done = weakref.WeakValueDictionary()
        self.update()

    def update(self):
        """Gives new variables their values; False if nothing is left."""
        match = self._status._match()
        new = {key: v for key, v in match.values.items()
               if self._done.get(id(v)) is not v}
        if new:
            read(new, self._path)
            for v in new.values():
                self._done[id(v)] = v
        return bool(getattr(match, "missing", None))


_pending: list = []


def restore(status):
    """Gives the objects of a status their values, and later those that are made
    then."""
    pending = Pending(status)
    status._pending = pending
    _pending[:] = [p for p in _pending if p() is not None]
    _pending.append(weakref.ref(pending))
    kept = status._root.__dict__.setdefault("_pending_restores", [])
    kept[:] = [pending]
    _tracking.restore_new = update


def update():
    """Gives variables that are new their values."""
    for reference in list(_pending):
        pending = reference()
        if pending is None or not pending.update():
            _pending.remove(reference)
            if pending is not None:
                pending._status._root.__dict__.pop("_pending_restores", None)
    if not _pending:
        _tracking.restore_new = None


