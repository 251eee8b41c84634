"""tf.contrib.slim.learning: a whole training program; and
tf.contrib.training.train."""
import os
import time

from headrace._src.control.control_flow_ops import group
from headrace._src.framework import errors
from headrace._src.framework.graph import (
    control_dependencies, get_default_graph, name_scope)
from headrace._src.framework.messages import RunMetadata, RunOptions
from headrace._src.framework.tensor import constant
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.training import global_step as _step
from headrace._src.training import summary as _summary
from headrace._src.training.basic_session_run_hooks import write_trace
from headrace._src.training.monitored_session import MonitoredTrainingSession
from headrace._src.training.saver import Saver
from headrace._src.training.supervisor import Supervisor
from headrace._src.training.sync_replicas_optimizer import (
    SyncReplicasOptimizer)
from headrace._src.variables import variables as _variables

_USE_DEFAULT = 0


def train_step(sess, train_op, global_step, train_step_kwargs):
    """(loss, whether to stop) of a step. train_step_kwargs may have scalar
    bools: `should_stop`, `should_log`, and `should_trace`, which needs
    `logdir`, the folder for the trace, and `summary_writer`."""
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when "
                             "should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options = RunOptions(trace_level=RunOptions.FULL_TRACE)
            metadata = RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options,
                          run_metadata=metadata)
    if metadata is not None:
        path = os.path.join(train_step_kwargs["logdir"],
                            "tf_trace-%d.json" % step)
        logging.info("Writing trace to %s", path)
        write_trace(path, metadata.step_stats)
        if "summary_writer" in train_step_kwargs:
            train_step_kwargs["summary_writer"].add_run_metadata(
                metadata, "run_metadata-%d" % step)
    if "should_log" in train_step_kwargs and sess.run(
            train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss,
                     time.time() - start)
    stop = ("should_stop" in train_step_kwargs
            and sess.run(train_step_kwargs["should_stop"]))
    return loss, stop


def _wait_for_step(sess, global_step, step):
    while int(sess.run(global_step)) < step:
        logging.info("Waiting for step %d before starting training.", step)
        time.sleep(1)


def _check(train_op, logdir, summary_op, saver, trace_every_n_steps,
           sync_optimizers, startup_delay_steps, number_of_steps):
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        for name, given in (
                ("summary_op", summary_op is not _USE_DEFAULT
                 and summary_op is not None),
                ("saver", saver is not None),
                ("trace_every_n_steps", trace_every_n_steps is not None)):
            if given:
                raise ValueError("Cannot provide %s because logdir=None" % name)
    for optimizer in sync_optimizers:
        if not isinstance(optimizer, SyncReplicasOptimizer):
            raise ValueError("`sync_optimizer` must be a "
                             "tf.train.SyncReplicasOptimizer, or a list of "
                             "them, but got %r" % (optimizer,))
    if sync_optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer "
                         "is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive "
                         "number.")


def train(train_op, logdir, train_step_fn=train_step,
          train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
          master="", is_chief=True, global_step=None, number_of_steps=None,
          init_op=_USE_DEFAULT, init_feed_dict=None,
          local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT,
          summary_op=_USE_DEFAULT, save_summaries_secs=600,
          summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None,
          save_interval_secs=600, sync_optimizer=None, session_config=None,
          session_wrapper=None, trace_every_n_steps=None,
          ignore_live_threads=False):
    """Trains until global_step is number_of_steps (None: until the inputs end);
    the last loss.

    `train_op`: of create_train_op, its value is the loss. `logdir`: the folder
    of checkpoints and summaries, from whose newest checkpoint the program goes
    on; None for none. train_step_fn(session, train_op, global_step,
    train_step_kwargs) gives (loss, whether to stop). init_fn(session) runs
    where there is no checkpoint. saver, summary_op, init_op, local_init_op and
    ready_op have the defaults of tf.train.Supervisor, which has the threads.
    sync_optimizer: the tf.train.SyncReplicasOptimizer that made the train_op,
    or a list of them; the chief runs their updates.
    ValueError for arguments that do not fit."""
    if sync_optimizer is None:
        sync_optimizer = []
    elif not isinstance(sync_optimizer, (list, tuple)):
        sync_optimizer = [sync_optimizer]
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps,
           sync_optimizer, startup_delay_steps, number_of_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = _step.get_or_create_global_step()
        saver = saver or Saver()
        with name_scope("init_ops"):
            if init_op is _USE_DEFAULT:
                init_op = _variables.global_variables_initializer()
            if ready_op is _USE_DEFAULT:
                ready_op = _variables.report_uninitialized_variables()
            if local_init_op is _USE_DEFAULT:
                local_init_op = group(
                    _variables.local_variables_initializer(),
                    _variables.tables_initializer())
            ready_for_local_init_op = None
            if sync_optimizer:
                with control_dependencies(
                        [] if local_init_op is None else [local_init_op]):
                    local_init_op = group(*[
                        o.chief_init_op if is_chief else o.local_step_init_op
                        for o in sync_optimizer])
                ready_for_local_init_op = _array.concat(
                    [o.ready_for_local_init_op for o in sync_optimizer], 0)
        tokens = [o.get_init_tokens_op() for o in sync_optimizer if is_chief]
        if summary_op is _USE_DEFAULT:
            summary_op = _summary.merge_all()
        if train_step_kwargs is _USE_DEFAULT:
            train_step_kwargs = _step_arguments(
                global_step, number_of_steps, log_every_n_steps,
                trace_every_n_steps if is_chief else None, logdir)
    supervisor = Supervisor(
        graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op,
        init_feed_dict=init_feed_dict, local_init_op=local_init_op,
        ready_for_local_init_op=ready_for_local_init_op, ready_op=ready_op,
        summary_op=summary_op, summary_writer=summary_writer,
        global_step=global_step, saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs, init_fn=init_fn)
    if supervisor.summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loss = None
    while True:
        try:
            with supervisor.managed_session(
                    master, start_standard_services=False,
                    config=session_config) as session:
                logging.info("Starting Session.")
                if session_wrapper is not None:
                    session = session_wrapper(session)
                if is_chief:
                    if logdir:
                        supervisor.start_standard_services(session)
                elif startup_delay_steps > 0:
                    _wait_for_step(session, global_step, min(
                        startup_delay_steps, number_of_steps or
                        startup_delay_steps))
                threads = supervisor.start_queue_runners(session)
                if tokens:
                    supervisor.start_queue_runners(session, [
                        o.get_chief_queue_runner() for o in sync_optimizer])
                    session.run(tokens)
                try:
                    while not supervisor.should_stop():
                        loss, stop = train_step_fn(
                            session, train_op, global_step, train_step_kwargs)
                        if stop:
                            logging.info("Stopping Training.")
                            supervisor.request_stop()
                            break
                except errors.OutOfRangeError as error:
                    logging.info("Caught OutOfRangeError. Stopping Training. "
                                 "%s", error)
                if logdir and supervisor.is_chief:
                    logging.info("Finished training! Saving model to disk.")
                    supervisor.saver.save(session, supervisor.save_path,
                                          global_step=supervisor.global_step)
                    supervisor.stop(threads, close_summary_writer=True,
                                    ignore_live_threads=ignore_live_threads)
            return loss
        except errors.AbortedError:
            logging.info("Retrying training!")


def _step_arguments(global_step, number_of_steps, log_every_n_steps,
                    trace_every_n_steps, logdir):
    with name_scope("train_step"):
        found = {"should_stop": (
            _math.greater_equal(global_step, number_of_steps)
            if number_of_steps else constant(False))}
        if log_every_n_steps > 0:
            found["should_log"] = _math.equal(
                _math.mod(global_step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            found["should_trace"] = _math.equal(
                _math.mod(global_step, trace_every_n_steps), 0)
            found["logdir"] = logdir
        return found


def training_train(train_op, logdir, master="", is_chief=True, scaffold=None,
                   hooks=None, chief_only_hooks=None, save_checkpoint_secs=600,
                   save_summaries_steps=100, config=None, max_wait_secs=7200,
                   run_metadata=None):
    """Runs train_op in a tf.train.MonitoredTrainingSession until a hook stops
    it; the last loss. ValueError without `logdir` where something is to be
    saved, and without hooks, which alone end it."""
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps "
                             "is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs "
                             "is not None")
    loss = None
    with MonitoredTrainingSession(
            master=master, is_chief=is_chief, checkpoint_dir=logdir,
            scaffold=scaffold, hooks=hooks, chief_only_hooks=chief_only_hooks,
            save_checkpoint_secs=save_checkpoint_secs,
            save_summaries_steps=save_summaries_steps, config=config,
            max_wait_secs=max_wait_secs) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
