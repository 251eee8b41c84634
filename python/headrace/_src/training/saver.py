"""Saver: writes the variables of a session to checkpoints, and reads them."""
import numbers
import os
import threading
import time

import numpy as np

from headrace._headrace import executing_eagerly
from headrace._loading import load
from headrace._src.framework import errors
from headrace._src.framework.messages import (
    SaverDef, TrackableObjectGraph)
from headrace._src.framework.text_compat import as_str, as_text
from headrace._src.platform import tf_logging as logging
from headrace._src.session.session import Session
from headrace._src.training import checkpoint_management as management
from headrace._src.training.checkpoint_reader import CheckpointReader
from headrace._src.training.meta_graph import export_meta_graph
from headrace._src.training.saver_nodes import (
    BulkSaverBuilder, check_fits, wanted_of)
from headrace._src.variables.records import under_scope, without_scope
from headrace._src.variables.saveables import all_saveables

_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
# Where TensorFlow 2's Checkpoint keeps the names of its objects.
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


class Saver:
    """Saves and restores variables.

        saver = tf.train.Saver()
        path = saver.save(sess, "/tmp/run/model", global_step=100)
        saver.restore(sess, tf.train.latest_checkpoint("/tmp/run"))

    `var_list`: variables, or {name in checkpoints: variable}; by default all
    global variables and other objects that are saved. `reshape`: restores a
    variable from a tensor of another shape with as many elements. `sharded`: a
    data file for each device. `max_to_keep`: how many checkpoints stay (None or
    0: all); one for each `keep_checkpoint_every_n_hours` stays beside these.
    `saver_def`: nodes that are in the graph already. `defer_build`: the nodes
    are made by build(), when the variables are there. `allow_empty`: without
    variables a Saver does nothing. `pad_step_number`: steps have 8 digits.
    `save_relative_paths`: the file "checkpoint" lists paths relative to its
    folder, which may then be moved. `filename`: what is written when the nodes
    are run without a path.

    A checkpoint, its graph and the file "checkpoint" appear under their names
    when they are complete, in this order; then old checkpoints are deleted.
    `restore_sequentially` makes no difference: one node reads all tensors of a
    device.

    Tensors keep their dtypes and shapes. ValueError if there are no variables
    and `allow_empty` is False, for two variables of one name, and from
    restore() for a path without a checkpoint. restore() fails with
    NotFoundError for a variable that the checkpoint does not have, and with
    InvalidArgumentError for one of another shape or dtype."""

    def __init__(self, var_list=None, reshape=False, sharded=False,
                 max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                 name=None, restore_sequentially=False, saver_def=None,
                 builder=None, defer_build=False, allow_empty=False,
                 write_version=SaverDef.V2, pad_step_number=False,
                 save_relative_paths=False, filename=None):
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be "
                             "deferred. Either set defer_build=False or "
                             "var_list=None.")
        if write_version not in (SaverDef.V1, SaverDef.V2):
            raise ValueError("write_version must be tf.train.SaverDef.V1 or "
                             "V2, got %r" % (write_version,))
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._allow_empty = allow_empty
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._is_built = False
        self._is_eager = executing_eagerly()
        self._is_empty = False
        self._last_checkpoints = []  # [(path, when)], the oldest first
        self._to_be_deleted = []
        self._lock = threading.RLock()  # held by save()
        if not defer_build:
            self.build()
        if self.saver_def is not None and not self._is_eager:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def as_saver_def(self):
        """The SaverDef: the names of the nodes. None if there is nothing to
        save."""
        return self.saver_def

    def build(self):
        """Makes the nodes, if they are not there."""
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            if self._is_eager:
                if self._var_list is None:
                    raise RuntimeError(
                        "When eager execution is enabled, `var_list` must "
                        "specify a list or dict of variables to save")
                self.saver_def = SaverDef(
                    max_to_keep=self._max_to_keep or 0,
                    keep_checkpoint_every_n_hours=self._keep_hours,
                    version=self._write_version)
                self._next_checkpoint_time = (
                    time.time() + self._keep_hours * 3600)
                return
            if self._var_list is None:
                self._var_list = all_saveables()
            if not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            builder = self._builder or BulkSaverBuilder(self._write_version)
            self.saver_def = builder._build_internal(
                self._var_list, reshape=self._reshape, sharded=self._sharded,
                max_to_keep=self._max_to_keep,
                keep_checkpoint_every_n_hours=self._keep_hours,
                name=self._name, filename=self._filename,
                restore_sequentially=self._restore_sequentially)
        elif self._name:
            # The nodes were imported into this scope.
            moved = SaverDef()
            moved.CopyFrom(self.saver_def)
            for field in _NAMES:
                setattr(moved, field,
                        under_scope(getattr(moved, field), self._name))
            self.saver_def = moved
        self._check_saver_def()
        self._next_checkpoint_time = (
            time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600)

    def _check_saver_def(self):
        if not isinstance(self.saver_def, SaverDef):
            if hasattr(self.saver_def, "SerializeToString"):
                self.saver_def = SaverDef.FromString(
                    self.saver_def.SerializeToString())
            else:
                raise ValueError("saver_def must be a saver_pb2.SaverDef: %s"
                                 % (self.saver_def,))
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError("saver_def must specify the %s: %s"
                                 % (field, self.saver_def))

    # Which checkpoints there are.

    @property
    def last_checkpoints(self):
        """The paths of the checkpoints that are kept, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints):
        """Takes paths, the oldest first, for the checkpoints of this Saver. They
        count as new: keep_checkpoint_every_n_hours does not delete them."""
        if not isinstance(last_checkpoints, list):
            raise TypeError("last_checkpoints must be a list, got %r"
                            % (last_checkpoints,))
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Takes pairs of a path and its time in seconds, the oldest first."""
        if not isinstance(last_checkpoints_with_time, list):
            raise TypeError("last_checkpoints_with_time must be a list, got %r"
                            % (last_checkpoints_with_time,))
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths):
        """Takes those of the checkpoints that are there for this Saver's, so
        that it goes on deleting old ones after a restart."""
        self._last_checkpoints = [
            (path, management.get_checkpoint_mtimes([path])[0])
            for path in checkpoint_paths if management.checkpoint_exists(path)]

    def _record(self, path):
        keep = self.saver_def.max_to_keep
        if keep <= 0:
            return
        self._last_checkpoints = [
            p for p in self._last_checkpoints if p[0] != path]
        self._last_checkpoints.append((path, time.time()))
        while len(self._last_checkpoints) > keep:
            self._to_be_deleted.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix):
        while self._to_be_deleted:
            path, when = self._to_be_deleted.pop(0)
            if when > self._next_checkpoint_time:
                self._next_checkpoint_time += (
                    self.saver_def.keep_checkpoint_every_n_hours * 3600)
                continue
            try:
                management.remove_checkpoint(path, self.saver_def.version,
                                             meta_graph_suffix)
            except OSError as error:
                logging.warning("Ignoring: %s", error)

    # Saving.

    def _path_with_step(self, sess, save_path, global_step):
        if not isinstance(global_step, (numbers.Integral, np.integer)):
            if not hasattr(global_step, "dtype"):
                raise TypeError("global_step must be an int, a Tensor or a "
                                "variable, got %r" % (global_step,))
            global_step = (int(global_step) if self._is_eager
                           else int(sess.run(global_step)))
        return save_path + ("-%08d" if self._pad_step_number else "-%d") % (
            global_step)

    def save(self, sess, save_path, global_step=None, latest_filename=None,
             meta_graph_suffix="meta", write_meta_graph=True,
             write_state=True, strip_default_attrs=False,
             save_debug_info=False):
        """Writes a checkpoint of the session's values, and returns its path.

        The path is `save_path`, with "-STEP" if `global_step` is given: a
        number, or a tensor whose value is one. Beside it are written the graph
        (PATH.meta) and the file `latest_filename` ("checkpoint"). ValueError if
        the folder does not exist, and for file names that collide;
        FailedPreconditionError if a variable has no value."""
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if "
                               "defer_build==True")
        if save_debug_info:
            raise NotImplementedError("Saver.save: save_debug_info=True is not "
                                      "supported")
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path "
                             "components")
        if self._is_eager:
            write_meta_graph = False
        elif not isinstance(sess, Session):
            sess = _inner_session(sess)
        # A thread may save beside the training: who asked for the step first
        # must be the first to write the state.
        with self._lock:
            return self._save(
                sess, as_text(os.fspath(save_path)), global_step,
                latest_filename, meta_graph_suffix, write_meta_graph,
                write_state, strip_default_attrs)

    def _save(self, sess, save_path, global_step, latest_filename,
              meta_graph_suffix, write_meta_graph, write_state,
              strip_default_attrs):
        path = save_path
        if global_step is not None:
            path = self._path_with_step(sess, save_path, global_step)
        elif os.path.basename(save_path) == latest_filename and (
                not self.saver_def or not self.saver_def.sharded):
            raise ValueError("'latest_filename' collides with 'save_path': '%s' "
                             "and '%s'" % (latest_filename, save_path))
        folder = os.path.dirname(save_path)
        if not os.path.isdir(folder or "."):
            try:
                os.mkdir(folder)  # one folder, and not those around it
            except OSError:
                raise ValueError("Parent directory of %s doesn't exist, can't "
                                 "save." % save_path) from None
        written = None
        if self._is_eager:
            written = load("_src.eager.checkpoints").write(
                self._var_list, path)
        elif not self._is_empty:
            written = as_str(sess.run(
                self.saver_def.save_tensor_name,
                {self.saver_def.filename_tensor_name: path}))
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(
                    management.meta_graph_filename(path, meta_graph_suffix),
                    strip_default_attrs=strip_default_attrs)
        if written is not None and write_state:
            self._record(written)
            management.write_state(folder, written, self.last_checkpoints,
                                   latest_filename, self._save_relative_paths)
            self._delete_old(meta_graph_suffix)
        return written

    def export_meta_graph(self, filename=None, collection_list=None,
                          as_text=False, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False,
                          strip_default_attrs=False, save_debug_info=False):
        """tf.train.export_meta_graph of the default graph with this Saver."""
        return export_meta_graph(
            filename=filename, saver_def=self.saver_def,
            collection_list=collection_list, as_text=as_text,
            export_scope=export_scope, clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info)

    # Restoring.

    def restore(self, sess, save_path):
        """Gives the variables the values of a checkpoint. They need not have
        been initialised.

        What the checkpoint lacks, or has of another type or shape, is found
        before anything is changed: NotFoundError or InvalidArgumentError with a
        table of the names. ValueError if there is no checkpoint at all."""
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if not self._is_built:
            raise RuntimeError("`build()` should be called before restore if "
                               "defer_build==True")
        path = as_text(os.fspath(save_path))
        if not management.checkpoint_exists(path):
            raise ValueError("The passed save_path is not a valid checkpoint: "
                             + path)
        if self._is_eager:
            logging.info("Restoring parameters from %s", path)
            load("_src.eager.checkpoints").read(self._var_list, path,
                                                self._reshape)
            return
        if not isinstance(sess, Session):
            sess = _inner_session(sess)
        logging.info("Restoring parameters from %s", path)
        restore_op = sess.graph.get_operation_by_name(
            self.saver_def.restore_op_name)
        reader = CheckpointReader(path)
        try:
            check_fits(restore_op, path, reader._entries)
        except errors.NotFoundError:
            if not reader.has_tensor(_OBJECT_GRAPH):
                raise
            self._restore_objects(sess, path, reader, restore_op)
            return
        sess.run(restore_op, {self.saver_def.filename_tensor_name: path})

    def _check_nodes(self, graph):
        """KeyError unless the graph has the nodes that the SaverDef names."""
        if self._is_empty:
            return
        for name in (self.saver_def.filename_tensor_name,
                     self.saver_def.restore_op_name):
            graph.as_graph_element(name)

    def _restore_objects(self, sess, path, reader, restore_op):
        """Restores from a checkpoint whose tensors are named by objects, as
        TensorFlow 2's tf.train.Checkpoint writes them: it also says how the
        variables were called."""
        objects = TrackableObjectGraph.FromString(
            reader.get_tensor(_OBJECT_GRAPH))
        entries = dict(reader._entries)
        keys = {}
        for node in objects.nodes:
            for attribute in node.attributes:
                if attribute.checkpoint_key in entries:
                    keys[attribute.full_name] = attribute.checkpoint_key
        for name, key in keys.items():
            entries.setdefault(name, entries[key])
        check_fits(restore_op, path, entries)
        logging.warning(
            "Restoring an object-based checkpoint using a name-based saver. "
            "This may be somewhat fragile.")
        feeds = {}
        for wanted in wanted_of(restore_op):
            if wanted.spec:
                raise errors.UnimplementedError(
                    None, restore_op,
                    "Saver.restore: %s is a slice; slices cannot be restored "
                    "from the object-based checkpoint %s" % (wanted.key, path))
            feeds[wanted.tensor] = reader.get_tensor(
                keys.get(wanted.key, wanted.key))
        sess.run(restore_op, feeds)

    # As messages.

    def to_proto(self, export_scope=None):
        """The SaverDef with names inside of `export_scope`; None if the nodes
        are outside."""
        if export_scope is None:
            return self.saver_def
        if not all(getattr(self.saver_def, field).startswith(export_scope)
                   for field in _NAMES):
            return None
        out = SaverDef()
        out.CopyFrom(self.saver_def)
        for field in _NAMES:
            setattr(out, field, without_scope(getattr(out, field),
                                              export_scope))
        return out

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        """The Saver whose nodes are in the default graph, under
        `import_scope`."""
        return Saver(saver_def=saver_def, name=import_scope)


def _inner_session(sess):
    """The Session in a session that wraps one. TypeError for anything else."""
    inner = sess
    for attr in ("_sess", "_tf_sess"):
        while not isinstance(inner, Session) and hasattr(inner, attr):
            inner = getattr(inner, attr)
            inner = inner() if callable(inner) else inner
    if not isinstance(inner, Session):
        raise TypeError("'sess' must be a Session; %s" % (sess,))
    return inner


def saver_of(meta_graph_def, scope):
    """The Saver of a graph that was imported into `scope`: as the message says;
    one of all variables if it says nothing; None if there are none."""
    if meta_graph_def.HasField("saver_def"):
        return Saver(saver_def=meta_graph_def.saver_def, name=scope or None)
    if all_saveables(scope or None):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph "
                 "to restore")
    return None
