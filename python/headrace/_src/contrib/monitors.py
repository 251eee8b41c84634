"""tf.contrib.learn.monitors: objects that are told of every training step. A hook
calls them, so that tf.estimator.Estimator takes them too."""
import copy
import inspect
import time

from headrace._src.framework.graph import get_default_graph
from headrace._src.platform import tf_logging as _log
from headrace._src.training.checkpoint_management import latest_checkpoint
from headrace._src.training.global_step import get_global_step
from headrace._src.training.session_run_hook import (
    SessionRunArgs, SessionRunHook)


class BaseMonitor:
    """What is told of each step: step_begin names tensors, of any shape and
    dtype, step_end gets their values and says whether to stop, post_step gets
    the session. ValueError for calls that do not follow each other so."""

    def __init__(self):
        self._begun = False
        self._current_epoch = None
        self._current_step = None
        self._max_steps = None
        self._estimator = None

    @property
    def run_on_all_workers(self):
        """Whether workers that are not the chief have it too."""
        return False

    def set_estimator(self, estimator):
        """The estimator that is trained; ValueError for None."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps=None):
        """Before the first step."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session=None):
        """After the last step."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch):
        """Before an epoch."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError("Invalid epoch %s." % epoch)
        self._current_epoch = epoch

    def epoch_end(self, epoch):
        """After an epoch."""
        if self._current_epoch != epoch:
            raise ValueError(
                "epoch_end expected %s but got %s." % (self._current_epoch, epoch))
        self._current_epoch = None

    def step_begin(self, step):
        """A list of the tensors whose values step_end wants, or their names."""
        if step < 0 or (self._current_step is not None
                        and step < self._current_step):
            raise ValueError("Invalid step %s." % step)
        self._current_step = step
        return []

    def step_end(self, step, output):
        """Whether to stop. `output`: {tensor or name: value}."""
        if self._current_step != step:
            raise ValueError(
                "step_end expected %s but got %s." % (self._current_step, step))
        self._current_step = None
        return False

    def post_step(self, step, session):
        """After the step, outside of its run."""


class EveryN(BaseMonitor):
    """A monitor that is told of the first `first_n_steps` steps, of one in
    `every_n_steps` and of the last. Tensors of any shape and dtype; ValueError
    as BaseMonitor's."""

    def __init__(self, every_n_steps=100, first_n_steps=1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step = None
        self._last_active_step = 0
        self._is_active = False

    def every_n_step_begin(self, step):
        """step_begin of the steps that it is told of."""
        return []

    def every_n_step_end(self, step, outputs):
        """step_end of the steps that it is told of."""
        return False

    def every_n_post_step(self, step, session):
        """post_step of the steps that it is told of, and at the end."""

    def step_begin(self, step):
        super().step_begin(step)
        self._is_active = (
            step <= self._first_n_steps or step == self._max_steps
            or step >= self._every_n_steps + self._last_active_step)
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step, output):
        super().step_end(step, output)
        return self._is_active and self.every_n_step_end(step, output)

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session=None):
        super().end(session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


class ValidationMonitor(EveryN):
    """Evaluates each new checkpoint while the model is trained.

    `input_fn`, `eval_steps`, `hooks` and `name` go to the estimator's evaluate;
    x, y, batch_size and metrics only to those of tf.contrib.learn. It looks for
    a checkpoint every `every_n_steps` steps, if `check_interval_secs` have
    passed. Training stops when early_stopping_metric, a scalar number, has not
    become better for early_stopping_rounds steps. It makes no tensors.
    ValueError without x and input_fn, for arguments that tf.estimator.Estimator
    does not take, and for a metric that evaluate does not give."""

    def __init__(self, x=None, y=None, input_fn=None, batch_size=None,
                 eval_steps=None, every_n_steps=100, metrics=None, hooks=None,
                 early_stopping_rounds=None, early_stopping_metric="loss",
                 early_stopping_metric_minimize=True, name=None,
                 check_interval_secs=5):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn = x, y, input_fn
        self.batch_size = batch_size
        self.eval_steps = eval_steps
        self.metrics = metrics
        self.hooks = hooks
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.name = name
        self._check_interval_secs = check_interval_secs
        self._looked = None  # when, in seconds
        self._evaluated = None  # the checkpoint
        self._early_stopped = False
        self._best_step = self._best_value = self._best_metrics = None

    early_stopped = property(
        lambda self: self._early_stopped, doc="Whether it stopped the training.")
    best_step = property(
        lambda self: self._best_step, doc="The step of the best metric.")
    best_value = property(
        lambda self: self._best_value, doc="The best metric.")
    best_metrics = property(
        lambda self: self._best_metrics,
        doc="What evaluate gave with the best metric.")

    def _evaluate(self):
        options = dict(input_fn=self.input_fn, steps=self.eval_steps,
                       hooks=self.hooks, name=self.name)
        older = dict(x=self.x, y=self.y, batch_size=self.batch_size,
                     metrics=self.metrics)
        older = {k: v for k, v in older.items() if v is not None}
        if older and hasattr(self._estimator, "eval_dir"):  # tf.estimator's
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: "
                "x, y, batch_size, metrics; got %s" % ", ".join(older))
        return self._estimator.evaluate(**options, **older)

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now = time.time()
        if None not in (self._check_interval_secs, self._looked) \
                and now - self._looked <= self._check_interval_secs:
            return False
        self._looked = now
        newest = latest_checkpoint(self._estimator.model_dir)
        if newest is None or newest == self._evaluated:
            return False
        self._evaluated = newest
        found = self._evaluate()
        _log.info("Validation (step %d): %s", step, ", ".join(
            "%s = %s" % item for item in found.items()))
        return self.early_stopping_rounds is not None and self._stops(
            step, found)

    def _stops(self, step, found):
        if self.early_stopping_metric not in found:
            raise ValueError("Metric %s missing from outputs %s." % (
                self.early_stopping_metric, set(found)))
        value, best = found[self.early_stopping_metric], self._best_value
        if best is None or (value < best if self.early_stopping_metric_minimize
                            else value > best):
            self._best_value, self._best_step = value, step
            self._best_metrics = copy.deepcopy(found)
        if step - self._best_step < self.early_stopping_rounds:
            return False
        _log.info("Stopping. Best step: %s with %s = %s.", self._best_step,
                  self.early_stopping_metric, self._best_value)
        self._early_stopped = True
        return True


def _element(x):
    """A tensor of the default graph by itself or its name. ValueError for one of
    another graph, and for an operation that has several outputs."""
    graph = get_default_graph()
    if not isinstance(x, str):
        if getattr(x, "graph", None) is not graph:
            raise ValueError("Passed %s should have graph attribute that is "
                             "equal to current graph %s." % (x, graph))
        return x
    if ":" in x:
        return graph.as_graph_element(x)
    found = graph.as_graph_element(x + ":0")
    if len(found.op.outputs) > 1:
        raise ValueError("Name %s is ambiguous, as this `Operation` has "
                         "multiple outputs (at least 2)." % x)
    return found


class RunHookAdapterForMonitors(SessionRunHook):
    """The hook that calls monitors. The tensors that they name may be of any
    shape and dtype. RuntimeError without a global step; what monitors raise."""

    def __init__(self, monitors):
        self._monitors = monitors

    def begin(self):
        self._last_step = None
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use monitors.")
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context):
        if self._last_step is None:
            self._last_step = 1 + run_context.session.run(
                self._global_step_tensor)
        wanted = {}
        for monitor in self._monitors:
            names = monitor.step_begin(self._last_step) or []
            if not isinstance(names, list):
                raise ValueError("Monitor.step_begin should return a list.")
            for x in names:
                wanted[x] = _element(x)
        return SessionRunArgs({"global_step": self._global_step_tensor,
                               "monitors": wanted})

    def after_run(self, run_context, run_values):
        values = run_values.results["monitors"]
        stops = [m.step_end(self._last_step, values) for m in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results["global_step"] + 1

    def end(self, session):
        self._last_step = None
        for monitor in self._monitors:
            # Monitors of older programs take no session.
            if "session" in inspect.signature(monitor.end).parameters:
                monitor.end(session=session)
            else:
                monitor.end()


def replace_monitors_with_hooks(monitors_or_hooks, estimator):
    """A list of the hooks, with one more that calls the monitors.

    `monitors_or_hooks`: a list or None; `estimator`: what they are for. A worker
    that is not the chief has only monitors with run_on_all_workers. It makes no
    tensors, so shapes and dtypes do not matter. ValueError for an estimator of
    None, where there are monitors."""
    both = monitors_or_hooks or []
    hooks = [x for x in both if isinstance(x, SessionRunHook)]
    monitors = [x for x in both if not isinstance(x, SessionRunHook)]
    if monitors and estimator is not None and not estimator.config.is_chief:
        monitors = [m for m in monitors if m.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return hooks + ([RunHookAdapterForMonitors(monitors)] if monitors else [])
