"""tf.contrib.sparsemax: a softmax that gives zeros, and its loss."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def sparsemax(logits, name=None):
    """The nearest probabilities to each row of `logits`, half, float32 or
    float64 [rows, classes]: max(logits - a number of the row, 0), whose sums are
    1. A row with NaN, or without anything but -inf, gives NaN. TypeError for
    other types; ValueError for another rank."""
    with name_scope(name, "sparsemax", [logits]):
        z = convert_to_tensor(logits, name="logits")
        dtype = z.dtype.base_dtype
        rows, classes = _array.shape(z)[0], _array.shape(z)[1]
        ordered, _ = _raw.TopKV2(z, classes)
        sums = _math.cumsum(ordered, axis=1)
        k = _math.range(1, _math.cast(classes, dtype) + 1, dtype=dtype)
        above = 1 + k * ordered > sums
        # How many classes of each row are not 0.
        count = _math.reduce_sum(_math.cast(above, dtypes.int32), axis=1)
        places = _array.stack(
            [_math.range(0, rows), _math.maximum(count, 1) - 1], axis=1)
        threshold = (_array.gather_nd(sums, places) - 1) / _math.cast(count,
                                                                      dtype)
        found = _math.maximum(_math.cast(0, dtype),
                              z - threshold[:, None])
        is_bad = _math.logical_or(_math.equal(count, 0),
                                  _raw.IsNan(sums[:, -1]))
        return _array.where(is_bad, _array.fill(
            [rows, classes], _math.cast(float("nan"), dtype)), found)


def sparsemax_loss(logits, sparsemax, labels, name=None):
    """The loss [rows] of probabilities `sparsemax`, which sparsemax(logits)
    gave, for the true ones `labels`, all half, float32 or float64 [rows,
    classes]. TypeError for other types; ValueError for other shapes."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        z = convert_to_tensor(logits, name="logits")
        p = convert_to_tensor(sparsemax, name="sparsemax")
        q = convert_to_tensor(labels, name="labels")
        # Where both are 0, an infinite logit would give NaN.
        of_p = _array.where(_math.logical_or(p > 0, _raw.IsNan(p)),
                            p * (z - .5 * p), _array.zeros_like(p))
        of_q = _array.where(
            _math.logical_and(_math.equal(q, 0), _raw.IsInf(z)),
            _array.zeros_like(z), q * (.5 * q - z))
        return _math.reduce_sum(of_p + of_q, axis=1)
