"""Warm starts: variables that begin with the values of an older model, whose
vocabularies may have been others."""
import collections

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import GraphKeys, get_collection
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.training.checkpoint_management import existing_checkpoint
from headrace._src.training.checkpoint_reader import init_from_checkpoint
from headrace._src.variables.base import Variable
from headrace._src.variables.initializers import Zeros
from headrace._src.variables.variables import assign


class VocabInfo(collections.namedtuple("VocabInfo", [
        "new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab",
        "old_vocab_size", "backup_initializer", "axis"])):
    """The files that say which row (axis 0) or column (axis 1) of a matrix
    belongs to which word, now and in the checkpoint.

    new_vocab, old_vocab: files with a word on each line, of which the first
      new_vocab_size and old_vocab_size (-1: all) count.
    num_oov_buckets: rows or columns after the words'.
    backup_initializer: of words that old_vocab does not have; zeros if None.

    ValueError for another axis."""
    __slots__ = ()

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab,
                old_vocab_size=-1, backup_initializer=None, axis=0):
        if axis not in (0, 1):
            raise ValueError("The only supported values for the axis argument "
                             "are 0 and 1.  Provided axis: %s" % axis)
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets,
                               old_vocab, old_vocab_size, backup_initializer,
                               axis)


def _name(variable):
    """That of the whole of which it may be a part."""
    part = variable._get_save_slice_info()
    return part.full_name if part is not None else variable.op.name


def _chosen(vars_to_warm_start):
    """{name: its parts}."""
    given = vars_to_warm_start
    if given is None or isinstance(given, str):
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=given)
    elif not isinstance(given, list):
        raise ValueError("`vars_to_warm_start must be a `list` or `str`.  Given "
                         "type is %s" % type(given))
    elif all(isinstance(v, str) for v in given):
        variables = [v for scope in given for v in get_collection(
            GraphKeys.GLOBAL_VARIABLES, scope=scope)]
    elif all(isinstance(v, Variable) for v in given):
        variables = given
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all "
                         "`Variable` or all `str`.  Given types are %s"
                         % [type(v) for v in given])
    found = {}
    for variable in variables:
        found.setdefault(_name(variable), []).append(variable)
    return found


def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*",
               var_name_to_vocab_info=None, var_name_to_prev_var_name=None):
    """Makes the initializers of variables take values of the checkpoint
    ckpt_to_initialize_from, or of the newest one of that folder.

    vars_to_warm_start: a regular expression, by which trainable variables are
      chosen; a list of such for all global variables; a list of variables; or
      None: only those with a VocabInfo.
    var_name_to_vocab_info: the VocabInfo of variables by name.
    var_name_to_prev_var_name: what variables are called in the checkpoint, if
      not the same.

    ValueError for names in these dicts that were not chosen, and where
    init_from_checkpoint has it."""
    logging.info("Warm-starting from: %s" % (ckpt_to_initialize_from,))
    chosen = _chosen(vars_to_warm_start)
    infos = dict(var_name_to_vocab_info or {})
    old_names = dict(var_name_to_prev_var_name or {})
    count, plain = 0, {}
    for name, parts in chosen.items():
        info, old = infos.pop(name, None), old_names.pop(name, None)
        if info:
            _initialize_by_words(parts, info, ckpt_to_initialize_from,
                                 old or name)
        elif vars_to_warm_start:
            plain[old or name] = parts[0] if len(parts) == 1 else parts
        count += bool(info or vars_to_warm_start)
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    logging.info("Warm-started %d variables.", count)
    for what, unused in (("var_name_to_prev_var_name", old_names),
                         ("var_name_to_vocab_info", infos)):
        if unused:
            raise ValueError(
                "You provided the following variables in %s that were not used:"
                " %s.  Perhaps you misspelled them?  Here is the list of viable "
                "variable names: %s" % (what, sorted(unused), sorted(chosen)))


def _initialize_by_words(parts, info, checkpoint, old_name):
    if not (info.new_vocab and info.new_vocab_size and info.old_vocab):
        raise ValueError("VocabInfo of %s needs new_vocab, new_vocab_size and "
                         "old_vocab: %s" % (old_name, info))
    path = existing_checkpoint(checkpoint)
    rows = sum(v.get_shape().as_list()[0] for v in parts)
    for v in parts:
        shape = v.get_shape().as_list()
        part = v._get_save_slice_info()
        offset = part.var_offset[0] if part is not None else 0
        if info.axis == 0:
            initial = _remapped(
                path, old_name, shape, offset, info.new_vocab_size, shape[1],
                info.backup_initializer, row_files=(
                    info.new_vocab, info.old_vocab, info.old_vocab_size))
        else:
            initial = _remapped(
                path, old_name, shape, offset, rows, info.new_vocab_size,
                info.backup_initializer, column_files=(
                    info.new_vocab, info.old_vocab))
        assigned = assign(v, convert_to_tensor(initial))
        v._initializer_op = getattr(assigned, "op", assigned)


def _remapped(path, name, shape, offset, num_rows, num_columns, initializer,
              row_files=None, column_files=None):
    """Rows offset to offset + shape[0] of a matrix: num_rows rows and
    num_columns columns for words, then those of the buckets."""
    initializer = initializer or Zeros()
    buckets = min(shape[0], max(0, offset + shape[0] - num_rows))
    count = shape[0] - buckets
    if offset > num_rows:  # a part of buckets alone
        return initializer(shape)
    present_rows, present_columns = count, num_columns
    columns = []
    if row_files:
        new, old, old_size = row_files
        rows, present_rows = _raw.GenerateVocabRemapping(
            new_vocab_file=new, old_vocab_file=old, new_vocab_offset=offset,
            num_new_vocab=count, old_vocab_size=old_size)
    else:
        rows = _math.range(offset, offset + count, dtype=dtypes.int64)
    if column_files:
        columns, present_columns = _raw.GenerateVocabRemapping(
            new_vocab_file=column_files[0], old_vocab_file=column_files[1],
            new_vocab_offset=0, num_new_vocab=num_columns)
    missing = initializer([
        count * num_columns - present_rows * present_columns, 1])
    out = _raw.LoadAndRemapMatrix(
        ckpt_path=path, old_tensor_name=name, row_remapping=rows,
        col_remapping=columns, initializing_values=missing, num_rows=count,
        num_cols=num_columns)
    if buckets:
        out = _array.concat([out, initializer([buckets, num_columns])], 0)
    if shape[1] > num_columns:
        out = _array.concat(
            [out, initializer([shape[0], shape[1] - num_columns])], 1)
    return out
