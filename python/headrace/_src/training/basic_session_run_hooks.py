"""The hooks of tf.train: stopping, logging, saving, counting."""
import json
import logging
import os
import time

import numpy as np

import headrace
from headrace._src.framework import messages
from headrace._src.framework.graph import (
    GraphKeys, get_collection, get_default_graph)
from headrace._src.training import global_step as _step
from headrace._src.training.meta_graph import create_meta_graph_def
from headrace._src.training.session_run_hook import (
    SessionRunArgs, SessionRunHook)

_log = logging.getLogger("tensorflow")


def _need_step(hook):
    """The global step as a tensor; RuntimeError if the graph has none."""
    step = _step.get_or_create_read(create=False)
    if step is None:
        raise RuntimeError("Global step should be created to use %s." % hook)
    return step


class SecondOrStepTimer:
    """Says every so many seconds, or every so many steps, that it is time.
    ValueError unless exactly one of the two is given."""

    def __init__(self, every_secs=None, every_steps=None):
        if every_secs is None and every_steps is None:
            raise ValueError(
                "Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError(
                "Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self):
        self._last_step = None
        self._last_time = None

    def should_trigger_for_step(self, step):
        """True for the first step, and once the time or the steps are over."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None:
            return time.monotonic() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step):
        """(seconds, steps) since the time before; (None, None) at first."""
        now = time.monotonic()
        since = (None, None) if self._last_step is None else (
            now - self._last_time, step - self._last_step)
        self._last_time, self._last_step = now, step
        return since

    def last_triggered_step(self):
        return self._last_step


class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` more steps, or when the global step is
    `last_step`."""

    def __init__(self, num_steps=None, last_step=None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be "
                             "specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be "
                             "specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self):
        self._global_step_tensor = _need_step("StopAtStepHook")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = self._num_steps + session.run(
                self._global_step_tensor)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        # What was fetched may be from before the step; then look again.
        if run_values.results + 1 >= self._last_step:
            step = run_context.session.run(self._global_step_tensor)
            if step >= self._last_step:
                run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors, a dict by name or a list, every so many runs or seconds,
    `at_end` also or only then. `formatter`: a function of {name: value} that
    returns the text.

    Tensors: of any shape and dtype, or names of some. ValueError unless exactly
    one of every_n_iter and every_n_secs is given, or at_end, and for numbers
    that are not positive; KeyError or ValueError when the session begins, for a
    name that there is not."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None,
                 at_end=False, formatter=None):
        if not at_end and (every_n_iter is None) == (every_n_secs is None) or (
                every_n_iter is not None and every_n_secs is not None):
            raise ValueError("either at_end and/or exactly one of every_n_iter "
                             "and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        if not isinstance(tensors, dict):
            self._tag_order = list(tensors)
            tensors = {name: name for name in self._tag_order}
        else:
            self._tag_order = list(tensors)
        self._tensors = tensors
        self._formatter = formatter
        self._log_at_end = at_end
        self._timer = None
        if every_n_iter is not None or every_n_secs is not None:
            self._timer = SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self):
        if self._timer is not None:
            self._timer.reset()
        self._iter_count = 0
        self._since = None
        self._current_tensors = {name: _graph_element(t)
                         for name, t in self._tensors.items()}

    def before_run(self, run_context):
        self._should_trigger = self._timer is not None and (
            self._timer.should_trigger_for_step(self._iter_count))
        return (SessionRunArgs(self._current_tensors) if self._should_trigger
                else None)

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values):
        seconds = None
        if self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(
                self._iter_count)
        if self._formatter:
            _log.info("%s", self._formatter(values))
            return
        with np.printoptions(suppress=True):
            text = ", ".join("%s = %s" % (name, values[name])
                             for name in self._tag_order)
        if seconds is not None:
            text += " (%.3f sec)" % seconds
        _log.info("%s", text)


def _graph_element(x):
    """The element of the default graph that x is or names; an operation's
    name stands for its first output."""
    graph = get_default_graph()
    if isinstance(x, str) and ":" not in x:
        x += ":0"
    return graph.as_graph_element(x)


class NanLossDuringTrainingError(RuntimeError):
    """The loss of a training became NaN."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """When the loss is NaN: NanLossDuringTrainingError, or only a stop if
    fail_on_nan_loss is False."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        if np.isnan(run_values.results):
            if self._fail_on_nan_loss:
                _log.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            _log.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


class CheckpointSaverListener:
    """Is called around each checkpoint that a CheckpointSaverHook saves.
    after_save returns True to stop the training."""

    def begin(self):
        pass

    def before_save(self, session, global_step_value):
        pass

    def after_save(self, session, global_step_value):
        pass

    def end(self, session, global_step_value):
        pass


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints to `checkpoint_dir`, every so many seconds or steps, at
    the first run and at the end. `saver`: by default that of `scaffold`, or
    of the collection SAVERS."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None,
                 saver=None, checkpoint_basename="model.ckpt", scaffold=None,
                 listeners=None):
        _log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs,
                                        every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def begin(self):
        self._global_step_tensor = _need_step("CheckpointSaverHook")
        self._summary_writer = headrace.summary.FileWriterCache.get(
            self._checkpoint_dir)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        headrace.train.write_graph(graph_def, self._checkpoint_dir,
                                   "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(create_meta_graph_def(
            graph_def=graph_def, saver_def=self._get_saver().saver_def))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        stale = run_values.results
        if not self._timer.should_trigger_for_step(
                stale + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session):
        last = session.run(self._global_step_tensor)
        if last != self._timer.last_triggered_step():
            self._save(session, last)
        for listener in self._listeners:
            listener.end(session, last)

    def _save(self, session, step):
        """True if a listener asks to stop."""
        _log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(
            messages.SessionLog(status=messages.SessionLog.CHECKPOINT,
                                checkpoint_path=self._save_path), step)
        asked = [listener.after_save(session, step)
                 for listener in self._listeners]
        if any(asked):
            _log.info("A CheckpointSaverListener requested that training be "
                      "stopped.")
        return any(asked)

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_collection(GraphKeys.SAVERS)
        if len(savers) != 1:
            raise RuntimeError(
                "CheckpointSaverHook: the collection %s has %d items, wanted "
                "one. Pass `saver` or `scaffold`." % (
                    GraphKeys.SAVERS, len(savers)))
        self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs steps per second, and writes them as the summary
    `global_step/sec`."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None,
                 summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs "
                             "should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps,
                                        every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir

    def begin(self):
        self._global_step_tensor = _need_step("StepCounterHook")
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = headrace.summary.FileWriterCache.get(
                self._output_dir)
        self._summary_tag = _step.get_global_step().op.name + "/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds is not None:
                self._log_and_record(steps, seconds, step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            summary = messages.Summary()
            summary.value.add(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(summary, global_step)
        _log.info("%s: %g", self._summary_tag, rate)


class SummarySaverHook(SessionRunHook):
    """Writes summaries, every so many steps or seconds: `summary_op`, a tensor
    or a list of them, or that of `scaffold`."""

    def __init__(self, save_steps=None, save_secs=None, output_dir=None,
                 summary_writer=None, scaffold=None, summary_op=None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be "
                             "provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs,
                                        every_steps=save_steps)

    def begin(self):
        self._global_step_tensor = _need_step("SummarySaverHook")
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = headrace.summary.FileWriterCache.get(
                self._output_dir)
        self._next_step = None

    def _get_summary_op(self):
        op = (self._summary_op if self._summary_op is not None
              else self._scaffold.summary_op)
        if op is None:
            return None
        return list(op) if isinstance(op, (list, tuple)) else [op]

    def before_run(self, run_context):
        self._request_summary = self._next_step is None or (
            self._timer.should_trigger_for_step(self._next_step))
        fetches = {"global_step": self._global_step_tensor}
        summaries = self._get_summary_op() if self._request_summary else None
        if summaries is not None:
            fetches["summary"] = summaries
        return SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        if self._summary_writer is None:
            return
        results = run_values.results
        step = results["global_step"] + 1
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(
                messages.SessionLog(status=messages.SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session=None):
        if self._summary_writer is not None:
            self._summary_writer.flush()


class GlobalStepWaiterHook(SessionRunHook):
    """Lets no run begin before the global step is `wait_until_step`: workers
    start one after the other."""

    _PAUSE = 0.5  # seconds

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        self._waited = False
        self._global_step_tensor = _need_step("_GlobalStepWaiterHook")

    def before_run(self, run_context):
        if self._waited:
            return
        self._waited = True
        if self._wait_until_step <= 0:
            return
        _log.info("Waiting for global step %d before starting training.",
                  self._wait_until_step)
        shown = 0
        while True:
            step = run_context.session.run(self._global_step_tensor)
            if step >= self._wait_until_step:
                _log.info("Done waiting.")
                return
            if step - shown > 1000:
                shown = step
                _log.info("Waiting for global step %d before starting "
                          "training. Current step is %d.",
                          self._wait_until_step, step)
            time.sleep(self._PAUSE)


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` at the end; their values are `final_ops_values`."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._ops = final_ops
        self._feeds = final_ops_feed_dict
        self._values = None

    final_ops_values = property(lambda self: self._values)

    def end(self, session):
        if self._ops is not None:
            self._values = session.run(self._ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds what feed_fn() returns to each run."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(None, feed_dict=self.feed_fn())


class ProfilerHook(SessionRunHook):
    """Writes the times of the nodes of a run to `timeline-STEP.json`, every so
    many steps or seconds, for chrome://tracing, and its RunMetadata to an event
    file. `show_dataflow` and `show_memory` change nothing: only times are
    written to the former."""

    def __init__(self, save_steps=None, save_secs=None, output_dir="",
                 show_dataflow=True, show_memory=False):
        self._dir = output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs,
                                        every_steps=save_steps)

    def begin(self):
        self._next_step = None
        self._global_step_tensor = _need_step("ProfilerHook")
        self._summary_writer = headrace.summary.FileWriterCache.get(self._dir)

    def before_run(self, run_context):
        self._request_summary = self._next_step is not None and (
            self._timer.should_trigger_for_step(self._next_step))
        options = messages.RunOptions(
            trace_level=messages.RunOptions.FULL_TRACE
        ) if self._request_summary else None
        return SessionRunArgs(self._global_step_tensor, options=options)

    def after_run(self, run_context, run_values):
        step = run_values.results + 1
        if self._next_step is None:
            # The first run compiles: it is no measure. Steps are counted from
            # before it.
            self._timer.update_last_triggered_step(run_values.results)
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            self._write(step, run_values.run_metadata.step_stats)
            self._summary_writer.add_run_metadata(
                run_values.run_metadata, "step_%d" % step)
        self._next_step = step + 1

    def _write(self, step, stats):
        os.makedirs(self._dir or ".", exist_ok=True)
        path = os.path.join(self._dir, "timeline-%d.json" % step)
        _log.info("Saving timeline for %d into '%s'.", step, path)
        write_trace(path, stats)


def write_trace(path, stats):
    """Writes StepStats as a file for chrome://tracing."""
    with open(path, "w") as file:
        json.dump({"traceEvents": list(_events(stats))}, file)


def _events(stats):
    """The nodes of StepStats as events of chrome's trace format."""
    for pid, device in enumerate(stats.dev_stats):
        yield {"ph": "M", "name": "process_name", "pid": pid,
               "args": {"name": device.device}}
        for node in device.node_stats:
            yield {"ph": "X", "cat": "Op", "name": node.node_name, "pid": pid,
                   "tid": node.thread_id, "ts": node.all_start_micros,
                   "dur": node.all_end_rel_micros,
                   "args": {"label": node.timeline_label}}
