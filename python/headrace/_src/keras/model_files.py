"""Whole models in HDF5 files, as Keras writes them: the config, the weights, and
what the model is compiled with, beside the optimizer's state. Or as
SavedModels."""
import json
import os

from headrace._src.keras import configs
from headrace._src.keras import hdf5_files as _hdf5
from headrace._src.keras import losses as _losses
from headrace._src.keras import metrics as _metrics
from headrace._src.keras import optimizers as _optimizers
from headrace._src.keras import saved_models as _saved_models
from headrace._src.layers import named
from headrace._src.platform import tf_logging as logging
from headrace._src.saved_model.loader import parse_saved_model


def save_model(model, filepath, overwrite=True, include_optimizer=True,
               save_format=None, signatures=None):
    """Writes a model in an HDF5 file: its config, its weights and, if it is
    compiled, the losses, metrics, and the optimizer with its state. Or as a
    SavedModel, which has its functions too.

    Args:
      filepath: a path, or an open h5py.File.
      overwrite: whether a file of that name is replaced.
      include_optimizer: False leaves out what the model is compiled with. So
        does an optimizer of tf.train, which has no config.
      save_format: "h5", the default, or "tf": a SavedModel, unless the name
        ends with .h5, .hdf5 or .keras.
      signatures: of a SavedModel; see tf.saved_model.save. By default the call
        of the model for any batch size, with the shapes and dtypes that it has.

    Raises:
      ImportError: HDF5, and h5py is not installed.
      NotImplementedError: HDF5, and a model whose class has a `call` of its
        own.
      ValueError: the file exists and overwrite is False, the model has no
        weights yet, or another format."""
    if save_format in ("tf", "tensorflow") and isinstance(
            filepath, (str, os.PathLike)) and not _hdf5.is_hdf5_path(filepath):
        _saved_models.save(model, os.fspath(filepath), overwrite,
                           include_optimizer, signatures)
        return
    if save_format not in (None, "h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError("save_model: unknown save_format %r; \"h5\" and \"tf\" "
                         "are known" % (save_format,))
    if signatures is not None:
        raise ValueError("save_model: signatures are for save_format \"tf\"")
    h5py = _hdf5.h5py("save_model")
    model._check_is_network("save_model")
    if model._given is None:
        raise ValueError(
            "Model %s has no weights yet: give its first layer an input_shape, "
            "or call it, before it is saved" % model.name)
    contents = {"keras_version": _hdf5.version(), "backend": b"tensorflow",
                "model_config": json.dumps(
                    named.describe(model),
                    default=configs.as_plain).encode()}
    is_compiled = include_optimizer and model.optimizer is not None
    if is_compiled and not isinstance(model.optimizer, _optimizers.Optimizer):
        logging.warning(
            "The optimizer of model %s is one of tf.train, which has no config: "
            "what the model is compiled with is not saved. Compile it again when "
            "it is loaded, or use an optimizer of tf.keras.optimizers.",
            model.name)
        is_compiled = False
    if is_compiled:
        contents["training_config"] = json.dumps(
            _saved_models.training_config(model), default=configs.as_plain).encode()
    if isinstance(filepath, h5py.File):
        _write(filepath, model, contents, is_compiled)
        return
    path = os.fspath(filepath)
    if not overwrite and os.path.exists(path):
        raise ValueError("%s exists already, and overwrite is False" % path)
    path = os.path.realpath(path)  # a link stays one
    part = "%s.part%d" % (path, os.getpid())
    try:
        with h5py.File(part, "w") as file:
            _write(file, model, contents, is_compiled)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def _write(file, model, attributes, with_optimizer):
    for key, value in attributes.items():
        file.attrs[key] = value
    _hdf5.write_layers(file.create_group("model_weights"), model.layers)
    if with_optimizer and model.optimizer.weights:
        _hdf5.write_weights(file.create_group("optimizer_weights"),
                            model.optimizer.weights)


def load_model(filepath, custom_objects=None, compile=True):
    """The model of a file or a SavedModel that save_model wrote, here or in
    TensorFlow 1.15.

    `custom_objects`: classes and functions by name that tf.keras does not have;
    `compile` False: without losses, metrics and optimizer. Where the file has
    none, or the state does not fit the optimizer, a warning says so.

    Raises:
      ImportError: h5py is not installed, for a file.
      OSError: there is no such file or folder, or it is neither a file of HDF5
        nor a SavedModel.
      NotImplementedError: a SavedModel of a model that has no config.
      ValueError: no model in it, or an unknown layer, loss or metric."""
    if not hasattr(filepath, "filename") and os.path.isdir(filepath):
        model, config = _saved_models.read(os.fsdecode(filepath), custom_objects)
        if compile and config is not None:
            _compile(model, config, custom_objects)
        return model
    h5py = _hdf5.h5py("load_model")
    if isinstance(filepath, h5py.File):
        return _read(filepath, filepath.filename, custom_objects, compile)
    path = os.fsdecode(filepath)
    if not h5py.is_hdf5(path):
        parse_saved_model(path)  # There is none; the error says so.
    with h5py.File(path, "r") as file:
        return _read(file, path, custom_objects, compile)


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _read(file, path, custom_objects, compiled):
    if "model_config" not in file.attrs:
        raise ValueError("No model found in config file %s. It may have weights "
                         "alone: see Model.load_weights." % path)
    model = configs.model_from_config(
        json.loads(_text(file.attrs["model_config"])), custom_objects)
    _hdf5.read_layers(path, file["model_weights"], model)
    if not compiled:
        return model
    if "training_config" not in file.attrs:
        logging.warning("No training configuration found in save file: the model "
                        "was *not* compiled. Compile it manually.")
        return model
    _compile(model, json.loads(_text(file.attrs["training_config"])),
             custom_objects)
    if "optimizer_weights" in file:
        _read_state(file["optimizer_weights"], path, model)
    return model


def _compile(model, config, custom_objects):
    model.compile(
        _optimizers.deserialize(config["optimizer_config"], custom_objects),
        _made(config["loss"], _losses, custom_objects),
        _made(config["metrics"], _metrics, custom_objects),
        loss_weights=config["loss_weights"],
        sample_weight_mode=config.get("sample_weight_mode"),
        weighted_metrics=_made(config.get("weighted_metrics"), _metrics,
                               custom_objects))


def _made(given, module, custom_objects):
    """What a loss or metrics of the config stand for, in their structure."""
    if isinstance(given, dict) and set(given) == {"class_name", "config"}:
        return module.deserialize(given, custom_objects)
    if isinstance(given, dict):
        return {key: _made(value, module, custom_objects)
                for key, value in given.items()}
    if isinstance(given, list):
        return [_made(value, module, custom_objects) for value in given]
    if isinstance(given, str) and given in (custom_objects or {}):
        return custom_objects[given]
    return given


def _read_state(group, path, model):
    values = _hdf5.read_weights(group)
    model._make_train_op()
    wanted = model.optimizer.weights
    if [v.shape for v in values] == [
            tuple(w.get_shape().as_list()) for w in wanted]:
        model.optimizer.set_weights(values)
        return
    logging.warning(
        "%s: the optimizer begins anew: its saved state has %d tensors of shapes "
        "%s, but %s has %d of shapes %s", path, len(values),
        [v.shape for v in values], type(model.optimizer).__name__, len(wanted),
        [tuple(w.get_shape().as_list()) for w in wanted])
