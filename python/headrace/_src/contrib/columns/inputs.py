"""tf.contrib.layers: the input of a model from feature columns."""
import functools

from headrace._src.contrib.columns import embedding as _embedding
from headrace._src.contrib.columns import real as _real
from headrace._src.contrib.columns import sparse as _sparse_columns
from headrace._src.contrib.columns.base import (
    FeatureColumn, inner_flatten, parts_of)
from headrace._src.contrib.columns.embedding import (
    embeddings_from_arguments, restore_column)
from headrace._src.contrib.more_layers import safe_embedding_lookup_sparse
from headrace._src.contrib.variables import model_variable
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import GraphKeys
from headrace._src.io.parsing_ops import (
    FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, parse_example,
    parse_single_sequence_example)
from headrace._src.nn.activations import bias_add
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor, sparse_placeholder
from headrace._src.platform import tf_logging as _log
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.variables.initializers import zeros_initializer
from headrace._src.variables.scopes import variable_scope


def _feature_config(column):
    if not isinstance(column, FeatureColumn):
        raise TypeError(
            "feature_columns should only contain instances of _FeatureColumn. "
            "Given column is {}".format(column))
    if isinstance(column, _real.DataFrameColumn):
        raise TypeError("Not supported _FeatureColumn type. Given column is "
                        "{}".format(column))
    return column.config


def create_feature_spec_for_parsing(feature_columns):
    """{name: what tf.parse_example needs} of an iterable of columns, or of a
    dict's values. It makes no tensors. TypeError for other columns."""
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    return {name: feature for column in feature_columns
            for name, feature in _feature_config(column).items()}


def create_sequence_feature_spec_for_parsing(sequence_feature_columns,
                                             allow_missing_by_default=False):
    """The same for sequences: of each step a value. Features with a default
    may be missing instead."""
    made = {}
    for key, feature in create_feature_spec_for_parsing(
            sequence_feature_columns).items():
        if isinstance(feature, VarLenFeature):
            made[key] = feature
            continue
        if not isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
            raise TypeError("Unsupported feature type: {}".format(
                type(feature).__name__))
        has_default = feature.default_value is not None
        if has_default:
            _log.warning('Found default value %s for feature "%s". Ignoring '
                         "this value and setting `allow_missing=True` instead.",
                         feature.default_value, key)
        made[key] = FixedLenSequenceFeature(
            shape=feature.shape, dtype=feature.dtype,
            allow_missing=allow_missing_by_default or has_default)
    return made


def make_place_holder_tensors_for_base_features(feature_columns):
    """{name: placeholder} of the features of columns: float or integer [batch,
    n], or a SparseTensor. TypeError for other columns."""
    return {
        name: (sparse_placeholder(feature.dtype,
                                  name="Placeholder_{}".format(name))
               if isinstance(feature, VarLenFeature) else
               _array.placeholder(feature.dtype,
                                  shape=(None, feature.shape[0]),
                                  name="Placeholder_{}".format(name)))
        for name, feature in create_feature_spec_for_parsing(
            feature_columns).items()}


def check_feature_columns(feature_columns):
    """ValueError for a dict, and for two columns with one key. It makes no
    tensors, so shapes and dtypes do not matter."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                "Duplicate feature column key found for column: {}. This "
                "usually means that the column is almost identical to another "
                "column, and one must be discarded.".format(column.name))
        seen.add(column.key)


def _transform(column, columns_to_tensors):
    """The tensor of a column; it joins the dict."""
    if column not in columns_to_tensors:
        column.insert_transformed_feature(columns_to_tensors)
    if column not in columns_to_tensors:
        raise ValueError("Column {} is not supported.".format(column.name))
    return columns_to_tensors[column]


class Transformer:
    """Transforms columns of a dict of features, each once; the dict gets what they
    give. ValueError for a column that gives nothing."""

    def __init__(self, columns_to_tensors):
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column):
        """The tensor of a column."""
        return _transform(feature_column, self._columns_to_tensors)


def _in_order(feature_columns):
    return sorted(set(feature_columns), key=lambda column: column.key)


def with_rank(tensor, column_name, output_rank):
    """A tensor or SparseTensor of a rank: with one dimension more, or fewer."""
    rank = tensor.get_shape().ndims
    if rank is None and isinstance(tensor, SparseTensor):
        rank = tensor.dense_shape.get_shape().as_list()[0]
    if rank is None:
        raise ValueError("Error while processing column {}. Rank of input "
                         "Tensor can not be None.".format(column_name))
    if output_rank > rank + 1:
        raise ValueError(
            "Error while processing column {}. Rank of input Tensor ({}) "
            "should be the same as output_rank ({}). For example, sequence "
            "data should typically be 3 dimensional (rank 3) while "
            "non-sequence data is typically 2 dimensional (rank 2).".format(
                column_name, rank, output_rank))
    if output_rank < rank:
        return inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    if isinstance(tensor, SparseTensor):
        return _sparse.sparse_reshape(
            tensor, _array.concat([tensor.dense_shape, [1]], 0))
    return _array.expand_dims(tensor, -1)


def _with_globals(collections):
    """Collections of variables, among them GLOBAL_VARIABLES if there are any."""
    return list(dict.fromkeys(
        [*collections, GraphKeys.GLOBAL_VARIABLES])) if collections else (
            collections)


def _column_input(column, tensor, weight_collections, trainable, output_rank):
    """The part of a network's input that a column gives."""
    try:
        found = column._deep_embedding_lookup_arguments(tensor)
    except NotImplementedError as error:
        no_embedding = error
    else:
        return embeddings_from_arguments(
            column, found, weight_collections, trainable,
            output_rank=output_rank)
    try:
        return column._to_dnn_input_layer(tensor, weight_collections, trainable,
                                          output_rank=output_rank)
    except ValueError as error:
        raise ValueError(
            "Error creating input layer for column: {}.\n{}, {}".format(
                column.name, error, no_embedding)) from error


def _input_layer(columns_to_tensors, feature_columns, weight_collections,
                 trainable, scope, output_rank, default_name,
                 cols_to_outs=None):
    made = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    with variable_scope(scope, default_name=default_name,
                        values=list(made.values())):
        weight_collections = _with_globals(weight_collections)
        outputs = []
        for column in _in_order(feature_columns):
            with variable_scope(None, default_name=column.name,
                                values=list(made.values())):
                tensor = _transform(column, made)
                if output_rank == 3:
                    tensor = nest.map_structure(functools.partial(
                        with_rank, column_name=column.name,
                        output_rank=output_rank), tensor)
                outputs.append(_column_input(
                    column, tensor, weight_collections, trainable,
                    output_rank))
                if cols_to_outs is not None:
                    cols_to_outs[column] = outputs[-1]
        return _array.concat(outputs, output_rank - 1)


def input_from_feature_columns(columns_to_tensors, feature_columns,
                               weight_collections=None, trainable=True,
                               scope=None, cols_to_outs=None):
    """The input of a network, float32 [batch, n]: what the columns give, in the
    order of their keys.

    `columns_to_tensors`: {name or column: tensor or SparseTensor}.
    `cols_to_outs`: a dict that gets {column: tensor}. ValueError for columns
    that are no input of networks."""
    return _input_layer(
        columns_to_tensors, feature_columns, weight_collections, trainable,
        scope, 2, "input_from_feature_columns", cols_to_outs)


def sequence_input_from_feature_columns(columns_to_tensors, feature_columns,
                                        weight_collections=None,
                                        trainable=True, scope=None):
    """The input of a recurrent network, float32 [batch, time, n], of features
    [batch, time, ...]. ValueError for columns that have no such form."""
    for column in feature_columns:
        if not isinstance(column, (
                _embedding.OneHotColumn, _embedding.EmbeddingColumn,
                _real.RealValuedColumn, _real.RealValuedVarLenColumn)):
            raise ValueError(
                "FeatureColumn type {} is not currently supported for sequence "
                "data.".format(type(column).__name__))
    for column in with_parents(feature_columns):
        if isinstance(column, (
                _embedding.ScatteredEmbeddingColumn, _real.BucketizedColumn,
                _real.CrossedColumn)):
            raise ValueError(
                "Column {} is of type {}, which is not currently supported for "
                "sequences.".format(column.name, type(column).__name__))
    return _input_layer(
        columns_to_tensors, feature_columns, weight_collections, trainable,
        scope, 3, "sequence_input_from_feature_columns")


def with_parents(feature_columns):
    """The columns and those that they are made of."""
    found = list(feature_columns)
    for column in found:
        if isinstance(column, (
                _sparse_columns.WeightedSparseColumn, _embedding.OneHotColumn,
                _embedding.EmbeddingColumn)):
            parents = [column.sparse_id_column]
        elif isinstance(column, _real.BucketizedColumn):
            parents = [column.source_column]
        elif isinstance(column, _real.CrossedColumn):
            parents = column.columns
        else:
            continue
        found += [p for p in parents if p not in found]
    return found


def _weights(name, size, num_outputs, initializer, trainable,
             weight_collections):
    return model_variable(
        name=name, shape=[size, num_outputs], dtype=dtypes.float32,
        initializer=initializer, trainable=trainable,
        collections=weight_collections)


def _with_bias(sums, num_outputs, trainable, weight_collections):
    bias = model_variable(
        "bias_weight", shape=[num_outputs], initializer=zeros_initializer(),
        trainable=trainable, collections=_with_globals(weight_collections))
    return bias_add(sums, bias), bias


def joint_weighted_sum_from_feature_columns(
        columns_to_tensors, feature_columns, num_outputs,
        weight_collections=None, trainable=True, scope=None):
    """A linear model with one table for all columns: (float32 [batch,
    num_outputs], the list of the table's parts, the bias).

    NotImplementedError for columns of numbers; AssertionError for weighted
    columns and for other combiners than "sum"."""
    made = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    with variable_scope(
            scope, default_name="joint_weighted_sum_from_feature_columns",
            values=list(made.values())):
        lookups = []
        for column in _in_order(feature_columns):
            tensor = _transform(column, made)
            try:
                lookups.append(column._wide_embedding_lookup_arguments(tensor))
            except NotImplementedError:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use "
                    "weighted_sum_from_feature_columns instead, or bucketize "
                    "these columns.") from None
        table, sums = _joint_lookup(made, lookups, num_outputs, trainable,
                                    weight_collections)
        predictions, bias = _with_bias(sums, num_outputs, trainable,
                                       weight_collections)
        return predictions, table, bias


def _joint_lookup(made, lookups, num_outputs, trainable, weight_collections):
    for lookup in lookups:
        if lookup.weight_tensor is not None:
            raise AssertionError(
                "Joint sums for weighted sparse columns are not supported. "
                "Please use weighted_sum_from_feature_columns instead.")
        if lookup.combiner != "sum":
            raise AssertionError(
                "Combiners other than sum are not supported for joint sums. "
                "Please use weighted_sum_from_feature_columns instead.")
    if not lookups:
        raise AssertionError("At least one column must be in the model.")
    size, sparse = 0, []
    for lookup in lookups:
        t = lookup.input_tensor
        sparse.append(SparseTensor(t.indices, t.values + size, t.dense_shape))
        size += lookup.vocab_size
    ids = _sparse.sparse_concat(1, sparse)
    with variable_scope(None, default_name="linear_weights",
                        values=list(made.values())):
        table = parts_of(_weights("weights", size, num_outputs,
                                  zeros_initializer(), trainable,
                                  weight_collections))
        return table, safe_embedding_lookup_sparse(
            table, ids, sparse_weights=None, combiner="sum", name="_weights")


def weighted_sum_from_feature_columns(
        columns_to_tensors, feature_columns, num_outputs,
        weight_collections=None, trainable=True, scope=None):
    """A linear model: (float32 [batch, num_outputs], {column: the list of its
    variable's parts}, the bias). ValueError for columns that are no input of
    linear models."""
    made = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    with variable_scope(
            scope, default_name="weighted_sum_from_feature_columns",
            values=list(made.values())):
        sums, variables = [], {}
        for column in _in_order(feature_columns):
            tensor = _transform(column, made)
            variables[column], found = _weighted_sum(
                column, tensor, made, num_outputs, trainable,
                weight_collections)
            sums.append(_array.reshape(found, shape=(-1, num_outputs)))
            restore_column(column, variables[column])
        predictions, bias = _with_bias(_math.add_n(sums), num_outputs,
                                       trainable, weight_collections)
        return predictions, variables, bias


def _weighted_sum(column, tensor, made, num_outputs, trainable,
                  weight_collections):
    """(parts of the variable, what the column adds to a linear model)."""
    try:
        lookup = column._wide_embedding_lookup_arguments(tensor)
    except NotImplementedError:
        return _product(column, tensor, made, num_outputs, trainable,
                        weight_collections)
    except ValueError as error:
        raise ValueError("Error creating weighted sum for column: {}.\n{}"
                         .format(column.name, error)) from error
    with variable_scope(None, default_name=column.name,
                        values=list(made.values())):
        table = parts_of(_weights(
            "weights", lookup.vocab_size, num_outputs, lookup.initializer,
            trainable, weight_collections))
        return table, safe_embedding_lookup_sparse(
            table, lookup.input_tensor, sparse_weights=lookup.weight_tensor,
            combiner=lookup.combiner, name=column.name + "_weights")


def _product(column, tensor, made, num_outputs, trainable, weight_collections):
    with variable_scope(None, default_name=column.name,
                        values=list(made.values())):
        dense = with_rank(column._to_dense_tensor(tensor), column.name, 2)
        weight = _weights("weight", dense.get_shape()[1], num_outputs,
                          zeros_initializer(), trainable, weight_collections)
        return [weight], _math.matmul(dense, weight, name="matmul")


def parse_feature_columns_from_examples(serialized, feature_columns, name=None,
                                        example_names=None):
    """{name or column: tensor or SparseTensor} of serialized tf.train.Examples,
    strings [batch]. ValueError for two columns with one key."""
    check_feature_columns(feature_columns)
    made = parse_example(
        serialized=serialized,
        features=create_feature_spec_for_parsing(feature_columns), name=name,
        example_names=example_names)
    for column in _in_order(feature_columns):
        _transform(column, made)
    return made


def transform_features(features, feature_columns):
    """{column: transformed tensor or SparseTensor} of a dict of features.
    ValueError for two columns with one key."""
    made = features.copy()
    check_feature_columns(feature_columns)
    for column in _in_order(feature_columns):
        _transform(column, made)
    return {key: value for key, value in made.items() if key in feature_columns}


def parse_feature_columns_from_sequence_examples(
        serialized, context_feature_columns, sequence_feature_columns,
        name=None, example_name=None):
    """Two dicts of tensors by name, of the context and of the steps of one
    serialized tf.train.SequenceExample, a scalar string. ValueError for a batch
    of them."""
    try:
        serialized = _array.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must "
            "be done after parsing for sequence examples. Error: {}".format(
                error)) from error
    context = context_feature_columns or []
    steps = sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(steps)
    return parse_single_sequence_example(
        serialized, create_feature_spec_for_parsing(context),
        create_sequence_feature_spec_for_parsing(steps), example_name, name)


def _real_column_for(name, tensor):
    if isinstance(tensor, SparseTensor):
        raise ValueError(
            "SparseTensor is not supported for auto detection. Please define "
            "corresponding FeatureColumn for tensor {} {}.".format(
                name, tensor))
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto "
            "detection. Please define corresponding FeatureColumn for tensor "
            "{} {}.".format(name, tensor))
    dimension = 1
    for size in tensor.get_shape().as_list()[1:]:
        dimension *= size
    return _real.real_valued_column(name, dimension=dimension,
                                    dtype=tensor.dtype)


def infer_real_valued_columns(features):
    """A list of real_valued_column for a tensor [batch, ...] of numbers, or for
    each of a dict of them. ValueError for sparse ones and for other dtypes."""
    if not isinstance(features, dict):
        return [_real_column_for("", features)]
    return [_real_column_for(*item) for item in features.items()]
