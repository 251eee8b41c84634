"""A model on several workers: the session on the worker's server, the context
in which fit and evaluate run, and the backup from which training goes on after
a worker was lost."""
import contextlib
import functools
import os
import re
import shutil
import tempfile

import numpy as np

from headrace._loading import load as _load
from headrace._src.layers import backend
from headrace._src.platform import tf_logging as _logging
from headrace._src.training import checkpoint_management as _management
from headrace._src.training.worker_context import get_current_worker_context
from headrace._src.variables.records import VariableSynchronization

_UNUSED = -1  # the epoch before any was saved


def is_multi_worker(strategy):
    """Whether a strategy, or None, has a cluster of workers."""
    return strategy is not None and bool(strategy.extended._cluster_spec)


def in_task(strategy, function):
    """What function() returns in the context of this process's task, whose
    server runs."""
    if get_current_worker_context() is not None:
        return function()
    coordinator = _load("_src.distribute.coordinator")
    extended = strategy.extended
    return coordinator.run_distribute_coordinator(
        lambda _: function(), strategy,
        mode=coordinator.CoordinatorMode.INDEPENDENT_WORKER,
        cluster_spec=extended._cluster_spec, task_type=extended._task_type,
        task_id=extended._task_id)


def start_session(strategy):
    """Makes a session on the task's server that of the default graph, unless it
    has one. NotImplementedError for a strategy with parameter servers."""
    if not hasattr(strategy.extended, "_collective_keys"):
        raise NotImplementedError(
            "%s of several tasks is not supported with tf.keras.Model.compile, "
            "as in TensorFlow; use it with tf.estimator, or "
            "tf.distribute.experimental.MultiWorkerMirroredStrategy"
            % type(strategy).__name__)

    def make():
        context = get_current_worker_context()
        state = backend.graph_state()
        if getattr(state.session, "sess_str", None) == context.master_target:
            return
        if strategy.extended._num_workers > 1:
            _load("_src.distribute.coordinator").meet_all_workers(
                strategy, context.master_target, context.session_config)
        backend.set_session(_load("_src.session.session").Session(
            context.master_target, config=context.session_config))
    in_task(strategy, make)


def in_each_worker(method):
    """A method of a model that, with a strategy of several workers, runs in the
    context of this worker, without the callbacks that are of the chief
    alone."""
    @functools.wraps(method)
    def run(model, *args, callbacks=None, **kwargs):
        strategy = model._strategy
        if not is_multi_worker(strategy):
            return method(model, *args, callbacks=callbacks, **kwargs)
        chosen = [c for c in callbacks or []
                  if strategy.extended._is_chief
                  or not getattr(c, "_chief_worker_only", None)]
        return in_task(strategy, lambda: method(
            model, *args, callbacks=chosen, **kwargs))
    return run


class Share:
    """How much of the global loss is this worker's: a tensor that is fed, by
    default one share for each worker."""

    def __init__(self, strategy, default):
        self.tensor = default
        self._given = self._seed = None
        self._strategy = strategy
        context = strategy.extended._input_context()
        self.workers = context.num_input_pipelines
        self.number = context.input_pipeline_id

    def rows(self, arrays):
        """(this worker's rows of arrays of a global batch, their share of
        it)."""
        total = next(len(a) for a in arrays if a is not None)
        size = -(-total // self.workers)
        begin = min(self.number * size, total)
        end = min(begin + size, total)
        return ([None if a is None else a[begin:end] for a in arrays],
                (end - begin) / total if total else 1. / self.workers)

    def of_dataset(self, dataset):
        """This worker's part of a data set of global batches."""
        split = _load("_src.distribute.inputs").split_batches
        return _load("_src.distribute.shards").shard(
            split(dataset, self.workers), self.workers, self.number)

    def sum(self, tensor):
        """The sum of a tensor over all workers."""
        strategy = self._strategy
        with strategy.scope():
            with _load("_src.framework.graph").device(
                    strategy.extended.worker_devices[0]):
                tensor = _load("_src.ops.array_ops").identity(tensor)
            return strategy.reduce("SUM", tensor)


    def seed(self):
        """A random number that all workers have."""
        if self._given is None:
            with backend.get_session().graph.as_default():
                self._given = _load("_src.ops.array_ops").placeholder(
                    "float32", [])
                self._seed = self.sum(self._given)
        mine = np.random.randint(1 << 20) if self.number == 0 else 0
        return int(backend.get_session().run(self._seed, {self._given: mine}))


def values_of(variables):
    """The values of variables; of those that each replica has its own of, that
    of all together."""
    tensors = []
    for v in variables:
        if not hasattr(v, "_get_cross_replica") or (
                v.synchronization is not VariableSynchronization.ON_READ):
            tensors.append(v)
            continue
        if not hasattr(v, "_keras_read"):
            with backend.get_session().graph.as_default(), \
                    v._distribute_strategy.scope():
                v.__dict__["_keras_read"] = v._get_cross_replica()
        tensors.append(v.__dict__["_keras_read"])
    return backend.batch_get_value(tensors)


def checkpoint_exists(path):
    """Whether there is a file of a model or of weights at `path`."""
    return os.path.exists(path) or (
        not path.endswith(".h5") and os.path.exists(path + ".index"))


def latest_file(pattern):
    """The path of the file written last whose name fits, where "{...}" is any
    text; None if there is none."""
    folder, base = os.path.split(pattern)
    fits = re.compile(".*".join(
        re.escape(part) for part in re.split(r"\{.*?\}", base)) + "$")
    found = _management.latest_checkpoint(folder or ".")
    if found and fits.match(os.path.basename(found)):
        return os.path.join(folder, os.path.basename(found))
    if not os.path.isdir(folder or "."):
        return None
    names = [n for n in os.listdir(folder or ".") if fits.match(n)]
    return max((os.path.join(folder, n) for n in names),
               key=lambda path: (os.path.getmtime(path), path), default=None)


@contextlib.contextmanager
def path_to_save(path):
    """The path to which this worker saves: that of the chief, elsewhere one in
    a folder that is removed. All workers save, for variables may be read by
    collective ops."""
    context = get_current_worker_context()
    if context is None or context.should_checkpoint:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "temp" + os.path.splitext(path)[1])


class TrainingState:
    """The backup of a training, beside the file of a ModelCheckpoint, from
    which a program that starts again goes on: the weights, the optimizer's
    state and the last epoch. It is gone when training has ended."""

    def __init__(self, model, filepath):
        self._model = model
        self._folder = os.path.join(os.path.dirname(filepath), "backup")
        self._path = os.path.join(self._folder, "training_state")
        self._epoch = backend.variable(_UNUSED, dtype="int64",
                                       name="ckpt_saved_epoch")
        backend.set_value(self._epoch, _UNUSED)

    @contextlib.contextmanager
    def _tracked(self):
        """The epoch is among the model's things."""
        self._model.__dict__["_ckpt_saved_epoch"] = self._epoch
        try:
            yield
        finally:
            del self._model.__dict__["_ckpt_saved_epoch"]

    def restore(self):
        """Reads the backup. False if there is none."""
        if not get_current_worker_context().experimental_should_init or (
                not os.path.exists(self._path + ".index")):
            return False
        with self._tracked():
            self._model.load_weights(self._path)
        _logging.info("training goes on from %s", self._path)
        return True

    def back_up(self, epoch):
        """Writes what there is after an epoch."""
        backend.set_value(self._epoch, epoch)
        with self._tracked(), path_to_save(self._path) as path:
            self._model.save_weights(path, overwrite=True)

    def first_epoch(self, given):
        """The epoch to begin with: `given`, or that after the backup's."""
        epoch = int(backend.get_value(self._epoch))
        return given if epoch == _UNUSED else epoch + 1

    def delete(self):
        """Removes the backup."""
        if get_current_worker_context().should_checkpoint:
            shutil.rmtree(self._folder, ignore_errors=True)
