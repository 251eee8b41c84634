"""tf.contrib.layers: what its feature columns have in common.

A column is a named tuple, so equal columns are one. `name` is the scope of its
variables, `key` orders columns, `config` says what tf.parse_example reads for
it. insert_transformed_feature adds to a dict {column or name of a feature:
tensor or SparseTensor} what the column makes of its features. Then one of
three functions makes the input of a model from that: of a network
`_deep_embedding_lookup_arguments` or, without embeddings, `_to_dnn_input_layer`;
of a linear model `_wide_embedding_lookup_arguments` or `_to_dense_tensor`."""
import collections

from headrace import raw_ops as _raw
from headrace._src.contrib.outputs import collect_named_outputs
from headrace._src.control import check_ops as _check
from headrace._src.feature_column.columns import (
    OldCategoricalColumn, OldDenseColumn)
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.platform import tf_logging as _log
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.variables.variables import Variable

# What a linear model and what a network need to look up embeddings: sparse ids
# [batch, n], their weights or None, and the table's size and initializer.
LinearLookup = collections.namedtuple("LinearLookup", """
    input_tensor weight_tensor vocab_size initializer combiner""")
DeepLookup = collections.namedtuple("DeepLookup", """
    input_tensor weight_tensor vocab_size initializer combiner dimension
    shared_embedding_name hash_key max_norm trainable""")


class FeatureColumn:
    """A column. Subclasses are named tuples."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # A key begins with the name of the class. Keys order the columns of a
        # graph, so they must be TensorFlow's.
        if cls.__module__ == __name__ or cls.__module__.startswith(
                __name__.rpartition(".")[0] + "."):
            cls.__name__ = "_" + cls.__name__

    def __str__(self):
        return repr(self)

    @property
    def key(self):
        """A text that tells the column from others."""
        return str(self)

    def insert_transformed_feature(self, columns_to_tensors):
        """Adds the column's tensor to a dict of tensors by column and name."""
        raise NotImplementedError(
            "Transform is not implemented for {}.".format(self))

    def _to_dnn_input_layer(self, input_tensor, weight_collection=None,
                            trainable=True, output_rank=2):
        """A dense float32 tensor of a rank, of a transformed feature."""
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor):
        raise NotImplementedError(
            "No deep embedding lookup arguments for column {}.".format(self))

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise NotImplementedError(
            "No wide embedding lookup arguments for column {}.".format(self))

    def _to_dense_tensor(self, input_tensor):
        raise NotImplementedError(
            "No dense tensor representation for column {}.".format(self))

    def _checkpoint_path(self):
        """(checkpoint, name of a tensor there) to start from, or None."""
        return None

    def _key_without_properties(self, properties):
        """The key without fields whose texts may change between programs."""
        return "%s(%s)" % (type(self).__name__, ", ".join(
            "%s=%s" % pair for pair in zip(self._fields, self)
            if pair[0] not in properties))

    @property
    def _parse_example_spec(self):
        return self.config


class Dense(FeatureColumn, OldDenseColumn):
    """A column that tf.feature_column.input_layer takes."""


class Categorical(FeatureColumn, OldCategoricalColumn):
    """A column that tf.feature_column.linear_model takes. `length` is how many
    ids there are."""

    @property
    def _num_buckets(self):
        return self.length

    def id_tensor(self, input_tensor):
        """The ids in a transformed feature."""
        return input_tensor

    def weight_tensor(self, input_tensor):
        """The weights in a transformed feature, or None."""
        return None

    def _get_sparse_tensors(self, inputs, weight_collections=None,
                            trainable=None):
        made = inputs.get(self)
        return self.IdWeightPair(self.id_tensor(made),
                                 self.weight_tensor(made))


class TransformedFeatures:
    """A dict of tensors by column and name that transforms columns when they
    are first asked for. ValueError for a name that it lacks; TypeError for
    what is neither a name nor a column."""

    def __init__(self, columns_to_tensors):
        self._made = columns_to_tensors

    def get(self, key):
        """The tensor of a name or a column."""
        if key in self._made:
            return self._made[key]
        if isinstance(key, str):
            raise ValueError(
                "features dictionary doesn't contain key ({})".format(key))
        if not isinstance(key, FeatureColumn):
            raise TypeError('"key" must be either a "str" or "_FeatureColumn". '
                            "Provided: {}".format(key))
        key.insert_transformed_feature(self._made)
        return self._made[key]


def is_variable(v):
    """Whether `v` is one variable, not a partitioned one."""
    return isinstance(v, Variable)


def parts_of(variable):
    """The list of the variables that a variable consists of."""
    return [variable] if is_variable(variable) else list(variable)


def inner_flatten(inputs, new_rank, output_collections=None, scope=None):
    """A tensor or SparseTensor whose inner dimensions are one, so that its rank
    is new_rank. ValueError for a SparseTensor of a lower rank."""
    with name_scope(scope, "InnerFlatten", [inputs]) as sc:
        if isinstance(inputs, SparseTensor):
            made = _flat_sparse(inputs, new_rank)
        else:
            made = _flat_dense(convert_to_tensor(inputs), new_rank)
    return collect_named_outputs(output_collections, sc, made)


def _flat_sparse(inputs, new_rank):
    rank = inputs.dense_shape.get_shape().as_list()[0]
    if rank is None or rank < new_rank:
        raise ValueError(
            "Inputs has rank less than new_rank. {} must have rank at least "
            "{}. Received rank {}, shape {}".format(
                inputs, new_rank, rank, inputs.get_shape()))
    outer = inputs.dense_shape[:new_rank - 1]
    inner = inputs.dense_shape[new_rank - 1:]
    return _sparse.sparse_reshape(inputs, _array.concat(
        (outer, [_math.reduce_prod(inner)]), 0))


def _flat_dense(inputs, new_rank):
    checked = _check.assert_rank_at_least(
        inputs, new_rank, message="inputs has rank less than new_rank")
    with control_dependencies([checked]):
        outer = _array.strided_slice(_array.shape(inputs), [0], [new_rank - 1])
        made = _array.reshape(inputs, _array.concat((outer, [-1]), 0))
    static = inputs.get_shape()
    if isinstance(new_rank, int) and static.ndims is not None:
        sizes = static.as_list()
        inner = static[new_rank - 1:].num_elements()
        made.set_shape(sizes[:new_rank - 1] + [inner])
    return made


def reshape_real(tensor, output_rank, column_name=None):
    """A dense tensor of a rank: with one dimension more, or with fewer.
    ValueError if it would need two more."""
    rank = tensor.get_shape().ndims
    if rank is not None:
        wanted = ("Rank of input Tensor ({}) should be the same as "
                  "output_rank ({})".format(rank, output_rank))
        if output_rank > rank + 1:
            where = "" if column_name is None else (
                "Error while processing column {}.".format(column_name))
            raise ValueError(
                "%s%s. For example, sequence data should typically be 3 "
                "dimensional (rank 3) while non-sequence data is typically 2 "
                "dimensional (rank 2)." % (where, wanted))
        if output_rank == rank + 1:
            _log.warning("%s for column. A dimension is added.", wanted)
            return _array.expand_dims(tensor, -1, name="expand_dims")
        if output_rank == rank:
            return tensor
    return inner_flatten(tensor, output_rank)


def _ignored(dtype, ignore_value):
    if ignore_value is None:
        ignore_value = ("" if dtype == dtypes.string
                        else dtype.as_numpy_dtype())
    return _math.cast(ignore_value, dtype, name="ignore_value")


def dense_to_sparse_tensor(dense_tensor, ignore_value=None):
    """The SparseTensor of the elements that are not ignore_value: by default
    "" or 0."""
    with name_scope("DenseToSparseTensor"):
        dense_tensor = convert_to_tensor(dense_tensor)
        ignored = _ignored(dense_tensor.dtype, ignore_value)
        indices = _array.where(_math.not_equal(dense_tensor, ignored),
                               name="indices")
        return SparseTensor(
            indices=indices,
            values=_array.gather_nd(dense_tensor, indices, name="values"),
            dense_shape=_array.shape(dense_tensor, out_type=dtypes.int64,
                                     name="dense_shape"))


def indicators_to_sparse_ids(indicators, ignore_value=None,
                             dtype=dtypes.int64):
    """The SparseTensor [..., n] of the places along the last dimension whose
    element is not ignore_value. ValueError for a dtype that is not of
    integers."""
    if not dtype.is_integer:
        raise ValueError("Invalid dtype {} not integer.".format(dtype))
    with name_scope(None, "indicators_to_sparse_ids",
                    (indicators, ignore_value)):
        indicators = convert_to_tensor(indicators, name="indicators")
        missing = _math.equal(
            indicators, _ignored(indicators.dtype, ignore_value),
            name="missing")
        zeros = _array.zeros_like(indicators, dtype=dtypes.int64, name="zeros")
        ones = _array.where(
            missing, zeros,
            _array.ones_like(indicators, dtype=dtypes.int64, name="ones"),
            name="binary_indicators")
        # Places in the result, from 1 on: 0 is no place.
        places = _array.where(missing, zeros, _math.cumsum(ones, axis=-1),
                              "row_index_indicators")
        size = _array.reshape(_math.reduce_max(places), shape=(1,),
                              name="result_last_dim")
        found = dense_to_sparse_tensor(places, ignore_value=0)
        return SparseTensor(
            indices=_array.concat(
                (found.indices[:, :-1],
                 _array.reshape(found.values - 1, (-1, 1))), axis=1,
                name="indices"),
            values=_math.cast(found.indices[:, -1], dtype=dtype,
                              name="values"),
            dense_shape=_array.concat((found.dense_shape[0:-1], size), axis=0,
                                      name="dense_shape"))


def sparse_row_envelope(sparse_input, row_axis=0, col_axis=1, name=None):
    """int64 [rows]: in each row of a SparseTensor the last column that has an
    element, plus one. ValueError for axes that are one, or no integers."""
    if not (isinstance(row_axis, int) and isinstance(col_axis, int)):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows = sparse_input.indices[:, row_axis]
        columns = sparse_input.indices[:, col_axis]
        size = _math.cast(sparse_input.dense_shape[row_axis], dtypes.int32)
        ends = _raw.UnsortedSegmentMax(data=columns + 1, segment_ids=rows,
                                       num_segments=size, name=name)
        zeros = _array.zeros_like(ends)
        return _array.where(ends > zeros, ends, zeros)
