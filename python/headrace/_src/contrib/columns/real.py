"""tf.contrib.layers: columns of numbers, of their buckets, and crosses."""
import collections

from headrace import raw_ops as _raw
from headrace._src.contrib.columns.base import (
    Categorical, FeatureColumn, LinearLookup, TransformedFeatures,
    reshape_real)
from headrace._src.contrib.columns.sparse import (
    SparseColumn, sparse_feature_cross)
from headrace._src.feature_column.columns import OldDenseColumn
from headrace._src.framework import dtypes
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.io.parsing_ops import (
    FixedLenFeature, FixedLenSequenceFeature, VarLenFeature)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.variables.initializers import zeros_initializer


def _as_input(tensor, output_rank, name):
    """A tensor of numbers as the input of a network: float32, of that rank."""
    if tensor.dtype != dtypes.float32:
        tensor = _math.cast(tensor, dtypes.float32)
    return reshape_real(tensor, output_rank, name)


class _Real(FeatureColumn):
    """What both columns of numbers have in common."""

    @property
    def name(self):
        return self.column_name

    @property
    def key(self):
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self):
        """The function that transforms the feature, or None."""
        return self.normalizer

    def _normalized_input_tensor(self, tensor):
        return tensor if self.normalizer is None else self.normalizer(tensor)

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = _math.cast(
            self._normalized_input_tensor(columns_to_tensors[self.name]),
            dtypes.float32)


class RealValuedVarLenColumn(_Real, collections.namedtuple(
        "_RealValuedVarLenColumn",
        ["column_name", "default_value", "dtype", "normalizer", "is_sparse"])):
    """As many numbers as an example has: sparse, or filled up."""

    @property
    def config(self):
        if self.is_sparse:
            return {self.column_name: VarLenFeature(self.dtype)}
        return {self.column_name: FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True,
            default_value=self.default_value)}

    def _normalized_input_tensor(self, tensor):
        if self.normalizer is None or not self.is_sparse:
            return super()._normalized_input_tensor(tensor)
        return SparseTensor(tensor.indices, self.normalizer(tensor.values),
                            tensor.dense_shape)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        return reshape_real(self._to_dense_tensor(input_tensor), output_rank,
                            self.name)

    def _to_dense_tensor(self, input_tensor):
        if self.is_sparse:
            raise ValueError("Set is_sparse to False if you want a dense "
                             "Tensor for column_name: {}".format(self.name))
        return input_tensor


def real_valued_var_len_column(column_name, default_value=None,
                               dtype=dtypes.float32, normalizer=None,
                               is_sparse=False):
    """A column of as many numbers as an example has: a SparseTensor, or a dense
    one that default_value fills up. TypeError for a dtype that is not of
    numbers; ValueError without a number to fill up with."""
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError("dtype must be convertible to float. dtype: {}, "
                        "column_name: {}".format(dtype, column_name))
    if default_value is None and not is_sparse:
        raise ValueError("default_value must be provided when is_sparse=False "
                         "to parse a padded Tensor. column_name: {}".format(
                             column_name))
    if isinstance(default_value, list):
        raise ValueError("Only scalar default value. default_value: {}, "
                         "column_name: {}".format(default_value, column_name))
    if default_value is not None:
        default_value = (int if dtype.is_integer else float)(default_value)
    return RealValuedVarLenColumn(column_name, default_value, dtype,
                                  normalizer, is_sparse)


class RealValuedColumn(_Real, OldDenseColumn, collections.namedtuple(
        "_RealValuedColumn",
        ["column_name", "dimension", "default_value", "dtype", "normalizer"])):
    """`dimension` numbers. The transformed feature is float32."""

    def __new__(cls, column_name, dimension, default_value, dtype, normalizer):
        if default_value is not None:
            default_value = tuple(default_value)
        return super().__new__(cls, column_name, dimension, default_value,
                               dtype, normalizer)

    @property
    def config(self):
        default = self.default_value
        return {self.column_name: FixedLenFeature(
            [self.dimension], self.dtype,
            default if default is None else list(default))}

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        return _as_input(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        return input_tensor

    @property
    def _variable_shape(self):
        return TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None,
                          trainable=None):
        return inputs.get(self)

    def _transform_feature(self, inputs):
        return _math.cast(self._normalized_input_tensor(inputs.get(self.name)),
                          dtypes.float32)


def _default_numbers(value, dimension, dtype, name):
    """The list of numbers that a missing feature has, or None."""
    if isinstance(value, list):
        if len(value) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. "
                "default_value: {}, dimension: {}, column_name: {}".format(
                    value, dimension, name))
        numbers = value
    elif isinstance(value, (int, float)):
        numbers = [value] * dimension
    else:
        numbers = [value]
    integers = all(isinstance(v, int) for v in numbers)
    if integers and dtype.is_integer:
        return numbers
    if dtype.is_floating and all(isinstance(v, (int, float)) for v in numbers):
        return [float(v) for v in numbers]
    raise TypeError("default_value must be compatible with dtype. "
                    "default_value: {}, dtype: {}, column_name: {}".format(
                        value, dtype, name))


def real_valued_column(column_name, dimension=1, default_value=None,
                       dtype=dtypes.float32, normalizer=None):
    """A column of `dimension` numbers, of a feature [batch, dimension].

    `default_value`: a number or a list of them for tf.parse_example.
    `normalizer`: a function of the tensor. TypeError for a dimension that is no
    integer and for a default of another type; ValueError for a dimension
    below 1, for a dtype that is not of numbers and for a list of another
    length."""
    if dimension is None:
        raise TypeError(
            "dimension must be an integer. Use the "
            "_real_valued_var_len_column for variable length features."
            "dimension: {}, column_name: {}".format(dimension, column_name))
    if not isinstance(dimension, int):
        raise TypeError("dimension must be an integer. dimension: {}, "
                        "column_name: {}".format(dimension, column_name))
    if dimension < 1:
        raise ValueError("dimension must be greater than 0. dimension: {}, "
                         "column_name: {}".format(dimension, column_name))
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: {}, "
                         "column_name: {}".format(dtype, column_name))
    if default_value is not None:
        default_value = _default_numbers(default_value, dimension, dtype,
                                         column_name)
    return RealValuedColumn(column_name, dimension, default_value, dtype,
                            normalizer)


class BucketizedColumn(Categorical, OldDenseColumn, collections.namedtuple(
        "_BucketizedColumn", ["source_column", "boundaries"])):
    """The bucket of each number: how many boundaries are not greater. The
    transformed feature is int32 [batch, dimension]."""

    def __new__(cls, source_column, boundaries):
        if not isinstance(source_column, RealValuedColumn):
            raise TypeError(
                "source_column must be an instance of _RealValuedColumn. "
                "source_column: {}".format(source_column))
        if source_column.dimension is None:
            raise ValueError("source_column must have a defined dimension. "
                             "source_column: {}".format(source_column))
        if not isinstance(boundaries, (list, tuple)) or not boundaries:
            raise ValueError("boundaries must be a non-empty list or tuple. "
                             "boundaries: {}".format(boundaries))
        if any(a > b for a, b in zip(boundaries, boundaries[1:])):
            raise ValueError("boundaries must be a sorted list. "
                             "boundaries: {}".format(boundaries))
        return super().__new__(cls, source_column, tuple(
            dict.fromkeys(boundaries)))

    @property
    def name(self):
        return "{}_bucketized".format(self.source_column.name)

    @property
    def length(self):
        return len(self.boundaries) + 1

    @property
    def config(self):
        return self.source_column.config

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        if output_rank != 2:
            raise ValueError(
                "BucketizedColumn currently only supports output_rank=2")
        return _array.reshape(
            _array.one_hot(_math.cast(input_tensor, dtypes.int64), self.length,
                           1., 0., name="one_hot"),
            [-1, self.length * self.source_column.dimension], name="reshape")

    def to_sparse_tensor(self, input_tensor):
        """The transformed feature as ids: those of each dimension follow those
        of the one before."""
        dimension = self.source_column.dimension
        batch = _array.shape(input_tensor, name="shape")[0]
        if dimension > 1:
            rows = _array.reshape(_array.tile(
                _array.expand_dims(_math.range(0, batch), 1,
                                   name="expand_dims"),
                [1, dimension], name="tile"), [-1], name="reshape")
            columns = _array.tile(_math.range(0, dimension), [batch],
                                  name="tile")
            ids = _array.reshape(input_tensor, [-1],
                                 name="reshape") + self.length * columns
        else:
            rows = _math.range(0, batch)
            columns = _array.zeros([batch], dtype=dtypes.int32, name="zeros")
            ids = _array.reshape(input_tensor, [-1], name="reshape")
        indices = _math.cast(_array.transpose(_array.stack((rows, columns))),
                             dtypes.int64)
        return SparseTensor(indices, ids, _math.cast(
            _array.stack([batch, dimension]), dtypes.int64))

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return LinearLookup(
            self.to_sparse_tensor(input_tensor), None, self._num_buckets,
            zeros_initializer(), "sum")

    def _transform_feature(self, inputs):
        return _raw.Bucketize(input=inputs.get(self.source_column),
                              boundaries=list(self.boundaries),
                              name="bucketize")

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._transform_feature(
            TransformedFeatures(columns_to_tensors))

    @property
    def _num_buckets(self):
        return self.length * self.source_column.dimension

    @property
    def _variable_shape(self):
        return TensorShape([self._num_buckets])

    def _get_sparse_tensors(self, inputs, weight_collections=None,
                            trainable=None):
        return self.IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    def _get_dense_tensor(self, inputs, weight_collections=None,
                          trainable=None):
        return self._to_dnn_input_layer(inputs.get(self), weight_collections,
                                        trainable)


def bucketized_column(source_column, boundaries):
    """A column of the buckets of real_valued_column's numbers.

    `boundaries`: a list of numbers in order; those that are equal count once.
    TypeError for another column; ValueError for another list."""
    return BucketizedColumn(source_column, boundaries)


class CrossedColumn(Categorical, collections.namedtuple("_CrossedColumn", """
        columns hash_bucket_size hash_key combiner ckpt_to_load_from
        tensor_name_in_ckpt""")):
    """Hashes of the combinations of the features of several columns."""

    def __new__(cls, columns, hash_bucket_size, hash_key, combiner="sum",
                ckpt_to_load_from=None, tensor_name_in_ckpt=None):
        for column in columns:
            cls._assert_is_crossable(column)
        if len(columns) < 2:
            raise ValueError("columns must contain at least 2 elements. "
                             "columns: {}".format(columns))
        if hash_bucket_size < 2:
            raise ValueError("hash_bucket_size must be at least 2. "
                             "hash_bucket_size: {}".format(hash_bucket_size))
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        return super().__new__(
            cls, tuple(sorted(columns, key=lambda c: c.name)),
            hash_bucket_size, hash_key, combiner, ckpt_to_load_from,
            tensor_name_in_ckpt)

    @staticmethod
    def _assert_is_crossable(column):
        if not isinstance(column, (SparseColumn, CrossedColumn,
                                   BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or "
                "_BucketizedColumn instances. (column {} is a {})".format(
                    column, column.__class__.__name__))

    @property
    def name(self):
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self):
        return {name: feature for column in self.columns
                for name, feature in column.config.items()}

    @property
    def length(self):
        return self.hash_bucket_size

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        raise ValueError("CrossedColumn is not supported in DNN. Please use "
                         "embedding_column. column: {}".format(self))

    def _checkpoint_path(self):
        return checkpoint_of(self)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return LinearLookup(input_tensor, None, self.length,
                            zeros_initializer(), self.combiner)

    def leaves(self):
        """The columns that are crossed, of crosses among them theirs."""
        return [leaf for c in self.columns for leaf in (
            c.leaves() if isinstance(c, CrossedColumn) else [c])]

    def _transform_feature(self, inputs):
        tensors = []
        for c in self.leaves():
            if isinstance(c, SparseColumn):
                tensors.append(inputs.get(c.name))
            else:
                tensors.append(c.to_sparse_tensor(inputs.get(c)))
        return sparse_feature_cross(
            tensors, hashed_output=True, num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key, name="cross")

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._transform_feature(
            TransformedFeatures(columns_to_tensors))


def check_checkpoint(checkpoint, tensor_name):
    """ValueError if only one of the two is given."""
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and "
                         "`tensor_name_in_ckpt` or none of them.")


def checkpoint_of(column):
    """(checkpoint, name of the tensor) that a column starts from, or None."""
    if column.ckpt_to_load_from is None:
        return None
    return column.ckpt_to_load_from, column.tensor_name_in_ckpt


def crossed_column(columns, hash_bucket_size, combiner="sum",
                   ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                   hash_key=None):
    """A column of hashes below hash_bucket_size: one of each combination of the
    features, strings or integers of any shape, of two or more columns.

    `hash_key`: how hashes are combined; by default in an older way. TypeError
    for columns that are neither sparse, bucketized nor crossed; ValueError for
    fewer columns or buckets than two, and for one of the checkpoint's arguments
    without the other."""
    return CrossedColumn(
        columns, hash_bucket_size, hash_key, combiner=combiner,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt)


class DataFrameColumn(FeatureColumn, collections.namedtuple(
        "DataFrameColumn", ["column_name", "series"])):
    """A column of a series that builds its tensor from others."""

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        return self.series.required_base_features()

    @property
    def key(self):
        return self.name

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None,
                            trainable=True, output_rank=2):
        return _as_input(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        return self._to_dnn_input_layer(input_tensor)


DataFrameColumn.__name__ = "DataFrameColumn"
