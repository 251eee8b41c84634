"""tf.train.warm_start: variables begin with the values of a checkpoint."""
import collections

from headrace import raw_ops as _raw
from headrace._src.framework.graph import GraphKeys, get_collection
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.platform import tf_logging as logging
from headrace._src.training import checkpoint_ops
from headrace._src.training.checkpoint_management import existing_checkpoint
from headrace._src.training.checkpoint_reader import init_from_checkpoint
from headrace._src.variables import saveables as _saveables
from headrace._src.variables.base import Variable
from headrace._src.variables.partitions import (
    PartitionedVariable, PartitionInfo)


class VocabInfo(collections.namedtuple("VocabInfo", [
        "new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab",
        "old_vocab_size", "backup_initializer", "axis"])):
    """The vocabularies by which the rows (`axis` 0) or columns (1) of a variable
    stand: files, and how many of their entries count. old_vocab_size -1: all.
    backup_initializer: for new entries; zeros by default."""
    __slots__ = ()

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab,
                old_vocab_size=-1, backup_initializer=None, axis=0):
        if axis not in (0, 1):
            raise ValueError("The only supported values for the axis argument "
                             "are 0 and 1.  Provided axis: %s" % axis)
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets,
                               old_vocab, old_vocab_size, backup_initializer,
                               axis)


def infer_var_name(var):
    """The name of a list of slices, or of one variable, in checkpoints."""
    names = _saveables.named(var)
    if len(names) > 1:
        raise TypeError("`var` = %s passed as arg violates the constraints.  "
                        "name_to_var_dict = %s" % (var, names))
    return next(iter(names))


def _slices(var):
    """A variable, a list of slices or a partitioned variable, as a list."""
    if isinstance(var, Variable):
        return [var]
    if isinstance(var, PartitionedVariable):
        return list(var)
    if isinstance(var, list) and all(isinstance(v, Variable) for v in var):
        return var
    raise TypeError("var MUST be one of the following: a Variable, list of "
                    "Variable or PartitionedVariable, but is %s" % type(var))


def get_var_info(var, prev_tensor_name=None):
    """(name in the checkpoint, the variable or its slices)."""
    slices = _slices(var)
    if isinstance(var, PartitionedVariable):
        var = slices
    return prev_tensor_name or infer_var_name(slices), var


def warm_start_var_with_vocab(
        var, current_vocab_path, current_vocab_size, prev_ckpt,
        prev_vocab_path, previous_vocab_size=-1, current_oov_buckets=0,
        prev_tensor_name=None, initializer=None, axis=0):
    """Gives a variable, or its slices, initializers that take its rows or
    columns from a checkpoint by vocabularies."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt
            and prev_vocab_path):
        raise ValueError("Invalid args: Must provide all of "
                         "[current_vocab_path, current_vocab_size, prev_ckpt, "
                         "prev_vocab_path}.")
    slices = _slices(var)
    name = prev_tensor_name or infer_var_name(slices)
    height = sum(v.get_shape().as_list()[0] for v in slices)
    for v in slices:
        shape = v.get_shape().as_list()
        info = v._get_save_slice_info()
        part = info and PartitionInfo(info.full_shape, info.var_offset)
        if axis == 0:
            sizes = {
                "new_row_vocab_size": current_vocab_size,
                "new_col_vocab_size": shape[1],
                "old_row_vocab_size": previous_vocab_size,
                "old_row_vocab_file": prev_vocab_path,
                "new_row_vocab_file": current_vocab_path,
                "num_row_oov_buckets": current_oov_buckets}
        else:
            sizes = {
                "new_row_vocab_size": height,
                "new_col_vocab_size": current_vocab_size,
                "old_col_vocab_file": prev_vocab_path,
                "new_col_vocab_file": current_vocab_path,
                "num_col_oov_buckets": current_oov_buckets}
        make = checkpoint_ops.load_and_remap_matrix_initializer(
            existing_checkpoint(prev_ckpt), name, initializer=initializer,
            **sizes)
        value = convert_to_tensor(make(shape, partition_info=part))
        if getattr(v, "_is_resource", False):
            v._initializer_op = _raw.AssignVariableOp(v.handle, value)
        else:
            v._initializer_op = _raw.Assign(v._as_graph_element(), value).op
        v._initial_value = value


def get_grouped_variables(vars_to_warm_start):
    """{name in checkpoints: [variable, or its slices]} of what warm_start's
    argument names."""
    chosen = vars_to_warm_start
    if chosen is None or isinstance(chosen, str):
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=chosen)
    elif not isinstance(chosen, list):
        raise ValueError("`vars_to_warm_start must be a `list` or `str`.  "
                         "Given type is %s" % type(chosen))
    elif all(isinstance(v, str) for v in chosen):
        found = [v for scope in chosen
                 for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope)]
    elif all(isinstance(v, (Variable, PartitionedVariable)) for v in chosen):
        found = chosen
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all "
                         "`Variable` or all `str`.  Given types are %s"
                         % [type(v) for v in chosen])
    grouped = {}
    for v in found:
        grouped.setdefault(infer_var_name(_slices(v)), []).append(v)
    return grouped


def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*",
               var_name_to_vocab_info=None, var_name_to_prev_var_name=None):
    """Makes the initializers of variables take values of a checkpoint: a
    prefix, or a folder with checkpoints.

    `vars_to_warm_start`: a regular expression for trainable variables; a list
    of such for all variables; a list of variables; None: only those with
    vocabularies. `var_name_to_vocab_info`: VocabInfos, by name.
    `var_name_to_prev_var_name`: names in the checkpoint where they differ.
    ValueError for names of these two that no variable has."""
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = get_grouped_variables(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    old_names = var_name_to_prev_var_name or {}
    number, plain = 0, {}
    for name, variable in grouped.items():
        info = vocabularies.get(name)
        if info:
            number += 1
            warm_start_var_with_vocab(
                variable, info.new_vocab, info.new_vocab_size,
                ckpt_to_initialize_from, info.old_vocab, info.old_vocab_size,
                info.num_oov_buckets, old_names.get(name),
                info.backup_initializer, info.axis)
        elif vars_to_warm_start:
            number += 1
            key, variable = get_var_info(
                variable[0] if len(variable) == 1 else variable,
                old_names.get(name))
            plain[key] = variable
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    logging.info("Warm-started %d variables.", number)
    for argument, names in (("var_name_to_prev_var_name", old_names),
                            ("var_name_to_vocab_info", vocabularies)):
        unused = {n for n in names if names[n]} - set(grouped)
        if unused:
            raise ValueError(
                "You provided the following variables in %s that were not "
                "used: %s.  Perhaps you misspelled them?  Here is the list of "
                "viable variable names: %s" % (argument, unused,
                                               list(grouped)))
