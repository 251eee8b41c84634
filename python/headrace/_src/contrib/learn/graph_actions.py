"""tf.contrib.learn: trains, evaluates and runs graphs without an estimator."""
import itertools
import time

import numpy as np

from headrace._src.contrib.further_monitors import get_default_monitors
from headrace._src.contrib.shape_checks import assert_or_get_global_step
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import errors
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, get_collection)
from headrace._src.framework.messages import Summary
from headrace._src.framework.tensor import is_tensor
from headrace._src.platform import tf_logging as _log
from headrace._src.session.session import Session
from headrace._src.summary.event_files import FileWriterCache
from headrace._src.training import coordinator as _coordinator
from headrace._src.training import resources as _resources
from headrace._src.training.basic_session_run_hooks import (
    NanLossDuringTrainingError)
from headrace._src.training.checkpoint_reader import load_variable
from headrace._src.training.saver import Saver
from headrace._src.training.session_manager import SessionManager
from headrace._src.training.summary import merge_all
from headrace._src.training.supervisor import Supervisor
from headrace._src.variables import variables as _variables


def _saver_of(graph, keep_checkpoint_max=5):
    saved = (graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
             + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS))
    return Saver(saved, sharded=True,
                 max_to_keep=keep_checkpoint_max) if saved else None


def _restore(session, graph, checkpoint, saver=None):
    saver = saver or _saver_of(graph)
    if saver:
        saver.restore(session, checkpoint)


def _run_step(session, step, tensors, feed_dict, monitors):
    """({name: value}, whether a monitor stops)."""
    for monitor in monitors:
        tensors = tensors + list(monitor.step_begin(step) or ())
    tensors = list(dict.fromkeys(tensors))
    found = session.run(tensors, feed_dict=feed_dict)
    outputs = {t.name if is_tensor(t) else t: value
               for t, value in zip(tensors, found)}
    stops = [monitor.step_end(step, outputs) for monitor in monitors]
    return outputs, any(stops)


def train(graph, output_dir, train_op, loss_op, global_step_tensor=None,
          init_op=None, init_feed_dict=None, init_fn=None, log_every_steps=10,
          supervisor_is_chief=True, supervisor_master="",
          supervisor_save_model_secs=600, keep_checkpoint_max=5,
          supervisor_save_summaries_steps=100, feed_fn=None, steps=None,
          fail_on_nan_loss=True, monitors=None, max_steps=None):
    """Runs train_op with a Supervisor, for `steps` steps or until max_steps, and
    saves: the last value of loss_op, a scalar.

    ValueError for both numbers of steps, without output_dir, train_op, loss_op
    or a global step; NanLossDuringTrainingError for a loss that is no number."""
    if None not in (steps, max_steps):
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError("Output directory should be non-empty %s."
                         % output_dir)
    for name, op in (("train_op", train_op), ("loss_op", loss_op)):
        if op is None:
            raise ValueError("Missing %s." % name)
    with graph.as_default():
        step_tensor = assert_or_get_global_step(graph, global_step_tensor)
        if step_tensor is None:
            raise ValueError(
                'No "global_step" was provided or found in the graph.')
        try:
            start = load_variable(output_dir, step_tensor.op.name)
        except (errors.NotFoundError, ValueError):
            start = 0
        writer = (FileWriterCache.get(output_dir) if supervisor_is_chief
                  else None)
        if not monitors:
            monitors = get_default_monitors(
                loss_op=loss_op, summary_op=merge_all(),
                save_summary_steps=supervisor_save_summaries_steps,
                summary_writer=writer) if supervisor_is_chief else []
        if not supervisor_is_chief:
            monitors = [m for m in monitors if m.run_on_all_workers]
        if max_steps is None and steps:
            max_steps = start + steps
        for monitor in monitors:
            monitor.begin(max_steps=max_steps)
    supervisor = Supervisor(
        graph, init_op=init_op or Supervisor.USE_DEFAULT,
        init_feed_dict=init_feed_dict, is_chief=supervisor_is_chief,
        logdir=output_dir, saver=_saver_of(graph, keep_checkpoint_max),
        global_step=step_tensor, summary_op=None, summary_writer=writer,
        save_model_secs=supervisor_save_model_secs, init_fn=init_fn)
    session = supervisor.PrepareSession(master=supervisor_master,
                                        start_standard_services=True)
    supervisor.StartQueueRunners(session)
    with session:
        try:
            return _train_steps(
                session, supervisor, step_tensor, train_op, loss_op, feed_fn,
                monitors, max_steps, log_every_steps, fail_on_nan_loss)
        finally:
            supervisor.Stop(close_summary_writer=False)
            if supervisor_is_chief:
                supervisor.saver.save(session, supervisor.save_path,
                                      global_step=session.run(step_tensor))
                for monitor in monitors:
                    monitor.end()


def _train_steps(session, supervisor, step_tensor, train_op, loss_op, feed_fn,
                 monitors, max_steps, log_every_steps, fail_on_nan_loss):
    loss = None
    step = logged = session.run(step_tensor)
    try:
        while not supervisor.ShouldStop() and (max_steps is None
                                               or step < max_steps):
            begun = time.time()
            outputs, stops = _run_step(
                session, step + 1, [train_op, loss_op],
                feed_fn() if feed_fn is not None else None, monitors)
            loss = outputs[loss_op.name]
            if np.isnan(loss):
                if fail_on_nan_loss:
                    raise NanLossDuringTrainingError()
                _log.warning("Model diverged with loss = NaN.")
            if stops:
                break
            now = session.run(step_tensor)
            if now <= step:
                _log.error("Global step was not incremented by train op at step "
                           "%s: new step %d", step, now)
            step = now
            if step == max_steps or step - logged >= log_every_steps:
                _log.info("training step %d, loss = %.5f (%.3f sec/batch).",
                          step, loss, time.time() - begun)
                logged = step
    except (errors.OutOfRangeError, StopIteration) as end:
        _log.info("The inputs ended: %s", end)
    return loss


def _collected(key, make):
    """The first of a collection, or a new one that joins it."""
    found = get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        add_to_collection(key, made)
    return made


def evaluate(graph, output_dir, checkpoint_path, eval_dict, update_op=None,
             global_step_tensor=None, supervisor_master="", log_every_steps=10,
             feed_fn=None, max_steps=None):
    """({name: value} of the tensors eval_dict, of any shape and dtype, the global
    step): after runs of update_op, max_steps or to the end of the inputs. Scalars
    are summaries in output_dir. ValueError without output_dir."""
    if not output_dir:
        raise ValueError("Output directory should be non-empty %s."
                         % output_dir)
    with graph.as_default():
        step_tensor = assert_or_get_global_step(graph, global_step_tensor)
        saver = _collected(GraphKeys.SAVERS, lambda: (
            Saver() if get_collection(GraphKeys.GLOBAL_VARIABLES) else None))
        local_init_op = _collected(GraphKeys.LOCAL_INIT_OP, lambda: group(
            _variables.local_variables_initializer(),
            _variables.tables_initializer()))
        ready_op = _collected(GraphKeys.READY_OP,
                              _variables.report_uninitialized_variables)
        session, initialized = SessionManager(
            local_init_op=local_init_op, ready_op=ready_op,
            ready_for_local_init_op=_collected(
                GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None),
        ).recover_session(master=supervisor_master, saver=saver,
                          checkpoint_dir=checkpoint_path)
        coord = _coordinator.Coordinator()
        threads = _coordinator.start_queue_runners(session, coord)
        with session:
            if not initialized:
                _log.warning("Failed to initialize from %s.", checkpoint_path)
                session.run(_variables.global_variables_initializer())
                if checkpoint_path:
                    _restore(session, graph, checkpoint_path, saver)
            step = session.run(step_tensor)
            found = _evaluate_steps(session, eval_dict, update_op, feed_fn,
                                    max_steps, log_every_steps)
            coord.request_stop()
            try:
                coord.join(threads, stop_grace_period_secs=120)
            except (RuntimeError, errors.CancelledError,
                    errors.OutOfRangeError) as error:
                _log.warning("Coordinator didn't stop cleanly: %s", error)
    _write_results(output_dir, found, step)
    return found, step


def _evaluate_steps(session, eval_dict, update_op, feed_fn, max_steps,
                    log_every_steps):
    found, step, feeds, found_at = None, 0, None, None
    try:
        while max_steps is None or step < max_steps:
            step += 1
            feeds = feed_fn() if feed_fn is not None else None
            if update_op is not None:
                session.run(update_op, feed_dict=feeds)
            if update_op is None or step % log_every_steps == 0:
                found, found_at = session.run(eval_dict, feed_dict=feeds), step
    except (errors.OutOfRangeError, StopIteration) as end:
        _log.info("The inputs ended: %s", end)
        step -= 1
    if found is None or found_at != step and update_op is not None:
        found = session.run(eval_dict, feed_dict=feeds)
    return found


def _write_results(output_dir, found, step):
    summary = Summary()
    for key, value in found.items():
        if isinstance(value, (float, np.float32)):
            summary.value.add(tag=key, simple_value=float(value))
        elif value is not None:
            _log.warning("Skipping summary for %s, must be a float or "
                         "np.float32.", key)
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()


def run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path=None):
    """An iterator over {name: value} of the tensors output_dict, for each feed
    dict, in a session of variables that are initialized or restored. ValueError
    without tensors or feeds."""
    if not output_dict:
        raise ValueError("output_dict is invalid: %s." % output_dict)
    if not feed_dicts:
        raise ValueError("feed_dicts is invalid: %s." % feed_dicts)
    graph = next(iter(output_dict.values())).graph
    with graph.as_default(), Session("") as session:
        session.run(_resources.initialize_resources(
            _resources.shared_resources() + _resources.local_resources()))
        if restore_checkpoint_path:
            _restore(session, graph, restore_checkpoint_path)
        else:
            session.run(_variables.global_variables_initializer())
        session.run([_variables.local_variables_initializer(),
                     _variables.tables_initializer()])
        coord = _coordinator.Coordinator()
        threads = _coordinator.start_queue_runners(session, coord=coord)
        try:
            for feeds in feed_dicts:
                yield session.run(output_dict, feeds)
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=120)


def run_feeds(output_dict, feed_dicts, restore_checkpoint_path=None):
    """A list of {name: value} of the tensors output_dict, of any shape and dtype,
    for each feed dict. ValueError without tensors or feeds."""
    return list(run_feeds_iter(output_dict, feed_dicts,
                               restore_checkpoint_path))


def run_n(output_dict, feed_dict=None, restore_checkpoint_path=None, n=1):
    """run_feeds, n times with the same feeds. Shapes, dtypes and errors are
    its."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n),
                     restore_checkpoint_path)


def infer(restore_checkpoint_path, output_dict, feed_dict=None):
    """run_feeds of one feed dict, with variables of a checkpoint: one dict.
    Shapes, dtypes and errors are its."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
