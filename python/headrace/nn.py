"""tf.nn. Here are normalisation, activations and small things; convolutions and
pooling (nn_conv.py), losses (nn_losses.py), candidate samplers and look-ups of
embeddings are loaded when they are asked for."""
import numbers

from headrace import array_ops as _array
from headrace import dtypes
from headrace import math_ops as _math
from headrace import raw_ops as _raw
from headrace import random_ops as _random
from headrace._names import on_demand as _on_demand
from headrace.errors import InvalidArgumentError
from headrace.graph import name_scope
from headrace.tensor import constant, convert_to_tensor

sigmoid = _math.sigmoid
tanh = _math.tanh
log_sigmoid = _math.log_sigmoid


def _either(first, second, what):
    if first is not None and second is not None:
        raise ValueError("Cannot specify both of: %s" % what)
    return second if first is None else first


# Normalisation.

def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001,
                     data_format="NHWC", is_training=True, name=None):
    """(normalised x, batch mean, batch variance). In training the moments are
    those of x; otherwise `mean` and `variance` are taken."""
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training:
        if mean is not None or variance is not None:
            raise ValueError("Both 'mean' and 'variance' must be None if "
                             "is_training is True.")
    if mean is None:
        mean = constant([])
    if variance is None:
        variance = constant([])
    out = _raw.FusedBatchNormV3(
        x, scale, offset, mean, variance, epsilon=max(epsilon, 1.001e-5),
        data_format=data_format, is_training=is_training, name=name)
    return out[0], out[1], out[2]


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon,
                        name=None):
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset; scale
    and offset may be None."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x)
        variance = convert_to_tensor(variance)
        mean = convert_to_tensor(mean)
        inv = _raw.Rsqrt(variance + variance_epsilon)
        if scale is not None:
            inv *= scale
        scaled = x * _math.cast(inv, x.dtype)
        shift = offset - mean * inv if offset is not None else -mean * inv
        return scaled + _math.cast(shift, x.dtype)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) over `axes`."""
    keep = _math._keep(keepdims, keep_dims)
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x, name="x")
        narrow = x.dtype.base_dtype == dtypes.float16
        y = _math.cast(x, dtypes.float32) if narrow else x
        mean = _math.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = _math.reduce_mean(
            _raw.SquaredDifference(y, _raw.StopGradient(mean)), axes,
            keepdims=True, name="variance")
        if not keep:
            mean = _array.squeeze(mean, axes)
            variance = _array.squeeze(variance, axes)
        if narrow:
            return (_math.cast(mean, dtypes.float16),
                    _math.cast(variance, dtypes.float16))
        return mean, variance


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by its L2 norm along `axis`."""
    axis = _array._renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        total = _math.reduce_sum(_raw.Square(x), axis, keepdims=True)
        return _raw.Mul(x, _raw.Rsqrt(_raw.Maximum(total, epsilon)),
                        name=scope)


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1,
                                 beta=0.5, name=None):
    return _raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha,
                    beta=beta, name=name)


lrn = local_response_normalization


# Activations.

def relu(features, name=None):
    """max(x, 0)."""
    return _raw.Relu(features, name=name)


def relu6(features, name=None):
    """min(max(x, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as scope:
        return _raw.Relu6(features, name=scope)


def leaky_relu(features, alpha=0.2, name=None):
    """x where positive, alpha x elsewhere."""
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
    axis = _array._renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    logits = convert_to_tensor(logits)
    n = logits._rank()
    if n is not None and axis != -1 and not -n <= axis < n:
        raise InvalidArgumentError(
            None, None, "Dimension (%d) must be in the range [%d, %d) where %d "
            "is the number of dimensions in the input." % (axis, -n, n, n))
    if axis == -1 or (n is not None and axis == n - 1):
        return op(logits, name=name)
    with name_scope(name, default, [logits]) as scope:
        if n is None:
            raise ValueError("%s over axis %d needs a known rank"
                             % (default, axis))
        order = list(range(n))
        order[axis], order[-1] = order[-1], order[axis]
        return _raw.Transpose(op(_raw.Transpose(logits, order)), order,
                              name=scope)


def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along `axis`, the last by default."""
    return _softmax(_raw.Softmax, logits, axis, dim, "Softmax", name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """x - log(sum(exp(x))) along `axis`, the last by default."""
    return _softmax(_raw.LogSoftmax, logits, axis, dim, "LogSoftmax", name)


def bias_add(value, bias, data_format=None, name=None):
    """value + bias, a vector along the channels."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            data_format = "NCHW" if data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype,
                                 name="bias")
        return _raw.BiasAdd(value, bias, data_format=data_format, name=scope)


def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases."""
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
    fate."""
    if keep_prob is not None:
        if rate is not None and rate != 1 - keep_prob:
            raise ValueError("pass in only one of rate and keep_prob")
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


# What else there is.

def top_k(input, k=1, sorted=True, name=None):
    """(values, indices) of the k largest along the last dimension."""
    return _raw.TopKV2(input, k, sorted=sorted, name=name)


def in_top_k(predictions, targets, k, name=None):
    """True where the target is among the k largest predictions of its row."""
    with name_scope(name, "in_top_k"):
        return _raw.InTopKV2(predictions, targets, k)


def zero_fraction(value, name=None):
    """The share of elements that are zero."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        zero = constant(0, value.dtype.base_dtype, name="zero")
        return _math.reduce_mean(_math.cast(_raw.Equal(value, zero),
                                            dtypes.float32))


def batch_norm_with_global_normalization(
        t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
        scale_after_normalization=None, name=None, input=None, mean=None,
        variance=None):
    return batch_normalization(
        _either(t, input, "t, input"), _either(m, mean, "m, mean"),
        _either(v, variance, "v, variance"), beta,
        gamma if scale_after_normalization else None, variance_epsilon, name)


__getattr__, __dir__ = _on_demand(
    globals(), whole="nn_conv nn_losses nn_moments nn_spatial",
    array_ops="depth_to_space space_to_batch space_to_depth",
    ctc_ops="collapse_repeated ctc_loss_v2 ctc_unique_labels",
    quantize_ops="quantized_conv2d quantized_relu_x",
    candidate_sampling="""
        all_candidate_sampler compute_accidental_hits
        fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
        log_uniform_candidate_sampler nce_loss sampled_softmax_loss
        uniform_candidate_sampler""",
    embeddings="""
        embedding_lookup embedding_lookup_sparse
        safe_embedding_lookup_sparse""")
