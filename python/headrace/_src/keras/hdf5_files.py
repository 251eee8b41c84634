"""Weights of models in HDF5 files, as Keras writes them: a group for each layer,
with a dataset for each weight. They need the package h5py."""
import os

import numpy as np

from headrace._loading import load as _load
from headrace._src.keras import cudnn_weights
from headrace._src.layers import backend

_SUFFIXES = (".h5", ".hdf5", ".keras")
_MOST = 64512  # bytes of an attribute


def is_hdf5_path(path):
    return str(path).endswith(_SUFFIXES)


def is_hdf5_file(path):
    """Whether a file begins as HDF5 files do."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


def version():
    """Keras' version, which its files name."""
    return _load("keras").__version__.encode()


def h5py(method):
    try:
        import h5py as package  # type: ignore
    except ImportError as error:
        raise ImportError(
            "`%s` requires h5py for HDF5 files: pip install h5py, or use a "
            "path without .h5 for TensorFlow's format" % method) from error
    return package


def _weights(layer):
    return layer.trainable_weights + layer.non_trainable_weights


# Lists of names, which take several attributes where they are long.

def _write_names(group, key, names):
    names = [name.encode() for name in names]
    parts = 1
    while any(np.asarray(part).nbytes > _MOST
              for part in np.array_split(np.asarray(names), parts)):
        parts += 1
    if parts == 1:
        group.attrs[key] = np.asarray(names)
        return
    for i, part in enumerate(np.array_split(np.asarray(names), parts)):
        group.attrs["%s%d" % (key, i)] = part


def _read_names(group, key):
    parts = []
    if key in group.attrs:
        parts.append(group.attrs[key])
    while "%s%d" % (key, len(parts)) in group.attrs and key not in group.attrs:
        parts.append(group.attrs["%s%d" % (key, len(parts))])
    return [name.decode() if isinstance(name, bytes) else str(name)
            for part in parts for name in part]


def save(model, path):
    """Writes the weights of all layers."""
    with h5py("save_weights").File(path, "w") as file:
        write_layers(file, model.layers)


def write_layers(file, layers):
    """Writes the weights of layers in a file or a group of one."""
    _write_names(file, "layer_names", [x.name for x in layers])
    file.attrs["backend"] = b"tensorflow"
    file.attrs["keras_version"] = version()
    for layer in layers:
        write_weights(file.create_group(layer.name), _weights(layer))


def write_weights(group, weights):
    """Writes variables in a group, by their names."""
    names = [w.name for w in weights]
    _write_names(group, "weight_names", names)
    for name, value in zip(names, backend.batch_get_value(weights)):
        group.create_dataset(name, data=value)


def read_weights(group):
    """The values of what write_weights wrote, in its order."""
    return [np.asarray(group[name])
            for name in _read_names(group, "weight_names")]


def load(model, path, by_name=False):
    """Gives the layers the weights of a file: by their order, or those that
    have the same name. ValueError if they do not fit."""
    with h5py("load_weights").File(path, "r") as file:
        group = file
        if "layer_names" not in file.attrs and "model_weights" in file:
            group = file["model_weights"]
        read_layers(path, group, model, by_name)


def read_layers(path, group, model, by_name=False):
    """As load, of a group of the file `path`."""
    _check_origin(path, group)
    saved = [(name, read_weights(group[name]))
             for name in _read_names(group, "layer_names")]
    if by_name:
        layers = {layer.name: layer for layer in model.layers}
        pairs = [(layers[name], values) for name, values in saved
                 if name in layers]
    else:
        pairs = _in_order(path, model, saved)
    found = []
    for layer, values in pairs:
        found += _fitting(path, layer, values)
    backend.batch_set_value(found)


def _check_origin(path, group):
    def text(key, default):
        value = group.attrs.get(key, default)
        return value.decode() if isinstance(value, bytes) else str(value)
    version, made_by = text("keras_version", "1"), text("backend", "tensorflow")
    if version.startswith("1") or made_by != "tensorflow":
        raise ValueError(
            "%s: weights of Keras %s with the backend %s are laid out otherwise "
            "and not supported; Keras 2 with tensorflow is"
            % (path, version, made_by))


def _in_order(path, model, saved):
    saved = [pair for pair in saved if pair[1]]
    layers = [layer for layer in model.layers if _weights(layer)]
    if len(saved) != len(layers):
        raise ValueError(
            "You are trying to load a weight file containing %d layers into a "
            "model with %d layers. (%s)" % (len(saved), len(layers), path))
    return [(layer, values) for layer, (_, values) in zip(layers, saved)]


def _fitting(path, layer, values):
    """[(variable, value)]. ValueError if their number or a shape differs."""
    weights = _weights(layer)
    values = cudnn_weights.fitted(layer, values)
    if len(weights) != len(values):
        raise ValueError(
            "%s: layer %s expects %d weight(s), but the saved weights have %d "
            "element(s)." % (path, layer.name, len(weights), len(values)))
    for weight, value in zip(weights, values):
        shape = tuple(weight.get_shape().as_list())
        if shape != value.shape:
            raise ValueError(
                "%s: layer %s, weight %s has shape %s, but the saved weight has "
                "shape %s." % (path, layer.name, weight.name, shape,
                               value.shape))
    return list(zip(weights, values))
