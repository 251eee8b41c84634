"""tf.keras.estimator.model_to_estimator: a compiled model as a tf.estimator.Estimator
of the package tensorflow-estimator."""
import os

from headrace import _packages
from headrace._src.control.control_flow_ops import group
from headrace._src.framework.graph import (
    Graph, GraphKeys, get_collection_ref, get_default_graph)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.keras import configs, model_files
from headrace._src.keras import optimizers as _optimizers
from headrace._src.layers import backend, named
from headrace._src.platform.file_io import isdir, makedirs
from headrace._src.session.session import Session
from headrace._src.training.checkpoint_management import latest_checkpoint
from headrace._src.training.global_step import get_or_create_global_step
from headrace._src.training.saver import Saver
from headrace._src.variables.variables import global_variables_initializer

_TRAIN, _PREDICT = "train", "infer"


def _package(module):
    return _packages.load("tensorflow_estimator.python.estimator." + module)


def _in_order(given, names, what):
    """The tensors of a dict by the names, of a list, or one; None is None.
    KeyError for a dict with other keys."""
    if given is None:
        return None
    if isinstance(given, dict):
        if set(given) != set(names):
            raise KeyError(
                "The dictionary passed into %s does not have the expected keys "
                "defined in the keras model: expected %s, got %s"
                % (what, sorted(names), sorted(given)))
        given = [given[name] for name in names]
    elif not isinstance(given, (list, tuple)):
        given = [given]
    return [x if backend.is_symbolic(x) else convert_to_tensor(x)
            for x in given]


def _optimizer_maker(optimizer):
    """A function from the variable that counts the steps to a new optimizer like
    this one; one of tf.train is as it is."""
    if not isinstance(optimizer, _optimizers.Optimizer):
        return lambda steps: optimizer
    # Its values are those of the graph that it is from.
    config = optimizer.get_config()

    def make(steps):
        made = type(optimizer).from_config(config)
        made._iterations = steps
        return made
    return make


def _new_metric(metric):
    """A metric like this one, with variables of the graph that is built."""
    if isinstance(metric, dict):
        return {name: _new_metric(m) for name, m in metric.items()}
    if isinstance(metric, (list, tuple)):
        return [_new_metric(m) for m in metric]
    if hasattr(metric, "get_config") and hasattr(metric, "result"):
        return type(metric).from_config(metric.get_config())
    return metric


def _clone(model, mode, custom_objects, make_optimizer, features=None,
           labels=None):
    """A copy of the model in the graph that is built, on these tensors; without
    features on placeholders. Compiled, but for predictions."""
    backend.set_learning_phase(int(mode == _TRAIN))
    inputs = _in_order(features, model.input_names, "features")
    with named.CustomObjectScope(custom_objects or {}):
        clone = configs.clone_model(model, input_tensors=inputs)
    if mode == _PREDICT:
        return clone
    loss, metrics, loss_weights, weighted_metrics = model._arguments
    clone.compile(
        make_optimizer(get_or_create_global_step()), loss,
        metrics=_new_metric(metrics), loss_weights=loss_weights,
        sample_weight_mode=model.sample_weight_mode,
        weighted_metrics=_new_metric(weighted_metrics),
        target_tensors=_in_order(labels, model.output_names, "labels"))
    _make_metrics_local(clone)
    return clone


def _make_metrics_local(model):
    """The variables of the metrics begin anew with each evaluation: they are
    local, not of the checkpoint."""
    own = [v for metric, _ in model._metrics.values() for v in metric.variables]
    everywhere = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    everywhere[:] = [v for v in everywhere if not any(v is o for o in own)]
    get_collection_ref(GraphKeys.LOCAL_VARIABLES).extend(own)


def _train_op(model):
    model._make_train_op()
    if isinstance(model.optimizer, _optimizers.Optimizer):
        return model._train_op
    return group(model._train_op,
                 get_or_create_global_step().assign_add(1))


def _model_fn(model, custom_objects, make_optimizer):
    def model_fn(features, labels, mode):
        clone = _clone(model, mode, custom_objects, make_optimizer, features,
                       labels)
        predictions = dict(zip(clone.output_names, clone.outputs))
        loss = train_op = metrics = None
        if mode != _PREDICT:
            loss = clone.total_loss
            update = group(*clone._compiled_updates)
            metrics = {name: (result, update) for name, (_, result)
                       in clone._metrics.items()}
        if mode == _TRAIN:
            train_op = _train_op(clone)
        exported = _package("export.export_lib").PredictOutput(predictions)
        return _package("model_fn").EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs={"serving_default": exported})
    return model_fn


def _first_checkpoint(model, custom_objects, make_optimizer, config):
    """The path of a checkpoint with the model's weights, in the folder keras of
    the estimator's, which is written unless it is there."""
    folder = os.path.join(config.model_dir, "keras")
    path = latest_checkpoint(folder)
    if path:
        return path
    weights = model.get_weights()
    if not isdir(folder):
        makedirs(folder)
    with Graph().as_default():
        get_default_graph().seed = config.tf_random_seed
        clone = _clone(model, _TRAIN, custom_objects, make_optimizer)
        _train_op(clone)
        with Session(config=config.session_config) as session:
            session.run(global_variables_initializer())
            for variable, value in zip(clone.weights, weights):
                variable.load(value, session)
            return Saver().save(session, os.path.join(folder,
                                                      "keras_model.ckpt"))


def model_to_estimator(keras_model=None, keras_model_path=None,
                       custom_objects=None, model_dir=None, config=None,
                       checkpoint_format="saver"):
    """A tf.estimator.Estimator that trains, evaluates and predicts with copies of
    a compiled model, from the weights that it has.

    Features are a tensor, a list of tensors, or a dict by model.input_names, of
    the shapes and dtypes of the model's inputs; labels the same by
    model.output_names. Predictions are a dict by model.output_names.

    Args:
      keras_model, keras_model_path: the model, or the file of one.
      custom_objects: {name: class or function} that the model has.
      model_dir, config: the folder, or a tf.estimator.RunConfig.
      checkpoint_format: "saver".
    Raises:
      ValueError: not one of both models, or a model that is not compiled.
      NotImplementedError: a class with a `call` of its own, and another format.
      ModuleNotFoundError: tensorflow-estimator is not installed.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError(
            "Please specity one of `keras_model` or `keras_model_path`: got %s"
            % ("neither" if keras_model is None else "both"))
    if checkpoint_format != "saver":
        raise NotImplementedError(
            "model_to_estimator: checkpoint_format=%r is not supported; the "
            "estimator's checkpoints are those of \"saver\""
            % (checkpoint_format,))
    lib = _package("estimator")
    config = lib.maybe_overwrite_model_dir_and_session_config(config, model_dir)
    if keras_model is None:
        keras_model = model_files.load_model(keras_model_path, custom_objects)
    if not keras_model.optimizer:
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile "
            "the model with `model.compile()` before calling "
            "`model_to_estimator()`.")
    keras_model._check_is_network("model_to_estimator")
    parts = keras_model, custom_objects, _optimizer_maker(keras_model.optimizer)
    path = _first_checkpoint(*parts, config)
    return lib.Estimator(_model_fn(*parts), config=config, warm_start_from=path)
