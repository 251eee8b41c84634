"""tf.contrib.layers: columns of categories, which are strings or integers."""
import collections

from headrace import raw_ops as _raw
from headrace._src.contrib.columns.base import (
    Categorical, LinearLookup, dense_to_sparse_tensor, reshape_real)
from headrace._src.flow import contrib_lookup as _lookup
from headrace._src.framework import dtypes, nest
from headrace._src.io.parsing_ops import VarLenFeature
from headrace._src.ops import math_ops as _math
from headrace._src.ops import string_ops as _string
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.platform import tf_logging as _log
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.variables.initializers import zeros_initializer


class SparseIdLookupConfig(collections.namedtuple("_SparseIdLookupConfig", """
        vocabulary_file keys num_oov_buckets vocab_size default_value""")):
    """Where the ids of categories are: in a file or in a tuple."""

    def __new__(cls, vocabulary_file=None, keys=None, num_oov_buckets=0,
                vocab_size=None, default_value=-1):
        return super().__new__(cls, vocabulary_file, keys, num_oov_buckets,
                               vocab_size, default_value)


SparseIdLookupConfig.__name__ = "_SparseIdLookupConfig"  # keys have it


def _check_sizes(name, is_integerized, bucket_size, lookup_config, dtype):
    if is_integerized and bucket_size is None:
        raise ValueError("bucket_size must be set if is_integerized is True. "
                         "column_name: {}".format(name))
    if is_integerized and not dtype.is_integer:
        raise ValueError("dtype must be an integer if is_integerized is True. "
                         "dtype: {}, column_name: {}.".format(dtype, name))
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError("dtype must be string or integer. "
                         "dtype: {}, column_name: {}".format(dtype, name))
    if bucket_size is None and lookup_config is None:
        raise ValueError("one of bucket_size or lookup_config must be set. "
                         "column_name: {}".format(name))
    if bucket_size is not None and lookup_config:
        raise ValueError("one and only one of bucket_size or lookup_config "
                         "must be set. column_name: {}".format(name))
    if bucket_size is not None and bucket_size < 1:
        raise ValueError(
            "bucket_size must be at least 1. bucket_size: {}, column_name: {}"
            .format(bucket_size, name))
    if lookup_config and not isinstance(lookup_config, SparseIdLookupConfig):
        raise TypeError(
            "lookup_config must be an instance of _SparseIdLookupConfig. "
            "Given one is in type {} for column_name {}".format(
                type(lookup_config), name))
    if (lookup_config and lookup_config.vocabulary_file
            and lookup_config.vocab_size is None):
        raise ValueError("vocab_size must be defined. "
                         "column_name: {}".format(name))


class SparseColumn(Categorical, collections.namedtuple("_SparseColumn", """
        column_name is_integerized bucket_size lookup_config combiner dtype""")):
    """A feature of categories. Its transformed feature is a SparseTensor of
    int64 ids in [0, length), or -1."""

    def __new__(cls, column_name, is_integerized=False, bucket_size=None,
                lookup_config=None, combiner="sum", dtype=dtypes.string):
        _check_sizes(column_name, is_integerized, bucket_size, lookup_config,
                     dtype)
        return super().__new__(cls, column_name, is_integerized, bucket_size,
                               lookup_config, combiner, dtype)

    @property
    def name(self):
        return self.column_name

    @property
    def length(self):
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self):
        return {self.column_name: VarLenFeature(self.dtype)}

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        raise ValueError(
            "SparseColumn is not supported in DNN. Please use embedding_column "
            "or one_hot_column. column: {}".format(self))

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return LinearLookup(
            self.id_tensor(input_tensor), self.weight_tensor(input_tensor),
            self.length, zeros_initializer(), self.combiner)

    def _as_sparse(self, tensor):
        """A dense feature as a SparseTensor: without "" or -1."""
        if isinstance(tensor, SparseTensor):
            return tensor
        ignored = "" if tensor.dtype == dtypes.string else -1
        return dense_to_sparse_tensor(
            reshape_real(tensor, 2, self.name), ignore_value=ignored)

    def is_compatible(self, other_column):
        """Whether the ids of both columns mean the same, as far as is known."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        compatible = self.length == other_column.length and (
            self.dtype == other_column.dtype
            or self.dtype.is_integer and other_column.dtype.is_integer)
        if compatible:
            _log.warning("Column %s and %s may not have the same vocabulary.",
                         self.name, other_column.name)
        return compatible

    def _do_transform(self, input_tensor):
        raise NotImplementedError("%s has no _do_transform"
                                  % type(self).__name__)

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._do_transform(
            self._as_sparse(columns_to_tensors[self.name]))

    def _transform_feature(self, inputs):
        return self._do_transform(self._as_sparse(inputs.get(self.name)))


def _with_values(sparse, values):
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


class SparseColumnIntegerized(SparseColumn):
    """Integers modulo bucket_size."""

    def _do_transform(self, input_tensor):
        return _with_values(input_tensor, _math.mod(
            input_tensor.values, self.bucket_size, name="mod"))


def sparse_column_with_integerized_feature(column_name, bucket_size,
                                           combiner="sum", dtype=dtypes.int64):
    """A column of ids: integers of any shape, modulo bucket_size.

    `dtype`: an integer type. ValueError for another one and for a bucket_size
    below 1."""
    return SparseColumnIntegerized(
        column_name, is_integerized=True, bucket_size=bucket_size,
        combiner=combiner, dtype=dtype)


class SparseColumnHashed(SparseColumn):
    """Hashes of strings, or of integers as texts."""

    def __new__(cls, column_name, is_integerized=False, bucket_size=None,
                lookup_config=None, combiner="sum", dtype=dtypes.string,
                hash_keys=None):
        if hash_keys is not None:
            if not isinstance(hash_keys, list) or not hash_keys:
                raise ValueError("hash_keys must be a non-empty list.")
            if not all(isinstance(pair, list) and len(pair) == 2
                       for pair in hash_keys) or not all(
                           isinstance(k, int) for k in nest.flatten(hash_keys)):
                raise ValueError(
                    "Each element of hash_keys must be a pair of integers.")
        made = super().__new__(
            cls, column_name, is_integerized=is_integerized,
            bucket_size=bucket_size, lookup_config=lookup_config,
            combiner=combiner, dtype=dtype)
        made.hash_keys = hash_keys
        return made

    def _do_transform(self, input_tensor):
        values = input_tensor.values
        if self.dtype.is_integer:
            values = _string.as_string(values)
        if not self.hash_keys:
            return _with_values(input_tensor, _string.string_to_hash_bucket_fast(
                values, self.bucket_size, name="lookup"))
        return _sparse.sparse_concat(axis=1, sp_inputs=[
            _with_values(input_tensor, _string.string_to_hash_bucket_strong(
                values, self.bucket_size, key)) for key in self.hash_keys],
            name="lookup")


def sparse_column_with_hash_bucket(column_name, hash_bucket_size,
                                   combiner="sum", dtype=dtypes.string,
                                   hash_keys=None):
    """A column of ids: hashes of strings or integers, of any shape.

    `hash_keys`: a list of pairs of integers; each gives one more id of an
    element. ValueError for another list, for a dtype that is neither and for
    a hash_bucket_size below 1."""
    return SparseColumnHashed(
        column_name, bucket_size=hash_bucket_size, combiner=combiner,
        dtype=dtype, hash_keys=hash_keys)


class SparseColumnKeys(SparseColumn):
    """Places in a tuple."""

    def _do_transform(self, input_tensor):
        return _lookup.index_table_from_tensor(
            mapping=tuple(self.lookup_config.keys),
            default_value=self.lookup_config.default_value, dtype=self.dtype,
            name="lookup").lookup(input_tensor)


def sparse_column_with_keys(column_name, keys, default_value=-1,
                            combiner="sum", dtype=dtypes.string):
    """A column of ids: the places of elements, of any shape, in `keys`.

    `default_value`: the id of other elements. ValueError for a dtype that is
    neither string nor of integers."""
    keys = tuple(keys)
    return SparseColumnKeys(
        column_name, lookup_config=SparseIdLookupConfig(
            keys=keys, vocab_size=len(keys), default_value=default_value),
        combiner=combiner, dtype=dtype)


class SparseColumnVocabulary(SparseColumn):
    """Numbers of lines in a file."""

    def _do_transform(self, input_tensor):
        if self.dtype.is_integer:
            input_tensor = _with_values(
                input_tensor, _string.as_string(input_tensor.values))
        found = self.lookup_config
        return _lookup.index_table_from_file(
            vocabulary_file=found.vocabulary_file,
            num_oov_buckets=found.num_oov_buckets,
            vocab_size=found.vocab_size, default_value=found.default_value,
            name=self.name + "_lookup").lookup(input_tensor)


def sparse_column_with_vocabulary_file(
        column_name, vocabulary_file, num_oov_buckets=0, vocab_size=None,
        default_value=-1, combiner="sum", dtype=dtypes.string):
    """A column of ids: the numbers of the lines of a file that are equal to
    elements, of any shape.

    `num_oov_buckets`: how many further ids other elements get, by their
    hashes; with 0 they get default_value. ValueError without vocab_size, and
    for a dtype that is neither string nor of integers."""
    if vocab_size is None:
        raise ValueError("vocab_size should be defined. "
                         "column_name: {}".format(column_name))
    return SparseColumnVocabulary(
        column_name, lookup_config=SparseIdLookupConfig(
            vocabulary_file=vocabulary_file, num_oov_buckets=num_oov_buckets,
            vocab_size=vocab_size, default_value=default_value),
        combiner=combiner, dtype=dtype)


class WeightedSparseColumn(Categorical, collections.namedtuple(
        "_WeightedSparseColumn",
        ["sparse_id_column", "weight_column_name", "dtype"])):
    """Ids with weights. Its transformed feature is a pair of SparseTensors."""

    @property
    def name(self):
        return "{}_weighted_by_{}".format(self.sparse_id_column.name,
                                          self.weight_column_name)

    @property
    def length(self):
        return self.sparse_id_column.length

    @property
    def config(self):
        return {**self.sparse_id_column.config,
                self.weight_column_name: VarLenFeature(self.dtype)}

    @property
    def lookup_config(self):
        return self.sparse_id_column.lookup_config

    def id_tensor(self, input_tensor):
        return input_tensor[0]

    def weight_tensor(self, input_tensor):
        return input_tensor[1]

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        raise ValueError(
            "WeightedSparseColumn is not supported in DNN. Please use "
            "embedding_column or one_hot_column. column: {}".format(self))

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return LinearLookup(
            self.id_tensor(input_tensor), self.weight_tensor(input_tensor),
            self.length, zeros_initializer(), self.sparse_id_column.combiner)

    def _do_transform(self, ids, weights):
        if not isinstance(weights, SparseTensor):
            weights = dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = _math.cast(weights, dtypes.float32)
        return ids, weights

    def insert_transformed_feature(self, columns_to_tensors):
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(
                columns_to_tensors)
        weights = columns_to_tensors[self.weight_column_name]
        columns_to_tensors[self] = self._do_transform(
            columns_to_tensors[self.sparse_id_column], weights)

    def _transform_feature(self, inputs):
        return self._do_transform(inputs.get(self.sparse_id_column),
                                  inputs.get(self.weight_column_name))

    def is_compatible(self, other_column):
        """As SparseColumn's, of the ids."""
        if isinstance(other_column, WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return self.sparse_id_column.is_compatible(other_column)


def weighted_sparse_column(sparse_id_column, weight_column_name,
                           dtype=dtypes.float32):
    """A column of ids whose weights, numbers with as many elements, are another
    feature. ValueError for a dtype that is not of numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            "dtype is not convertible to float. Given {}".format(dtype))
    return WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE


def sparse_feature_cross(inputs, hashed_output=False, num_buckets=0, name=None,
                         hash_key=None):
    """All combinations of the features of each row, one of each input, as a
    SparseTensor of strings "a_X_b", or of int64 hashes.

    `inputs`: a list of SparseTensors and tensors [batch, n] of strings or
    integers. `num_buckets`: hashes are below it, if it is not 0. `hash_key`:
    by default hashes are combined in an older way. TypeError for other
    inputs."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, SparseTensor) or hasattr(i, "op")
               for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    dense = [i for i in inputs if not isinstance(i, SparseTensor)]
    values = [s.values for s in sparse]
    out = dtypes.int64 if hashed_output else dtypes.string
    internal = (dtypes.string if all(t.dtype == dtypes.string
                                     for t in values + dense)
                else dtypes.int64)

    def as_int64(t):
        return t if t.dtype == dtypes.string else _math.cast(t, dtypes.int64)
    cross = _raw.SparseFeatureCross
    options = {}
    if hash_key:
        cross, options = _raw.SparseFeatureCrossV2, {"hash_key": hash_key}
    return SparseTensor(*cross(
        [s.indices for s in sparse], [as_int64(v) for v in values],
        [s.dense_shape for s in sparse], [as_int64(d) for d in dense],
        hashed_output=hashed_output, num_buckets=num_buckets, out_type=out,
        internal_type=internal, name=name, **options))
