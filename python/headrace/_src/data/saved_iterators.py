"""Places of iterators in checkpoints: what a Saver saves of an iterator, and the
hook that saves those of an Estimator apart from its variables."""
from headrace._src.data.iterators import GLOBAL_ITERATORS, IteratorSaveable
from headrace._src.framework.graph import get_collection
from headrace._src.training import checkpoint_management as _management
from headrace._src.training.basic_session_run_hooks import CheckpointSaverHook
from headrace._src.training.saver import Saver
from headrace._src.training.session_run_hook import SessionRunHook


def make_saveable_from_iterator(iterator):
    """What tf.train.Saver saves of an iterator: its place. Put it into the
    collection SAVEABLE_OBJECTS, or give it to a Saver in a list.

    Restoring needs an iterator whose initializer has run, of a dataset that is
    made as the saved one was; what it gives next is what the saved one would
    have given, numbers drawn at random too. A run raises
    FailedPreconditionError where a function of the dataset has an op with
    state, as tf.py_func and random ops are; NotFoundError or
    InvalidArgumentError for the place in another dataset, or a damaged one."""
    resource = iterator._iterator_resource
    return IteratorSaveable(resource, resource.name, resource.name + "-state")


class _Saver(Saver):
    """A Saver with a file of its own in place of `checkpoint`."""

    def __init__(self, var_list, latest_filename):
        super().__init__(var_list)
        self._latest_filename = latest_filename

    def save(self, sess, save_path, global_step=None, latest_filename=None,
             *args, **kwargs):
        return super().save(sess, save_path, global_step,
                            latest_filename or self._latest_filename,
                            *args, **kwargs)


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the places of all iterators of the graph when `estimator` saves its
    variables, into input.ckpt-* beside them (input_<task>_<number>.ckpt-* with
    several workers), and restores them when training goes on. What validation
    does to its own iterators is not saved. With the other hooks' saved steps."""

    def __init__(self, estimator):
        config = estimator.config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += "_%s_%s" % (config.task_type, config.task_id)
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir, save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=prefix + ".ckpt")
        self._latest_filename = "checkpoint_" + prefix
        self._first_run = True

    def begin(self):
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            hook._saver = _Saver(
                [IteratorSaveable(resource, resource.name,
                                  resource.name + "-state")
                 for resource in get_collection(GLOBAL_ITERATORS)],
                self._latest_filename)
        hook.begin()

    def _restore_or_save(self, session):
        # Not in after_create_session: the hook that runs the initializers may
        # come after this one.
        hook = self._checkpoint_saver_hook
        latest = _management.latest_checkpoint(
            hook._checkpoint_dir, latest_filename=self._latest_filename)
        if latest:
            hook._get_saver().restore(session, latest)
            return
        step = session.run(hook._global_step_tensor)
        hook._save(session, step)
        hook._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._checkpoint_saver_hook.before_run(run_context)

    def after_run(self, run_context, run_values):
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session):
        self._checkpoint_saver_hook.end(session)
