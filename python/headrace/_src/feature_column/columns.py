"""tf.feature_column: columns say how features become the input of a model.

A dense column gives float32 [batch, ...]. A categorical column gives the ids of
categories, int64 and sparse, in [0, num_buckets), and may give a weight with
each; indicator and embedding columns make it dense. A column has `name`,
`parse_example_spec` (what tf.parse_example needs to read its features), and
`variable_shape` without the batch or `num_buckets`."""
import collections
import numbers

import numpy as np

from headrace import raw_ops as _raw
from headrace._loading import load
from headrace._src.feature_column.features import to_sparse
from headrace._src.flow import contrib_lookup as _lookup
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    add_to_collection, control_dependencies, get_collection)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.control import check_ops as _check
from headrace._src.io.parsing_ops import FixedLenFeature, VarLenFeature
from headrace._src.nn.embeddings import safe_embedding_lookup_sparse
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.platform.file_io import Exists, GFile
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.training.checkpoint_reader import init_from_checkpoint
from headrace._src.variables.initializers import TruncatedNormal
from headrace._src.variables.scopes import get_variable


IdWeightPair = collections.namedtuple("IdWeightPair",
                                      ["id_tensor", "weight_tensor"])


# TensorFlow's names in the classes of columns that a program may inherit from.
_NAMES = (
    ("parse_example_spec", "_parse_example_spec"),
    ("variable_shape", "_variable_shape"),
    ("num_buckets", "_num_buckets"),
    ("scope_name", "_var_scope_name"))
_OTHER_NAMES = {**dict(_NAMES), **{theirs: ours for ours, theirs in _NAMES}}


class Column:
    """What all columns have. Libraries that know TensorFlow's columns use
    create_state, get_dense_tensor and get_sparse_tensors. A column of the
    program defines TensorFlow's methods: `_transform_feature` and so on."""

    _is_v2_column = True  # a layer may own its variables

    @property
    def scope_name(self):
        """The variable scope of the column's variables."""
        own = getattr(type(self), "_var_scope_name", None)
        return self.name if own is None else self._var_scope_name

    def __getattr__(self, name):
        other = _OTHER_NAMES.get(name)
        if other is None or not hasattr(type(self), other):
            raise AttributeError("%s has no attribute %r"
                                 % (type(self).__name__, name))
        return getattr(self, other)

    def _defines(self, name, base):
        return getattr(type(self), name) is not getattr(base, name)

    def create_state(self, state_manager):
        """Makes the variables that get_dense_tensor needs."""

    def transform(self, features):
        """What `features` keeps of this column."""
        if self._defines("_transform_feature", Column):
            return self._transform_feature(features)
        if self._defines("transform_feature", Column):
            return self.transform_feature(features, None)
        raise NotImplementedError("%s has no _transform_feature"
                                  % type(self).__name__)

    def transform_feature(self, transformation_cache, state_manager=None):
        return transformation_cache.get(self, state_manager)

    def _transform_feature(self, inputs):
        return inputs.get(self)


class DenseColumn(Column):
    """A column of float32 [batch] + variable_shape."""

    def dense(self, features, weight_collections=None, trainable=True):
        """The tensor; its variables go into weight_collections."""
        if self._defines("_get_dense_tensor", DenseColumn):
            return self._get_dense_tensor(
                features, weight_collections=weight_collections,
                trainable=trainable)
        return features[self]

    def get_dense_tensor(self, transformation_cache, state_manager):
        """The tensor; its variables are state_manager's."""
        return self.dense(transformation_cache)

    def _get_dense_tensor(self, inputs, weight_collections=None,
                          trainable=True):
        return self.dense(inputs, weight_collections, trainable)


class CategoricalColumn(Column):
    """A column of sparse ids."""

    IdWeightPair = IdWeightPair

    def ids(self, features):
        """(SparseTensor of int64 ids, SparseTensor of float32 weights or
        None)."""
        if self._defines("_get_sparse_tensors", CategoricalColumn):
            return self._get_sparse_tensors(features)
        if self._defines("get_sparse_tensors", CategoricalColumn):
            return self.get_sparse_tensors(features, None)
        return features[self], None

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """(id_tensor, weight_tensor) as `ids` has them."""
        return IdWeightPair(*self.ids(transformation_cache))

    def _get_sparse_tensors(self, inputs, weight_collections=None,
                            trainable=None):
        return self.get_sparse_tensors(inputs, None)


# TensorFlow has two generations of these classes. Columns of programs inherit
# from one of them or, in any order, from both; all other columns from both.

class OldDenseColumn(DenseColumn):
    """tensorflow.python.feature_column.feature_column._DenseColumn."""


class NewDenseColumn(DenseColumn):
    """tensorflow.python.feature_column.feature_column_v2.DenseColumn."""


class OldCategoricalColumn(CategoricalColumn):
    """The same of categorical columns."""


class NewCategoricalColumn(CategoricalColumn):
    """The same of categorical columns."""


class Configured:
    """What the columns of the library have: the features and columns that they
    read, and configs from which they can be made again. They are named
    tuples, whose fields are the config."""
    __slots__ = ()

    @property
    def parents(self):
        """The keys and columns that this one reads."""
        found = [getattr(self, field) for field in (
            "key", "source_column", "categorical_column", "weight_feature_key")
            if field in self._fields]
        return found + list(getattr(self, "keys", ()))

    def _get_config(self):
        return load("_src.feature_column.configs").config_of(self)

    @classmethod
    def _from_config(cls, config, custom_objects=None, columns_by_name=None):
        return load("_src.feature_column.configs").from_config(
            cls, config, custom_objects, columns_by_name)


class _Dense(Configured, NewDenseColumn, OldDenseColumn):
    pass


class _Categorical(Configured, NewCategoricalColumn, OldCategoricalColumn):
    pass


def _check_type(column, kind, what):
    if not isinstance(column, kind):
        raise ValueError("%s. Given: %r" % (what, column))
    return column


class NumericColumn(_Dense, collections.namedtuple(
        "NumericColumn", ["key", "shape", "default_value", "dtype",
                          "normalizer_fn"])):
    """See numeric_column."""
    __slots__ = ()

    name = property(lambda self: self.key)
    variable_shape = property(lambda self: TensorShape(self.shape))

    @property
    def parse_example_spec(self):
        return {self.key: FixedLenFeature(self.shape, self.dtype,
                                          self.default_value)}

    def transform(self, features):
        x = features[self.key]
        if isinstance(x, SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must"
                             " be a Tensor. SparseTensor is not supported. key:"
                             " %s" % self.key)
        if self.normalizer_fn is not None:
            x = self.normalizer_fn(x)
        return _math.cast(x, dtypes.float32)


def numeric_shape(shape, key):
    if not isinstance(shape, (tuple, list, TensorShape)):
        shape = [shape]
    shape = tuple(TensorShape(shape).as_list()
                  if isinstance(shape, TensorShape) else shape)
    for d in shape:
        if not isinstance(d, numbers.Integral):
            raise TypeError("shape dimensions must be integer. shape: %s, key: "
                            "%s" % (shape, key))
        if d < 1:
            raise ValueError("shape dimensions must be greater than 0. shape: "
                             "%s, key: %s" % (shape, key))
    return tuple(int(d) for d in shape)


def _numeric_default(value, shape, dtype, key):
    """The default of each element as nested tuples, from a number or a list of
    the shape."""
    if value is None:
        return None
    array = np.asarray(value)
    wanted = np.integer if dtype.is_integer else np.number
    if not np.issubdtype(array.dtype, wanted):
        raise TypeError("default_value must be compatible with dtype. "
                        "default_value: %s, dtype: %s, key: %s"
                        % (value, dtype, key))
    if array.shape not in ((), shape):
        raise ValueError("The shape of default_value must be equal to given "
                         "shape. default_value: %s, shape: %s, key: %s"
                         % (value, shape, key))

    def tuples(x):
        return tuple(map(tuples, x)) if isinstance(x, list) else x
    return tuples(np.broadcast_to(
        array.astype(dtype.as_numpy_dtype), shape).tolist())


def check_normalizer(normalizer_fn):
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError("normalizer_fn must be a callable. Given: %s"
                        % (normalizer_fn,))


def check_number_type(dtype, key):
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: %s, key: "
                         "%s" % (dtype, key))
    return dtype


def check_key(key):
    if not isinstance(key, str):
        raise ValueError("key must be a string. Got: type %s. Given key: %s."
                         % (type(key), key))
    return key


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32,
                   normalizer_fn=None):
    """The dense feature `key`, numbers of `dtype`, [batch] + shape, as float32.

    default_value: for examples without the feature, when they are parsed: a
      number, or a list of the shape.
    normalizer_fn: from the feature's tensor to the one that counts.

    TypeError or ValueError for arguments that do not fit.

    `shape`: positive integers; `dtype`: of real numbers."""
    shape = numeric_shape(shape, check_key(key))
    dtype = check_number_type(dtype, key)
    check_normalizer(normalizer_fn)
    return NumericColumn(key, shape,
                         _numeric_default(default_value, shape, dtype, key),
                         dtype, normalizer_fn)


class BucketizedColumn(_Dense, _Categorical, collections.namedtuple(
        "BucketizedColumn", ["source_column", "boundaries"])):
    """See bucketized_column."""
    __slots__ = ()

    name = property(lambda self: self.source_column.name + "_bucketized")
    parse_example_spec = property(
        lambda self: self.source_column.parse_example_spec)
    num_buckets = property(
        lambda self: (len(self.boundaries) + 1) * self.source_column.shape[0])

    @property
    def variable_shape(self):
        return TensorShape(self.source_column.shape
                           + (len(self.boundaries) + 1,))

    def transform(self, features):
        return _raw.Bucketize(input=features[self.source_column],
                              boundaries=list(self.boundaries))

    def dense(self, features, weight_collections=None, trainable=True):
        return _array.one_hot(_math.cast(features[self], dtypes.int64),
                              len(self.boundaries) + 1, 1.0, 0.0)

    def ids(self, features):
        buckets = features[self]
        batch, width = _array.shape(buckets)[0], self.source_column.shape[0]
        rows = _array.reshape(_array.tile(
            _array.expand_dims(_math.range(batch), 1), [1, width]), [-1])
        columns = _array.tile(_math.range(width), [batch])
        ids = (_array.reshape(buckets, [-1])
               + (len(self.boundaries) + 1) * columns)
        return SparseTensor(
            _math.cast(_array.stack([rows, columns], 1), dtypes.int64),
            _math.cast(ids, dtypes.int64),
            _math.cast(_array.stack([batch, width]), dtypes.int64)), None


def bucketized_column(source_column, boundaries):
    """In which bucket each number of source_column, a numeric column of one
    dimension, lies: boundaries [0, 1] make the buckets (-inf, 0), [0, 1),
    [1, inf). Dense: one-hot. ValueError for other columns, and for boundaries
    that are not sorted."""
    _check_type(source_column, NumericColumn,
                "source_column must be a column generated with "
                "numeric_column()")
    if len(source_column.shape) > 1:
        raise ValueError("source_column must be one-dimensional column. Given: "
                         "%r" % (source_column,))
    if (not boundaries or not isinstance(boundaries, (list, tuple))
            or any(a >= b for a, b in zip(boundaries, boundaries[1:]))):
        raise ValueError("boundaries must be a sorted list. Given: %r"
                         % (boundaries,))
    return BucketizedColumn(source_column, tuple(boundaries))


def _is_category(dtype):
    return dtype == dtypes.string or dtype.is_integer


class _KeyedCategorical(_Categorical):
    """A categorical column of the one feature `key`."""
    __slots__ = ()

    name = property(lambda self: self.key)

    @property
    def parse_example_spec(self):
        return {self.key: VarLenFeature(self.dtype)}

    def transform(self, features):
        words = to_sparse(features[self.key])
        self.check_words(words.dtype)
        return SparseTensor(words.indices, self.numbers(words.values),
                            words.dense_shape)


    def check_words(self, dtype):
        """ValueError unless the column takes features of the dtype."""
        _category_type(dtype, self.key, "input_tensor dtype")
        if (dtype == dtypes.string) != (self.dtype == dtypes.string):
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. key: "
                "%s, column dtype: %s, tensor dtype: %s"
                % (self.key, self.dtype, dtype))


class HashedCategoricalColumn(_KeyedCategorical, collections.namedtuple(
        "HashedCategoricalColumn", ["key", "hash_bucket_size", "dtype"])):
    """See categorical_column_with_hash_bucket."""
    __slots__ = ()

    num_buckets = property(lambda self: self.hash_bucket_size)

    def numbers(self, values):
        if values.dtype != dtypes.string:
            values = _raw.AsString(input=values)
        return _raw.StringToHashBucketFast(input=values,
                                           num_buckets=self.hash_bucket_size)


def _category_type(dtype, key, what="dtype"):
    dtype = dtypes.as_dtype(dtype)
    if not _is_category(dtype):
        raise ValueError("column_name: %s %s must be string or integer. dtype: "
                         "%s." % (key, what, dtype))
    return dtype


def categorical_column_with_hash_bucket(key, hash_bucket_size,
                                        dtype=dtypes.string):
    """The feature `key`, words or integers, by their hash modulo
    hash_bucket_size. "" and -1 in a dense feature count as nothing. ValueError
    for arguments that do not fit."""
    if hash_bucket_size is None:
        raise ValueError("hash_bucket_size must be set. key: %s" % key)
    if hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be at least 1. "
                         "hash_bucket_size: %s, key: %s"
                         % (hash_bucket_size, key))
    return HashedCategoricalColumn(check_key(key), hash_bucket_size,
                        _category_type(dtype, key))


class VocabularyFileCategoricalColumn(_KeyedCategorical, collections.namedtuple(
        "VocabularyFileCategoricalColumn",
        ["key", "vocabulary_file", "vocabulary_size", "num_oov_buckets",
         "dtype", "default_value"])):
    """See categorical_column_with_vocabulary_file."""
    __slots__ = ()

    num_buckets = property(
        lambda self: self.vocabulary_size + self.num_oov_buckets)

    def numbers(self, values):
        return _lookup.index_table_from_file(
            self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size,
            self.default_value, key_dtype=values.dtype,
            name=self.key + "_lookup").lookup(values)


def _check_others(default_value, num_oov_buckets, key):
    """default_value, -1 by default."""
    if num_oov_buckets:
        if default_value not in (None, -1):
            raise ValueError("Can't specify both num_oov_buckets and "
                             "default_value in %s." % key)
        if num_oov_buckets < 0:
            raise ValueError("Invalid num_oov_buckets %d in %s."
                             % (num_oov_buckets, key))
    return -1 if default_value is None else default_value


def categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
        default_value=None, dtype=dtypes.string):
    """The feature `key`, words or integers, by the number of their line in
    vocabulary_file, of which the first vocabulary_size lines count. Others have
    default_value (by default they count as nothing), or one of num_oov_buckets
    numbers after the file's, by their hash. Run tf.tables_initializer() first.
    ValueError for arguments that do not fit."""
    if not vocabulary_file:
        raise ValueError("Missing vocabulary_file in %s." % key)
    if vocabulary_size is None:
        if not Exists(vocabulary_file):
            raise ValueError("vocabulary_file in %s does not exist: %s"
                             % (key, vocabulary_file))
        with GFile(vocabulary_file, mode="rb") as f:
            vocabulary_size = sum(1 for _ in f)
    if vocabulary_size < 1:
        raise ValueError("Invalid vocabulary_size in %s." % key)
    return VocabularyFileCategoricalColumn(
        check_key(key), vocabulary_file, vocabulary_size,
        num_oov_buckets or 0, _category_type(dtype, key),
        _check_others(default_value, num_oov_buckets, key))


class VocabularyListCategoricalColumn(_KeyedCategorical, collections.namedtuple(
        "VocabularyListCategoricalColumn",
        ["key", "vocabulary_list", "dtype", "default_value",
         "num_oov_buckets"])):
    """See categorical_column_with_vocabulary_list."""
    __slots__ = ()

    num_buckets = property(
        lambda self: len(self.vocabulary_list) + self.num_oov_buckets)

    def numbers(self, values):
        return _lookup.index_table_from_tensor(
            list(self.vocabulary_list), self.num_oov_buckets,
            self.default_value, dtype=values.dtype,
            name=self.key + "_lookup").lookup(values)


def categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """The feature `key`, words or integers, by their place in vocabulary_list.
    Others have default_value (-1: they count as nothing), or one of
    num_oov_buckets numbers after the list's, by their hash. Run
    tf.tables_initializer() first. ValueError for arguments that do not fit."""
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError("vocabulary_list %r must be non-empty, column_name: %s"
                         % (vocabulary_list, key))
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError("Duplicate keys in vocabulary_list %r, column_name: %s"
                         % (vocabulary_list, key))
    own = dtypes.as_dtype(np.asarray(vocabulary_list).dtype)
    _category_type(own, key, "vocabulary dtype")
    dtype = dtypes.as_dtype(dtype or own)
    if dtype.is_integer != own.is_integer:
        raise ValueError("dtype %s and vocabulary dtype %s do not match, "
                         "column_name: %s" % (dtype, own, key))
    _category_type(dtype, key)
    return VocabularyListCategoricalColumn(
        check_key(key), tuple(vocabulary_list), dtype,
        _check_others(default_value, num_oov_buckets, key), num_oov_buckets)


class IdentityCategoricalColumn(_KeyedCategorical, collections.namedtuple(
        "IdentityCategoricalColumn", ["key", "number_buckets", "default_value"])):
    """See categorical_column_with_identity."""
    __slots__ = ()

    dtype = dtypes.int64
    num_buckets = property(lambda self: self.number_buckets)

    def check_words(self, dtype):
        if not dtype.is_integer:
            raise ValueError("Invalid input, not integer. key: %s dtype: %s"
                             % (self.key, dtype))

    def numbers(self, values):
        values = _math.cast(values, dtypes.int64, name="values")
        count = _math.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = _math.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            inside = [
                _check.assert_less(
                    values, count, data=(values, count),
                    message="%s: an id is not below num_buckets %d"
                    % (self.key, self.num_buckets),
                    name="assert_less_than_num_buckets"),
                _check.assert_greater_equal(
                    values, zero, data=(values,),
                    message="%s: an id is negative" % self.key,
                    name="assert_greater_or_equal_0")]
            with control_dependencies(inside):
                return _array.identity(values)
        outside = _math.logical_or(values < zero, values >= count,
                                   name="out_of_range")
        default = _array.fill(
            _array.shape(values), _math.cast(self.default_value, dtypes.int64),
            name="default_values")
        return _array.where(outside, default, values)


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """The feature `key`, integers in [0, num_buckets), as it is. Others become
    default_value, or are an error of the run. -1 in a dense feature counts as
    nothing. ValueError for arguments that do not fit."""
    if num_buckets < 1:
        raise ValueError("num_buckets %s < 1, column_name %s"
                         % (num_buckets, key))
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError("default_value %s not in range [0, %s), column_name %s"
                         % (default_value, num_buckets, key))
    return IdentityCategoricalColumn(check_key(key), num_buckets, default_value)


class WeightedCategoricalColumn(_Categorical, collections.namedtuple(
        "WeightedCategoricalColumn",
        ["categorical_column", "weight_feature_key", "dtype"])):
    """See weighted_categorical_column."""
    __slots__ = ()

    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    @property
    def name(self):
        return "%s_weighted_by_%s" % (self.categorical_column.name,
                                      self.weight_feature_key)

    @property
    def parse_example_spec(self):
        return dict(self.categorical_column.parse_example_spec, **{
            self.weight_feature_key: VarLenFeature(self.dtype)})

    def transform(self, features):
        weights = features[self.weight_feature_key]
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError("Bad dtype, expected %s, but got %s of the weights"
                             " %s." % (self.dtype, weights.dtype,
                                       self.weight_feature_key))
        weights = to_sparse(weights, none=0)
        return SparseTensor(weights.indices,
                            _math.cast(weights.values, dtypes.float32),
                            weights.dense_shape)

    def ids(self, features):
        return self.categorical_column.ids(features)[0], features[self]


def weighted_categorical_column(categorical_column, weight_feature_key,
                                dtype=dtypes.float32):
    """The ids of categorical_column with weights: the feature
    weight_feature_key has numbers at the same indices; 0 in a dense one counts
    as nothing. ValueError for arguments that do not fit."""
    _check_type(categorical_column, CategoricalColumn,
                "categorical_column must be a categorical column")
    if not weight_feature_key:
        raise ValueError("weight_feature_key must be set.")
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype %s is not convertible to float." % dtype)
    return WeightedCategoricalColumn(categorical_column, weight_feature_key,
                          dtype)


class CrossedColumn(_Categorical, collections.namedtuple(
        "CrossedColumn", ["keys", "hash_bucket_size", "hash_key"])):
    """See crossed_column."""
    __slots__ = ()

    num_buckets = property(lambda self: self.hash_bucket_size)

    @property
    def leaves(self):
        """The keys and columns that are crossed, also by crossed columns among
        the keys."""
        found = []
        for key in self.keys:
            found += key.leaves if isinstance(key, CrossedColumn) else [key]
        return found

    @property
    def name(self):
        return "_X_".join(sorted(k if isinstance(k, str) else k.name
                                 for k in self.leaves))

    @property
    def parse_example_spec(self):
        spec = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)}
                        if isinstance(key, str) else key.parse_example_spec)
        return spec

    def transform(self, features):
        inputs = []
        for key in self.leaves:
            if isinstance(key, str):
                inputs.append(features[key])
                continue
            ids, weights = key.ids(features)
            if weights is not None:
                raise ValueError("crossed_column does not support weight_tensor"
                                 ", but the given column populates weight_"
                                 "tensor. Given column: %s" % key.name)
            inputs.append(ids)
        return _sparse.sparse_cross_hashed(inputs, self.hash_bucket_size,
                                           self.hash_key)


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """The combinations of features, by their hash modulo hash_bucket_size.
    `keys` are at least two keys of features of words or integers, or
    categorical columns except those with hash buckets. ValueError for others.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be > 1. hash_bucket_size: %s"
                         % hash_bucket_size)
    if not keys or isinstance(keys, str) or len(keys) < 2:
        raise ValueError("keys must be a list with length > 1. Given: %r"
                         % (keys,))
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError("Unsupported key type. All keys must be either "
                             "string, or categorical column except "
                             "HashedCategoricalColumn. Given: %r"
                             % (key,))
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not "
                             "supported for crossing. Hashing before crossing "
                             "will increase probability of collision. Instead, "
                             "use the feature name as a string. Given: %r"
                             % (key,))
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def _refuse_sequence(column):
    if column.is_sequence:
        raise ValueError("In %s: categorical_column must not be a sequence "
                         "column; use tf.contrib.feature_column."
                         "sequence_input_layer for it" % column.name)


class IndicatorColumn(_Dense, collections.namedtuple(
        "IndicatorColumn", ["categorical_column"])):
    """See indicator_column."""
    __slots__ = ()

    name = property(lambda self: self.categorical_column.name + "_indicator")
    is_sequence = property(
        lambda self: getattr(self.categorical_column, "is_sequence", False))
    parse_example_spec = property(
        lambda self: self.categorical_column.parse_example_spec)

    @property
    def variable_shape(self):
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform(self, features):
        ids, weights = self.categorical_column.ids(features)
        depth = self.categorical_column.num_buckets
        if weights is not None:
            # Also ids twice, of which the weights add up.
            rows = _math.cast(ids.indices[:, :-1], dtypes.int64)
            at = _array.concat(
                [rows, _array.expand_dims(ids.values, -1)], 1)
            there = _array.where(ids.values >= 0)
            shape = _array.concat(
                [ids.dense_shape[:-1], [np.int64(depth)]], 0)
            out = _special.scatter_nd(_array.gather_nd(at, there),
                                      _array.gather_nd(weights.values, there),
                                      shape)
            out.set_shape([None] * (ids.get_shape().ndims - 1) + [depth]
                          if ids.get_shape().ndims else None)
            return out
        dense = _sparse.sparse_tensor_to_dense(ids, -1)
        return _math.reduce_sum(_array.one_hot(dense, depth, 1.0, 0.0),
                                axis=[-2])

    def dense(self, features, weight_collections=None, trainable=True):
        _refuse_sequence(self)
        return features[self]


def indicator_column(categorical_column):
    """Dense: how often, or with which sum of weights, each category of
    categorical_column occurs; float32 [batch, num_buckets]."""
    return IndicatorColumn(_check_type(
        categorical_column, CategoricalColumn,
        "categorical_column must be a categorical column"))


_EMBEDDING_FIELDS = ["categorical_column", "dimension", "combiner",
                     "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
                     "max_norm", "trainable"]


class _Embedding(_Dense):
    """A dense column of rows of a table."""
    __slots__ = ()

    is_sequence = property(
        lambda self: getattr(self.categorical_column, "is_sequence", False))
    parse_example_spec = property(
        lambda self: self.categorical_column.parse_example_spec)
    variable_shape = property(lambda self: TensorShape([self.dimension]))

    def transform(self, features):
        return self.categorical_column.ids(features)

    def new_table(self, weight_collections, trainable):
        """The variable [num_buckets, dimension]."""
        table = get_variable(
            "embedding_weights",
            [self.categorical_column.num_buckets, self.dimension],
            dtypes.float32, self.initializer,
            trainable=self.trainable and trainable,
            collections=weight_collections)
        self._load(table)
        return table

    def _load(self, table):
        if self.ckpt_to_load_from is not None:
            init_from_checkpoint(self.ckpt_to_load_from,
                                 {self.tensor_name_in_ckpt: table})

    def _lookup(self, pair, table):
        ids, weights = pair
        return safe_embedding_lookup_sparse(
            table, ids, weights, combiner=self.combiner,
            max_norm=self.max_norm, name=self.name + "_weights")

    def rows(self, features, weight_collections, trainable):
        """[batch, dimension], or [batch, time, dimension] of sequences."""
        pair = features[self]
        return self._lookup(pair, self.table(weight_collections, trainable))

    def create_state(self, state_manager):
        state_manager.create_variable(
            self, "embedding_weights",
            [self.categorical_column.num_buckets, self.dimension],
            dtypes.float32, self.trainable, initializer=self.initializer)

    def get_dense_tensor(self, transformation_cache, state_manager):
        _refuse_sequence(self)
        return self.rows_of_state(transformation_cache, state_manager)

    def rows_of_state(self, features, state_manager):
        """As `rows`, of the table that state_manager has."""
        pair = features[self]
        table = state_manager.get_variable(self, "embedding_weights")
        self._load(table)
        return self._lookup(pair, table)

    def dense(self, features, weight_collections=None, trainable=True):
        _refuse_sequence(self)
        return self.rows(features, weight_collections, trainable)


class EmbeddingColumn(_Embedding, collections.namedtuple(  # type: ignore[misc]
        "EmbeddingColumn", _EMBEDDING_FIELDS)):
    """See embedding_column."""
    __slots__ = ()

    name = property(lambda self: self.categorical_column.name + "_embedding")

    def table(self, weight_collections, trainable):
        return self.new_table(weight_collections, trainable)


class SharedEmbeddingColumn(_Embedding, collections.namedtuple(  # type: ignore[misc]
        "SharedEmbeddingColumn",
        _EMBEDDING_FIELDS + ["shared_embedding_collection_name"])):
    """See shared_embedding_columns."""
    __slots__ = ()

    _is_v2_column = False  # its table is the graph's

    scope_name = property(lambda self: self.shared_embedding_collection_name)

    @property
    def name(self):
        return self.categorical_column.name + "_shared_embedding"

    def table(self, weight_collections, trainable):
        """The variable that the graph has under the collection's name."""
        made = get_collection(self.shared_embedding_collection_name)
        if len(made) > 1:
            raise ValueError(
                "Collection %s can only contain one variable. Suggested fix A: "
                "Choose a unique name for this collection. Suggested fix B: Do "
                "not add any variables to this collection. The feature_column "
                "library already adds a variable under the hood."
                % self.shared_embedding_collection_name)
        if not made:
            table = self.new_table(weight_collections, trainable)
            add_to_collection(self.shared_embedding_collection_name, table)
            return table
        wanted = [self.categorical_column.num_buckets, self.dimension]
        if made[0].get_shape().as_list() != wanted:
            raise ValueError(
                "Shared embedding collection %s has a variable of shape %s, "
                "expected shape %s: give the columns another "
                "shared_embedding_collection_name"
                % (self.shared_embedding_collection_name, made[0].get_shape(),
                   wanted))
        return made[0]


def _check_embedding(dimension, initializer, checkpoint, tensor_name, where):
    """The initializer; by default truncated normal with the deviation
    1 / sqrt(dimension)."""
    if dimension is None or dimension < 1:
        raise ValueError("Invalid dimension %s." % dimension)
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and "
                         "`tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified. Embedding "
                         "of column_name: %s" % where)
    return initializer or TruncatedNormal(0.0, dimension ** -0.5)


def embedding_column(categorical_column, dimension, combiner="mean",
                     initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    """Dense: rows of a table [num_buckets, dimension], one row for each
    category of categorical_column, of which the "mean", the "sum" or the sum
    over the root of their number ("sqrtn") is taken; float32 [batch,
    dimension].

    initializer: of the table; by default truncated normal with the deviation
      1 / sqrt(dimension).
    ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the tensor in it
      that the table begins as.
    max_norm: longer rows are scaled to this length.

    ValueError for arguments that do not fit."""
    _check_type(categorical_column, CategoricalColumn,
                "categorical_column must be a categorical column")
    initializer = _check_embedding(dimension, initializer, ckpt_to_load_from,
                                   tensor_name_in_ckpt, categorical_column.name)
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer,
                           ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
                           trainable)


def shared_embedding_columns(
        categorical_columns, dimension, combiner="mean", initializer=None,
        shared_embedding_collection_name=None, ckpt_to_load_from=None,
        tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    """Embedding columns, one for each of categorical_columns, with one table
    for all. The columns are of one kind and have the same number of buckets.
    The graph keeps the table in the collection shared_embedding_collection_name
    (by default the columns' names in order, joined by "_", and
    "_shared_embedding"). The rest is as in embedding_column."""
    columns = sorted(categorical_columns, key=lambda c: c.name)
    kinds, buckets = [], []
    for column in columns:
        _check_type(column, CategoricalColumn,
                    "categorical_column must be a categorical column")
        while isinstance(column, WeightedCategoricalColumn):
            column = column.categorical_column
        kinds.append(type(column))
        buckets.append(column.num_buckets)
    if not columns:
        raise ValueError("categorical_columns must not be empty")
    if len(set(kinds)) > 1:
        raise ValueError("To use shared_embedding_column, all "
                         "categorical_columns must have the same type, or be "
                         "weighted_categorical_column of the same type. Given: "
                         "%s" % [k.__name__ for k in kinds])
    if len(set(buckets)) > 1:
        raise ValueError("To use shared_embedding_column, all "
                         "categorical_columns must have the same number of "
                         "buckets. Given: %s" % dict(zip(
                             (c.name for c in columns), buckets)))
    collection = shared_embedding_collection_name or "_".join(
        c.name for c in columns) + "_shared_embedding"
    initializer = _check_embedding(dimension, initializer, ckpt_to_load_from,
                                   tensor_name_in_ckpt, collection)
    return [SharedEmbeddingColumn(column, dimension, combiner, initializer,
                                  ckpt_to_load_from, tensor_name_in_ckpt,
                                  max_norm, trainable, collection)
            for column in categorical_columns]
