"""tf.keras.metrics: values that variables accumulate over batches, and
functions that give one value for each example."""
import math

import numpy as np

from headrace import raw_ops as _raw
from headrace._loading import load as _load
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.keras import losses
from headrace._src.layers import backend, initializers
from headrace._src.layers.engine import Layer
from headrace._src.layers.named import get_custom_objects
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.strategies import (
    in_first_replica, loaded_strategies)
from headrace._src.variables.variables import Variable

KLD, MAE, MAPE, MSE, MSLE = (losses.KLD, losses.MAE, losses.MAPE, losses.MSE,
                             losses.MSLE)
kld = kullback_leibler_divergence = losses.kullback_leibler_divergence
mae = mean_absolute_error = losses.mean_absolute_error
mape = mean_absolute_percentage_error = losses.mean_absolute_percentage_error
mse = mean_squared_error = losses.mean_squared_error
msle = mean_squared_logarithmic_error = losses.mean_squared_logarithmic_error
binary_crossentropy = losses.binary_crossentropy
categorical_crossentropy = losses.categorical_crossentropy
sparse_categorical_crossentropy = losses.sparse_categorical_crossentropy
cosine = cosine_proximity = losses.cosine_proximity
hinge, squared_hinge = losses.hinge, losses.squared_hinge
poisson = losses.poisson


def accuracy(y_true, y_pred):
    """1 where both are equal."""
    y_pred = convert_to_tensor(y_pred)
    y_true = _math.cast(y_true, y_pred.dtype.base_dtype)
    return _math.cast(_math.equal(y_true, y_pred), backend.floatx())


def binary_accuracy(y_true, y_pred, threshold=0.5):
    """The share of predictions, 1 above `threshold`, that are right."""
    y_pred = convert_to_tensor(y_pred)
    kind = y_pred.dtype.base_dtype
    y_pred = _math.cast(y_pred > threshold, kind)
    return _math.reduce_mean(_math.cast(_math.equal(
        _math.cast(y_true, kind), y_pred), backend.floatx()), -1)


def categorical_accuracy(y_true, y_pred):
    """1 where the largest prediction is that of the label, which is one-hot."""
    return _math.cast(_math.equal(_math.argmax(y_true, -1),
                                  _math.argmax(y_pred, -1)), backend.floatx())


def _classes(y_true, y_pred):
    rank = y_true.get_shape().ndims
    if rank is not None and rank == y_pred.get_shape().ndims:
        y_true = _array.squeeze(y_true, [-1])
    return y_true


def sparse_categorical_accuracy(y_true, y_pred):
    """1 where the largest prediction is that of the label, a number."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    y_true = _classes(y_true, y_pred)
    found = _math.cast(_math.argmax(y_pred, -1), y_true.dtype.base_dtype)
    return _math.cast(_math.equal(y_true, found), backend.floatx())


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """1 where the label's prediction is among the k largest."""
    return _math.cast(_raw.InTopKV2(y_pred, _math.argmax(y_true, -1),
                                    convert_to_tensor(k, dtype=dtypes.int64)),
                      backend.floatx())


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5):
    """The same for labels that are numbers."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    y_true = _math.cast(_array.reshape(y_true, [-1]), dtypes.int64)
    return _math.cast(_raw.InTopKV2(y_pred, y_true, convert_to_tensor(
        k, dtype=dtypes.int64)), backend.floatx())


class Metric(Layer):
    """A value over many batches. `update_state(...)` is an operation that adds
    a batch, `result()` a tensor of the value, `reset_states()` starts anew. A
    call adds a batch and gives the value after it."""

    def __init__(self, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype or backend.floatx(), **kwargs)
        self.stateful = True
        self.built = True

    def add_weight(self, name, shape=(), aggregation=None,
                   synchronization=None, initializer=None, dtype=None):
        """A variable of the metric, of zeros by default."""
        kind = dtypes.as_dtype(dtype or self.dtype)
        value = np.zeros(shape, kind.as_numpy_dtype)
        if initializer is not None and initializer not in ("zeros", "zero"):
            if not isinstance(initializer, (int, float)):
                raise ValueError("metric %s: initializer must be \"zeros\" or "
                                 "a number, got %s" % (self.name, initializer))
            value += initializer
        start = value if np.any(value) else lambda: _zeros(value.shape, kind)
        made = Variable(start, trainable=False, name=name, use_resource=True,
                        **_modes(synchronization, aggregation))
        self._non_trainable_weights.append(made)
        self.__dict__.setdefault("_starts", []).append((made, value))
        return made

    def update_state(self, *args, **kwargs):
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self):
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_states(self):
        backend.batch_set_value(self.__dict__.get("_starts", []))

    def __call__(self, *args, **kwargs):
        with in_first_replica():
            update = self.update_state(*args, **kwargs)
        with control_dependencies([update]):
            result = _array.identity(self.result())
        result._metric_obj = self
        return result

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


def _modes(synchronization, aggregation):
    """With a strategy, each replica adds to its own variable, and their sum is
    read."""
    strategies = loaded_strategies()
    if strategies is None or not strategies.has_strategy():
        return {}
    return {
        "synchronization": synchronization or VariableSynchronization.ON_READ,
        "aggregation": aggregation or VariableAggregation.SUM}


def _zeros(shape, dtype):
    return initializers.get("zeros")(shape, dtype=dtype)


def _add(variable, value):
    return variable.assign_add(_math.cast(value, variable.dtype.base_dtype)).op


class _Reduce(Metric):
    """Of values: a weighted sum, perhaps over the sum of weights."""

    def __init__(self, name, dtype=None):
        super().__init__(name, dtype)
        self.total = self.add_weight("total")
        self.count = self.add_weight("count")

    def update_state(self, values, sample_weight=None):
        values = _math.cast(values, self.dtype)
        if sample_weight is None:
            number = _math.cast(_array.size(values), self.dtype)
        else:
            ones = _array.ones_like(values)
            number = _math.reduce_sum(losses.weighted(ones, sample_weight))
            values = losses.weighted(values, sample_weight)
        return _flow.group(_add(self.total, _math.reduce_sum(values)),
                           _add(self.count, number))


class Mean(_Reduce):
    """The (weighted) mean of values."""

    def __init__(self, name="mean", dtype=None):
        super().__init__(name, dtype)

    def result(self):
        return _math.div_no_nan(convert_to_tensor(self.total),
                                convert_to_tensor(self.count))


class Sum(_Reduce):
    """The (weighted) sum of values."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(name, dtype)

    def result(self):
        return _array.identity(self.total)


class MeanOfFunction(Mean):
    """The mean of function(y_true, y_pred, **options)."""

    def __init__(self, function, name=None, dtype=None, **options):
        super().__init__(name or function.__name__, dtype)
        self._function = function
        self._function_options = options

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(self._function(
            y_true, y_pred, **self._function_options), sample_weight)

    def get_config(self):
        return {**super().get_config(), **self._function_options}


class Accuracy(MeanOfFunction):
    """How often predictions equal labels."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanOfFunction):
    """The mean of binary_accuracy."""

    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanOfFunction):
    """The mean of categorical_accuracy."""

    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanOfFunction):
    """The mean of sparse_categorical_accuracy."""

    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanOfFunction):
    """The mean of top_k_categorical_accuracy."""

    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanOfFunction):
    """The mean of sparse_top_k_categorical_accuracy."""

    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy",
                 dtype=None):
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)


class BinaryCrossentropy(MeanOfFunction):
    """The mean of binary_crossentropy."""

    def __init__(self, name="binary_crossentropy", dtype=None,
                 from_logits=False, label_smoothing=0):
        super().__init__(binary_crossentropy, name, dtype,
                         from_logits=from_logits,
                         label_smoothing=label_smoothing)


class CategoricalCrossentropy(MeanOfFunction):
    """The mean of categorical_crossentropy."""

    def __init__(self, name="categorical_crossentropy", dtype=None,
                 from_logits=False, label_smoothing=0):
        super().__init__(categorical_crossentropy, name, dtype,
                         from_logits=from_logits,
                         label_smoothing=label_smoothing)


class SparseCategoricalCrossentropy(MeanOfFunction):
    """The mean of sparse_categorical_crossentropy."""

    def __init__(self, name="sparse_categorical_crossentropy", dtype=None,
                 from_logits=False, axis=-1):
        super().__init__(sparse_categorical_crossentropy, name, dtype,
                         from_logits=from_logits, axis=axis)


class CosineSimilarity(MeanOfFunction):
    """The mean of cosine_similarity."""

    def __init__(self, name="cosine_similarity", dtype=None, axis=-1):
        super().__init__(losses.cosine_similarity, name, dtype, axis=axis)


class MeanSquaredError(MeanOfFunction):
    """The mean of mean_squared_error."""

    def __init__(self, name="mean_squared_error", dtype=None):
        super().__init__(mean_squared_error, name, dtype)


class RootMeanSquaredError(Mean):
    """The square root of the mean squared error."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = _math.cast(y_pred, self.dtype)
        return super().update_state(_math.squared_difference(
            y_pred, _math.cast(y_true, self.dtype)), sample_weight)

    def result(self):
        return _math.sqrt(super().result())


class MeanAbsoluteError(MeanOfFunction):
    """The mean of mean_absolute_error."""

    def __init__(self, name="mean_absolute_error", dtype=None):
        super().__init__(mean_absolute_error, name, dtype)


class MeanAbsolutePercentageError(MeanOfFunction):
    """The mean of mean_absolute_percentage_error."""

    def __init__(self, name="mean_absolute_percentage_error", dtype=None):
        super().__init__(mean_absolute_percentage_error, name, dtype)


class MeanSquaredLogarithmicError(MeanOfFunction):
    """The mean of mean_squared_logarithmic_error."""

    def __init__(self, name="mean_squared_logarithmic_error", dtype=None):
        super().__init__(mean_squared_logarithmic_error, name, dtype)


class Hinge(MeanOfFunction):
    """The mean of hinge."""

    def __init__(self, name="hinge", dtype=None):
        super().__init__(hinge, name, dtype)


class SquaredHinge(MeanOfFunction):
    """The mean of squared_hinge."""

    def __init__(self, name="squared_hinge", dtype=None):
        super().__init__(squared_hinge, name, dtype)


class CategoricalHinge(MeanOfFunction):
    """The mean of categorical_hinge."""

    def __init__(self, name="categorical_hinge", dtype=None):
        super().__init__(losses.categorical_hinge, name, dtype)


class Poisson(MeanOfFunction):
    """The mean of poisson."""

    def __init__(self, name="poisson", dtype=None):
        super().__init__(poisson, name, dtype)


class KLDivergence(MeanOfFunction):
    """The mean of kullback_leibler_divergence."""

    def __init__(self, name="kullback_leibler_divergence", dtype=None):
        super().__init__(kullback_leibler_divergence, name, dtype)


class LogCoshError(MeanOfFunction):
    """The mean of logcosh."""

    def __init__(self, name="logcosh", dtype=None):
        super().__init__(losses.logcosh, name, dtype)


# Counts of right and wrong decisions.

_KINDS = {"tp": (True, True), "fn": (True, False), "tn": (False, False),
          "fp": (False, True)}


class Counts(Metric):
    """Counts of decisions, one for each threshold: yes above it."""

    def __init__(self, kinds, thresholds, name, dtype):
        super().__init__(name, dtype)
        self.thresholds = thresholds
        self._limits = [float(t) for t in (
            thresholds if isinstance(thresholds, (list, tuple))
            else [0.5 if thresholds is None else thresholds])]
        for t in self._limits:
            if math.isnan(t) or t < -1e-6 or t > 1 + 1e-6:
                raise ValueError("Threshold values must be in [0, 1]. Invalid "
                                 "values: %s" % [t])
        self._counts = {kind: self.add_weight(
            {"tp": "true_positives", "fn": "false_negatives",
             "tn": "true_negatives", "fp": "false_positives"}[kind],
            [len(self._limits)]) for kind in kinds}

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = _math.cast(y_pred, self.dtype)
        labels = _math.cast(_array.reshape(y_true, [1, -1]), dtypes.bool_)
        limits = constant(np.array(self._limits)[:, np.newaxis],
                          dtypes.as_dtype(self.dtype))
        yes = _math.greater(_array.reshape(y_pred, [1, -1]), limits)
        weights = None
        if sample_weight is not None:
            weights = _array.reshape(losses.weighted(
                _array.ones_like(y_pred), sample_weight), [1, -1])
        done = []
        for kind, variable in self._counts.items():
            is_label, is_yes = _KINDS[kind]
            here = _math.cast(_math.logical_and(
                labels if is_label else _math.logical_not(labels),
                yes if is_yes else _math.logical_not(yes)), self.dtype)
            if weights is not None:
                here *= weights
            done.append(_add(variable, _math.reduce_sum(here, 1)))
        return _flow.group(*done)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.thresholds}

    def _values(self):
        return {k: convert_to_tensor(v) for k, v in self._counts.items()}

    def _shown(self, values):
        return values if isinstance(self.thresholds, (list, tuple)) \
            else values[0]


class _Count(Counts):
    kind = "tp"

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__([self.kind], thresholds, name, dtype)

    def result(self):
        return self._shown(self._values()[self.kind])


class TruePositives(_Count):
    """How many decisions for yes are right."""


class FalsePositives(_Count):
    """How many decisions for yes are wrong."""
    kind = "fp"


class TrueNegatives(_Count):
    """How many decisions for no are right."""
    kind = "tn"


class FalseNegatives(_Count):
    """How many decisions for no are wrong."""
    kind = "fn"


class _Share(Counts):
    other = "fp"

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None,
                 dtype=None):
        if top_k is not None or class_id is not None:
            raise NotImplementedError(
                "%s: top_k and class_id are not supported; select the class "
                "before" % type(self).__name__)
        super().__init__(["tp", self.other], thresholds, name, dtype)

    def get_config(self):
        # The others are as they are by default.
        return {**super().get_config(), "top_k": None, "class_id": None}

    def result(self):
        v = self._values()
        return self._shown(_math.div_no_nan(v["tp"], v["tp"] + v[self.other]))


class Precision(_Share):
    """The share of decisions for yes that are right."""


class Recall(_Share):
    """The share of labels of yes that are found."""
    other = "fn"


def _even(n):
    return [-1e-7] + [(i + 1) / (n - 1) for i in range(n - 2)] + [1 + 1e-7]


class AUC(Counts):
    """The area under the ROC or PR curve, by `num_thresholds` thresholds."""

    def __init__(self, num_thresholds=200, curve="ROC",
                 summation_method="interpolation", name=None, dtype=None,
                 thresholds=None):
        if curve not in ("ROC", "PR"):
            raise ValueError("Invalid AUC curve value \"%s\"." % (curve,))
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError("Invalid AUC summation method value \"%s\"."
                             % (summation_method,))
        if thresholds is None and num_thresholds <= 1:
            raise ValueError("`num_thresholds` must be > 1.")
        limits = _even(num_thresholds) if thresholds is None else (
            [-1e-7] + sorted(thresholds) + [1 + 1e-7])
        super().__init__(["tp", "fn", "tn", "fp"], limits, name, dtype)
        self.num_thresholds = len(limits)
        self.curve, self.summation_method = curve, summation_method

    def get_config(self):
        return {**super().get_config(), "num_thresholds": self.num_thresholds,
                "curve": self.curve, "summation_method": self.summation_method,
                # Without those at both ends, which the constructor adds.
                "thresholds": self._limits[1:-1]}

    def result(self):
        v = self._values()
        tp, fn, tn, fp = (v[k] for k in ("tp", "fn", "tn", "fp"))
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated(tp, fp, fn)
        recall = _math.div_no_nan(tp, tp + fn)
        if self.curve == "ROC":
            x, y = _math.div_no_nan(fp, fp + tn), recall
        else:
            x, y = recall, _math.div_no_nan(tp, tp + fp)
        first, second = y[:-1], y[1:]
        height = {"interpolation": lambda: (first + second) / 2.,
                  "minoring": lambda: _math.minimum(first, second),
                  "majoring": lambda: _math.maximum(first, second)}[
                      self.summation_method]()
        return _math.reduce_sum((x[:-1] - x[1:]) * height)

    @staticmethod
    def _interpolated(tp, fp, fn):
        """Where both counts of positives change linearly between thresholds."""
        change = tp[:-1] - tp[1:]
        p = tp + fp
        slope = _math.div_no_nan(change, _math.maximum(p[:-1] - p[1:], 0.))
        intercept = tp[1:] - slope * p[1:]
        growth = _array.where(
            _math.logical_and(p[:-1] > 0, p[1:] > 0),
            _math.div_no_nan(p[:-1], _math.maximum(p[1:], 0.)),
            _array.ones_like(p[1:]))
        return _math.reduce_sum(_math.div_no_nan(
            slope * (change + intercept * _math.log(growth)),
            _math.maximum(tp[1:] + fn[1:], 0.)))


class MeanIoU(Metric):
    """The mean over classes of intersection over union of labels and
    predictions, which are numbers of classes."""

    def __init__(self, num_classes, name=None, dtype=None):
        super().__init__(name, dtype)
        self.num_classes = num_classes
        self._matrix = self.add_weight("total_confusion_matrix",
                                       [num_classes, num_classes])

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}

    def update_state(self, y_true, y_pred, sample_weight=None):
        flat = [_math.cast(_array.reshape(y, [-1]), dtypes.int64)
                for y in (y_true, y_pred)]
        ones = _array.ones_like(flat[0], dtype=self.dtype)
        if sample_weight is not None:
            ones *= _math.cast(_array.reshape(sample_weight, [-1]), self.dtype)
        n = self.num_classes
        counts = _raw.UnsortedSegmentSum(
            ones, flat[0] * n + flat[1], n * n)
        return _add(self._matrix, _array.reshape(counts, [n, n]))

    def result(self):
        matrix = convert_to_tensor(self._matrix)
        both = _raw.MatrixDiagPart(matrix)
        either = (_math.reduce_sum(matrix, 0) + _math.reduce_sum(matrix, 1)
                  - both)
        known = _math.cast(_math.not_equal(either, 0), self.dtype)
        return _math.div_no_nan(
            _math.reduce_sum(_math.div_no_nan(both, either)),
            _math.reduce_sum(known))


def _known():
    further = _load("_src.keras.further_metrics")
    return {name: value for name, value in {
        **vars(further), **globals()}.items()
            if not name.startswith("_") and (
                isinstance(value, type) and issubclass(value, Metric)
                and value not in (Metric, MeanOfFunction, Counts, Layer)
                or getattr(value, "__module__", "") in (
                    __name__, losses.__name__) and callable(value)
                and not isinstance(value, type)
                and name not in ("get", "serialize", "deserialize"))}


def get(identifier):
    """The metric or function that a name stands for; a callable is itself.
    ValueError for others."""
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret metric function identifier: %s"
                     % (identifier,))


def serialize(metric):
    if isinstance(metric, Metric):
        return {"class_name": type(metric).__name__,
                "config": metric.get_config()}
    return metric.__name__


def deserialize(config, custom_objects=None):
    known = {**_known(), **get_custom_objects(),
             **(custom_objects or {})}
    options = {}
    if isinstance(config, dict):
        config, options = config["class_name"], config.get("config", {})
    if config not in known:
        raise ValueError("Unknown metric function: %s" % (config,))
    found = known[config]
    return found(**options) if isinstance(found, type) else found
