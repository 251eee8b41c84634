"""tf.contrib.layers: columns that make categories dense."""
import collections
import math

from headrace._src.contrib.columns.base import (
    Dense, DeepLookup, inner_flatten, parts_of)
from headrace._src.contrib.columns.real import check_checkpoint, checkpoint_of
from headrace._src.contrib.columns.scattered import (
    scattered_embedding_lookup_sparse)
from headrace._src.contrib.columns.sparse import (
    SparseColumn, WeightedSparseColumn)
from headrace._src.contrib.more_layers import safe_embedding_lookup_sparse
from headrace._src.contrib.variables import model_variable
from headrace._src.framework import dtypes
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.io.parsing_ops import VarLenFeature
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _log
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.training.checkpoint_reader import init_from_checkpoint
from headrace._src.variables.initializers import truncated_normal_initializer


class _OfSparse(Dense):
    """A column over one of ids, whose transformed feature it takes."""

    @property
    def length(self):
        return self.sparse_id_column.length

    @property
    def config(self):
        return self.sparse_id_column.config

    def insert_transformed_feature(self, columns_to_tensors):
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(
                columns_to_tensors)
        columns_to_tensors[self] = columns_to_tensors[self.sparse_id_column]


class OneHotColumn(_OfSparse, collections.namedtuple(
        "_OneHotColumn", ["sparse_id_column"])):
    """How often each id occurs, or the sum of its weights."""

    @property
    def name(self):
        return "{}_one_hot".format(self.sparse_id_column.name)

    def _to_dnn_input_layer(self, transformed_input_tensor,
                            unused_weight_collections=None,
                            unused_trainable=False, output_rank=2):
        column = self.sparse_id_column
        ids = inner_flatten(column.id_tensor(transformed_input_tensor),
                            output_rank)
        weights = column.weight_tensor(transformed_input_tensor)
        if weights is not None:
            merged = _sparse.sparse_merge(sp_ids=ids, sp_values=weights,
                                          vocab_size=self.length)
            # Leaves out the id -1.
            merged = _sparse.sparse_slice(
                merged, _array.zeros_like(merged.dense_shape),
                merged.dense_shape)
            dense = _sparse.sparse_tensor_to_dense(merged)
            return _array.reshape(dense, _array.concat(
                [_array.shape(dense)[:-1], [self.length]], axis=0))
        dense = _sparse.sparse_tensor_to_dense(ids, default_value=-1)
        ones = _array.one_hot(dense, depth=self.length, on_value=1.0,
                              off_value=0.0)
        return _math.reduce_sum(ones, axis=[output_rank - 1])

    @property
    def _variable_shape(self):
        return TensorShape([self.length])

    def _get_dense_tensor(self, inputs, weight_collections=None,
                          trainable=None):
        return inputs.get(self)

    def _transform_feature(self, inputs):
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))


def one_hot_column(sparse_id_column):
    """A dense column, float32 [batch, length]: how often each id of a sparse
    column occurs, or the sum of its weights."""
    return OneHotColumn(sparse_id_column)


class _Embedded:
    """What columns have in common whose tensors are embeddings."""

    @property
    def key(self):
        return self._key_without_properties(["initializer"])

    @property
    def _variable_shape(self):
        return TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None,
                          trainable=None):
        return embeddings_from_arguments(
            self, self._deep_embedding_lookup_arguments(inputs.get(self)),
            weight_collections, trainable)


class EmbeddingColumn(_Embedded, _OfSparse, collections.namedtuple("_EmbeddingColumn", """
        sparse_id_column dimension combiner initializer ckpt_to_load_from
        tensor_name_in_ckpt shared_embedding_name shared_vocab_size max_norm
        trainable""")):
    """A combination of the embeddings of the ids."""

    def __new__(cls, sparse_id_column, dimension, combiner="mean",
                initializer=None, ckpt_to_load_from=None,
                tensor_name_in_ckpt=None, shared_embedding_name=None,
                shared_vocab_size=None, max_norm=None, trainable=True):
        if initializer is not None and not callable(initializer):
            raise ValueError(
                "initializer must be callable if specified. Embedding of "
                "column_name: {}".format(sparse_id_column.name))
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        if initializer is None:
            _log.warning("The default stddev is \"1/sqrt(vocab_size)\"; that "
                         "of tf.feature_column.embedding_column is "
                         "\"1/sqrt(dimension)\".")
            initializer = truncated_normal_initializer(
                mean=0.0, stddev=1 / math.sqrt(sparse_id_column.length))
        return super().__new__(
            cls, sparse_id_column, dimension, combiner, initializer,
            ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_name,
            shared_vocab_size, max_norm, trainable)

    @property
    def name(self):
        return "%s_%sembedding" % (
            self.sparse_id_column.name,
            "" if self.shared_embedding_name is None else "shared_")

    @property
    def length(self):
        return (super().length if self.shared_vocab_size is None
                else self.shared_vocab_size)

    def _deep_embedding_lookup_arguments(self, input_tensor):
        column = self.sparse_id_column
        return DeepLookup(
            input_tensor=column.id_tensor(input_tensor),
            weight_tensor=column.weight_tensor(input_tensor),
            vocab_size=self.length, dimension=self.dimension,
            initializer=self.initializer, combiner=self.combiner,
            shared_embedding_name=self.shared_embedding_name, hash_key=None,
            max_norm=self.max_norm, trainable=self.trainable)

    def _checkpoint_path(self):
        return checkpoint_of(self)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise ValueError("Column {} is not supported in linear models. Please "
                         "use sparse_column.".format(self))

    def _transform_feature(self, inputs):
        return inputs.get(self.sparse_id_column)


def embedding_column(sparse_id_column, dimension, combiner="mean",
                     initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    """A dense column, float32 [batch, dimension]: the embeddings of the ids of a
    sparse column, combined.

    `combiner`: "mean", "sqrtn" or "sum". `initializer`: by default numbers with
    the deviation 1/sqrt(ids). `ckpt_to_load_from` and `tensor_name_in_ckpt`:
    where the variable's first value is. `max_norm`: longer embeddings are made
    shorter. ValueError for an initializer that is no function, and for one of
    the checkpoint's arguments without the other."""
    return EmbeddingColumn(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm=max_norm, trainable=trainable)


def _shared_name(columns):
    """The name of the variable of several columns, in whatever order."""
    ordered = sorted(c for c in columns if isinstance(c, SparseColumn)) + sorted(
        (c for c in columns if not isinstance(c, SparseColumn)),
        key=lambda c: c.name)
    name = "_".join(c.name for c in ordered[:3])
    if len(ordered) > 3:
        name += "_plus_{}_others".format(len(ordered) - 3)
    return name + "_shared_embedding"


def shared_embedding_columns(sparse_id_columns, dimension, combiner="mean",
                             shared_embedding_name=None, initializer=None,
                             ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                             max_norm=None, trainable=True):
    """Columns as embedding_column's, float32 [batch, dimension], that have one
    variable: a tuple, of one column a list.

    TypeError for other columns than of ids, with or without weights; ValueError
    for none, and for columns whose ids cannot mean the same."""
    if not isinstance(sparse_id_columns, collections.abc.Sequence) or \
            isinstance(sparse_id_columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or "
            "tuple) instead of type {}.".format(type(sparse_id_columns)))
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one "
                         "element.")
    for column in sparse_id_columns:
        if not isinstance(column, (SparseColumn, WeightedSparseColumn)):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or "
                "_WeightedSparseColumn, but {} is not.".format(column))

    def embedded(column, name, size):
        return EmbeddingColumn(
            column, dimension, combiner, initializer, ckpt_to_load_from,
            tensor_name_in_ckpt, name, size, max_norm=max_norm,
            trainable=trainable)
    first = sparse_id_columns[0]
    if len(sparse_id_columns) == 1:
        return [embedded(first, shared_embedding_name, None)]
    for column in sparse_id_columns[1:]:
        weighted = isinstance(first, WeightedSparseColumn)
        if not (first.is_compatible(column) if weighted
                else column.is_compatible(first)):
            raise ValueError("The input sparse id columns are not compatible.")
    name = shared_embedding_name or _shared_name(sparse_id_columns)
    return tuple(embedded(c, name, first.length) for c in sparse_id_columns)


class ScatteredEmbeddingColumn(_Embedded, Dense, collections.namedtuple(
        "_ScatteredEmbeddingColumn",
        ["column_name", "size", "dimension", "hash_key", "combiner",
         "initializer"])):
    """Embeddings whose numbers are at hashed places of one vector."""

    def __new__(cls, column_name, size, dimension, hash_key, combiner="sqrtn",
                initializer=None):
        if initializer is not None and not callable(initializer):
            raise ValueError("initializer must be callable if specified. "
                             "column_name: {}".format(column_name))
        if initializer is None:
            initializer = truncated_normal_initializer(mean=0.0, stddev=0.1)
        return super().__new__(cls, column_name, size, dimension, hash_key,
                               combiner, initializer)

    @property
    def name(self):
        return "{}_scattered_embedding".format(self.column_name)

    @property
    def config(self):
        return {self.column_name: VarLenFeature(dtypes.string)}

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = columns_to_tensors[self.column_name]

    def _deep_embedding_lookup_arguments(self, input_tensor):
        return DeepLookup(
            input_tensor=input_tensor, weight_tensor=None,
            vocab_size=self.size, initializer=self.initializer,
            combiner=self.combiner, dimension=self.dimension,
            shared_embedding_name=None, hash_key=self.hash_key, max_norm=None,
            trainable=True)

    def _transform_feature(self, inputs):
        return inputs.get(self.column_name)


def scattered_embedding_column(column_name, size, dimension, hash_key,
                               combiner="mean", initializer=None):
    """A dense column, float32 [batch, dimension], of strings of any shape. All
    embeddings share `size` numbers; hashes of a string and a place say which.

    `combiner`: "mean", "sqrtn" or "sum". ValueError for another one, for sizes
    below 1 and for an initializer that is no function."""
    if dimension < 1 or size < 1:
        raise ValueError("Dimension and size must be greater than 0. "
                         "dimension: {}, size: {}, column_name: {}".format(
                             dimension, size, column_name))
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'. "
                         "combiner: {}, column_name: {}".format(
                             combiner, column_name))
    return ScatteredEmbeddingColumn(column_name, size, dimension, hash_key,
                                    combiner, initializer)


def _shared_variable(args, new):
    """The variable of a shared name: the graph's, or a new one."""
    graph = get_default_graph()
    key = "SHARED_EMBEDDING_COLLECTION_" + args.shared_embedding_name.upper()
    known = graph.get_collection_ref(key)
    if len(known) > 1:
        raise ValueError("Collection %s can only contain one (partitioned) "
                         "variable." % key)
    shape = [args.vocab_size, args.dimension]
    if not known:
        graph.add_to_collection(key, new(args.shared_embedding_name, shape))
    elif known[0].get_shape() != shape:
        raise ValueError(
            "The embedding variable with name {} already exists, but its shape "
            "does not match required embedding shape here. Please make sure to "
            "use different shared_embedding_name for different shared "
            "embeddings.".format(args.shared_embedding_name))
    return graph.get_collection_ref(key)[0]


def embeddings_from_arguments(column, args, weight_collections, trainable,
                              output_rank=2):
    """The combined embeddings, of rank output_rank, that DeepLookup asks for.
    ValueError for a shared variable of another shape."""
    ids = inner_flatten(args.input_tensor, output_rank)
    weights = None
    if args.weight_tensor is not None:
        weights = inner_flatten(args.weight_tensor, output_rank)

    def new(name, shape):
        return model_variable(
            name=name, shape=shape, dtype=dtypes.float32,
            initializer=args.initializer,
            trainable=(trainable and args.trainable),
            collections=weight_collections)
    if args.hash_key:
        return scattered_embedding_lookup_sparse(
            new("weights", [args.vocab_size]), ids, args.dimension,
            hash_key=args.hash_key, combiner=args.combiner, name="lookup")
    if args.shared_embedding_name is not None:
        table = _shared_variable(args, new)
    else:
        table = new("weights", [args.vocab_size, args.dimension])
    parts = parts_of(table)
    restore_column(column, parts)
    return safe_embedding_lookup_sparse(
        parts, ids, sparse_weights=weights, combiner=args.combiner,
        name=column.name + "weights", max_norm=args.max_norm)


def restore_column(column, parts):
    """Lets the variable, which consists of `parts`, start from the column's
    checkpoint, if it has one."""
    found = column._checkpoint_path()
    if found is not None:
        checkpoint, name = found
        init_from_checkpoint(
            checkpoint, {name: parts[0] if len(parts) == 1 else parts})
