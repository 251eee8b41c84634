"""tf.feature_column.input_layer and linear_model: from features and columns to
tensors, and what tf.parse_example needs for the columns."""
from headrace import raw_ops as _raw
from headrace._src.feature_column.columns import CategoricalColumn, Column, DenseColumn
from headrace._src.feature_column.features import Features, OldFeatures
from headrace._src.framework import dtypes
from headrace._src.framework.graph import GraphKeys, get_collection, name_scope
from headrace._src.nn.embeddings import safe_embedding_lookup_sparse
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.sparse.sparse_ops import sparse_reshape
from headrace._src.variables.initializers import Zeros
from headrace._src.variables.scopes import get_variable, get_variable_scope, variable_scope


def checked(feature_columns, kinds, what, any_kind="_FeatureColumn"):
    """The columns in the order of their names. ValueError if one is not of
    `kinds`, for two of the same name, and for none. `any_kind`: what the error
    calls columns."""
    if isinstance(feature_columns, Column):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    columns = list(feature_columns)
    for column in columns:
        if not isinstance(column, Column):
            raise ValueError("Items of feature_columns must be a %s. Given "
                             "(type %s): %s." % (any_kind, type(column),
                                                 column))
        if not isinstance(column, kinds):
            raise ValueError("%s. Given: %r" % (what, column))
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    columns.sort(key=lambda c: c.name)
    for a, b in zip(columns, columns[1:]):
        if a.name == b.name:
            raise ValueError(
                "Duplicate feature column name found for columns: %r and %r. "
                "This usually means that these columns refer to the same "
                "feature. Give one of them another key in the features "
                "dictionary"
                % (a, b))
    return columns


def collections_of(weight_collections):
    """The collections that a column's variables go into."""
    out = list(weight_collections or [])
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if key not in out:
            out.append(key)
    return out


def _variables_here():
    return get_collection(GraphKeys.GLOBAL_VARIABLES,
                          get_variable_scope().name + "/")


def input_layer(features, feature_columns, weight_collections=None,
                trainable=True, cols_to_vars=None, cols_to_output_tensors=None):
    """float32 [batch, width]: what the dense columns make of `features`, each
    flattened, side by side in the order of the columns' names.

    features: tensors and SparseTensors by key. [batch] counts as [batch, 1].
    weight_collections: further collections for the variables of embeddings.
    cols_to_vars, cols_to_output_tensors: dicts that get the variables and the
      tensor of each column.

    ValueError for categorical columns, two columns of one name, and features
    that are missing or do not fit."""
    made = Features(features)
    with variable_scope(None, default_name="input_layer",
                        values=list(features.values())):
        return columns_side_by_side(
            made, feature_columns, weight_collections, trainable, cols_to_vars,
            cols_to_output_tensors)


def columns_side_by_side(features, feature_columns, weight_collections=None,
                         trainable=True, cols_to_vars=None,
                         cols_to_output_tensors=None):
    """input_layer in the variable scope that is open; `features` is a dict or
    Features."""
    columns = checked(
        feature_columns, DenseColumn,
        "Items of feature_columns must be a _DenseColumn. You can wrap a "
        "categorical column with an embedding_column or indicator_column")
    made = features if isinstance(features, Features) else Features(features)
    collections = collections_of(weight_collections)
    outputs = []
    for column in columns:
        with variable_scope(None, default_name=column.scope_name):
            tensor = column.dense(made, collections, trainable)
            width = column.variable_shape.num_elements()
            output = _array.reshape(tensor, [_array.shape(tensor)[0], width])
            if cols_to_vars is not None:
                cols_to_vars[column] = _variables_here()
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = output
            outputs.append(output)
    check_batches(outputs, columns)
    return _array.concat(outputs, 1)


def check_batches(tensors, columns):
    """ValueError unless the known first dimensions of the columns' tensors are
    the same."""
    first = None
    for tensor, column in zip(tensors, columns):
        batch = tensor.get_shape().dims[0].value if (
            tensor.get_shape().ndims) else None
        if batch is None:
            continue
        if first is None:
            first = batch, column
        elif batch != first[0]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. "
                "Batch size of columns (%s, %s): (%d, %d)"
                % (first[1].name, column.name, first[0], batch))


def transform_features(features, feature_columns):
    """{column: what it makes of the dict `features`}, of a list or set of
    columns."""
    columns = checked(feature_columns, Column, "")
    with name_scope(None, default_name="transform_features",
                    values=list(features.values())):
        made = OldFeatures(features)
        return {column: made[column] for column in columns}


def transform_new_features(features, feature_columns, state_manager):
    """As transform_features, with a scope for each column. `state_manager` has
    the variables of the columns."""
    columns = checked(feature_columns, Column, "", "FeatureColumn")
    outputs = {}
    with name_scope(None, default_name="transform_features",
                    values=list(features.values())):
        made = Features(features)
        for column in columns:
            with name_scope(None, default_name=column.name):
                outputs[column] = made.get(column, state_manager)
    return outputs


def width_of(column):
    """How many weights a linear model has for a column and a unit."""
    return (column.num_buckets if isinstance(column, CategoricalColumn)
            else column.variable_shape.num_elements())


def weighted_sum(column, features, weights, combiner, dense):
    """[batch, units] of the weights [width_of(column), units]; `dense()` is a
    dense column's tensor."""
    if isinstance(column, CategoricalColumn):
        ids, shares = (
            x if x is None else sparse_reshape(
                x, _array.stack([x.dense_shape[0], -1]))
            for x in column.ids(features))
        return safe_embedding_lookup_sparse(
            weights, ids, shares, combiner=combiner, name="weighted_sum")
    tensor = dense()
    flat = _array.reshape(tensor, [_array.shape(tensor)[0], width_of(column)])
    return _math.matmul(flat, weights, name="weighted_sum")


def linear_model(features, feature_columns, units=1, sparse_combiner="sum",
                 weight_collections=None, trainable=True, cols_to_vars=None):
    """float32 [batch, units]: a bias plus, for each column, its weights times
    its value. All begin as 0. The weights of a categorical column are joined
    by sparse_combiner, "sum", "mean" or "sqrtn". cols_to_vars is a dict that
    gets the variables of each column and, under "bias", the bias. The rest is
    as in input_layer."""
    columns = checked(
        feature_columns, (DenseColumn, CategoricalColumn),
        "Items of feature_columns must be either a _DenseColumn or "
        "_CategoricalColumn")
    made = Features(features)
    collections = collections_of(weight_collections)
    with variable_scope(None, default_name="linear_model",
                        values=list(features.values())):
        sums = []
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                weights = get_variable(
                    "weights", [width_of(column), units], initializer=Zeros(),
                    trainable=trainable, collections=collections)
                sums.append(weighted_sum(
                    column, made, weights, sparse_combiner,
                    lambda: column.dense(made, collections, trainable)))
                if cols_to_vars is not None:
                    # An embedding column has its table beside the weights.
                    cols_to_vars[column] = _variables_here() or [weights]
        bias = get_variable("bias_weights", [units], dtypes.float32, Zeros(),
                            trainable=trainable, collections=collections)
        if cols_to_vars is not None:
            cols_to_vars["bias"] = [bias]
        check_batches(sums, columns)
        with name_scope("weighted_sum_no_bias"):
            total = _math.add_n(sums)
        return _raw.BiasAdd(value=total, bias=bias, name="weighted_sum")


def make_parse_example_spec(feature_columns):
    """What tf.parse_example needs as `features` to read the features of the
    columns. ValueError if two columns need a feature in different ways."""
    spec = {}
    for column in feature_columns:
        if not isinstance(column, Column):
            raise ValueError("All feature_columns must be _FeatureColumn "
                             "instances. Given: %s" % (column,))
        for key, value in column.parse_example_spec.items():
            if spec.setdefault(key, value) != value:
                raise ValueError(
                    "feature_columns contain different parse_spec for key %s. "
                    "Given %s and %s" % (key, value, spec[key]))
    return spec
