"""tf.contrib.framework: variables that take values of a checkpoint, or values
that a program gives."""
import numpy as np

from headrace._src.contrib.variables import get_unique_variable
from headrace._src.control.control_flow_ops import group
from headrace._src.ops import array_ops as _array
from headrace._src.platform import tf_logging as logging
from headrace._src.training import checkpoint_reader as _reader
from headrace._src.training.saver import Saver
from headrace._src.variables.partitions import PartitionedVariable


def load_checkpoint(filepattern):
    """tf.train.load_checkpoint."""
    return _reader.load_checkpoint(filepattern)


def list_variables(checkpoint_dir):
    """tf.train.list_variables."""
    return _reader.list_variables(checkpoint_dir)


def load_variable(checkpoint_dir, name):
    """tf.train.load_variable."""
    return _reader.load_variable(checkpoint_dir, name)


def init_from_checkpoint(checkpoint_dir, assignment_map):
    """tf.train.init_from_checkpoint."""
    return _reader.init_from_checkpoint(checkpoint_dir, assignment_map)


def get_variable_full_name(var):
    """The name of a variable, of the whole if it is a slice of one."""
    info = var._get_save_slice_info()
    return info.full_name if info else var.op.name


def _by_name(var_list):
    """{name in the checkpoint: variables}"""
    if isinstance(var_list, dict):
        return {name: list(v) if isinstance(v, (list, tuple, PartitionedVariable))
                else [v] for name, v in var_list.items()}
    named = {}
    for var in var_list:
        for part in var if isinstance(var, PartitionedVariable) else [var]:
            named.setdefault(get_variable_full_name(part), []).append(part)
    return named


def assign_from_values(var_names_to_values):
    """(op, feed_dict): running the op with the feed gives variables of the
    graph the values, {name: array}. ValueError for a name of no variable."""
    feed, ops = {}, []
    for name, value in var_names_to_values.items():
        var = get_unique_variable(name)
        if not isinstance(value, np.ndarray):
            value = np.asarray(value, var.dtype.base_dtype.as_numpy_dtype)
        given = _array.placeholder(var.dtype.base_dtype,
                                   shape=var.get_shape())
        ops.append(var.assign(given))
        feed[given] = value.reshape(var.get_shape().as_list())
    return group(*ops), feed


def assign_from_values_fn(var_names_to_values):
    """A function of a session that runs assign_from_values."""
    op, feed = assign_from_values(var_names_to_values)
    return lambda session: session.run(op, feed)


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """(op, feed_dict): running the op with the feed gives variables the values
    of the checkpoint `model_path`. `var_list`: variables, or {name in the
    checkpoint: variable or its slices}. ValueError for a name that the
    checkpoint does not have, unless ignore_missing_vars, and for values of
    another size."""
    reader = _reader.NewCheckpointReader(model_path)
    feed, ops = {}, []
    for name, parts in _by_name(var_list).items():
        if not reader.has_tensor(name):
            text = "Checkpoint is missing variable [%s]" % name
            if not ignore_missing_vars:
                raise ValueError(text)
            logging.warning(text)
            continue
        value = reader.get_tensor(name)
        for var in parts:
            info = var._get_save_slice_info() if len(parts) > 1 else None
            part = value
            if info:
                part = value[tuple(
                    slice(start, start + size) for start, size in zip(
                        info.var_offset, info.var_shape))]
            shape = var.get_shape().as_list()
            if part.size != int(np.prod(shape)):
                raise ValueError(
                    "Total size of new array must be unchanged for %s "
                    "lh_shape: [%s], rh_shape: [%s]"
                    % (name, part.shape, shape))
            given = _array.placeholder(
                var.dtype.base_dtype, shape=shape, name="ckpt_placeholder")
            ops.append(var.assign(given))
            feed[given] = part.reshape(shape)
    return group(*ops), feed


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False,
                              reshape_variables=False):
    """A function of a session that restores variables from the checkpoint
    `model_path`, or None if there are none to restore.

    `var_list`: variables, or {name in the checkpoint: variable}. With
    ignore_missing_vars those that the checkpoint does not have keep their
    values. reshape_variables: shapes may differ where sizes do not.
    ValueError for an empty var_list.

    Variables may be of any dtype. The function raises NotFoundError for a
    variable that is not there, InvalidArgumentError for another shape or dtype.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = _reader.NewCheckpointReader(model_path)
        named = (var_list if isinstance(var_list, dict)
                 else {v.op.name: v for v in var_list})
        var_list = {}
        for name, var in named.items():
            if reader.has_tensor(name):
                var_list[name] = var
            else:
                logging.warning("Variable %s missing in checkpoint %s",
                                name, model_path)
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables,
                  write_version=2)
    return lambda session: saver.restore(session, model_path)
