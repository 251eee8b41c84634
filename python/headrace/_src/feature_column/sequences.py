"""Feature columns of sequences, and tf.contrib.feature_column, which makes the
input of a recurrent network of them."""
import collections

from headrace import raw_ops as _raw
from headrace._src.control.check_ops import assert_equal
from headrace._src.feature_column import columns as _columns
from headrace._src.feature_column.features import Features
from headrace._src.feature_column.inputs import checked, collections_of
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.io.parsing_ops import VarLenFeature
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.variables.scopes import variable_scope

SequenceInputLayer = collections.namedtuple(
    "SequenceInputLayer", ["input_layer", "sequence_length"])
SequenceInputLayer.__doc__ = """What sequence_input_layer returns."""


def lengths_of(sparse, elements=1):
    """int64 [batch], the steps of each sequence of a SparseTensor [batch, time,
    ...] with `elements` values a step."""
    rows = sparse.indices[:, 0]
    ends = _raw.UnsortedSegmentMax(
        data=sparse.indices[:, 1] + 1, segment_ids=rows,
        num_segments=sparse.dense_shape[0])
    ends = _math.maximum(ends, 0)  # of a row without values
    return (ends + elements - 1) // elements


class SequenceCategoricalColumn(
        _columns.Configured, _columns.CategoricalColumn, collections.namedtuple(
            "SequenceCategoricalColumn", ["categorical_column"])):
    """Ids of a categorical column as [batch, time, n]."""
    __slots__ = ()

    is_sequence = True
    name = property(lambda self: self.categorical_column.name)
    num_buckets = property(lambda self: self.categorical_column.num_buckets)
    parse_example_spec = property(
        lambda self: self.categorical_column.parse_example_spec)

    def transform(self, features):
        ids, _ = self.categorical_column.ids(features)
        shape = ids.dense_shape
        return _sparse.sparse_reshape(ids, _array.concat(
            [shape[:2], [_math.reduce_prod(shape[2:])]], 0))


class SequenceNumericColumn(
        _columns.Configured, _columns.Column, collections.namedtuple(
            "SequenceNumericColumn",
            ["key", "shape", "default_value", "dtype", "normalizer_fn"])):
    """See sequence_numeric_column."""
    __slots__ = ()

    is_sequence = True
    name = property(lambda self: self.key)
    variable_shape = property(lambda self: TensorShape(self.shape))
    parse_example_spec = property(
        lambda self: {self.key: VarLenFeature(self.dtype)})

    def transform(self, features):
        x = features[self.key]
        if not isinstance(x, SparseTensor):
            raise ValueError("The feature %s of a sequence_numeric_column must "
                             "be a SparseTensor. Given: %s" % (self.key, x))
        return x if self.normalizer_fn is None else self.normalizer_fn(x)

    def sequence(self, features, weight_collections, trainable):
        sparse = features[self]
        dense = _sparse.sparse_tensor_to_dense(
            sparse, _math.cast(self.default_value, sparse.dtype))
        dense = _math.cast(dense, dtypes.float32)
        flat = sparse.get_shape().ndims == 2
        elements = self.variable_shape.num_elements()
        return (_array.reshape(dense, [_array.shape(dense)[0], -1]
                               + list(self.shape)),
                lengths_of(sparse, elements if flat else 1))


def sequence_numeric_column(key, shape=(1,), default_value=0.0,
                            dtype=dtypes.float32, normalizer_fn=None):
    """The feature `key`, a SparseTensor of numbers, as sequences: float32
    [batch, time] + shape, padded with default_value. ValueError or TypeError
    for arguments that do not fit."""
    shape = _columns.numeric_shape(shape, _columns.check_key(key))
    dtype = _columns.check_number_type(dtype, key)
    _columns.check_normalizer(normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype,
                                 normalizer_fn)


def sequence_categorical_column_with_identity(key, num_buckets,
                                              default_value=None):
    """categorical_column_with_identity of sequences; it goes into an embedding
    or an indicator column for tf.contrib.feature_column.sequence_input_layer.
    """
    return SequenceCategoricalColumn(_columns.categorical_column_with_identity(
        key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size,
                                                 dtype=dtypes.string):
    """categorical_column_with_hash_bucket of sequences; it goes into an
    embedding or an indicator column for
    tf.contrib.feature_column.sequence_input_layer."""
    return SequenceCategoricalColumn(
        _columns.categorical_column_with_hash_bucket(key, hash_bucket_size,
                                                     dtype))


def sequence_categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
        default_value=None, dtype=dtypes.string):
    """categorical_column_with_vocabulary_file of sequences; it goes into an
    embedding or an indicator column for
    tf.contrib.feature_column.sequence_input_layer."""
    return SequenceCategoricalColumn(
        _columns.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets,
            default_value, dtype))


def sequence_categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """categorical_column_with_vocabulary_list of sequences; it goes into an
    embedding or an indicator column for
    tf.contrib.feature_column.sequence_input_layer."""
    return SequenceCategoricalColumn(
        _columns.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets))


def _sequence(column, features, collections, trainable):
    """([batch, time, ...], int64 lengths [batch])."""
    return sequence_of(column, features, lambda: column.rows(
        features, collections, trainable))


def sequence_of(column, features, rows):
    """([batch, time, ...], int64 lengths [batch]). `rows()`: the sequence of an
    embedding column."""
    if isinstance(column, SequenceNumericColumn):
        return column.sequence(features, None, None)
    lengths = lengths_of(column.categorical_column.ids(features)[0])
    return (features[column] if isinstance(column, _columns.IndicatorColumn)
            else rows()), lengths


def check_sequence_columns(columns):
    """ValueError unless all are sequence columns, or indicator or embedding
    columns of these."""
    for column in columns:
        if (not getattr(column, "is_sequence", False)
                or isinstance(column, _columns.CategoricalColumn)):
            raise ValueError(
                "All feature_columns must be of sequence dense columns. You "
                "can wrap a sequence categorical column with an "
                "embedding_column or indicator_column. Given (type %s): %r"
                % (type(column).__name__, column))


def flat_steps(dense, column):
    """[batch, time, width] of a column's [batch, time, ...]."""
    shape = _array.shape(dense)
    return _array.reshape(dense, [
        shape[0], shape[1], column.variable_shape.num_elements()])


def side_by_side(outputs, lengths):
    """([batch, time, width], int64 [batch]) of the columns' sequences, whose
    lengths must be equal in the run."""
    checks = [assert_equal(lengths[0], other) for other in lengths[1:]]
    with control_dependencies(checks):
        length = _array.identity(lengths[0])
    return _array.concat(outputs, -1), length


def sequence_input_layer(features, feature_columns, weight_collections=None,
                         trainable=True):
    """(input_layer, sequence_length): float32 [batch, time, width], what the
    columns make of `features`, side by side in the order of their names, and
    int64 [batch]. All columns are sequence columns, or indicator or embedding
    columns of these (else ValueError), and give equal lengths (else
    InvalidArgumentError in the run). The rest is as in tf.feature_column.
    input_layer."""
    columns = checked(feature_columns, _columns.Column,
                      "Items of feature_columns must be sequence columns")
    check_sequence_columns(columns)
    made = Features(features)
    collections_ = collections_of(weight_collections)
    outputs, lengths = [], []
    with variable_scope(None, default_name="sequence_input_layer",
                        values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                dense, length = _sequence(column, made, collections_, trainable)
                outputs.append(flat_steps(dense, column))
            lengths.append(length)
        return SequenceInputLayer(*side_by_side(outputs, lengths))
