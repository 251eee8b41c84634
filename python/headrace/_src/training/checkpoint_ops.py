"""Initializers that take rows and columns of a matrix from a checkpoint, where
they stand by an old vocabulary, and order them by a new one."""
import math

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables import initializers as _initializers


def _check_vocabularies(kind, old, new, buckets):
    if buckets < 0:
        raise ValueError("num_%s_oov_buckets must be >= 0, but received %d"
                         % (kind, buckets))
    if bool(old) != bool(new):
        raise ValueError(
            "old_{0}_vocab_file and new_{0}_vocab_file must both be specified "
            "or left unspecified. old_{0}_vocab_file='{1}', "
            "new_{0}_vocab_file='{2}'".format(kind, old, new))
    return bool(old)


def load_and_remap_matrix(
        ckpt_path, old_tensor_name, new_row_vocab_offset, num_rows_to_load,
        new_col_vocab_size, initializer, old_row_vocab_size=-1,
        old_row_vocab_file=None, new_row_vocab_file=None,
        old_col_vocab_file=None, new_col_vocab_file=None,
        num_row_oov_buckets=0, num_col_oov_buckets=0, max_rows_in_memory=-1):
    """A matrix [num_rows_to_load + num_row_oov_buckets, new_col_vocab_size +
    num_col_oov_buckets] of float32: entries that the old vocabularies have come
    from the checkpoint's matrix, the others from the initializer. ValueError
    without a pair of vocabularies, of rows or of columns."""
    by_rows = _check_vocabularies("row", old_row_vocab_file,
                                  new_row_vocab_file, num_row_oov_buckets)
    by_columns = _check_vocabularies("col", old_col_vocab_file,
                                     new_col_vocab_file, num_col_oov_buckets)
    if not by_rows and not by_columns:
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is "
            "necessary, consider using "
            "`tf.contrib.framework.init_from_checkpoint` instead.")
    if by_rows:
        rows, known_rows = _raw.GenerateVocabRemapping(
            new_row_vocab_file, old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load, old_vocab_size=old_row_vocab_size)
    else:
        known_rows = num_rows_to_load
        rows = _math.range(new_row_vocab_offset,
                           new_row_vocab_offset + num_rows_to_load,
                           dtype=dtypes.int64)
    if by_columns:
        columns, known_columns = _raw.GenerateVocabRemapping(
            new_col_vocab_file, old_col_vocab_file, new_vocab_offset=0,
            num_new_vocab=new_col_vocab_size)
    else:
        columns, known_columns = [], new_col_vocab_size
    others = initializer([num_rows_to_load * new_col_vocab_size
                          - known_rows * known_columns, 1])
    matrix = _raw.LoadAndRemapMatrix(
        ckpt_path, old_tensor_name, rows, columns, others,
        num_rows=num_rows_to_load, num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory)
    if num_row_oov_buckets:
        more = convert_to_tensor(initializer(
            [num_row_oov_buckets, new_col_vocab_size]))
        matrix = _array.concat([matrix, more], 0)
    if num_col_oov_buckets:
        more = convert_to_tensor(initializer(
            [num_rows_to_load + num_row_oov_buckets, num_col_oov_buckets]))
        matrix = _array.concat([matrix, more], 1)
    return matrix


def load_and_remap_matrix_initializer(
        ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size,
        old_row_vocab_size=-1, old_row_vocab_file=None,
        new_row_vocab_file=None, old_col_vocab_file=None,
        new_col_vocab_file=None, num_row_oov_buckets=0, num_col_oov_buckets=0,
        initializer=None, max_rows_in_memory=-1):
    """An initializer of a matrix [new_row_vocab_size + num_row_oov_buckets,
    new_col_vocab_size + num_col_oov_buckets], or of a part of its rows, from
    the matrix `old_tensor_name` of a checkpoint.

    Vocabularies are files of one entry a line; those of rows or of columns may
    be missing: the order is the same then. `initializer`: for what the
    checkpoint does not have; zeros by default."""
    if initializer is None:
        initializer = _initializers.Zeros()
    if not callable(initializer):
        raise TypeError("initializer must be callable, instead of being %s of "
                        "type %s." % (initializer, type(initializer)))
    width = new_col_vocab_size + num_col_oov_buckets
    height = new_row_vocab_size + num_row_oov_buckets

    def make(shape, dtype=dtypes.float32, partition_info=None):
        if dtypes.as_dtype(dtype) != dtypes.float32:
            raise TypeError("Currently, only float32 is supported. Received "
                            "dtype: %s" % dtype)
        if len(shape) != 2:
            raise ValueError("Expected 2-dim shape, but received: %s"
                             % (shape,))
        rows, columns = (int(d) for d in shape)
        if rows <= 0:
            raise ValueError("Expected 1st dim of shape to be > 0, but received "
                             "shape: %s" % (shape,))
        if columns != width:
            raise ValueError(
                "Expected 2nd dim of shape to be new_col_vocab_size (%d) + "
                "num_col_oov_buckets (%d) = %d, but received shape: %s" % (
                    new_col_vocab_size, num_col_oov_buckets, width, shape))
        first = (0 if partition_info is None
                 else partition_info.single_offset([rows, columns]))
        if first + rows > height:
            raise ValueError(
                "Trying to initialize %d additional rows after %d rows have "
                "already been initialized, which would exceed expected total "
                "row count of new_row_vocab_size (%d) + num_row_oov_buckets "
                "(%d) = %d." % (rows, first, new_row_vocab_size,
                                num_row_oov_buckets, height))
        unknown = min(rows, max(0, first + rows - new_row_vocab_size))
        if first > new_row_vocab_size:
            return initializer([rows, columns])
        return load_and_remap_matrix(
            ckpt_path, old_tensor_name, first, rows - unknown,
            new_col_vocab_size, initializer, old_row_vocab_size,
            old_row_vocab_file, new_row_vocab_file, old_col_vocab_file,
            new_col_vocab_file, unknown, num_col_oov_buckets,
            max_rows_in_memory)
    return make


def load_embedding_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim,
        old_vocab_file, new_vocab_file, old_vocab_size=-1, num_oov_buckets=0,
        initializer=None, max_rows_in_memory=-1):
    """An initializer of embeddings [new_vocab_size + num_oov_buckets,
    embedding_dim] from those of a checkpoint. New words are random by
    default."""
    if initializer is None:
        initializer = _initializers.TruncatedNormal(
            stddev=1. / math.sqrt(embedding_dim))
    return load_and_remap_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim,
        old_vocab_size, old_vocab_file, new_vocab_file,
        num_row_oov_buckets=num_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory)


def load_linear_multiclass_bias_initializer(
        ckpt_path, bias_tensor_name, new_class_vocab_size,
        old_class_vocab_file, new_class_vocab_file, num_class_oov_buckets=0,
        initializer=None, max_rows_in_memory=-1):
    """An initializer of biases [new_class_vocab_size + num_class_oov_buckets,
    1] from those of a checkpoint. New classes have zeros by default."""
    return load_and_remap_matrix_initializer(
        ckpt_path, bias_tensor_name, new_class_vocab_size, 1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory)


def load_variable_slot_initializer(
        ckpt_path, old_tensor_name, primary_partition_info, new_row_vocab_size,
        new_col_vocab_size, old_row_vocab_file=None, new_row_vocab_file=None,
        old_col_vocab_file=None, new_col_vocab_file=None,
        num_row_oov_buckets=0, num_col_oov_buckets=0, initializer=None,
        max_rows_in_memory=-1):
    """As load_and_remap_matrix_initializer, for a slot that an optimizer has
    for a part of a variable: the part is that of the variable,
    `primary_partition_info`."""
    make = load_and_remap_matrix_initializer(
        ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, -1,
        old_row_vocab_file, new_row_vocab_file, old_col_vocab_file,
        new_col_vocab_file, num_row_oov_buckets, num_col_oov_buckets,
        initializer, max_rows_in_memory)
    return lambda shape, dtype=dtypes.float32, partition_info=None: make(
        shape, dtype, primary_partition_info)
