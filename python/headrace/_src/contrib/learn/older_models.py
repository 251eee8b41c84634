"""tf.contrib.learn: models of functions, and the ops of tf.contrib.learn.ops."""
from headrace._src.contrib import metric_map as _means
from headrace._src.contrib import metrics as _metrics
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.contrib.learn.keys import MetricKey, ProblemType
from headrace._src.contrib.learn.model_fn import ModeKeys, ModelFnOps
from headrace._src.framework import dtypes
from headrace._src.framework.graph import get_default_graph, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.losses import losses as _losses
from headrace._src.nn.activations import softmax, xw_plus_b
from headrace._src.nn.embeddings import embedding_lookup as _lookup
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.summary import histogram
from headrace._src.variables.initializers import random_normal_initializer
from headrace._src.variables.scopes import (
    get_variable, get_variable_scope, variable_scope)


def mean_squared_error_regressor(tensor_in, labels, weights, biases, name=None):
    """(predictions, mean squared error) of float tensor_in @ weights + biases."""
    with name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = xw_plus_b(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = _array.squeeze(predictions, axis=[1])
        return predictions, _losses.mean_squared_error(labels, predictions)


def softmax_classifier(tensor_in, labels, weights, biases, class_weight=None,
                       name=None):
    """(probabilities, cross entropy) of the logits tensor_in @ weights + biases,
    times class_weight; labels are one-hot."""
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = _math.multiply(logits, class_weight)
        return softmax(logits), _losses.softmax_cross_entropy(labels, logits)


def embedding_lookup(params, ids, name="embedding_lookup"):
    """Rows of a matrix for ids of any shape."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert_to_tensor(params), convert_to_tensor(ids)
        shape = _array.shape(ids)
        flat = _array.reshape(ids, _math.reduce_prod(shape, keepdims=True))
        found = _array.reshape(_lookup(params, flat),
                               _array.concat([shape, [-1]], 0))
        found.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return found


def categorical_variable(tensor_in, n_classes, embedding_size, name):
    """Embeddings, of a variable in the scope `name`, for ids of any shape."""
    with variable_scope(name):
        return embedding_lookup(get_variable(
            name + "_embeddings", [n_classes, embedding_size]), tensor_in)


def _parameters(x, y, size, init_mean, init_stddev):
    """The variables weights and bias, with summaries of them and of the data."""
    scope = get_variable_scope().name
    histogram(scope + ".x", x)
    histogram(scope + ".y", y)
    dtype = x.dtype.base_dtype
    options = {"dtype": dtype}
    if init_mean is not None:
        options["initializer"] = random_normal_initializer(
            init_mean, init_stddev, dtype=dtype)
    return (get_variable("weights", [x.get_shape()[1], size], **options),
            get_variable("bias", [size], **options))


def linear_regression(x, y, init_mean=None, init_stddev=1.0):
    """(predictions, mean squared error) of a linear model of float x [batch, n] for
    y [batch] or [batch, m]."""
    with variable_scope("linear_regression") as scope:
        size = 1 if len(y.get_shape()) == 1 else y.get_shape()[1]
        weights, bias = _parameters(x, y, size, init_mean, init_stddev)
        histogram(scope.name + ".weights", weights)
        histogram(scope.name + ".bias", bias)
        return mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(x, y, class_weight=None, init_mean=None,
                        init_stddev=1.0):
    """(probabilities, cross entropy) of a linear model of float x [batch, n] for
    one-hot y. Without class_weight that is the tensor class_weight:0 of the
    graph, if there is one."""
    with variable_scope("logistic_regression") as scope:
        weights, bias = _parameters(x, y, y.get_shape()[-1], init_mean,
                                    init_stddev)
        histogram(scope.name + ".weights", weights)
        histogram(scope.name + ".bias", bias)
        if class_weight is None:
            try:
                class_weight = get_default_graph().get_tensor_by_name(
                    "class_weight:0")
            except KeyError:
                pass
        return softmax_classifier(x, y, weights, bias,
                                  class_weight=class_weight)


def linear_regression_zero_init(x, y):
    """linear_regression that begins with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x, y):
    """logistic_regression that begins with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _logistic_metrics(labels, predictions, thresholds):
    if isinstance(labels, dict) and len(labels) == 1:
        labels = next(iter(labels.values()))
    found = {
        MetricKey.PREDICTION_MEAN: _means.streaming_mean(predictions),
        MetricKey.LABEL_MEAN: _means.streaming_mean(labels),
        MetricKey.ACCURACY_BASELINE: _means.streaming_mean(labels),
        MetricKey.AUC: _metrics.streaming_auc(labels=labels,
                                              predictions=predictions)}
    for at in thresholds:
        made = _math.cast(_math.greater_equal(predictions, at), dtypes.float32,
                          name="predictions_at_threshold_%f" % at)
        for key, metric in (
                (MetricKey.ACCURACY_MEAN, _means.streaming_accuracy),
                (MetricKey.PRECISION_MEAN, _means.streaming_precision),
                (MetricKey.RECALL_MEAN, _means.streaming_recall)):
            found[key % at] = metric(labels=labels, predictions=made)
    return found


def LogisticRegressor(model_fn, thresholds=None, model_dir=None, config=None,
                      feature_engineering_fn=None):
    """An Estimator with the metrics of two classes. `model_fn(features, labels,
    mode)` gives probabilities, loss and training op; labels are 0 and 1 of the
    probabilities' shape. ValueError for another result of model_fn."""
    def with_metrics(features, labels, mode, params):
        predictions, loss, train_op = model_fn(features, labels, mode)
        return ModelFnOps(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops=_logistic_metrics(
                labels, predictions, params["thresholds"] or [.5])
            if mode == ModeKeys.EVAL else None,
            output_alternatives={"head": (ProblemType.LOGISTIC_REGRESSION,
                                          {"predictions": predictions})})
    return Estimator(
        model_fn=with_metrics, model_dir=model_dir, config=config,
        params={"thresholds": thresholds},
        feature_engineering_fn=feature_engineering_fn)
