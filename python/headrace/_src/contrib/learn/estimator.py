"""tf.contrib.learn.Estimator: trains, evaluates and uses the model that a function
makes."""
import collections
import copy
import os
import tempfile

import numpy as np

from headrace._src.contrib import monitors as _monitors
from headrace._src.contrib.columns.inputs import infer_real_valued_columns
from headrace._src.contrib.evaluation import StopAfterNEvalsHook, evaluate_once
from headrace._src.contrib.learn import signatures as _signatures
from headrace._src.contrib.learn.base import (
    Evaluable, NotFittedError, Parameters, Trainable)
from headrace._src.contrib.learn.data_feeder import setup_train_data_feeder
from headrace._src.contrib.learn.exports import export_saved_model
from headrace._src.contrib.learn.keys import MetricKey
from headrace._src.contrib.learn.metric_spec import MetricSpec, argument_names
from headrace._src.contrib.learn.model_fn import ModeKeys, ModelFnOps
from headrace._src.contrib.learn.run_config import new_config
from headrace._src.control.control_flow_ops import group
from headrace._src.framework.graph import (
    Graph, GraphKeys, add_to_collection, get_collection)
from headrace._src.framework.messages import ConfigProto, Summary
from headrace._src.framework.tensor import is_tensor
from headrace._src.framework.tensor_proto import make_tensor_proto
from headrace._src.metrics.streaming import mean
from headrace._src.ops.random_ops import set_random_seed
from headrace._src.ops.sparse_tensor import SparseTensorValue
from headrace._src.platform import tf_logging as _log
from headrace._src.summary.event_files import FileWriterCache
from headrace._src.training import basic_session_run_hooks as _hooks
from headrace._src.training import global_step as _global_step
from headrace._src.training import monitored_session as _sessions
from headrace._src.training.checkpoint_management import latest_checkpoint
from headrace._src.training.checkpoint_reader import (
    list_variables, load_variable)
from headrace._src.training.device_setter import replica_device_setter
from headrace._src.training.saver import Saver

GraphRewriteSpec = collections.namedtuple("GraphRewriteSpec",
                                          ["tags", "transforms"])
# Ops that parameter servers hold.
_PS_OPS = """
    Variable VariableV2 AutoReloadVariable MutableHashTable MutableHashTableV2
    MutableHashTableOfTensors MutableHashTableOfTensorsV2 MutableDenseHashTable
    MutableDenseHashTableV2 VarHandleOp""".split()


def _check_inputs(x, y, input_fn, feed_fn, batch_size):
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    if is_tensor(x) or y is not None and is_tensor(y):
        raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    if feed_fn is not None:
        raise ValueError("Can not provide both feed_fn and x or y.")


def _input_fn_of(x, y, batch_size, shuffle=False, epochs=1):
    """(input_fn, feed_fn) that feed arrays."""
    _check_inputs(x, y, None, None, batch_size)
    feeder = setup_train_data_feeder(
        x, y, n_classes=None, batch_size=batch_size, shuffle=shuffle,
        epochs=epochs)
    return feeder.input_builder, feeder.get_feed_dict_fn()


def infer_real_valued_columns_from_input_fn(input_fn):
    """The list of layers.real_valued_column for the features of input_fn: tensors
    of numbers, [batch, ...]. ValueError for others."""
    with Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x):
    """The same for an array of numbers, [n, ...]. ValueError for a tensor."""
    return infer_real_valued_columns_from_input_fn(
        _input_fn_of(x, None, None)[0])


def _device_function(config):
    if config.num_ps_replicas <= 0:
        return None
    worker = "/job:worker"
    if config.task_type:
        worker = "/job:%s/task:%d" % (config.task_type, config.task_id)
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas, worker_device=worker,
        merge_devices=True, ps_ops=_PS_OPS, cluster=config.cluster_spec)


def _only_one(labels):
    if isinstance(labels, dict) and len(labels) == 1:
        return next(iter(labels.values()))
    return labels


def _metric_of(name, metric, features, labels, predictions):
    """(name, value and update) of a MetricSpec, or of a function of predictions
    and labels."""
    if isinstance(metric, MetricSpec):
        return name, metric.create_metric_ops(features, labels, predictions)
    _log.warning("Please specify metrics using MetricSpec. Using bare functions "
                 "or (key, fn) tuples is deprecated.")
    if not isinstance(name, tuple):
        if isinstance(predictions, dict):
            raise ValueError(
                "Metrics passed provide only name, no prediction, but "
                "predictions are dict. Metrics: %s, Labels: %s."
                % (metric, _only_one(labels)))
        return name, metric(predictions, _only_one(labels))
    if len(name) != 2:
        raise ValueError("Invalid metric for {}. It returned a tuple with len "
                         "{}, expected 2.".format(name, len(name)))
    if not isinstance(predictions, dict):
        raise ValueError("Metrics passed provide (name, prediction), but "
                         "predictions are not dict. Metrics: %s, Predictions: "
                         "%s." % (metric, predictions))
    name, key = name
    if isinstance(labels, dict) and key in labels:
        return name, metric(predictions[key], labels[key])
    return name, metric(predictions[key], _only_one(labels))


def _metrics_of(metrics, features, labels, predictions):
    # In order of their names, so that a graph is the same in each program.
    return dict(_metric_of(name, metric, features, labels, predictions)
                for name, metric in sorted((metrics or {}).items()))


_NUMBER = (float, int, np.float32, np.int64, np.int32)


def _write_summary(folder, values, step):
    """Writes metrics to an event file."""
    _log.info("Saving dict for global step %d: %s", step, ", ".join(
        "%s = %s" % (k, v) if isinstance(v, _NUMBER)
        else "Type of %s = %s" % (k, type(v))
        for k, v in sorted(values.items())))
    summary = Summary()
    for key, value in values.items():
        if value is None or key == "global_step":
            continue
        if isinstance(value, _NUMBER):
            summary.value.add(tag=key, simple_value=float(value))
        elif isinstance(value, np.ndarray):
            made = summary.value.add()
            made.tag = made.node_name = key
            made.tensor.CopyFrom(make_tensor_proto(value))
        elif not (isinstance(value, bytes) and _add_parsed(summary, key,
                                                           value)):
            _log.warning("Skipping summary for %s, must be a float, np.float32, "
                         "np.int64, np.int32 or int or np.ndarray or a "
                         "serialized string of Summary.", key)
    writer = FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()


def _add_parsed(summary, key, text):
    """Adds the values of a serialized summary; whether it is one."""
    try:
        parsed = Summary.FromString(text)
    except Exception:
        return False
    for value in parsed.value:
        value.tag = key
    summary.value.extend(parsed.value)
    return True


class BaseEstimator(Parameters, Evaluable, Trainable):
    """What trains, evaluates and uses a model in a folder. Subclasses say how the
    model is made, for features and labels of any shape and dtype:
    _get_train_ops, _get_eval_ops and _get_predict_ops give ModelFnOps.

    `config`: a RunConfig. ValueError for a model_dir other than the config's."""

    def __init__(self, model_dir=None, config=None):
        if config is None:
            config = new_config()
            _log.info("Using default config.")
        self._config = config
        self._session_config = config.session_config or ConfigProto(
            allow_soft_placement=True)
        if None not in (model_dir, config.model_dir) \
                and model_dir != config.model_dir:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with "
                "different values. In constructor: '{}', in RunConfig: '{}' "
                .format(model_dir, config.model_dir))
        self._model_dir = model_dir or config.model_dir
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            _log.warning("Using temporary folder as model directory: %s",
                         self._model_dir)
        if config.model_dir is None:
            self._config = config.replace(model_dir=self._model_dir)
        _log.info("Using config: %s", vars(self._config))
        self._device_fn = _device_function(self._config)
        self._features_info = None
        self._labels_info = None
        self._graph = None

    @property
    def config(self):
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def model_fn(self):
        """The function of features, labels, mode and config that makes the
        model."""
        def model_fn(features, labels, mode, config):
            return self._call_model_fn(features, labels, mode, config=config)
        return model_fn

    @property
    def model_dir(self):
        return self._model_dir

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None,
            monitors=None, max_steps=None):
        """Trains the model and gives itself.

        `input_fn`: gives features and labels; or arrays x and y [n, ...], which
        are fed batch_size at a time. `steps` more steps, or until max_steps.
        `monitors`: a list of monitors and hooks. ValueError for arguments that
        exclude each other."""
        if None not in (steps, max_steps):
            raise ValueError("Can not provide both steps and max_steps.")
        _check_inputs(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
            return self
        if max_steps is not None and latest_checkpoint(self._model_dir):
            if max_steps <= load_variable(self._model_dir,
                                          GraphKeys.GLOBAL_STEP):
                _log.info("Skipping training since max_steps has already saved.")
                return self
        hooks = _monitors.replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(_hooks.StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn=input_fn, hooks=hooks)
        _log.info("Loss for final step: %s.", loss)
        return self

    def partial_fit(self, x=None, y=None, input_fn=None, steps=1,
                    batch_size=None, monitors=None):
        """fit, of one step. Arguments and errors are fit's."""
        return self.fit(x=x, y=y, input_fn=input_fn, steps=steps,
                        batch_size=batch_size, monitors=monitors)

    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None,
                 batch_size=None, steps=None, metrics=None, name=None,
                 checkpoint_path=None, hooks=None, log_progress=True):
        """{name: value} of the metrics, with "loss" and "global_step".

        `steps`: how many batches; None: all. `metrics`: {name: MetricSpec}.
        `name`: of the folder of the summaries. The other arguments are fit's.
        NotFittedError without a checkpoint; ValueError for arguments that
        exclude each other."""
        _check_inputs(x, y, input_fn, feed_fn, batch_size)
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError("Metrics argument should be None or dict. Got %s."
                             % metrics)
        found, step = self._evaluate_model(
            input_fn=input_fn, feed_fn=feed_fn, steps=steps, metrics=metrics,
            name=name, checkpoint_path=checkpoint_path, hooks=hooks,
            log_progress=log_progress)
        if found is not None:
            found["global_step"] = step
        return found

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None,
                as_iterable=True, iterate_batches=False):
        """An iterator over the predictions, arrays or dicts of them: of each
        example, or with iterate_batches of each batch.

        `outputs`: the keys that are wanted; None: all. `as_iterable` False: the
        predictions of one batch. NotFittedError without a checkpoint; ValueError
        for outputs that the model has not."""
        _check_inputs(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size)
        feed_fn = None
        if x is not None:
            input_fn, feed_fn = _input_fn_of(x, None, batch_size)
        return self._infer_model(
            input_fn=input_fn, feed_fn=feed_fn, outputs=outputs,
            as_iterable=as_iterable, iterate_batches=iterate_batches)

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint, an array.
        NotFoundError for another name."""
        return load_variable(self.model_dir, name)

    def get_variable_names(self):
        """The names of the variables in the newest checkpoint. ValueError
        without one."""
        return [name for name, _ in list_variables(self.model_dir)]

    def _get_train_ops(self, features, labels):
        raise NotImplementedError("_get_train_ops not implemented in %s"
                                  % type(self).__name__)

    def _get_predict_ops(self, features):
        raise NotImplementedError("_get_predict_ops not implemented in %s"
                                  % type(self).__name__)

    def _get_eval_ops(self, features, labels, metrics):
        raise NotImplementedError(
            "_get_eval_ops not implemented in BaseEstimator")

    def _get_feature_ops_from_example(self, examples_batch):
        """The features of serialized examples, as those that fit got."""
        if self._features_info is None:
            raise ValueError(
                "Features information missing, was fit() ever called?")
        return _signatures.create_example_parser_from_signatures(
            self._features_info, examples_batch)

    def _check_inputs(self, features, labels):
        """ValueError for other features or labels than the first ones."""
        self._features_info = _checked("Features", features,
                                       self._features_info)
        if labels is not None:
            self._labels_info = _checked("Labels", labels, self._labels_info)

    def _extract_metric_update_ops(self, eval_dict):
        """(one op that updates all metrics or None, {name: value})."""
        updates, values = [], {}
        for name, made in eval_dict.items():
            values[name] = made
            if isinstance(made, (list, tuple)):
                if len(made) == 2:
                    values[name] = made[0]
                    updates.append(made[1])
                else:
                    _log.warning("Ignoring metric %s. It returned a list|tuple "
                                 "with len %s, expected 2", name, len(made))
        return (group(*updates) if updates else None), values

    def _checkpoint(self):
        found = latest_checkpoint(self._model_dir)
        if not found:
            raise NotFittedError("Couldn't find trained model at %s."
                                 % self._model_dir)
        return found

    def _evaluate_model(self, input_fn, steps, feed_fn=None, metrics=None,
                        name="", checkpoint_path=None, hooks=None,
                        log_progress=True):
        """({name: value} of metrics, the global step)."""
        checkpoint_path = checkpoint_path or self._checkpoint()
        folder = os.path.join(self._model_dir,
                              "eval_" + name if name else "eval")
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            step = _global_step.create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            made = self._get_eval_ops(features, labels, metrics)
            update, values = self._extract_metric_update_ops(
                made.eval_metric_ops)
            hooks = list(hooks or ())
            if feed_fn:
                hooks.append(_hooks.FeedFnHook(feed_fn))
            if steps == 0:
                _log.warning("evaluation steps are 0. If `input_fn` does not "
                             "raise `OutOfRangeError`, the evaluation will "
                             "never stop. Use steps=None if intended.")
            if steps:
                hooks.append(StopAfterNEvalsHook(steps,
                                                 log_progress=log_progress))
            step_key = "global_step"
            while step_key in values:
                step_key = "_" + step_key
            values[step_key] = step
            found = evaluate_once(
                checkpoint_path=checkpoint_path,
                master=self._config.evaluation_master, scaffold=made.scaffold,
                eval_ops=update, final_ops=values, hooks=hooks,
                config=self._session_config)
            _write_summary(folder, found, found[step_key])
        return found, found[step_key]

    def _get_features_from_input_fn(self, input_fn):
        made = input_fn()
        return made[0] if isinstance(made, (list, tuple)) else made

    def _infer_model(self, input_fn, feed_fn=None, outputs=None,
                     as_iterable=True, iterate_batches=False):
        checkpoint = self._checkpoint()
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            _global_step.create_global_step(graph)
            features = self._get_features_from_input_fn(input_fn)
            made = self._get_predict_ops(features)
            predictions = self._filter_predictions(made.predictions, outputs)
            session = _sessions.MonitoredSession(
                session_creator=_sessions.ChiefSessionCreator(
                    checkpoint_filename_with_path=checkpoint,
                    scaffold=made.scaffold, config=self._session_config))
            if as_iterable:
                return self._predict_generator(session, predictions, feed_fn,
                                               iterate_batches)
            with session:
                if not session.should_stop():
                    return session.run(predictions,
                                       feed_fn() if feed_fn else None)

    def _predict_generator(self, mon_sess, predictions, feed_fn,
                           iterate_batches):
        with mon_sess:
            while not mon_sess.should_stop():
                found = mon_sess.run(predictions,
                                     feed_fn() if feed_fn else None)
                if iterate_batches:
                    yield found
                elif isinstance(predictions, dict):
                    first = next(iter(found.values()))
                    count = (first.dense_shape if isinstance(
                        first, SparseTensorValue) else first.shape)[0]
                    for i in range(count):
                        yield {key: value[i] for key, value in found.items()}
                else:
                    yield from found
                if self._is_input_constant(feed_fn, mon_sess.graph):
                    return

    def _is_input_constant(self, feed_fn, graph):
        """Whether all batches are the same, so that one is enough: there is
        nothing that ends."""
        return not graph.get_collection(GraphKeys.QUEUE_RUNNERS) \
            and feed_fn is None

    def _filter_predictions(self, predictions, outputs):
        if not outputs:
            return predictions
        if not isinstance(predictions, dict):
            raise ValueError("outputs argument is not valid in case of non-dict "
                             "predictions.")
        found = {k: v for k, v in predictions.items() if k in outputs}
        if not found:
            raise ValueError("Expected to run at least one output from %s, "
                             "provided %s." % (predictions.keys(), outputs))
        return found

    def _train_model(self, input_fn, hooks):
        """Trains until a hook stops; the last loss."""
        self._graph = Graph()
        with self._graph.as_default() as graph, graph.device(self._device_fn):
            set_random_seed(self._config.tf_random_seed)
            step = _global_step.create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            _global_step.get_or_create_read(create=False)
            made = self._get_train_ops(features, labels)
            add_to_collection(GraphKeys.LOSSES, made.loss)
            hooks = list(hooks) + [
                _hooks.NanTensorHook(made.loss),
                _hooks.LoggingTensorHook({"loss": made.loss, "step": step},
                                         every_n_iter=100)]
            scaffold = made.scaffold or _sessions.Scaffold()
            if not (scaffold.saver or get_collection(GraphKeys.SAVERS)):
                add_to_collection(GraphKeys.SAVERS, Saver(
                    sharded=True, max_to_keep=self._config.keep_checkpoint_max,
                    keep_checkpoint_every_n_hours=(
                        self._config.keep_checkpoint_every_n_hours),
                    defer_build=True, save_relative_paths=True))
            chief_hooks = self._saver_hooks(hooks, made, scaffold)
            with _sessions.MonitoredTrainingSession(
                    master=self._config.master,
                    is_chief=self._config.is_chief,
                    checkpoint_dir=self._model_dir, scaffold=scaffold,
                    hooks=hooks + made.training_hooks,
                    chief_only_hooks=chief_hooks + made.training_chief_hooks,
                    save_checkpoint_secs=0,  # a hook saves
                    save_summaries_steps=self._config.save_summary_steps,
                    max_wait_secs=self._config.session_creation_timeout_secs,
                    config=self._session_config) as session:
                loss = None
                while not session.should_stop():
                    _, loss = session.run([made.train_op, made.loss])
            return loss

    def _saver_hooks(self, hooks, made, scaffold):
        config = self._config
        if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
            return []
        if any(isinstance(h, _hooks.CheckpointSaverHook) for h in
               hooks + made.training_hooks + made.training_chief_hooks):
            return []
        return [_hooks.CheckpointSaverHook(
            self._model_dir, save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps, scaffold=scaffold)]


def _checked(what, tensors, known):
    if known is None:
        return _signatures.create_signatures(tensors)
    if not _signatures.tensors_compatible(tensors, known):
        raise ValueError(
            "%s are incompatible with given information. Given %s: %s, "
            "required signatures: %s." % (what, what.lower(), tensors, known))
    return known


class Estimator(BaseEstimator):
    """An estimator of a model function.

    `model_fn(features, labels[, mode, params, config, model_dir])` gives
    ModelFnOps, or predictions, loss and training op, of features and labels of
    any shape and dtype. `feature_engineering_fn(features, labels)` gives both
    changed. ValueError for params that model_fn does not take."""

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None,
                 feature_engineering_fn=None):
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None:
            names = argument_names(model_fn)
            if params is not None and "params" not in names:
                raise ValueError(
                    "Estimator's model_fn (%s) does not have a params argument, "
                    "but params (%s) were passed to the Estimator's "
                    "constructor." % (model_fn, params))
            if params is None and "params" in names:
                _log.warning("Estimator's model_fn (%s) includes params "
                             "argument, but params are not passed to "
                             "Estimator.", model_fn)
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or (
            lambda features, labels: (features, labels))

    def _call_model_fn(self, features, labels, mode, metrics=None, config=None):
        """The ModelFnOps of a mode, with more metrics."""
        features, labels = self._feature_engineering_fn(features, labels)
        names = argument_names(self._model_fn)
        options = {}
        if "mode" in names:
            options["mode"] = mode
        if "params" in names:
            options["params"] = self.params
        if "config" in names:
            options["config"] = config or self.config
        if "model_dir" in names:
            options["model_dir"] = self.model_dir
        made = self._model_fn(features, labels, **options)
        if not isinstance(made, ModelFnOps):
            if len(made) != 3:
                raise ValueError("Unrecognized value returned by model_fn, "
                                 "please return ModelFnOps.")
            predictions, loss, train_op = made
            made = ModelFnOps(mode=mode, predictions=predictions, loss=loss,
                              train_op=train_op)
        if metrics:
            made.eval_metric_ops.update(
                _metrics_of(metrics, features, labels, made.predictions))
        return made

    def _get_train_ops(self, features, labels):
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features, labels, metrics):
        made = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in made.eval_metric_ops:
            made.eval_metric_ops[MetricKey.LOSS] = mean(made.loss)
        return made

    def _get_predict_ops(self, features):
        labels = _signatures.create_placeholders_from_signatures(
            self._labels_info)
        return self._call_model_fn(features, labels, ModeKeys.INFER)

    def export_savedmodel(
            self, export_dir_base, serving_input_fn,
            default_output_alternative_key=None, assets_extra=None,
            as_text=False, checkpoint_path=None,
            graph_rewrite_specs=(GraphRewriteSpec(("serve",), ()),),
            strip_default_attrs=False):
        """Writes a SavedModel of the newest checkpoint, or of checkpoint_path,
        and gives the bytes of its folder's name, a time below export_dir_base.

        `serving_input_fn` gives InputFnOps. `assets_extra`: {path below
        assets.extra: file}. NotFittedError without a checkpoint; ValueError
        without serving_input_fn and for a head that there is not;
        NotImplementedError for a GraphRewriteSpec beside the first."""
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        return export_saved_model(
            lambda features: self._call_model_fn(features, None,
                                                 ModeKeys.INFER),
            export_dir_base, serving_input_fn, checkpoint_path
            or self._checkpoint(), default_output_alternative_key, assets_extra,
            as_text, graph_rewrite_specs, strip_default_attrs)


class SKCompat(Parameters):
    """An estimator with the methods of scikit-learn: fit, score and predict take
    arrays [n, ...] of any dtype. Errors are the estimator's."""

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None,
            monitors=None):
        """Trains with batches in random order and gives itself."""
        input_fn, feed_fn = _input_fn_of(x, y, batch_size, shuffle=True,
                                         epochs=None)
        self._estimator.fit(
            input_fn=input_fn, steps=steps, max_steps=max_steps,
            monitors=[_hooks.FeedFnHook(feed_fn), *(monitors or ())])
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        """The estimator's evaluate, of each example once."""
        input_fn, feed_fn = _input_fn_of(x, y, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError("Metrics argument should be None or dict. Got %s."
                             % metrics)
        found, step = self._estimator._evaluate_model(
            input_fn=input_fn, feed_fn=feed_fn, steps=steps, metrics=metrics,
            name=name)
        if found is not None:
            found["global_step"] = step
        return found

    def predict(self, x, batch_size=128, outputs=None):
        """An array of the predictions of all examples, or a dict of them."""
        input_fn, feed_fn = _input_fn_of(x, None, batch_size)
        found = list(self._estimator._infer_model(
            input_fn=input_fn, feed_fn=feed_fn, outputs=outputs,
            as_iterable=True, iterate_batches=True))
        if not isinstance(found[0], dict):
            return np.concatenate(found, axis=0)
        return {key: np.concatenate([part[key] for part in found], axis=0)
                for key in found[0]}
