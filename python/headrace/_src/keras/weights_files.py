"""Weights of models in files of TensorFlow's format, a checkpoint in which a
graph of objects says what each tensor is, or HDF5's (hdf5_files.py)."""
import os

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework.graph import Graph
from headrace._src.framework.tensor import constant
from headrace._src.keras import hdf5_files as _hdf5
from headrace._src.keras import multi_worker as _multi_worker
from headrace._src.layers import backend
from headrace._src.session.session import Session
from headrace._src.training import checkpoint_management as _management
from headrace._src.training import object_graph as _objects
from headrace._src.training.checkpoint_reader import NewCheckpointReader


def _is_hdf5(path, save_format):
    """Whether weights are to be saved in an HDF5 file. ValueError for unknown
    formats, and for TensorFlow's in a file that is called as HDF5's are."""
    if save_format is None:
        return _hdf5.is_hdf5_path(path)
    wanted = save_format.lower().strip()
    if wanted in ("h5", "hdf5", "keras"):
        return True
    if wanted not in ("tf", "tensorflow"):
        raise ValueError("Unknown format \"%s\". Was expecting one of {\"tf\", "
                         "\"h5\"}." % (save_format,))
    if _hdf5.is_hdf5_path(path):
        raise ValueError(
            "save_weights got save_format=\"tf\"/\"tensorflow\", but the "
            "filepath (\"%s\") looks like an HDF5 file. Omit the "
            "\".h5\"/\".keras\" when saving in TensorFlow format." % path)
    return False


def _check_made(model):
    if not model.weights:
        raise ValueError("Weights for model %s have not yet been created. "
                         "Weights are created when the Model is first called on "
                         "inputs." % model.name)


def save(model, path, overwrite=True, save_format=None):
    in_hdf5 = _is_hdf5(path, save_format)
    _check_made(model)
    if not overwrite and os.path.exists(path if in_hdf5 else path + ".index"):
        raise ValueError("%s exists already, and overwrite is False" % path)
    if in_hdf5:
        _hdf5.save(model, path)
        return
    graph, keys = _objects.describe(model)
    values = _multi_worker.values_of(list(keys.values()))
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with Graph().as_default():
        data = [constant(v, dtype=k.dtype.base_dtype)
                for k, v in zip(keys.values(), values)]
        data.append(constant(graph.SerializeToString()))
        names = [*keys, _objects.KEY]
        done = _raw.SaveV2(path, names, [""] * len(names), data)
        with Session() as session:
            session.run(done)
    _management.write_state(folder, path, [path], relative=True)


def load(model, path, by_name=False):
    """Gives the model's weights those of a checkpoint or an HDF5 file. Where it
    has no such weight, ValueError says which is missing."""
    if _hdf5.is_hdf5_path(path) or _hdf5.is_hdf5_file(path):
        _check_made(model)
        _hdf5.load(model, path, by_name)
        return
    if os.path.isdir(path):
        path = _management.latest_checkpoint(path) or path
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when "
            "loading TensorFlow-formatted weights (got by_name=True to "
            "load_weights).")
    reader = NewCheckpointReader(path)
    _, keys = _objects.describe(model)
    if not keys:
        raise ValueError("Unable to load weights into model %s, which has not "
                         "created its variables yet: call it, or give it an "
                         "input_shape" % model.name)
    have = reader.get_variable_to_shape_map()
    pairs = []
    for key, variable in keys.items():
        if key not in have:
            raise ValueError("%s has no tensor %s for variable %s of model %s"
                             % (path, key, variable.name, model.name))
        value = reader.get_tensor(key)
        shape = tuple(variable.get_shape().as_list())
        if np.shape(value) != shape:
            raise ValueError("%s: tensor %s has shape %s, variable %s has %s"
                             % (path, key, np.shape(value), variable.name,
                                shape))
        pairs.append((variable, value))
    backend.batch_set_value(pairs)
