"""tf.contrib.learn.Experiment: trains and evaluates an estimator, on one machine or
as a task of a cluster."""
import contextlib
import functools
import math
import os
import time

from headrace._src.contrib import monitors as _monitors
from headrace._src.contrib.hparams import HParams
from headrace._src.contrib.learn.base import Evaluable, Trainable
from headrace._src.contrib.learn.exports import (
    ExportStrategy, is_core_estimator)
from headrace._src.contrib.learn.metric_spec import argument_names
from headrace._src.contrib.learn.run_config import Environment, RunConfig, TaskType
from headrace._src.framework.graph import GraphKeys
from headrace._src.framework.text_compat import as_bytes
from headrace._src.platform import tf_logging as _log
from headrace._src.training import basic_session_run_hooks as _hooks
from headrace._src.training.checkpoint_management import latest_checkpoint
from headrace._src.training.server_lib import Server

_WARN_SECONDS = 600  # between warnings that there is no checkpoint


def _predicate(function):
    """`function` as one of eval_results and checkpoint_path; None: always true.
    ValueError for what cannot be called."""
    if function is None:
        return lambda eval_results, checkpoint_path: True
    if not callable(function):
        raise ValueError(
            "`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in argument_names(function):
        return function
    return lambda eval_results, checkpoint_path: function(eval_results)


class _EvalAndExport(_hooks.CheckpointSaverListener):
    """Evaluates and exports each checkpoint that is saved."""

    def __init__(self, evaluate, export, model_dir):
        self._evaluate = evaluate
        self._export = export
        self._model_dir = model_dir
        self._done = None
        self.eval_result = None
        self.export_results = None

    def after_save(self, session, global_step_value):
        newest = latest_checkpoint(self._model_dir)
        if not newest or newest == self._done:
            _log.warning("Skipping evaluation and export: there is no new "
                         "checkpoint in %s", self._model_dir)
            return
        self._done = newest
        self.eval_result = self._evaluate(name="intermediate_export",
                                          checkpoint_path=newest)
        self.export_results = self._export(self.eval_result,
                                           checkpoint_path=newest)


class Experiment:
    """What is needed to train and evaluate an estimator.

    `estimator`: of tf.contrib.learn or tf.estimator. The input_fns give features
    and labels of the shapes and dtypes that it takes. `eval_metrics`: as those
    of its evaluate. `min_eval_frequency`: in steps, how often train_and_evaluate
    looks for a checkpoint; 0: at the end alone. `export_strategies`: one
    ExportStrategy or several. ValueError for another estimator and for
    arguments that it does not take."""

    def __init__(self, estimator, train_input_fn, eval_input_fn,
                 eval_metrics=None, train_steps=None, eval_steps=100,
                 train_monitors=None, eval_hooks=None,
                 local_eval_frequency=None, eval_delay_secs=120,
                 continuous_eval_throttle_secs=60, min_eval_frequency=None,
                 delay_workers_by_global_step=False, export_strategies=None,
                 train_steps_per_iteration=None, checkpoint_and_export=False,
                 saving_listeners=None, check_interval_secs=5):
        self._core_estimator_used = is_core_estimator(estimator)
        if self._core_estimator_used:
            if eval_metrics is not None:
                raise ValueError(
                    "`eval_metrics` must be `None` with "
                    "`tf.estimator.Estimator`. Use `eval_metric_ops` in "
                    "`tf.estimator.EstimatorSpec` instead.")
        else:
            if not isinstance(estimator, Evaluable):
                raise ValueError(
                    "`estimator` must implement `tf.contrib.learn.Evaluable` or "
                    "`tf.estimator.Estimator`.")
            if not isinstance(estimator, Trainable):
                raise ValueError(
                    "`estimator` must implement `tf.contrib.learn.Trainable`"
                    "or `tf.estimator.`Estimator`.")
            if saving_listeners is not None:
                raise ValueError("`saving_listeners` must be `None` with "
                                 "`tf.contrib.learn.Estimator`.")
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._min_eval_frequency = (1 if min_eval_frequency is None
                                    else min_eval_frequency)
        self._check_interval_secs = check_interval_secs
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._train_monitors = list(train_monitors or ())
        self._eval_hooks = list(eval_hooks or ())
        self._set_export_strategies(export_strategies)
        if not isinstance(train_steps_per_iteration, (int, type(None))):
            raise ValueError(
                "`train_steps_per_iteration` must be an integer.")
        self._train_steps_per_iteration = train_steps_per_iteration

    estimator = property(lambda self: self._estimator,
                         doc="What is trained and evaluated.")
    eval_metrics = property(lambda self: self._eval_metrics,
                            doc="The metrics of evaluations, or None.")
    train_steps = property(lambda self: self._train_steps,
                           doc="The global step at which training ends.")
    eval_steps = property(lambda self: self._eval_steps,
                          doc="How many batches an evaluation takes.")

    def _set_export_strategies(self, values):
        if isinstance(values, ExportStrategy):
            values = [values]
        for value in values or ():
            if not isinstance(value, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable "
                    "of ExportStrategy, or `None`, found %s." % value)
        self._export_strategies = tuple(values or ())

    def extend_train_hooks(self, additional_hooks):
        """Adds hooks or monitors to those of training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies=None):
        """Replaces the export strategies; the tuple of the old ones."""
        old = self._export_strategies
        self._set_export_strategies(new_export_strategies)
        return old

    def train(self, delay_secs=None):
        """Trains; what the estimator's fit gives. A worker waits delay_secs, by
        default longer the higher its number, and starts its server if
        TF_CONFIG's environment is no local one."""
        self._start_server_if_needed()
        hooks = []
        if delay_secs is None:
            task = self._estimator.config.task_id or 0
            delay_secs = min(60, task * 5)
            if self._delay_workers_by_global_step:
                hooks.append(_hooks.GlobalStepWaiterHook(
                    int(8000.0 * math.log(task + 1))))
                delay_secs = 0
        if delay_secs > 0:
            _log.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._call_train(
            input_fn=self._train_input_fn, max_steps=self._train_steps,
            hooks=self._train_monitors + hooks,
            saving_listeners=self._saving_listeners)

    def _start_server_if_needed(self):
        config = self._estimator.config
        if not (config.cluster_spec and config.master):
            return
        if not isinstance(config, RunConfig):
            raise ValueError(
                "For distributed runtime, Experiment class only works with "
                "tf.contrib.learn.RunConfig for now, but provided {}".format(
                    type(config)))
        if config.environment == Environment.LOCAL:
            _log.warning("ClusterSpec and master are provided, but environment "
                         "is set to 'local'. Set environment to 'cloud' if you "
                         "intend to use the distributed runtime.")
        elif config.environment != Environment.GOOGLE:
            self._start_server()

    def evaluate(self, delay_secs=None, name=None):
        """Evaluates the newest checkpoint, after delay_secs; the metrics."""
        if delay_secs is None:
            delay_secs = self._eval_delay_secs
        if delay_secs:
            _log.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._call_evaluate(
            input_fn=self._eval_input_fn, steps=self._eval_steps,
            metrics=self._eval_metrics, name=name or "one_pass",
            hooks=self._eval_hooks)

    def local_run(self):
        """train_and_evaluate that looks for a checkpoint each
        local_eval_frequency steps."""
        with _kept(self, "_min_eval_frequency"):
            self._min_eval_frequency = self._local_eval_frequency
            return self.train_and_evaluate()

    def _continuous_eval(self, input_fn, name, delay_secs, throttle_delay_secs,
                         evaluate_checkpoint_only_once=True,
                         continuous_eval_predicate_fn=None, export=True):
        goes_on = _predicate(continuous_eval_predicate_fn)
        if delay_secs is None:
            delay_secs = self._eval_delay_secs
        if throttle_delay_secs is None:
            throttle_delay_secs = self._continuous_eval_throttle_secs
        if delay_secs:
            _log.info("Waiting %f secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        done, found, warned = None, None, 0
        while goes_on(found, checkpoint_path=done):
            if self._has_training_stopped(found):
                _log.info("Exiting continuous eval, global_step=%s >= "
                          "train_step=%s", found[GraphKeys.GLOBAL_STEP],
                          self._train_steps)
                return
            start = time.time()
            newest = latest_checkpoint(self._estimator.model_dir)
            if not newest or evaluate_checkpoint_only_once and newest == done:
                found = {}
                if time.time() - warned > _WARN_SECONDS:
                    _log.warning("No new checkpoint ready for evaluation.")
                    warned = time.time()
            else:
                found = self._call_evaluate(
                    input_fn=input_fn, steps=self._eval_steps,
                    metrics=self._eval_metrics, name=name,
                    checkpoint_path=newest, hooks=self._eval_hooks) or {}
                if export:
                    self._maybe_export(found, checkpoint_path=newest)
                warned, done = 0, newest
            rest = throttle_delay_secs - (time.time() - start)
            if rest > 0:
                _log.info("Waiting %f secs before starting next eval run.",
                          rest)
                time.sleep(rest)

    def _has_training_stopped(self, found):
        step = (found or {}).get(GraphKeys.GLOBAL_STEP)
        return step and self._train_steps and step >= self._train_steps

    def continuous_eval(self, delay_secs=None, throttle_delay_secs=None,
                        evaluate_checkpoint_only_once=True,
                        continuous_eval_predicate_fn=None, name="continuous"):
        """Evaluates and exports each new checkpoint until the last step, or until
        continuous_eval_predicate_fn(metrics[, checkpoint_path]) is false.
        ValueError for one that cannot be called."""
        self._continuous_eval(
            self._eval_input_fn, name=name, delay_secs=delay_secs,
            throttle_delay_secs=throttle_delay_secs,
            evaluate_checkpoint_only_once=evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn=continuous_eval_predicate_fn)

    def continuous_eval_on_train_data(self, delay_secs=None,
                                      throttle_delay_secs=None,
                                      continuous_eval_predicate_fn=None,
                                      name="continuous_on_train_data"):
        """The same with the data of training; nothing is exported."""
        self._continuous_eval(
            self._train_input_fn, name=name, delay_secs=delay_secs,
            throttle_delay_secs=throttle_delay_secs,
            continuous_eval_predicate_fn=continuous_eval_predicate_fn,
            export=False)

    def train_and_evaluate(self):
        """Trains and evaluates by turns, then exports: (metrics, what the export
        strategies give)."""
        with _kept(self, "_train_monitors"):
            config = self._estimator.config
            listener = None
            if self._checkpoint_and_export and (
                    config.save_checkpoints_secs
                    or config.save_checkpoints_steps):
                listener = self._listener()
                self._train_monitors = self._train_monitors + [
                    _hooks.CheckpointSaverHook(
                        checkpoint_dir=self._estimator.model_dir,
                        save_secs=config.save_checkpoints_secs,
                        save_steps=config.save_checkpoints_steps,
                        listeners=[listener])]
            elif self._min_eval_frequency:
                self._train_monitors = self._train_monitors + [
                    _monitors.ValidationMonitor(
                        input_fn=self._eval_input_fn,
                        eval_steps=self._eval_steps,
                        metrics=self._eval_metrics,
                        every_n_steps=self._min_eval_frequency,
                        check_interval_secs=self._check_interval_secs,
                        name=None, hooks=self._eval_hooks)]
            self.train(delay_secs=0)
        if listener is not None:
            return listener.eval_result, listener.export_results
        found = self._call_evaluate(
            input_fn=self._eval_input_fn, steps=self._eval_steps,
            metrics=self._eval_metrics, name=None, hooks=self._eval_hooks)
        return found, self._maybe_export(found)

    def _listener(self):
        return _EvalAndExport(
            functools.partial(
                self._call_evaluate, input_fn=self._eval_input_fn,
                steps=self._eval_steps, metrics=self._eval_metrics,
                hooks=self._eval_hooks),
            self._maybe_export, self._estimator.model_dir)

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Trains some steps and evaluates, again and again: until the last step,
        or until the function, as continuous_eval's, is false. What
        train_and_evaluate gives."""
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = 1000
        if self._train_steps_per_iteration is not None:
            steps = self._train_steps_per_iteration
        elif self._train_steps is not None:
            steps = int(self._train_steps / 10)
        newest, found, exported = None, None, None
        while goes_on(found, checkpoint_path=newest if found else None):
            if self._has_training_stopped(found):
                _log.info("Stop training model as max steps reached")
                break
            _log.info("Training model for %s steps", steps)
            self._call_train(
                input_fn=self._train_input_fn, steps=steps,
                hooks=self._train_monitors,
                saving_listeners=self._saving_listeners)
            newest = latest_checkpoint(self._estimator.model_dir)
            found = self._call_evaluate(
                input_fn=self._eval_input_fn, steps=self._eval_steps,
                metrics=self._eval_metrics, name="one_pass",
                checkpoint_path=newest, hooks=self._eval_hooks)
            exported = self._maybe_export(found)
        return found, exported

    def _maybe_export(self, eval_result, checkpoint_path=None):
        base = os.path.join(as_bytes(self._estimator.model_dir), b"export")
        return [strategy.export(
            self._estimator, os.path.join(base, as_bytes(strategy.name)),
            checkpoint_path=checkpoint_path, eval_result=eval_result)
            for strategy in self._export_strategies]

    def run_std_server(self):
        """Starts the server of this task and waits for ever. ValueError where
        TF_CONFIG tells no task of a cluster."""
        self._start_server().join()

    def test(self):
        """Trains, evaluates and exports with one step of each; the metrics."""
        self._call_train(
            input_fn=self._train_input_fn, steps=1,
            hooks=self._train_monitors,
            saving_listeners=self._saving_listeners)
        found = self._call_evaluate(
            input_fn=self._eval_input_fn, steps=1, metrics=self._eval_metrics,
            name="one_pass")
        self._maybe_export(found)
        return found

    def _start_server(self):
        config = self._estimator.config
        if (not config.cluster_spec or not config.task_type
                or not config.master or config.task_id is None):
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, "
                "task_type, master, and task in RunConfig or set the TF_CONFIG "
                "environment variable.")
        server = Server(config.cluster_spec, job_name=config.task_type,
                        task_index=config.task_id, config=config.tf_config,
                        start=False)
        server.start()
        return server

    def _call_train(self, _sentinel=None, input_fn=None, steps=None, hooks=None,
                    max_steps=None, saving_listeners=None):
        if _sentinel is not None:
            raise ValueError("_call_train should be called with keyword args "
                             "only")
        hooks = _monitors.replace_monitors_with_hooks(hooks, self._estimator)
        if self._core_estimator_used:
            return self._estimator.train(
                input_fn=input_fn, steps=steps, max_steps=max_steps,
                hooks=hooks, saving_listeners=saving_listeners)
        return self._estimator.fit(input_fn=input_fn, steps=steps,
                                   max_steps=max_steps, monitors=hooks)

    def _call_evaluate(self, _sentinel=None, input_fn=None, steps=None,
                       metrics=None, name=None, checkpoint_path=None,
                       hooks=None):
        if _sentinel is not None:
            raise ValueError("_call_evaluate should be called with keyword args "
                             "only")
        options = {}
        if not self._core_estimator_used:
            options["metrics"] = metrics
        elif metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with "
                             "`tf.estimator.Estimator`")
        return self._estimator.evaluate(
            input_fn=input_fn, steps=steps, name=name,
            checkpoint_path=checkpoint_path, hooks=hooks, **options)


@contextlib.contextmanager
def _kept(owner, name):
    """Gives an attribute its value back at the end."""
    saved = getattr(owner, name)
    try:
        yield
    finally:
        setattr(owner, name, saved)


# tf.contrib.learn.learn_runner.

def _checked_experiment(experiment):
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment "
                        "instance, got %s instead." % type(experiment))
    return experiment


def _experiment_of(experiment_fn, run_config, hparams, require_hparams=False):
    """The Experiment, whose estimator must have run_config."""
    if not isinstance(run_config, RunConfig):
        raise ValueError(
            "`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError(
            "Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    if require_hparams and hparams is None:
        raise ValueError("`hparams` cannot be `None`.")
    wanted = run_config.uid()
    experiment = _checked_experiment(experiment_fn(run_config, hparams))
    config = experiment.estimator.config
    if not hasattr(config, "uid"):
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator "
            "in Experiment. It is likely a different `RunConfig` is passed to "
            "`Estimator` or the `config` constructor argument in `Estimator` is "
            "not set.")
    if config.uid() != wanted:
        raise RuntimeError(
            "`RunConfig` instance is expected to be used by the `Estimator` "
            "inside the `Experiment`. expected {}, but got {}".format(
                wanted, config.uid()))
    return experiment


def _default_schedule(config):
    """What a task of this kind does."""
    tasks = config.cluster_spec.as_dict() if config and config.cluster_spec \
        else {}
    if sum(map(len, tasks.values())) <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    schedule = {TaskType.MASTER: "train_and_evaluate",
                TaskType.PS: "run_std_server",
                TaskType.WORKER: "train"}.get(config.task_type)
    if schedule is None:
        raise ValueError("No default schedule for task type: %s"
                         % config.task_type)
    return schedule


def run(experiment_fn, output_dir=None, schedule=None, run_config=None,
        hparams=None):
    """What a method of the Experiment gives that experiment_fn makes: of
    output_dir, or of run_config and hparams.

    `schedule`: the name of the method; by default what TF_CONFIG's task does,
    train_and_evaluate on one machine. It makes no tensors. ValueError for an
    unknown schedule and for both or none of output_dir and run_config;
    TypeError for what is no function, no method or no Experiment; RuntimeError
    for an estimator with another run_config."""
    if None not in (output_dir, run_config):
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError('Experiment builder "%s" is not callable.'
                        % experiment_fn)
    if run_config is not None:
        experiment = _experiment_of(experiment_fn, run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` "
                             "with `output_dir`.")
        experiment = _checked_experiment(experiment_fn(output_dir=output_dir))
    schedule = schedule or _default_schedule(
        run_config or experiment.estimator.config)
    if not hasattr(experiment, schedule):
        _log.error("Allowed values for this experiment are: %s", [
            name for name in dir(experiment) if not name.startswith("_")
            and callable(getattr(experiment, name))])
        raise ValueError("Schedule references non-existent task %s" % schedule)
    task = getattr(experiment, schedule)
    if not callable(task):
        raise TypeError("Schedule references non-callable member %s" % schedule)
    return task()


def tune(experiment_fn, tuner):
    """Lets tuner.run_experiment run the Experiments of experiment_fn(run_config,
    hparams) while tuner.next_trial(). It makes no tensors. Errors are run's."""
    while tuner.next_trial():
        tuner.run_experiment(lambda run_config, hparams: _experiment_of(
            experiment_fn, run_config, hparams, require_hparams=True))
