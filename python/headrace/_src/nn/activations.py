"""tf.nn: activations, softmax, dropout, top_k."""
import numbers

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import cond
from headrace._src.framework import dtypes
from headrace._src.framework.errors import InvalidArgumentError
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.ops.array_ops import _renamed


def relu(features, name=None):
    """max(x, 0), elementwise.

    `features`: real numbers (float16 to float64, bfloat16, integers), of any
    shape. The result has its type and shape. TypeError for strings, bools and
    complex numbers."""
    return _raw.Relu(features, name=name)


def relu6(features, name=None):
    """min(max(x, 0), 6), elementwise.

    `features`: real numbers of any shape. The result has its type and shape.
    TypeError for strings, bools and complex numbers."""
    with name_scope(name, "Relu6", [features]) as scope:
        return _raw.Relu6(features, name=scope)


def leaky_relu(features, alpha=0.2, name=None):
    """x where positive, alpha * x elsewhere.

    `features`: float16, bfloat16, float32 or float64, of any shape; the result
    has its type and shape; integers become float32. TypeError for other types.
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = _math.cast(features, dtypes.float32)
        return _raw.LeakyRelu(features, alpha=alpha, name=scope)


def crelu(features, name=None, axis=-1):
    """relu of x and of -x, joined along `axis`."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        both = _array.concat([features, -features], axis, name=scope)
        return relu(both)


def swish(features):
    """x sigmoid(x)."""
    features = convert_to_tensor(features, name="features")
    return features * _raw.Sigmoid(features)


def _softmax(op, logits, axis, dim, default, name):
    axis = _renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    logits = convert_to_tensor(logits)
    n = logits._rank()
    if n is not None and axis != -1 and not -n <= axis < n:
        raise InvalidArgumentError(
            None, None, "Dimension (%d) must be in the range [%d, %d) where %d "
            "is the number of dimensions in the input." % (axis, -n, n, n))
    if axis == -1 or (n is not None and axis == n - 1):
        return op(logits, name=name)
    if n is None:
        raise ValueError("%s over axis %d needs a known rank" % (default, axis))
    # The last dimension and `axis` change places, by TensorFlow's nodes.
    rank = _array.rank(logits)
    axis = (axis + rank if axis < 0 else axis) % n
    whole_rank = _array.rank(logits)
    out = op(_swapped(logits, axis, _raw.Sub(whole_rank, 1)))
    out = _swapped(out, axis, _raw.Sub(whole_rank, 1), name)
    out.set_shape(logits.get_shape())
    return out


def _swapped(x, axis, last, name=None):
    order = _array.concat([_math.range(axis), [last],
                           _math.range(axis + 1, last), [axis]], 0)
    return _array.transpose(x, order, name=name or "transpose")


def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along `axis`, the last by default.

    `logits`: float16, bfloat16, float32 or float64, at least [classes]. The
    result has its type and shape, and sums up to 1 along `axis`. TypeError for
    other types; ValueError, or InvalidArgumentError for what is known only in
    the run, for an axis that is out of range."""
    return _softmax(_raw.Softmax, logits, axis, dim, "Softmax", name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """x - log(sum(exp(x))) along `axis`, the last by default.

    `logits`: float16, bfloat16, float32 or float64, at least [classes]. The
    result has its type and shape. TypeError for other types; ValueError, or
    InvalidArgumentError for what is known only in the run, for an axis that is
    out of range."""
    return _softmax(_raw.LogSoftmax, logits, axis, dim, "LogSoftmax", name)


def bias_add(value, bias, data_format=None, name=None):
    """value + bias, a vector along the channels.

    `value`: numbers, at least [batch, channels]; with data_format "NCHW" the
    channels are dimension 1. `bias`: [channels], of the same type. The result
    has the shape and type of `value`. ValueError if the sizes differ, `bias` is
    no vector, or the data format is another; TypeError or ValueError for
    different types."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError("data_format must be of the form `N...C` or "
                                 "`NC...`")
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype,
                                 name="bias")
        return _raw.BiasAdd(value, bias, data_format=data_format, name=scope)


def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases.

    x: [batch, in]; `weights`: [in, out]; `biases`: [out]; all of one type,
    float16, bfloat16, float32 or float64, as is the result [batch, out].
    ValueError for shapes that do not fit; TypeError for different types."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(_math.matmul(x, weights), biases, name=scope)


def relu_layer(x, weights, biases, name=None):
    """relu(matmul(x, weights) + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return _raw.Relu(bias_add(_math.matmul(x, weights), biases),
                         name=scope)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None,
            rate=None):
    """x with a share `rate` (1 - keep_prob) of its elements set to 0 and the
    others scaled up by as much. `noise_shape`: 1 where a dimension shares its
    fate.

    `x`: float16, bfloat16, float32 or float64, of any shape, which the result
    has too. `noise_shape`: int32 [rank]. `rate` is a number in [0, 1) or a
    scalar tensor. ValueError for x of another type, for a rate out of range,
    for both `rate` and `keep_prob`, and for neither."""
    if keep_prob is not None:
        if rate is not None and rate != 1 - keep_prob:
            raise ValueError("Cannot specify both 'keep_prob' and 'rate'")
        rate = 1 - keep_prob
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("x has to be a floating point tensor since it's "
                             "going to be scaled. Got a %s tensor instead."
                             % x.dtype)
        if isinstance(rate, numbers.Real):
            if not 0 <= rate < 1:
                raise ValueError("rate must be a scalar tensor or a float in "
                                 "the range [0, 1), got %g" % rate)
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        if noise_shape is None:
            noise_shape = _array.shape(x)
        elif isinstance(noise_shape, (list, tuple)) and None in noise_shape:
            static = x.get_shape().as_list()
            noise_shape = [s if n is None else n
                           for n, s in zip(noise_shape, static)]
        noise = _random.random_uniform(noise_shape, seed=seed,
                                       dtype=x.dtype.base_dtype)
        keep = 1 - rate
        scale = 1 / keep
        mask = noise >= rate
        out = x * scale * _math.cast(mask, x.dtype)
        out.set_shape(x.get_shape())
        return out


def top_k(input, k=1, sorted=True, name=None):
    """(values, indices) of the k largest along the last dimension.

    `input`: real numbers, at least [n]; `k`: a scalar int32. Both results have
    its shape with k as the last size; values are of its type, indices int32.
    The lower index comes first of equal elements. ValueError, or in the run
    InvalidArgumentError, for scalars and k > n."""
    return _raw.TopKV2(input, k, sorted=sorted, name=name)


def in_top_k(predictions, targets, k, name=None):
    """True where the target is among the k largest predictions of its row.

    `predictions`: float32 [batch, classes]; `targets`: int32 or int64 [batch];
    `k`: a scalar of the targets' type. Returns bool [batch]; a row with NaN or
    an infinity at the target gives False. ValueError for other ranks or
    batches; TypeError for other types."""
    with name_scope(name, "in_top_k"):
        return _raw.InTopKV2(predictions, targets, k)


def zero_fraction(value, name=None):
    """The share of elements that are zero: a scalar float32, NaN if there are
    none.

    `value`: of any type and shape. TypeError or ValueError for what cannot
    become a tensor."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = _array.size(value, out_type=dtypes.int64)
        # As many nodes as in TensorFlow, which counts in 32 bits if it can.
        others = cond(
            size <= dtypes.int32.max,
            lambda: _math.cast(_count_nonzero(value, dtypes.int32),
                               dtypes.int64),
            lambda: _count_nonzero(value, dtypes.int64))
        with name_scope("counts_to_fraction"):
            zeros = _math.cast(size - others, dtypes.float32)
            share = zeros / _math.cast(size, dtypes.float32)
        return _array.identity(share, "fraction")


def _count_nonzero(value, dtype):
    with name_scope("count_nonzero", values=[value]):
        zero = _array.zeros([], value.dtype)
        return _math.reduce_sum(
            _math.cast(_math.not_equal(value, zero), dtype),
            name="nonzero_count")
