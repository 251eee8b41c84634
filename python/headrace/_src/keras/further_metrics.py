"""tf.keras.metrics: more values that variables accumulate over batches."""
import numpy as np

from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.keras import losses, metrics
from headrace._src.layers import backend
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class MeanRelativeError(metrics.Mean):
    """The mean of |y_true - y_pred| / normalizer, 0 where the normalizer is 0.
    `normalizer`: numbers of a shape that broadcasts to the predictions. The
    result is a scalar of `dtype`, by default floatx. ValueError for shapes that
    do not fit."""

    def __init__(self, normalizer, name=None, dtype=None):
        super().__init__(name, dtype)
        self.normalizer = normalizer

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred, normalizer = (
            _math.cast(x, self.dtype)
            for x in (y_true, y_pred, self.normalizer))
        y_pred.get_shape().assert_is_compatible_with(y_true.get_shape())
        return super().update_state(_math.div_no_nan(
            _math.abs(y_true - y_pred), normalizer), sample_weight)

    def get_config(self):
        return {**super().get_config(),
                "normalizer": np.asarray(self.normalizer)}


class MeanTensor(metrics.Metric):
    """The (weighted) mean of values at each place: numbers of any shape, that
    of the first batch, as `dtype`, by default floatx. ValueError for values of
    another shape, and for a result before there are values."""

    def __init__(self, name="mean_tensor", dtype=None):
        super().__init__(name, dtype)
        self._shape = None
        self.total = self.count = None

    def update_state(self, values, sample_weight=None):
        values = _math.cast(values, self.dtype)
        shape = values.get_shape()
        if self._shape is None:
            self._shape = TensorShape(shape)
            sizes = shape.as_list()
            self.total = self.add_weight("total", sizes)
            self.count = self.add_weight("count", sizes)
            backend.get_session()  # which initializes them
        elif shape.as_list() != self._shape.as_list():
            raise ValueError(
                "MeanTensor input values must always have the same shape. "
                "Expected shape (set during the first call): %s. Got: %s"
                % (self._shape, shape))
        number = _array.ones_like(values)
        if sample_weight is not None:
            number = losses.weighted(number, sample_weight)
            values = losses.weighted(values, sample_weight)
        return _flow.group(self.total.assign_add(values).op,
                           self.count.assign_add(number).op)

    def result(self):
        if self._shape is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the "
                "MeanTensor instance or use `.update_state(value)` before "
                "retrieving the result.")
        return _math.div_no_nan(convert_to_tensor(self.total),
                                convert_to_tensor(self.count))

    def __call__(self, *args, **kwargs):
        with control_dependencies([self.update_state(*args, **kwargs)]):
            return _array.identity(self.result())


class _AtBest(metrics.Counts):
    """A share of true predictions at the threshold where another share is
    nearest to `value`."""

    def __init__(self, what, value, num_thresholds, name, dtype):
        if not 0 <= value <= 1:
            raise ValueError("`%s` must be in the range [0, 1]." % what)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        limits = [.5] if num_thresholds == 1 else [
            i / (num_thresholds - 1) for i in range(num_thresholds)]
        super().__init__(["tp", "tn", "fp", "fn"], limits, name, dtype)
        setattr(self, what, value)
        self._what, self._value = what, value
        self.num_thresholds = num_thresholds

    def _shares(self):
        """(sensitivities, specificities) at the thresholds."""
        v = self._values()
        return (_math.div_no_nan(v["tp"], v["tp"] + v["fn"]),
                _math.div_no_nan(v["tn"], v["tn"] + v["fp"]))

    def _at_best(self, given, wanted):
        place = _math.argmin(_math.abs(given - self._value), 0)
        return _array.gather(wanted, place)

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype,
                "num_thresholds": self.num_thresholds,
                self._what: self._value}


class SensitivityAtSpecificity(_AtBest):
    """The share of positives that are found at the one of num_thresholds where
    the share of negatives that are is nearest to `specificity`. Labels and
    predictions are numbers from 0 to 1 of one shape; the result is a scalar of
    `dtype`, by default floatx. ValueError for a specificity outside of [0,
    1]."""

    def __init__(self, specificity, num_thresholds=200, name=None, dtype=None):
        super().__init__("specificity", specificity, num_thresholds, name,
                         dtype)

    def result(self):
        sensitivities, specificities = self._shares()
        return self._at_best(specificities, sensitivities)


class SpecificityAtSensitivity(_AtBest):
    """The share of negatives that are found at the one of num_thresholds where
    the share of positives that are is nearest to `sensitivity`. Labels and
    predictions are numbers from 0 to 1 of one shape; the result is a scalar of
    `dtype`, by default floatx. ValueError for a sensitivity outside of [0,
    1]."""

    def __init__(self, sensitivity, num_thresholds=200, name=None, dtype=None):
        super().__init__("sensitivity", sensitivity, num_thresholds, name,
                         dtype)

    def result(self):
        sensitivities, specificities = self._shares()
        return self._at_best(sensitivities, specificities)
