"""Keras models in SavedModels: what tf.saved_model.save writes of layers, and
tf.keras.models.load_model reads."""
import contextlib
import json
import os

from headrace._src.autograph.function import Function
from headrace._src.framework import nest
from headrace._src.framework.messages import TrackableObjectGraph
from headrace._src.keras import configs
from headrace._src.keras import optimizers as _optimizers
from headrace._src.keras.backend_running import learning_phase_scope
from headrace._src.keras.hdf5_files import version
from headrace._src.keras.models import InputLayer, Model, Sequential
from headrace._src.layers import backend, named, regularizers
from headrace._src.layers.engine import as_list
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.platform import tf_logging as logging
from headrace._src.saved_model import constants
from headrace._src.saved_model.loader import parse_saved_model
from headrace._src.saved_model.save import prepared, save_objects
from headrace._src.training import object_graph as _objects
from headrace._src.training.checkpoint_reader import NewCheckpointReader

_MODELS = ("_tf_keras_model", "_tf_keras_network", "_tf_keras_sequential")


class _Attributes:
    """What Keras has of a layer beside what the layer has itself."""

    def __init__(self, things):
        self._things = things

    def _checkpoint_children(self):
        return [(name, x) for name, x in self._things.items()
                if not isinstance(x, Function)]

    def _saved_functions(self):
        return {name: x for name, x in self._things.items()
                if isinstance(x, Function)}


def children(layer):
    """{name: list, object or function} of what TensorFlow saves of a layer or a
    model beside its attributes."""
    is_model = isinstance(layer, Model)
    if not layer.built or is_model and layer._given is None:
        logging.warning("Skipping full serialization of Keras layer %s, because "
                        "it is not built.", layer.name)
        return {}
    losses = [Function(loss, [], autograph=False)
              for loss in layer._loss_functions]
    things = {
        "variables": list(layer.weights),
        "trainable_variables": list(layer.trainable_weights),
        "non_trainable_variables": list(layer.non_trainable_weights),
        "layers": [x for x in (layer.layers if is_model
                               else layer._layers_inside())],
        "metrics": [], "regularization_losses": losses,
        "layer_regularization_losses": losses}
    shown = {name: things[name] for name in (
        "variables", "trainable_variables", "regularization_losses")}
    functions = {}
    try:
        if is_model or layer._calls:  # cells of recurrent layers are not called
            functions = _functions(layer)
    except (NotImplementedError, TypeError, ValueError) as error:
        logging.warning("Skipping full serialization of object %s, because an "
                        "error occurred while tracing layer functions. Error "
                        "message: %s", layer.name, error)
    if functions:
        things["call_and_return_conditional_losses"] = functions[
            "call_and_return_all_conditional_losses"]
    api = _Attributes({**things, **functions})
    return {**shown, "keras_api": api, **functions,
            **({"_default_save_signature": default_signature(layer)}
               if is_model and functions else {})}


def _input_specs(layer):
    """The inputs of the first call, as TensorSpecs of any batch size."""
    if isinstance(layer, Model):
        inputs = layer._given[0]
    else:
        inputs = layer._calls[0][isinstance(layer, InputLayer)]

    def spec(x):
        sizes = x.get_shape().as_list()
        return TensorSpec([None] + sizes[1:], x.dtype.base_dtype)
    return nest.map_structure(spec, inputs)


def _functions(layer):
    """The layer's call, with losses and without."""
    spec = _input_specs(layer)
    takes_training = "training" in layer._call_arguments()

    def run(inputs, training=False):
        if isinstance(layer, InputLayer):
            return inputs, []
        with _untouched(layer), learning_phase_scope(int(training)):
            layer._losses = []
            outputs = layer(inputs, **(
                {"training": training} if takes_training else {}))
            return outputs, [x for x, depends in layer._losses if depends]

    def with_training(inputs, training=False):
        return run(inputs, training)

    def without(inputs):
        return run(inputs)

    def outputs_with_training(inputs, training=False):
        return run(inputs, training)[0]

    def outputs_without(inputs):
        return run(inputs)[0]
    if takes_training:
        losses, call = with_training, outputs_with_training
        calls = [((spec, True), {}), ((spec, False), {})]
    else:
        losses, call = without, outputs_without
        calls = [((spec,), {})]
    call.__name__ = "%s_layer_call_fn" % layer.name
    losses.__name__ = (
        "%s_layer_call_and_return_conditional_losses" % layer.name)
    return {"call_and_return_all_conditional_losses": prepared(losses, calls),
            "__call__": prepared(call, calls)}


@contextlib.contextmanager
def _untouched(layer):
    """What layers know of their calls is as before at the end."""
    layers, todo = [], [layer]
    for x in todo:
        if x not in layers:
            layers.append(x)
            todo += x._layers_inside()
            todo += x.layers if isinstance(x, Model) else []
    kept = ("_calls", "_call_options", "_losses", "_updates",
            "_callable_losses")
    before = [[vars(x)[name] for name in kept] for x in layers]
    for x, values in zip(layers, before):
        for name, value in zip(kept, values):
            setattr(x, name, value.copy())
    try:
        yield
    finally:
        for x, values in zip(layers, before):
            for name, value in zip(kept, values):
                setattr(x, name, value)


def default_signature(model, input_signature=None):
    """The function of servers: from the model's inputs, by their names, to its
    outputs, by theirs."""
    specs = as_list(input_signature or _input_specs(model))
    if input_signature is not None:
        specs = nest.flatten(input_signature)
    # In the graph of the function, names would be others.
    names, results = list(model.input_names), list(model.output_names)
    specs = [TensorSpec(spec.shape, spec.dtype, spec.name or name)
             for spec, name in zip(nest.flatten(specs), names)]

    def _wrapped_model(*args):
        structure = model._given[0]
        inputs = nest.pack_sequence_as(structure, list(args))
        with _untouched(model), learning_phase_scope(0):
            outputs = model(inputs, training=False) if (
                "training" in model._call_arguments()) else model(inputs)
        return dict(zip(results, nest.flatten(outputs)))
    return prepared(_wrapped_model, [(tuple(specs), {})],
                    input_signature=specs)


def kind(layer):
    """(what loaders know a layer as, what it tells them as JSON)"""
    described = {
        "class_name": type(layer).__name__, "name": layer.name,
        "trainable": bool(layer.trainable),
        "expects_training_arg": "training" in layer._call_arguments(),
        "dtype": layer.dtype,
        "batch_input_shape": getattr(layer, "_batch_input_shape", None)}
    with contextlib.suppress(NotImplementedError):
        described["config"] = layer.get_config()
    described["input_spec"] = _described_specs(layer.input_spec)
    described["activity_regularizer"] = regularizers.serialize(
        layer.activity_regularizer)
    name = "_tf_keras_layer"
    if isinstance(layer, Model):
        name = ("_tf_keras_sequential" if isinstance(layer, Sequential)
                else "_tf_keras_model")
        described["keras_version"] = version().decode()
        described["backend"] = "tensorflow"
        if "config" in described:
            described["model_config"] = named.describe(layer)
        if isinstance(layer.optimizer, _optimizers.Optimizer):
            described["training_config"] = training_config(layer)
    return name, json.dumps(described, default=configs.as_plain)


def _described_specs(spec):
    if spec is None:
        return None
    if isinstance(spec, (list, tuple)):
        return [_described_specs(x) for x in spec]
    return {"class_name": "InputSpec", "config": {
        "dtype": spec.dtype, "shape": spec.shape,
        "ndim": None if spec.shape is not None else spec.ndim,
        "max_ndim": spec.max_ndim, "min_ndim": spec.min_ndim,
        "axes": {str(k): v for k, v in spec.axes.items()}}}


def training_config(model):
    """What a model is compiled with, as files of models have it."""
    loss, metrics, loss_weights, weighted = model._arguments
    return {"loss": loss, "metrics": metrics or [], "weighted_metrics": weighted,
            "sample_weight_mode": None, "loss_weights": loss_weights,
            "optimizer_config": _optimizers.serialize(model.optimizer)}


def save(model, path, overwrite=True, include_optimizer=True, signatures=None):
    """Writes a model as a SavedModel. ValueError if the folder is there and
    overwrite is False, or the model has no inputs yet."""
    if not overwrite and os.path.exists(path):
        raise ValueError("%s exists already, and overwrite is False" % path)
    if model._given is None:
        raise ValueError(
            "Model %s cannot be saved because the input shapes have not been "
            "set. Usually, input shapes are automatically determined from "
            "calling .fit() or .predict(). To manually set the shapes, call "
            "model._set_inputs(inputs)." % model.name)
    optimizer = model.optimizer
    if not include_optimizer:
        model.optimizer = None
    try:
        save_objects(model, path, signatures)
    finally:
        model.optimizer = optimizer


def read(path, custom_objects=None):
    """(the model of a SavedModel with its weights, what it is compiled with or
    None)"""
    meta_graph = parse_saved_model(path).meta_graphs[0]
    nodes = meta_graph.object_graph_def.nodes
    if not nodes or nodes[0].user_object.identifier not in _MODELS:
        raise ValueError("The SavedModel %s has no Keras model; see "
                         "tf.saved_model.load_v2" % path)
    described = json.loads(nodes[0].user_object.metadata)
    config = described.get("model_config")
    if not config and described.get("config") is not None:
        config = {key: described[key] for key in ("class_name", "config")}
    if not config or "layers" not in config["config"]:
        raise NotImplementedError(
            "The SavedModel %s has a model of the class %s, which has no "
            "config: make it by its class and load its weights with "
            "load_weights(%r), or see tf.saved_model.load_v2" % (
                path, described.get("class_name"), _prefix(path)))
    model = configs.model_from_config(config, custom_objects)
    read_weights(model, path)
    return model, described.get("training_config")


def _prefix(path):
    return os.path.join(path, constants.VARIABLES_DIRECTORY,
                        constants.VARIABLES_FILENAME)


def read_weights(model, path):
    """Gives a model the weights of a SavedModel. ValueError if some are
    missing or have another shape."""
    reader = NewCheckpointReader(_prefix(path))
    graph = TrackableObjectGraph()
    graph.MergeFromString(reader.get_tensor(_objects.KEY))
    match = _objects.Match(model, graph)
    places = {id(variable): key for key, variable in match.values.items()}
    found = []
    for variable in model.weights:
        key = places.get(id(variable))
        if key is None:
            raise ValueError("%s has no value for the variable %s of model %s"
                             % (path, variable.name, model.name))
        value = reader.get_tensor(key)
        if list(value.shape) != variable.get_shape().as_list():
            raise ValueError("%s: the value of %s has shape %s, not %s" % (
                path, variable.name, value.shape, variable.get_shape()))
        found.append((variable, value))
    backend.batch_set_value(found)


def export_saved_model(model, saved_model_path, custom_objects=None,
                       as_text=False, input_signature=None,
                       serving_only=False):
    """Writes a model as a SavedModel, with its config in the file
    assets/saved_model.json, for load_from_saved_model and for servers.

    Only the graph that predicts is written, with or without `serving_only`.

    Args:
      model: a Sequential, or a model of inputs and outputs.
      saved_model_path: the folder.
      custom_objects: objects by name, for a config that needs them.
      as_text: must be False.
      input_signature: TensorSpecs of the inputs, with shapes and dtypes; by
        default those that the model was made for, of any batch size.

    Raises:
      NotImplementedError: as_text, or a class with a `call` of its own.
      ValueError: the model has no inputs yet."""
    if as_text:
        raise NotImplementedError("export_saved_model: as_text=True is not "
                                  "supported; SavedModels are binary")
    model._check_is_network("export_saved_model")
    path = os.fspath(saved_model_path)
    with named.CustomObjectScope(custom_objects or {}):
        signature = default_signature(model, input_signature)
        save(model, path, signatures={
            constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature})
    folder = os.path.join(path, constants.ASSETS_DIRECTORY)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "saved_model.json"), "w",
              encoding="utf-8") as file:
        file.write(model.to_json())


def load_from_saved_model(saved_model_path, custom_objects=None):
    """The model that export_saved_model wrote, here or in TensorFlow 1.x, with
    its weights, floats of the shapes that it had; it is not compiled.

    `custom_objects`: classes and functions by name that tf.keras does not have.
    OSError if there is no such file, ValueError for unknown layers, and if
    weights are missing."""
    path = os.fspath(saved_model_path)
    with open(os.path.join(path, constants.ASSETS_DIRECTORY,
                           "saved_model.json"), encoding="utf-8") as file:
        model = configs.model_from_json(file.read(), custom_objects)
    read_weights(model, path)
    return model
