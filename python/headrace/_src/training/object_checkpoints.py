"""tf.train.Checkpoint and CheckpointManager: checkpoints whose values are found by
the objects that have them, not by names."""
import collections
import os
import time

from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._loading import load as _load
from headrace._src.framework import default_session, dtypes
from headrace._src.framework.graph import (
    device, get_default_graph, init_scope)
from headrace._src.framework.messages import TrackableObjectGraph
from headrace._src.framework.text_compat import as_str
from headrace._src.ops import array_ops as _array
from headrace._src.training import checkpoint_management as _management
from headrace._src.training import object_graph as _objects
from headrace._src.training.checkpoint_reader import NewCheckpointReader
from headrace._src.training.python_state import PythonState
from headrace._src.training.saver import Saver
from headrace._src.variables.saveables import SaveableObject, SaveSpec
from headrace._src.variables.tracking import Setting, saved_attributes
from headrace._src.variables.variables import Variable


def _session(given):
    if given is not None:
        return given
    if executing_eagerly():
        return None
    found = default_session.get_default_session()
    return found if found is not None else _load("keras.backend").get_session()


class _FedText(SaveableObject):
    """A string that is fed when it is saved under `key`: the description of the
    objects, or a PythonState."""

    def __init__(self, key):
        with init_scope(), device("/cpu:0"):
            self.text = _array.placeholder(dtypes.string, [])
        super().__init__(self.text, [SaveSpec(self.text, "", key)], key)

    def restore(self, restored_tensors, restored_shapes):
        return _raw.NoOp()


class _Nodes:
    """The nodes that save and restore variables, made once for each set."""

    def __init__(self):
        self._savers = {}
        self._texts = {}
        self.count = None  # the tensor that counts a save

    def _saver(self, what):
        known = (get_default_graph(),
                 tuple((key, id(what[key])) for key in sorted(what)))
        if known not in self._savers:
            self._savers[known] = Saver(what, max_to_keep=None)
        return self._savers[known]

    def _fed_text(self, key):
        known = get_default_graph(), key
        if known not in self._texts:
            self._texts[known] = _FedText(key)
        return self._texts[known]

    def save(self, session, root, path):
        if session is None:
            return _load("_src.eager.checkpoints").write_objects(root, path)
        graph, keys = _objects.describe(root)
        texts = {key: x.serialize() for key, x in keys.items()
                 if isinstance(x, PythonState)}
        texts[_objects.KEY] = graph.SerializeToString()
        keys.update((key, self._fed_text(key)) for key in texts)
        definition = self._saver(keys).saver_def
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        feeds = {keys[key].text: text for key, text in texts.items()}
        feeds[definition.filename_tensor_name] = path
        return as_str(session.run(definition.save_tensor_name, feeds))

    def restore(self, session, keys, path):
        if keys:
            self._saver(keys).restore(session, path)


class _Status:
    """What a checkpoint gave, or is going to give, to objects: the result of
    Checkpoint.restore. Nothing is read before run_restore_ops or
    initialize_or_restore; they see objects that were made since."""

    def __init__(self, nodes, root, path):
        self._nodes, self._root, self._path = nodes, root, path

    def expect_partial(self):
        """The status: that values stay unused is meant."""
        return self


def _check_none(things, what):
    if things:
        raise AssertionError("%s: %s" % (what, ", ".join(
            str(getattr(x, "name", x)) for x in things)))


class _Restored(_Status):
    """Of a checkpoint. A derived class has `_match`, an object_graph.Match or
    MatchByName, and says what is missing."""

    _MISSING: str
    _UNBOUND: str
    _NOTHING: str

    def assert_consumed(self):
        """The status. AssertionError unless every value of the checkpoint has a
        variable, and every object or variable is in the checkpoint."""
        _check_none(self._match().missing, self._path + self._MISSING)
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """The status. AssertionError if an object or a variable is not in the
        checkpoint."""
        _check_none(self._match().unbound, self._path + self._UNBOUND)
        return self

    def assert_nontrivial_match(self):
        """The status. AssertionError if the checkpoint has no value for any
        variable."""
        if not self._match().values:
            raise AssertionError(self._path + self._NOTHING)
        return self

    def run_restore_ops(self, session=None):
        """Gives the variables their values in the session. A PythonState has its
        value already."""
        session = _session(session)
        if session is None:
            self._restore_now()
        else:
            self._nodes.restore(session, self._match().values, self._path)

    def _restore_now(self):
        """Gives the variables their values where ops are executed eagerly, also
        those that are made later."""
        _load("_src.eager.checkpoints").restore(self)

    def initialize_or_restore(self, session=None):
        """Gives the variables their values; those that the checkpoint has not
        are initialized."""
        session = _session(session)
        self.run_restore_ops(session)
        if session is None:
            return
        session.run([v.initializer for v in self._match().not_restored])


class _OfObjects(_Restored):
    _MISSING = ": no object has what the checkpoint has"
    _UNBOUND = ": the checkpoint has no values for objects of the program"
    _NOTHING = ": the checkpoint has nothing of the objects of the program"

    def __init__(self, nodes, root, path, graph):
        super().__init__(nodes, root, path)
        self._graph = graph

    def _match(self):
        return _objects.Match(self._root, self._graph)


class _OfNames(_Restored):
    """Of a checkpoint of tf.train.Saver, which knows variables by names."""

    _MISSING = ": no variable has the name of what the checkpoint has"
    _UNBOUND = ": the checkpoint has no values for the variables"
    _NOTHING = ": the checkpoint has none of the variables"

    def __init__(self, nodes, root, path, names, optional):
        super().__init__(nodes, root, path)
        self._names, self._optional = names, optional

    def _match(self):
        return _objects.MatchByName(self._root, self._names, self._optional)


class _OfNothing(_Status):
    """Without a checkpoint."""

    def _refuse(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing "
                             "is being restored.")

    def assert_consumed(self):
        """AssertionError."""
        self._refuse()

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        """AssertionError."""
        self._refuse()

    def initialize_or_restore(self, session=None):
        """Initializes the variables of the objects."""
        if _session(session) is None:
            return
        graph, keys = _objects.describe(self._root)
        _session(session).run([v.initializer for v in keys.values()
                               if isinstance(v, Variable)])


class Checkpoint(Setting):
    """Objects whose variables are saved and restored together: variables,
    tf.Module, layers, models and optimizers, by the names that they are given
    here and have in each other.

        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
        path = checkpoint.save("/tmp/run/ckpt", session)
        checkpoint.restore(path).assert_consumed().run_restore_ops(session)

    More may be set as attributes, lists and dicts too. A variable of an object
    that two names lead to is saved once. ValueError for what is no such
    object."""

    def __init__(self, **kwargs):
        self._save_counter = None
        self._nodes = _Nodes()
        for name, value in sorted(kwargs.items()):
            if not _objects.is_object(value) or isinstance(
                    value, (list, tuple, dict)):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object "
                    "derived from `TrackableBase`), got %s for %r. A list or a "
                    "dict can be set as an attribute." % (value, name))
            setattr(self, name, value)

    def _checkpoint_children(self):
        found = [(name, value) for name, value in saved_attributes(self)
                 if name not in ("_save_counter", "_nodes",
                                 "_pending_restores")]
        if self._save_counter is not None:
            found.append(("save_counter", self._save_counter))
        return found

    @property
    def save_counter(self):
        """How often save was called: an int64 variable."""
        if self._save_counter is None:
            with init_scope(), device("/cpu:0"):
                self._save_counter = Variable(
                    0, name="save_counter", trainable=False,
                    dtype=dtypes.int64, use_resource=True)
        return self._save_counter

    def write(self, file_prefix, session=None):
        """Writes a checkpoint under the path `file_prefix`, which is returned.
        The file "checkpoint" is left alone. `session`: by default the one in
        use, or Keras'."""
        return self._nodes.save(_session(session), self, os.fspath(file_prefix))

    def save(self, file_prefix, session=None):
        """Writes a checkpoint under the path `file_prefix` and the number of the
        save, which is returned, and lists it in the file "checkpoint"."""
        session = _session(session)
        path = "%s-%d" % (os.fspath(file_prefix), self._counted(session))
        path = self._nodes.save(session, self, path)
        _management.write_state(os.path.dirname(path), path, [path],
                                relative=True)
        return path

    def _counted(self, session):
        if session is None:
            return int(self.save_counter.assign_add(1))
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._nodes.count is None:
            self._nodes.count = self.save_counter.assign_add(1, read_value=True)
        return session.run(self._nodes.count)

    def restore(self, save_path):
        """What restores the objects: an object with assert_consumed,
        run_restore_ops and others. `save_path`: of a checkpoint, also of
        tf.train.Saver; None: of none. NotFoundError if it is not there."""
        counter = self.save_counter
        if save_path is None:
            return _OfNothing(self._nodes, self, None)
        path = os.fspath(save_path)
        reader = NewCheckpointReader(path)
        names = reader.get_variable_to_shape_map()
        if _objects.KEY not in names:
            restored = _OfNames(self._nodes, self, path, names, counter)
            if executing_eagerly():
                restored._restore_now()
            return restored
        graph = TrackableObjectGraph()
        graph.MergeFromString(reader.get_tensor(_objects.KEY))
        restored = _OfObjects(self._nodes, self, path, graph)
        for key, state in restored._match().states.items():
            state.deserialize(reader.get_tensor(key))
        if executing_eagerly():
            restored._restore_now()
        return restored


class SecondCheckpoint(Checkpoint):
    """tf.train.Checkpoint of 2.x: save and write take no session."""

    def write(self, file_prefix):
        """See tf.train.Checkpoint.write."""
        return super().write(file_prefix)

    def save(self, file_prefix):
        """See tf.train.Checkpoint.save."""
        return super().save(file_prefix)


class CheckpointManager:
    """Saves a tf.train.Checkpoint in a folder, and deletes old ones.

    `max_to_keep`: how many stay, None for all; beside them one for each
    `keep_checkpoint_every_n_hours`. `checkpoint_name`: how the files' names
    begin. The folder's file "checkpoint" lists them, and what it lists already
    is taken up. ValueError for max_to_keep below 1."""

    def __init__(self, checkpoint, directory, max_to_keep,
                 keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt"):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError("Expected a positive integer or `None` for "
                             "`max_to_max_to_keep`, got %d." % max_to_keep)
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._times = collections.OrderedDict()  # of those that may be deleted
        self._latest = None
        self._last_preserved = time.time()
        state = _management.get_checkpoint_state(self._directory)
        if state is not None:
            self._take_up(state)

    def _take_up(self, state):
        self._latest = state.model_checkpoint_path
        self._last_preserved = state.last_preserved_timestamp or (
            self._last_preserved)
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        if len(times) != len(paths):
            times = [self._last_preserved] * len(paths)
        self._times.update(
            (path, when) for path, when in zip(paths, times)
            if _management.checkpoint_exists(path))

    @property
    def latest_checkpoint(self):
        """The path of the newest checkpoint, None before there is one."""
        return self._latest

    @property
    def checkpoints(self):
        """The paths of the checkpoints that may be deleted, the oldest first."""
        return list(self._times)

    def save(self, checkpoint_number=None):
        """Saves, under the checkpoint's number of saves or `checkpoint_number`,
        and returns the path."""
        session = _session(None)
        number = int(self._checkpoint._counted(session))
        if checkpoint_number is not None:
            number = checkpoint_number
        if not isinstance(number, int):
            number = int(number if session is None
                         else session.run(number))
        path = self._checkpoint._nodes.save(
            session, self._checkpoint, "%s-%d" % (self._prefix, number))
        self._latest = path
        self._times.pop(path, None)
        self._times[path] = time.time()
        # The list has the new one before the old ones are gone.
        self._write_state()
        if self._sweep():
            self._write_state()
        return path

    def _write_state(self):
        _management.write_state(
            self._directory, self._latest, list(self._times), relative=True,
            timestamps=list(self._times.values()),
            last_preserved=self._last_preserved)

    def _sweep(self):
        """Deletes what is too old; whether there was any."""
        too_many = self._max_to_keep and len(self._times) > self._max_to_keep
        while self._max_to_keep and len(self._times) > self._max_to_keep:
            path, when = self._times.popitem(last=False)
            if self._hours and when - self._hours * 3600. >= (
                    self._last_preserved):
                self._last_preserved = when
                continue
            _management.remove_checkpoint(path)
        return too_many
