"""Layers of feature columns, which own the columns' variables: DenseFeatures and
the linear model of canned Estimators."""
from headrace import raw_ops as _raw
from headrace._src.feature_column import inputs as _inputs
from headrace._src.feature_column.columns import CategoricalColumn, DenseColumn
from headrace._src.feature_column.features import Features
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, get_collection, name_scope)
from headrace._src.keras.models import Model
from headrace._src.layers.engine import Layer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.initializers import Zeros
from headrace._src.variables.scopes import (
    get_variable, get_variable_scope, pure_variable_scope, variable_scope)


class StateManager:
    """Makes and keeps the variables of columns for a layer."""

    def __init__(self, layer, trainable):
        self._layer = layer
        self._trainable = trainable
        self._variables = {}
        self._resources = {}

    def create_variable(self, feature_column, name, shape, dtype=None,
                        trainable=True, use_resource=True, initializer=None):
        """A variable of get_variable. ValueError if the column has it."""
        if (feature_column, name) in self._variables:
            raise ValueError("Variable already exists.")
        variable = get_variable(
            name, shape, dtype, initializer,
            trainable=self._trainable and trainable, use_resource=use_resource)
        self._variables[feature_column, name] = variable
        self._layer._own(variable, self._trainable and trainable)
        return variable

    def get_variable(self, feature_column, name):
        """The variable of a column. ValueError if there is none."""
        if (feature_column, name) not in self._variables:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column, name]

    def add_resource(self, feature_column, resource_name, resource):
        """Keeps what a column of the program needs beside variables, such as a
        module or a table, in place of one of that name."""
        self._resources[feature_column, resource_name] = resource

    def get_resource(self, feature_column, resource_name):
        """What add_resource was given. ValueError if there is none."""
        if (feature_column, resource_name) not in self._resources:
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column, resource_name]


def check_features(features):
    if not isinstance(features, dict):
        raise ValueError("We expected a dictionary here. Instead we got: %s"
                         % (features,))
    return Features(features)


class ColumnLayer(Layer):
    """A layer whose variables are those of its columns."""

    def __init__(self, feature_columns, kinds, what, trainable, name, **kwargs):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_columns = _inputs.checked(feature_columns, kinds, what,
                                                "FeatureColumn")
        self._state_manager = StateManager(self, trainable)

    def _own(self, variable, trainable):
        weights = (self._trainable_weights if trainable
                   else self._non_trainable_weights)
        weights.append(variable)

    def _build_column(self, column):
        column.create_state(self._state_manager)

    def build(self, input_shape):
        with pure_variable_scope(self.name):
            for column in self._feature_columns:
                with pure_variable_scope(column.name):
                    self._build_column(column)
        super().build(input_shape)

    def get_config(self):
        raise NotImplementedError(
            "%s.get_config is not supported: make the layer anew of its "
            "columns" % type(self).__name__)


class DenseFeatures(ColumnLayer):
    """The layer that maps a dict of features to float32 [batch, width]: what
    the dense columns make of them, as tf.feature_column.input_layer. The
    variables of embeddings are resource variables and the layer's.

    ValueError for categorical columns and two columns of one name."""

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(
            feature_columns, DenseColumn,
            "Items of feature_columns must be a DenseColumn. You can wrap a "
            "categorical column with an embedding_column or indicator_column",
            trainable, name, **kwargs)

    def call(self, features, cols_to_output_tensors=None):
        made = check_features(features)
        outputs = []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = column.get_dense_tensor(made, self._state_manager)
                width = column.variable_shape.num_elements()
                output = _array.reshape(
                    tensor, [_array.shape(tensor)[0], width])
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = output
            outputs.append(output)
        _inputs.check_batches(outputs, self._feature_columns)
        return _array.concat(outputs, -1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], sum(c.variable_shape.num_elements()
                                    for c in self._feature_columns))


class _LinearLayer(ColumnLayer):
    def __init__(self, feature_columns, units, sparse_combiner, trainable,
                 name, **kwargs):
        super().__init__(
            feature_columns, (DenseColumn, CategoricalColumn),
            "Items of feature_columns must be either a DenseColumn or "
            "CategoricalColumn", trainable, name, **kwargs)
        self._units = units
        self._combiner = sparse_combiner
        self.bias = None

    def _build_column(self, column):
        super()._build_column(column)
        self._state_manager.create_variable(
            column, "weights", [_inputs.width_of(column), self._units],
            dtypes.float32, initializer=Zeros())

    def build(self, input_shape):
        super().build(input_shape)
        with pure_variable_scope(self.name):
            self.bias = get_variable(
                "bias_weights", [self._units], dtypes.float32, Zeros(),
                trainable=self.trainable, use_resource=True)
            self._own(self.bias, self.trainable)

    def call(self, features):
        made, state = check_features(features), self._state_manager
        with name_scope(self.name):
            sums = []
            for column in self._feature_columns:
                with name_scope(column.name):
                    sums.append(_inputs.weighted_sum(
                        column, made, state.get_variable(column, "weights"),
                        self._combiner,
                        lambda: column.get_dense_tensor(made, state)))
            _inputs.check_batches(sums, self._feature_columns)
            total = _math.add_n(sums, name="weighted_sum_no_bias")
            return _raw.BiasAdd(value=total, bias=self.bias,
                                name="weighted_sum")


class LinearModel(Model):
    """As tf.feature_column.linear_model, as a model that owns its variables:
    resource variables, `bias` among them."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum",
                 trainable=True, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.layer = _LinearLayer(feature_columns, units, sparse_combiner,
                                  trainable, self.name, **kwargs)

    def call(self, features):
        return self.layer(features)

    bias = property(lambda self: self.layer.bias)


class InputLayer:
    """tf.feature_column.input_layer as an object, for columns whose variables
    are the graph's. All calls share the variables of the first."""

    def __init__(self, feature_columns, weight_collections=None,
                 trainable=True, cols_to_vars=None,
                 name="feature_column_input_layer", create_scope_now=True):
        self._arguments = (feature_columns, weight_collections, trainable,
                           cols_to_vars)
        self.name = name
        self._scope = None
        if create_scope_now:
            self._enter_first()

    def _enter_first(self):
        with variable_scope(None, default_name=self.name) as self._scope:
            pass

    def __call__(self, features):
        first = self._scope is None or not self.variables
        if self._scope is None:
            self._enter_first()
        with variable_scope(self._scope, reuse=None if first else True):
            return _inputs.columns_side_by_side(features, *self._arguments)

    @property
    def variables(self):
        return get_collection(GraphKeys.GLOBAL_VARIABLES,
                              self._scope.name + "/")

    @property
    def trainable_variables(self):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES,
                              self._scope.name + "/")

    weights = property(lambda self: self.variables)
    trainable_weights = property(lambda self: self.trainable_variables)


class LinearModelOfGraph:
    """tf.feature_column.linear_model as an object, for columns whose variables
    are the graph's."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum",
                 weight_collections=None, trainable=True, name=None):
        self._arguments = (feature_columns, units, sparse_combiner,
                           weight_collections, trainable)
        self.name = name or "linear_model"
        self._columns = {}

    def __call__(self, features):
        with variable_scope(get_variable_scope()):
            return _inputs.linear_model(features, *self._arguments,
                                        cols_to_vars=self._columns)

    def cols_to_vars(self):
        """The variables of each column, and under "bias" the bias, after a
        call."""
        return self._columns


def is_feature_column_v2(feature_columns):
    """Whether a layer may own the variables of all these columns."""
    return all(getattr(c, "_is_v2_column", False) for c in feature_columns)
