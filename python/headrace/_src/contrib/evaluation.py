"""tf.contrib.training and tf.contrib.slim.evaluation: runs over data that
measure a model, of one checkpoint or of each new one."""
import time

from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    GraphKeys, control_dependencies, get_collection, get_default_graph)
from headrace._src.ops.array_ops import identity
from headrace._src.platform import tf_logging as logging
from headrace._src.summary.event_files import FileWriterCache
from headrace._src.training import global_step as _step
from headrace._src.training import summary as _summary
from headrace._src.training.basic_session_run_hooks import FinalOpsHook
from headrace._src.training.checkpoint_management import checkpoints_iterator
from headrace._src.training.monitored_session import (
    ChiefSessionCreator, MonitoredSession, Scaffold)
from headrace._src.training.saver import Saver
from headrace._src.training.session_run_hook import (
    SessionRunArgs, SessionRunHook)
from headrace._src.variables.initializers import Zeros
from headrace._src.variables.scopes import get_variable, variable_scope
from headrace._src.variables.variables import assign_add

_USE_DEFAULT = 0


def get_or_create_eval_step():
    """The int64 variable that counts the runs of an evaluation; it is in
    LOCAL_VARIABLES and EVAL_STEP. ValueError if the graph has several."""
    found = get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    with get_default_graph().as_default(), variable_scope("", reuse=False):
        return get_variable(
            "eval_step", shape=[], dtype=dtypes.int64, initializer=Zeros(),
            trainable=False, use_resource=True,
            collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


def latest_eval_step_value(update_ops):
    """The value of the variable that counts the runs, after update_ops: an
    operation, or a structure of such."""
    with control_dependencies(nest.flatten(update_ops)):
        return identity(get_or_create_eval_step().read_value())


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after num_evals runs (None: never)."""

    def __init__(self, num_evals, log_progress=True):
        self._count = num_evals
        self._log = log_progress
        self._done = None

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._done = updated_eval_step

    def before_run(self, run_context):
        return SessionRunArgs({"evals_completed": self._done})

    def after_run(self, run_context, run_values):
        done = run_values.results["evals_completed"]
        if self._log:
            logging.info("Evaluation [%d%s]", done, "" if self._count is None
                         else "/%d" % self._count)
        if self._count is not None and done >= self._count:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes summary_op, by default all summaries, when the session ends: to
    summary_writer or to the folder log_dir."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None,
                 feed_dict=None):
        self._folder = log_dir
        self._writer = summary_writer
        self._op = summary_op
        self._all = summary_op is None
        self._feed = feed_dict

    def begin(self):
        if self._all:
            # A hook may serve several graphs, one after another.
            self._op = _summary.merge_all()
        self._step = _step.get_or_create_global_step()

    def after_create_session(self, session, coord):
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)

    def end(self, session):
        if self._writer is None:
            return
        if self._op is not None:
            step = int(session.run(self._step))
            self._writer.add_summary(session.run(self._op, self._feed), step)
        self._writer.flush()


def _with_step(eval_ops, hooks):
    """eval_ops and what counts the runs, of which the hooks learn."""
    counted = assign_add(get_or_create_eval_step(), 1, use_locking=True)
    for hook in hooks:
        if hasattr(hook, "_set_evals_completed_tensor"):
            hook._set_evals_completed_tensor(counted)
    if eval_ops is None:
        return None
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": counted}
    if isinstance(eval_ops, (tuple, list)):
        return list(eval_ops) + [counted]
    return [eval_ops, counted]


def _evaluate(path, master, scaffold, eval_ops, feed_dict, hooks, config):
    creator = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=path, master=master,
        config=config)
    logging.info("Starting evaluation at "
                 + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    with MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at "
                 + time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))


def evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None,
                  feed_dict=None, final_ops=None, final_ops_feed_dict=None,
                  hooks=None, config=None):
    """The values of final_ops after runs of eval_ops, in a session restored
    from checkpoint_path, until a hook or the end of the inputs stops them.
    StopAfterNEvalsHook counts the runs, SummaryAtEndHook writes summaries."""
    hooks = list(hooks or [])
    eval_ops = _with_step(eval_ops, hooks)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    _evaluate(checkpoint_path, master, scaffold, eval_ops, feed_dict,
              hooks + [final], config)
    return final.final_ops_values


def evaluate_repeatedly(
        checkpoint_dir, master="", scaffold=None, eval_ops=None,
        feed_dict=None, final_ops=None, final_ops_feed_dict=None,
        eval_interval_secs=60, hooks=None, config=None,
        max_number_of_evaluations=None, timeout=None, timeout_fn=None):
    """evaluate_once for each new checkpoint of a folder; the values of the last
    one. Ends after max_number_of_evaluations, or when there was no new
    checkpoint for `timeout` seconds and timeout_fn, if given, returns True."""
    hooks = list(hooks or [])
    eval_ops = _with_step(eval_ops, hooks)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    done = 0
    for path in checkpoints_iterator(
            checkpoint_dir, min_interval_secs=eval_interval_secs,
            timeout=timeout, timeout_fn=timeout_fn):
        logging.info("Starting evaluation at %s", time.strftime(
            "%Y-%m-%d-%H:%M:%S", time.gmtime()))
        _evaluate(path, master, scaffold, eval_ops, feed_dict,
                  hooks + [final], config)
        done += 1
        if max_number_of_evaluations is not None and (
                done >= max_number_of_evaluations):
            break
    return final.final_ops_values


def _slim_hooks(num_evals, summary_op, logdir, feed_dict, hooks):
    if summary_op is _USE_DEFAULT:
        summary_op = _summary.merge_all()
    found = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        found.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op,
                                      feed_dict=feed_dict))
    return found + list(hooks or [])


def slim_evaluate_once(
        master, checkpoint_path, logdir, num_evals=1, initial_op=None,
        initial_op_feed_dict=None, eval_op=None, eval_op_feed_dict=None,
        final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
        summary_op_feed_dict=None, variables_to_restore=None,
        session_config=None, hooks=None):
    """The value of final_op after num_evals runs of eval_op, in a session
    restored from checkpoint_path: all variables, or variables_to_restore;
    summary_op, by default all summaries, goes to the folder logdir."""
    saver = (Saver(variables_to_restore) if variables_to_restore is not None
             else None)
    return evaluate_once(
        checkpoint_path, master=master, scaffold=Scaffold(
            init_op=initial_op, init_feed_dict=initial_op_feed_dict,
            saver=saver),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict, hooks=_slim_hooks(
            num_evals, summary_op, logdir, summary_op_feed_dict, hooks),
        config=session_config)


def evaluation_loop(
        master, checkpoint_dir, logdir, num_evals=1, initial_op=None,
        initial_op_feed_dict=None, init_fn=None, eval_op=None,
        eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
        summary_op=_USE_DEFAULT, summary_op_feed_dict=None,
        variables_to_restore=None, eval_interval_secs=60,
        max_number_of_evaluations=None, session_config=None, timeout=None,
        timeout_fn=None, hooks=None):
    """evaluate_once of slim for each new checkpoint of a folder, as
    tf.contrib.training.evaluate_repeatedly."""
    saver = (Saver(variables_to_restore) if variables_to_restore is not None
             else None)
    return evaluate_repeatedly(
        checkpoint_dir, master=master, scaffold=Scaffold(
            init_op=initial_op, init_feed_dict=initial_op_feed_dict,
            init_fn=init_fn, saver=saver),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs, hooks=_slim_hooks(
            num_evals, summary_op, logdir, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations, timeout=timeout,
        timeout_fn=timeout_fn)
