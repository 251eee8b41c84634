"""tf.keras.losses: functions of labels and predictions that give one value for
each example, and classes that reduce these to a scalar."""
from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend
from headrace._src.layers.named import get_custom_objects
from headrace._src.nn import losses as _nn_losses
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.clipping import clip_by_value

REDUCTIONS = ("auto", "none", "sum", "sum_over_batch_size")


def _pair(y_true, y_pred):
    y_pred = convert_to_tensor(y_pred)
    return _math.cast(y_true, y_pred.dtype.base_dtype), y_pred


def _mean(x):
    return _math.reduce_mean(x, -1)


def mean_squared_error(y_true, y_pred):
    """The mean of (y_pred - y_true)^2 over the last dimension, as for all of
    these."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_math.squared_difference(y_pred, y_true))


def mean_absolute_error(y_true, y_pred):
    """The mean of |y_pred - y_true|."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_math.abs(y_pred - y_true))


def _at_least_epsilon(x):
    return _math.maximum(x, convert_to_tensor(
        backend.epsilon(), dtype=x.dtype.base_dtype))


def mean_absolute_percentage_error(y_true, y_pred):
    """100 times the mean of |y_true - y_pred| / |y_true|."""
    y_true, y_pred = _pair(y_true, y_pred)
    return 100. * _mean(_math.abs(
        (y_true - y_pred) / _at_least_epsilon(_math.abs(y_true))))


def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean of (log(y_pred + 1) - log(y_true + 1))^2."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_math.squared_difference(
        _math.log(_at_least_epsilon(y_pred) + 1.),
        _math.log(_at_least_epsilon(y_true) + 1.)))


def _signs(y_true):
    """Labels of 0 and 1 as -1 and 1; labels of -1 and 1 as they are."""
    zeros, ones = _math.equal(y_true, 0), _math.equal(y_true, 1)
    binary = _math.reduce_all(_math.logical_or(zeros, ones))
    return _array.where(
        _array.fill(_array.shape(y_true), binary), 2. * y_true - 1., y_true)


def hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0); labels are -1 and 1, or 0 and
    1."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_math.maximum(1. - _signs(y_true) * y_pred, 0.))


def squared_hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0)^2."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_math.square(_math.maximum(1. - _signs(y_true) * y_pred, 0.)))


def categorical_hinge(y_true, y_pred):
    """max(1 - the prediction of the label + the largest other one, 0)."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = _math.reduce_sum(y_true * y_pred, -1)
    wrong = _math.reduce_max((1. - y_true) * y_pred, -1)
    return _math.maximum(wrong - right + 1., 0.)


def huber_loss(y_true, y_pred, delta=1.0):
    """Half the square up to an error of `delta`, linear beyond it."""
    y_true, y_pred = _pair(y_true, y_pred)
    error = _math.abs(y_pred - y_true)
    quadratic = _math.minimum(error, delta)
    return 0.5 * quadratic * quadratic + delta * (error - quadratic)


def logcosh(y_true, y_pred):
    """The mean of log(cosh(y_pred - y_true))."""
    y_true, y_pred = _pair(y_true, y_pred)
    x = y_pred - y_true
    return _mean(x + _raw.Softplus(-2. * x) - _math.log(
        convert_to_tensor(2., dtype=x.dtype.base_dtype)))


def _logits_of(y_pred, kind):
    """What a Softmax or Sigmoid node had as its input, or None."""
    if isinstance(y_pred, EagerTensor):
        return None
    op = y_pred.op
    while op.type == "Identity":
        op = op.inputs[0].op
    return op.inputs[0] if op.type == kind else None


def categorical_crossentropy(y_true, y_pred, from_logits=False,
                             label_smoothing=0):
    """-sum(y_true * log(y_pred)). `label_smoothing`: that much of each label
    goes to all classes."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        classes = _math.cast(_array.shape(y_true)[-1], y_true.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    logits = y_pred if from_logits else _logits_of(y_pred, "Softmax")
    if logits is not None:
        return _nn_losses.softmax_cross_entropy_with_logits_v2(
            labels=y_true, logits=logits)
    y_pred = y_pred / _math.reduce_sum(y_pred, -1, True)
    return -_math.reduce_sum(y_true * _math.log(_clipped(y_pred)), -1)


def _clipped(p):
    small = backend.epsilon()
    return clip_by_value(p, small, 1. - small)


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False,
                                    axis=-1):
    """-log of the prediction of the class y_true, an integer. The classes are
    in the dimension `axis` of y_pred. ValueError if y_pred, of unknown rank,
    has them in another than the last one."""
    y_pred = convert_to_tensor(y_pred)
    rank = y_pred.get_shape().ndims
    logits = y_pred if from_logits else _logits_of(y_pred, "Softmax")
    if logits is None:
        logits = _math.log(_clipped(y_pred))
    unmoved = logits
    if axis not in (-1, None):
        logits = _with_last(logits, rank, axis)
    y_true = _math.cast(y_true, dtypes.int64)
    if y_true.get_shape().ndims == rank and rank:
        if logits is unmoved:
            y_true = _array.squeeze(y_true, [-1])
        else:  # labels have size 1 in `axis`
            y_true = _array.reshape(y_true, _array.shape(logits)[:-1])
    return _nn_losses.sparse_softmax_cross_entropy_with_logits(
        labels=y_true, logits=logits)


def _with_last(x, rank, axis):
    """`x`, of `rank` dimensions, with the dimension `axis` moved to the end."""
    if rank is None:
        raise ValueError("sparse_categorical_crossentropy: axis=%s needs "
                         "predictions whose rank is known, got %s" % (axis, x))
    order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
    return x if order == list(range(rank)) else _array.transpose(x, order)


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0):
    """The mean of -y_true * log(y_pred) - (1 - y_true) * log(1 - y_pred)."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    logits = y_pred if from_logits else _logits_of(y_pred, "Sigmoid")
    if logits is not None:
        return _mean(_nn_losses.sigmoid_cross_entropy_with_logits(
            labels=y_true, logits=logits))
    p, small = _clipped(y_pred), backend.epsilon()
    return _mean(-(y_true * _math.log(p + small)
                   + (1 - y_true) * _math.log(1 - p + small)))


def kullback_leibler_divergence(y_true, y_pred):
    """sum(y_true * log(y_true / y_pred))."""
    y_true, y_pred = _pair(y_true, y_pred)
    small = backend.epsilon()
    y_true = clip_by_value(y_true, small, 1.)
    y_pred = clip_by_value(y_pred, small, 1.)
    return _math.reduce_sum(y_true * _math.log(y_true / y_pred), -1)


def poisson(y_true, y_pred):
    """The mean of y_pred - y_true * log(y_pred)."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(y_pred - y_true * _math.log(y_pred + backend.epsilon()))


def _unit(x, axis):
    squares = _math.reduce_sum(_math.square(x), axis, True)
    return x * _math.rsqrt(_math.maximum(squares, 1e-12))


def cosine_proximity(y_true, y_pred, axis=-1):
    """The cosine of the angle between both."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _math.reduce_sum(_unit(y_true, axis) * _unit(y_pred, axis), axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity


class Loss:
    """A loss: `call(y_true, y_pred)` gives one value for each example, a call
    of the object their mean. `reduction`: "sum_over_batch_size" (that of
    "auto"), "sum" or "none"."""

    def __init__(self, reduction="auto", name=None):
        if reduction not in REDUCTIONS:
            raise ValueError("Invalid Reduction Key %s." % (reduction,))
        self.reduction = reduction
        self.name = name

    def call(self, y_true, y_pred):
        raise NotImplementedError("Must be implemented in subclasses.")

    def __call__(self, y_true, y_pred, sample_weight=None):
        return reduced(self.call(y_true, y_pred), sample_weight,
                       self.reduction)

    def get_config(self):
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def weighted(values, sample_weight):
    """values * sample_weight; the weights may lack dimensions at the end."""
    values = convert_to_tensor(values)
    if sample_weight is None:
        return values
    weights = _math.cast(sample_weight, values.dtype.base_dtype)
    rank, mine = values.get_shape().ndims, weights.get_shape().ndims
    if rank is not None and mine is not None:
        if mine == rank + 1:
            weights = _array.squeeze(weights, [-1])
        for _ in range(rank - mine if mine else 0):
            weights = _array.expand_dims(weights, -1)
    return _math.multiply(values, weights, name="Mul")


def reduced(values, sample_weight=None, reduction="auto"):
    with name_scope("weighted_loss"):
        values = weighted(values, sample_weight)
    if reduction == "none":
        return values
    total = _math.reduce_sum(values)
    if reduction == "sum":
        return total
    size = _array.size(values, name="num_elements")
    with name_scope("num_elements" if isinstance(size, EagerTensor)
                    else size.op.name + "/"):
        size = _math.cast(size, total.dtype)
    return _math.div_no_nan(total, size, name="value")


class _OfFunction(Loss):
    """A loss of one of the functions above, with options of its own."""
    function: object

    def __init__(self, reduction, name, **options):
        super().__init__(reduction, name)
        self._options = options

    def call(self, y_true, y_pred):
        return type(self).function(y_true, y_pred, **self._options)

    def get_config(self):
        return {**super().get_config(), **self._options}


class BinaryCrossentropy(_OfFunction):
    """See binary_crossentropy."""
    function = staticmethod(binary_crossentropy)

    def __init__(self, from_logits=False, label_smoothing=0, reduction="auto",
                 name="binary_crossentropy"):
        super().__init__(reduction, name, from_logits=from_logits,
                         label_smoothing=label_smoothing)


class CategoricalCrossentropy(_OfFunction):
    """See categorical_crossentropy."""
    function = staticmethod(categorical_crossentropy)

    def __init__(self, from_logits=False, label_smoothing=0, reduction="auto",
                 name="categorical_crossentropy"):
        super().__init__(reduction, name, from_logits=from_logits,
                         label_smoothing=label_smoothing)


class SparseCategoricalCrossentropy(_OfFunction):
    """See sparse_categorical_crossentropy."""
    function = staticmethod(sparse_categorical_crossentropy)

    def __init__(self, from_logits=False, reduction="auto",
                 name="sparse_categorical_crossentropy"):
        super().__init__(reduction, name, from_logits=from_logits)


class Huber(_OfFunction):
    """See tf.losses.huber_loss."""
    function = staticmethod(huber_loss)

    def __init__(self, delta=1.0, reduction="auto", name="huber_loss"):
        super().__init__(reduction, name, delta=delta)


class CosineSimilarity(_OfFunction):
    """-cosine_similarity: less is more alike."""

    def __init__(self, axis=-1, reduction="auto", name="cosine_similarity"):
        super().__init__(reduction, name, axis=axis)

    @staticmethod
    def function(y_true, y_pred, axis):
        return -cosine_similarity(y_true, y_pred, axis)


class MeanSquaredError(_OfFunction):
    """See mean_squared_error."""
    function = staticmethod(mean_squared_error)

    def __init__(self, reduction="auto", name="mean_squared_error"):
        super().__init__(reduction, name)


class MeanAbsoluteError(_OfFunction):
    """See mean_absolute_error."""
    function = staticmethod(mean_absolute_error)

    def __init__(self, reduction="auto", name="mean_absolute_error"):
        super().__init__(reduction, name)


class MeanAbsolutePercentageError(_OfFunction):
    """See mean_absolute_percentage_error."""
    function = staticmethod(mean_absolute_percentage_error)

    def __init__(self, reduction="auto",
                 name="mean_absolute_percentage_error"):
        super().__init__(reduction, name)


class MeanSquaredLogarithmicError(_OfFunction):
    """See mean_squared_logarithmic_error."""
    function = staticmethod(mean_squared_logarithmic_error)

    def __init__(self, reduction="auto",
                 name="mean_squared_logarithmic_error"):
        super().__init__(reduction, name)


class Hinge(_OfFunction):
    """See hinge."""
    function = staticmethod(hinge)

    def __init__(self, reduction="auto", name="hinge"):
        super().__init__(reduction, name)


class SquaredHinge(_OfFunction):
    """See squared_hinge."""
    function = staticmethod(squared_hinge)

    def __init__(self, reduction="auto", name="squared_hinge"):
        super().__init__(reduction, name)


class CategoricalHinge(_OfFunction):
    """See categorical_hinge."""
    function = staticmethod(categorical_hinge)

    def __init__(self, reduction="auto", name="categorical_hinge"):
        super().__init__(reduction, name)


class Poisson(_OfFunction):
    """See poisson."""
    function = staticmethod(poisson)

    def __init__(self, reduction="auto", name="poisson"):
        super().__init__(reduction, name)


class LogCosh(_OfFunction):
    """See logcosh."""
    function = staticmethod(logcosh)

    def __init__(self, reduction="auto", name="logcosh"):
        super().__init__(reduction, name)


class KLDivergence(_OfFunction):
    """See kullback_leibler_divergence."""
    function = staticmethod(kullback_leibler_divergence)

    def __init__(self, reduction="auto", name="kullback_leibler_divergence"):
        super().__init__(reduction, name)


def _known():
    return {name: value for name, value in globals().items()
            if not name.startswith("_") and callable(value)
            and name not in ("convert_to_tensor", "clip_by_value", "get",
                             "serialize", "deserialize", "weighted", "reduced")}


def get(identifier):
    """The loss that a name stands for; a callable is itself, None is None.
    ValueError for others."""
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    raise ValueError("Could not interpret loss function identifier: %s"
                     % (identifier,))


def serialize(loss):
    if hasattr(loss, "get_config"):
        return {"class_name": type(loss).__name__, "config": loss.get_config()}
    return loss.__name__


def deserialize(name, custom_objects=None):
    known = {**_known(), **get_custom_objects(),
             **(custom_objects or {})}
    config = {}
    if isinstance(name, dict):
        name, config = name["class_name"], name.get("config", {})
    if name not in known:
        raise ValueError("Unknown loss function:%s" % (name,))
    found = known[name]
    return found(**config) if isinstance(found, type) else found
