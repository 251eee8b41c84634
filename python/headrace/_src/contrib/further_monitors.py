"""tf.contrib.learn.monitors: monitors that print, save, stop and compare."""
import os
import time

import numpy as np

from headrace._src.contrib.monitors import BaseMonitor, EveryN
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import SessionLog, Summary
from headrace._src.platform import tf_logging as _log
from headrace._src.summary.event_files import FileWriterCache
from headrace._src.training.basic_session_run_hooks import (
    NanLossDuringTrainingError)


def _name_of(x):
    return x if isinstance(x, str) else x.name


def _output(outputs, request):
    """The value of a request, a tensor or a name; keys may be either."""
    for key in (request, _name_of(request)):
        if key in outputs:
            return outputs[key]
    wanted = _name_of(request)
    wanted += "" if ":" in wanted else ":0"
    return next(value for key, value in outputs.items()
                if _name_of(key) in (wanted, wanted.partition(":")[0]))


class PrintTensor(EveryN):
    """Logs the values of tensors of any shape and dtype: a list of names, or a
    dict {what it is called: name}. It raises what the graph does for a name
    that it lacks."""

    def __init__(self, tensor_names, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, dict):
            tensor_names = {name: name for name in tensor_names}
        self._tensor_names = tensor_names

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        _log.info("Step %d: %s", step, ", ".join(
            "%s = %s" % (tag, _output(outputs, name))
            for tag, name in sorted(self._tensor_names.items())
            if name in outputs))
        return False


class LoggingTrainable(EveryN):
    """Logs the trainable variables, of any shape and dtype, whose names begin
    with a scope. It raises nothing."""

    def __init__(self, scope=None, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        variables = get_default_graph().get_collection(
            "trainable_variables", self._scope)
        self._names = {v.name: v.value().name for v in variables}
        return list(self._names.values())

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        _log.info("Logging Trainable: step: %d %s", step, ", ".join(
            "%s = %s" % (tag, outputs[name])
            for tag, name in sorted(self._names.items())))
        return False


class SummarySaver(EveryN):
    """Writes a scalar string tensor of summaries to summary_writer, to output_dir,
    or to the estimator's folder. It raises nothing."""

    def __init__(self, summary_op, save_steps=100, output_dir=None,
                 summary_writer=None, scaffold=None):
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)
        self._scaffold = scaffold

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        if self._summary_op is None or self._summary_writer is None:
            return False
        found = _output(outputs, self._summary_op)
        if not isinstance(found, Summary):
            found = Summary.FromString(found)
        self._summary_writer.add_summary(found, step)
        return False

    def end(self, session=None):
        super().end(session=session)
        if self._summary_writer is not None:
            self._summary_writer.flush()


class StopAtStep(BaseMonitor):
    """Stops after num_steps steps, or at the step last_step. It names no tensors.
    ValueError for both or none of them."""

    def __init__(self, num_steps=None, last_step=None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if None not in (num_steps, last_step):
            raise ValueError(
                "Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self):
        return True

    def step_begin(self, step):
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step, output):
        super().step_end(step, output)
        return step >= self._last_step


class CaptureVariable(EveryN):
    """Keeps the values of a tensor or variable, of any shape and dtype, by step.
    It raises what the graph does for a name that it lacks."""

    def __init__(self, var_name, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values = {}

    values = property(lambda self: self._var_values,
                      doc="{step: value}, an array each.")

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        self._var_values[step] = _output(outputs, self._var_name)
        return False


def get_default_monitors(loss_op=None, summary_op=None, save_summary_steps=100,
                         output_dir=None, summary_writer=None):
    """A list of PrintTensor for the loss and SummarySaver for the summaries, a
    scalar and a string, as far as they are given. It raises nothing."""
    monitors = []
    if loss_op is not None:
        monitors.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(SummarySaver(
            summary_op, save_steps=save_summary_steps, output_dir=output_dir,
            summary_writer=summary_writer))
    return monitors


class GraphDump(BaseMonitor):
    """Keeps the values of the first outputs, of any shape and dtype, of all
    operations but those of the types ignore_ops."""

    IGNORE_OPS = ["Const", "Assign", "Identity", "Placeholder", "RandomUniform",
                  "Cast", "RestoreSlice"]

    def __init__(self, ignore_ops=None):
        super().__init__()
        self._ignore_ops = ignore_ops or self.IGNORE_OPS
        self._data = {}

    data = property(lambda self: self._data, doc="{step: {tensor: value}}.")

    def begin(self, max_steps=None):
        super().begin(max_steps=max_steps)
        self._tensors = [op.outputs[0] for op in
                         get_default_graph().get_operations()
                         if op.type not in self._ignore_ops and op.outputs]

    def step_begin(self, step):
        super().step_begin(step)
        return self._tensors

    def step_end(self, step, output):
        super().step_end(step, output)
        self._data[step] = output
        return False

    def compare(self, other_dump, step, atol=1e-06):
        """(names of equal values, {name: difference}) of two dumps at a step.
        ValueError for a name that the other has not."""
        mine, others = (dump.data.get(step, {}) for dump in (self, other_dump))
        matched, different = [], {}
        for key, value in mine.items():
            if not isinstance(key, str):
                continue
            if key not in others:
                raise ValueError("%s missing at step %s." % (key, step))
            other = others[key]
            if isinstance(value, str):
                continue
            if isinstance(value, np.ndarray):
                same = np.allclose(value, other, atol=atol)
                difference = None if same else value - other
            else:
                same, difference = value == other, (value, other)
            if same:
                matched.append(key)
            else:
                different[key] = difference
        return matched, different


class CheckpointSaver(BaseMonitor):
    """Saves after the first step, then every save_secs seconds or save_steps
    steps, and at the end. It names no tensors. ValueError for both or none of
    them."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None,
                 saver=None, checkpoint_basename="model.ckpt", scaffold=None):
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if None not in (save_steps, save_secs):
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._saver = saver
        self._scaffold = scaffold
        self._summary_writer = FileWriterCache.get(checkpoint_dir)
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._save_secs = save_secs
        self._save_steps = save_steps
        self._begun_step = self._saved_step = self._saved_time = None

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self._begun_step = self._saved_step = self._saved_time = None

    def step_begin(self, step):
        super().step_begin(step)
        self._begun_step = step
        return []

    def post_step(self, step, session):
        super().post_step(step, session)
        if (self._saved_time is None
                or self._save_steps is not None
                and step >= self._saved_step + self._save_steps
                or self._save_secs is not None
                and time.time() >= self._saved_time + self._save_secs):
            self._save(step, session)

    def end(self, session=None):
        super().end(session)
        self._save(self._begun_step, session)

    def _save(self, step, session):
        if step == self._saved_step:
            return
        _log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._saved_time, self._saved_step = time.time(), step
        (self._saver or self._scaffold.saver).save(
            session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(SessionLog(
            status=SessionLog.CHECKPOINT,
            checkpoint_path=self._save_path), step)


class StepCounter(EveryN):
    """Writes the summary "global_step/sec", a number. It names no tensors and
    raises nothing."""

    def __init__(self, every_n_steps=100, output_dir=None, summary_writer=None):
        super().__init__(every_n_steps=every_n_steps)
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)
        self._reported = None  # (step, time)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step, outputs):
        now = time.time()
        if self._reported is not None and self._summary_writer:
            step, at = self._reported
            summary = Summary()
            summary.value.add(tag="global_step/sec",
                              simple_value=(current_step - step) / (now - at))
            self._summary_writer.add_summary(summary, current_step)
        self._reported = current_step, now
        return False


class NanLoss(EveryN):
    """Stops when a loss, a scalar, is not a number: with
    NanLossDuringTrainingError, or with fail_on_nan_loss False without."""

    def __init__(self, loss_tensor, every_n_steps=100, fail_on_nan_loss=True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        if not np.isnan(_output(outputs, self._loss_tensor)):
            return False
        if self._fail_on_nan_loss:
            _log.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        _log.warning("Model diverged with loss = NaN.")
        return True
