"""tf.contrib.learn: what the estimators of networks, of linear models and of both
have in common."""
from headrace._src.contrib.columns.base import FeatureColumn
from headrace._src.contrib.columns.embedding import EmbeddingColumn
from headrace._src.contrib.columns.inputs import input_from_feature_columns
from headrace._src.contrib.layers import dropout as dropout_layer
from headrace._src.contrib.layers import fully_connected
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.contrib.learn.keys import PredictionKey
from headrace._src.contrib.learn.metric_spec import MetricSpec
from headrace._src.contrib.learn.model_fn import ModeKeys
from headrace._src.feature_column import inputs as _core
from headrace._src.framework.graph import get_collection
from headrace._src.nn import activations as _nn
from headrace._src.ops import math_ops as _math
from headrace._src.training import summary as _summary
from headrace._src.variables.partitioners import min_max_variable_partitioner
from headrace._src.variables.scopes import variable_scope

_ACTIVATIONS = {"relu": _nn.relu, "tanh": _math.tanh, "sigmoid": _math.sigmoid}
SLICE = 64 << 20  # bytes: a smaller variable is not divided


def activation_of(activation_fn):
    """A function, or that of a name. ValueError for other names."""
    if not isinstance(activation_fn, str):
        return activation_fn
    if activation_fn not in _ACTIVATIONS:
        raise ValueError(
            "Activation name should be one of [%s], you provided %s."
            % (", ".join(_ACTIVATIONS), activation_fn))
    return _ACTIVATIONS[activation_fn]


def features_of(features):
    """A dict of the features; one tensor has the name ""."""
    return features if isinstance(features, dict) else {"": features}


def made_optimizer(optimizer):
    """An optimizer, or what a function gives."""
    return optimizer() if callable(optimizer) else optimizer


def of_contrib(feature_columns):
    """Whether all are columns of tf.contrib.layers, not of tf.feature_column."""
    return all(isinstance(c, FeatureColumn) for c in feature_columns)


def num_ps_replicas(config):
    """How many parameter servers divide variables."""
    return config.num_ps_replicas if config else 0


def dnn_scope(features, servers):
    """The variable scope of a network."""
    return variable_scope(
        "dnn", values=list(features.values()),
        partitioner=min_max_variable_partitioner(max_partitions=servers))


def network(features, columns, mode, head, hidden_units, activation_fn, dropout,
            input_partitioner, summarise):
    """(logits of a network, the scope of its input), in the scope "dnn". Its
    variables are in the collection "dnn". `summarise(value, tag)`: of each
    layer."""
    with variable_scope("input_from_feature_columns",
                        values=list(features.values()),
                        partitioner=input_partitioner) as input_scope:
        if of_contrib(columns):
            net = input_from_feature_columns(
                columns_to_tensors=features, feature_columns=columns,
                weight_collections=["dnn"], scope=input_scope)
        else:
            net = _core.input_layer(features=features, feature_columns=columns,
                                    weight_collections=["dnn"])
    for i, units in enumerate(hidden_units):
        with variable_scope("hiddenlayer_%d" % i, values=(net,)) as scope:
            net = fully_connected(
                net, units, activation_fn=activation_fn,
                variables_collections=["dnn"], scope=scope)
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = dropout_layer(net, keep_prob=(1.0 - dropout))
        summarise(net, scope.name)
    with variable_scope("logits", values=(net,)) as scope:
        logits = fully_connected(
            net, head.logits_dimension, activation_fn=None,
            variables_collections=["dnn"], scope=scope)
    summarise(logits, scope.name)
    return logits, input_scope


def summary_of(separator):
    """The function that summarises a layer, whose tags have this separator."""
    def summarise(value, tag):
        _summary.scalar("%s%sfraction_of_zero_values" % (tag, separator),
                        _nn.zero_fraction(value))
        _summary.histogram("%s%sactivation" % (tag, separator), value)
    return summarise


def gradient_multipliers(multipliers, input_scope):
    """{variable: factor} of {embedding column: factor}, or None. ValueError for
    other columns and for one without a variable."""
    if not multipliers:
        return None
    found = {}
    for column, factor in multipliers.items():
        if not isinstance(column, EmbeddingColumn):
            raise ValueError(
                "learning rate multipler can only be defined for embedding "
                "columns. It is defined for {}".format(column))
        variables = get_collection("dnn", input_scope.name + "/" + column.name)
        if not variables:
            raise ValueError("Couldn't find a variable for column {}".format(
                column))
        found.update(dict.fromkeys(variables, factor))
    return found


def _of_key(predictions, key, as_iterable):
    return ((p[key] for p in predictions) if as_iterable
            else predictions[key])


class Classifier(Estimator):
    """An estimator whose head gives classes and probabilities."""

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None,
                as_iterable=True):
        """Without `outputs` predict_classes, else Estimator's."""
        if not outputs:
            return self.predict_classes(
                x=x, input_fn=input_fn, batch_size=batch_size,
                as_iterable=as_iterable)
        return super().predict(
            x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs,
            as_iterable=as_iterable)

    def _predict(self, key, x, input_fn, batch_size, as_iterable):
        return _of_key(super().predict(
            x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key],
            as_iterable=as_iterable), key, as_iterable)

    def predict_classes(self, x=None, input_fn=None, batch_size=None,
                        as_iterable=True):
        """An iterator over the classes, int64 or strings; with as_iterable False
        an array of one batch."""
        found = self._predict(PredictionKey.CLASSES, x, input_fn, batch_size,
                              as_iterable)
        return found if as_iterable else found.reshape(-1)

    def predict_proba(self, x=None, input_fn=None, batch_size=None,
                      as_iterable=True):
        """An iterator over the probabilities, float32 [classes]; with
        as_iterable False an array of one batch."""
        return self._predict(PredictionKey.PROBABILITIES, x, input_fn,
                             batch_size, as_iterable)


class Regressor(Estimator):
    """An estimator whose head gives scores."""

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None,
                as_iterable=True):
        """Without `outputs` predict_scores, else Estimator's."""
        if not outputs:
            return self.predict_scores(
                x=x, input_fn=input_fn, batch_size=batch_size,
                as_iterable=as_iterable)
        return super().predict(
            x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs,
            as_iterable=as_iterable)

    def predict_scores(self, x=None, input_fn=None, batch_size=None,
                       as_iterable=True):
        """An iterator over the scores, float32; with as_iterable False an array
        of one batch."""
        key = PredictionKey.SCORES
        return _of_key(super().predict(
            x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key],
            as_iterable=as_iterable), key, as_iterable)


class ScoresRegressor(Regressor):
    """A Regressor whose metrics without a key are of the scores."""

    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None,
                 batch_size=None, steps=None, metrics=None, name=None,
                 checkpoint_path=None, hooks=None):
        """Estimator's. A metric that is a function under one name is of the
        scores."""
        keyed = {
            key if isinstance(metric, MetricSpec) or isinstance(key, tuple)
            else (key, PredictionKey.SCORES): metric
            for key, metric in (metrics or {}).items()}
        return super().evaluate(
            x=x, y=y, input_fn=input_fn, feed_fn=feed_fn,
            batch_size=batch_size, steps=steps, metrics=keyed, name=name,
            checkpoint_path=checkpoint_path, hooks=hooks)
